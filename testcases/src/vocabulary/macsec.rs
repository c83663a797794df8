//! MACsec.

use super::field::{PORT, STORM, STREAM};
use super::{Entry, free};
use crate::Measure;

pub(super) const COUNTERS: Entry = Entry {
    name: "macsec.counters",
    about: "the device's MACsec counters of a port",
    source: "what the wire shows",
    fields: &[PORT],
    make: |of| Some(Measure::MacsecCounters { port: of.name("port")? }),
    check: free,
};

pub(super) const FRAMES: Entry = Entry {
    name: "macsec.frames",
    about: "every frame that the device sends out of a port is protected as it declares",
    source: "IEEE 802.1AE",
    fields: &[PORT],
    make: |of| Some(Measure::MacsecFrames { port: of.name("port")? }),
    check: free,
};

pub(super) const PFC: Entry = Entry {
    name: "macsec.pfc",
    about: "whether the PFC of a storm is obeyed, in the form that it is sent in",
    source: "the declared forms of PFC",
    fields: &[STORM, STREAM],
    make: |of| Some(Measure::MacsecPfc { storm: of.name("storm")?, stream: of.name("stream")? }),
    check: free,
};
