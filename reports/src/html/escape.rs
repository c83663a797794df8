//! Text made safe for a page. Everything that a file, a lab or a device says goes through here.

use crate::shown::printable;
use rig_testcases::CaseId;

/// `text` for an element's content or a quoted attribute.
pub(super) fn esc(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in printable(text).chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The anchor of a case: its own name, so that a link in a bug report can be written by hand.
pub(super) fn anchor(id: &CaseId) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_:.".contains(c) { c } else { '-' };
    id.to_string().chars().map(plain).collect()
}

/// A path relative to the page as a link's target; the leading `./` keeps it from being read as a scheme.
pub(super) fn link(path: &str) -> String {
    let mut link = "./".to_owned();
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'/' | b'~' => {
                link.push(char::from(byte));
            }
            byte => link.push_str(&format!("%{byte:02X}")),
        }
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(
            esc("<b a=\"1\" b='2'>&amp;"),
            "&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;amp;"
        );
        assert_eq!(esc("\x1b[0m"), "\\x1b[0m");
    }

    #[test]
    fn an_anchor_is_the_name_of_its_case() {
        assert_eq!(anchor(&fixture::id("pfcwd::trigger-ramp")), "pfcwd::trigger-ramp");
        assert_eq!(anchor(&fixture::id("a b::<c>")), "a-b::-c-");
    }

    #[test]
    fn a_link_never_leaves_the_folder_of_the_page() {
        assert_eq!(link("evidence/a/b/01.pcapng"), "./evidence/a/b/01.pcapng");
        assert_eq!(link("javascript:x()"), "./javascript%3Ax%28%29");
        assert_eq!(link("a\"b#c?d"), "./a%22b%23c%3Fd");
    }
}
