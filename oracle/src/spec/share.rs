//! How the queues of a port share it, and what a source or a queue loses by it (formulas F10 to F12).

use rig_capture::Span;
use rig_lab::{Scheduler, Scheduling};
use rig_units::{Bytes, Dur, L1_OVERHEAD, PortSpeed, Within};

/// What one queue has to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offer {
    /// The queue, 0 to 7.
    pub queue: usize,
    /// Size of its frames, FCS counted.
    pub frame: Bytes,
    /// Bits a second, in frames.
    pub bps: u64,
}

/// Fixed point for the level of the water: 2^40 steps to a bit a second and unit of weight.
const FINE: u128 = 1 << 40;

const PS_PER_S: u128 = 1_000_000_000_000;

/// The time that a shaped port takes for so many bytes of frames, all that was saved up spent; none where it is not shaped.
/// A rate within its margin lets them take that much less or more.
pub fn shaped(scheduler: &Scheduler, frames: Bytes) -> Within {
    let takes = |one: &Scheduler| one.pir.map_or(Dur::ZERO, |pir| pir.serialise(frames));
    Within::between(takes(&scheduler.fastest()), takes(&scheduler.slowest()))
}

/// F10: what each offer is granted, in bits a second in frames. Strict queues first, the highest number first; what they
/// leave is shared by the weighted ones as water fills vessels: a queue that wants less than its share gets what it
/// wants, the others share the rest in proportion to their weights, which count the bytes of frames.
///
/// Exact but for less than one bit a second a queue, which the spans hold. Offers of one queue share its grant in
/// proportion to what they offer. A queue that `scheduler` does not list counts as one of weight 1. No queue has less of a port that
/// keeps to a greater rate, so that what may be within the margin of a rate lies between its ends.
pub fn shares(speed: PortSpeed, scheduler: &Scheduler, offers: &[Offer]) -> Vec<Span> {
    at_both_ends(scheduler, |one| of_port(speed, one, offers))
}

/// What is granted at the slowest and at the fastest that a port may be, and all between.
fn at_both_ends(scheduler: &Scheduler, granted: impl Fn(&Scheduler) -> Vec<Span>) -> Vec<Span> {
    let (slow, fast) = (granted(&scheduler.slowest()), granted(&scheduler.fastest()));
    let hull = |(a, b): (Span, Span)| Span { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) };
    slow.into_iter().zip(fast).map(hull).collect()
}

/// [`shares`] of a port that keeps to its rate.
fn of_port(speed: PortSpeed, scheduler: &Scheduler, offers: &[Offer]) -> Vec<Span> {
    let queues: Vec<Queue> =
        (0..8).filter_map(|queue| Queue::of(queue, &scheduler.queues, offers)).collect();
    let mut grants = filled(u128::from(speed.bps()), &queues);
    if let Some(pir) = scheduler.pir.map(|pir| u128::from(pir.bps))
        && grants.iter().sum::<u128>() > pir * FINE
    {
        // The shaper is what holds the port back, and it counts frames alone.
        let frames: Vec<Queue> =
            queues.iter().map(|queue| Queue { offered_wire: queue.offered, ..*queue }).collect();
        grants = filled(pir, &frames);
    }
    offers.iter().map(|offer| part(offer, offers, grants[offer.queue])).collect()
}

/// The mean rate of each offer between two instants, both counted from when all of them began at a port that had been idle. A shaped port
/// sends `pbs` and `pir` times the time at most (a token bucket: RFC 2215, 4.2), and all that it is offered before: its shares are those of a
/// port without a shaper until what was saved up is gone, and [`shares`] from then on.
pub fn shares_between(
    speed: PortSpeed,
    scheduler: &Scheduler,
    offers: &[Offer],
    window: (Dur, Dur),
) -> Vec<Span> {
    at_both_ends(scheduler, |one| of_port_between(speed, one, offers, window))
}

