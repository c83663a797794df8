//! Every field that may hold a range: a device anywhere inside of it passes, and one outside by what a measure prints of itself fails.

pub(super) mod cases;

use self::cases::{
    crossed, holed, marked, passed, refused, stormed, stormed_for, unheard, waits_for_receives,
    xoff,
};
use super::given::Ran;
use core::ops::Bound;
use rig_capture::Dir;
use rig_lab::field::Holds;
use rig_lab::{Mutation, Profile, Setting, fields};
use rig_testcases::RoceKind;
use rig_units::Dur;
use serde_json::{Value, json};

/// A field, and a case of a few lines in which a device draws it some two hundred times.
struct Tried {
    path: &'static str,
    device: &'static str,
    /// What prints within which values devices cannot be told apart.
    measure: &'static str,
    /// Least and most of what is declared.
    ends: [Dur; 2],
    case: fn() -> String,
}

/// What is tried of a NIC's field holds of the NIC behind the second port, too: their rows are the same.
const TRIED: &[Tried] = &[
    Tried {
        path: "forwarding_delay",
        device: "broadcom",
        measure: "latency",
        ends: SHORT,
        case: || passed("{}"),
    },
    Tried {
        path: "buffer.accounting_delay",
        device: "broadcom",
        measure: "buffer.xoff",
        ends: SHORT,
        case: || super::late::filled("{buffer.xoff: {streams: fill}}"),
    },
    Tried {
        path: "pfc.refresh",
        device: "broadcom",
        measure: "pfc.sent",
        ends: [Dur::us(100), Dur::us(110)],
        case: || {
            let measure = "{pfc.sent: {port: p1, class: 3, expect: some}}";
            super::margin::filled(measure).replace("count: searched", "count: 800")
        },
    },
    Tried {
        path: "pfc.response",
        device: "broadcom",
        measure: "pfc.response",
        ends: SHORT,
        case: || {
            let words: String = (1..=10).map(|word| word * 30 + 1_000).map(xoff).collect();
            format!(
                "    streams: {{load: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, rate: 100%, count: 4000}}}}
    taps: {{p2: all}}
    trials: 20
    steps:
      - {{at: 1ms, start: load}}
{words}    length: 3ms
    measure: [{{pfc.response: {{stream: load}}}}, {{pfc.pause: {{stream: load}}}}]
"
            )
        },
    },
    Tried {
        path: "pfc.emission",
        device: "broadcom",
        measure: "pfc.latency",
        ends: SHORT,
        case: crossed,
    },
    Tried {
        path: "pfc.resumption",
        device: "broadcom",
        measure: "pfc.latency",
        ends: SHORT,
        case: crossed,
    },
    Tried {
        path: "pfcwd.jitter",
        device: "broadcom",
        measure: "pfcwd.detection",
        ends: [Dur::ms(1), Dur::ms(2)],
        case: || stormed(20),
    },
    Tried {
        path: "pfcwd.action_latency",
        device: "broadcom",
        measure: "pfcwd.detection",
        ends: [Dur::ms(10), Dur::ms(20)],
        case: || stormed(20),
    },
    Tried {
        path: "pfcwd.timer_lag",
        device: "hardware",
        measure: "pfcwd.detection",
        ends: [Dur::ms(10), Dur::ms(20)],
        case: || stormed(20),
    },
    Tried {
        path: "macsec.latency",
        device: "broadcom-macsec",
        measure: "latency",
        ends: SHORT,
        case: || passed("{macsec: {enable: true}}"),
    },
    Tried {
        path: "macsec.latency_per_byte",
        device: "broadcom-macsec",
        measure: "latency",
        ends: [Dur(50), Dur(80)],
        case: || passed("{macsec: {enable: true}}"),
    },
    Tried {
        path: "nic.np.latency",
        device: "gen2",
        measure: "cnp.latency",
        ends: SHORT,
        case: || {
            marked("np: {interval: 0us}", "{cnp.latency: {port: p1}}, {cnp.answers: {port: p1}}")
        },
    },
    Tried {
        path: "nic.rp.latency",
        device: "gen2",
        measure: "rate.reaction",
        ends: SHORT,
        case: || {
            "    dut: {nic: {generation: gen2, rp: {enable: true, limiting: packet}}}
    flows: {flow: {nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}}
    streams: {once: {from: p1, class: 6, kind: cnp, of: flow, every: 10us, count: 1}}
    steps: [{at: 0us, start: flow, for: 20us}, {at: 5us, start: once}]
    length: 30us
    trials: 200
    measure: [{rate.reaction: {flow: flow}}, {rate.follows: {flow: flow}}]
"
            .to_owned()
        },
    },
    Tried {
        path: "nic.rc.ack_latency",
        device: "gen2",
        measure: "rc.receiver",
        ends: SHORT,
        case: || marked("rc: {ack_every: 1}", "{rc.receiver: {stream: marked}}"),
    },
    Tried {
        path: "nic.rc.ack_held",
        device: "gen2",
        measure: "rc.receiver",
        ends: SHORT,
        case: || marked("rc: {ack_every: 1}", "{rc.receiver: {stream: marked}}"),
    },
    Tried {
        path: "nic.rc.nak_latency",
        device: "gen2-to-gen2",
        measure: "rc.receiver",
        ends: SHORT,
        case: || holed(("p2", "p1"), "rc.receiver"),
    },
    Tried {
        path: "nic.rc.resend_latency",
        device: "gen2-to-gen2",
        measure: "rc.sender",
        ends: SHORT,
        case: || holed(("p1", "p2"), "rc.sender"),
    },
    Tried {
        path: "nic.rc.timeout_late",
        device: "gen2-to-gen2",
        measure: "rc.sender",
        ends: SHORT,
        case: || unheard("write", "rc.sender"),
    },
    Tried {
        path: "nic.rc.timeout_late",
        device: "gen2-to-gen2",
        measure: "rc.receiver",
        ends: SHORT,
        case: || unheard("read", "rc.receiver"),
    },
    Tried {
        path: "nic.rc.rnr_late",
        device: "gen2-to-gen2",
        measure: "rc.sender",
        ends: SHORT,
        case: refused,
    },
    Tried {
        path: "nic.rc.receive_again",
        device: "gen2-to-gen2",
        measure: "rc.receives",
        ends: [Dur::us(100), Dur::us(150)],
        case: waits_for_receives,
    },
    Tried {
        path: "nic.pfc.response",
        device: "gen2",
        measure: "nic.stops",
        ends: SHORT,
        case: super::nic_pause::stopped_ten_times,
    },
    Tried {
        path: "nic.pfc.resumption",
        device: "gen2",
        measure: "nic.goes_on",
        ends: SHORT,
        case: super::nic_pause::stopped_ten_times,
    },
    Tried {
        path: "nic.pfc.emission",
        device: "pcie-gen3",
        measure: "nic.pauses",
        ends: SHORT,
        case: || super::nic_pauses::paused_often("loopback: 37Gbps-L2, page: 2MiB, region: 2MiB"),
    },
    Tried {
        path: "nic.pfc.watchdog",
        device: "pcie-gen3",
        measure: "nic.pauses",
        ends: [Dur::ms(1), Dur::us(1_500)],
        case: super::nic_pauses::full_for_long,
    },
    Tried {
        path: "nic.host.mtt_miss",
        device: "pcie-gen3",
        measure: "nic.pauses",
        ends: SHORT,
        case: || super::nic_pauses::paused_often("page: 4KiB, region: 64MiB"),
    },
    Tried {
        path: "nic.estats.latency",
        device: "gen2-to-gen2",
        measure: "rc.completions",
        ends: SHORT,
        case: super::completions::told_often,
    },
];

