//! Ports of several speeds. A case that asks for no speeds is written for ports of one: a share of a port is of one that what is sent goes to,
//! too, or a load that fits everywhere else floods the slower of the two.

use rig_lab::{Lab, Profile};
use rig_oracle::measure::{self, unfilled};
use rig_oracle::trials::points::groups;
use rig_oracle::trials::seed::Seed;
use rig_testcases::case::Storm;
use rig_testcases::{Case, StreamRate, Sweep, Wanted};
use rig_units::{PortSpeed, Rate};
use std::borrow::Cow;

/// The case with each load a share of the slower of the two ports between which it goes. Which loads are less for it is `told`.
pub(super) fn of<'a>(profile: &Profile, case: &'a Case, told: &mut Vec<String>) -> Cow<'a, Case> {
    let mut own = Cow::Borrowed(case);
    let of_sender = |name: &String| {
        let mut all = case.measure.iter().filter(|one| measure::of(one).of_sender);
        all.any(|one| one.streams().contains(&name.as_str()))
    };
    let slower =
        case.streams.iter().filter(|(name, _)| !of_sender(name)).filter_map(|(name, stream)| {
            let StreamRate::Load(Rate::Share(mut share)) = stream.rate else { return None };
            let [from, to] = speeds(profile, case, [&stream.from, &stream.to])?;
            if to >= from {
                return None;
            }
            let of = u128::from(share.ppm) * u128::from(to.bps()) / u128::from(from.bps());
            share.ppm = u32::try_from(of).ok()?.max(1);
            let why = format!(
                "the load of {name} at the {from} of {}: it is that share of the {to} of {}",
                stream.from, stream.to
            );
            Some((name, StreamRate::Load(Rate::Share(share)), why))
        });
    for (name, rate, why) in slower {
        told.push(why);
        if let Some(stream) = own.to_mut().streams.get_mut(name) {
            stream.rate = rate;
        }
    }
    own
}

/// The speeds of the device's ports behind two of the rig; `None` where the case itself says what they are to be.
fn speeds(profile: &Profile, case: &Case, names: [&str; 2]) -> Option<[PortSpeed; 2]> {
    let varies = case.sweep.iter().any(|one| matches!(one, Sweep::Speed { .. }));
    if !case.ports.is_empty() || varies {
        return None;
    }
    let (dut_ports, ports) = (case.dut_ports(&profile.declared).ok()?, case.rig_ports());
    let speed = |name: &str| {
        let at = ports.iter().position(|port| port == name)?;
        profile.declared.port_speed(*dut_ports.get(at)?)
    };
    let [from, to] = names.map(speed);
    Some([from?, to?])
}

/// Why what the case wants to see of a port that is full, or held back, is not to be seen: those that send to it are slower.
pub(super) fn empty(lab: &Lab, profile: &Profile, case: &Case) -> Option<String> {
    let one = case.measure.iter().find(|one| one.wanted("expect") == Wanted::Some)?;
    let ports = 0..profile.declared.port_count();
    let all: Vec<PortSpeed> = ports.filter_map(|port| profile.declared.port_speed(port)).collect();
    if all.iter().min() == all.iter().max() {
        return None;
    }
    let not_full = || {
        groups(case, &profile.declared).ok()?.into_iter().find_map(|group| {
            let context = measure::context(lab, profile, case, group, Seed::of_run(0));
            let points = context.points().ok()?;
            let mut scripts = points.iter().filter_map(|point| context.script(point).ok());
            scripts.find_map(|script| unfilled(&context, &script, |_| true))
        })
    };
    let why = not_full().or_else(|| held_less(profile, case))?;
    Some(format!("{why}, and the case wants {}", one.name()))
}

