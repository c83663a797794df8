//! What queue pairs of a NIC carry that have something to send all the time, each message a packet: how far apart they get, and how many packets of all of them
//! reach a host that takes them one by one.
//!
//! Who serves them in turns, packet by packet, is after any time at most one packet ahead with one of them; who lets each send a burst in its turn, at most a
//! burst. What passes is what the port brings, or what the host takes where that is less (`slow_receiver`): its bus, and a read for each context and
//! each page that is not at hand.

use super::slow_receiver::rate;
use rig_lab::{Limiting, NicHost, Rp};
use rig_units::{Bytes, Dur, PortSpeed, Within};

/// How many packets of `frame` two queue pairs may be apart.
pub fn apart(rp: &Rp, frame: Bytes) -> u64 {
    match rp.limiting {
        Limiting::Packet => 1,
        Limiting::Burst => rp.burst.0.div_ceil(frame.0.max(1)).max(1),
    }
}

/// The way of packets of one size into a host, once all that is at hand of it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Steady {
    /// From one packet to the next on the wire.
    slot: Dur,
    /// What the host takes for one, at least and at most; `None` where it takes all at once.
    takes: Option<(Dur, Dur)>,
    /// How many wait for the host, at most.
    waiting: u64,
    /// For how long the host may stand idle behind a pause, at most.
    idle: Dur,
    /// How long what had waited keeps the port from sending, at most.
    drain: Dur,
}

impl Steady {
    /// Of `sharing` queue pairs that take turns, with packets of `frame` of which `payload` is for memory, over a port of `speed`. From `xoff` and `xon` on the sender hears of
    /// it within `heard`. `None`: it is not declared when the NIC asks for a pause, or what the host's bus takes is all in use.
    pub fn of(
        host: &NicHost,
        (frame, payload): (Bytes, Bytes),
        sharing: u64,
        speed: PortSpeed,
        (thresholds, heard): (Option<(Bytes, Bytes)>, Dur),
    ) -> Option<Steady> {
        let slot = speed.slot(frame);
        if host.pcie.is_none() {
            let (takes, waiting, idle, drain) = (None, 0, Dur::ZERO, Dur::ZERO);
            return Some(Steady { slot, takes, waiting, idle, drain });
        }
        let (xoff, xon) = thresholds?;
        let miss = host.mtt_miss.unwrap_or(Within::ZERO);
        let of = |miss| {
            let takes = rate(host, (frame, payload), sharing, miss)?;
            (takes.bps > 0).then(|| takes.serialise(frame))
        };
        let (least, most) = (of(miss.least())?, of(miss.most())?);
        let waiting = xoff.0.div_ceil(frame.0.max(1)) + heard.div_ceil(slot) + 1;
        // XON is said while so many still wait.
        let idle = heard.saturating_sub(least * (xon.0 / frame.0.max(1)));
        Some(Steady {
            slot,
            takes: Some((least, most)),
            waiting,
            idle,
            drain: most * waiting + heard,
        })
    }

    /// How many pass in a stretch that lasts `stretch`, with so many pauses, at least and at most.
    pub fn passes(&self, stretch: Within, pauses: u64) -> (u64, u64) {
        let in_time = |stretch: Dur, each: Dur| stretch.0 / each.0.max(1);
        let brings = in_time(stretch.most(), self.slot) + 1;
        let least = in_time(stretch.least().saturating_sub(self.drain), self.slot);
        let Some((soonest, latest)) = self.takes else { return (least.saturating_sub(1), brings) };
        let busy = stretch.least().saturating_sub(self.idle * pauses);
        let taken = in_time(busy, latest).saturating_sub(self.waiting);
        let most = in_time(stretch.most(), soonest) + self.waiting + 1;
        (least.min(taken).saturating_sub(1), brings.min(most))
    }

    /// Whether the host takes less than the port brings, whatever each read takes.
    pub fn is_slow(&self) -> bool {
        self.takes.is_some_and(|(least, _)| least > self.slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::L2Rate;

    /// A byte a nanosecond, and a microsecond for each of more than four contexts.
    fn host() -> NicHost {
        NicHost {
            pcie: Some(L2Rate { bps: 8_000_000_000 }),
            mtt_miss: Some(Within::exactly(Dur::us(1))),
            contexts: Some(4),
            ..NicHost::default()
        }
    }

    fn steady(sharing: u64) -> Steady {
        let thresholds = (Some((Bytes(4_000), Bytes(2_000))), Dur::us(1));
        let of = |host: &NicHost| {
            Steady::of(host, (Bytes(1_000), Bytes(938)), sharing, PortSpeed::G10, thresholds)
        };
        of(&host()).expect("it is declared")
    }

    #[test]
    fn who_is_one_too_many_costs_each_packet_a_read() {
        let stretch = Within::exactly(Dur::us(1_000));
        // 1000 ns each, and seven may wait: four, two that come meanwhile and one more; of five connections 2000 ns.
        assert_eq!(steady(4).passes(stretch, 0), (992, 1_008));
        assert_eq!(steady(5).passes(stretch, 0), (492, 508));
        assert!(steady(4).is_slow());
        // 2000 B that still wait when XON is said keep the host busy until more come.
        assert_eq!(steady(4).passes(stretch, 100), (992, 1_008));
    }

    #[test]
    fn a_host_that_takes_all_leaves_it_to_the_port() {
        let none = NicHost::default();
        let of =
            Steady::of(&none, (Bytes(1_000), Bytes(938)), 9, PortSpeed::G10, (None, Dur::ZERO))
                .unwrap();
        // 1020 B of 0.8 ns.
        assert_eq!(of.passes(Within::exactly(Dur::us(816)), 0), (999, 1_001));
        assert!(!of.is_slow());
        // When a NIC asks for a pause has to be known of one whose host may be slow.
        assert_eq!(
            Steady::of(&host(), (Bytes(1_000), Bytes(938)), 9, PortSpeed::G10, (None, Dur::ZERO)),
            None
        );
    }

    #[test]
    fn who_sends_bursts_is_a_burst_ahead() {
        let rp = rig_lab::Nic::usual().rp;
        let of = |limiting| apart(&Rp { limiting, burst: Bytes(16_384), ..rp }, Bytes(1_102));
        assert_eq!([of(Limiting::Packet), of(Limiting::Burst)], [1, 15]);
    }
}
