//! Each reason at its bound: what still holds, and the first that does not.

use super::super::{applicability, bundled};
use super::*;

fn shape(device: &mut Profile, pir: Option<L2Rate>) {
    let Declared::Switch(switch) = &mut device.declared else { panic!("it is a switch") };
    switch.scheduler.pir = pir;
}

/// What can be done of each bundled case for the first device of the default lab, shaped to so many bits a second.
fn shaped_to(bps: u64) -> Vec<(String, Option<String>)> {
    let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
    lab.duts.truncate(1);
    shape(&mut lab.duts[0], Some(L2Rate { bps }));
    let cases = bundled::cases().iter().filter(|case| case.suits(&lab.duts[0]).is_ok());
    let why = |case: &Case| {
        (
            case.id.to_string(),
            applicability::of(&lab, &lab.duts[0], case).err().map(|unfit| unfit.why),
        )
    };
    cases.map(why).collect()
}

/// What of a case of one stream from p1 to p3 can be done on the device of that name in the default lab.
fn on(
    (kind, device): (&str, &str),
    (settings, measure): (&str, &str),
    change: impl FnOnce(&mut Profile),
) -> Result<Vec<String>, String> {
    let text = format!(
        "about: a\ndevice: {kind}\ncases:\n  one:\n    why: a\n    source: [a]\n    dut: {settings}\n    streams: {{load: {{from: p1, to: p3, class: 3, kind: udp, size: 64B, every: 1ms, count: 9}}}}\n    taps: {{p3: all}}\n    trials: 1\n    steps: [{{at: 0ms, start: load}}]\n    length: 9ms\n    measure: [{measure}]\n"
    );
    let suite = rig_testcases::read::piped(text.as_bytes(), &measure::Registry);
    let case = suite.unwrap_or_else(|faults| panic!("{faults:#?}")).cases.remove(0);
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let dut = lab.duts.iter().find(|dut| dut.name == device).expect("a device");
    let mut dut = dut.clone();
    change(&mut dut);
    assert_eq!(case.suits(&dut), Ok(()));
    applicability::of(&lab, &dut, &case).map(|reach| reach.left_out).map_err(|unfit| unfit.why)
}

/// What can be done of a case that wants no marks on a device shaped to 30 Gb/s, its two loads of 24 Gb/s each started so.
fn loads(steps: &str, count: &str) -> Result<(), String> {
    let load = |from: &str, count: &str| {
        format!("{{from: {from}, to: p3, class: 3, kind: udp, size: 1024B, rate: 25%{count}}}")
    };
    let (a, b) = (load("p1", count), load("p2", ""));
    let text = format!(
        "about: a\ndevice: switch\ncases:\n  one:\n    why: a\n    source: [a]\n    streams: {{a: {a}, b: {b}}}\n    taps: {{p1: all, p2: all, p3: all}}\n    trials: 1\n    steps: {steps}\n    length: 9ms\n    measure: [ecn.marks: {{stream: a, expect: none}}]\n"
    );
    let suite = rig_testcases::read::piped(text.as_bytes(), &measure::Registry);
    let case = suite.unwrap_or_else(|faults| panic!("{faults:#?}")).cases.remove(0);
    let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
    lab.duts.truncate(1);
    shape(&mut lab.duts[0], Some(L2Rate { bps: 30_000_000_000 }));
    applicability::of(&lab, &lab.duts[0], &case).map(|_| ()).map_err(|unfit| unfit.why)
}

#[test]
fn loads_that_fit_one_after_the_other_are_not_added_up() {
    let apart = "[{at: 0ms, start: a, for: 2ms}, {at: 2ms, start: b, for: 2ms}]";
    assert_eq!(loads(apart, ""), Ok(()));
    let at_once = "[{at: 0ms, start: a, for: 2ms}, {at: 1999999ns, start: b, for: 2ms}]";
    let why = loads(at_once, "").expect_err("48 Gb/s for a nanosecond");
    assert!(why.contains("the streams to p3 offer more"), "{why}");
}

