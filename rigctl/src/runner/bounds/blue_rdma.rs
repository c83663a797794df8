//! NICs of blue-rdma: each bit, each header, each message and each packet that is sent again is told by itself.

use super::given::{Ran, Seen, Word};
use rig_capture::blue_rdma::{Bitmap, Frame, Says};
use rig_capture::{Dir, Record, What};
use rig_testcases::{Roce, RoceKind};
use rig_units::Dur;

/// Twenty messages of a stride, of which a packet is lost, run on the profile with some of its settings changed.
fn run(dut: &str, psn: u32) -> Ran {
    doing(dut, &format!("psn: {psn}, do: drop, iteration: 1"))
}

/// The same, with something else done to its data.
fn doing(dut: &str, what: &str) -> Ran {
    let text = format!(
        "    dut: {{blue_rdma: {{{dut}}}}}
    between: {{delay: 500ns, inject: [{{on: w, frames: data, {what}}}]}}
    flows: {{w: {{nic: p1, to: p2, class: 3, verb: write, message: 16KiB, mtu: 1024B, count: 20}}}}
    steps: [{{at: 0us, start: w}}]
    length: 400us
    trials: 1
    measure:
      - blue_rdma.headers: {{flow: w}}
      - blue_rdma.bitmaps: {{flow: w}}
      - blue_rdma.acks: {{flow: w}}
      - blue_rdma.resent: {{flow: w}}
      - blue_rdma.cnps: {{flow: w}}
      - blue_rdma.gives_up: {{flow: w}}
      - blue_rdma.rocev2: {{flow: w}}
      - blue_rdma.recovery: {{flow: w}}
      - blue_rdma.descriptors: {{flow: w}}
      - blue_rdma.completions: {{flow: w}}
      - blue_rdma.windows: {{flow: w}}
"
    );
    Ran::of("blue-rdma", &text)
}

const ALL: [&str; 4] =
    ["blue_rdma.headers", "blue_rdma.bitmaps", "blue_rdma.acks", "blue_rdma.resent"];

