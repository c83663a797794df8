//! What a file is: a lab, a profile or a suite of test cases. One that is taken for another is told in one fault, not key by key.

use crate::walk::At;
use crate::yaml::Value;

/// What a YAML file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// Devices and what carries frames to them.
    Lab,
    /// One device.
    Profile,
    /// Test cases.
    Suite,
}

impl FileKind {
    /// A key that files of one kind have at their top and no other does, what such a file is, and how it is used.
    const KEYS: [(&str, FileKind, &str); 4] = [
        (
            "duts",
            FileKind::Lab,
            "a lab: `--lab FILE`, and `--dut` with the name of one of its devices",
        ),
        (
            "declared",
            FileKind::Profile,
            "a profile of one device: `--dut FILE`, or in a lab `duts: [FILE]`",
        ),
        (
            "extends",
            FileKind::Profile,
            "a profile of one device: `--dut FILE`, or in a lab `duts: [FILE]`",
        ),
        ("cases", FileKind::Suite, "a suite of test cases: `rigctl run FILE`"),
    ];

    /// Whether the file that begins at `root` may be of this kind; notes that it is of another one.
    pub fn may_be(self, root: &At<'_>) -> bool {
        let Value::Map(entries) = &root.node.value else { return true };
        let there = |key: &str| entries.iter().any(|(entry, _)| entry.name == key);
        let mut there = FileKind::KEYS.iter().filter(|(key, ..)| there(key));
        let Some((key, kind, is)) = there.next() else { return true };
        if *kind == self || there.any(|(_, kind, _)| *kind == self) {
            return true;
        }
        let want = match self {
            FileKind::Lab => "a lab, such as lab-configs/emulated.yaml",
            FileKind::Profile => "a profile of one device, such as lab-configs/duts/broadcom.yaml",
            FileKind::Suite => "a suite of test cases, such as testcases/pfcwd.yaml",
        };
        root.down(key).at_key(format!("`{key}` makes this {is}"), want);
        false
    }
}