#[test]
fn a_load_that_has_sent_its_frames_is_over_and_one_that_is_searched_is_there_all_the_time() {
    let steps = "[{at: 0ms, start: a}, {at: 5ms, start: b, for: 2ms}]";
    assert_eq!(loads(steps, ", count: 9"), Ok(()));
    loads(steps, "").expect_err("it runs to the end");
}

const SYSTEM: (&str, &str) = ("system", "two-in-a-row");
const LOSS: &str = "loss: {stream: load, expect: none}";

#[test]
fn what_is_predicted_at_line_rate_is_not_asked_of_a_shaped_port() {
    let shaped = |bps: u64| {
        let all = shaped_to(bps).into_iter();
        let all = all.filter(|(_, why)| why.as_ref().is_some_and(|why| why.contains("shaped")));
        all.map(|(id, _)| id).collect::<Vec<_>>()
    };
    // No slower than the port, but where a case makes that faster.
    assert_eq!(shaped(100_000_000_000), ["headroom::loss-against-speed-broadcom"]);
    let held_back = shaped(30_000_000_000);
    assert!(held_back.contains(&"headroom::response-time-broadcom".to_owned()));
    assert!(!held_back.contains(&"buffers::xoff-threshold-broadcom".to_owned()));
}

#[test]
fn a_load_that_the_line_carries_and_the_shaper_does_not_shows_no_fault_of_the_device() {
    let of = |all: &[(String, Option<String>)], id: &str| {
        let own = all.iter().find(|(own, _)| own == id);
        own.expect("it suits").1.clone().unwrap_or_default()
    };
    let (ample, scarce) = (shaped_to(97_000_000_000), shaped_to(30_000_000_000));
    // Twice 49 % of 100 Gb/s with 20 B beside each frame.
    let marks = "ecn::none-under-a-load-that-fits-broadcom";
    assert_eq!(of(&ample, marks), "");
    assert_eq!(
        of(&scarce, marks),
        "its ports are shaped to 30Gbps-L2, the streams to p2 offer more, and that there is no ecn.marks holds of a load that fits"
    );
    for id in [
        "headroom::pause-stays-on-its-link-broadcom",
        "pfcwd::restoration-of-forward-broadcom",
        "buffers::slow-receiver-with-dynamic-sharing-broadcom",
    ] {
        assert!(of(&scarce, id).contains("shaped"), "{id}");
    }
}

#[test]
fn limits_of_ingress_groups_are_not_set_on_virtual_output_queues() {
    let set = ("{buffer: {port_dynamic_th: -1}}", LOSS);
    assert_eq!(on(("switch", "broadcom"), set, |_| {}), Ok(Vec::new()));
    let why = "its limits are those of virtual output queues, and buffer.port_dynamic_th is of ingress groups";
    assert_eq!(on(("switch", "voq"), set, |_| {}), Err(why.to_owned()));
}

#[test]
fn a_case_on_a_system_in_which_no_stream_leaves_its_switch_shows_nothing_of_it() {
    assert_eq!(on(SYSTEM, ("{}", LOSS), |_| {}), Ok(Vec::new()));
    // p3 is at the near switch, too.
    let at_one = on(SYSTEM, ("{}", LOSS), |whole| {
        let system = whole.system.as_mut().expect("it is one");
        system.ports[2] = rig_lab::DevicePort { device: 0, port: 2 };
    });
    let why = "no stream that it measures goes over a link between two devices of two-in-a-row, as the rig is cabled";
    assert_eq!(at_one, Err(why.to_owned()));
}

#[test]
fn a_shaper_of_any_device_of_a_system_counts() {
    let latency = ("{}", "latency: {stream: load}");
    assert_eq!(on(SYSTEM, latency, |_| {}), Ok(Vec::new()));
    for device in [0, 1] {
        let shaped = on(SYSTEM, latency, |whole| {
            let system = whole.system.as_mut().expect("it is one");
            let pir = Some(L2Rate { bps: 30_000_000_000 });
            shape(&mut system.devices[device], pir);
        });
        let why =
            "its ports are shaped to 30Gbps-L2, and latency is predicted of ports at line rate";
        assert_eq!(shaped, Err(why.to_owned()));
    }
}

