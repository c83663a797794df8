//! Text for people: counts, lists and lengths of time.

use rig_units::Dur;

/// A wall-clock time in seconds and thousandths: `1.204s`.
pub(crate) fn seconds(dur: Dur) -> String {
    let ms = milliseconds(dur);
    format!("{}.{:03}s", ms / 1_000, ms % 1_000)
}

/// Whole milliseconds of a wall-clock time.
pub(crate) const fn milliseconds(dur: Dur) -> u64 {
    dur.0 / 1_000_000_000
}

/// `1 trial`, `2 trials`
pub(crate) fn count(n: usize, noun: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {noun}{plural}")
}

/// `a`, `a and b`, `a, b and c`
pub(crate) fn list(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [only] => only.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_read_as_a_sentence() {
        let read =
            |items: &[&str]| list(&items.iter().map(|&item| item.to_owned()).collect::<Vec<_>>());
        assert_eq!(read(&[]), "");
        assert_eq!(read(&["a"]), "a");
        assert_eq!(read(&["a", "b"]), "a and b");
        assert_eq!(read(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn seconds_are_cut_to_thousandths() {
        assert_eq!(seconds(Dur::ms(1_204) + Dur::us(999)), "1.204s");
        assert_eq!(seconds(Dur::s(3_600)), "3600.000s");
    }
}
