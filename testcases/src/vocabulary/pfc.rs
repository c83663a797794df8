//! PFC that a device sends, and how it obeys what it is sent.

use super::field::{FROM, PORT, STORM, STREAM, UNTIL, optional, required};
use super::{Entry, Kind, free};
use crate::{Measure, Wanted};

pub(super) const SENT: Entry = Entry {
    name: "pfc.sent",
    about: "XOFF frames that the device sends out of a port for a class; an XON asks nobody to pause and does not count",
    source: "the declared quanta and refresh",
    fields: &[
        required(
            "port",
            Kind::OnePort,
            "the rig port that receives them",
            "the rig port that receives them",
        ),
        optional("class", Kind::Class, "absent: every PFC frame, with `expect: none`"),
        optional("after", Kind::OneStorm, "only after the detection of this storm"),
        optional("expect", Kind::Count, "how many the case wants; absent: what is predicted"),
    ],
    make: |of| {
        let (class, after) = (of.class("class"), of.name("after"));
        let expect = of.wanted("expect").unwrap_or_default();
        Some(Measure::PfcSent { port: of.name("port")?, class, after, expect })
    },
    check: |given| {
        let expects_none = given.of.wanted("expect") == Some(Wanted::None);
        let unread = given.says("expect") && given.of.wanted("expect").is_none();
        let asks = !expects_none && !unread || given.says("after");
        if !given.says("class") && asks {
            let want = "`class: 0` to 7, or `expect: none` for the whole trial";
            given.at.fault("it names no class", want);
            return false;
        }
        true
    },
};

pub(super) const FORMAT: Entry = Entry {
    name: "pfc.format",
    about: "every PFC frame that the device sends is well formed",
    source: "IEEE 802.1Q clause 36, 802.3 Annex 31D",
    fields: &[PORT],
    make: |of| Some(Measure::PfcFormat { port: of.name("port")? }),
    check: free,
};

pub(super) const LATENCY: Entry = Entry {
    name: "pfc.latency",
    about: "from the frame of a counted stream that makes a group cross its limit to the XOFF that says so, and from the frame that leaves it at its XON to the XON",
    source: "F4",
    fields: &[STREAM],
    make: |of| Some(Measure::XoffLatency { stream: of.name("stream")? }),
    check: free,
};

pub(super) const RESPONSE: Entry = Entry {
    name: "pfc.response",
    about: "from an XOFF, sent by hand to the port that a full load leaves the device by, to the last frame that still starts",
    source: "the declared response",
    fields: &[STREAM],
    make: |of| Some(Measure::Response { stream: of.name("stream")? }),
    check: free,
};

pub(super) const PAUSE: Entry = Entry {
    name: "pfc.pause",
    about: "for how long an XOFF, sent by hand, keeps the port from sending the load",
    source: "F1, F2",
    fields: &[STREAM],
    make: |of| Some(Measure::PauseLength { stream: of.name("stream")? }),
    check: free,
};

pub(super) const DUTY: Entry = Entry {
    name: "pfc.duty",
    about: "the share of time for which a storm with gaps keeps the port from sending a full load",
    source: "F2",
    fields: &[STORM, STREAM, FROM, UNTIL],
    make: |of| {
        let (storm, stream) = (of.name("storm")?, of.name("stream")?);
        let (from, until) = (of.amount("from")?, of.amount("until")?);
        Some(Measure::Duty { storm, stream, from, until })
    },
    check: free,
};

pub(super) const COUNTERS: Entry = Entry {
    name: "pfc.counters",
    about: "the device's counters of PFC frames of a port and class, none of them counted as data",
    source: "what the wire shows",
    fields: &[PORT, required("class", Kind::Class, "0 to 7", "the class")],
    make: |of| Some(Measure::PfcCounters { port: of.name("port")?, class: of.class("class")? }),
    check: free,
};
