//! Any bytes as what UDP carries to the port of RoCEv2, wrapped so that lengths, checksum and ICRC are right: the
//! fuzzer then spends its time behind the checks that random bytes never pass.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rig_frames::ethernet::{self, ethertype};
use rig_frames::ip::Dscp;
use rig_frames::packet::{self, Packet};
use rig_frames::{MacAddr, icrc, ipv4, ipv6, udp};

fuzz_target!(|input: (bool, &[u8])| {
    let (six, bytes) = input;
    let payload_len = bytes.len() + icrc::LEN;
    if payload_len > 9000 {
        return;
    }
    let kind = if six { ethertype::IPV6 } else { ethertype::IPV4 };
    let mut frame = ethernet::Repr { dst: MacAddr([2; 6]), src: MacAddr([4; 6]), ethertype: kind }
        .emit()
        .to_vec();
    if six {
        let ip = ipv6::Repr::udp(1.into(), 2.into(), Dscp::MAX);
        frame.extend(ip.emit(udp::LEN + payload_len));
    } else {
        let ip = ipv4::Repr::udp(1.into(), 2.into(), Dscp::MAX);
        frame.extend(ip.emit(udp::LEN + payload_len));
    }
    let udp = udp::Repr { src_port: 1, dst_port: udp::ROCE_PORT, checksum: udp::Checksum::Zero };
    frame.extend(udp.emit(payload_len));
    frame.extend(bytes);
    frame.extend([0; icrc::LEN]);
    let sealed = icrc::seal(&mut frame);
    assert_eq!(
        sealed.is_ok(),
        bytes.len() >= 12,
        "an ICRC has a place behind a whole BTH, and only there"
    );
    let Ok(read) = packet::parse(&frame) else { return };
    let Packet::Roce { frame: roce, icrc_ok: true } = read else { panic!("{read:?}") };
    assert_eq!(packet::parse(&roce.emit()), Ok(read));
});
