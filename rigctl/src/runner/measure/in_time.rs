//! How late the rig, or a device that is served by a process, may be before a trial means nothing for a measure.
//!
//! What times something widens its readings by the trial's own bound. What counts something has no such bound: it holds as
//! long as both are in time for what they answer, which follows from what the device declares. In virtual time nobody is late.

use super::OfTrial;
use super::headroom::in_the_way;
use super::measurement::{self, Needs};
use crate::runner::context::Context;
use crate::runner::fill::Fill;
use rig_capture::analyse::{Void, pfc_sent, throughput};
use rig_capture::{Observation, Unit};
use rig_oracle::spec::buffer;
use rig_testcases::{Amount, Lookup, Script, StreamRate, StreamSpec};
use rig_units::{Dur, Time};

/// How late both may be, and why not more.
#[derive(Debug, PartialEq, Eq)]
pub struct Limit {
    within: Dur,
    why: String,
}

/// Why a trial means nothing for a measure of its case.
pub(super) fn voids(
    context: &Context<'_>,
    script: &Script,
    observation: &Observation,
) -> Vec<Void> {
    let measures: Vec<_> = context.case.measure.iter().map(measurement::of).collect();
    let mut voids = Vec::new();
    if context.is_served() {
        let limits =
            measures.iter().flat_map(|measure| measure.limits(context, script, observation));
        let tightest = limits.min_by_key(|limit| limit.within);
        let late = observation.bound();
        voids.extend(tightest.filter(|limit| late > limit.within).map(|Limit { within, why }| {
            let [late, within] = [late, within].map(|time| Unit::Ps.show(time.0));
            let detail =
                format!("the rig or the served device was {late} late, and {why}: up to {within}");
            Void { reason: "late-send", detail }
        }));
    }
    let unseen = observation.integrity.unseen;
    // They hold what was read before and after a trial against what was seen in it.
    let reads_counters = measures.iter().any(|measure| measure.facts().needs == Needs::Counters);
    if unseen > 0 && reads_counters {
        let detail = format!(
            "the device did something {unseen} times between the trial and a reading of its counters"
        );
        voids.push(Void { reason: "late-reading", detail });
    }
    voids
}

/// A stream that the device paused in time loses nothing. It is in time as long as what the rig sends meanwhile fits into
/// the headroom, and as long as a pause is asked for again before it is over.
pub(super) fn lossless(
    context: &Context<'_>,
    script: &Script,
    observation: &Observation,
    spec: &StreamSpec,
) -> Option<Limit> {
    let declared = &context.group.declared;
    let endpoint = script.endpoint(spec.from);
    let lossless = declared.qos.pfc_enable.contains(&spec.class);
    let whole = (Time::ZERO, Time::MAX);
    let paused = !pfc_sent(observation, spec.from, spec.class, whole).xoff.is_empty();
    if !lossless || !endpoint.obeys(spec.class) || !paused {
        return None;
    }
    let speed = observation.ports[usize::from(spec.from)].speed;
    let slot = speed.slot(spec.on_wire());
    // Of the frames that fit, those that come although nobody is late: one ahead of the XOFF, one that the rig has begun, and what
    // it sends until it responds and on the way.
    let fits =
        slot * (declared.buffer.xoff.0 / buffer::occupied(&declared.buffer, spec.size).max(1));
    let nominal = speed.slot(declared.mtu) + slot + endpoint.response + context.cable() * 2;
    // The XOFF may leave late, and the frames before it too.
    let headroom = fits.saturating_sub(nominal) / 2;
    let ahead = in_the_way(declared, script, spec.from, spec.class);
    let again = speed.pause(declared.pfc.quanta).saturating_sub(declared.pfc.refresh + ahead);
    let name = &spec.name;
    Some(if headroom <= again {
        Limit {
            within: headroom,
            why: format!("what {name} sends meanwhile has to fit into the headroom"),
        }
    } else {
        Limit {
            within: again,
            why: format!("a pause of {name} runs out unless it is asked for again in time"),
        }
    })
}

