//! Text for people: what a device or a file says made safe to show, counts and lengths of time.

use rig_units::Dur;

/// `text` on one line and without a character that a terminal, a browser or an XML reader would act upon: controls
/// become their pictures (`␛`), the rest of the invisible ones the replacement character.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(show).collect()
}

fn show(c: char) -> char {
    let code = u32::from(c);
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER),
        '\x7f' => '\u{2421}',
        // C1 controls, bidirectional overrides and the code points that XML 1.0 forbids.
        '\u{80}'..='\u{9f}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{fffe}'..='\u{ffff}' => char::REPLACEMENT_CHARACTER,
        c => c,
    }
}

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
    fn nothing_that_a_terminal_acts_upon_is_left() {
        assert_eq!(printable("a\x1b[31mb\r\n\0\x7f"), "a␛[31mb␍␊␀␡");
        assert_eq!(
            printable("\u{9b}31m\u{202e}\u{2066}\u{ffff}"),
            "\u{fffd}31m\u{fffd}\u{fffd}\u{fffd}"
        );
        assert_eq!(printable("Größe ≥ 5 µs"), "Größe ≥ 5 µs");
    }

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
