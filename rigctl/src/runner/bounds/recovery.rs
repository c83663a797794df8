//! Which recovery a NIC has: told from outside at each hole, and judged by the rule of that which it declares.

use super::given::{Ran, Seen, Word};
use super::rc::{declared, holed_of};
use rig_capture::{Dir, What};
use rig_lab::Profile;
use rig_testcases::RoceKind;
use serde_json::json;

const OF_SENDER: &str = "{rc.recovery: {flow: sender}}";
const OF_RECEIVER: &str = "{rc.recovery: {flow: sender, of: receiver}}";

/// One hole between two NICs that are declared so, of which one may depart from that.
fn holed(measure: &str, selects: bool, mutant: Option<&str>) -> Ran {
    let change = |profile: &mut Profile| {
        if selects {
            let kind = || json!("selective-repeat");
            declared(&[("nic.rc.recovery", kind()), ("peer.rc.recovery", kind())])(profile);
        }
        if let Some(mutant) = mutant {
            profile.mutate(&mutant.parse().expect("a departure")).expect("it has that");
        }
    };
    holed_of(measure, change)
}

fn word(measure: &str, selects: bool, mutant: Option<&str>) -> Word {
    let name = measure.trim_start_matches('{').split_once(':').expect("a measure").0.to_owned();
    holed(measure, selects, mutant).as_seen().word(&name)
}

#[test]
fn either_recovery_is_right_where_it_is_declared_and_named_where_the_other_is() {
    for selects in [false, true] {
        for measure in [
            OF_SENDER,
            OF_RECEIVER,
            "{rc.sender: {flow: sender}}",
            "{rc.receiver: {flow: sender}}",
            "{nic.counters: {port: p2}}",
        ] {
            assert_eq!(word(measure, selects, None), Word::Pass, "{measure}, {selects}");
        }
    }
    let names = |measure: &str, (part, selects): (&str, bool), words: &str| {
        let other = if selects { "go-back-n" } else { "selective-repeat" };
        let got = word(measure, selects, Some(&format!("{part}.rc.recovery={other}")));
        assert!(matches!(&got, Word::Fail(why) if why.contains(words)), "{measure}: {got:?}");
    };
    let (goes_back, selects) = (true, false);
    names(OF_SENDER, ("nic", goes_back), "sends again as go-back-N at 1 of 1 holes");
    names(OF_SENDER, ("nic", selects), "sends again as selective repeat at ");
    names(OF_RECEIVER, ("peer", goes_back), "takes as go-back-N at");
    names(OF_RECEIVER, ("peer", selects), "takes as selective repeat at 1 of 1 holes");
    let of_sender = "{rc.sender: {flow: sender}}";
    let of_receiver = "{rc.receiver: {flow: sender}}";
    names(of_sender, ("nic", goes_back), "its sender does go-back-N, and selective repeat is");
    names(of_sender, ("nic", selects), "its sender does selective repeat, and go-back-N is");
    names(of_receiver, ("peer", goes_back), "its receiver does go-back-N, and selective repeat is");
    names(of_receiver, ("peer", selects), "its receiver does selective repeat, and go-back-N is");
}

/// The data that left, each record with its number.
fn data(seen: &Seen<'_>) -> Vec<(usize, u32)> {
    let all = seen.roce(0, Dir::Rx, |kind| matches!(kind, RoceKind::Data { .. }));
    let number = |one: usize| match &seen.observation.records[one].what {
        What::Roce(roce) => roce.psn,
        _ => 0,
    };
    all.into_iter().map(|one| (one, number(one))).collect()
}

#[test]
fn one_packet_more_that_is_sent_again_or_one_less_is_another_recovery() {
    let followed = |selects: bool, change: fn(&mut Seen<'_>, usize)| {
        let ran = holed(OF_SENDER, selects, None);
        let said = ran.changed(|seen| {
            let all = data(seen);
            let again = all.iter().rposition(|(_, psn)| *psn == 40).expect("it was sent again");
            change(seen, all[again + 1].0);
        });
        said.fails("rc.recovery")
    };
    // The packet behind the missing one is left out.
    let left_out = |seen: &mut Seen<'_>, next: usize| {
        seen.lose(next);
    };
    assert!(followed(false, left_out));
    // Another follows it that was sent before.
    let sent_before = |seen: &mut Seen<'_>, next: usize| {
        let What::Roce(roce) = &mut seen.observation.records[next].what else { return };
        roce.psn = 45;
    };
    assert!(followed(true, sent_before));
    assert!(followed(false, sent_before));
}
