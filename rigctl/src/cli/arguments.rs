//! The words of the command line, as the parser gets them.

use std::ffi::OsString;

/// The words, a number below zero behind a flag made that flag's value: what the flag takes says whoever reads it, not that there is
/// no flag `-1`.
pub fn arguments(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    let mut ended = false;
    for word in words {
        let below_zero = word
            .to_str()
            .and_then(|text| text.strip_prefix('-'))
            .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
        let flag = |last: &OsString| {
            last.to_str().is_some_and(|last| last.starts_with("--") && !last.contains('='))
        };
        match all.last_mut().filter(|last| below_zero && !ended && flag(last)) {
            Some(last) => {
                last.push("=");
                last.push(word);
            }
            None => {
                ended |= word == "--";
                all.push(word);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_below_zero_is_the_value_of_the_flag_before_it() {
        for (said, read) in [
            ("size --speed -1 --ports 4", "size --speed=-1 --ports 4"),
            ("size --speed -5Gbps", "size --speed=-5Gbps"),
            ("size --speed=1Gbps -1", "size --speed=1Gbps -1"),
            ("run -1 -v", "run -1 -v"),
            ("run --out -v", "run --out -v"),
            ("run -- -1", "run -- -1"),
            ("run -- --out -1", "run -- --out -1"),
        ] {
            let words = arguments(said.split(' ').map(OsString::from));
            let words: Vec<_> = words.iter().filter_map(|word| word.to_str()).collect();
            assert_eq!(words.join(" "), read);
        }
    }
}
