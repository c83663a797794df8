//! How late the rig, or a device that is served by a process, may be before a trial means nothing for a measure.
//!
//! What times something widens its readings by the trial's own bound. What counts something has no such bound: it holds as
//! long as both are in time for what they answer, which follows from what the device declares. In virtual time nobody is late.

use super::limits::{self, Limit};
use super::measurement::Needs;
use super::{of, reboot};
use crate::trials::context::Context;
use rig_capture::analyse::Void;
use rig_capture::{Observation, Unit};
use rig_lab::Action;
use rig_testcases::{Case, Script};

/// Why a trial means nothing for a measure of its case.
pub(super) fn voids(
    context: &Context<'_>,
    script: &Script,
    observation: &Observation,
) -> Vec<Void> {
    let measures = &context.case.measure;
    let mut voids = Vec::new();
    if context.is_served() {
        let limits =
            measures.iter().flat_map(|one| (of(one).limits)(one, context, script, observation));
        let tightest = limits.min_by_key(|limit| limit.within);
        let late = observation.bound();
        voids.extend(tightest.filter(|limit| late > limit.within).map(|Limit { within, why }| {
            let [late, within] = [late, within].map(|time| Unit::Ps.show(time.0));
            let detail =
                format!("the rig or the served device was {late} late, and {why}: up to {within}");
            Void { reason: "late-send", detail }
        }));
    }
    let rates = measures.iter().filter(|one| of(one).tells_rate);
    let starved = rates.filter_map(|one| limits::starved(one, context, script, observation)).next();
    voids.extend(starved.map(|detail| Void { reason: "dut-late", detail }));
    let overrun = reboot::overrun(context, script, observation);
    voids.extend(overrun.map(|detail| Void { reason: "dut-late", detail }));
    let unseen = observation.integrity.unseen;
    // They hold what was read before and after a trial against what was seen in it.
    if unseen > 0 && reads_counters(context.case) {
        let detail = format!(
            "the device did something {unseen} times between the trial and a reading of its counters"
        );
        voids.push(Void { reason: "late-reading", detail });
    }
    let silent = context.group.declared.switch().is_some_and(|of| of.pfcwd.action == Action::Alert);
    let needs = |what: Needs| measures.iter().any(|one| (of(one).needs)(one) == what);
    let hears = (needs(Needs::Events) && silent) || needs(Needs::Told);
    // Any other action shows on the wire; but what a counter tells of one that nobody can date may be of another trial.
    let rests = hears || reads_counters(context.case);
    let undated = observation.integrity.undated.as_ref().filter(|_| rests);
    voids.extend(undated.map(|why| Void { reason: "late-event", detail: why.clone() }));
    voids
}

