//! What stands between the rig and a NIC: what a case asks that ends there, and what it does to frames that nobody sees.

use rig_lab::{Lab, Nics, Profile, Switch};
use rig_oracle::measure;
use rig_oracle::spec::steps::Kept;
use rig_oracle::spec::wred::{self, SHORTEST, Sent};
use rig_oracle::trials::points::groups;
use rig_oracle::trials::seed::Seed;
use rig_testcases::case::{CaseAction, CaseStep};
use rig_testcases::{Case, Injected, Injection, Script, StreamRate, Target, Verb, Which};
use rig_units::{Bytes, Dur, L2Rate, PortSpeed, Within};

/// Why a case says nothing of a NIC that stands behind other devices: it asks for what ends at the first of them, or one of them may do
/// something else to a frame than keep it for a time that is known.
pub(super) fn behind(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    let (next, _) = profile.approaches().next()?;
    let pauses = |step: &CaseStep| matches!(step.what, CaseAction::Pfc { .. });
    let cuts = |step: &CaseStep| matches!(step.what, CaseAction::LinkDown { .. });
    let addressed = case.streams.values().any(|stream| stream.address > 0)
        || case.flows.values().any(|flow| flow.address > 0);
    let asks = if !case.storms.is_empty() || case.steps.iter().any(pauses) {
        "its pauses end there"
    } else if case.steps.iter().any(cuts) {
        "the cable that it takes down ends there"
    } else if addressed {
        "that knows the rig by one address a port"
    } else {
        return meddles(lab, profile, case);
    };
    let (name, kind) = (&next.name, next.kind.called());
    Some(format!("the NIC stands behind {kind}, {name}, and {asks}"))
}

/// What a device on the way does to the frames of a NIC that the NIC would be accused of.
fn meddles(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    let speed = profile.declared.port_speed(0)?;
    profile.approaches().find_map(|(device, _)| {
        let switch = device.declared.switch()?;
        let does = if let Some(pir) = held_to(switch, speed) {
            format!("whose ports are shaped to {pir}: how long a frame waits there nobody sees")
        } else {
            let (least, deepest) = takes((lab, profile, case), switch, speed)?;
            format!(
                "which marks or drops from {least} B on, and up to {deepest} B of frames may be in a queue there though none is held back"
            )
        };
        Some(format!("the NIC stands behind {}, {}, {does}", device.kind.called(), device.name))
    })
}

/// The rate to which a shaper holds the ports of a switch back that are of this speed, as slow as it may be.
fn held_to(switch: &Switch, speed: PortSpeed) -> Option<L2Rate> {
    switch.scheduler.slowest().pir.filter(|pir| pir.bps < speed.bps())
}

/// From which depth of a queue on frames may be marked or dropped early, and how deep one may be by what the case sends: where it may.
fn takes(
    (lab, profile, case): (&Lab, &Profile, &Case),
    switch: &Switch,
    speed: PortSpeed,
) -> Option<(u64, u64)> {
    let of = &switch.wred;
    let kept = |kmin| Kept::of(kmin, of.threshold_step).least.0;
    let least = of.curves().iter().map(|(_, curve)| kept(curve.kmin)).min()?;
    if of.queues.is_empty() {
        return None;
    }
    let passing = (switch.transit().most(), switch.mtu);
    let deepest = |sent: &Sent<'_>| wred::passing(&switch.buffer, of, speed, passing, sent);
    // Less than any frames is what needs no look at the case.
    let any = deepest(&Sent { shortest: SHORTEST, beside: &|_| 0 });
    if any < least {
        return None;
    }
    let each = loads(lab, profile, case, speed).map(|loads| {
        let deep = |load: &Load| {
            let beside =
                |over: Dur| load.beside(over, &|frame| wred::step(&switch.buffer, of, frame));
            deepest(&Sent { shortest: load.shortest, beside: &beside })
        };
        loads.iter().map(deep).max().unwrap_or(0)
    });
    let deepest = each.map_or(any, |deep| deep.min(any));
    (least <= deepest).then_some((least, deepest))
}

/// What a script sends through a queue between the rig and a NIC, one way or the other.
struct Load {
    /// The shortest frame of which any number may come at once: packets of messages, and of streams that fill the line.
    shortest: Bytes,
    /// Streams that send a frame now and then.
    spaced: Vec<(Bytes, Dur)>,
    /// The least time between two packets that reach a NIC, each of which may bring an acknowledgement and a CNP.
    asked: Dur,
    /// How much sooner after another's an answer may leave than what it answers came.
    uneven: Dur,
    /// Answers beside those: what a hole asks for, and requests to READ.
    single: u64,
    /// How often each may come: twice where the rig doubles or delays any number of them.
    times: u64,
    /// The time of the shortest frame in the rig's own queue, where that is slower: what waits there leaves together.
    slower: Option<Dur>,
}

