//! The class of what a NIC sends on its connections, whoever began them: what a switch goes by.

use super::super::judge_context::JudgeContext;
use super::super::judged::Judged;
use super::super::measurement::{Known, Red, Tells, by_source};
use super::{BEHIND, OF_NIC, Passage, each_frame};
use crate::trials::trial::Trial;
use rig_frames::ip::Ecn;
use rig_lab::Part;
use rig_testcases::vocabulary::Entry;
use rig_testcases::{IpVersion, Roce, RoceKind};

/// `rc.class`.
pub(in super::super) static CLASS: Known = Known {
    entry: Entry {
        name: "rc.class",
        parts: Some(&[Part::Rc]),
        about: "the DSCP of what a NIC sends on its connections (data, requests, acknowledgements, NAKs), and whether its data can be marked",
        source: "IBTA volume 1, annex A17: the DSCP is the traffic class of the queue pair, and both ends of a connection have one",
        tagged: true,
        over_ipv6: true,
        ..OF_NIC
    },
    tells: Tells::Each("frame"),
    red: Red::Mutated("class-of-what-is-sent", "deviation=answers_in_class_0"),
    expected: |_, _, _| {
        by_source(
            "the DSCP of its flow or stream on every frame, and data that is ECN-capable",
            SOURCE,
        )
    },
    judge: |measure, done, judged| judge(done, measure.named("port"), judged),
    of_nic: |measure, _| Some(measure.named("port").to_owned()),
    crosses: |_, _| BEHIND,
    of_class: true,
    knows_class_limits: true,
    ..Known::USUAL
};

const SOURCE: &str = "IBTA volume 1, annex A17";

fn judge(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    done.each("rc.class", port, judged, |trial| {
        let seen = Passage::of(done, trial, trial.port(port)?);
        let (mut all, mut wrong) = (0, Vec::new());
        for one in &seen.left {
            let Some(what) = called(one.roce.kind) else { continue };
            let Some(own) = dscp(trial, one.roce.connection) else { continue };
            all += 1;
            let is = fault(&one.roce, own);
            wrong.extend(is.map(|is| (one.record, format!("{what}{} {is}", over(&one.roce)))));
        }
        Ok(each_frame::reading(
            all,
            wrong,
            "with the DSCP of its connection, data ECN-capable",
            SOURCE,
        ))
    });
}

/// What is wrong with the class of a frame whose connection has the DSCP `own`, in words.
fn fault(of: &Roce, own: u8) -> Option<String> {
    // What a READ brings is as its request was.
    let capable =
        !matches!(of.kind, RoceKind::Data { response: false, .. }) || of.ecn != Ecn::NotEct;
    match (of.dscp == own, capable) {
        (false, _) => Some(format!("with DSCP {} where its connection has {own}", of.dscp)),
        (true, false) => Some("that is not ECN-capable".to_owned()),
        (true, true) => None,
    }
}

/// What a frame goes over, in words: nothing where that is what most go over.
const fn over(of: &Roce) -> &'static str {
    match of.over {
        IpVersion::V4 => "",
        IpVersion::V6 => " over IPv6",
    }
}

/// What a frame is called whose class is that of its connection: a CNP has its own.
pub(super) const fn called(kind: RoceKind) -> Option<&'static str> {
    match kind {
        RoceKind::Data { response: false, .. } => Some("a packet of data"),
        RoceKind::Data { response: true, .. } => Some("what a READ brings"),
        RoceKind::ReadRequest => Some("a READ request"),
        RoceKind::Ack => Some("an acknowledgement"),
        RoceKind::Nak | RoceKind::Denied | RoceKind::NotReady(_) => Some("a NAK"),
        RoceKind::Cnp { .. } => None,
    }
}

/// The DSCP that both ends of a connection were told.
fn dscp(trial: &Trial, connection: u16) -> Option<u8> {
    let script = &trial.script;
    let stream = script.streams.get(usize::from(connection)).map(|stream| stream.dscp);
    stream.or_else(|| Some(script.flow_of(connection)?.1.dscp))
}
