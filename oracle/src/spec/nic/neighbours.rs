//! What one queue pair of a NIC gets beside others that share its port, and the host at the other end, while it has something to send all the time
//! (Kong et al., NSDI'23: isolation as a matrix of attacker and victim).
//!
//! Queue pairs take turns packet by packet. So from one packet of a tenant to its next each neighbour sends one at most: a round takes no longer than one
//! packet of each on the wire, nor than the host takes for these, with each read over its bus that may be needed. A neighbour that waits, for an answer or until its
//! receiver is ready, sends nothing in its turn; what all of them leave of the port is the tenant's.

use super::slow_receiver::bus;
use rig_lab::NicHost;
use rig_units::{Bytes, Dur, L1_OVERHEAD, PortSpeed, Within};

/// A queue pair that sends, by its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbour {
    /// Packets of a message.
    pub packets: u64,
    /// Bytes of their frames, FCS counted.
    pub frames: Bytes,
    /// What of these goes to memory.
    pub payload: Bytes,
    /// Whether they go to the host that the tenant's go to.
    pub arrives: bool,
}

impl Neighbour {
    /// What a packet takes on the wire, in the mean of a message.
    fn slot(&self, speed: PortSpeed) -> Dur {
        let wire = Bytes(self.frames.0 + L1_OVERHEAD.0 * self.packets);
        self.of_each(speed.serialise(wire))
    }

    /// The part of a packet in what a message takes, rounded up.
    fn of_each(&self, all: Dur) -> Dur {
        Dur(all.0.div_ceil(self.packets.max(1)))
    }

    /// How many pages a packet touches, at most: one where it begins, and each that begins in it.
    fn pages(&self, page: u64) -> u64 {
        1 + (self.payload.0 / self.packets.max(1)).div_ceil(page)
    }

    /// How long reads over the bus take of which a packet may need some, where each takes `miss`. `is_warm`: a table in which all pages have their place
    /// has read them.
    fn reads(&self, table: &Table, miss: Dur, is_warm: bool) -> Dur {
        let context = if table.reads_contexts { miss } else { Dur::ZERO };
        let Some(Pages { page, region, fit, at_hand }) = table.pages else { return context };
        let addresses = if fit && is_warm {
            Dur::ZERO
        } else if !at_hand {
            miss * (1 + self.payload.0 / self.packets.max(1) / page)
        } else {
            // Each page once, as its region is gone through.
            let pages = u128::from(region.div_ceil(page));
            let all = u128::from(miss.0) * u128::from(self.payload.0) * pages;
            let all = all.div_ceil(u128::from(region));
            self.of_each(Dur(u64::try_from(all).unwrap_or(u64::MAX)))
        };
        context + addresses
    }
}

/// What a host's NIC has at hand, as the connections use it that bring something.
#[derive(Debug, Clone, Copy)]
struct Table {
    connections: u64,
    /// Whether each packet may need its connection's context read.
    reads_contexts: bool,
    pages: Option<Pages>,
}

/// Addresses of pages.
#[derive(Debug, Clone, Copy)]
struct Pages {
    page: u64,
    region: u64,
    /// Whether those of all connections have their place: each is read once, and never again.
    fit: bool,
    /// Whether those that a round touches have: one that is gone on with in the next is there still.
    at_hand: bool,
}

impl Table {
    fn of(host: &NicHost, arriving: &[&Neighbour]) -> Table {
        let connections = u64::try_from(arriving.len()).unwrap_or(u64::MAX);
        let reads_contexts = host.contexts.is_some_and(|places| connections > places.into());
        let table = host.mtt.zip(host.page).zip(host.region);
        let pages = table.map(|((mtt, page), region)| {
            let (page, region) = (page.0.max(1), region.0.max(1));
            let all = connections.saturating_mul(region.div_ceil(page));
            let touched: u64 = arriving.iter().map(|one| one.pages(page)).sum();
            let (fit, at_hand) = (all <= mtt.into(), touched <= mtt.into());
            Pages { page, region, fit, at_hand: fit || at_hand }
        });
        Table { connections, reads_contexts, pages }
    }

    /// How long it takes to read every page once, where all have their place.
    fn fills_in(&self, miss: Dur) -> Option<Dur> {
        let Pages { page, region, .. } = self.pages.filter(|pages| pages.fit)?;
        Some(Dur(miss.0.saturating_mul(self.connections.saturating_mul(region.div_ceil(page)))))
    }
}

/// From one packet of a tenant to its next, where each neighbour sends one between.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    /// What the tenant's packet takes on the wire, and all of them.
    own: Dur,
    wire: Dur,
    /// What the host takes for all of them, at least and at most; `None` where it takes all at once.
    takes: Option<(Dur, Dur)>,
    /// Where all pages have their place: how long it takes to read each once, what a round takes at most meanwhile, and what one page of each connection does.
    cold: Option<(Dur, Dur, Dur)>,
    /// How many rounds wait for the host, at most.
    waiting: u64,
    /// For how long the host may stand idle behind a pause, at most; and the port for one.
    idle: Dur,
    pause: Dur,
    /// From a word of the host until its sender obeys.
    heard: Dur,
    /// How long what had waited keeps the port from sending, at most.
    drain: Dur,
}