#[test]
fn a_shaper_or_a_limit_that_a_sweep_sets_counts_as_one_that_the_case_sets() {
    let swept = |device: &str, sweep: &str, measure: &str| {
        let settings = format!("{{}}\n    sweep: {{{sweep}}}");
        on(("switch", device), (&settings, measure), |_| {})
    };
    let latency = "latency: {stream: load}";
    let shaped = swept("broadcom", "dut.scheduler.pir: [100Gbps-L2, 30Gbps-L2]", latency);
    let why = "its ports are shaped to 30Gbps-L2, and latency is predicted of ports at line rate";
    assert_eq!(shaped, Err(why.to_owned()));
    assert_eq!(swept("broadcom", "dut.scheduler.pir: [100Gbps-L2]", latency), Ok(Vec::new()));
    let why = "its limits are those of virtual output queues, and buffer.port_dynamic_th is of ingress groups";
    let limits = "dut.buffer.port_dynamic_th: [-1]";
    assert_eq!(swept("voq", limits, LOSS), Err(why.to_owned()));
    assert_eq!(swept("broadcom", limits, LOSS), Ok(Vec::new()));
}

#[test]
fn a_case_with_macsec_is_for_labs_with_keys_as_long_as_its_suite_asks_for() {
    let why = |bytes: Option<usize>, suite: &str, enable: bool| {
        let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
        let secret = |bytes: usize| rig_lab::Secret::from_hex(&"5a".repeat(bytes)).expect("digits");
        let keys = |bytes| Keys {
            saks: core::array::from_fn(|_| secret(bytes)),
            salt: secret(Keys::SALT),
        };
        lab.keys = bytes.map(keys);
        let settings = vec![
            Setting { path: "macsec.enable".to_owned(), value: enable.into() },
            Setting { path: "macsec.cipher_suite".to_owned(), value: suite.into() },
        ];
        let mut cases = bundled::cases().iter();
        let case = cases.find(|case| case.suits(&lab.duts[0]).is_ok()).expect("a case");
        keyless(&lab, &lab.duts[0], &Case { settings, ..case.clone() })
    };
    let none = "its ports speak MACsec, and the lab has no keys (macsec: in the lab file)";
    assert_eq!(why(None, "GCM-AES-128", true), Some(none.to_owned()));
    assert_eq!(why(None, "GCM-AES-128", false), None);
    assert_eq!(why(Some(16), "GCM-AES-128", true), None);
    let short = "its cipher suite has keys of 32 bytes, and the lab's have 16";
    assert_eq!(why(Some(16), "GCM-AES-256", true), Some(short.to_owned()));
    assert_eq!(why(Some(32), "GCM-AES-256", true), None);
}

#[test]
fn what_rests_on_a_strict_queue_is_not_asked_of_a_device_that_serves_all_by_weight() {
    let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
    lab.duts.truncate(1);
    let all = bundled::cases();
    let mut of = |weights: serde_json::Value, name: &str| {
        let setting = Setting { path: "scheduler.queues".to_owned(), value: weights };
        let dut = &mut lab.duts[0];
        dut.declared = dut.declared.with(&setting).expect("it fits");
        let mut own = all.iter().filter(|case| case.suits(&lab.duts[0]).is_ok());
        let case = own.find(|case| case.id.to_string().contains(name)).expect("it is there");
        let reach = applicability::of(&lab, &lab.duts[0], case);
        reach.map(|reach| reach.left_out).map_err(|unfit| unfit.why)
    };
    let mut weights = |queue_6: serde_json::Value, name: &str| {
        let one = serde_json::json!({"dwrr": 10});
        let mut queues = vec![one; 8];
        queues[6] = queue_6;
        of(queues.into(), name)
    };
    let (below, limit) = ("loss-below-strict", "lossy-queue-with-a-limit-of-its-own");
    let strict = || serde_json::json!("strict");
    assert_eq!(weights(strict(), below), Ok(Vec::new()));
    assert_eq!(weights(strict(), limit), Ok(Vec::new()));
    // Of 98.08 Gb/s in frames 58.85 are sent to queue 6 for 278 us. It is granted as much by 15 of 25; by 14 of 24 56 kB wait, and fit
    // beside the 300 kB that queue 1 may hold of 600; by 2 of 12 1.5 MB wait for a queue that holds half of what is left.
    let by = |weight: u16| serde_json::json!({ "dwrr": weight });
    assert_eq!(weights(by(15), below), Ok(Vec::new()));
    assert_eq!(weights(by(14), below), Ok(Vec::new()));
    let left_out = weights(by(2), below).expect("what is withheld is told all the same");
    let why = "nothing promises that it loses none";
    assert!(left_out.len() == 1 && left_out[0].contains(why), "{left_out:?}");
    let why = weights(by(1_000), limit).expect_err("it drains");
    assert!(why.contains("is to hold queue 1"), "{why}");
}

