//! Long ways, and what is healthy over them.

use super::*;
use crate::mutation;
use crate::runner::bundled;
use crate::runner::case::{self, Rig};
use crate::stop::Stop;
use rig_oracle::Verdict;
use std::path::Path;

/// The bundled NICs, the rig's cables so long.
fn nics(km: u64) -> Lab {
    let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
    lab.cable_cm = km * 100_000;
    lab.duts.retain(|dut| dut.system.is_none() && dut.declared.nics().is_some());
    lab
}

fn cases(suite: &str) -> Vec<Case> {
    bundled::cases().iter().filter(|case| case.id.suite == suite).cloned().collect()
}

/// What comes of the cases of a suite with one of these words in their names, with their reports' words.
fn verdicts(lab: &Lab, suite: &str, names: &[&str]) -> Vec<(String, Verdict)> {
    let mut cases = cases(suite);
    cases.retain(|case| names.iter().any(|name| case.id.case.contains(name)));
    let stop = Stop::default();
    let rig = Rig::of(lab, &cases.iter().collect::<Vec<_>>(), 5, &stop);
    let run = |case: &Case| (case.id.case.clone(), case::run(&rig, case).report.verdict);
    cases.iter().map(run).collect()
}

fn wrong(mut lab: Lab, mutant: &str, suite: &str, names: &[&str]) -> Vec<(String, Verdict)> {
    mutation::apply(&mut lab, &[mutant.to_owned()]).expect(mutant);
    verdicts(&lab, suite, names)
}

#[test]
fn timers_outlast_the_way_and_what_is_to_come_after_them_does_still() {
    let over = |km, name: &str| {
        let lab = nics(km);
        let case = cases("recovery").into_iter().find(|case| case.id.case == name).expect("a case");
        let profile = lab.duts.iter().find(|dut| case.suits(dut).is_ok()).expect("two NICs");
        let mut left_out = Vec::new();
        (of(&lab, profile, case, &mut left_out), left_out)
    };
    let (near, without) = over(0, "late-nak");
    assert_eq!((codes(&near).collect::<Vec<_>>(), without.len()), (vec![2], 0));
    // 10 km and back over two cables of the rig are some 200 us: 262.144 us is the first code above.
    let (far, without) = over(10, "late-nak");
    assert_eq!(codes(&far).collect::<Vec<_>>(), [6]);
    assert!(without[0].ends_with("16 times as long"), "{without:?}");
    let Injected::Delay(late) = far.between.inject[1].tamper else { panic!("no delay") };
    assert_eq!(late, Dur::us(70 * 16));
    // Each of a sweep stays another.
    assert_eq!(codes(&over(10, "last-packet-lost").0).collect::<Vec<_>>(), [6, 7, 9]);
    // A flow to which nothing is done goes on for as many times its timer; what is done to one is counted from its first packet.
    let count = |km, name| over(km, name).0.flows["sender"].count;
    assert_eq!(["nothing-lost", "lost-nak"].map(|name| count(10, name)), [Some(384), Some(12)]);
    // What is to come behind the one that was sent in its place is late by more than that takes.
    let late = |km| super::late(&over(km, "late-frame").0).collect::<Vec<_>>();
    assert_eq!([0, 10].map(late), [[Dur::us(20)], [Dur::us(320)]]);
}

/// The bundled NICs with something else declared of each.
fn declared(text: &str) -> Lab {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("writable");
        path
    };
    for generation in ["gen1", "gen2"] {
        let name = format!("own-{generation}");
        let text = format!(
            "name: {name}\nabout: a\nextends: {generation}\nasic: asic\ndeclared: {text}\n"
        );
        write(&format!("{name}.yaml"), &text);
    }
    let pairs =
        "duts: [{pair: [own-gen2.yaml, own-gen1.yaml]}, {pair: [own-gen2.yaml, own-gen2.yaml]}]";
    let lab = write("lab.yaml", &format!("about: a\ntransport: virtual\ncable: 3m\n{pairs}\n"));
    rig_lab::read::lab(Some(&lab)).unwrap_or_else(|faults| panic!("{faults:?}"))
}