impl Round {
    /// Of a tenant and its neighbours, over a port of `speed` to `host`. From `xoff` and `xon` on their sender hears of it within `heard`. `None`: it is not
    /// declared when the NIC asks for a pause, or the bus is all in use.
    pub fn of(
        host: &NicHost,
        (tenant, others): (&Neighbour, &[Neighbour]),
        speed: PortSpeed,
        (thresholds, heard): (Option<(Bytes, Bytes)>, Dur),
    ) -> Option<Round> {
        let all = || core::iter::once(tenant).chain(others);
        let own = tenant.slot(speed);
        let wire: Dur = all().map(|one| one.slot(speed)).sum();
        let Some(bus) = bus(host) else {
            let (takes, cold, waiting, drain) = (None, None, 0, Dur::ZERO);
            let (idle, pause) = (Dur::ZERO, Dur::ZERO);
            return Some(Round { own, wire, takes, cold, waiting, idle, pause, heard, drain });
        };
        let (xoff, xon) = thresholds?;
        let arriving: Vec<&Neighbour> = all().filter(|one| one.arrives).collect();
        let table = Table::of(host, &arriving);
        let of = |miss: Dur, is_warm: bool| {
            let each = |one: &&Neighbour| {
                one.of_each(bus.serialise(one.frames)) + one.reads(&table, miss, is_warm)
            };
            arriving.iter().map(each).sum::<Dur>()
        };
        let miss = host.mtt_miss.unwrap_or(Within::ZERO);
        let takes = || (of(miss.least(), true), of(miss.most(), true));
        let (least, most) = (bus.bps > 0).then(takes)?;
        let of_each = miss.most() * table.connections;
        let cold = table.fills_in(miss.most()).map(|all| (all, of(miss.most(), false), of_each));
        let slowest = cold.map_or(most, |(_, most, _)| most);
        let bytes: u64 = arriving.iter().map(|one| one.frames.0 / one.packets.max(1)).sum();
        let overshoot = heard.div_ceil(wire) + 1;
        let waiting = xoff.0.div_ceil(bytes.max(1)) + overshoot;
        // XON is said while so much still waits.
        let idle = heard.saturating_sub(least * (xon.0 / bytes.max(1)));
        let drained = xoff.0.saturating_sub(xon.0).div_ceil(bytes.max(1)) + overshoot;
        // What is read at once may stand at any place of what waits.
        let pause = slowest * drained + of_each + heard;
        let drain = slowest * waiting + heard;
        let takes = Some((least, most));
        Some(Round { own, wire, takes, cold, waiting, idle, pause, heard, drain })
    }

    /// How many packets of the tenant pass in a stretch, at least: with so many pauses that its host asks for, which last so long together, and what goes
    /// ahead of data taking `answers`.
    pub fn passes(&self, stretch: Dur, answers: Dur, (pauses, paused): (u64, Dur)) -> u64 {
        // A host that is faster than the port in the mean may be slower for a while; what it paused meanwhile nobody makes up for.
        let held = match self.is_by_host() {
            true => Dur::ZERO,
            false => (paused + self.heard * pauses).min(self.pause * pauses),
        };
        let sent = stretch.saturating_sub(self.drain + answers + held);
        let on_wire = sent.0 / self.wire.0.max(1);
        let taken = self.takes.map_or(u64::MAX, |(_, most)| {
            let busy = stretch.saturating_sub(self.idle * pauses);
            let rounds = |less: Dur, most: Dur| {
                (busy.saturating_sub(less).0 / most.0.max(1)).saturating_sub(self.waiting)
            };
            self.cold.map_or(rounds(Dur::ZERO, most), |(all, meanwhile, of_each)| {
                rounds(all, most).max(rounds(of_each, meanwhile))
            })
        });
        // A round is under way as it begins, and as it ends.
        on_wire.min(taken).saturating_sub(2)
    }

    /// The same by what all others took of the port, whatever their turns: the rest is the tenant's. Where its host is declared as slow that takes what it takes.
    pub fn left(&self, stretch: Dur, others: Dur) -> u64 {
        match self.takes {
            Some(_) => 0,
            None => (stretch.saturating_sub(others + self.wire * 2).0 / self.own.0.max(1))
                .saturating_sub(2),
        }
    }

    /// How many it sends if nobody is beside it and its host takes all, at most.
    pub fn alone(&self, stretch: Dur) -> u64 {
        stretch.0 / self.own.0.max(1) + 2
    }

    /// What a round takes, by what is declared, at most.
    pub fn lasts(&self) -> Dur {
        self.takes.map_or(self.wire, |(_, most)| most.max(self.wire))
    }