const SHORT: [Dur; 2] = [Dur::us(1), Dur::us(2)];

impl Tried {
    /// The case on a device that declares `range`; with a value, one that always does that.
    fn run(&self, range: &Value, value: Option<Dur>) -> Ran {
        Ran::with(self.device, &(self.case)(), |device: &mut Profile| {
            let setting = Setting { path: self.path.to_owned(), value: range.clone() };
            device.declared = device.declared.with(&setting).expect("a range");
            let Some(value) = value.map(|value| value.to_string()) else { return };
            let always = Mutation::Override { path: self.path.to_owned(), value };
            device.mutate(&always).expect("a value");
        })
    }

    /// Whatever lies between `ends` passes, and what lies beyond what is told fails.
    fn holds(&self, range: &Value, [least, most]: [Dur; 2], [lo, hi]: [Dur; 2]) {
        for inside in [least, most, (least + most) / 2] {
            let said = self.run(range, Some(inside)).as_seen();
            assert_eq!(said.wrong(), "", "{} of {inside} in {range}", self.path);
        }
        let outside = [lo.0.checked_sub(1), hi.0.checked_add(1)];
        for outside in outside.into_iter().flatten().map(Dur) {
            let said = self.run(range, Some(outside)).as_seen();
            assert!(said.fails(self.measure), "{} of {outside} in {range}", self.path);
        }
    }

