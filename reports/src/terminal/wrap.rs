//! Long lines, broken between words.

/// `text` broken so that no line is longer than `width` columns, of which `used` are taken on the first line; the
/// others start after `indent` spaces. A word that is longer than a line keeps a line to itself, whole: names of
/// files and cases are there to be copied.
pub(super) fn wrap(text: &str, used: usize, indent: usize, width: Option<usize>) -> String {
    let Some(width) = width else { return text.to_owned() };
    let mut wrapped = String::with_capacity(text.len());
    let mut column = used;
    for word in text.split(' ') {
        let length = word.chars().count();
        if wrapped.is_empty() {
            column += length;
        } else if column + 1 + length <= width {
            wrapped.push(' ');
            column += 1 + length;
        } else {
            wrapped.push('\n');
            wrapped.extend(std::iter::repeat_n(' ', indent));
            column = indent + length;
        }
        wrapped.push_str(word);
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_line_of_exactly_the_width_is_left_alone() {
        assert_eq!(wrap("want 1, got 2", 7, 2, Some(20)), "want 1, got 2");
        assert_eq!(wrap("want 1, got 2", 8, 2, Some(20)), "want 1, got\n  2");
    }

    #[test]
    fn without_a_width_nothing_is_broken() {
        assert_eq!(wrap(&"word ".repeat(99), 0, 0, None), "word ".repeat(99));
    }

    #[test]
    fn a_long_name_is_not_cut() {
        let text = "see evidence/pfcwd/detection-latency-broadcom/02.pcapng now";
        assert_eq!(
            wrap(text, 0, 2, Some(20)),
            "see\n  evidence/pfcwd/detection-latency-broadcom/02.pcapng\n  now"
        );
    }

    proptest! {
        #[test]
        fn wrapping_changes_nothing_but_the_space_between_words(
            words in prop::collection::vec("[a-zµ0-9:]{1,30}", 1..40), used in 0_usize..20, width in 1_usize..90,
        ) {
            let text = words.join(" ");
            let wrapped = wrap(&text, used, 4, Some(width));
            prop_assert_eq!(wrapped.split_whitespace().collect::<Vec<_>>(), words);
            for (i, line) in wrapped.lines().enumerate() {
                let columns = line.chars().count() + if i == 0 { used } else { 0 };
                prop_assert!(columns <= width || line.split_whitespace().count() == 1);
            }
        }
    }
}
