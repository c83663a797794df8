//! Why a trial does not count: it was not the trial that the script asked for, or it was not seen whole.

use super::coverage;
use crate::{DutWaits, Observation, SilentPort, Unit};
use rig_testcases::Script;
use rig_units::Dur;

/// The reason of a trial in which a port went deaf.
pub const SILENT: &str = "silent-port";

/// One reason why a trial is void.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Void {
    /// One word for scripts: `storm-lapse`, `capture-hole`, `late-send`, `dut-late`, `silent-port` or `short-stream`.
    pub reason: &'static str,
    /// What happened, where, when and for how long.
    pub detail: String,
}

/// All reasons why the trial is void; none when it counts.
///
/// A storm must leave no gap, unless `gaps` says that it is meant to have those that its script gives it: then no gap may
/// be longer than that.
pub fn voids(observation: &Observation, script: &Script, gaps: &dyn Fn(u16) -> bool) -> Vec<Void> {
    let mut voids = Vec::new();
    let integrity = &observation.integrity;
    if integrity.lost > 0 {
        let detail = format!("the capture lost {} frames", integrity.lost);
        voids.push(Void { reason: "capture-hole", detail });
    }
    if let Some(cut) = &integrity.cut {
        voids.push(Void { reason: "capture-hole", detail: cut.clone() });
    }
    if let Some(worst) = integrity.late.iter().rev().max_by_key(|late| late.by) {
        let detail = format!(
            "{} frames left late; {} at {} by {}",
            integrity.late.len(),
            worst.sender,
            Unit::Ps.show(worst.at.0),
            worst.by
        );
        voids.push(Void { reason: "late-send", detail });
    }
    if let Some(late) = &integrity.dut {
        voids.push(Void { reason: "dut-late", detail: late.clone() });
    }
    // What comes to a guest meanwhile stands at its tap, stamped as much too early.
    let DutWaits { stretches, most, .. } = &integrity.waits;
    let longest = stretches.iter().rev().max_by_key(|wait| wait.by);
    voids.extend(longest.filter(|wait| wait.by > *most).map(|wait| {
        let [by, at, most] = [wait.by, wait.at.elapsed(), *most].map(|time| Unit::Ps.show(time.0));
        let detail = format!(
            "the guest was kept waiting for a processor for {by} until {at}, of {most} that a trial bears"
        );
        Void { reason: "dut-late", detail }
    }));
    voids.extend(integrity.silent.map(|silent| deaf(&silent, script)));
    voids.extend((0..).take(script.streams.len()).find_map(|stream| {
        let of = super::sending(observation, script, stream);
        let least = of.planned.filter(|planned| of.sent < planned.lo)?.lo;
        let name = &script.streams[usize::from(stream)].name;
        let detail =
            format!("{name} sent {} frames, and its rhythm asks for {least} at least", of.sent);
        Some(Void { reason: "short-stream", detail })
    }));
    // Last: a machine that stood still tears storms as well.
    for storm in (0..).take(script.storms.len()) {
        let planned = if gaps(storm) { planned_gap(observation, script, storm) } else { Dur::ZERO };
        let classes = script.storms[usize::from(storm)].classes;
        let lapse = (0..8)
            .filter(|class| classes >> class & 1 == 1)
            .find_map(|class| lapse(observation, script, (storm, class), planned));
        voids.extend(lapse.map(|detail| Void { reason: "storm-lapse", detail }));
    }
    voids
}

/// A port at which nothing arrived.
fn deaf(silent: &SilentPort, script: &Script) -> Void {
    let SilentPort { port, stream, frames, from, until } = *silent;
    let (port, stream) =
        (&script.ports[usize::from(port)], &script.streams[usize::from(stream)].name);
    let [from, until] = [from, until].map(|at| Unit::Ps.show(at.0));
    let detail = format!(
        "nothing at all arrived at {port} from {from} to {until}, in which {frames} frames were sent there that no pause holds, of {stream} \
         first: either the way there stood still, or the device let nothing through"
    );
    Void { reason: SILENT, detail }
}

