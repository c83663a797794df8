//! What stands in the headers of everything that a NIC sends on its connections, whoever began them, and that nobody looks at but who spreads load by
//! it or is strict about it: the state of the path, and the UDP port.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, looked};
use super::super::measurement::{Known, Red, Tells, by_source};
use super::{BEHIND, OF_NIC, Seen, class};
use crate::Prediction;
use rig_capture::analyse::nic::Left;
use rig_capture::{Span, Unit};
use rig_lab::Part;
use rig_testcases::vocabulary::Entry;
use std::collections::BTreeMap;

/// `rc.mig_req`.
pub(in super::super) static MIG_REQ: Known = Known {
    entry: Entry {
        name: "rc.mig_req",
        parts: Some(&[Part::Rc]),
        about: "MigReq in the BTH of what a NIC sends on its connections: set, as nobody asked for a migration",
        source: MIGRATED,
        ..OF_NIC
    },
    tells: Tells::Each("frame"),
    red: Red::Mutated("migreq-of-what-is-sent", "deviation=mig_req_clear"),
    expected: |_, _, _| by_source("MigReq set in every frame", MIGRATED),
    judge: |measure, done, judged| mig_req(done, measure.named("port"), judged),
    of_nic: |measure, _| Some(measure.named("port").to_owned()),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

const MIGRATED: &str = "IBTA volume 1, 17.2.8: a connection that does not migrate is in the state Migrated, in which MigReq is 1";

/// `rc.source_port`.
pub(in super::super) static SOURCE_PORT: Known = Known {
    entry: Entry {
        name: "rc.source_port",
        parts: Some(&[Part::Rc]),
        about: "the UDP port from which a NIC sends on each connection: one of its own range, the same throughout, and not one for all connections",
        source: ENTROPY,
        ..OF_NIC
    },
    tells: Tells::Each("frame; that all connections have one port where they are two or more"),
    red: Red::Mutated("source-port-of-each-connection", "deviation=source_port_shared"),
    expected: |_, _, _| {
        by_source("one UDP source port a connection, not the same for all", ENTROPY)
    },
    judge: |measure, done, judged| source_port(done, measure.named("port"), judged),
    of_nic: |measure, _| Some(measure.named("port").to_owned()),
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

const ENTROPY: &str = "IBTA volume 1, annex A17: the source port is constant for a connection, and what a fabric spreads load by; RFC 6335, 6: 49152 to 65535";

/// The ports that nobody registers (RFC 6335, 6).
const FIRST: u16 = 0xc000;

fn mig_req(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    let wrong = |left: &[&Left]| {
        let clear = left.iter().filter(|one| !one.roce.mig_req);
        clear.map(|one| (one.record, "with MigReq clear".to_owned())).collect()
    };
    each(done, ("rc.mig_req", port), "with MigReq set", MIGRATED, wrong, judged);
}

fn source_port(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    let text = "from one UDP port of its connection, 49152 or more, not the same for all";
    each(done, ("rc.source_port", port), text, ENTROPY, strange, judged);
}

/// Frames from a port that they should not come from, and why not.
fn strange(left: &[&Left]) -> Vec<(usize, String)> {
    let mut ports: BTreeMap<u16, u16> = BTreeMap::new();
    let mut wrong = Vec::new();
    for one in left {
        let from = one.roce.udp_src;
        let first = *ports.entry(one.roce.connection).or_insert(from);
        if from < FIRST {
            wrong.push((one.record, format!("from UDP port {from}")));
        } else if from != first {
            let text = format!("from UDP port {from} where its connection began with {first}");
            wrong.push((one.record, text));
        }
    }
    let mut of = ports.values();
    if let Some(first) = of.next()
        && ports.len() > 1
        && of.all(|port| port == first)
    {
        let text = format!("from UDP port {first}, as all of {} connections", ports.len());
        wrong.extend(left.last().map(|one| (one.record, text)));
    }
    wrong
}

/// Holds every frame of connections at a port against a rule: `wrong` names those that break it, and how.
fn each(
    done: &JudgeContext<'_>,
    (measure, port): (&'static str, &str),
    rule: &str,
    source: &'static str,
    wrong: impl Fn(&[&Left]) -> Vec<(usize, String)>,
    judged: &mut Judged,
) {
    done.each(measure, port, judged, |trial| {
        let seen = Seen::of(done, trial, trial.port(port)?);
        // What is spoilt may have been so on the way, in these bytes, too.
        let own = seen.left.iter().filter(|one| !one.roce.corrupt);
        let own: Vec<&Left> = own.filter(|one| class::called(one.roce.kind).is_some()).collect();
        let wrong = wrong(&own);
        let what = |record: usize| {
            let one = own.iter().find(|one| one.record == record);
            one.and_then(|one| class::called(one.roce.kind)).unwrap_or("a frame")
        };
        let got = wrong.first().map(|(record, how)| match wrong.len() {
            1 => format!("{} {how}", what(*record)),
            some => format!("{} {how}, and {} more", what(*record), some - 1),
        });
        let want = Prediction {
            unit: Unit::Frames,
            span: Span::exactly(0),
            formula: "",
            text: format!("each of {} frames {rule}", own.len()),
            source,
        };
        let span = Span::exactly(u64::try_from(wrong.len()).unwrap_or(u64::MAX));
        let looked = looked(own.len(), "frames of connections");
        let records = wrong.into_iter().map(|(record, _)| record).collect();
        Ok(TrialReading { span, want, got, records, looked })
    });
}
