//! What each tap keeps of the same frames, and that it never changes what is counted.

use super::*;
use rig_capture::StreamCount;
use rig_testcases::{StreamKind, StreamRate, StreamSpec, Tap::*};
use rig_units::{Bytes, Dur};

const LOAD: u16 = 0;
const PROBE: u16 = 1;
const FRAMES: u32 = 1_000;

fn recorder(taps: &[rig_testcases::Tap]) -> Recorder<'static> {
    let load = StreamRate::Load("50%".parse().expect("a rate"));
    let stream = |name: &str, rate: StreamRate| StreamSpec {
        name: name.to_owned(),
        kind: StreamKind::Udp,
        size: Bytes(1_000),
        rate,
        ..StreamSpec::probe(0, 1)
    };
    let script = Script {
        dut_ports: vec![10, 11, 12],
        taps: taps.to_vec(),
        streams: vec![stream("load", load), stream("probe", StreamRate::Every(Dur::us(1)))],
        length: Dur::ms(1),
        ..Script::idle(3)
    };
    Recorder::new(Stop::never(), (Time::ZERO, 0), &script, Option::None)
}

/// Frame `seq` of the stream that the engine calls `id`.
fn numbered(id: u16, seq: u32, to: u16) -> Packet {
    let mut packet = Packet::data(id, 10, to, 3, 3, 1_000);
    packet.seq = seq;
    packet
}

/// A thousand frames of a load, fifty of a probe and fifty XOFFs, all of which pass p1 and p2.
fn busy(taps: &[rig_testcases::Tap]) -> (Vec<Record>, Vec<StreamCount>, u64) {
    let mut recorder = recorder(taps);
    let ids = [recorder.start(LOAD), recorder.start(PROBE)];
    let frame = |stream: u16, seq: u32| {
        let id = ids[usize::from(stream)];
        numbered(id, seq, 11).with_record(stream == PROBE)
    };
    for n in 0..FRAMES {
        let mut frames = vec![frame(LOAD, n)];
        if n % 20 == 0 {
            frames.extend([frame(PROBE, n / 20), Packet::pfc(8, 0, Quanta(9), 64)]);
        }
        for packet in &frames {
            let at = Time::ZERO + Dur::us(1) * u64::from(n);
            recorder.frame(at, 10, tap::Dir::Tx, packet);
            recorder.frame(at, 11, tap::Dir::Rx, packet);
        }
    }
    let TrialRecord { records, streams, unrecorded, .. } = recorder.finish();
    (records, streams, unrecorded)
}

/// How many frames of the load, of the probe and of PFC were recorded at a port.
fn kept(records: &[Record], port: u16) -> [usize; 3] {
    let own = |of: &dyn Fn(&What) -> bool| {
        records.iter().filter(|record| record.port == port && of(&record.what)).count()
    };
    let stream = |wanted: u16| move |what: &What| matches!(what, What::Data { stream, .. } if *stream == wanted);
    [own(&stream(LOAD)), own(&stream(PROBE)), own(&|what| matches!(what, What::Pfc { .. }))]
}

#[test]
fn each_tap_keeps_what_its_name_says_and_of_its_own_port_only() {
    // Of the load the window of 128 frames, and one of 64 of the others: numbers 128, 192 and so on to 960.
    let sampled = [128 + 14, 50, 50];
    for (tap, want) in
        [(None, [0, 0, 0]), (Pfc, [0, 0, 50]), (Sampled, sampled), (All, [1_000, 50, 50])]
    {
        let (records, ..) = busy(&[tap, Sampled]);
        assert_eq!(kept(&records, 0), want, "{tap}");
        assert_eq!(kept(&records, 1), sampled, "beside {tap}");
    }
    let (records, ..) = busy(&[]);
    assert_eq!((kept(&records, 0), kept(&records, 1)), (sampled, sampled), "unless it is said");
}

#[test]
fn frames_are_counted_whatever_the_tap_says_and_those_left_out_are_told() {
    let all = FRAMES + FRAMES / 20;
    let count = |n: u32| StreamCount { sent: n.into(), received: n.into(), reordered: 0 };
    for tap in [None, Pfc, Sampled, All] {
        let (records, counts, unrecorded) = busy(&[tap, tap]);
        assert_eq!(counts, [count(FRAMES), count(FRAMES / 20)], "{tap}");
        let passed = 2 * u64::from(all + FRAMES / 20);
        assert_eq!(u64::try_from(records.len()).unwrap_or(0) + unrecorded, passed, "{tap}");
    }
}

#[test]
fn a_frame_astray_where_nothing_is_recorded_does_not_make_up_for_a_lost_one() {
    for (tap, received) in [(None, 1), (Pfc, 1), (Sampled, 2), (All, 2)] {
        let mut recorder = recorder(&[Sampled, Sampled, tap]);
        let id = recorder.start(PROBE);
        for (seq, host) in [(0, 11), (1, 12)] {
            let packet = numbered(id, seq, host);
            recorder.frame(Time(1), 10, tap::Dir::Tx, &packet);
            recorder.frame(Time(2), host, tap::Dir::Rx, &packet);
        }
        let counts = recorder.finish().streams;
        let count = counts[usize::from(PROBE)];
        assert_eq!((count.sent, count.received), (2, received), "{tap}");
    }
}