#[test]
fn no_pause_is_wanted_of_a_device_that_may_hold_nothing_before_the_one_it_gets_is_over() {
    let case = bundled::case("buffers::slow-receiver-with-static-shares-broadcom");
    let left_out = |response: &str| {
        let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
        let setting =
            Setting { path: "pfc.response".to_owned(), value: serde_json::json!(response) };
        lab.duts[0].declared = lab.duts[0].declared.with(&setting).expect("it fits");
        let reach = applicability::of(&lab, &lab.duts[0], &case);
        reach.expect("the rest is measured").left_out
    };
    // 2000 quanta are 10.24 us, twice as far apart. What waits for 8.08 of 20.48 us crosses the limit, what waits for nothing does not.
    assert_eq!(left_out("2.02us"), Vec::<String>::new());
    let told = left_out("10.24us");
    let why = "pfc.sent: the pauses of p2 hold class 3 for 0";
    assert!(told.len() == 1 && told[0].starts_with(why), "{told:?}");
}

/// Of the port of `gen2`, which its RoCE class gets no more than `limit` of: what is left out of a case, or why nothing of it is told.
fn limited_to(limit: &str, id: &str) -> Result<Vec<String>, String> {
    let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
    let at = lab.duts.iter().position(|dut| dut.name == "gen2").expect("a NIC");
    lab.duts = vec![lab.duts.swap_remove(at)];
    for (path, value) in [
        ("nic.ets.priorities", serde_json::json!([0, 0, 0, 1, 0, 0, 0, 0])),
        ("nic.ets.classes", serde_json::json!([{"percent": 50}, {"percent": 50}])),
        ("nic.ets.limits", serde_json::json!({"1": limit})),
    ] {
        let setting = Setting { path: path.to_owned(), value };
        lab.duts[0].declared = lab.duts[0].declared.with(&setting).expect("it fits");
    }
    let case = bundled::case(id);
    let reach = applicability::of(&lab, &lab.duts[0], &case);
    reach.map(|reach| reach.left_out).map_err(|unfit| unfit.why)
}

#[test]
fn of_flows_in_a_class_that_ets_limits_only_what_knows_that_is_told() {
    let cut = "dcqcn::one-cut";
    assert_eq!(limited_to("100Gbps-L2", cut), Ok(Vec::new()));
    let why = limited_to("99Gbps-L2", cut).expect_err("a limit below the port's speed");
    let told = "`nic` sends no more than 99Gbps-L2 of the class that sender is in (nic.ets.limits)";
    assert!(why.contains(told), "{why}");
    assert_eq!(limited_to("5Gbps-L2", "host-ets::bandwidth-counts-bytes"), Ok(Vec::new()));
}

