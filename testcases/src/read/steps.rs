//! What happens in a trial.

use super::amount::amount;
use super::names::Names;
use super::traffic;
use crate::case::{CaseAction, CaseStep};
use crate::{Amount, DeviceVerb, PfcOdd};
use rig_lab::walk::{At, Fields};
use rig_lab::{Declared, declare};
use rig_units::{Dur, Quanta};

const ACTIONS: [&str; 5] = ["start", "stop", "pfc", "link_down", "configure"];

/// Reads one step.
pub(super) fn step(at: &At<'_>, names: &Names<'_>, pattern: &Declared) -> Option<CaseStep> {
    let asked = DeviceVerb::KEYS.iter().map(|&(key, _)| key);
    let actions: Vec<&str> = ACTIONS.into_iter().chain(asked).collect();
    let fields = at.fields(&[&["at", "for"], &actions[..]].concat())?;
    let when = fields.need("at", "when, such as 20ms").and_then(|at| amount(&at, names));
    let named: Vec<&str> =
        actions.iter().copied().filter(|action| fields.get(action).is_some()).collect();
    let [action] = named.as_slice() else {
        let found = match named.as_slice() {
            [] => "a step that does nothing".to_owned(),
            _ => format!("a step that does {} things: {}", named.len(), named.join(", ")),
        };
        at.fault(found, format!("exactly one of {}", actions.join(", ")));
        return None;
    };
    let lasting = fields.get("for").map(|at| (amount(&at, names), at));
    if let Some((_, at)) = &lasting
        && !["start", "link_down"].contains(action)
    {
        at.at_key(format!("`{action}` has no end"), "`for:` only with start or link_down");
    }
    if let Some((Some(Amount::Exactly(Dur::ZERO)), at)) = &lasting {
        at.fault("it lasts no time at all", "a length of time above zero");
    }
    let what = action_of(action, &fields, lasting.map(|(amount, _)| amount), names, pattern);
    Some(CaseStep { at: when?, what: what? })
}

/// `lasting`: absent, there and read, or there and faulty.
fn action_of(
    action: &str,
    fields: &Fields<'_>,
    lasting: Option<Option<Amount>>,
    names: &Names<'_>,
    pattern: &Declared,
) -> Option<CaseAction> {
    let at = fields.get(action)?;
    if DeviceVerb::KEYS.iter().any(|&(key, _)| key == action) {
        return at.choice(&DeviceVerb::words(action)).map(CaseAction::Device);
    }
    match action {
        "start" => {
            let names = senders(&at, names);
            let lasting = match lasting {
                Some(read) => Some(read?),
                None => None,
            };
            Some(CaseAction::Start { names: names?, lasting })
        }
        "stop" => Some(CaseAction::Stop { names: senders(&at, names)? }),
        "pfc" => pfc(&at, pattern),
        "link_down" => {
            let port = traffic::port(&at);
            let Some(lasting) = lasting else {
                fields.at.at_key("the link never comes up again", "`for:` a length of time");
                return None;
            };
            Some(CaseAction::LinkDown { port: port?, lasting: lasting? })
        }
        _ => {
            let mut settings = declare::settings(&at, pattern);
            match (settings.pop(), settings.is_empty()) {
                (Some((setting, _)), true) => Some(CaseAction::Configure(setting)),
                (Some(_), false) => {
                    at.fault("more than one setting in a step", "one setting a step");
                    None
                }
                (None, _) => None,
            }
        }
    }
}

fn senders(at: &At<'_>, names: &Names<'_>) -> Option<Vec<String>> {
    let all = at.one_or_many();
    let read: Vec<Vec<String>> = all.iter().filter_map(|at| names.sender(at)).collect();
    (read.len() == all.len()).then(|| read.concat())
}

fn pfc(at: &At<'_>, pattern: &Declared) -> Option<CaseAction> {
    let fields = at.fields(&["from", "classes", "quanta", "count", "every", "macsec", "odd"])?;
    let from = fields.need("from", "the rig port they leave by").and_then(|at| traffic::port(&at));
    let classes = fields.need("classes", "the classes enabled, such as [3]");
    let classes = classes.and_then(|at| traffic::classes(&at, true));
    let quanta =
        fields.need("quanta", "the pause time, such as 0q").and_then(|at| at.quantity::<Quanta>());
    let count = fields.or("count", 1, |at| at.whole(1..=10_000_000, "a number of frames"));
    let every = match (fields.get("every"), count) {
        (Some(at), _) => traffic::interval(&at),
        (None, Some(1)) => Some(Dur::ms(1)),
        (None, _) => {
            fields.at.at_key("several frames with no time between them", "`every:` such as 1ms");
            None
        }
    };
    let (classes, quanta) = (classes?, quanta?);
    let macsec = traffic::macsec_mode(&fields)?;
    let odd = fields.or("odd", PfcOdd::No, |at| at.choice(&PfcOdd::NAMES))?;
    let (from, count, every) = (from?, count?, every?);
    if odd != PfcOdd::No && count > 1 {
        fields.at.at_key("an odd address", "frames of the usual form, or `odd` without `count`");
        return None;
    }
    if odd == PfcOdd::ToAll && pattern.nics().is_none() {
        fields.at.at_key("a frame to all", "`odd: no-source`, or a file of `device: nic`");
        return None;
    }
    Some(CaseAction::Pfc { from, classes, quanta, count, every, macsec, odd })
}
