//! The addresses between which what a NIC sends on its connections goes, whoever began them: a GID of either end, of one version of IP.

use super::super::judge_context::JudgeContext;
use super::super::judged::Judged;
use super::super::measurement::{Known, Red, Tells, by_source};
use super::class::called;
use super::{OF_NIC, Passage, each_frame};
use crate::trials::trial::Trial;
use rig_capture::analyse::nic::Left;
use rig_lab::Part;
use rig_testcases::IpVersion;
use rig_testcases::vocabulary::Entry;

/// `rc.gid`.
pub(in super::super) static GID: Known = Known {
    entry: Entry {
        name: "rc.gid",
        parts: Some(&[Part::Rc, Part::Np]),
        about: "the addresses (GIDs) of what a NIC sends on its connections, CNPs among it: over the version of IP of its flow, from the address that was asked, to the one that asks, with an ICRC that fits",
        source: SOURCE,
        tagged: true,
        over_ipv6: true,
        ..OF_NIC
    },
    tells: Tells::Each("frame"),
    red: Red::Mutated("addresses-of-what-is-sent", "deviation=ack_from_other_gid"),
    expected: |_, _, _| by_source("each frame between the addresses of its connection", SOURCE),
    judge: |measure, done, judged| judge(done, measure.named("port"), judged),
    of_nic: |measure, _| Some(measure.named("port").to_owned()),
    ..Known::USUAL
};

const SOURCE: &str = "IBTA volume 1, annex A17: a GID is an address of IP, and a queue pair has one of its own and one of its peer; 7.8.1: the ICRC";

fn judge(done: &JudgeContext<'_>, port: &str, judged: &mut Judged) {
    done.each("rc.gid", port, judged, |trial| {
        let at = trial.port(port)?;
        let seen = Passage::of(done, trial, at);
        let (mut all, mut wrong) = (0, Vec::new());
        for one in &seen.left {
            let Some(want) = Wanted::of(trial, at, one) else { continue };
            all += 1;
            let what = called(one.roce.kind).unwrap_or("a CNP");
            let is = fault(one, &want, seen.relayed);
            wrong.extend(is.map(|is| (one.record, format!("{what} {is}"))));
        }
        Ok(each_frame::reading(all, wrong, "between the addresses of its connection", SOURCE))
    });
}

/// Between which addresses a frame has to go.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    over: IpVersion,
    /// The NIC's own, by its number.
    gid: u8,
    /// The rig's, or what stands there for that of the NIC at the other end.
    address: u8,
}

impl Wanted {
    /// Those of the connection that it is of, at the NIC behind port `at`: of a flow, or of a stream of the rig's.
    fn of(trial: &Trial, at: u16, one: &Left) -> Option<Wanted> {
        let (script, connection) = (&trial.script, one.roce.connection);
        if let Some(stream) = script.streams.get(usize::from(connection)) {
            let (gid, address) = (stream.gid, stream.address);
            return Some(Wanted { over: stream.over, gid, address });
        }
        let (_, flow) = script.flow_of(connection)?;
        let ends = (flow.gid, flow.address);
        let (gid, address) = if flow.nic == at { ends } else { (ends.1, ends.0) };
        Some(Wanted { over: flow.over, gid, address })
    }
}

/// What is wrong with where a frame comes from and goes to, in words. Whether its ICRC fits nobody tells where others passed it on.
fn fault(one: &Left, want: &Wanted, relayed: bool) -> Option<String> {
    let roce = &one.roce;
    let number = |number: u8| u16::from(number) + 1;
    if roce.over != want.over {
        let (got, want) = (roce.over.words(), want.over.words());
        return Some(format!("over {got} where its connection goes over {want}"));
    }
    if roce.gid != want.gid {
        let (got, want) = (number(roce.gid), number(want.gid));
        return Some(format!(
            "from the NIC's address {got} where its connection has address {want}"
        ));
    }
    if roce.address != want.address {
        let (got, want) = (number(roce.address), number(want.address));
        return Some(format!("to the rig's address {got} where its connection is with {want}"));
    }
    (roce.corrupt && !relayed)
        .then(|| format!("over {} with an ICRC that does not fit", roce.over.words()))
}
