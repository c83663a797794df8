//! A NIC that is told to slow down: when it does, how far, and whether each packet keeps to it.

use super::given::{Ran, Said, Seen, Word};
use rig_capture::{Dir, Span};
use rig_lab::{Mutation, Profile, Setting};
use rig_testcases::RoceKind;
use rig_units::Dur;

/// A flow at 100 Gb/s that gets one CNP, which halves its rate 1 us later.
pub(super) fn cut(measure: &str) -> Ran {
    cut_by(measure, |_| ())
}

/// The same by a NIC that something is changed about.
fn cut_by(measure: &str, change: impl FnOnce(&mut Profile)) -> Ran {
    Ran::with("gen2", &halved(measure), change)
}

fn halved(measure: &str) -> String {
    format!(
        "    dut: {{nic: {{generation: gen2, rp: {{enable: true, limiting: packet, cut_window: 0us}}}}}}
    flows: {{sender: {{nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}}}}
    streams: {{once: {{from: p1, class: 6, kind: cnp, of: sender, every: 10us, count: 1}}}}
    steps: [{{at: 0us, start: sender, for: 50us}}, {{at: 30us, start: once}}]
    length: 80us
    trials: 1
    measure: [{{{measure}: {{flow: sender}}}}]
"
    )
}

/// What is said of one whose clock may be off by 100 ppm, and that departs so.
fn cut_by_a_clock(measure: &str, departs: &str) -> Word {
    let ran = cut_by(measure, |device| {
        let clock = Setting { path: "clock".to_owned(), value: "100ppm".into() };
        device.declared = device.declared.with(&clock).expect("a limit");
        let departs: Mutation = departs.parse().expect("a departure");
        device.mutate(&departs).expect("a departure of a NIC");
    });
    ran.as_seen().word(measure)
}

pub(super) fn packets(seen: &Seen<'_>) -> Vec<usize> {
    seen.roce(0, Dir::Rx, |kind| matches!(kind, RoceKind::Data { .. }))
}

pub(super) fn cnp(seen: &Seen<'_>) -> usize {
    let sent = seen.all(|one| (one.port, one.dir) == (0, Dir::Tx));
    let is = |at: &usize| matches!(seen.observation.records[*at].what, rig_capture::What::Roce(roce) if matches!(roce.kind, RoceKind::Cnp { .. }));
    sent.into_iter().find(is).expect("a CNP")
}

#[test]
fn a_cut_takes_effect_between_two_packets_to_the_picosecond() {
    let ran = cut("rate.reaction");
    let (read, want) = ran.as_seen().spans("rate.reaction");
    assert_eq!(want, Span::exactly(1_000_000));
    // Between two packets 88.48 ns apart; with the first of them it was not yet.
    assert_eq!(read.hi - read.lo, 88_480 - 1);
    ran.holds_its_bounds("rate.reaction", |seen, by| {
        let cnp = cnp(seen);
        seen.shift(cnp, -by);
    });
}

#[test]
fn which_packet_a_first_cut_held_back_is_not_known_where_stamps_leave_half_of_its_gap_open() {
    // A packet of 1086 B waits for 173.76 ns, of which it takes 88.48 itself.
    let gap = 173_760 - 88_480;
    for measure in ["rate.reaction", "rate.bursts"] {
        let said = |bound| cut(measure).off_by(Dur(bound)).as_seen().word(measure);
        assert_eq!(said(gap / 4 - 1), Word::Pass, "{measure}");
        assert_eq!(said(gap / 4), Word::Doubt("not-observable"), "{measure}");
    }
}

#[test]
fn a_packet_off_by_more_than_a_device_rounds_does_not_follow_its_rate() {
    let ran = cut("rate.follows");
    assert_eq!(ran.as_seen().word("rate.follows"), Word::Pass);
    let moved = |nth: usize, by: i64| {
        let said = ran.changed(|seen| {
            // With all behind it, so that no other distance changes.
            let late = packets(seen).split_off(nth);
            seen.shift_all(&late, by);
        });
        said.fails("rate.follows")
    };
    let last = ran.as_seen_count(|seen| packets(seen).len()) - 5;
    let last = usize::try_from(last).expect("a count");
    // The port itself rounds nothing; a rate that holds packets back makes gaps of whole picoseconds, rounded either way.
    for (nth, off) in [(20, 1), (last, 2)] {
        assert!(moved(nth, off), "packet {nth} late");
        assert!(moved(nth, -off), "packet {nth} early");
    }
    assert!(!moved(last, 1) && !moved(last, -1));
}

