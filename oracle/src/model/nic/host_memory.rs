//! The way from a NIC into the memory of its host: a bus, and a table of the addresses of pages that are at hand.

use crate::model::chance::{self, Draws};
use rig_lab::NicHost;
use rig_units::{Bytes, Dur, L2Rate, Time, Within};
use std::collections::BTreeMap;

/// A page of what is registered for a connection.
type Page = (u16, u64);

/// The memory behind a bus.
#[derive(Debug, Clone)]
pub(super) struct HostMemory {
    bus: L2Rate,
    table: Option<Table>,
    /// Until when the bus is busy.
    busy: Time,
}

/// The memory translation table: pages whose addresses are at hand.
#[derive(Debug, Clone)]
struct Table {
    places: usize,
    page: u64,
    region: u64,
    miss: Within,
    draws: Draws,
    /// Where in its region each connection writes next.
    cursors: BTreeMap<u16, u64>,
    /// When each page at hand was written last, and the pages in that order.
    at_hand: BTreeMap<Page, u64>,
    order: BTreeMap<u64, Page>,
    writes: u64,
}

impl HostMemory {
    /// Nothing at hand; `None` where the host takes all at once. How long each read takes, `seed` says.
    pub(super) fn of(host: &NicHost, seed: u64) -> Option<HostMemory> {
        let taken = host.loopback.map_or(0, |rate| rate.bps);
        let bus = L2Rate { bps: host.pcie?.bps.saturating_sub(taken) };
        let (mtt, page) =
            (host.mtt.filter(|places| *places > 0), host.page.filter(|page| page.0 > 0));
        let table = mtt.zip(page).map(|(places, page)| Table {
            places: usize::try_from(places).unwrap_or(usize::MAX),
            page: page.0,
            region: host.region.map_or(page.0, |region| region.0.max(1)),
            miss: host.mtt_miss.unwrap_or(Within::ZERO),
            draws: Draws::new(chance::stream(seed, *b"hostread")),
            cursors: BTreeMap::new(),
            at_hand: BTreeMap::new(),
            order: BTreeMap::new(),
            writes: 0,
        });
        Some(HostMemory { bus, table, busy: Time::ZERO })
    }

    /// Takes a frame of `size` that is here at `now`, of which `payload` is for the memory of `connection`: when all of it is there.
    pub(super) fn takes(
        &mut self,
        now: Time,
        connection: u16,
        size: Bytes,
        payload: Bytes,
    ) -> Time {
        let fetching = match &mut self.table {
            Some(table) => table.write(connection, payload.0),
            None => Dur::ZERO,
        };
        self.busy = self.busy.max(now) + self.bus.serialise(size) + fetching;
        self.busy
    }
}

impl Table {
    /// How long it takes to fetch what is not at hand for `bytes` more.
    fn write(&mut self, connection: u16, mut bytes: u64) -> Dur {
        let mut cursor = self.cursors.get(&connection).copied().unwrap_or(0);
        let mut fetching = Dur::ZERO;
        while bytes > 0 {
            let page = cursor / self.page;
            let end = ((page + 1) * self.page).min(self.region);
            let here = bytes.min(end - cursor);
            if !self.finds((connection, page)) {
                fetching += self.draws.next(self.miss);
            }
            bytes -= here;
            cursor = if end == self.region && cursor + here == end { 0 } else { cursor + here };
        }
        self.cursors.insert(connection, cursor);
        fetching
    }

    /// Writes to a page: whether its address was at hand. It is now.
    fn finds(&mut self, page: Page) -> bool {
        self.writes += 1;
        let before = self.at_hand.insert(page, self.writes);
        if let Some(before) = before {
            self.order.remove(&before);
        } else if self.at_hand.len() > self.places
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.at_hand.remove(&oldest);
        }
        self.order.insert(self.writes, page);
        before.is_some()
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
    };

    /// When frames of these bytes for these connections are taken, all of which are there at the beginning, in nanoseconds.
    fn taken(host: &NicHost, frames: &[(u16, u64)]) -> Vec<u64> {
        let mut memory = HostMemory::of(host, 7).expect("a bus");
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
        assert!(HostMemory::of(&NicHost::default(), 7).is_none());
    }
}
