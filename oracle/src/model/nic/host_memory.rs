//! The way from a NIC into the memory of its host: a bus, a table of the addresses of pages that are at hand, and the contexts of connections that are.

use crate::model::chance::{self, Draws};
use rig_lab::{NicHost, NicPfcFaults};
use rig_units::{Bytes, Dur, L2Rate, Time, Within};
use std::collections::BTreeMap;

/// A page of what is registered for a connection.
type Page = (u16, u64);

/// The memory behind a bus.
#[derive(Debug, Clone)]
pub(super) struct HostMemory {
    bus: L2Rate,
    table: Option<Table>,
    contexts: Option<Contexts>,
    miss: Within,
    draws: Draws,
    /// Until when the bus is busy.
    busy: Time,
}

/// The memory translation table: pages whose addresses are at hand.
#[derive(Debug, Clone)]
struct Table {
    /// None of one that forgets.
    places: usize,
    page: u64,
    region: u64,
    /// Where in its region each connection writes next.
    cursors: BTreeMap<u16, u64>,
    /// When each page at hand was written last, and the pages in that order.
    at_hand: AtHand<Page>,
}

/// Contexts of connections, of which so many are at hand.
#[derive(Debug, Clone)]
struct Contexts {
    /// None of one that forgets.
    places: usize,
    /// Whether one that makes room is written back first.
    writes_back: bool,
    at_hand: AtHand<u16>,
}

/// When each thing at hand was used last, and the things in that order.
#[derive(Debug, Clone)]
struct AtHand<T> {
    used: BTreeMap<T, u64>,
    order: BTreeMap<u64, T>,
    uses: u64,
}

impl<T: Ord + Copy> AtHand<T> {
    const fn new() -> AtHand<T> {
        AtHand { used: BTreeMap::new(), order: BTreeMap::new(), uses: 0 }
    }

    /// Uses one: whether it was at hand. It is now, in the place of the one used least lately where none of `places` is free.
    fn finds(&mut self, one: T, places: usize) -> bool {
        self.uses += 1;
        let before = self.used.insert(one, self.uses);
        if let Some(before) = before {
            self.order.remove(&before);
        } else if self.used.len() > places
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.used.remove(&oldest);
        }
        self.order.insert(self.uses, one);
        before.is_some()
    }
}

impl HostMemory {
    /// Nothing at hand; `None` where the host takes all at once. How long each read takes, `seed` says.
    pub(super) fn of(host: &NicHost, seed: u64, faults: &NicPfcFaults) -> Option<HostMemory> {
        let crossings = if faults.nic_loopback_doubled { 2 } else { 1 };
        let taken = host.loopback.map_or(0, |rate| rate.bps).saturating_mul(crossings);
        let kept = |places: u32, forgets: bool| match forgets {
            true => 0,
            false => usize::try_from(places).unwrap_or(usize::MAX),
        };
        let whole = host.pcie?.bps;
        // What crosses it more often than is declared leaves something of the bus all the same.
        let most = if faults.nic_loopback_doubled { whole - whole / 1_000 } else { whole };
        let bus = L2Rate { bps: whole - taken.min(most) };
        let (mtt, page) =
            (host.mtt.filter(|places| *places > 0), host.page.filter(|page| page.0 > 0));
        let table = mtt.zip(page).map(|(places, page)| Table {
            places: kept(places, faults.nic_pages_forgotten),
            page: page.0,
            region: host.region.map_or(page.0, |region| region.0.max(1)),
            cursors: BTreeMap::new(),
            at_hand: AtHand::new(),
        });
        let contexts = host.contexts.map(|places| Contexts {
            places: kept(places, faults.nic_contexts_forgotten),
            writes_back: faults.nic_contexts_written_back,
            at_hand: AtHand::new(),
        });
        let miss = host.mtt_miss.unwrap_or(Within::ZERO);
        let draws = Draws::new(chance::stream(seed, *b"hostread"));
        Some(HostMemory { bus, table, contexts, miss, draws, busy: Time::ZERO })
    }

    /// Takes a frame of `size` that is here at `now`, of which `payload` is for the memory of `connection`: when all of it is there.
    pub(super) fn takes(
        &mut self,
        now: Time,
        connection: u16,
        size: Bytes,
        payload: Bytes,
    ) -> Time {
        let mut reads = self.table.as_mut().map_or(0, |table| table.write(connection, payload.0));
        if let Some(Contexts { places, writes_back, at_hand }) = &mut self.contexts {
            let is_full = at_hand.used.len() >= *places;
            let found = *places > 0 && at_hand.finds(connection, *places);
            reads += u64::from(!found) + u64::from(!found && is_full && *writes_back);
        }
        let reading: Dur = (0..reads).map(|_| self.draws.next(self.miss)).sum();
        self.busy = self.busy.max(now) + self.bus.serialise(size) + reading;
        self.busy
    }
}

