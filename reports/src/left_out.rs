//! Captures that the evidence budget had no room for, for people.

use crate::LeftOut;
use crate::text::{count, list};

/// How many trials are named.
const NAMED: usize = 4;

/// `the captures of trials 1, 2 and 7 more, 12.3 MB; findings cite 2 of them`
pub(crate) fn line(left_out: &[LeftOut]) -> String {
    let mut trials: Vec<String> =
        left_out.iter().take(NAMED).map(|left| left.trial.to_string()).collect();
    if left_out.len() > NAMED {
        trials.push(format!("{} more", left_out.len() - NAMED));
    }
    let (noun, plural) = if left_out.len() == 1 { ("capture", "") } else { ("captures", "s") };
    format!("the {noun} of trial{plural} {}, {}{}", list(&trials), sum(left_out), cited(left_out))
}

/// `12 captures, 12.3 MB; findings cite 2 of them`
pub(crate) fn total(captures: usize, bytes: u64, cited: usize) -> String {
    format!("{}, {}{}", count(captures, "capture"), size(bytes), of_them(cited))
}

fn sum(left_out: &[LeftOut]) -> String {
    size(left_out.iter().map(|left| left.bytes).sum())
}

fn cited(left_out: &[LeftOut]) -> String {
    of_them(left_out.iter().filter(|left| left.cited).count())
}

fn of_them(cited: usize) -> String {
    if cited == 0 { String::new() } else { format!("; findings cite {cited} of them") }
}

/// To a tenth, in the unit that suits it.
fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1_000 => return format!("{bytes} B"),
        1_000..1_000_000 => (1_000, "KB"),
        1_000_000..1_000_000_000 => (1_000_000, "MB"),
        _ => (1_000_000_000, "GB"),
    };
    format!("{}.{} {name}", bytes / unit, bytes % unit / (unit / 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_named_as_far_as_it_is_few() {
        let left = |trial, cited| LeftOut { trial, bytes: 1_250_000, cited };
        insta::assert_snapshot!(line(&[left(1, false)]), @"the capture of trial 1, 1.2 MB");
        let many: Vec<LeftOut> = (1..=9).map(|trial| left(trial, trial > 7)).collect();
        insta::assert_snapshot!(line(&many), @"the captures of trials 1, 2, 3, 4 and 5 more, 11.2 MB; findings cite 2 of them");
        insta::assert_snapshot!(total(1, 999, 0), @"1 capture, 999 B");
    }
}