    /// Within which values its measure says that devices cannot be told apart, where `range` is declared.
    fn told(&self, range: &Value) -> [Dur; 2] {
        let ran = self.run(range, None);
        assert_eq!(ran.as_seen().wrong(), "", "{} drawn from {range}", self.path);
        self.printed(&ran)
    }

    /// The same, of what ran.
    fn printed(&self, ran: &Ran) -> [Dur; 2] {
        let said = ran.as_seen();
        let each: Vec<_> = said.of(self.measure).collect();
        let alike = each.iter().flat_map(|one| &one.resolution.alike);
        let alike = alike.into_iter().find(|alike| alike.parameter == self.path);
        let end = |end: Bound<u64>| match end {
            Bound::Included(end) => Dur(end),
            Bound::Excluded(_) | Bound::Unbounded => Dur::ZERO,
        };
        let alike = alike.map(|alike| [end(alike.least), end(alike.most)]);
        let printed: Vec<String> = each.iter().map(|one| one.resolution.to_string()).collect();
        alike.unwrap_or_else(|| panic!("{} prints {printed:?}", self.measure))
    }
}

#[test]
fn every_field_that_may_hold_a_range_is_tried() {
    let rows = fields::all().filter(|(_, field)| field.holds == Holds::Range);
    let rows: Vec<String> =
        rows.map(|(path, _)| path).filter(|path| !path.starts_with("peer.")).collect();
    let mut tried: Vec<&str> = TRIED.iter().map(|tried| tried.path).collect();
    tried.dedup();
    assert_eq!(rows, tried);
}

#[test]
fn a_device_inside_its_range_passes_and_one_outside_by_what_is_printed_fails() {
    for tried in TRIED {
        let [least, most] = tried.ends;
        let span = Value::String(format!("{least}..{most}"));
        // An XOFF that is refreshed at once is refreshed without end: the reader refuses such a switch.
        let limit = (tried.path != "pfc.refresh").then(|| json!({ "max": most.to_string() }));
        for range in core::iter::once(span).chain(limit) {
            let least = if range.is_string() { least } else { Dur::ZERO };
            let [lo, hi] = tried.told(&range);
            assert!(lo <= least && most <= hi && hi < most * 2, "{} in [{lo}, {hi}]", tried.path);
            tried.holds(&range, [least, most], [lo, hi]);
        }
    }
}

