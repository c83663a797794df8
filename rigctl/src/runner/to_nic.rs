//! A case in which the rig sends streams to the NIC of a guest, or of a server: each to a server of perftest there, frame by frame at its
//! time. What a case asks of more than that is not done.

use rig_testcases::case::{CaseAction, Stream};
use rig_testcases::vocabulary::ByPfc;
use rig_testcases::{Case, IpVersion, Measure, StreamKind, StreamRate, Sweep};
use rig_units::{Bytes, Dur, PortSpeed};

/// The rig port in front of the NIC.
const NIC: &str = "p1";
/// The longest frame to a NIC whose path MTU is the greatest that there is: headers up to RETH, ICRC and FCS around the payload.
const MOST: Bytes = Bytes(4_096 + 14 + 20 + 8 + 12 + 16 + 4 + 4);
/// Most streams at a time: each has a server there.
const SERVERS: usize = 64;
/// Most frames of loads in a second, which leave one by one.
const LOADS: u64 = 20_000;

/// What is said of a stream whose packets are larger.
const LARGE: &str = "has packets of more than 4096 B";

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
    let large = swept(case).into_iter().flatten().find(|(_, size)| *size > MOST);
    let unmade = case
        .streams
        .iter()
        .find_map(|(name, stream)| unmade(stream).map(|why| format!("{name} {why}")))
        .or_else(|| large.map(|(name, _)| format!("{name} {LARGE}")));
    unmade.or_else(|| swept(case).into_iter().find_map(|size| too_many(case, size, speed)))
}

/// Each size of a stream's frames that is swept: what else there is of streams stands meanwhile. One time nothing where none is.
fn swept(case: &Case) -> Vec<Option<(&str, Bytes)>> {
    let each = case.sweep.iter().flat_map(|sweep| match sweep {
        Sweep::Size { stream, sizes } => {
            sizes.iter().map(|size| Some((stream.as_str(), *size))).collect()
        }
        Sweep::Setting { .. }
        | Sweep::Cable { .. }
        | Sweep::Speed { .. }
        | Sweep::Values { .. }
        | Sweep::Across { .. } => Vec::new(),
    });
    let each: Vec<_> = each.collect();
    if each.is_empty() { vec![None] } else { each }
}

/// Why the loads of the case do not leave, where the frames of one stream have this size.
fn too_many(case: &Case, size: Option<(&str, Bytes)>, speed: PortSpeed) -> Option<String> {
    let own = |name: &str| size.filter(|(swept, _)| *swept == name).map(|(_, size)| size);
    let each = case.streams.iter().map(|(name, stream)| match stream.rate {
        StreamRate::Every(_) => 0,
        StreamRate::Load(rate) => {
            rate.pace(own(name).unwrap_or(stream.size), speed).within(Dur::s(1))
        }
    });
    let frames: u64 = each.sum();
    let at = size.map(|(name, size)| format!(" at {name}.size={size}")).unwrap_or_default();
    (frames > LOADS).then(|| {
        format!("its loads are {frames} frames a second{at}, which leave one by one there: {LOADS} at most")
    })
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
        Stream { gid, .. } if *gid != 0 => {
            Some("goes to another GID, and which one the NIC has there its lab says")
        }
        Stream { vlan: Some(_), .. } => Some("has a tag, and its connection none"),
        Stream { over: IpVersion::V6, .. } => {
            Some("goes over IPv6, and what streams go over there its lab says")
        }
        Stream { size, .. } if *size > MOST => Some(LARGE),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::bundled;

    fn case(id: &str) -> Case {
        bundled::case(id)
    }

    fn told(id: &str, speed: &str) -> Option<String> {
        unsent(&case(id), speed.parse().expect("a speed"))
    }

    #[test]
    fn a_load_whose_size_is_swept_is_sent_where_each_of_its_sizes_is() {
        let mut case = case("cnp::every-frame-of-a-load-marked");
        let load = case.streams.keys().next().expect("it has one").clone();
        let mut told = |sizes: &[u64], speed: &str| {
            let sizes = sizes.iter().map(|&size| Bytes(size)).collect();
            case.sweep = vec![Sweep::Size { stream: load.clone(), sizes }];
            unsent(&case, speed.parse().expect("a speed"))
        };
        assert_eq!(told(&[1_024, 512], "100Mbps"), None);
        let why = told(&[1_024, 78], "100Mbps").expect("64000 a second");
        assert!(why.contains(&format!("frames a second at {load}.size=78B, which")), "{why}");
        // What the case says of its size is of no frame then.
        assert_eq!(told(&[4_096], "1Gbps"), None);
        let why = told(&[1_024, 9_000], "100Mbps").expect("more than a path MTU");
        assert_eq!(why, format!("{load} {LARGE}"));
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
    fn a_stream_over_ipv6_is_left_to_labs_that_say_so() {
        let mut case = case("cnp::every-frame-of-a-load-marked");
        let (name, load) = case.streams.iter_mut().next().expect("it has one");
        load.over = IpVersion::V6;
        let why = format!("{name} goes over IPv6, and what streams go over there its lab says");
        assert_eq!(unsent(&case, "320Mbps".parse().expect("a speed")), Some(why));
        let (name, load) = case.streams.iter_mut().next().expect("it has one");
        (load.over, load.gid) = (IpVersion::V4, 1);
        let why =
            format!("{name} goes to another GID, and which one the NIC has there its lab says");
        assert_eq!(unsent(&case, "320Mbps".parse().expect("a speed")), Some(why));
    }

    #[test]
    fn a_nic_whose_pauses_nobody_obeys_is_not_judged_by_them() {
        let why = told("slow-receiver::slow-receiver-with-small-pages", "10Mbps");
        let why = why.expect("its load would leave");
        assert_eq!(why, "nic.pauses rests on PFC of the NIC, which nobody obeys or records there");
    }
}
