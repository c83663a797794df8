//! What slows a host down that asks for pauses without need: how much it took between its XONs, and which host would take so much.
//!
//! At an XON as much waits as at the one before, and something waited all the time between: what came meanwhile is what was taken. That is held against
//! hosts that have less at hand than is declared, other pages or more memory, whose reads take longer, or whose bus has less left. Several may take the
//! same: all of these that do are told. What is within a few percent of what is declared acquits nobody.

use crate::judge::nic::asked::Spoken;
use crate::spec::nic::slow_receiver::{Brought, Taker, fetched};
use rig_capture::Unit;
use rig_lab::NicHost;
use rig_units::{Bytes, Dur, Time, Within};

/// How far off a host may be that takes the same, in percent: what waits at an XON is known to a frame.
const OFF: u64 = 3;
/// The usual page of a host.
const SMALL: Bytes = Bytes(4_096);
/// The least number of frames between two XONs of which that is told.
const LEAST: usize = 100;

/// What came between the first XON and the last, and how long that took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Between {
    from: usize,
    until: usize,
    took: Dur,
}

impl Between {
    fn of(frames: &[Brought], words: &[Spoken]) -> Option<Between> {
        let stopped = words.windows(2).filter(|two| two[0].lasts > Dur::ZERO);
        let xons: Vec<Time> =
            stopped.filter(|two| two[1].lasts == Dur::ZERO).map(|two| two[1].at).collect();
        let (first, last) = xons.first().zip(xons.last())?;
        let come = |at: Time| frames.partition_point(|frame| frame.at <= at);
        let (from, until, took) = (come(*first), come(*last), last.since(*first)?);
        (until >= from + LEAST).then_some(Between { from, until, took })
    }

    /// How long a host takes for them, at the least and at the most.
    fn takes(self, host: &NicHost, frames: &[Brought]) -> Option<[Dur; 2]> {
        let fetched = fetched(host, frames);
        let miss = host.mtt_miss.unwrap_or(Within::ZERO);
        let with = |miss: Dur| {
            let taker = Taker::of(host, miss)?;
            let own = frames.iter().zip(&fetched).take(self.until).skip(self.from);
            Some(own.map(|(frame, reads)| taker.lasts(frame, *reads)).sum::<Dur>())
        };
        Some([with(miss.least())?, with(miss.most())?])
    }

    /// Whether one that takes so long is as slow as the one that was seen.
    fn is_as_slow(self, [least, most]: [Dur; 2]) -> bool {
        let off = Dur(self.took.0 / 100 * OFF);
        least <= self.took + off && self.took <= most + off
    }

    fn rate(self, frames: &[Brought], took: Dur) -> String {
        let bytes: u64 = frames[self.from..self.until].iter().map(|frame| frame.size.0).sum();
        let bps = u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(took.0.max(1));
        Unit::Bps.show(u64::try_from(bps).unwrap_or(u64::MAX))
    }
}

/// Hosts that are slower than the declared one, each with what is said of it.
fn slower(host: &NicHost) -> Vec<(&'static str, NicHost)> {
    let half = |places: u32| places / 2;
    let mut all = Vec::new();
    if let Some(mtt) = host.mtt {
        let places = |places| NicHost { mtt: Some(places), ..*host };
        all.push(("each packet had the address of its page read anew", places(0)));
        all.push(("no address of a page stayed at hand", places(1)));
        let mtt = Some(half(mtt));
        all.push(("half as many addresses of pages were at hand", NicHost { mtt, ..*host }));
    }
    if let Some(contexts) = host.contexts {
        let places = |places| NicHost { contexts: Some(places), ..*host };
        all.push(("each packet had the context of its connection read anew", places(0)));
        all.push(("no context of a connection stayed at hand", places(1)));
        let contexts = Some(half(contexts));
        all.push((
            "half as many contexts of connections were at hand",
            NicHost { contexts, ..*host },
        ));
    }
    if host.page.is_some_and(|page| page > SMALL) {
        all.push(("its pages were of 4 KiB", NicHost { page: Some(SMALL), ..*host }));
    }
    if let Some(region) = host.region {
        let region = Some(region + region);
        all.push(("it wrote to twice as much memory", NicHost { region, ..*host }));
    }
    all
}

