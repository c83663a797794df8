use super::*;
use proptest::prelude::*;
use rig_frames::packet::{self, Packet};
use rig_testcases::{StreamKind, StreamRate};
use rig_units::{Bytes, Dur};

fn stream(kind: StreamKind, size: u64) -> StreamSpec {
    StreamSpec {
        name: "s".into(),
        kind,
        size: Bytes(size),
        rate: StreamRate::Every(Dur::us(1)),
        ..StreamSpec::probe(0, 1)
    }
}

#[test]
fn the_frames_are_those_that_the_script_means() {
    for kind in [StreamKind::RoceWrite, StreamKind::RoceSend, StreamKind::Udp] {
        let spec = stream(kind, 254);
        let template = Template::of_stream(5, &spec);
        let mut slot = vec![0; 300];
        let mut primed = false;
        for number in [0_u32, 1, 255, 256, 0x00ff_ffff] {
            template.write(&mut slot, primed, number.into(), 0);
            primed = true;
            let want = wire::data(&spec, 5, number, spec.size, false);
            assert_eq!(slot[..template.len()], want, "{kind:?} {number}");
        }
    }
}

#[test]
fn a_psn_wraps_at_24_bits() {
    let template = Template::of_stream(0, &stream(StreamKind::RoceWrite, 254));
    assert_eq!(template.frame(1 << 24, 0), template.frame(0, 0));
}

#[test]
fn a_stamp_and_a_cycle_of_queue_pairs_stand_in_the_frame_and_the_icrc_holds() {
    let pairs: Vec<Vec<u8>> = (0..3).map(|n| vec![0, 1, n]).collect();
    let template = Template::of_stream(0, &stream(StreamKind::RoceSend, 254))
        .with(QUEUE_PAIR, Source::Cycle(pairs))
        .and_then(|template| template.with(60..68, Source::Stamp))
        .expect("fields");
    let frame = template.frame(4, 0x0102_0304_0506_0708);
    assert_eq!(frame[60..68], [1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(frame[QUEUE_PAIR], [0, 1, 1]);
    assert_eq!(icrc::holds(&frame), Ok(true));
    let mut later = frame;
    template.stamp(&mut later, 9);
    assert_eq!(later, template.frame(4, 9));
}

proptest! {
    #[test]
    fn the_header_checksum_follows_the_type_of_service(values: [u8; 4]) {
        let spec = stream(StreamKind::RoceWrite, 254);
        let template = Template::of_stream(0, &spec).with_tos(&values);
        let mut slot = template.frame(0, 0);
        for (number, tos) in (0..).zip(values) {
            template.write(&mut slot, true, number, 0);
            let Ok(Packet::Roce { frame, icrc_ok: true }) = packet::parse(&slot) else {
                return Err(TestCaseError::fail("the checksum or the ICRC is wrong"));
            };
            let packet::Path { ip: rig_frames::ip::Ip::V4(ip), .. } = frame.path else {
                return Err(TestCaseError::fail("IPv4 stays IPv4"));
            };
            prop_assert_eq!(ip.dscp.get() << 2 | ip.ecn as u8, tos);
        }
    }
}