#[test]
fn acknowledgements_that_stand_for_several_messages_accuse_nobody_who_declares_them() {
    // Ten messages of one packet in a row, each 84 ns long, twenty times.
    let case = "    dut: {nic: {generation: gen2, rc: {ack_every: 1}}, peer: {generation: gen2, rc: {ack_every: 1}}}
    flows: {flow: {nic: p1, to: p2, class: 3, verb: send, message: 1024B, mtu: 1024B, count: 200}}
    steps: [{at: 0us, start: flow}]
    length: 100us
    trials: 1
    measure: [{rc.receiver: {flow: flow}}, {rc.sender: {flow: flow}}, {nic.counters: {port: p1}}, {nic.counters: {port: p2}}, {rc.completion: {flow: flow}}]
";
    let ran = |declared: Value, does: Option<&str>| {
        Ran::with("gen2-to-gen2", case, |device| {
            let setting = Setting { path: "peer.rc.ack_held".to_owned(), value: declared };
            device.declared = device.declared.with(&setting).expect("a range");
            if let Some(value) = does {
                let (path, value) = ("peer.rc.ack_held".to_owned(), value.to_owned());
                device.mutate(&Mutation::Override { path, value }).expect("a value");
            }
        })
    };
    let acks = |ran: &Ran| {
        ran.as_seen_count(|seen| seen.roce(1, Dir::Rx, |kind| kind == RoceKind::Ack).len())
    };
    assert_eq!(acks(&ran(Value::Null, None)), 200);
    for does in [None, Some("0s"), Some("500ns"), Some("1us")] {
        let ran = ran(json!({"max": "1us"}), does);
        assert_eq!(ran.as_seen().wrong(), "", "{does:?}");
        assert_eq!(acks(&ran) < 100, does != Some("0s"), "{does:?}");
    }
    // Who declares nothing leaves none out.
    assert!(ran(Value::Null, Some("500ns")).as_seen().fails("rc.receiver"));
    // The port may keep an acknowledgement for a frame: 1.2 us is beyond that.
    assert!(ran(json!({"max": "1us"}), Some("1200ns")).as_seen().fails("rc.receiver"));
}

#[test]
fn a_sender_that_goes_back_further_than_the_hole_is_right_as_far_as_it_declares() {
    let goes_back = |declared: Value, by: Option<u32>| {
        let case = holed(("p1", "p2"), "rc.sender");
        let ran = Ran::with("gen2-to-gen2", &case, |device| {
            let path = "nic.rc.resend_extra".to_owned();
            let setting = Setting { path, value: declared };
            device.declared = device.declared.with(&setting).expect("a number");
            if let Some(by) = by {
                let always = format!("deviation=restarts_before:{by}");
                device.mutate(&always.parse().expect("a mutation")).expect("of a NIC");
            }
        });
        let said = ran.as_seen();
        (said.fails("rc.sender"), said.wrong())
    };
    // Drawn two hundred times, and always the same.
    for by in [None, Some(1), Some(2), Some(4)] {
        assert_eq!(goes_back(json!(4), by), (false, String::new()), "{by:?}");
    }
    for (declared, by) in [(Value::Null, 1), (json!(4), 5), (json!(4), 30)] {
        assert!(goes_back(declared.clone(), Some(by)).0, "{by} of {declared}");
    }
}

#[test]
fn a_watchdog_that_leaves_polls_out_is_right_as_far_as_it_declares() {
    let leaves_out = |declared: Value, by: Option<u32>, seed: u64| {
        let ran = Ran::seeded("broadcom", &stormed_for(20, "700ms"), seed, |device| {
            for (path, value) in [("jitter", json!("50us..1.1ms")), ("skipped_polls", declared)] {
                let setting = Setting { path: format!("pfcwd.{path}"), value };
                device.declared = device.declared.with(&setting).expect("a rhythm");
            }
            if let Some(by) = by {
                let always = format!("deviation=skips_polls:{by}");
                device.mutate(&always.parse().expect("a mutation")).expect("of a watchdog");
            }
        });
        let said = ran.as_seen();
        (said.fails("pfcwd.detection"), said.wrong())
    };
    for by in [Some(0), Some(1), Some(2)] {
        assert_eq!(leaves_out(json!(2), by, 1), (false, String::new()), "{by:?}");
    }
    // Drawn, twenty times each.
    for seed in 1..=10 {
        assert_eq!(leaves_out(json!(2), None, seed), (false, String::new()), "seed {seed}");
    }
    for (declared, by) in [(Value::Null, 1), (json!(1), 2), (json!(2), 3)] {
        assert!(leaves_out(declared.clone(), Some(by), 1).0, "{by} of {declared}");
    }
}

