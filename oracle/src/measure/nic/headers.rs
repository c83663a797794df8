//! What stands in the headers of everything that a NIC sends on its connections, whoever began them, and that nobody looks at but who spreads load by
//! it or is strict about it: the state of the path, and the UDP port.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, Unread, looked};
use super::super::measurement::{Known, Red, Tells, by_source};
use super::{BEHIND, OF_NIC, Passage, class};
use crate::Prediction;
use rig_capture::analyse::nic::Left;
use rig_capture::{Span, Unit};
use rig_lab::{Part, Rc};
use rig_testcases::vocabulary::Entry;
use std::collections::BTreeMap;

/// `rc.mig_req`.
pub(in super::super) static MIG_REQ: Known = Known {
    entry: Entry {
        name: "rc.mig_req",
        parts: Some(&[Part::Rc]),
        about: "MigReq in the BTH of what a NIC sends on its connections, as `nic.rc.mig_req` declares it: set, as nobody asked for a migration",
        source: MIGRATED,
        over_ipv6: true,
        ..OF_NIC
    },
    tells: Tells::Each("frame"),
    red: Red::Mutated("migreq-of-what-is-sent", "deviation=mig_req_clear"),
    expected: |_, _, _| {
        by_source("MigReq set in every frame, where `nic.rc.mig_req` says so", MIGRATED)
    },
    judge: |measure, done, judged| mig_req(done, measure.named("port"), judged),
    of_nic: |measure, _| Some(measure.named("port").to_owned()),
    crosses: |_, _| BEHIND,
    knows_class_limits: true,
    ..Known::USUAL
};

const MIGRATED: &str = "IBTA volume 1, 17.2.8: a connection that does not migrate is in the state Migrated, in which MigReq is 1";

/// `rc.source_port`.
pub(in super::super) static SOURCE_PORT: Known = Known {
    entry: Entry {
        name: "rc.source_port",
        parts: Some(&[Part::Rc]),
        about: "the UDP port from which a NIC sends on each connection: the same throughout; where `nic.rc.own_source_port` says so 49152 or more, and not one for all connections",
        source: ENTROPY,
        over_ipv6: true,
        ..OF_NIC
    },
    tells: Tells::Each("frame; that all connections have one port where they are two or more"),
    red: Red::Mutated("source-port-of-each-connection", "deviation=source_port_shared"),
    expected: |_, _, _| {
        by_source(
            "one UDP source port a connection, of its own where `nic.rc.own_source_port` says so",
            ENTROPY,
        )
    },
    judge: |measure, done, judged| source_port(done, measure.named("port"), judged),
    of_nic: |measure, _| Some(measure.named("port").to_owned()),
    crosses: |_, _| BEHIND,
    knows_class_limits: true,
    ..Known::USUAL
};

const ENTROPY: &str = "IBTA volume 1, annex A17: the source port is constant for a connection, and what a fabric spreads load by; RFC 6335, 6: 49152 to 65535";

/// The ports that nobody registers (RFC 6335, 6).
const FIRST: u16 = 0xc000;

fn mig_req(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    let rule = |rc: &Rc| match rc.mig_req {
        Some(true) => Ok("with MigReq set"),
        Some(false) => Ok("with MigReq clear, as declared"),
        None => Err("nothing is declared of `nic.rc.mig_req`"),
    };
    let wrong = |rc: &Rc, left: &[&Left]| {
        let set = rc.mig_req == Some(true);
        let how = if set { "with MigReq clear" } else { "with MigReq set" };
        let other = left.iter().filter(|one| one.roce.mig_req != set);
        other.map(|one| (one.record, how.to_owned())).collect()
    };
    each(done, ("rc.mig_req", port), MIGRATED, (rule, wrong), judged);
}

fn source_port(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    let rule = |rc: &Rc| {
        Ok(match rc.own_source_port {
            Some(true) => {
                "from one UDP port of its connection, 49152 or more, not the same for all"
            }
            Some(false) => "from one UDP port, the same for all connections, as declared",
            None => "from one UDP port of its connection",
        })
    };
    let wrong = |rc: &Rc, left: &[&Left]| strange(rc.own_source_port, left);
    each(done, ("rc.source_port", port), ENTROPY, (rule, wrong), judged);
}

/// Frames from a port that they should not come from, and why not.
fn strange(own: Option<bool>, left: &[&Left]) -> Vec<(usize, String)> {
    let mut ports: BTreeMap<u16, u16> = BTreeMap::new();
    let mut wrong = Vec::new();
    for one in left {
        let from = one.roce.udp_src;
        let first = *ports.entry(one.roce.connection).or_insert(from);
        if own == Some(true) && from < FIRST {
            wrong.push((one.record, format!("from UDP port {from}")));
        } else if from != first {
            let text = format!("from UDP port {from} where its connection began with {first}");
            wrong.push((one.record, text));
        }
    }
    let mut of = ports.values();
    let Some(first) = of.next().filter(|_| ports.len() > 1) else { return wrong };
    let shared = of.all(|port| port == first);
    let text = match own {
        Some(true) if shared => {
            format!("from UDP port {first}, as all of {} connections", ports.len())
        }
        Some(false) if !shared => format!("from UDP ports of their own, {first} among them"),
        _ => return wrong,
    };
    wrong.extend(left.last().map(|one| (one.record, text)));
    wrong
}

/// Holds every frame of connections at a port against what is declared: the rule, or why there is none, and which frames break it, and how.
fn each(
    done: &JudgeContext<'_>,
    (measure, port): (&'static str, &str),
    source: &'static str,
    (rule, wrong): (
        impl Fn(&Rc) -> Result<&'static str, &'static str>,
        impl Fn(&Rc, &[&Left]) -> Vec<(usize, String)>,
    ),
    judged: &mut Judged,
) {
    done.each(measure, port, judged, |trial| {
        let seen = Passage::of(done, trial, trial.port(port)?);
        let rule = rule(&seen.nic.rc).map_err(|why| Unread::NotApplicable(why.to_owned()))?;
        // What is spoilt may have been so on the way, in these bytes, too.
        let own = seen.left.iter().filter(|one| !one.roce.corrupt);
        let own: Vec<&Left> = own.filter(|one| class::called(one.roce.kind).is_some()).collect();
        let wrong = wrong(&seen.nic.rc, &own);
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