#[test]
fn nics_of_another_speed_or_slow_to_ask_are_healthy_and_wrong_ones_of_theirs_show() {
    let ports = |gbps| declared(&format!("{{ports: [{{count: 1, speed: {gbps}Gbps}}]}}"));
    let asks = || declared("{nic: {rc: {nak_latency: 500us}}}");
    let passes = |lab: &Lab, suite, name| {
        let of = verdicts(lab, suite, &[name]);
        let is_well = |(_, verdict): &(_, Verdict)| matches!(verdict, Verdict::Pass);
        assert!(!of.is_empty() && of.iter().all(is_well), "{of:?}");
    };
    passes(&ports(40), "interop", "gen2-to-gen1");
    passes(&ports(10), "recovery", "lost-cnp");
    passes(&asks(), "recovery", "late-frame");
    let red = |lab, mutant, suite, name| {
        let of = wrong(lab, mutant, suite, &[name]);
        assert!(matches!(of[..], [(_, Verdict::Fail(_))]), "{mutant}: {of:?}");
    };
    red(ports(10), "deviation=tries_not_reset", "recovery", "progress-between-timeouts");
    red(ports(10), "peer.np.interval=x2", "recovery", "lost-cnp");
    red(asks(), "deviation=duplicate_acked_as_itself", "recovery", "late-frame");
}

/// Sixteen packets of a slow port before the one that is missing take longer than the first wait of a timer that adapts.
#[test]
fn a_timer_that_adapts_outlasts_what_is_sent_again_before_what_is_missing() {
    let slow = || declared("{ports: [{count: 1, speed: 50Mbps}], nic: {rc: {resend_extra: 16}}}");
    let one = |of: Vec<(String, Verdict)>| {
        of.into_iter().find(|(name, _)| name == "adaptive-timeouts").expect("the case").1
    };
    let names = ["adaptive-timeouts"];
    assert_eq!(one(verdicts(&slow(), "recovery", &names)), Verdict::Pass);
    let red = one(wrong(slow(), "deviation=adaptive_ignored", "recovery", &names));
    assert!(matches!(red, Verdict::Fail(_)), "{red:?}");
}

#[test]
fn healthy_nics_recover_over_long_cables_and_wrong_ones_show() {
    let is_pass = |verdict: &Verdict| matches!(verdict, Verdict::Pass);
    let all = verdicts(&nics(10), "recovery", &[""]);
    let bad: Vec<_> = all
        .iter()
        .filter(|(_, verdict)| !is_pass(verdict) && !matches!(verdict, Verdict::Skipped(_)))
        .collect();
    assert!(bad.is_empty(), "{bad:?}");
    assert!(all.iter().filter(|(_, verdict)| is_pass(verdict)).count() >= 33);
    let red = |mutant, name| {
        let of = wrong(nics(10), mutant, "recovery", &[name]);
        assert!(matches!(of[..], [(_, Verdict::Fail(_))]), "{mutant}: {of:?}");
    };
    red("deviation=nak_holds_all", "loss-of-another-flow-over-a-long-way");
    red("deviation=line_rate_halved", "nothing-lost");
    red("deviation=timeout_not_restarted", "nothing-lost");
    red("deviation=tries_not_reset", "progress-between-timeouts");
    red("deviation=duplicate_acked_as_itself", "late-frame");
    // Twice as far nothing of two flows overlaps any more, and nobody is accused.
    let names = ["nothing-lost", "for-good", "the-other-way", "late-nak", "ready", "spoilt-read"];
    let farther = verdicts(&nics(20), "recovery", &names);
    assert!(farther.iter().all(|(_, verdict)| is_pass(verdict)), "{farther:?}");
}

