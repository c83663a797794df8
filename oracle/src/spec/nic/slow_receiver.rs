//! How fast a host takes what its NIC receives, and when each frame is out of the NIC's buffer: over a bus to memory, with the addresses of
//! a few pages at hand (Guo et al., SIGCOMM'16, 4.4; Bai et al., NSDI'23, 5).
//!
//! A frame of n bytes keeps the bus for n / r, and for a miss more with each page of it whose address has to be fetched. So it is taken at
//! T(i) = max(A(i), T(i - 1)) + n / r + misses x miss, A(i) the arrival of its last bit. An address has to be fetched if, since its page
//! was last written, as many other pages were as there are places, or it never was. The context of a connection that is not at hand is a miss more: as of a page,
//! by how many other connections brought something since.

use rig_lab::NicHost;
use rig_units::{Bytes, Dur, L2Rate, Time};
use std::collections::BTreeMap;

/// A frame with payload, as it reached the NIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Brought {
    /// When its last bit did.
    pub at: Time,
    /// The number of its queue pair: each has a region of its own.
    pub connection: u16,
    /// Its size, FCS counted.
    pub size: Bytes,
    /// What of it goes to memory.
    pub payload: Bytes,
}

/// What the bus has left for frames; `None` where none is declared.
pub fn bus(host: &NicHost) -> Option<L2Rate> {
    let taken = host.loopback.map_or(0, |rate| rate.bps);
    host.pcie.map(|pcie| L2Rate { bps: pcie.bps.saturating_sub(taken) })
}

/// The way into memory of a host whose reads over the bus each take the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Taker {
    bus: L2Rate,
    miss: Dur,
}

impl Taker {
    /// Of a host where each read takes `miss`; `None` where no bus is declared.
    pub fn of(host: &NicHost, miss: Dur) -> Option<Taker> {
        Some(Taker { bus: bus(host)?, miss })
    }

    /// When a frame is out of the buffer, behind one that was at `before`, for which so many addresses have to be read. It grows with what
    /// a read takes and with `before`: the hosts of the least and of the most bound whatever lies between.
    pub fn takes(&self, before: Time, frame: &Brought, fetched: u64) -> Time {
        before.max(frame.at) + self.lasts(frame, fetched)
    }

    /// For how long a frame keeps the bus.
    pub fn lasts(&self, frame: &Brought, fetched: u64) -> Dur {
        self.bus.serialise(frame.size) + self.miss * fetched
    }
}

/// How often something has to be fetched for each frame: the addresses of its pages, and the context of its connection. At first nothing is at hand.
pub fn fetched(host: &NicHost, frames: &[Brought]) -> Vec<u64> {
    let addresses = addresses(host, frames);
    let Some(places) = host.contexts else { return addresses };
    let connections = frames.iter().map(|frame| frame.connection);
    let missing = missing(connections, frames.len(), places);
    addresses.into_iter().zip(missing).map(|(reads, context)| reads + u64::from(context)).collect()
}

/// Of how many pages of each frame the address has to be fetched.
fn addresses(host: &NicHost, frames: &[Brought]) -> Vec<u64> {
    let (Some(mtt), Some(page), Some(region)) = (host.mtt, host.page, host.region) else {
        return vec![0; frames.len()];
    };
    let mut written: BTreeMap<u16, u64> = BTreeMap::new();
    let of = |frame: &Brought| {
        let from = written.entry(frame.connection).or_insert(0);
        let pages = pages(*from, frame.payload.0, page.0.max(1), region.0.max(1));
        *from += frame.payload.0;
        pages.into_iter().map(|page| (frame.connection, page)).collect()
    };
    let writes: Vec<Vec<(u16, u64)>> = frames.iter().map(of).collect();
    let all = writes.iter().map(Vec::len).sum();
    let mut missing = missing(writes.iter().flatten().copied(), all, mtt).into_iter();
    let of = |pages: &Vec<(u16, u64)>| {
        let fetched = missing.by_ref().take(pages.len()).filter(|missing| *missing).count();
        u64::try_from(fetched).unwrap_or(u64::MAX)
    };
    writes.iter().map(of).collect()
}

/// Which of `count` uses find nothing at hand, of as many things as have `places`.
fn missing<T: Ord>(uses: impl Iterator<Item = T>, count: usize, places: u32) -> Vec<bool> {
    let mut marks = Marks::of(count);
    let mut last: BTreeMap<T, usize> = BTreeMap::new();
    let is_missing = |(one, at): (T, usize)| {
        let since = last.get(&one).copied();
        let others = since.map(|since| last.len() - marks.up_to(since));
        if let Some(since) = since {
            marks.clear(since);
        }
        last.insert(one, at);
        marks.set(at);
        others.is_none_or(|others| u64::try_from(others).unwrap_or(u64::MAX) >= places.into())
    };
    uses.zip(1..).map(is_missing).collect()
}