    /// Whether it is the host at the other end that it goes by.
    pub fn is_by_host(&self) -> bool {
        self.takes.is_some_and(|(_, most)| most > self.wire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::L2Rate;

    /// A byte a nanosecond of a port at 10 Gb/s is less than what it brings.
    const PORT: PortSpeed = PortSpeed::G10;

    fn packet(bytes: u64) -> Neighbour {
        Neighbour { packets: 1, frames: Bytes(bytes), payload: Bytes(bytes), arrives: true }
    }

    fn round(host: &NicHost, tenant: &Neighbour, others: &[Neighbour]) -> Round {
        let thresholds = (Some((Bytes(4_000), Bytes(2_000))), Dur::us(1));
        Round::of(host, (tenant, others), PORT, thresholds).expect("it is declared")
    }

    #[test]
    fn a_round_is_a_packet_of_each() {
        // 1000 B on the wire of 0.8 ns, and 250 B of each of two others.
        let of = round(&NicHost::default(), &packet(980), &[packet(230), packet(230)]);
        assert_eq!((of.own, of.wire), (Dur::ns(800), Dur::ns(1_200)));
        assert_eq!(of.passes(Dur::us(1_200), Dur::ZERO, (0, Dur::ZERO)), 998);
        assert_eq!(of.passes(Dur::us(1_200), Dur::us(600), (0, Dur::ZERO)), 498);
        // They took a tenth of the time: nine tenths are left, and a round at either end.
        assert_eq!(of.left(Dur::us(1_000), Dur(97_600_000)), 1_123);
        assert_eq!((of.alone(Dur::us(800)), of.is_by_host()), (1_002, false));
    }

    #[test]
    fn packets_of_a_message_count_in_the_mean() {
        let message = Neighbour { packets: 4, frames: Bytes(3_920), ..packet(0) };
        assert_eq!(round(&NicHost::default(), &message, &[]).own, Dur::ns(800));
    }

    fn host() -> NicHost {
        NicHost {
            pcie: Some(L2Rate { bps: 8_000_000_000 }),
            mtt_miss: Some(Within::exactly(Dur::us(1))),
            ..NicHost::default()
        }
    }

    #[test]
    fn who_brings_a_connection_too_many_costs_the_tenant_a_read_of_each() {
        let contexts = NicHost { contexts: Some(2), ..host() };
        let of = |others: &[Neighbour]| round(&contexts, &packet(1_000), others);
        assert_eq!(of(&[packet(1_000)]).takes, Some((Dur::us(2), Dur::us(2))));
        let three = of(&[packet(1_000), packet(1_000)]);
        assert_eq!(three.takes, Some((Dur::us(6), Dur::us(6))));
        // Two rounds wait, one comes meanwhile, one more, and one at either end.
        assert_eq!(three.passes(Dur::ms(6), Dur::ZERO, (0, Dur::ZERO)), 1_000 - 4 - 2);
        assert!(three.is_by_host() && three.left(Dur::ms(6), Dur::ZERO) == 0);
        // Whoever sends elsewhere takes the wire alone.
        let elsewhere = Neighbour { arrives: false, ..packet(1_000) };
        assert_eq!(of(&[packet(1_000), elsewhere]).takes, Some((Dur::us(2), Dur::us(2))));
    }

    #[test]
    fn pages_cost_a_read_each_once_those_of_all_are_too_many() {
        let table = NicHost {
            mtt: Some(4),
            page: Some(Bytes(4_000)),
            region: Some(Bytes(8_000)),
            ..host()
        };
        let of = |others: &[Neighbour]| round(&table, &packet(1_000), others).takes.unwrap().0;
        assert_eq!(of(&[packet(1_000)]), Dur::us(2));
        // A packet may touch two pages: three connections need six at once, and each packet reads one.
        assert_eq!(of(&[packet(1_000); 2]), Dur::us(6));
        let eight = NicHost { mtt: Some(8), ..table };
        let of = |others: &[Neighbour]| round(&eight, &packet(1_000), others);
        // Five times two pages do not fit, and what four touch does not stay: but of three all stays.
        assert_eq!(of(&[packet(1_000); 4]).takes.unwrap().0, Dur::us(10));
        let three = of(&[packet(1_000); 2]);
        assert_eq!(three.takes.unwrap().0, Dur::us(3));
        // Until each of six pages was read a round takes a quarter of a read for each packet beside.
        assert_eq!(three.cold, Some((Dur::us(6), Dur::ns(3_750), Dur::us(3))));
        let warm = three.passes(Dur::us(3_000), Dur::ZERO, (0, Dur::ZERO));
        assert_eq!(warm, (3_000 - 6) / 3 - three.waiting - 2);
        let wide = NicHost { region: Some(Bytes(16_000)), mtt: Some(7), ..table };
        let two = round(&wide, &packet(1_000), &[packet(1_000)]).takes.unwrap().0;
        assert_eq!(two, Dur::ns(2_500), "eight pages do not fit, and the four of a round stay");
    }
}