/// A load of which a pause holds less than at ports of one speed.
fn held_less(profile: &Profile, case: &Case) -> Option<String> {
    let held = case.streams.values().filter(|stream| {
        let holds =
            |storm: &Storm| storm.from == stream.to && storm.classes.contains(&stream.class);
        matches!(stream.rate, StreamRate::Load(Rate::Share(_))) && case.storms.values().any(holds)
    });
    held.into_iter().find_map(|stream| {
        let [from, to] = speeds(profile, case, [&stream.from, &stream.to])?;
        (from < to).then(|| {
            format!(
                "a pause of {} of {to} holds less of what {} of {from} sends than at one speed",
                stream.to, stream.from
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::{applicability, bundled};
    use super::*;
    use rig_lab::Declared;

    /// A bundled case on broadcom's switch with ports of these speeds.
    fn on(speeds: &[&str], id: &str) -> (Lab, Profile, Case) {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let ports: Vec<_> =
            speeds.iter().map(|speed| serde_json::json!({"count": 1, "speed": speed})).collect();
        let mut profile = lab.duts[0].clone();
        let Declared::Switch(switch) = &mut profile.declared else { panic!("a switch") };
        switch.ports = serde_json::from_value(ports.into()).expect("ports");
        let case = bundled::cases().iter().find(|case| case.id.to_string() == id);
        let case = case.unwrap_or_else(|| panic!("{id}")).clone();
        (lab, profile, case)
    }

    const SLOW_SECOND: [&str; 4] = ["100Gbps", "25Gbps", "100Gbps", "100Gbps"];
    const SLOW_FIRST: [&str; 4] = ["25Gbps", "100Gbps", "25Gbps", "100Gbps"];

    #[test]
    fn a_load_is_a_share_of_the_slower_port() {
        let ppm = |speeds: &[&str], id: &str, stream: &str| {
            let (_, profile, case) = on(speeds, id);
            match of(&profile, &case, &mut Vec::new()).streams[stream].rate {
                StreamRate::Load(Rate::Share(share)) => share.ppm,
                other => panic!("{other:?}"),
            }
        };
        let id = "buffers::lossy-never-pauses-broadcom";
        assert_eq!(ppm(&["100Gbps"; 4], id, "one"), 970_000);
        assert_eq!(ppm(&SLOW_SECOND, id, "one"), 242_500);
        assert_eq!(ppm(&SLOW_FIRST, id, "one"), 970_000);
        // What fills the headroom of a queue that stands still is all that the sender can send.
        let id = "headroom::loss-against-response-broadcom";
        assert_eq!(ppm(&SLOW_SECOND, id, "load"), 1_000_000);
    }

    #[test]
    fn a_load_that_is_less_for_it_is_told() {
        let told = |speeds: &[&str]| {
            let (_, profile, case) = on(speeds, "buffers::lossy-never-pauses-broadcom");
            let mut told = Vec::new();
            let _less = of(&profile, &case, &mut told);
            told.join("\n")
        };
        assert_eq!(told(&["100Gbps"; 4]), "");
        insta::assert_snapshot!(told(&SLOW_SECOND), @"
        the load of one at the 100Gbps of p1: it is that share of the 25Gbps of p2
        the load of another at the 100Gbps of p3: it is that share of the 25Gbps of p2
        ");
    }

    #[test]
    fn a_case_that_asks_for_ports_of_two_speeds_gets_what_it_says() {
        let id = "pfcwd::mixed-speed";
        let (_, profile, case) = on(&SLOW_FIRST, id);
        let mut told = Vec::new();
        assert_eq!(*of(&profile, &case, &mut told), case);
        assert_eq!(told, [""; 0]);
    }

    #[test]
    fn what_slower_senders_do_not_fill_is_not_asked_to_be_full() {
        let why = |speeds: &[&str], id: &str| {
            let (lab, profile, case) = on(speeds, id);
            empty(&lab, &profile, &of(&profile, &case, &mut Vec::new()))
        };
        let id = "buffers::lossy-never-pauses-broadcom";
        assert_eq!(why(&["100Gbps"; 4], id), None);
        assert_eq!(why(&SLOW_SECOND, id), None);
        insta::assert_snapshot!(why(&SLOW_FIRST, id).expect("two of 25 Gb/s"), @"p1 of 25Gbps does not fill p2 of 100Gbps, as one of its speed would: nothing waits there, and the case wants loss");
        let id = "ecn::marks-grow-with-pauses-broadcom";
        assert_eq!(why(&SLOW_SECOND, id), None);
        insta::assert_snapshot!(why(&SLOW_FIRST, id).expect("it is slower"), @"a pause of p2 of 100Gbps holds less of what p1 of 25Gbps sends than at one speed, and the case wants ecn.marks");
    }

    /// Why a case is not run on such a switch, or what of it is left out.
    fn told(speeds: &[&str], id: &str) -> Vec<String> {
        let (lab, profile, case) = on(speeds, id);
        match applicability::of(&lab, &profile, &case) {
            Ok(fits) => fits.left_out,
            Err(unfit) => vec![unfit.why],
        }
    }

    #[test]
    fn what_a_slower_port_has_nobody_promise_is_said_with_both_speeds() {
        const SLOW_THIRD: [&str; 4] = ["100Gbps", "100Gbps", "25Gbps", "100Gbps"];
        let all_alike = ["100Gbps"; 4];
        for (id, speeds) in [
            ("buffers::incast-of-lossless-senders-broadcom", SLOW_THIRD),
            ("headroom::loss-against-response-broadcom", SLOW_SECOND),
            ("headroom::pauses-obeyed-after-a-link-was-down-broadcom", SLOW_FIRST),
            ("buffers::strict-before-weights", SLOW_FIRST),
            ("buffers::loss-of-lossy-queues-broadcom", SLOW_FIRST),
            ("ecn::queue-beside-a-full-one", SLOW_FIRST),
            ("pfcwd::restoration-of-forward-broadcom", ["100Gbps", "100Gbps", "50Mbps", "100Gbps"]),
        ] {
            assert_eq!(told(&all_alike, id), [""; 0], "{id}");
            let name = id.replace("::", "-");
            insta::assert_snapshot!(name, told(&speeds, id).join("\n"), id);
        }
    }
}