#[test]
fn a_first_cut_leaves_half_of_the_rate() {
    for (measure, half, one) in [("rate.cut", 500_000, 1), ("rate.least", 50_000_000_000, 100_000)]
    {
        let ran = cut(measure);
        let (read, want) = ran.as_seen().spans(measure);
        assert_eq!(read, Span::exactly(half));
        // Some millionths of it, for what a device rounds.
        assert!(want.lo < half && half < want.hi && want.hi - want.lo <= 8 * one, "{want:?}");
        assert_eq!(ran.as_seen().word(measure), Word::Pass);
    }
}

#[test]
fn a_first_cut_that_is_off_by_its_resolution_is_told_and_so_is_none() {
    let ran = cut("rate.cut");
    // From the first packet that is held back on, each later by so much more.
    let slower = |by: i64| {
        let said = ran.changed(|seen| {
            let all = packets(seen);
            let at = |one: usize| seen.observation.records[one].at.0;
            let held = (1..all.len()).find(|&nth| at(all[nth]) - at(all[nth - 1]) > 100_000);
            for (nth, &one) in (1..).zip(&all[held.expect("a cut")..]) {
                seen.shift(one, nth * by);
            }
        });
        said.word("rate.cut")
    };
    assert_eq!([slower(0), slower(1), slower(-1)], [Word::Pass, Word::Pass, Word::Pass]);
    for by in [-2, 2, -80_000] {
        assert!(matches!(slower(by), Word::Fail(_)), "{by}: {:?}", slower(by));
    }
}

#[test]
fn the_last_rate_is_that_of_the_last_two_packets_to_what_a_device_rounds() {
    let ran = cut("rate.final");
    assert_eq!(ran.as_seen().spans("rate.final").0, Span::exactly(50_000_000_000));
    let moved = |by: i64| {
        let said = ran.changed(|seen| {
            let last = *packets(seen).last().expect("packets");
            seen.shift(last, by);
        });
        said.word("rate.final")
    };
    assert_eq!([moved(0), moved(1), moved(-1)], [Word::Pass, Word::Pass, Word::Pass]);
    for by in [-2, 2] {
        assert!(matches!(moved(by), Word::Fail(_)), "{by}: {:?}", moved(by));
    }
}

#[test]
fn two_packets_back_to_back_are_a_burst_and_a_picosecond_parts_them() {
    let ran = cut("rate.bursts");
    assert_eq!(ran.as_seen().spans("rate.bursts").1, Span::exactly(1));
    // The last packet but one so long after the one before it.
    let gap = |by: i64| {
        let said = ran.changed(|seen| {
            let all = packets(seen);
            let [before, one] = [all[all.len() - 3], all[all.len() - 2]];
            let at = |record: usize| i64::try_from(seen.observation.records[record].at.0);
            let size = seen.observation.records[before].what.size().0;
            let slot = i64::try_from((size + 20) * 80).expect("a time");
            let by = at(before).expect("a time") + slot + by - at(one).expect("a time");
            seen.shift(one, by);
        });
        said.word("rate.bursts")
    };
    assert_eq!(gap(1), Word::Pass);
    assert!(matches!(gap(0), Word::Fail(_)), "{:?}", gap(0));
}

#[test]
fn where_no_cut_would_show_the_same_a_cut_is_not_told() {
    // The first packet of a message is the longest: 1102 B take 176.32 ns at 50 Gb/s, and the port alone 89.76 ns.
    let off = |bound: u64| cut("rate.cut").off_by(Dur(bound)).as_seen();
    assert_eq!(off(43_279).word("rate.cut"), Word::Pass);
    let said = off(43_280);
    assert_eq!(said.word("rate.cut"), Word::Doubt("not-observable"));
    let numbers = "of the port's speed: a cut leaves 0.499997 to 0.500002, and no cut 0.981";
    assert!(said.wrong().contains(numbers), "{}", said.wrong());
}

