//! Which cases are compared: those that both revisions have. The chance of a false alarm that a run may take is shared by all of its
//! cases, so that each further one widens the bounds of every other a little: both rigs run the same ones.

use core::fmt;
use std::collections::BTreeSet;

/// The cases of two catalogues.
#[derive(Debug, PartialEq)]
pub(super) struct Cases {
    both: BTreeSet<String>,
    /// Those that the earlier revision alone has.
    gone: BTreeSet<String>,
    /// Those that this tree alone has.
    new: BTreeSet<String>,
}

impl Cases {
    /// Of what `rigctl list` prints of either: a line a case, which begins with its name.
    pub(super) fn of(before: &str, now: &str) -> Cases {
        let names = |listed: &str| -> BTreeSet<String> {
            listed
                .lines()
                .filter_map(|line| line.split_whitespace().next())
                .map(str::to_owned)
                .collect()
        };
        let (before, now) = (names(before), names(now));
        Cases { both: &before & &now, gone: &before - &now, new: &now - &before }
    }

    /// Whether nothing that was tried before is left out now.
    pub(super) fn all_are_there(&self) -> bool {
        self.gone.is_empty() && !self.both.is_empty()
    }

    /// What `--only` takes for those that both have; nothing where these are all that either has.
    pub(super) fn only(&self) -> Option<String> {
        let all = self.gone.is_empty() && self.new.is_empty();
        let names: Vec<&str> = self.both.iter().map(String::as_str).collect();
        (!all).then(|| format!("{{{}}}", names.join(",")))
    }
}

impl fmt::Display for Cases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in both", super::differences::counted(self.both.len(), "case"))?;
        for (cases, what) in [(&self.new, "new and compared with nothing"), (&self.gone, "gone")] {
            if !cases.is_empty() {
                let names: Vec<&str> = cases.iter().map(String::as_str).collect();
                write!(f, "\n  {} {what}: {}", cases.len(), names.join(", "))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Cases;

    #[test]
    fn what_one_revision_alone_has_is_told_and_not_run() {
        let cases = Cases::of("a::b  broadcom\na::c  skipped: why\n", "a::b    voq\na::d  voq\n");
        assert_eq!(cases.only().as_deref(), Some("{a::b}"));
        let told = "1 case in both\n  1 new and compared with nothing: a::d\n  1 gone: a::c";
        assert_eq!(cases.to_string(), told);
        assert!(!cases.all_are_there(), "one is gone");
        let more = Cases::of("a::b  broadcom\n", "a::b  broadcom\na::d  voq\n");
        assert!(more.all_are_there());
        let same = Cases::of("a::b  broadcom\n", "a::b  voq\n");
        assert_eq!((same.only(), same.all_are_there()), (None, true));
        assert!(!Cases::of("", "a::b  voq\n").all_are_there(), "nothing is compared");
    }
}
