//! A case in which the rig sends streams to the NIC of a guest, or of a server: each to a server of perftest there, frame by frame at its
//! time. What a case asks of more than that is not done.

use rig_testcases::case::{CaseAction, Stream};
use rig_testcases::vocabulary::ByPfc;
use rig_testcases::{Case, Measure, StreamKind, StreamRate};
use rig_units::{Bytes, Dur, PortSpeed};

/// The rig port in front of the NIC.
const NIC: &str = "p1";
/// The longest frame to a NIC whose path MTU is the greatest that there is: headers up to RETH, ICRC and FCS around the payload.
const MOST: Bytes = Bytes(4_096 + 14 + 20 + 8 + 12 + 16 + 4 + 4);
/// Most streams at a time: each has a server there.
const SERVERS: usize = 64;
/// Most frames of loads in a second, which leave one by one.
const LOADS: u64 = 20_000;

/// Why the rig does not send the case's streams to the NIC behind a port of `speed`; `None` where it does.
pub(super) fn unsent(case: &Case, speed: PortSpeed) -> Option<String> {
    if !case.flows.is_empty() {
        return Some("it has flows and streams, and a trial has one or the other".to_owned());
    }
    if !case.storms.is_empty() || !case.between.inject.is_empty() {
        return Some("it does more than send streams to the NIC".to_owned());
    }
    if !case.configure.is_empty() {
        return Some("it tries settings, and perftest has but one".to_owned());
    }
    let sends =
        |what: &CaseAction| matches!(what, CaseAction::Start { .. } | CaseAction::Stop { .. });
    if case.steps.iter().any(|step| !sends(&step.what)) {
        return Some("more happens in it than that streams are sent".to_owned());
    }
    let by_pfc = |one: &&Measure| one.entry.pfc != ByPfc::No;
    if let Some(one) = case.measure.iter().find(by_pfc) {
        return Some(format!(
            "{} rests on PFC of the NIC, which nobody obeys or records there",
            one.name()
        ));
    }
    if case.streams.len() > SERVERS {
        return Some(format!("it has more than {SERVERS} streams"));
    }
    let unmade = case
        .streams
        .iter()
        .find_map(|(name, stream)| unmade(stream).map(|why| format!("{name} {why}")));
    unmade.or_else(|| {
        let frames: u64 = case.streams.values().map(|stream| a_second(stream, speed)).sum();
        (frames > LOADS).then(|| {
            format!("its loads are {frames} frames a second, which leave one by one there: {LOADS} at most")
        })
    })
}

/// Frames that a stream sends in a second as a load; none of a probe.
fn a_second(stream: &Stream, speed: PortSpeed) -> u64 {
    match stream.rate {
        StreamRate::Every(_) => 0,
        StreamRate::Load(rate) => rate.pace(stream.size, speed).within(Dur::s(1)),
    }
}

/// Why one stream is not sent; `None` where it is.
fn unmade(stream: &Stream) -> Option<&'static str> {
    match stream {
        Stream { from, to, .. } if from != NIC || to != NIC => {
            Some("does not go to the NIC behind p1")
        }
        Stream { kind: StreamKind::Udp | StreamKind::Cnp, .. } => {
            Some("is neither of WRITEs nor of SENDs, and servers of perftest take nothing else")
        }
        Stream { address, .. } if *address != 0 => {
            Some("comes from another address, and the rig has one there")
        }
        Stream { vlan: Some(_), .. } => Some("has a tag, and its connection none"),
        Stream { size, .. } if *size > MOST => Some("has packets of more than 4096 B"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_oracle::measure::Registry;

    fn told(id: &str, speed: &str) -> Option<String> {
        let suites = rig_testcases::read::bundled(&Registry).expect("the catalogue");
        let mut all = suites.into_iter().flat_map(|suite| suite.cases);
        let case = all.find(|case| case.id.to_string() == id).expect("it is bundled");
        unsent(&case, speed.parse().expect("a speed"))
    }

    #[test]
    fn a_load_is_sent_that_leaves_no_faster_than_frames_do_one_by_one() {
        // Half of the port by frames of 1024 B, with 20 B around each.
        let load = "cnp::every-frame-of-a-load-marked";
        assert_eq!(told(load, "320Mbps"), None);
        let why =
            "its loads are 23947 frames a second, which leave one by one there: 20000 at most";
        assert_eq!(told(load, "400Mbps").as_deref(), Some(why));
    }

    #[test]
    fn a_nic_whose_pauses_nobody_obeys_is_not_judged_by_them() {
        let why = told("slow-receiver::slow-receiver-with-small-pages", "10Mbps");
        let why = why.expect("its load would leave");
        assert_eq!(why, "nic.pauses rests on PFC of the NIC, which nobody obeys or records there");
    }
}