#[test]
fn a_nic_that_does_not_cut_is_found_whatever_its_clock_may_be() {
    for clock in ["clock_fast:100", "clock_slow:100"] {
        for measure in ["rate.cut", "rate.follows", "rate.reaction", "rate.least", "rate.final"] {
            let word = cut_by_a_clock(measure, &format!("deviation={clock}"));
            assert_eq!(word, Word::Pass, "{measure}: {clock}");
        }
    }
    for departs in ["nic.rp.enable=false", "nic.rp.initial_alpha=x0.9"] {
        for measure in ["rate.cut", "rate.follows", "rate.least", "rate.final"] {
            let word = cut_by_a_clock(measure, departs);
            assert!(matches!(word, Word::Fail(_)), "{measure}: {departs}: {word:?}");
        }
    }
    // Three times as far off as it may be: 100 ppm of each gap are not enough for it.
    for clock in ["clock_fast:300", "clock_slow:300"] {
        let word = cut_by_a_clock("rate.follows", &format!("deviation={clock}"));
        assert!(matches!(word, Word::Fail(_)), "{clock}: {word:?}");
    }
}

/// Five CNPs, each at the end of the window that the one before it began, to a NIC whose clock may be off by 100 ppm and that departs so.
fn windows_by_a_clock(departs: &str) -> Said {
    let text = "    dut: {nic: {rp: {enable: true, limiting: packet, cut_window: 50us}}}
    flows: {sender: {nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}}
    streams: {few: {from: p1, class: 6, kind: cnp, of: sender, every: 50us, count: 5}}
    steps: [{at: 0us, start: sender, for: 300us}, {at: 30us, start: few}]
    length: 350us
    trials: 1
    measure: [{rate.follows: {flow: sender}}]
";
    let ran = Ran::with("gen2", text, |device| {
        let clock = Setting { path: "clock".to_owned(), value: "100ppm".into() };
        device.declared = device.declared.with(&clock).expect("a limit");
        device.mutate(&departs.parse().expect("a departure")).expect("a departure of a NIC");
    });
    ran.as_seen()
}

#[test]
fn a_nic_that_cuts_at_no_cnp_at_the_end_of_a_window_is_not_passed() {
    // 50 us by a fast clock are over as the next CNP comes, and by a slow one they are not: then the second and the fourth CNP cut nothing,
    // which stamps alone do not tell from a window that is too long.
    let word = |departs: &str| windows_by_a_clock(departs).word("rate.follows");
    assert_eq!(word("deviation=clock_fast:100"), Word::Pass);
    for departs in
        ["deviation=clock_slow:100", "nic.rp.cut_window=50006ns", "nic.rp.cut_window=x1.1"]
    {
        assert_eq!(word(departs), Word::Doubt("not-observable"), "{departs}");
    }
    let said = windows_by_a_clock("nic.rp.cut_window=x1.1");
    let why = "2 CNPs came so near the end of a window of 50us that stamps and clocks leave open whether they cut";
    assert!(said.wrong().contains(why), "{}", said.wrong());
    for departs in [
        "nic.rp.cut_window=x2.1",
        "nic.rp.enable=false",
        "nic.rp.initial_alpha=x0.99",
        "nic.rp.inverse_g=x1.1",
    ] {
        let word = word(departs);
        assert!(matches!(word, Word::Fail(_)), "{departs}: {word:?}");
    }
}

/// A NIC that declares these, and does otherwise in those.
fn declaring(declares: &[(&str, &str)], departs: &[&str]) -> impl FnOnce(&mut Profile) {
    let owned = |text: &str| text.to_owned();
    let declares: Vec<_> =
        declares.iter().map(|(path, value)| (owned(path), owned(value))).collect();
    let departs: Vec<_> = departs.iter().map(|text| owned(text)).collect();
    move |device| {
        for (path, value) in declares {
            let value = match value.as_str() {
                "true" => true.into(),
                value => value.into(),
            };
            device.declared = device.declared.with(&Setting { path, value }).expect("a setting");
        }
        for departs in departs {
            device.mutate(&departs.parse().expect("a departure")).expect("a departure of a NIC");
        }
    }
}