/// A rate takes records from half of its time at least. Where they are missing, a stall at either end may have kept them away.
pub(super) fn rate(
    context: &Context<'_>,
    (script, observation): (&Script, &Observation),
    streams: &[String],
    (from, until): (&Amount, &Amount),
) -> Option<Limit> {
    let values = OfTrial::of(context, script, observation);
    let at = |end: &Amount| Some(Time::ZERO + end.resolve(&values as &dyn Lookup).ok()?);
    let window = (at(from)?, at(until)?);
    let named = (0_u16..).zip(&script.streams).filter(|(_, spec)| streams.contains(&spec.name));
    let mut missing = named.filter_map(|(stream, spec)| {
        Some((spec, throughput(observation, script, stream, window).err()?))
    });
    let (spec, why) = missing.next()?;
    Some(Limit { within: (window.1 - window.0) / 4, why: format!("of {} {why}", spec.name) })
}

/// A stream that never makes the device pause it has no more frames in the device than it is meant to. Those that the rig is
/// late with come together, and find those that the device is late with.
pub(super) fn crossing(
    context: &Context<'_>,
    observation: &Observation,
    spec: &StreamSpec,
) -> Option<Limit> {
    let declared = &context.group.declared;
    if !declared.qos.pfc_enable.contains(&spec.class) {
        return None;
    }
    let first = Fill::empty(declared).first_xoff(spec);
    let speed = observation.ports[usize::from(spec.from)].speed;
    let gap = match spec.rate {
        StreamRate::Every(gap) => gap,
        StreamRate::Load(_) => speed.slot(spec.on_wire()),
    };
    let within = Dur(gap.0.saturating_mul(first) / 2);
    let why = format!(
        "frame {first} of {} makes the device pause it, however few come at a time",
        spec.name
    );
    Some(Limit { within, why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::choose::choose;
    use crate::runner::points::{groups, points};
    use crate::runner::seed::Seed;
    use rig_capture::{Counters, Dir, Integrity, PortTrace, Provenance, Record, What};
    use rig_lab::Lab;
    use rig_units::Quanta;
    use std::path::Path;

    /// What voids a trial of a case in which everything may be `late`, and the device asked for a pause of class 3 at p1 or not.
    fn of(lab: Option<&str>, case: &str, (late, pauses): (Dur, bool), unseen: u64) -> Vec<String> {
        let file =
            lab.map(|lab| Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab-configs").join(lab));
        let lab: Lab = rig_lab::read::lab(file.as_deref()).expect("a bundled lab");
        let suites = rig_testcases::read::bundled().expect("the catalogue");
        let mut cases = suites.iter().flat_map(|suite| &suite.cases);
        let case = cases.find(|of| of.id.to_string() == case).expect("a case");
        let profile = choose(&lab, None, case).expect("it suits one");
        let group = groups(case, &profile.declared).expect("settings").remove(0);
        let context = crate::runner::measure::context(&lab, profile, case, group, Seed::of_run(0));
        let points = points(case, &context.values(), context.cadence()).expect("no sweep");
        let script = context.script(&points[0]).expect("a script");
        let xoff = Record {
            at: Time::ZERO + Dur::ms(5),
            port: 0,
            dir: Dir::Rx,
            what: What::Pfc { enable: 8, quanta: [Quanta::MAX; 8] },
            secured: None,
        };
        let port = |name: &String| PortTrace {
            name: name.clone(),
            speed: context.group.declared.port_speed(0).expect("a port"),
            dut_port: "Ethernet0".to_owned(),
            cable: Dur::ns(15),
            provenance: Provenance::Software { bound: late },
        };
        let observation = Observation {
            origin: Time::ZERO,
            length: script.length,
            ports: script.ports.iter().map(port).collect(),
            records: if pauses { vec![xoff] } else { Vec::new() },
            streams: Vec::new(),
            loads: Default::default(),
            counters: Counters::default(),
            events: None,
            injected: Vec::new(),
            config: Vec::new(),
            integrity: Integrity { unseen, ..Integrity::default() },
        };
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
    fn what_a_device_did_before_its_counters_were_read_voids_only_what_reads_them() {
        let unseen = of(Some("veth.yaml"), "pfcwd::storm-counters-broadcom", (Dur::ZERO, false), 2);
        insta::assert_snapshot!(unseen.join("\n"), @"late-reading: the device did something 2 times between the trial and a reading of its counters");
        assert_eq!(of(Some("veth.yaml"), PAUSED, (Dur::ZERO, false), 2), Vec::<String>::new());
    }
}
