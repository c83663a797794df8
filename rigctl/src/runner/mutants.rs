//! Every way in which the emulated device is broken on purpose, against the catalogue: which case notices.

mod lacking;
pub mod per_case;

use super::case::{self, Rig};
use super::choose::choose;
use crate::mutation;
use rig_lab::field::Field;
use rig_lab::fields;
use rig_lab::{Declared, Deviation, Kind, Lab, Mutation, Part, Profile};
use rig_oracle::Verdict;
use rig_oracle::spec::pfcwd::{Rule, Stimulus};
use rig_oracle::trials::points::groups;
use rig_testcases::{Case, CaseId, Suite};
use rig_units::Dur;

/// One broken device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mutant {
    /// As it is typed behind `--mutate`.
    pub text: String,
    /// The part of the device that is broken.
    pub part: Option<Part>,
    /// The suites that say that they cover it.
    pub near: Vec<String>,
}

impl Mutant {
    /// Whether devices of this kind have what it breaks.
    fn is_of(&self, kind: Kind) -> bool {
        let path = self.text.split(['.', '=']).next().unwrap_or_default();
        kind.has(self.part.map_or(path, |part| part.key()))
    }
}

/// What became of a mutant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fate {
    /// A case failed on it.
    Killed {
        /// The first that did.
        by: CaseId,
        /// How many cases were run, that one included.
        after: usize,
    },
    /// The prediction shows that it cannot be told from the healthy device in any configuration used.
    Equivalent {
        /// What cannot be told apart.
        because: String,
    },
    /// What is broken is not there: no device of the lab has it, or no case is for one that has.
    NotApplicable {
        /// What is missing.
        because: String,
    },
    /// No case failed on it.
    Survived,
}