#[test]
fn a_rate_in_steps_is_off_by_a_step_at_the_most_either_way() {
    // Alpha of a half leaves three quarters: 65 to 85 Gb/s in steps of 10.
    let declares = [("nic.rp.initial_alpha", "50%"), ("nic.rp.rate_step", "10Gbps-L2")];
    let word = |measure: &str, departs: &[&str]| {
        cut_by(measure, declaring(&declares, departs)).as_seen().word(measure)
    };
    let exact = |measure: &str, alpha: &str| {
        let alpha = format!("nic.rp.initial_alpha={alpha}");
        word(measure, &["nic.rp.rate_step=never", &alpha])
    };
    for measure in ["rate.cut", "rate.follows", "rate.least", "rate.final", "rate.reaction"] {
        assert_eq!(word(measure, &[]), Word::Pass, "{measure}");
        for inside in ["70%", "50%", "30%"] {
            assert_eq!(exact(measure, inside), Word::Pass, "{measure}: {inside}");
        }
    }
    for measure in ["rate.cut", "rate.follows", "rate.final"] {
        for outside in ["71%", "29%"] {
            let word = exact(measure, outside);
            assert!(matches!(word, Word::Fail(_)), "{measure}: {outside}: {word:?}");
        }
    }
    // Where a step may leave the speed of the port nothing tells when a cut came.
    let coarse = declaring(&[("nic.rp.rate_step", "60Gbps-L2")], &[]);
    let word = cut_by("rate.reaction", coarse).as_seen().word("rate.reaction");
    assert_eq!(word, Word::Doubt("not-observable"));
}

#[test]
fn a_gap_of_a_pacer_that_ticks_is_off_by_a_tick_at_the_most_either_way() {
    let declares = [("nic.rp.pacer_step", "50ns")];
    for seed in 0..8 {
        let ran = Ran::seeded("gen2", &halved("rate.follows"), seed, declaring(&declares, &[]));
        assert_eq!(ran.as_seen().word("rate.follows"), Word::Pass, "{seed}");
    }
    // One that does not tick, and its last packet but four is moved with all behind it.
    let exact = declaring(&declares, &["nic.rp.pacer_step=never"]);
    let ran = cut_by("rate.follows", exact);
    let moved = |by: i64| {
        let said = ran.changed(|seen| {
            let all = packets(seen);
            let late = all[all.len() - 5..].to_vec();
            seen.shift_all(&late, by);
        });
        said.word("rate.follows")
    };
    for inside in [0, 50_001, -50_001] {
        assert_eq!(moved(inside), Word::Pass, "{inside}");
    }
    for outside in [50_002, -50_002] {
        assert!(matches!(moved(outside), Word::Fail(_)), "{outside}: {:?}", moved(outside));
    }
    for departs in ["nic.rp.pacer_step=1us", "nic.rp.enable=false"] {
        let word = cut_by("rate.follows", declaring(&declares, &[departs])).as_seen();
        assert!(matches!(word.word("rate.follows"), Word::Fail(_)), "{departs}");
    }
    // A gap of no tick at all leaves packets back to back: neither that nor when it began is held against it.
    for measure in ["rate.bursts", "rate.reaction", "rate.cut", "rate.follows", "rate.final"] {
        let coarse = declaring(&[("nic.rp.pacer_step", "200ns")], &[]);
        let word = cut_by(measure, coarse).as_seen().word(measure);
        assert_eq!(word, Word::Doubt("not-observable"), "{measure}");
    }
}

