//! NICs that stand behind other devices: what those take is no excuse for them, and nothing that they are called faulty for.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, What};
use rig_lab::{Mutation, Profile, Setting};
use rig_units::{Bytes, Dur, Time};

const NIC: &str = "behind-a-switch-nic";

/// A flow that gets one CNP after 30 us at line rate.
fn cut(measure: &str, change: impl FnOnce(&mut Profile)) -> Ran {
    let text = format!(
        "    dut: {{nic: {{rp: {{enable: true, limiting: packet, cut_window: 0us}}}}}}
    flows: {{sender: {{nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}}}}
    streams: {{once: {{from: p1, class: 6, kind: cnp, of: sender, every: 10us, count: 1}}}}
    steps: [{{at: 0us, start: sender, for: 50us}}, {{at: 30us, start: once}}]
    length: 80us
    trials: 1
    measure: [{{{measure}: {{flow: sender}}}}]
"
    );
    Ran::with(NIC, &text, change)
}

/// The NIC and the switch before it, the clock of either off by as much as it may be.
fn clocks(profile: &mut Profile, [nic, tor]: [&str; 2]) {
    let may = Setting { path: "clock".to_owned(), value: "100ppm".into() };
    profile.declared = profile.declared.with(&may).expect("a limit");
    let system = profile.system.as_mut().expect("it stands in a system");
    for device in &mut system.devices {
        device.declared = device.declared.with(&may).expect("a limit");
    }
    let departs = |text: &str| -> Mutation { text.parse().expect("a departure") };
    profile.mutate(&departs(nic)).expect("a departure of a NIC");
    assert_eq!(profile.mutate_device("tor", &departs(tor)), Ok(true));
}

const RATES: [&str; 5] = ["rate.cut", "rate.follows", "rate.reaction", "rate.least", "rate.final"];

#[test]
fn what_piles_up_at_a_slower_clock_is_not_the_nics() {
    for nic in ["deviation=clock_fast:100", "deviation=clock_slow:100"] {
        for tor in ["deviation=clock_fast:100", "deviation=clock_slow:100"] {
            for measure in RATES {
                let word =
                    cut(measure, |profile| clocks(profile, [nic, tor])).as_seen().word(measure);
                assert!(!matches!(word, Word::Fail(_)), "{measure}, {nic}, {tor}: {word:?}");
            }
        }
    }
}

#[test]
fn a_nic_that_cuts_otherwise_is_found_behind_a_switch() {
    for measure in RATES {
        assert_eq!(cut(measure, |_| ()).as_seen().word(measure), Word::Pass, "{measure}");
    }
    let departs = |measure: &str, text: &str| {
        let ran = cut(measure, |profile| {
            profile.mutate(&text.parse().expect("a departure")).expect("it has that");
        });
        assert!(matches!(ran.as_seen().word(measure), Word::Fail(_)), "{measure}: {text}");
    };
    for measure in ["rate.cut", "rate.follows", "rate.least", "rate.final"] {
        departs(measure, "nic.rp.enable=false");
    }
    departs("rate.cut", "nic.rp.initial_alpha=x0.9");
    departs("rate.reaction", "nic.rp.latency=x1.5");
}

#[test]
fn what_a_nic_counts_is_told_once_no_answer_may_be_under_way() {
    let text = "    dut: {nic: {np: {interval: 0us}}}
    streams: {marked: {from: p1, class: 3, kind: rocev2-write, size: 1024B, every: 60us, ecn: ce, count: 10}}
    steps: [{at: 0us, start: marked}]
    length: 700us
    trials: 1
    measure: [{nic.counters: {port: p1}}]
";
    let ran = Ran::of(NIC, text);
    ran.holds_counters("nic.counters", &[("nic np_cnp_sent", 10), ("nic rp_cnp_handled", 0)]);
    // The last mark and what answers it, later by so much.
    let later = |by: u64| {
        let said = ran.changed(|seen| {
            let last = last(seen);
            seen.shift_all(&last, i64::try_from(by).expect("a time"));
        });
        said.word("nic.counters")
    };
    let latency = ran.of_context(|context| context.nics().nic.np.latency.most());
    let edge = ran.as_seen_of(|seen| {
        let (port, line) = (&seen.observation.ports[0], seen.observation.ports[0].speed);
        let way = port.approach.as_ref().expect("it stands behind a switch");
        let answers = seen.roce(0, Dir::Rx, |_| true);
        let sizes = answers.iter().map(|&at| match seen.observation.records[at].what {
            What::Roce(roce) => roce.size,
            _ => 0,
        });
        let longest = sizes.max().expect("answers");
        let slot = line.slot(Bytes(longest.into()));
        // One of its own under way, and two small ones.
        let answered = latency + slot + line.slot(Bytes(78)) * 2 + port.bound() * 2;
        let back = way.takes(longest) + way.spread() + port.cable + slot;
        let mark = seen.observation.records[last(seen)[0]].at;
        let until = Time(Dur::us(700).0).saturating_sub(back);
        until.since(mark + port.way(1_024) + answered).expect("a trial with room").0
    });
    assert_eq!(later(edge), Word::Pass);
    assert_eq!(later(edge + 1), Word::Doubt("not-observable"));
}

/// The last mark, its CNP and its acknowledgement.
fn last(seen: &Seen<'_>) -> Vec<usize> {
    let last = seen.all(|one| one.at > Time(Dur::us(500).0));
    assert_eq!(last.len(), 3, "a mark and what answers it");
    last
}