/// [`shares_between`] of a port that keeps to its rate.
fn of_port_between(
    speed: PortSpeed,
    scheduler: &Scheduler,
    offers: &[Offer],
    (from, until): (Dur, Dur),
) -> Vec<Span> {
    let late = of_port(speed, scheduler, offers);
    let Some(pir) = scheduler.pir else { return late };
    let early = of_port(speed, &Scheduler { pir: None, ..scheduler.clone() }, offers);
    let rate: u128 = early.iter().map(|span| u128::from(span.middle())).sum();
    let Some(excess) = rate.checked_sub(pir.bps.into()).filter(|&excess| excess > 0) else {
        return late;
    };
    let saved = u128::from(scheduler.pbs.unwrap_or(Bytes(0)).0) * 8;
    let lasts = saved * PS_PER_S / excess;
    let before = |at: Dur| u128::from(at.0).min(lasts);
    let whole = u128::from((until - from).0.max(1));
    let unshaped = before(until) - before(from);
    let mean = |early: u64, late: u64| {
        let sum = u128::from(early) * unshaped + u128::from(late) * (whole - unshaped);
        u64::try_from(sum / whole).unwrap_or(u64::MAX)
    };
    let mean = |(early, late): (&Span, &Span)| Span {
        lo: mean(early.lo, late.lo),
        hi: mean(early.hi, late.hi) + 1,
    };
    early.iter().zip(&late).map(mean).collect()
}

/// What each of `queues` is granted of `capacity` bits a second of what it takes, times [`FINE`].
fn filled(capacity: u128, queues: &[Queue]) -> [u128; 8] {
    let mut left = capacity * FINE;
    let mut grants = [0; 8];
    for queue in queues.iter().rev().filter(|queue| queue.weight.is_none()) {
        let wire = queue.wire(queue.offered * FINE).min(left);
        left -= wire;
        grants[queue.number] = queue.frames_of(wire);
    }
    let mut thirsty: Vec<(&Queue, u128)> =
        queues.iter().filter_map(|queue| Some((queue, queue.weight?))).collect();
    while !thirsty.is_empty() {
        let per_level: u128 = thirsty.iter().map(|(queue, weight)| queue.wire(weight * FINE)).sum();
        let level = left * FINE / per_level.max(1);
        let (full, rest): (Vec<_>, Vec<_>) =
            thirsty.iter().partition(|(queue, weight)| queue.offered * FINE <= level * weight);
        for (queue, weight) in if full.is_empty() { &rest } else { &full } {
            let granted = (level * weight).min(queue.offered * FINE);
            grants[queue.number] = granted;
            left = left.saturating_sub(queue.wire(granted));
        }
        thirsty = if full.is_empty() { Vec::new() } else { rest };
    }
    grants
}

/// One queue with something to send.
#[derive(Debug, Clone, Copy)]
struct Queue {
    number: usize,
    /// `None`: strict.
    weight: Option<u128>,
    /// Bits a second in frames, all offers together.
    offered: u128,
    /// The same on the wire.
    offered_wire: u128,
}

impl Queue {
    fn of(number: usize, scheduler: &[Scheduling], offers: &[Offer]) -> Option<Queue> {
        let own = || offers.iter().filter(|offer| offer.queue == number && offer.bps > 0);
        let offered: u128 = own().map(|offer| u128::from(offer.bps)).sum();
        let wire = |offer: &Offer| {
            let frame = u128::from(offer.frame.0.max(1));
            u128::from(offer.bps) * (frame + u128::from(L1_OVERHEAD.0)) / frame
        };
        let weight = match scheduler.get(number) {
            Some(Scheduling::Strict) => None,
            Some(Scheduling::Dwrr(weight)) => Some(u128::from(*weight).max(1)),
            None => Some(1),
        };
        let offered_wire = own().map(wire).sum();
        (offered > 0).then_some(Queue { number, weight, offered, offered_wire })
    }

    /// What `frames` take on the wire.
    fn wire(&self, frames: u128) -> u128 {
        scaled(frames, self.offered_wire, self.offered)
    }

    /// The frames that fit into `wire`.
    fn frames_of(&self, wire: u128) -> u128 {
        scaled(wire, self.offered, self.offered_wire)
    }
}

/// `value * num / den` without overflow for values below 2^85 and factors of some terabits a second.
fn scaled(value: u128, num: u128, den: u128) -> u128 {
    let (whole, rest) = (value / den, value % den);
    whole * num + rest * num / den
}

/// An offer's part of what its queue was granted.
fn part(offer: &Offer, offers: &[Offer], granted: u128) -> Span {
    let own = |other: &&Offer| other.queue == offer.queue;
    let all: u128 = offers.iter().filter(own).map(|other| u128::from(other.bps)).sum();
    if all == 0 {
        return Span::exactly(0);
    }
    let bps = scaled(granted, u128::from(offer.bps), all) / FINE;
    let bps = u64::try_from(bps).unwrap_or(u64::MAX);
    // Rounded down at each step: at most one bit a second for each of the eight queues.
    Span { lo: bps.saturating_sub(8).min(offer.bps), hi: (bps + 8).min(offer.bps) }
}

