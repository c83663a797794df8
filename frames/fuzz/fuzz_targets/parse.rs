//! Any bytes as a frame: no panic, and what was read is written and read again unchanged.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rig_frames::packet::{self, Packet};

fuzz_target!(|bytes: &[u8]| {
    let _ = rig_frames::icrc::holds(bytes);
    let Ok(packet) = packet::parse(bytes) else { return };
    let Some(again) = packet.emit() else { return };
    assert!(again.len() >= 60);
    match (packet, packet::parse(&again)) {
        (Packet::Roce { frame, .. }, read) => {
            assert_eq!(read, Ok(Packet::Roce { frame, icrc_ok: true }))
        }
        (packet, read) => assert_eq!(read, Ok(packet)),
    }
});