/// What all four say once the frames that a NIC sent have been changed: those that `own` picks at a rig port.
fn changed(
    ran: &Ran,
    (port, own): (u16, fn(&Frame) -> bool),
    change: impl FnOnce(&mut Seen<'_>, &[usize]),
) -> [Word; 4] {
    let said = ran.changed(|seen| {
        let all = seen.observation.records.iter().enumerate();
        let found = all.filter(|(_, one)| match one.what {
            What::BlueRdma(frame) => (one.port, one.dir) == (port, Dir::Rx) && own(&frame),
            _ => false,
        });
        let found: Vec<usize> = found.map(|(at, _)| at).collect();
        assert!(!found.is_empty(), "nothing of it was seen");
        change(seen, &found);
    });
    ALL.map(|measure| said.word(measure))
}

fn frame<'s>(seen: &'s mut Seen<'_>, at: usize) -> &'s mut Frame {
    match &mut seen.observation.records[at].what {
        What::BlueRdma(frame) => frame,
        other => panic!("{other:?} is no frame of blue-rdma"),
    }
}

fn by_hardware(frame: &Frame) -> bool {
    matches!(frame.says, Says::Report { by_driver: false, .. })
}

fn by_driver(frame: &Frame) -> bool {
    matches!(frame.says, Says::Report { by_driver: true, lost: false, .. })
}

const PASS: Word = Word::Pass;

#[test]
fn a_single_bit_of_either_bitmap_is_told() {
    let ran = run("retries: 5", 40);
    assert_eq!(ALL.map(|measure| ran.as_seen().word(measure)), [PASS, PASS, PASS, PASS]);
    let flipped = |at: u32, of_now: bool| {
        changed(&ran, (1, by_hardware), |seen, found| {
            let Says::Report { before, now, .. } = &mut frame(seen, found[0]).says else { return };
            let bitmap = if of_now { now } else { before };
            *bitmap = Bitmap::from(u128::from(*bitmap) ^ 1 << at);
        })
    };
    for at in [0, 8, 127] {
        for of_now in [false, true] {
            let [_, word, ..] = flipped(at, of_now);
            assert!(matches!(word, Word::Fail(_)), "bit {at} of now: {of_now}: {word:?}");
        }
    }
    let [_, Word::Fail(said), ..] = flipped(8, false) else { panic!("it fails") };
    let want = "acknowledgement 1: 1 bits of the bitmap before wrong, the first that of PSN 40, which is set";
    assert_eq!(said, want);
}

#[test]
fn an_acknowledgement_too_many_or_too_few_is_told() {
    let ran = run("retries: 5", 40);
    let lost = changed(&ran, (1, by_hardware), |seen, found| seen.lose(found[0]));
    assert!(matches!(lost[1], Word::Fail(_)), "{lost:?}");
    let twice = changed(&ran, (1, by_hardware), |seen, found| {
        let one = seen.observation.records[found[0]];
        seen.observation.records.insert(found[0], one);
    });
    assert!(matches!(twice[1], Word::Fail(_)), "{twice:?}");
}

#[test]
fn each_header_of_a_packet_is_told() {
    let ran = run("retries: 5", 40);
    let with = |change: fn(&mut Frame)| {
        changed(&ran, (0, Frame::is_data), |seen, found| change(frame(seen, found[17])))
    };
    let moved = |by: u64| {
        move |frame: &mut Frame| {
            if let Says::Data { address, .. } = &mut frame.says {
                *address += by;
            }
        }
    };
    let off = changed(&ran, (0, Frame::is_data), |seen, found| moved(1)(frame(seen, found[17])));
    assert!(matches!(off[0], Word::Fail(_)), "{off:?}");
    for change in [
        (|frame| frame.msn += 1) as fn(&mut Frame),
        |frame| frame.is_retry = !frame.is_retry,
        |frame| frame.size += 4,
        |frame| frame.says = Says::Data { first: false, last: false, address: 0, length: 0 },
    ] {
        let [word, rest @ ..] = with(change);
        assert!(matches!(word, Word::Fail(_)), "{word:?}");
        assert_eq!(rest, [PASS, PASS, PASS]);
    }
}

#[test]
fn an_acknowledgement_by_the_driver_of_what_has_not_come_is_told() {
    let ran = run("retries: 5", 40);
    let [.., acks, _] =
        changed(&ran, (1, by_driver), |seen, found| frame(seen, found[0]).psn += 100);
    assert!(matches!(acks, Word::Fail(_)), "{acks:?}");
    let [.., acks, _] = changed(&ran, (1, by_driver), |seen, found| {
        let last = found.len() - 1;
        seen.lose(found[last]);
    });
    assert_eq!(
        acks,
        Word::Fail("20 messages came whole, and 19 of them are acknowledged".to_owned())
    );
}

#[test]
fn one_packet_more_or_less_of_what_is_sent_again_is_told() {
    let ran = run("retries: 5", 40);
    let again = |frame: &Frame| frame.is_data() && frame.is_retry;
    let [_, _, _, less] = changed(&ran, (0, again), |seen, found| {
        let last = found.len() - 1;
        seen.lose(found[last]);
    });
    assert!(matches!(less, Word::Fail(_)), "{less:?}");
    let [_, _, _, more] = changed(&ran, (0, again), |seen, found| {
        let one = seen.observation.records[found[0]];
        seen.observation.records.insert(found[0], one);
    });
    assert!(matches!(more, Word::Fail(_)), "{more:?}");
}

#[test]
fn a_timer_is_held_to_what_is_declared_of_it() {
    let again = |frame: &Frame| frame.is_data() && frame.is_retry;
    let ran = run("timeout: 4, timeout_late: 0s", 319);
    assert_eq!(ran.as_seen().word("blue_rdma.resent"), PASS);
    let early =
        |by: i64| changed(&ran, (0, again), |seen, found| seen.shift(found[0], by))[3].clone();
    assert_eq!(early(0), PASS);
    assert!(matches!(early(-10_000_000), Word::Fail(_)), "{:?}", early(-10_000_000));
    let never = changed(&ran, (0, again), |seen, found| seen.lose(found[0]));
    assert!(matches!(never[3], Word::Fail(_)), "{never:?}");
    // Of the released exponent nothing is owed in a lifetime.
    assert_eq!(run("timeout: 50", 319).as_seen().word("blue_rdma.resent"), PASS);
}

/// What one measure says once the frames that a NIC sent have been changed.
fn said(
    ran: &Ran,
    measure: &str,
    (port, own): (u16, fn(&Frame) -> bool),
    change: impl FnOnce(&mut Seen<'_>, &[usize]),
) -> Word {
    let said = ran.changed(|seen| {
        let own = |one: &Record| match one.what {
            What::BlueRdma(frame) => (one.port, one.dir) == (port, Dir::Rx) && own(&frame),
            _ => false,
        };
        let found = seen.all(own);
        change(seen, &found);
    });
    said.word(measure)
}

#[test]
fn a_cnp_too_many_or_too_few_or_too_early_is_told() {
    let is_cnp = |frame: &Frame| frame.says == Says::Cnp;
    let of = |ran: &Ran, change: fn(&mut Seen<'_>, &[usize])| {
        said(ran, "blue_rdma.cnps", (1, is_cnp), change)
    };
    let ran = doing("retries: 5", "every: 40, do: ce");
    assert_eq!(of(&ran, |_, _| ()), PASS);
    let few = of(&ran, |seen, found| seen.lose(found[7]));
    assert_eq!(few, Word::Fail("no CNP for PSN 319, which came marked".to_owned()));
    let many = of(&ran, |seen, found| {
        let one = seen.observation.records[found[3]];
        seen.add(one);
    });
    assert!(matches!(many, Word::Fail(_)), "{many:?}");
    let early = of(&ran, |seen, found| seen.shift(found[0], -2_000_000));
    assert!(matches!(early, Word::Fail(_)), "{early:?}");
    // With an interval one of them is one too many.
    let ran = doing("cnp_interval: 10us", "every: 1, do: ce");
    assert_eq!(of(&ran, |_, _| ()), PASS);
    let many = of(&ran, |seen, found| {
        let one = seen.observation.records[found[1]];
        seen.add(one);
    });
    assert!(matches!(many, Word::Fail(_)), "{many:?}");
}

#[test]
fn a_driver_that_gives_up_once_sooner_or_later_is_told() {
    let again = |frame: &Frame| frame.is_data() && frame.is_retry;
    let ran = doing("timeout: 3, timeout_late: 0s, retries: 3", "psn: 319, do: drop");
    let of =
        |change: fn(&mut Seen<'_>, &[usize])| said(&ran, "blue_rdma.gives_up", (0, again), change);
    assert_eq!(of(|_, _| ()), PASS);
    // A round is a message of 16.
    let less = of(|seen, found| seen.lose(found[32]));
    let want = "PSN 304 is sent again 2 times, where the driver gives up after 3";
    assert_eq!(less, Word::Fail(want.to_owned()));
    let more = of(|seen, found| {
        let one = seen.observation.records[found[32]];
        seen.add(one);
    });
    assert!(matches!(more, Word::Fail(_)), "{more:?}");
    // Where nothing is missing in the end, nobody gave up.
    let none = run("timeout: 3, timeout_late: 0s", 319).as_seen().word("blue_rdma.gives_up");
    assert!(matches!(none, Word::Doubt(_)), "{none:?}");
}

#[test]
fn an_answer_to_a_packet_of_rocev2_is_told() {
    let ran = doing("retries: 5", "psn: 40, do: rocev2, iteration: 1");
    assert_eq!(ALL.map(|measure| ran.as_seen().word(measure)), [PASS, PASS, PASS, PASS]);
    assert_eq!(ran.as_seen().word("blue_rdma.rocev2"), PASS);
    let said = ran.changed(|seen| {
        let came = seen.all(|one| matches!(one.what, What::Roce(_)) && one.port == 1);
        let one = seen.observation.records[came[0]];
        let What::Roce(roce) = one.what else { return };
        let what = What::Roce(Roce { kind: RoceKind::Ack, size: 66, ..roce });
        seen.add(Record { at: one.at + Dur::us(2), dir: Dir::Rx, what, ..one });
    });
    let want = "an acknowledgement of RoCEv2 of PSN 40 leaves the NIC";
    assert_eq!(said.word("blue_rdma.rocev2"), Word::Fail(want.to_owned()));
    // Without one there is nothing to look at.
    let none = run("retries: 5", 40).as_seen().word("blue_rdma.rocev2");
    assert!(matches!(none, Word::Doubt(_)), "{none:?}");
}

#[test]
fn a_message_that_leaves_before_there_is_room_is_told() {
    let of = |dut: &str, from: usize, by: i64| {
        let ran = doing(dut, "psn: 3, do: {behind: 2}");
        said(&ran, "blue_rdma.windows", (0, Frame::is_data), |seen, found| {
            seen.shift_all(&found[from..from + 16], by);
        })
    };
    for (dut, psn) in [("psn_window: 16", 16), ("psn_window: 47", 32), ("msn_window: 2", 32)] {
        assert_eq!(of(dut, psn, 0), PASS, "{dut}");
        let early = of(dut, psn, -9_000_000);
        let want = format!(
            "with PSN {psn} {} packets and {} messages are outstanding",
            psn + 16,
            psn / 16 + 1
        );
        assert_eq!(early, Word::Fail(want), "{dut}");
    }
    // Long after there was room: all that leaves from there on.
    let ran = doing("psn_window: 16", "psn: 3, do: {behind: 2}");
    let late = |by: i64| {
        said(&ran, "blue_rdma.windows", (0, Frame::is_data), |seen, found| {
            seen.shift_all(&found[16..32], by);
        })
    };
    assert_eq!(late(200_000), PASS);
    assert!(matches!(late(900_000), Word::Fail(_)), "{:?}", late(900_000));
    // Windows that nothing fills show nothing.
    let none = doing("retries: 5", "psn: 3, do: {behind: 2}").as_seen().word("blue_rdma.windows");
    assert!(matches!(none, Word::Doubt(_)), "{none:?}");
}

#[test]
fn a_packet_that_goes_to_no_multiple_of_four_is_longer_by_what_is_in_front_of_it() {
    let text = "    between: {delay: 500ns}
    flows: {w: {nic: p1, to: p2, class: 3, verb: write-immediate, message: 3005B, mtu: 1001B, count: 20}}
    steps: [{at: 0us, start: w}]
    length: 400us
    trials: 1
    measure:
      - blue_rdma.headers: {flow: w}
";
    let ran = Ran::of("blue-rdma", text);
    assert_eq!(ran.as_seen().word("blue_rdma.headers"), PASS);
    let mut sizes = Vec::new();
    let same = ran.changed(|seen| {
        let own = |one: &Record| matches!(one.what, What::BlueRdma(_));
        for at in seen.all(own) {
            let Record { port, dir, .. } = seen.observation.records[at];
            let one = *frame(seen, at);
            sizes.extend(one.is_data().then_some(one.size));
            let bytes = one.bytes(port, dir == Dir::Tx);
            assert_eq!(Frame::read(port, dir == Dir::Tx, &bytes), Some(one));
        }
    });
    assert_eq!(same.word("blue_rdma.headers"), PASS);
    assert_eq!(sizes.iter().max(), Some(&(100 + 1_001 + 2)));
}

#[test]
fn what_a_driver_counts_is_told_to_the_last() {
    let ran = run("retries: 5", 40);
    ran.holds_counters("blue_rdma.descriptors", &[("nic descriptors", 20 + 144)]);
    ran.holds_counters("blue_rdma.completions", &[("nic completions", 20)]);
}

#[test]
fn a_packet_less_than_a_window_for_a_loss_is_told() {
    let again = |frame: &Frame| frame.is_data() && frame.is_retry;
    let ran = run("retries: 5", 40);
    let of = |lost: usize| {
        let lose = |seen: &mut Seen<'_>, found: &[usize]| {
            let last = found.len();
            (last - lost..last).rev().for_each(|at| seen.lose(found[at]));
        };
        said(&ran, "blue_rdma.recovery", (0, again), lose)
    };
    assert_eq!(of(0), PASS);
    assert_eq!(of(15), PASS);
    assert!(matches!(of(16), Word::Fail(_)), "{:?}", of(16));
}