/// Writes, from 1 on, of which some are marked: the last ones of their pages. A tree of sums (Fenwick, 1994), for there are many.
struct Marks(Vec<usize>);

impl Marks {
    fn of(count: usize) -> Marks {
        Marks(vec![0; count + 1])
    }

    fn set(&mut self, write: usize) {
        self.change(write, |sum| sum + 1);
    }

    fn clear(&mut self, write: usize) {
        self.change(write, |sum| sum - 1);
    }

    fn change(&mut self, write: usize, by: impl Fn(usize) -> usize) {
        let mut at = write;
        while let Some(sum) = self.0.get_mut(at).filter(|_| at > 0) {
            *sum = by(*sum);
            at += at & at.wrapping_neg();
        }
    }

    /// How many of the writes up to this one are.
    fn up_to(&self, write: usize) -> usize {
        let mut at = write;
        let mut all = 0;
        while at > 0 {
            all += self.0[at];
            at &= at - 1;
        }
        all
    }
}

/// The pages of its region in which `bytes` come to lie, of a connection that has brought `from` before.
fn pages(from: u64, bytes: u64, page: u64, region: u64) -> Vec<u64> {
    let mut pages = Vec::new();
    let (mut at, end) = (from, from + bytes);
    while at < end {
        let inside = at % region;
        pages.push(inside / page);
        // To the next page, or to the end of the region.
        at += (page - inside % page).min(region - inside);
    }
    pages
}

/// What the host takes in the long run of full frames of one size, from so many connections that each write their region over and over: all
/// that the bus does where the pages and the contexts of all of them are at hand, and a miss of `miss` a page less where the pages are not, each of which comes
/// too late; of connections that take turns frame by frame one a frame where there are more of them than pages or contexts at hand.
pub fn rate(
    host: &NicHost,
    (frame, payload): (Bytes, Bytes),
    connections: u64,
    miss: Dur,
) -> Option<L2Rate> {
    let bus = bus(host)?;
    let table = host.mtt.zip(host.page).zip(host.region);
    let page = table.filter(|((mtt, page), region)| {
        connections.saturating_mul(region.0.div_ceil(page.0.max(1))) > (*mtt).into()
    });
    let page = page.map(|((_, page), _)| page);
    let waits = host.contexts.is_some_and(|places| connections > places.into());
    if page.is_none() && !waits {
        return Some(bus);
    }
    // For a page of payload: the bytes of its frames, over what they take and a miss; where no page is missing for what one frame brings.
    let of = page.unwrap_or(payload);
    let bits = u128::from(of.0) * u128::from(frame.0) * 8 / u128::from(payload.0.max(1));
    let bytes = Bytes(u64::try_from(bits / 8).unwrap_or(u64::MAX));
    let of_each = miss * of.0 / payload.0.max(1);
    let address = match page {
        // None of the pages that are written is at hand by its next frame.
        Some(_) if connections > host.mtt.map_or(u64::MAX, u64::from) => of_each,
        Some(_) => miss,
        None => Dur::ZERO,
    };
    let contexts = if waits { of_each } else { Dur::ZERO };
    let time = bus.serialise(bytes) + address + contexts;
    let bps = bits * 1_000_000_000_000 / u128::from(time.0.max(1));
    Some(L2Rate { bps: u64::try_from(bps).unwrap_or(u64::MAX) })
}