/// What is known of the host that took `frames`, all of one class, and of which the NIC said `words`; nothing where too little came between two XONs.
pub(super) fn told(host: &NicHost, frames: &[Brought], words: &[Spoken]) -> Option<String> {
    let between = Between::of(frames, words)?;
    let declared = between.takes(host, frames)?;
    let took = between.rate(frames, between.took);
    if between.is_as_slow(declared) {
        return Some(format!(
            "between its XONs its host took {took}, within {OFF} % of what is declared: a slower host is not told from that"
        ));
    }
    let by_declared = between.rate(frames, declared[1]);
    if between.took < declared[0] {
        return Some(format!(
            "between its XONs its host took {took} where it takes {by_declared}: more"
        ));
    }
    let slower = slower(host).into_iter().filter(|(_, host)| {
        between.takes(host, frames).is_some_and(|takes| between.is_as_slow(takes))
    });
    let mut causes: Vec<String> = slower.map(|(cause, _)| format!("as if {cause}")).collect();
    // What its reads leave of the time is the bus, and what the bus leaves of it are reads.
    let reads: u64 = fetched(host, frames)[between.from..between.until].iter().sum();
    let read = host.mtt_miss.unwrap_or(Within::ZERO).most() * reads;
    let taken = declared[1].saturating_sub(read);
    let longer = between.took.saturating_sub(taken).0.checked_div(reads);
    // One of so many times what is declared is no cause that anybody looks for.
    let declared_miss = host.mtt_miss.unwrap_or(Within::ZERO).most();
    if let Some(each) = longer.filter(|each| *each <= declared_miss.0 * 20) {
        causes.push(format!("as if a read over the bus took {}", Unit::Ps.show(each)));
    }
    if between.took > read {
        let left = between.rate(frames, between.took - read);
        causes.push(format!(
            "as if no more than {left} were left of the bus: a slower one, or more from the host to itself"
        ));
    }
    let why = causes.join(", or ");
    Some(format!("between its XONs its host took {took} where it takes {by_declared}, {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::L2Rate;

    fn host() -> NicHost {
        let mut host = rig_lab::Nic::quiet().host;
        host.pcie = Some(L2Rate { bps: 40_000_000_000 });
        (host.mtt, host.page, host.region) = (Some(8), Some(Bytes(4_096)), Some(Bytes(16_384)));
        host.mtt_miss = Some(Within::exactly(Dur::ns(300)));
        host
    }

    /// What is told of a host that takes a frame of 1 KB each `each`.
    fn told_of(host: &NicHost, each: Dur) -> String {
        let brought = |at: u64| Brought {
            at: Time::ZERO + each * at,
            connection: 0,
            size: Bytes(1_000),
            payload: Bytes(1_024),
        };
        let frames: Vec<Brought> = (0..1_000).map(brought).collect();
        let word = |at: u64, is_xoff: bool| Spoken {
            record: 0,
            at: Time::ZERO + each * at,
            lasts: if is_xoff { Dur::us(100) } else { Dur::ZERO },
        };
        let words = [word(90, true), word(100, false), word(890, true), word(900, false)];
        told(host, &frames, &words).expect("enough came")
    }

    #[test]
    fn a_host_that_takes_what_is_declared_is_not_to_blame() {
        // 200 ns of the bus; its four pages stay at hand.
        let text = told_of(&host(), Dur::ns(200));
        assert_eq!(
            text,
            "between its XONs its host took 40.000 Gbps, within 3 % of what is declared: a slower host is not told from that"
        );
    }

    #[test]
    fn what_slows_a_host_down_is_named_with_all_that_would_look_alike() {
        // Each fourth frame begins a page: 75 ns more each.
        let text = told_of(&host(), Dur::ns(275));
        assert!(text.contains("29.090 Gbps where it takes 40.000 Gbps"), "{text}");
        let both = "as if no address of a page stayed at hand, or as if no more than 29.090 Gbps were left";
        assert!(text.contains(both), "{text}");
        assert!(!text.contains("half as many addresses"), "{text}");
        let bus = told_of(&host(), Dur::ns(400));
        assert!(!bus.contains("of a page"), "{bus}");
        assert!(bus.contains("20.000 Gbps were left of the bus"), "{bus}");
    }

    #[test]
    fn of_too_little_nothing_is_told() {
        assert_eq!(told(&host(), &[], &[]), None);
    }
}