#[test]
fn a_case_for_hosts_that_take_all_that_comes_is_not_told_of_slower_ones() {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let is_meant = |dut: &&Profile| dut.name.contains("gen2") && dut.declared.port_count() == 2;
    let pair = lab.duts.iter().find(is_meant).expect("a pair");
    // Of hosts that take `pcie` behind NICs that hold so much below XOFF: why nothing of a case is told.
    let with = |pcie: &str, xoff: &str, id: &str| {
        let mut pair = pair.clone();
        for part in ["nic", "peer"] {
            for (field, value) in [
                ("host.pcie", pcie),
                ("pfc.xoff", xoff),
                ("pfc.xon", "8KiB"),
                ("pfc.quanta", "65535q"),
                ("pfc.refresh", "200us"),
            ] {
                let setting = Setting { path: format!("{part}.{field}"), value: value.into() };
                pair.declared = pair.declared.with(&setting).expect("it fits");
            }
        }
        applicability::of(&lab, &pair, &bundled::case(id)).err().map(|unfit| unfit.why)
    };
    let case = "recovery::nothing-lost";
    assert_eq!(with("100Gbps-L2", "20KiB", case), None);
    assert_eq!(with("8Gbps-L2", "64MiB", case), None);
    let why = with("8Gbps-L2", "20KiB", case).expect("a host slower than its port");
    let told = "takes no more than 8Gbps-L2 of what its port brings (peer.host.pcie)";
    assert!(why.contains(told), "{why}");
    assert_eq!(with("8Gbps-L2", "20KiB", "cnp::one-cnp-an-interval"), None);
    // Whose case it is, it is told why not here: a context that is not at hand has to be read.
    let why = with("8Gbps-L2", "20KiB", "slow-receiver::few-connections-heal");
    let told = "how long a read from its host takes is not declared (peer.host.mtt_miss)";
    assert!(why.as_ref().is_some_and(|why| why.starts_with(told)), "{why:?}");
}

#[test]
fn a_port_that_is_declared_to_negotiate_or_to_be_shut_skips_what_goes_by_it_and_nothing_else() {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let at = lab.duts.iter().position(|dut| dut.name == "broadcom").expect("a device");
    let with = |field: &str, port: u16| {
        let mut lab = lab.clone();
        let speeds = "100Gbps".into();
        for (path, value) in [(field, port.into()), ("dynamic_buffer.supported", speeds)] {
            let setting = Setting { path: path.to_owned(), value };
            lab.duts[at].declared = lab.duts[at].declared.with(&setting).expect("it fits");
        }
        let case = bundled::case("pfcwd::detection-latency-broadcom");
        let faults = super::super::preflight::faults(&lab, Some("broadcom"), &case);
        assert!(faults.is_empty(), "{field} {port}: {faults:?}");
        applicability::of(&lab, &lab.duts[at], &case).err().map(|unfit| unfit.why)
    };
    for (field, what) in
        [("dynamic_buffer.autoneg_port", "negotiates its speed"), ("shut_port", "is shut")]
    {
        let why = with(field, 1).expect("a stream goes by p1");
        assert!(why.contains(what) && why.contains(field), "{why}");
        assert_eq!(with(field, 4), None);
    }
}

#[test]
fn a_mixed_pair_of_nics_promises_no_end_where_packets_are_lost() {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let plain = lab.duts.iter().find(|dut| dut.name == "gen2-to-gen2").expect("a pair");
    let with = |part: &str, id: &str| {
        let mut pair = plain.clone();
        let path = format!("{part}.rc.recovery");
        let setting = Setting { path, value: "selective-repeat".into() };
        pair.declared = pair.declared.with(&setting).expect("it fits");
        let suits = applicability::of(&lab, &pair, &bundled::case(id));
        suits.map_or_else(|unfit| unfit.why, |suits| format!("{suits:?}"))
    };
    let told =
        "behind p1 sends again what is missing and no more, and that behind p2 keeps nothing";
    assert!(with("nic", "recovery::lost-packet").contains(told));
    assert!(!with("peer", "recovery::lost-packet").contains("sends again what"), "the other way");
    for untouched in
        ["nothing-lost", "loss-of-another-flow", "lost-acknowledgement", "doubled-frame"]
    {
        let told = with("nic", &format!("recovery::{untouched}"));
        // Of the flow that loses packets beside it nothing is promised.
        let all = told.matches("sends again what").count();
        assert_eq!(all > 0, untouched == "loss-of-another-flow", "{told}");
        assert!(!told.contains("rc.completion of other"), "{told}");
    }
}