#[test]
fn an_action_too_late_to_tell_its_poll_accuses_nobody_inside_and_is_found_outside() {
    let (path, device, measure) = ("pfcwd.action_latency", "broadcom", "pfcwd.detection");
    let ends = [Dur::ms(20), Dur::ms(90)];
    let tried = |case| Tried { path, device, measure, ends, case };
    let (few, many) = (tried(|| stormed(5)), tried(|| stormed(100)));
    let range = Value::String("20ms..90ms".to_owned());
    // Each storm takes two draws.
    let told = many.told(&range);
    // The window is as wide as a poll interval and the range: what leads out of it from anywhere, by more than the sharpest reading is wide.
    let sharpest = Dur(2_021_600);
    assert_eq!(told, [Dur::ZERO, Dur::ms(190) + sharpest - Dur(1)]);
    few.holds(&range, ends, told);
}

#[test]
fn a_timer_of_which_nothing_is_declared_may_take_one_to_four_times_what_its_code_says() {
    let t = Dur::ns(8_192);
    for tried in TRIED.iter().filter(|tried| tried.path == "nic.rc.timeout_late") {
        let [lo, hi] = tried.told(&Value::Null);
        assert!(lo == Dur::ZERO && t * 3 <= hi && hi < t * 3 + Dur::us(1), "[{lo}, {hi}]");
        for inside in [Dur::ZERO, t, t * 3] {
            assert_eq!(tried.run(&Value::Null, Some(inside)).as_seen().wrong(), "", "{inside}");
        }
        let late = tried.run(&Value::Null, Some(hi + Dur(1)));
        assert!(late.as_seen().fails(tried.measure), "late by {hi} and a picosecond");
        // Sooner than its code says by as little as is printed of what is later.
        let early = format!("deviation=timeout_runs_early:{}", (hi - t * 3).0.div_ceil(1_000));
        let early = Ran::with(tried.device, &(tried.case)(), |device| {
            let never = Setting { path: tried.path.to_owned(), value: Value::Null };
            device.declared = device.declared.with(&never).expect("a limit");
            for mutation in [&*early, "nic.rc.timeout_late=0s"] {
                device.mutate(&mutation.parse().expect("a mutation")).expect("of a NIC");
            }
        });
        assert!(early.as_seen().fails(tried.measure), "early");
    }
}

#[test]
fn a_timer_may_be_late_by_its_share_and_one_later_than_is_printed_fails() {
    // An eighth of 8.192 us.
    let (share, always) = (Dur(1_024_000), Dur::us(2));
    let each = TRIED.iter().filter(|tried| tried.path == "nic.rc.timeout_late");
    for (tried, clock) in each.flat_map(|tried| [(tried, "0ppm"), (tried, "100ppm")]) {
        let run = |late: Option<Dur>| {
            Ran::with(tried.device, &(tried.case)(), |device| {
                let share = "nic.rc.timeout_late_share";
                for (path, value) in [(tried.path, "2us"), (share, "12.5%"), ("clock", clock)] {
                    let setting = Setting { path: path.to_owned(), value: value.into() };
                    device.declared = device.declared.with(&setting).expect("a value");
                }
                let Some(late) = late else { return };
                let exact = [
                    format!("{}={late}", tried.path),
                    "nic.rc.timeout_late_share=never".to_owned(),
                ];
                for mutation in exact {
                    device.mutate(&mutation.parse().expect("a mutation")).expect("of a NIC");
                }
            })
        };
        let healthy = run(None);
        assert_eq!(healthy.as_seen().wrong(), "", "drawn from its share");
        let [lo, hi] = tried.printed(&healthy);
        let holds = lo <= always - share && always + share <= hi;
        assert!(holds && hi < always + share * 2, "[{lo}, {hi}] by a clock of {clock}");
        for inside in [always, always + share / 2, always + share] {
            assert_eq!(run(Some(inside)).as_seen().wrong(), "", "{inside}");
        }
        assert!(
            run(Some(hi + Dur(1))).as_seen().fails(tried.measure),
            "late by {hi} and a picosecond"
        );
    }
}
