//! What a device holds: where it sends XOFF, drops and sends XON, and what its watermarks say of it.

use super::field::{LOAD, STREAM, optional, required};
use super::{Entry, Field, Given, Kind, free};
use crate::{Growth, Measure, Threshold, Wanted};

pub(super) const XOFF: Entry = Entry {
    name: "buffer.xoff",
    about: "the number of frames held that makes the device send XOFF",
    source: "F4, F5",
    fields: &GROWING,
    make: |of| {
        let (streams, growth) = grown(of)?;
        Some(Measure::Threshold(Threshold::Xoff { streams, growth }))
    },
    check: apart,
};

pub(super) const DROP: Entry = Entry {
    name: "buffer.drop",
    about: "the number of frames of which the last is the first that is lost",
    source: "F5",
    fields: &GROWING,
    make: |of| {
        let (streams, growth) = grown(of)?;
        Some(Measure::Threshold(Threshold::Drop { streams, growth }))
    },
    check: apart,
};

pub(super) const XON: Entry = Entry {
    name: "buffer.xon",
    about: "of a group held at its XOFF, the number of frames that must leave for the device to send XON",
    source: "F4, F5",
    fields: &[
        required(
            "stay",
            Kind::OneSearched,
            "a stream with `count: searched`",
            "the stream that stays held",
        ),
        required(
            "leave",
            Kind::OneSearched,
            "a stream with `count: searched`",
            "the stream of the same group whose frames leave",
        ),
    ],
    make: |of| {
        let (stay, leave) = (of.name("stay")?, of.name("leave")?);
        Some(Measure::Threshold(Threshold::Xon { stay, leave }))
    },
    check: one_group_two_ports,
};

pub(super) const WATERMARKS: Entry = Entry {
    name: "buffer.watermarks",
    about: "the device's watermarks of the group and the queue after every number of frames that was tried",
    source: "F7",
    fields: &[STREAM],
    make: |of| Some(Measure::Watermarks { stream: of.name("stream")? }),
    check: free,
};

pub(super) const COPIES: Entry = Entry {
    name: "watermarks.copies",
    about: "at the trial's end, the copies that the device's software keeps of the watermarks of the group and the queue that a stream fills",
    source: "F7",
    fields: &[STREAM],
    make: |of| Some(Measure::Copies { stream: of.name("stream")? }),
    check: free,
};

pub(super) const HEADROOM_LOSS: Entry = Entry {
    name: "headroom.loss",
    about: "frames of a full load into a held queue that are lost although the sender obeys PFC, because it stops too late for the headroom",
    source: "F3",
    fields: &[
        LOAD,
        optional(
            "expect",
            Kind::Wanted(&[("none", Wanted::None), ("some", Wanted::Some)]),
            "what the case wants of all trials together; absent: in each what is predicted",
        ),
    ],
    make: |of| {
        let expect = of.wanted("expect").unwrap_or_default();
        Some(Measure::HeadroomLoss { stream: of.name("stream")?, expect })
    },
    check: free,
};

/// Streams that grow one after the other, or together.
const GROWING: [Field; 2] = [
    optional("streams", Kind::Searched, "one after the other, each held at what was found for it"),
    optional("together", Kind::Searched, "all at once, by the same number of frames"),
];

fn grown(of: &super::Arguments) -> Option<(Vec<String>, Growth)> {
    let together = || Some((of.names("together")?, Growth::Together));
    of.names("streams").map(|streams| (streams, Growth::InTurn)).or_else(together)
}

/// Whose limit it is that streams share, if any, is the device's to say: a group's or a queue's.
fn apart(given: &Given<'_>) -> bool {
    let Some((in_turn, at)) = given.fields.either("streams", "together") else {
        if !given.says("streams") && !given.says("together") {
            let want = "`streams: [a, b]`, one after the other, or `together: [a, b]`";
            given.at.at_key("it names no stream", want);
        }
        return false;
    };
    let names = given.of.names(if in_turn { "streams" } else { "together" }).unwrap_or_default();
    let place = |name: &String| {
        given.streams.get(name).map(|of| (of.from.clone(), of.to.clone(), of.class))
    };
    for (i, name) in names.iter().enumerate() {
        if let Some(other) = names[..i].iter().find(|other| place(other) == place(name)) {
            let found = format!("`{other}` and `{name}` fill the same group and queue");
            at.fault(found, "streams that differ in a port or in their class");
            return false;
        }
    }
    true
}

fn one_group_two_ports(given: &Given<'_>) -> bool {
    let (Some(stay), Some(leave)) = (given.of.name("stay"), given.of.name("leave")) else {
        return true;
    };
    let group =
        |name: &String| given.streams.get(name).map(|of| (of.from.clone(), of.class, of.size));
    let port = |name: &String| given.streams.get(name).map(|of| of.to.clone());
    if group(&stay) != group(&leave) || port(&stay) == port(&leave) {
        given.at.fault(
            format!("`{stay}` and `{leave}` do not fill one group towards two ports"),
            "two streams of one port, class and frame size, addressed to different ports",
        );
        return false;
    }
    true
}