/// Cases that are tried first: part of the mutant's text, and parts of the names of its likely killers.
const LIKELY: &[(&str, &[&str])] = &[
    ("detection_time", &["detection-latency"]),
    ("restoration_time=never", &["restoration-latency"]),
    ("restoration_time", &["restoration-latency"]),
    ("poll_interval", &["detection-latency", "restoration-latency"]),
    ("action=drop", &["action-forward", "action-alert"]),
    ("action=forward", &["action-drop", "action-alert"]),
    ("action=alert", &["action-drop", "detection-latency"]),
    ("big_red_switch_misses", &["big-red-switch"]),
    ("big_red_switch", &["isolation", "detection-latency"]),
    ("charge=interval", &["near-a-multiple", "late-polls"]),
    ("charge=elapsed", &["near-a-multiple", "late-polls"]),
    ("min_samples", &["is-the-poll-interval"]),
    ("jitter=none", &["late-polls"]),
    ("jitter=tick", &["detection-latency"]),
    ("backlog", &["discarded-backlog", "action-drop"]),
    ("drop_by", &["way-back"]),
    ("config_path", &["below-the-poll-interval"]),
    ("detection_ignores_class", &["both-lossless-classes"]),
    ("timer_not_reset", &["do-not-add-up"]),
    ("pfc.xon_counts", &["pfc-counted-as-pfc"]),
    ("xon_counts", &["xon-frames"]),
    ("restores_too_early", &["restoration-latency"]),
    ("restores_during_storm", &["storm-that-goes-on"]),
    ("late_frame", &["late-frame"]),
    ("xon_does_not_restart", &["xon-restarts"]),
    ("drop_leaks_buffer", &["headroom-broadcom"]),
    ("drop_leaks", &["action-drop"]),
    ("drop_spreads", &["isolation"]),
    ("forward_drops", &["action-forward"]),
    ("alert_acts", &["action-alert"]),
    ("poll_stops", &["second-storm"]),
    ("counters_off", &["storm-counters"]),
    ("pfc_continues", &["pfc-ends"]),
    ("accepts_out_of_range", &["limits-refused"]),
    ("refuses_limits", &["limits-accepted"]),
    ("flow_reordered", &["half-the-detection-time"]),
    ("drop_counter_off", &["headroom-broadcom"]),
    ("xon_ignored", &["xon-ends-the-pause"]),
    ("lossy_obeys", &["lossy-class-not-paused"]),
    ("lossy_class_obeys", &["lossy-class-not-paused"]),
    ("long_pause_stays", &["shorter-pause"]),
    ("xon_of_two", &["xon-of-both"]),
    ("xon_forwarded", &["pause-stays-on-its-link"]),
    ("lossy_pfc_forwarded", &["pause-stays-on-its-link"]),
    ("spoilt_ack", &["spoilt-last-acknowledgement"]),
    ("spoilt_response", &["spoilt-response"]),
    ("nak_holds_all", &["loss-of-another-flow"]),
    ("empty_vector", &["frame-of-no-class"]),
    ("one_class_of_two", &["both-classes-of-a-frame"]),
    ("pfc_forwarded", &["pause-stays-on-its-link"]),
    ("buffer_change", &["buffer-change"]),
    ("link_toggle", &["port-toggle"]),
    ("own_pfc", &["own-pfc"]),
    ("one_port", &["multi-port"]),
    ("malformed_pfc", &["pfc-frame-format"]),
    ("refresh_late", &["pfc-is-repeated"]),
    ("weights_ignored", &["shares-after"]),
    ("egress_rate", &["line-rate"]),
    ("buffer.accounting", &["sources-of-a-queue-together", "thresholds-together"]),
    ("xon_of_any_queue", &["xon-when-its-own"]),
    ("voq_per_source", &["sources-of-a-queue"]),
    ("buffer.crossing", &["headroom-mellanox", "headroom-broadcom"]),
    ("buffer.descriptor", &["frames-a-byte-above", "frames-of-whole-cells"]),
    ("buffer.lossy", &["lossy-drop"]),
    ("buffer.static_th", &["static-threshold"]),
    ("buffer.port_dynamic_th", &["port-threshold"]),
    ("buffer.headroom_pool", &["shared-headroom-pool"]),
    ("buffer.xon_offset", &["xon-point"]),
    ("buffer.xon", &["xon-floor"]),
    ("buffer.", &["headroom-broadcom", "xoff-threshold-broadcom"]),
    ("pfc.quanta", &["xoff-refreshed"]),
    ("pfc.refresh", &["xoff-refreshed"]),
    ("pfc.emission", &["xoff-and-xon-at-once"]),
    ("pfc.response", &["response-time"]),
    ("headroom_one_cell_short", &["headroom-mellanox", "headroom-broadcom"]),
    ("xon_never", &["xon-point"]),
    ("xon_late", &["xoff-and-xon-at-once"]),
    ("shared_headroom", &["shared-headroom-pool"]),
    ("headroom_cap", &["shared-headroom-pool"]),
    ("pfc_honoured", &["other-lossless-class"]),
    ("pause_time_not", &["pause-restarts"]),
    ("descriptor_not", &["frames-of-whole-cells"]),
    ("lossy_uses", &["lossy-drop"]),
    ("lossy_pauses", &["lossy-never-pauses"]),
    ("counter_counts", &["pfc-counted-as-pfc"]),
    ("xoff_wrong_class", &["xoff-refreshed"]),
    ("ce_not_counted", &["marked-before"]),
    ("not_counted", &["headroom-broadcom"]),
    ("watermark.poll", &["one-poll-after"]),
    ("watermark.telemetry", &["periodic-copy-forgets"]),
    ("watermark_clear", &["clear-of-the-user-copy"]),
    ("watermark_persistent", &["periodic-copy-forgets"]),
    ("watermark_not", &["headroom-broadcom"]),
    ("macsec.latency", &["xoff-takes-the-way", "response-over-macsec"]),
    ("macsec.replay_window", &["replay-window"]),
    ("macsec.next_pn", &["packet-numbers", "extended-packet"]),
    ("macsec.pfc_", &["forms-that-differ", "each-form", "under-every-policy"]),
    ("macsec.enable_replay", &["replay-window", "late-frames"]),
    ("macsec.", &["every-suite", "integrity-only", "without-sci"]),
    ("macsec_rekey", &["rekey-under-a-storm"]),
    ("macsec_headroom", &["headroom-over-macsec"]),
    ("macsec_an", &["rekey-under-a-storm"]),
    ("macsec_pn", &["packet-numbers"]),
    ("macsec_sci", &["another-channel"]),
    ("macsec_icv", &["forged-pfc"]),
    ("macsec_replay", &["replay-window"]),
    ("macsec_late", &["replay-window"]),
    ("macsec_pfc_sent", &["pfc-sent"]),
    ("macsec_encrypted", &["protected-pfc"]),
    ("macsec_ok", &["protected-pfc"]),
    ("read_asks", &["one-lost-response"]),
    ("nak_earns", &["nak-that-comes"]),
    ("idle_queue", &["no-traffic", "half-paused"]),
    ("any_pause", &["intermittent-congestion"]),
    ("depth_of_port", &["two-queues"]),
    ("depth_of_class", &["same-queue-of-another"]),
    ("watermark_forgets", &["clear-while"]),
    ("clear_pfc_takes", &["clear-pfc-takes"]),
    ("clears_ce", &["marked-before"]),
    ("on_every_queue", &["queue-without-a-profile"]),
    ("marks_non_ect", &["not-capable"]),
    ("pool_oversubscribed", &["headroom-broadcom"]),
    ("headroom_unused", &["headroom-broadcom"]),
];