/// From one XOFF to the next of a sender that stops for it at once: from XON the buffer fills by what `brings` is above `takes`, and
/// from XOFF it empties by all of `takes`. `None` where the host takes as much as comes.
pub fn period(brings: L2Rate, takes: L2Rate, between: Bytes) -> Option<Dur> {
    let fills = L2Rate { bps: brings.bps.checked_sub(takes.bps).filter(|more| *more > 0)? };
    (takes.bps > 0).then(|| fills.serialise(between) + takes.serialise(between))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::Within;

    const MISS: Dur = Dur::us(1);

    fn host() -> NicHost {
        NicHost {
            pcie: Some(L2Rate { bps: 8_000_000_000 }),
            loopback: None,
            mtt: Some(2),
            page: Some(Bytes(1_000)),
            mtt_miss: Some(Within::exactly(MISS)),
            region: Some(Bytes(2_500)),
            contexts: None,
        }
    }

    fn frame(us: u64, connection: u16, payload: u64) -> Brought {
        let at = Time::ZERO + Dur::us(us);
        Brought { at, connection, size: Bytes(payload), payload: Bytes(payload) }
    }

    fn taken(host: &NicHost, frames: &[Brought]) -> Vec<Time> {
        let host_takes = Taker::of(host, MISS).expect("a bus");
        let mut before = Time::ZERO;
        let take = |(frame, fetched)| {
            before = host_takes.takes(before, frame, fetched);
            before
        };
        frames.iter().zip(fetched(host, frames)).map(take).collect()
    }

    fn us(host: &NicHost, frames: &[Brought]) -> Vec<u64> {
        taken(host, frames).iter().map(|at| at.0 / 1_000_000).collect()
    }

    #[test]
    fn a_frame_waits_for_the_one_before_it_and_for_each_page_that_is_not_at_hand() {
        // A byte a nanosecond. The first two frames write page 0, the third pages 0 and 1, the fourth 1 and 2, of which 2 has half.
        let frames = [frame(0, 1, 500), frame(1, 1, 250), frame(2, 1, 500), frame(9, 1, 1_000)];
        let ns: Vec<u64> = taken(&host(), &frames).iter().map(|at| at.0 / 1_000).collect();
        assert_eq!(ns, [1_500, 1_750, 3_500, 11_000]);
        // Round again: page 2 to its end, then page 0, which two others came after.
        let again = [&frames[..], &[frame(20, 1, 500), frame(30, 1, 1)]].concat();
        assert_eq!(us(&host(), &again)[4..], [21, 30]);
    }

    #[test]
    fn pages_that_are_all_at_hand_are_fetched_once() {
        let small = NicHost { region: Some(Bytes(2_000)), ..host() };
        let frames: Vec<Brought> = (0..8).map(|at| frame(at * 10, 1, 1_000)).collect();
        assert_eq!(us(&small, &frames), [2, 12, 21, 31, 41, 51, 61, 71]);
        // Another connection has a region of its own: four pages for two places.
        let two: Vec<Brought> = (0..8).map(|at| frame(at * 10, (at % 2) as u16, 1_000)).collect();
        assert_eq!(us(&small, &two), [2, 12, 22, 32, 42, 52, 62, 72]);
    }

    #[test]
    fn what_is_taken_in_the_long_run_is_what_a_page_takes_with_its_miss() {
        let of = |host: &NicHost, connections| {
            rate(host, (Bytes(1_000), Bytes(1_000)), connections, MISS).unwrap().bps
        };
        // A page is 1 us on the bus and 1 us for its address; 2.5 pages are three.
        assert_eq!(of(&host(), 1), 4_000_000_000);
        let small = NicHost { region: Some(Bytes(2_000)), ..host() };
        assert_eq!((of(&small, 1), of(&small, 2)), (8_000_000_000, 4_000_000_000));
        let shared = NicHost { loopback: Some(L2Rate { bps: 6_000_000_000 }), ..small };
        assert_eq!(of(&shared, 1), 2_000_000_000);
        // The replay comes to the same: a page each 2 us.
        let frames: Vec<Brought> = (0..300).map(|_| frame(0, 1, 1_000)).collect();
        let whole = NicHost { region: Some(Bytes(3_000)), ..host() };
        assert_eq!(us(&whole, &frames)[299], 600);
    }

    #[test]
    fn a_pause_comes_each_time_the_buffer_has_filled_and_emptied() {
        let gbps = |bps: u64| L2Rate { bps: bps * 1_000_000_000 };
        // 1000 bytes at 2 Gb/s and at 8 Gb/s.
        assert_eq!(period(gbps(10), gbps(8), Bytes(1_000)), Some(Dur::us(5)));
        assert_eq!(period(gbps(8), gbps(8), Bytes(1_000)), None);
    }

    #[test]
    fn a_context_is_fetched_once_so_many_other_connections_came_between() {
        let host = NicHost { mtt: None, contexts: Some(2), ..host() };
        let of = |connections: &[u16]| {
            let frames: Vec<Brought> = connections.iter().map(|one| frame(0, *one, 500)).collect();
            fetched(&host, &frames)
        };
        assert_eq!(of(&[1, 2, 1, 2, 1]), [1, 1, 0, 0, 0]);
        assert_eq!(of(&[1, 2, 1, 3, 1, 2]), [1, 1, 0, 1, 0, 1]);
        // Of connections that take turns none is at hand that is one too many.
        assert_eq!(of(&[1, 2, 3, 1, 2, 3]), [1; 6]);
        // 1 us on the bus and 1 us for a context; with pages that are missing, too, a microsecond more.
        let rate = |host: &NicHost, connections| {
            rate(host, (Bytes(1_000), Bytes(1_000)), connections, MISS).unwrap().bps
        };
        assert_eq!((rate(&host, 2), rate(&host, 3)), (8_000_000_000, 4_000_000_000));
        let table = NicHost { mtt: Some(2), page: Some(Bytes(4_000)), ..host };
        assert_eq!((rate(&table, 2), rate(&table, 3)), (8_000_000_000, 32_000_000_000 / 12));
    }
}