#[test]
fn an_alpha_timer_that_runs_on_has_run_out_once_more_or_not_and_no_more() {
    let text = "    dut: {nic: {rp: {enable: true, limiting: packet, cut_window: 0us, inverse_g: 16, alpha_timer: 20us, alpha_free: true}}}
    flows: {sender: {nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}}
    streams: {few: {from: p1, class: 6, kind: cnp, of: sender, every: 410us, count: 2}}
    steps: [{at: 0us, start: sender, for: 500us}, {at: 30us, start: few}]
    length: 550us
    trials: 1
    measure: [{rate.follows: {flow: sender}}]
";
    let word = |seed: u64, departs: &[&str]| {
        let ran = Ran::seeded("gen2", text, seed, declaring(&[], departs));
        ran.as_seen().word("rate.follows")
    };
    for seed in 0..8 {
        assert_eq!(word(seed, &[]), Word::Pass, "{seed}");
    }
    // 410 us are 20 timers from the cut on, or 21. By 19.5 us they are 21, by 18.6 us 22, by 21.5 us 19.
    let restarted = |timer: &str| {
        let timer = format!("nic.rp.alpha_timer={timer}");
        word(7, &["nic.rp.alpha_free=never", &timer])
    };
    for inside in ["20us", "19.5us"] {
        assert_eq!(restarted(inside), Word::Pass, "{inside}");
    }
    for outside in ["18.6us", "21.5us"] {
        let word = restarted(outside);
        assert!(matches!(word, Word::Fail(_)), "{outside}: {word:?}");
    }
}

#[test]
fn what_goes_to_the_rig_is_what_the_limiter_is_declared_to_let_out_whatever_the_case_says() {
    // From 35 us on at half of the speed of the port: some 48 Gb/s of payload, of which the case knows nothing.
    let word = |or: &str, declares: &[(&str, &str)], departs: &[&str]| {
        let wanted =
            "rate.goodput: {flow: sender, from: 35us, at_least: 1Gbps-L2, at_most: 2Gbps-L2";
        let text = halved("rate.cut").replace("rate.cut: {flow: sender", &format!("{wanted}{or}"));
        let ran = Ran::with("gen2", &text, declaring(declares, departs));
        ran.as_seen().word("rate.goodput")
    };
    assert!(matches!(word("", &[], &[]), Word::Fail(_)));
    assert_eq!(word(", or: declared", &[], &[]), Word::Pass);
    for departs in ["nic.rp.initial_alpha=x0.99", "nic.rp.enable=false"] {
        let word = word(", or: declared", &[], &[departs]);
        assert!(matches!(word, Word::Fail(_)), "{departs}: {word:?}");
    }
    let steps = [("nic.rp.rate_step", "3Gbps-L2"), ("nic.rp.pacer_step", "10ns")];
    assert_eq!(word(", or: declared", &steps, &[]), Word::Pass);
    let word = word(", or: declared", &steps, &["nic.rp.enable=false"]);
    assert!(matches!(word, Word::Fail(_)), "{word:?}");
}

#[test]
fn a_limiter_that_looks_at_the_ends_of_periods_is_followed_and_one_of_other_periods_is_not() {
    let text = "    dut: {nic: {rp: {enable: true, limiting: packet, by_period: true, cut_window: 50us, inverse_g: 16, alpha_timer: 20us}}}
    flows: {sender: {nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}}
    streams: {few: {from: p1, class: 6, kind: cnp, of: sender, every: 33us, count: 9}}
    steps: [{at: 0us, start: sender, for: 500us}, {at: 30us, start: few}]
    length: 550us
    trials: 1
    measure: [{rate.follows: {flow: sender}}]
";
    let word = |seed: u64, departs: &[&str]| {
        let ran = Ran::seeded("gen2", text, seed, declaring(&[], departs));
        ran.as_seen().word("rate.follows")
    };
    for seed in 0..8 {
        assert_eq!(word(seed, &[]), Word::Pass, "{seed}");
    }
    for outside in [
        "nic.rp.by_period=never",
        "nic.rp.cut_window=49us",
        "nic.rp.cut_window=51us",
        "nic.rp.alpha_timer=19us",
        "nic.rp.alpha_timer=21us",
        "nic.rp.inverse_g=15",
        "deviation=alpha_not_raised",
        "deviation=alpha_not_decayed",
    ] {
        let word = word(7, &[outside]);
        assert!(matches!(word, Word::Fail(_)), "{outside}: {word:?}");
    }
}