impl Load {
    /// What may come within `over` beside frames one right after the other, in what each adds to a depth.
    fn beside(&self, over: Dur, step: &dyn Fn(Bytes) -> u64) -> u64 {
        let within = |over: Dur, every: Dur| over.0.div_ceil(every.0.max(1)) + 1;
        let spaced: u64 =
            self.spaced.iter().map(|(size, gap)| within(over, *gap) * step(*size)).sum();
        let answers = 2 * within(over + self.uneven, self.asked) + self.single;
        let released = self.slower.map_or(0, |slot| within(over, slot));
        spaced + (answers * self.times + released) * step(SHORTEST)
    }
}

impl Load {
    /// What the rig lets out later, or twice. Packets with payload reach a NIC no closer together for it than its line lets them, so that
    /// what they ask for is counted; what they find there may ask for a NAK more, and one sent again another. An answer that waits leaves
    /// together with others: one, where one is meant, and else as many as there are.
    fn again(&mut self, one: &Injection<u16>) {
        if !matches!(one.tamper, Injected::Delay(_) | Injected::Behind(_) | Injected::Duplicate) {
            return;
        }
        let once = match one.which {
            Which::Nth(_) => true,
            Which::Psn(_) => one.iteration.is_some(),
            Which::Every { .. } | Which::During { .. } | Which::Drawn(_) => false,
        };
        match (one.frames, once) {
            (Target::Data, _) => self.single += 2,
            (_, true) => self.single += 1,
            (_, false) => self.times += 1,
        }
    }
}

/// What each script of the case sends; `None` where any number of the shortest frames may come at once.
fn loads(lab: &Lab, profile: &Profile, case: &Case, speed: PortSpeed) -> Option<Vec<Load>> {
    let mut all = Vec::new();
    for group in groups(case, &profile.declared).ok()? {
        let context = measure::context(lab, profile, case, group, Seed::of_run(0));
        for point in context.points().ok()? {
            let script = context.script(&point).ok()?;
            all.push(load(context.group.declared.nics()?, &script, speed)?);
        }
    }
    Some(all)
}

/// That of one script.
fn load(nics: &Nics, script: &Script, speed: PortSpeed) -> Option<Load> {
    let mut load = Load {
        shortest: Bytes(u64::MAX),
        spaced: Vec::new(),
        asked: Dur(u64::MAX),
        uneven: Dur::ZERO,
        single: 0,
        times: 1,
        slower: None,
    };
    for flow in &script.flows {
        // The last packet of a message has what is left, and without extended headers none is shorter.
        let left = flow.message % flow.mtu.max(1);
        let payload = if left == 0 { flow.mtu.min(flow.message) } else { left };
        let frame = Bytes(u64::from(payload)) + PLAIN;
        load.shortest = load.shortest.min(frame);
        load.asked = load.asked.min(speed.slot(frame));
        // A NAK until its hole is filled, one of the round before that may still be on its way, and as many READs as there are.
        load.single += 2;
        if flow.verb == Verb::Read {
            load.single += u64::from(flow.count?);
        }
    }
    for stream in &script.streams {
        let (size, slot) = (stream.on_wire(), speed.slot(stream.on_wire()));
        let gap = match stream.rate {
            StreamRate::Every(gap) => gap,
            StreamRate::Load(rate) => rate.pace(size, speed).gap(),
        };
        load.asked = load.asked.min(gap.max(slot));
        if gap > slot * 2 {
            load.spaced.push((size, gap));
        } else {
            load.shortest = load.shortest.min(size);
        }
    }
    let senders = script.flows.len() + script.streams.len();
    for (_, nic) in nics.all() {
        let held = nic.rc.ack_held.map_or(Dur::ZERO, Within::most);
        let uneven = (nic.rc.ack_latency.width() + held).max(nic.np.latency.width());
        let places = usize::try_from(nic.receive.cache).unwrap_or(usize::MAX);
        // What misses its cache holds what is behind it. Where all connections have a place each misses once.
        if nic.receive.cache > 0 && nic.receive.miss > Dur::ZERO && senders > places {
            return None;
        }
        let misses = nic.receive.miss * u64::try_from(senders).unwrap_or(u64::MAX);
        load.uneven = load.uneven.max(uneven + misses);
    }
    if let Some((.., between)) = &script.between {
        for one in &between.inject {
            load.again(one);
        }
        load.slower = between.bottleneck.as_ref().map(|queue| queue.speed.slot(SHORTEST));
    }
    Some(load)
}

/// What a packet of a reliable connection has beside its payload at least: Ethernet, IPv4, UDP, BTH, ICRC, FCS.
const PLAIN: Bytes = Bytes(62);

#[cfg(test)]
mod tests {
    use super::super::super::applicability;
    use super::*;
    use crate::runner::bundled;
    use rig_lab::Setting;
    use serde_json::{Value, json};