impl Table {
    /// Of how many pages the address is not at hand for `bytes` more.
    fn write(&mut self, connection: u16, mut bytes: u64) -> u64 {
        let mut cursor = self.cursors.get(&connection).copied().unwrap_or(0);
        let mut reads = 0;
        while bytes > 0 {
            let page = cursor / self.page;
            let end = ((page + 1) * self.page).min(self.region);
            let here = bytes.min(end - cursor);
            let found = self.places > 0 && self.at_hand.finds((connection, page), self.places);
            reads += u64::from(!found);
            bytes -= here;
            cursor = if end == self.region && cursor + here == end { 0 } else { cursor + here };
        }
        self.cursors.insert(connection, cursor);
        reads
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: NicHost = NicHost {
        pcie: Some(L2Rate { bps: 8_000_000_000 }),
        loopback: None,
        mtt: Some(2),
        page: Some(Bytes(1_000)),
        mtt_miss: Some(Within::exactly(Dur(1_000_000))),
        region: Some(Bytes(2_500)),
        contexts: None,
    };

    /// When frames of these bytes for these connections are taken, all of which are there at the beginning, in nanoseconds.
    fn taken(host: &NicHost, frames: &[(u16, u64)]) -> Vec<u64> {
        let mut memory = HostMemory::of(host, 7, &NicPfcFaults::NONE).expect("a bus");
        let take = |&(connection, bytes): &(u16, u64)| {
            memory.takes(Time::ZERO, connection, Bytes(bytes), Bytes(bytes)).0 / 1_000
        };
        frames.iter().map(take).collect()
    }

    #[test]
    fn a_page_that_is_not_at_hand_holds_the_bus() {
        // Pages 0; 0; 0 and 1; 1 and 2; 2 and 0 again, which was the oldest.
        let frames = [(1, 500), (1, 250), (1, 500), (1, 1_000), (1, 500), (1, 1)];
        assert_eq!(taken(&HOST, &frames), [1_500, 1_750, 3_250, 5_250, 6_750, 6_751]);
    }

    #[test]
    fn each_read_takes_another_time_of_those_that_are_declared() {
        let miss = Some(Within::between(Dur::ns(500), Dur::ns(1_500)));
        let host = NicHost { mtt_miss: miss, ..HOST };
        // Ten whole pages, a byte a nanosecond, each read anew.
        let frames: Vec<(u16, u64)> = (0..10).map(|connection| (connection, 1_000)).collect();
        let taken = taken(&host, &frames);
        let reads: Vec<u64> = taken.windows(2).map(|two| two[1] - two[0] - 1_000).collect();
        assert!(reads.iter().all(|read| (500..=1_500).contains(read)), "{reads:?}");
        assert!(reads.windows(2).all(|two| two[0] != two[1]), "{reads:?}");
    }

    #[test]
    fn what_the_host_sends_to_itself_is_missing_on_the_bus() {
        let host = NicHost { loopback: Some(L2Rate { bps: 4_000_000_000 }), mtt: None, ..HOST };
        assert_eq!(taken(&host, &[(1, 500), (2, 500)]), [1_000, 2_000]);
        assert!(HostMemory::of(&NicHost::default(), 7, &NicPfcFaults::NONE).is_none());
    }

    #[test]
    fn a_context_that_is_not_at_hand_holds_the_bus_and_one_that_is_never_kept_always() {
        let host = NicHost { contexts: Some(2), mtt: None, ..HOST };
        let frames = [(1, 500), (2, 500), (1, 500), (3, 500), (1, 500), (2, 500)];
        assert_eq!(taken(&host, &frames), [1_500, 3_000, 3_500, 5_000, 5_500, 7_000]);
        let forgets = NicPfcFaults { nic_contexts_forgotten: true, ..NicPfcFaults::NONE };
        let mut forgets = HostMemory::of(&host, 7, &forgets).expect("a bus");
        let take = |_| forgets.takes(Time::ZERO, 1, Bytes(500), Bytes(500)).0 / 1_000;
        assert_eq!([0, 1, 2].map(take), [1_500, 3_000, 4_500]);
    }

    #[test]
    fn a_bus_that_is_shared_worse_than_it_says_takes_longer() {
        let of = |host: &NicHost, faults: NicPfcFaults| {
            let mut memory = HostMemory::of(host, 7, &faults).expect("a bus");
            let mut take =
                |connection| memory.takes(Time::ZERO, connection, Bytes(500), Bytes(500)).0 / 1_000;
            [1, 2, 3, 1].map(&mut take)
        };
        let none = NicPfcFaults::NONE;
        let contexts = NicHost { contexts: Some(2), mtt: None, ..HOST };
        let written = NicPfcFaults { nic_contexts_written_back: true, ..none };
        assert_eq!(of(&contexts, none), [1_500, 3_000, 4_500, 6_000]);
        // The first two find room.
        assert_eq!(of(&contexts, written), [1_500, 3_000, 5_500, 8_000]);
        let pages = NicHost { mtt: Some(3), ..HOST };
        let forgotten = NicPfcFaults { nic_pages_forgotten: true, ..none };
        assert_eq!(of(&pages, none), [1_500, 3_000, 4_500, 5_000]);
        assert_eq!(of(&pages, forgotten), [1_500, 3_000, 4_500, 6_000]);
        let busy = NicHost { loopback: Some(L2Rate { bps: 2_000_000_000 }), mtt: None, ..HOST };
        let doubled = NicPfcFaults { nic_loopback_doubled: true, ..none };
        assert_eq!(of(&busy, none)[2], 2_000);
        assert_eq!(of(&busy, doubled)[2], 3_000);
        let busier = NicHost { loopback: Some(L2Rate { bps: 5_000_000_000 }), ..busy };
        assert!(of(&busier, doubled)[2] > of(&busier, none)[2]);
    }
}