/// Whether anything of the case rests on the device's counters.
pub fn reads_counters(case: &Case) -> bool {
    case.measure.iter().any(|one| (of(one).needs)(one) == Needs::Counters)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trials::points::groups;
    use crate::trials::seed::Seed;
    use rig_capture::{Dir, DutWait, DutWaits, Integrity, Provenance, Record, What};
    use rig_lab::Lab;
    use rig_testcases::Suite;
    use rig_units::Quanta;
    use rig_units::{Dur, Time};
    use std::path::Path;

    /// The suite that a bundled case is of.
    fn suite_of(case: &str) -> Vec<Suite> {
        let of = |suite: &str| case.split_once("::").is_some_and(|(own, _)| own == suite);
        rig_testcases::read::bundled_of(&crate::measure::Registry, of).expect("the catalogue")
    }

    /// What voids a trial of a case in which everything may be `late`, and the device asked for a pause of class 3 at p1 or not.
    fn of(lab: Option<&str>, case: &str, late: (Dur, bool), unseen: u64) -> Vec<String> {
        seen(lab, case, late, Integrity { unseen, ..Integrity::default() })
    }

    fn seen(
        lab: Option<&str>,
        case: &str,
        (late, pauses): (Dur, bool),
        integrity: Integrity,
    ) -> Vec<String> {
        let file =
            lab.map(|lab| Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs").join(lab));
        let lab: Lab = rig_lab::read::lab(file.as_deref()).expect("a bundled lab");
        let suites = suite_of(case);
        let mut cases = suites.iter().flat_map(|suite| &suite.cases);
        let case = cases.find(|of| of.id.to_string() == case).expect("a case");
        let mut suited = lab.duts.iter().filter(|dut| case.suits(dut).is_ok());
        let profile = suited.next().expect("it suits one");
        let group = groups(case, &profile.declared).expect("settings").remove(0);
        let context = crate::measure::context(&lab, profile, case, group, Seed::of_run(0));
        let points = context.points().expect("no sweep");
        let script = context.script(&points[0]).expect("a script");
        let xoff = Record {
            at: Time::ZERO + Dur::ms(5),
            port: 0,
            dir: Dir::Rx,
            what: What::Pfc { enable: 8, quanta: [Quanta::MAX; 8] },
            secured: None,
            vlan: None,
        };
        let mut observation = Observation {
            records: if pauses { vec![xoff] } else { Vec::new() },
            integrity,
            ..Observation::quiet(&script)
        };
        for port in &mut observation.ports {
            port.speed = context.group.declared.port_speed(0).expect("a port");
            port.provenance = Provenance::Software { bound: late };
        }
        let voids = voids(&context, &script, &observation).into_iter();
        voids.map(|void| format!("{}: {}", void.reason, void.detail)).collect()
    }

    const PAUSED: &str = "pfcwd::pfc-is-repeated-before-the-pause-runs-out-broadcom";

    #[test]
    fn what_is_sent_while_a_pause_is_late_has_to_fit_into_the_headroom() {
        // 18 frames of 9022 B fit into 165568 B of cells of 208 B, 144.7 us each; one stands ahead of the XOFF and one has begun:
        // 2604.1 us less 291 us, and half of that for each side.
        let veth = Some("veth.yaml");
        assert_eq!(of(veth, PAUSED, (Dur::us(1_156), true), 0), Vec::<String>::new());
        insta::assert_snapshot!(of(veth, PAUSED, (Dur::us(1_157), true), 0).join("\n"), @"late-send: the rig or the served device was 1.157ms late, and what filler sends meanwhile has to fit into the headroom: up to 1.15656ms");
        assert_eq!(
            of(veth, PAUSED, (Dur::ms(15), false), 0),
            Vec::<String>::new(),
            "nothing was paused"
        );
        assert_eq!(
            of(None, PAUSED, (Dur::ms(15), true), 0),
            Vec::<String>::new(),
            "nobody serves it"
        );
    }

    #[test]
    fn a_rate_over_a_short_while_asks_for_both_to_be_in_time() {
        let veth = Some("veth.yaml");
        // Nothing was recorded in those 6 ms.
        let case = "pfcwd::drop-at-oversubscription-broadcom";
        assert_eq!(of(veth, case, (Dur::us(1_500), false), 0), Vec::<String>::new());
        insta::assert_snapshot!(of(veth, case, (Dur::us(1_501), false), 0).join("\n"), @"late-send: the rig or the served device was 1.501ms late, and of left fewer than two frames were recorded in that time: up to 1.5ms");
    }

    #[test]
    fn loads_that_fit_together_leave_their_queue_below_kmin_as_long_as_nobody_is_late() {
        let veth = Some("veth.yaml");
        // 1040 B of each of two every 34.1 us at 49 % of 500 Mb/s: 120000 B but two frames are there after 1.93 ms.
        let case = "ecn::none-under-a-load-that-fits-broadcom";
        assert_eq!(of(veth, case, (Dur::us(1_930), false), 0), Vec::<String>::new());
        let late = of(veth, case, (Dur::us(1_936), false), 0);
        assert!(late.len() == 1 && late[0].starts_with("late-send: the rig or the served device was 1.936ms late, and what load and others to its queue send meanwhile must not fill it to kmin, 120000B"), "{late:?}");
        // What is held by a storm fills as it is meant to.
        let held = "ecn::curve-broadcom";
        assert_eq!(of(veth, held, (Dur::ms(15), false), 0), Vec::<String>::new());
    }

    #[test]
    fn what_a_device_did_before_its_counters_were_read_voids_only_what_reads_them() {
        let unseen = of(Some("veth.yaml"), "pfcwd::storm-counters-broadcom", (Dur::ZERO, false), 2);
        insta::assert_snapshot!(unseen.join("\n"), @"late-reading: the device did something 2 times between the trial and a reading of its counters");
        assert_eq!(of(Some("veth.yaml"), PAUSED, (Dur::ZERO, false), 2), Vec::<String>::new());
    }

    #[test]
    fn a_rate_lacks_what_a_guest_that_waited_did_not_make_up_for() {
        let waited = |case: &str, stretches: &[(u64, u64)]| {
            let wait =
                |&(at, by): &(u64, u64)| DutWait { at: Time::ZERO + Dur::ms(at), by: Dur::ms(by) };
            let stretches = stretches.iter().map(wait).collect();
            let waits = DutWaits { stretches, most: Dur::ms(60), makes_up: Dur::ms(16) };
            let integrity = Integrity { waits, ..Integrity::default() };
            seen(Some("linux-switch.yaml"), case, (Dur::ms(20), false), integrity).join("; ")
        };
        let case = "buffers::shares-by-weight";
        // 4 ms, 16 ms and nothing; the first half second and what comes behind the end are not measured.
        let borne = [(100, 60), (900, 20), (1_000, 32), (1_100, 16), (2_600, 60)];
        assert_eq!(waited(case, &borne), "");
        insta::assert_snapshot!(waited(case, &[(900, 20), (1_000, 33)]), @"dut-late: from 502.12ms to 2381.32ms the guest was kept waiting for a processor for 21ms beyond the 16ms each time that it makes up for, and a rate bears 20ms");
        assert_eq!(waited("ecn::step-under-load", &[(900, 20), (1_000, 33)]), "", "no rate");
    }

    #[test]
    fn an_event_that_may_have_been_before_the_trial_voids_what_rests_on_events_alone_or_on_counters()
     {
        let of = |case| {
            let undated = Some("it was then or then".to_owned());
            seen(None, case, (Dur::ZERO, false), Integrity { undated, ..Integrity::default() })
        };
        assert_eq!(of("pfcwd::action-alert-broadcom"), ["late-event: it was then or then"]);
        assert_eq!(of("pfcwd::storm-counters-broadcom"), ["late-event: it was then or then"]);
        assert_eq!(of(PAUSED), Vec::<String>::new());
    }

    #[test]
    fn what_is_sent_to_a_device_that_was_told_to_reboot_too_late_tells_nothing() {
        let late = |case: &str, obeyed: u64| {
            let lab = rig_lab::read::lab(None).expect("the bundled lab");
            let suites = suite_of(case);
            let mut cases = suites.iter().flat_map(|suite| &suite.cases);
            let case = cases.find(|of| of.id.to_string() == case).expect("a case");
            let profile = lab.duts.iter().find(|dut| dut.name == "broadcom").expect("a device");
            let group = groups(case, &profile.declared).expect("settings").remove(0);
            let context = crate::measure::context(&lab, profile, case, group, Seed::of_run(0));
            let points = context.points().expect("no sweep");
            let script = context.script(&points[0]).expect("a script");
            let mut observation = Observation::quiet(&script);
            observation.counters.obeyed = Dur::ms(obeyed);
            let voids = voids(&context, &script, &observation).into_iter();
            voids.map(|void| format!("{}: {}", void.reason, void.detail)).collect::<String>()
        };
        let case = "reboot::pfc-is-obeyed-after-a-cold-reboot-broadcom";
        assert_eq!(late(case, 15), "");
        insta::assert_snapshot!(late(case, 16), @"dut-late: the device took 16ms to take the order to reboot, and what is sent to it once it is back begins 15ms after that");
        assert_eq!(
            late("reboot::warm-reboot-passes-frames-broadcom", 1_000),
            "",
            "nothing begins then"
        );
    }
}