    /// What can be done of a case of one flow on the NIC of the default lab that stands behind a switch of which that is declared.
    fn behind(declared: &[(&str, Value)]) -> Result<Vec<String>, String> {
        let text = "about: a\ndevice: nic\ncases:\n  one:\n    why: a\n    source: [a]\n    flows: {flow: {nic: p1, class: 3, verb: write, message: 64KiB, mtu: 1024B}}\n    trials: 1\n    steps: [{at: 0ms, start: flow, for: 1ms}]\n    length: 9ms\n    measure: [{rate.follows: {flow: flow}}]\n";
        let suite = rig_testcases::read::piped(text.as_bytes(), &measure::Registry);
        let case = suite.unwrap_or_else(|faults| panic!("{faults:#?}")).cases.remove(0);
        let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
        let nic = lab.duts.iter_mut().find(|dut| dut.name == "behind-a-switch-nic");
        let nic: &mut Profile = nic.expect("a NIC in a system");
        for device in &mut nic.system.as_mut().expect("it stands in one").devices {
            if device.declared.switch().is_none() {
                continue;
            }
            for (path, value) in declared {
                let setting = Setting { path: (*path).to_owned(), value: value.clone() };
                device.declared = device.declared.with(&setting).expect("it fits");
            }
        }
        let nic = nic.clone();
        applicability::of(&lab, &nic, &case).map(|reach| reach.left_out).map_err(|unfit| unfit.why)
    }

    #[test]
    fn a_nic_behind_a_switch_that_is_slower_than_its_port_is_not_judged() {
        let shaped = |pir: &str| behind(&[("scheduler.pir", json!(pir))]);
        assert_eq!(shaped("100Gbps-L2"), Ok(Vec::new()));
        let why = shaped("99999999999bps-L2").expect_err("it holds frames back");
        let told = "the NIC stands behind a switch, tor, whose ports are shaped to";
        assert!(why.contains(told), "{why}");
    }

    #[test]
    fn one_frame_that_is_late_or_comes_twice_is_no_flood_of_answers() {
        let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
        let nic = lab.duts.iter_mut().find(|dut| dut.name == "between-two-switches-nics");
        let nic: &mut Profile = nic.expect("a pair of NICs in a system");
        for device in &mut nic.system.as_mut().expect("it stands in one").devices {
            if device.declared.switch().is_some() {
                let path = "forwarding_delay".to_owned();
                let setting = Setting { path, value: json!("3us") };
                device.declared = device.declared.with(&setting).expect("it fits");
            }
        }
        let nic = nic.clone();
        let cases = bundled::cases().iter();
        let late = cases.filter(|case| {
            let again = |one: &Injection<String>| {
                matches!(one.tamper, Injected::Delay(_) | Injected::Behind(_) | Injected::Duplicate)
            };
            // Each atomic operation is answered by a frame as long as itself: that is a flood however often it comes.
            let one_by_one = case.flows.iter().any(|flow| flow.1.verb == Verb::FetchAdd);
            case.id.suite == "recovery" && !one_by_one && case.between.inject.iter().any(again)
        });
        let unfit = |case: &Case| applicability::of(&lab, &nic, case).err().map(|unfit| unfit.why);
        let unfit: Vec<_> = late.map(|case| (case.id.to_string(), unfit(case))).collect();
        assert!(unfit.len() >= 5, "{unfit:?}");
        assert!(unfit.iter().all(|(_, why)| why.is_none()), "{unfit:#?}");
    }

    #[test]
    fn a_nic_behind_a_switch_that_may_mark_what_nothing_holds_back_is_not_judged() {
        assert_eq!(behind(&[]), Ok(Vec::new()));
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let late = ("forwarding_delay", json!("3us"));
        let setting = Setting { path: late.0.to_owned(), value: late.1.clone() };
        let plain = lab.duts[0].declared.with(&setting).expect("it fits");
        let plain = plain.switch().expect("the first device is a switch");
        let passing = (plain.transit().most(), plain.mtu);
        // A flow of packets of 1086 B, each of which may bring an acknowledgement and a CNP, and two NAKs.
        let beside = |over: Dur| {
            let packets = over.0.div_ceil(PortSpeed::G100.slot(Bytes(1_086)).0) + 1;
            (2 * packets + 2) * wred::step(&plain.buffer, &plain.wred, SHORTEST)
        };
        let sent = Sent { shortest: Bytes(1_086), beside: &beside };
        let deepest = wred::passing(&plain.buffer, &plain.wred, PortSpeed::G100, passing, &sent);
        let any = Sent { shortest: SHORTEST, beside: &|_| 0 };
        let any = wred::passing(&plain.buffer, &plain.wred, PortSpeed::G100, passing, &any);
        assert!(deepest < any, "{deepest} {any}: what no case sends is not in the way");
        let from = |kmin: u64| behind(&[late.clone(), ("wred.kmin", json!(format!("{kmin}B")))]);
        assert_eq!(from(deepest + 1), Ok(Vec::new()));
        let why = from(deepest).expect_err("a frame may be marked");
        assert!(why.contains(&format!("which marks or drops from {deepest} B on")), "{why}");
        // The curve of one colour is enough, and without a queue that has the profile there is none.
        let red = ("wred.red", json!({"kmin": "0B", "kmax": "200000B", "pmax": "5%"}));
        behind(core::slice::from_ref(&red)).expect_err("a red frame may be marked");
        assert_eq!(behind(&[red, ("wred.queues", json!([]))]), Ok(Vec::new()));
    }
}
