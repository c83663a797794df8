//! Any bytes as what UDP carries from a NIC of blue-rdma: what is read is written so that it is read the same. And any bytes as a frame.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rig_frames::blue_rdma::{Datagram, Header};

fuzz_target!(|bytes: &[u8]| {
    if let Some(datagram) = Datagram::of(bytes) {
        assert!(datagram.bytes.len() < bytes.len());
    }
    let Ok((header, payload)) = Header::parse(bytes) else { return };
    let mut again = header.emit();
    if !payload.is_empty() {
        again.resize(again.len() + header.shift(), 0);
    }
    again.extend(payload);
    assert_eq!(Header::parse(&again), Ok((header, payload)));
});