#[test]
fn a_switch_whose_average_never_comes_near_its_curve_need_not_mark() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let found = |weight: u8, ecn: &str| {
        let write = |name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).expect("writable");
        };
        write(
            "slow.yaml",
            &format!(
                "name: slow\nabout: a\nextends: broadcom\ndeclared: {{wred: {{weight: {weight}, kmin: 100000B, kmax: 100000B, pmax: 50%, ecn: {ecn}}}}}\n"
            ),
        );
        write(
            "lab.yaml",
            "about: a\ntransport: virtual\ncable: 3m\nduts: [{profile: slow.yaml, control: none}]\n",
        );
        let path: &Path = &folder.path().join("lab.yaml");
        rig_lab::read::lab(Some(path)).unwrap_or_else(|faults| panic!("{faults:?}"))
    };
    let lab = |weight| found(weight, "ecn_all");
    let names = ["counted-under-load", "step-under-load", "forgotten-when-empty"];
    let slow = verdicts(&lab(12), "ecn", &names);
    assert_eq!(slow.len(), 4);
    assert!(
        slow.iter().all(|(_, verdict)| matches!(verdict, Verdict::Inconclusive(_))),
        "{slow:?}"
    );
    let quick = verdicts(&lab(4), "ecn", &names);
    assert!(quick.iter().all(|(_, verdict)| *verdict == Verdict::Pass), "{quick:?}");
    let wrong = wrong(lab(4), "wred.ecn=ecn_none", "ecn", &["marks-counted-under-load"]);
    assert!(matches!(wrong[..], [(_, Verdict::Fail(_))]), "{wrong:?}");
    // What is declared to drop is asked for nothing that rests on marks, and what is declared to mark is.
    let capable = ["either-code-point-is-capable-broadcom"];
    let drops = verdicts(&found(0, "ecn_none"), "ecn", &capable);
    let told = |why: &str| why.contains("drops where others mark");
    assert!(matches!(&drops[..], [(_, Verdict::Skipped(why))] if told(why)), "{drops:?}");
    let lost = self::wrong(lab(0), "wred.ecn=ecn_none", "ecn", &capable);
    assert!(matches!(lost[..], [(_, Verdict::Fail(_))]), "{lost:?}");
}

/// They run out while the queue pair is held: whoever looks then finds them over, and not before.
#[test]
fn waits_that_are_shorter_than_a_frame_end_in_a_verdict() {
    let mut lab = nics(0);
    let slow: rig_units::PortSpeed = "50Mbps".parse().expect("a speed");
    lab.duts.iter_mut().for_each(|dut| dut.run_at(slow));
    let all = verdicts(&lab, "recovery", &["adaptive-timeouts-of-a-read"]);
    let failed = |(_, verdict): &&(String, Verdict)| matches!(verdict, Verdict::Fail(_));
    assert_eq!((all.len(), all.iter().find(failed)), (1, None));
}

#[test]
fn a_timer_outlasts_what_is_sent_again_before_what_is_missing() {
    let case = || cases("recovery").into_iter().find(|case| case.id.case == "lost-again");
    let code = |lab: &Lab| {
        let case = case().expect("a case");
        let profile = lab.duts.iter().find(|dut| case.suits(dut).is_ok()).expect("two NICs");
        codes(&of(lab, profile, case, &mut Vec::new())).collect::<Vec<_>>()
    };
    // A packet of 1 KiB takes 9 us at 1G, and 16 of them twice the 65.536 us of the case.
    let with = |text: &str| {
        let mut lab = declared(text);
        lab.duts.retain(|dut| dut.name.contains("gen2"));
        code(&lab)
    };
    let ports = "ports: [{count: 1, speed: 1Gbps}]";
    assert_eq!(with(&format!("{{{ports}}}")), [4]);
    assert_eq!(with(&format!("{{{ports}, nic: {{rc: {{resend_extra: 16}}}}}}")), [6]);
}