/// Every mutant that `suites` are to notice: each parameter of the parts of a device that they cover, and each deviation there.
pub fn all(lab: &Lab, suites: &[Suite]) -> Vec<Mutant> {
    let mut all = every(lab, suites);
    all.retain(|mutant| !mutant.near.is_empty());
    all
}

/// Every mutant of every part, whatever `suites` cover.
pub fn every(lab: &Lab, suites: &[Suite]) -> Vec<Mutant> {
    if lab.duts.is_empty() {
        return Vec::new();
    }
    let mut rows: Vec<_> =
        fields::all().filter(|(path, _)| Part::of_path(path).is_some()).collect();
    rows.sort_by(|(a, _), (b, _)| a.cmp(b));
    let values = |(path, field): (String, &'static Field)| {
        field.mutants().into_iter().map(move |value| format!("{path}={value}"))
    };
    let mut texts: Vec<String> = rows.into_iter().flat_map(values).collect();
    texts.extend(Deviation::all().map(|deviation| format!("deviation={deviation}")));
    let near = |part: Option<Part>| {
        let covers = |suite: &&Suite| part.is_some_and(|part| suite.covers.contains(&part));
        suites.iter().filter(covers).map(|suite| suite.name.clone()).collect()
    };
    let whole = |text: String| {
        let part = part_of(&text);
        Mutant { part, near: near(part), text }
    };
    texts.into_iter().map(whole).collect()
}

/// Runs cases on a mutant until one fails, its likely killers first.
///
/// # Errors
/// When the mutation fits no device of the lab.
pub fn try_one(rig: &Rig<'_>, cases: &[&Case], mutant: &Mutant) -> Result<Fate, String> {
    if let Some(because) = lacking::lacking(rig, cases, mutant) {
        return Ok(Fate::NotApplicable { because });
    }
    let lab = broken(rig.lab, &mutant.text)?;
    let broken = Rig { lab: &lab, ..*rig };
    for (tried, case) in ordered(cases, mutant).into_iter().enumerate() {
        if rig.stop.requested() {
            break;
        }
        if let Verdict::Fail(_) = case::run(&broken, case).report.verdict {
            return Ok(Fate::Killed { by: case.id.clone(), after: tried + 1 });
        }
    }
    Ok(equivalence(rig, cases, mutant)
        .map_or(Fate::Survived, |because| Fate::Equivalent { because }))
}

/// The lab with the mutant in every device.
fn broken(lab: &Lab, text: &String) -> Result<Lab, String> {
    let mut lab = lab.clone();
    mutation::apply(&mut lab, std::slice::from_ref(text)).map_err(|faults| faults.join("; "))?;
    Ok(lab)
}

