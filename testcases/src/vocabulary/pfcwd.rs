//! The watchdog, and the storm that it looks for.

use super::field::{STORM, STREAM, optional, required};
use super::{Entry, Kind, free};
use crate::Measure;

pub(super) const DETECTION: Entry = Entry {
    name: "pfcwd.detection",
    about: "from the first XOFF of the storm to the watchdog's action, seen in the stream",
    source: "F13",
    fields: &[
        STORM,
        STREAM,
        optional("at_most", Kind::Interval, "the latest that the case accepts"),
    ],
    make: |of| {
        let (storm, stream) = (of.name("storm")?, of.name("stream")?);
        Some(Measure::Detection { storm, stream, at_most: of.dur("at_most") })
    },
    check: free,
};

pub(super) const RESTORATION: Entry = Entry {
    name: "pfcwd.restoration",
    about: "from the storm's last frame to the end of the action",
    source: "F13",
    fields: &[STORM, STREAM],
    make: |of| Some(Measure::Restoration { storm: of.name("storm")?, stream: of.name("stream")? }),
    check: free,
};

pub(super) const FIRED: Entry = Entry {
    name: "pfcwd.fired",
    about: "whether the storm is detected at all; over a sweep of its length a probability curve",
    source: "F14",
    fields: &[
        STORM,
        STREAM,
        optional(
            "expect",
            Kind::Word(&["always", "never"]),
            "what the case wants; absent: what is predicted",
        ),
    ],
    make: |of| {
        let (storm, stream) = (of.name("storm")?, of.name("stream")?);
        let expect = of.word("expect").map(|word| word == "always");
        Some(Measure::Fired { storm, stream, expect })
    },
    check: free,
};

pub(super) const ACTION: Entry = Entry {
    name: "pfcwd.action",
    about: "what becomes of frames sent while the queue is stormed: none arrives, all arrive, or all arrive after the storm",
    source: "the declared action",
    fields: &[STORM, STREAM],
    make: |of| Some(Measure::ActionTaken { storm: of.name("storm")?, stream: of.name("stream")? }),
    check: free,
};

pub(super) const COUNTERS: Entry = Entry {
    name: "counters",
    about: "the watchdog's and the queue's counters",
    source: "what the wire shows",
    fields: &[STORM, STREAM],
    make: |of| Some(Measure::Counters { storm: of.name("storm")?, stream: of.name("stream")? }),
    check: free,
};

pub(super) const COVERAGE: Entry = Entry {
    name: "storm.coverage",
    about: "how much of the storm the class was paused, and the longest lapse",
    source: "the rig's own sending",
    fields: &[required("storm", Kind::Storm, "a storm", STORM.about)],
    make: |of| Some(Measure::Coverage { storm: of.name("storm")? }),
    check: free,
};