/// The gap that a storm has in every period by its own plan: either frame may be late, and both stamps off.
fn planned_gap(observation: &Observation, script: &Script, storm: u16) -> Dur {
    let spec = &script.storms[usize::from(storm)];
    let port = &observation.ports[usize::from(spec.from)];
    let pause = port.speed.pause(spec.quanta);
    (spec.every + port.provenance.bound() * 3).saturating_sub(pause)
}

/// The longest gap of a storm above what was planned.
fn lapse(
    observation: &Observation,
    script: &Script,
    (storm, class): (u16, u8),
    planned: Dur,
) -> Option<String> {
    let name = &script.storms[usize::from(storm)].name;
    let started =
        script.steps.iter().any(|step| step.action == rig_testcases::Action::StartStorm(storm));
    let Some(coverage) = coverage(observation, script, storm, class) else {
        return started.then(|| format!("{name} never left the rig's port"));
    };
    // Of one with gaps stamps may tell nothing: then its share is open, which who measures that says.
    if planned > Dur::ZERO && coverage.covered == 0 {
        return None;
    }
    let longest = coverage.longest_lapse().filter(|lapse| lapse.length() > planned)?;
    let lapses = coverage.lapses.iter().filter(|lapse| lapse.length() > planned).count();
    Some(format!(
        "{name} did not hold class {class}: {lapses} gaps, the longest of {} at {}",
        longest.length(),
        Unit::Ps.show(longest.from.0)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Lateness;
    use crate::sample::{PAUSE, Sample};
    use rig_testcases::{Action, Step};
    use rig_units::{Quanta, Time};

    /// A storm of `n` XOFFs, one every `gap`.
    fn every(gap: Dur, n: u64) -> Sample {
        let mut sample = Sample::new();
        sample.storm(Dur::ms(1), Dur::ms(1));
        sample.script.storms[0].every = gap;
        for n in 0..n {
            sample.pfc(Dur::ms(1) + gap * n, 1, crate::Dir::Tx, Quanta::MAX);
        }
        sample
    }

    fn of(sample: Sample, gaps: bool) -> Vec<Void> {
        let (observation, script) = sample.done(Dur::s(1));
        voids(&observation, &script, &|_| gaps)
    }

    #[test]
    fn a_storm_without_a_gap_counts() {
        assert_eq!(of(every(PAUSE, 5), false), []);
    }

    #[test]
    fn a_gap_of_one_picosecond_voids_the_trial() {
        let voids = of(every(PAUSE + Dur(1), 5), false);
        assert_eq!(voids[0].reason, "storm-lapse");
        insta::assert_snapshot!(voids[0].detail, @"storm did not hold class 3: 4 gaps, the longest of 1ps at 1.335554ms");
    }

    #[test]
    fn a_gap_may_be_longer_by_as_much_as_frames_may_be_late_and_a_picosecond_more_is_a_lapse() {
        let (gap, bound) = (PAUSE * 2, Dur::us(3));
        for (late, lapses) in [(bound, false), (bound + Dur(1), true)] {
            let mut sample = every(gap, 5);
            sample.provenance = crate::Provenance::Software { bound };
            sample.pfc(Dur::ms(1) + gap * 5 + late, 1, crate::Dir::Tx, Quanta::MAX);
            assert_eq!(!of(sample, true).is_empty(), lapses, "{late}");
        }
    }

    #[test]
    fn a_storm_that_stamps_cannot_tell_from_none_voids_the_trial() {
        for (bound, voids) in [(PAUSE / 4, 0), (PAUSE / 4 + Dur(1), 1), (PAUSE * 3, 1)] {
            let mut sample = every(PAUSE / 2, 5);
            sample.provenance = crate::Provenance::Software { bound };
            let all = of(sample, false);
            assert_eq!(all.len(), voids, "{bound}: {all:?}");
            assert!(all.iter().all(|void| void.reason == "storm-lapse"));
        }
    }

    #[test]
    fn a_stall_of_the_machine_is_told_before_the_storm_that_it_tore() {
        let (mut observation, script) = every(PAUSE * 2, 5).done(Dur::s(1));
        observation.integrity.dut = Some("it stood still".to_owned());
        let reasons = voids(&observation, &script, &|_| false);
        let reasons: Vec<&str> = reasons.iter().map(|void| void.reason).collect();
        assert_eq!(reasons, ["dut-late", "storm-lapse"]);
    }

    #[test]
    fn a_storm_that_is_meant_to_have_gaps_may_have_those_and_no_longer_ones() {
        let gap = PAUSE * 2;
        assert_eq!(of(every(gap, 5), true), []);
        let mut late = every(gap, 5);
        late.pfc(Dur::ms(1) + gap * 5 + Dur(1), 1, crate::Dir::Tx, Quanta::MAX);
        assert_eq!(of(late, true)[0].reason, "storm-lapse");
    }

    #[test]
    fn a_storm_that_never_left_voids_the_trial_and_one_never_started_does_not() {
        assert_eq!(of(Sample::new(), false), []);
        let mut sample = Sample::new();
        sample.script.steps.push(Step { at: Dur::ms(1), action: Action::StartStorm(0) });
        assert_eq!(of(sample, false)[0].detail, "storm never left the rig's port");
    }

    #[test]
    fn a_stream_that_sent_less_than_its_rhythm_asks_for_voids_the_trial() {
        let short = |frames: u64| {
            let mut sample = Sample::new();
            sample.script.steps.push(Step { at: Dur::ZERO, action: Action::StartStream(0) });
            sample.probes(Dur::ZERO, Dur::us(500) * frames, Some);
            of(sample, false)
        };
        // 2000 in a second, and one that may be under way.
        assert_eq!(short(1_999), []);
        let voids = short(1_998);
        assert_eq!(voids[0].reason, "short-stream");
        insta::assert_snapshot!(voids[0].detail, @"victim sent 1998 frames, and its rhythm asks for 1999 at least");
    }

    #[test]
    fn a_guest_that_waited_longer_than_a_trial_bears_voids_it_and_one_that_waited_as_long_does_not()
    {
        let of = |most| {
            let (mut observation, script) = Sample::new().done(Dur::ms(1));
            let wait = |ms, by| crate::DutWait { at: Time::ZERO + Dur::ms(ms), by: Dur::ms(by) };
            let stretches = vec![wait(7, 3), wait(90, 57), wait(95, 1)];
            observation.integrity.waits = DutWaits { stretches, most, makes_up: Dur::ZERO };
            voids(&observation, &script, &|_| false)
        };
        assert_eq!(of(Dur::ms(57)), []);
        let voids = of(Dur::ms(20));
        assert_eq!((voids.len(), voids[0].reason), (1, "dut-late"));
        insta::assert_snapshot!(voids[0].detail, @"the guest was kept waiting for a processor for 57ms until 90ms, of 20ms that a trial bears");
    }

    #[test]
    fn whatever_else_went_wrong_is_named() {
        let (mut observation, script) = Sample::new().done(Dur::ms(1));
        let late = |ms, by| Lateness {
            at: Time::ZERO + Dur::ms(ms),
            by: Dur::us(by),
            sender: "storm".to_owned(),
        };
        observation.integrity.lost = 2;
        observation.integrity.cut = Some("the file ends in the middle".to_owned());
        observation.integrity.late = vec![late(1, 5), late(2, 9), late(3, 9)];
        observation.integrity.dut = Some("the emulated device fell 3 ms behind".to_owned());
        let voids = voids(&observation, &script, &|_| false);
        let texts: Vec<String> =
            voids.iter().map(|void| format!("{}: {}", void.reason, void.detail)).collect();
        insta::assert_snapshot!(texts.join("\n"), @r"
        capture-hole: the capture lost 2 frames
        capture-hole: the file ends in the middle
        late-send: 3 frames left late; storm at 2ms by 9us
        dut-late: the emulated device fell 3 ms behind
        ");
    }
}
