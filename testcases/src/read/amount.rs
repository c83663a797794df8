//! Lengths of time: `200ms`, a swept variable, `{of: pfcwd.detection_time, times: 0.5, plus: 10ms}`.

use super::names::Names;
use crate::Amount;
use rig_lab::fault::one_of;
use rig_lab::is_name;
use rig_lab::walk::At;
use rig_lab::yaml::Value;
use rig_units::Dur;

/// Predictions that a length of time may be built on, as [`crate::Lookup`] knows them.
pub const PREDICTIONS: [&str; 6] = [
    "predicted.detection.earliest",
    "predicted.detection.latest",
    "predicted.restoration.earliest",
    "predicted.restoration.latest",
    "predicted.never-fires",
    "predicted.always-fires",
];

/// Reads a length of time.
pub(super) fn amount(at: &At<'_>, names: &Names<'_>) -> Option<Amount> {
    const WANT: &str =
        "200ms, a swept variable or {of: pfcwd.detection_time, times: 0.5, plus: 10ms}";
    match &at.node.value {
        Value::Text(text) if is_name(text) && !text.starts_with(|c: char| c.is_ascii_digit()) => {
            if names.variables.is_empty() {
                at.fault(
                    format!("`{text}` is no length of time, and the case sweeps nothing"),
                    WANT,
                );
                return None;
            }
            names.variable(at, text).then(|| Amount::Swept(text.clone()))
        }
        Value::Map(_) => affine(at, names),
        Value::List(_) | Value::Null | Value::Bool(_) => {
            at.wrong(WANT);
            None
        }
        Value::Text(_) | Value::Whole(_) | Value::Real(_) => at.quantity().map(Amount::Exactly),
    }
}

fn affine(at: &At<'_>, names: &Names<'_>) -> Option<Amount> {
    let fields = at.fields(&["of", "times", "plus", "minus"])?;
    let of = fields
        .need("of", "a declared value or a prediction")
        .and_then(|at| Some((at.text("a declared value or a prediction")?.to_owned(), at)))
        .filter(|(of, at)| of_known(at, of, names));
    let times = fields.or("times", 1_000_000, |at| factor(&at));
    let dur = |name: &str| fields.or(name, Dur::ZERO, |at| at.quantity());
    let (plus, minus) = (dur("plus"), dur("minus"));
    Some(Amount::Of { of: of?.0, times: times?, plus: plus?, minus: minus? })
}

fn of_known(at: &At<'_>, of: &str, names: &Names<'_>) -> bool {
    if names.variables.iter().any(|name| name == of) {
        names.variable(at, of);
        return true;
    }
    let known = names.durations.iter().map(String::as_str).chain(PREDICTIONS);
    let own = names.variables.iter().chain(&names.counted).map(String::as_str);
    let all = known.chain(own);
    if all.clone().any(|name| name == of) {
        return true;
    }
    at.fault(format!("`{of}` is no length of time that is known"), one_of(of, all));
    false
}

/// A factor in millionths: `0.5`, `2`.
fn factor(at: &At<'_>) -> Option<u64> {
    let text = match &at.node.value {
        Value::Whole(n) => n.to_string(),
        Value::Real(text) => text.clone(),
        Value::Text(_) | Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => {
            String::new()
        }
    };
    let millionths = millionths(&text).filter(|&n| n <= 1_000_000_000_000);
    if millionths.is_none() {
        at.wrong("a factor of at most six decimals, such as 0.5");
    }
    millionths
}

/// A decimal number with at most six decimals, in millionths.
pub(super) fn millionths(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || fraction.len() > 6 {
        return None;
    }
    let fraction: u64 = format!("{fraction:0<6}").parse().ok()?;
    whole.parse::<u64>().ok()?.checked_mul(1_000_000)?.checked_add(fraction)
}