#[test]
fn a_case_for_hosts_that_post_all_at_once_is_not_told_of_those_that_post_a_few() {
    let lab = rig_lab::read::lab(None).expect("the bundled lab");
    let pair = lab.duts.iter().find(|dut| dut.name == "gen2-to-gen2").expect("a pair");
    let with = |depth: u32, poll: &str, id: &str| {
        let mut pair = pair.clone();
        for (field, value) in [
            ("latency", "300ns".into()),
            ("poll", poll.into()),
            ("depth", depth.into()),
            ("window", "100us".into()),
            ("sync", "20us".into()),
            ("drift", "100ppm".into()),
        ] {
            let setting = Setting { path: format!("nic.estats.{field}"), value };
            pair.declared = pair.declared.with(&setting).expect("it fits");
        }
        applicability::of(&lab, &pair, &bundled::case(id)).err().map(|unfit| unfit.why)
    };
    // Twelve messages of 16 KiB, 1.4 us each, of which the first is polled a few microseconds later.
    let case = "recovery::nothing-lost";
    let why = with(1, "5us", case).expect("a host that posts one at a time");
    assert!(why.contains("posts 1 message of sender") && why.contains("nic.estats.depth"), "{why}");
    assert!(with(4, "50us", case).is_some());
    assert_eq!(with(11, "5us", case), None);
    assert_eq!(with(12, "1ms", case), None);
    // What goes to the rig is never acknowledged. A case that says how its host posts is about that.
    assert!(with(64, "1us", "dcqcn::additive-increase").is_some());
    assert_eq!(with(1, "5us", "completions::posted-as-far-as-the-queue-goes"), None);
}

#[test]
fn a_switch_that_drops_what_a_case_rests_on_has_it_where_the_case_says_otherwise() {
    let told = |device: (&str, &str), settings: &str, of: &str, path: &str, value: &str| {
        let path = path.to_owned();
        on(device, (settings, LOSS), |profile| {
            let set = |device: &mut Profile| {
                let word = if value == "true" { true.into() } else { value.into() };
                let setting = Setting { path: path.clone(), value: word };
                if device.name == of {
                    device.declared = device.declared.with(&setting).expect("it fits");
                }
            };
            match profile.system.as_mut() {
                Some(system) => system.devices.iter_mut().for_each(set),
                None => set(profile),
            }
        })
    };
    let (red, ecn) = ("pfcwd.big_red_switch", "wred.ecn");
    let why = "every lossless queue of far drops what comes (pfcwd.big_red_switch)";
    assert_eq!(told(SYSTEM, "{}", "far", red, "true"), Err(why.to_owned()));
    let broadcom = ("switch", "broadcom");
    let why = "broadcom drops where others mark, in lossless queues too (wred.ecn)";
    assert_eq!(told(broadcom, "{}", "broadcom", ecn, "ecn_none"), Err(why.to_owned()));
    assert_eq!(told(broadcom, "{}", "broadcom", ecn, "ecn_green"), Ok(Vec::new()));
    let set = "{wred: {ecn: ecn_all}}";
    assert_eq!(told(broadcom, set, "broadcom", ecn, "ecn_none"), Ok(Vec::new()));
}

#[test]
fn a_queue_that_holds_less_than_is_on_its_way_promises_no_share() {
    const SHARE: &str = "throughput: {streams: [load], from: 1ms, until: 8ms}";
    let told = |limit: u64| {
        let of = on(("switch", "broadcom"), ("{}", SHARE), |device| {
            let Declared::Switch(switch) = &mut device.declared else { panic!("it is a switch") };
            switch.qos.pfc_enable = vec![4];
            switch.buffer.lossy_static_th = Some(rig_units::Bytes(limit));
        });
        of.unwrap_or_else(|why| vec![why]).join("; ")
    };
    // A cell a frame: one that is on its way, and the next.
    assert_eq!(told(416), "");
    let why = told(415);
    let holds =
        "queue 3 of p3 holds 1 frames of load, and by the declared delay and scheduler it takes 2";
    assert!(why.contains(holds), "{why}");
}

#[test]
fn a_headroom_pool_of_less_than_a_frame_is_no_less_than_nothing() {
    const LATENCY: &str = "pfc.latency: {stream: load}";
    let told = on(("switch", "broadcom"), ("{}", LATENCY), |device| {
        let Declared::Switch(switch) = &mut device.declared else { panic!("it is a switch") };
        switch.buffer.headroom_pool = Some(rig_units::Bytes(100));
    });
    assert_eq!(told, Ok(Vec::new()));
}