/// F11: the share of time for which PFC holds a lossless source that offers more than it is granted, in millionths.
/// F12: the share of its frames that a lossy queue drops. Both are `1 - granted / offered`.
pub fn withheld(offered: u64, granted: u64) -> u64 {
    if offered == 0 {
        return 0;
    }
    let kept = u128::from(granted.min(offered)) * 1_000_000 / u128::from(offered);
    1_000_000 - u64::try_from(kept).unwrap_or(1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rig_units::Ppm;

    /// Frames whose overhead is exactly a fifth: 100 B take 120 B of wire.
    fn offer(queue: usize, gbps: u64) -> Offer {
        Offer { queue, frame: Bytes(100), bps: gbps * 1_000_000_000 }
    }

    fn weights(all: [u16; 8]) -> Scheduler {
        let how = |weight| if weight == 0 { Scheduling::Strict } else { Scheduling::Dwrr(weight) };
        Scheduler { queues: all.map(how).to_vec(), ..Scheduler::default() }
    }

    /// Grants in millions of bits a second.
    fn mbps(weights_of: [u16; 8], offers: &[Offer]) -> Vec<u64> {
        shares(PortSpeed::G100, &weights(weights_of), offers)
            .iter()
            .map(|span| (span.middle() + 500_000) / 1_000_000)
            .collect()
    }

    #[test]
    fn who_wants_less_than_the_share_gets_it_and_the_rest_is_shared_by_weight() {
        // 100 Gb/s of wire carry 83.333 Gb/s of such frames. Weights 1:1:2, offers 10, 60, 60: the first gets its 10,
        // the others share 73.333 as 1:2.
        let weights = [1, 1, 1, 1, 2, 1, 1, 1];
        let granted = mbps(weights, &[offer(2, 10), offer(3, 60), offer(4, 60)]);
        assert_eq!(granted, [10_000, 24_444, 48_889]);
    }

    #[test]
    fn all_is_granted_while_the_port_has_room() {
        assert_eq!(mbps([1; 8], &[offer(3, 30), offer(4, 50)]), [30_000, 50_000]);
    }

    #[test]
    fn a_strict_queue_takes_what_it_wants_and_the_higher_one_first() {
        let weights = [1, 1, 1, 1, 1, 1, 0, 0];
        let granted = mbps(weights, &[offer(3, 50), offer(6, 60), offer(7, 20)]);
        assert_eq!(granted, [3_333, 60_000, 20_000]);
        let granted = mbps(weights, &[offer(3, 50), offer(6, 80), offer(7, 20)]);
        assert_eq!(granted, [0, 63_333, 20_000]);
    }

    #[test]
    fn weights_count_bytes_of_frames_not_frames() {
        // Small frames waste more of the wire: 64 B take 84, 4096 B take 4116. Equal weights, equal bytes:
        // b (84/64 + 4116/4096) = b x 2.317383 = 100, so b = 43.15213 Gb/s each.
        let small = Offer { queue: 3, frame: Bytes(64), bps: 90_000_000_000 };
        let large = Offer { queue: 4, frame: Bytes(4_096), bps: 90_000_000_000 };
        let granted = mbps([1; 8], &[small, large]);
        assert_eq!(granted, [43_152, 43_152]);
    }

    fn shaped(gbps: u64, pbs: u64) -> Scheduler {
        let pir = Some(rig_units::L2Rate { bps: gbps * 1_000_000_000 });
        Scheduler { pir, pbs: Some(Bytes(pbs)), ..weights([1, 1, 1, 1, 2, 1, 1, 1]) }
    }

    fn rounded(spans: &[Span]) -> Vec<u64> {
        spans.iter().map(|span| (span.middle() + 500_000) / 1_000_000).collect()
    }

    #[test]
    fn a_shaped_port_shares_its_rate_in_bytes_of_frames() {
        // 30 Gb/s of frames, weights 1:2, whatever the frames' overhead.
        let offers = [offer(3, 60), offer(4, 60)];
        assert_eq!(rounded(&shares(PortSpeed::G100, &shaped(30, 0), &offers)), [10_000, 20_000]);
        // A rate above what the wire carries, 83.333 Gb/s, changes nothing.
        assert_eq!(rounded(&shares(PortSpeed::G100, &shaped(84, 0), &offers)), [27_778, 55_556]);
    }

    #[test]
    fn what_was_saved_up_is_sent_first_and_then_the_rate_is_kept() {
        // 50 Gb/s offered, 30 kept to: 20 Gb/s of excess use 2.5 MB up in 1 ms.
        let between = |from, until| {
            let window = (Dur::us(from), Dur::us(until));
            rounded(&shares_between(
                PortSpeed::G100,
                &shaped(30, 2_500_000),
                &[offer(3, 50)],
                window,
            ))
        };
        assert_eq!([between(0, 1_000), between(1_000, 3_000)], [[50_000], [30_000]]);
        assert_eq!([between(0, 2_000), between(500, 1_500)], [[40_000], [40_000]]);
    }

    #[test]
    fn a_rate_within_its_margin_grants_whatever_lies_between_its_ends() {
        let loose = Scheduler { pir_margin: Some(Ppm(100_000)), ..shaped(30, 2_500_000) };
        let ends = |spans: &[Span]| -> Vec<[u64; 2]> {
            let mbps = |bps: u64| (bps + 500_000) / 1_000_000;
            spans.iter().map(|span| [mbps(span.lo), mbps(span.hi)]).collect()
        };
        let offers = [offer(3, 60), offer(4, 60)];
        let granted = shares(PortSpeed::G100, &loose, &offers);
        assert_eq!(ends(&granted), [[9_000, 11_000], [18_000, 22_000]]);
        // 50 Gb/s offered: of 2 ms the saved 20 Mbit last 20/23 ms at 27 Gb/s, and 20/17 ms at 33 Gb/s.
        let window = (Dur::ZERO, Dur::ms(2));
        let granted = shares_between(PortSpeed::G100, &loose, &[offer(3, 50)], window);
        assert_eq!(ends(&granted), [[37_000, 43_000]]);
        // 10 % of 1 Gb/s either way: 1000 B in 8000 / 1.1 to 8000 / 0.9 ns, rounded up.
        let takes = super::shaped(
            &Scheduler { pir: Some(rig_units::L2Rate { bps: 1_000_000_000 }), ..loose },
            Bytes(1_000),
        );
        assert_eq!((takes.least(), takes.most()), (Dur(7_272_728), Dur(8_888_889)));
    }

    #[test]
    fn streams_of_one_queue_share_it_as_they_offer() {
        // Two at 60 % of the wire each, 50 Gb/s in frames: 83.333 in all, 41.667 each.
        assert_eq!(mbps([1; 8], &[offer(3, 50), offer(3, 50)]), [41_667, 41_667]);
        assert_eq!(mbps([1; 8], &[offer(3, 75), offer(3, 25)]), [62_500, 20_833]);
    }

    #[test]
    fn what_is_not_granted_is_paused_or_lost() {
        assert_eq!(withheld(50_000_000_000, 41_666_666_667), 166_667);
        assert_eq!(withheld(10, 10), 0);
        assert_eq!(withheld(10, 0), 1_000_000);
        assert_eq!(withheld(0, 0), 0);
    }

    proptest! {
        #[test]
        fn no_grant_exceeds_its_offer_and_the_port_is_full_or_all_are_content(
            offers in prop::collection::vec(
                (0_usize..8, 64_u64..9_216, 0_u64..150_000_000_000), 1..10),
            strict in prop::collection::vec(0_u16..6, 8),
        ) {
            let offers: Vec<Offer> = offers.into_iter()
                .map(|(queue, frame, bps)| Offer { queue, frame: Bytes(frame), bps }).collect();
            let weights = weights(strict.try_into().unwrap());
            let granted = shares(PortSpeed::G100, &weights, &offers);
            let wire: u128 = offers.iter().zip(&granted).map(|(offer, span)| {
                assert!(span.hi <= offer.bps);
                u128::from(span.middle()) * u128::from(offer.frame.0 + 20) / u128::from(offer.frame.0)
            }).sum();
            let capacity = 100_000_000_000;
            prop_assert!(wire <= capacity + 200, "{wire}");
            let content = offers.iter().zip(&granted).all(|(offer, span)| span.hi == offer.bps);
            prop_assert!(content || wire + 200 >= capacity, "{wire}");
        }
    }
}
