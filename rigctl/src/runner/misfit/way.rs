//! What stands between the rig and a NIC: what a case asks that ends there, and what it does to frames that nobody sees.

use rig_lab::{Profile, Switch};
use rig_oracle::spec::wred;
use rig_testcases::Case;
use rig_testcases::case::{CaseAction, CaseStep};
use rig_units::{L2Rate, PortSpeed};

/// Why a case says nothing of a NIC that stands behind other devices: it asks for what ends at the first of them, or one of them may do
/// something else to a frame than keep it for a time that is known.
pub(super) fn behind(profile: &Profile, case: &Case) -> Option<String> {
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
        return meddles(profile);
    };
    let (name, kind) = (&next.name, next.kind.called());
    Some(format!("the NIC stands behind {kind}, {name}, and {asks}"))
}

/// What a device on the way does to the frames of a NIC that the NIC would be accused of.
fn meddles(profile: &Profile) -> Option<String> {
    let speed = profile.declared.port_speed(0)?;
    profile.approaches().find_map(|(device, _)| {
        let switch = device.declared.switch()?;
        let does = if let Some(pir) = held_to(switch, speed) {
            format!("whose ports are shaped to {pir}: how long a frame waits there nobody sees")
        } else {
            let (least, deepest) = takes(switch, speed)?;
            format!(
                "which marks or drops from {least} B on, and up to {deepest} B of frames may be in a queue there though none is held back"
            )
        };
        Some(format!("the NIC stands behind {}, {}, {does}", device.kind.called(), device.name))
    })
}

/// The rate to which a shaper holds the ports of a switch back that are of this speed.
fn held_to(switch: &Switch, speed: PortSpeed) -> Option<L2Rate> {
    switch.scheduler.pir.filter(|pir| pir.bps < speed.bps())
}

/// From which depth of a queue on frames may be marked or dropped early, and how deep one may be: where it may.
fn takes(switch: &Switch, speed: PortSpeed) -> Option<(u64, u64)> {
    let of = &switch.wred;
    let least = of.curves().iter().map(|(_, curve)| curve.kmin.0).min()?;
    let passing = (switch.transit(), switch.mtu);
    let deepest = wred::passing(&switch.buffer, of, speed, passing);
    (!of.queues.is_empty() && least <= deepest).then_some((least, deepest))
}

#[cfg(test)]
mod tests {
    use super::super::super::applicability;
    use super::*;
    use rig_lab::Setting;
    use rig_oracle::measure;
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
    fn a_nic_behind_a_switch_that_may_mark_what_nothing_holds_back_is_not_judged() {
        assert_eq!(behind(&[]), Ok(Vec::new()));
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let plain = lab.duts[0].declared.switch().expect("the first device is a switch");
        let passing = (plain.transit(), plain.mtu);
        let deepest = wred::passing(&plain.buffer, &plain.wred, PortSpeed::G100, passing);
        let from = |kmin: u64| behind(&[("wred.kmin", json!(format!("{kmin}B")))]);
        assert_eq!(from(deepest + 1), Ok(Vec::new()));
        let why = from(deepest).expect_err("a frame may be marked");
        assert!(why.contains(&format!("which marks or drops from {deepest} B on")), "{why}");
        // The curve of one colour is enough, and without a queue that has the profile there is none.
        let red = ("wred.red", json!({"kmin": "0B", "kmax": "200000B", "pmax": "5%"}));
        behind(core::slice::from_ref(&red)).expect_err("a red frame may be marked");
        assert_eq!(behind(&[red, ("wred.queues", json!([]))]), Ok(Vec::new()));
    }
}