/// The part of a device that a mutation changes.
fn part_of(text: &str) -> Option<Part> {
    match mutation::parse(text) {
        Ok(Mutation::Override { path, .. }) => Part::of_path(&path),
        Ok(Mutation::Deviation(switched)) => Some(switched.name.part()),
        Err(_) => None,
    }
}

/// Parts of the names of the cases that are likely to notice a mutant.
fn likely(text: &str) -> &'static [&'static str] {
    LIKELY.iter().find(|(part, _)| text.contains(part)).map_or(&[], |(_, names)| names)
}

/// The cases, likely killers first, then those of the suites that cover its part.
fn ordered<'a>(cases: &[&'a Case], mutant: &Mutant) -> Vec<&'a Case> {
    let names = likely(&mutant.text);
    let likely = |case: &Case| {
        names.iter().position(|name| case.id.case.contains(name)).unwrap_or(names.len())
    };
    // What a device of another kind does it cannot touch.
    let mut ordered: Vec<&Case> =
        cases.iter().copied().filter(|case| mutant.is_of(case.kind)).collect();
    ordered.sort_by_key(|case| (likely(case), !mutant.near.contains(&case.id.suite)));
    ordered
}

/// Why no measurement can tell the mutant from the healthy device: in every configuration that the cases use, every
/// prediction is the same for both.
fn equivalence(rig: &Rig<'_>, cases: &[&Case], mutant: &Mutant) -> Option<String> {
    let Ok(Mutation::Override { path, value }) = mutation::parse(&mutant.text) else { return None };
    let mut used = 0;
    for case in cases {
        let Ok(profile) = choose(rig.lab, rig.only, case) else { continue };
        for group in groups(case, &profile.declared).ok()? {
            let changed = group.declared.overridden(&path, &value).ok()?;
            if !alike(profile, &group.declared, &changed) {
                return None;
            }
            used += 1;
        }
    }
    Some(format!(
        "in all {used} configurations used, every prediction is the same with {path}={value}"
    ))
}

/// Whether the spec predicts the same of both configurations.
fn alike(profile: &Profile, a: &Declared, b: &Declared) -> bool {
    if a == b {
        return true;
    }
    // Whatever does not enter a timing rule is seen by other means, and is never declared equivalent here.
    let timing = |path: &String| fields::field(path).is_some_and(|field| field.timing);
    if !a.differences(b).iter().all(timing) {
        return false;
    }
    let Some(family) = profile.family() else { return true };
    let rules = [a, b].map(|declared| Rule::of(family, &declared.pfcwd));
    let gaps = [None, Some(Dur::us(50)), Some(Dur::us(500)), Some(Dur::ms(1))];
    gaps.into_iter().all(|data_gap| {
        let [a, b] = rules.map(|rule| {
            let stimulus = Stimulus { data_gap };
            let tail = Dur::us(335);
            (
                rule.detection(&stimulus),
                rule.restoration(tail, &stimulus),
                rule.never_fires_up_to(&stimulus),
                rule.always_fires_from(&stimulus),
            )
        });
        a == b
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_of_likely_killers_is_the_first_for_some_mutant() {
        let suites = rig_testcases::read::bundled(&rig_oracle::measure::Registry)
            .expect("the bundled catalogue has no fault");
        let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
        let all = every(&lab, &suites);
        for (row, (part, names)) in LIKELY.iter().enumerate() {
            let first = |mutant: &&Mutant| {
                LIKELY.iter().position(|(part, _)| mutant.text.contains(part)) == Some(row)
            };
            assert!(all.iter().any(|mutant| first(&mutant)), "`{part}` is never reached");
            let ids = || suites.iter().flat_map(|suite| &suite.cases).map(|case| &case.id.case);
            for name in *names {
                assert!(ids().any(|id| id.contains(name)), "`{part}`: no case `{name}`");
            }
        }
    }
}
