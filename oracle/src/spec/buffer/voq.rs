//! The same thresholds where they are those of virtual output queues: everything of one class that waits for one port counts
//! together. A source that comes second finds what the first has left of the queue's limit, and a headroom of its own; a
//! source with frames in several queues has a limit in each, and one headroom for all of them.
//!
//! With A the bytes that a queue holds, of a reserve R and a share S at most, its next source makes the device send XOFF with
//! frame floor((R + S - A) / occ) + 1, which is the first where the queue is over already. Frames are of one size.

use super::{Filling, Held, Others};
use rig_lab::Buffer;
use rig_units::Bytes;

/// What is there before the frames of one source come to one queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ahead {
    /// Bytes of the queue's reserve and of the pool that the queue holds, by whatever port they came.
    pub queued: u64,
    /// Bytes that the source's group has in its headroom, for whatever queue.
    pub headroom: u64,
}

/// The frame of this source that makes the device tell it to pause. [`Others`] are those outside the queue, and all headroom.
pub fn first_xoff(buffer: &Buffer, frame: Bytes, others: &Others, ahead: &Ahead) -> u64 {
    Filling::behind(buffer, frame, others, ahead).within.saturating_add(1)
}

/// The first frame of this source that is lost.
pub fn first_drop(buffer: &Buffer, frame: Bytes, others: &Others, ahead: &Ahead) -> u64 {
    let filling = Filling::behind(buffer, frame, others, ahead);
    filling.pooled.saturating_add(filling.spare).saturating_add(1)
}

/// What `n` frames of this source add.
pub fn holds(buffer: &Buffer, frame: Bytes, others: &Others, ahead: &Ahead, n: u64) -> Held {
    let filling = Filling::behind(buffer, frame, others, ahead);
    let (pooled, spare) = filling.split(n);
    let used = pooled.saturating_mul(filling.size);
    let free = buffer.reserved.0.saturating_sub(ahead.queued);
    let reserved = used.min(free);
    Held { reserved, shared: used - reserved, headroom: spare.saturating_mul(filling.size) }
}

/// How far the share of a source in the pool may rise above what it was when its last frame came, while a queue drains in
/// which other sources hold `ahead` bytes of the reserve and of the pool. A queue empties its headroom first, so that what
/// the frames ahead leave in the pool goes to what is in headroom; whose it becomes, no sheet states. It is no more than
/// either of the two.
pub fn risen_while_draining(own: &Held, ahead: u64) -> u64 {
    own.headroom.min(ahead)
}

/// The fewest and the most frames that any of `sources` has sent into one empty queue when the device sends the first XOFF,
/// the frame that makes it do so counted. They send in turn; who comes first in a turn is not known.
pub fn together(buffer: &Buffer, frame: Bytes, sources: u64, others: &Others) -> (u64, u64) {
    let sources = sources.max(1);
    let all = Filling::of(buffer, frame, others).within.saturating_add(1);
    (all / sources, all.div_ceil(sources))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rig_lab::{Accounting, Crossing};

    const ALONE: Others = Others::ALONE;

    /// Cells of 384 B, a quarter of what is left, 1 MB: as the cases of the catalogue ask for.
    fn deep(crossing: Crossing) -> Buffer {
        Buffer {
            cell: Bytes(384),
            xoff: Bytes(307_200),
            crossing,
            accounting: Accounting::Voq,
            ..Buffer::plain(1_000_000, -2)
        }
    }

    #[test]
    fn two_sources_share_a_limit_and_have_a_headroom_each() {
        // S = 1 000 000 / 5 = 200 000 B: 173 frames of 1 152 B (173.6). Headroom: 307 200 / 1 152 = 266.7.
        let (shared, headroom) = (deep(Crossing::Shared), deep(Crossing::Headroom));
        let frame = Bytes(1_024);
        let ahead = |frames: u64| Ahead { queued: frames * 1_152, headroom: 0 };
        assert_eq!(first_xoff(&shared, frame, &ALONE, &ahead(0)), 174);
        assert_eq!(first_xoff(&shared, frame, &ALONE, &ahead(100)), 74);
        assert_eq!(first_xoff(&shared, frame, &ALONE, &ahead(174)), 1);
        assert_eq!(first_drop(&shared, frame, &ALONE, &ahead(100)), 74 + 266 + 1);
        assert_eq!(first_drop(&headroom, frame, &ALONE, &ahead(100)), 74 + 266);
        // The queue is over: nothing goes to the pool any more.
        assert_eq!(first_drop(&shared, frame, &ALONE, &ahead(174)), 267);
        assert_eq!(first_drop(&headroom, frame, &ALONE, &ahead(173)), 267);
        assert_eq!(together(&shared, frame, 2, &ALONE), (87, 87));
        assert_eq!(together(&shared, frame, 3, &ALONE), (58, 58));
        assert_eq!(together(&shared, frame, 4, &ALONE), (43, 44));
    }

    #[test]
    fn a_headroom_that_another_queue_has_used_is_not_there() {
        let buffer = deep(Crossing::Headroom);
        let full = Ahead { queued: 0, headroom: 266 * 1_152 };
        let others = Others { pool: 173 * 1_152, headroom: 266 * 1_152, ..ALONE };
        // (1 000 000 - 199 296) / 5 = 160 140 B: 139 frames.
        assert_eq!(first_xoff(&buffer, Bytes(1_024), &others, &full), 140);
        assert_eq!(first_drop(&buffer, Bytes(1_024), &others, &full), 140);
    }

    #[test]
    fn a_draining_queue_gives_a_source_no_more_than_was_there_and_no_more_than_it_waits_with() {
        let own = |headroom| Held { reserved: 0, shared: 0, headroom };
        assert_eq!(risen_while_draining(&own(57_600), 4_608), 4_608);
        assert_eq!(risen_while_draining(&own(2_304), 4_608), 2_304);
        // Alone in its queue, or with nothing in headroom: exactly what it was.
        assert_eq!(risen_while_draining(&own(57_600), 0), 0);
        assert_eq!(risen_while_draining(&own(0), 4_608), 0);
    }

    /// A queue that is filled frame by frame, every rule as it is written.
    #[derive(Debug, Default)]
    struct Queue {
        used: u64,
        headroom: u64,
        own: [u64; 4],
    }

    impl Queue {
        /// Whether the frame is within, and whether it was taken in.
        fn arrive(
            &mut self,
            buffer: &Buffer,
            size: u64,
            others: &Others,
            from: usize,
        ) -> (bool, bool) {
            let share = |used: u64| used.saturating_sub(buffer.reserved.0);
            let limit = |used: u64| {
                let left = buffer.pool.0.saturating_sub(others.pool + share(used));
                match (buffer.static_th, buffer.dynamic_th) {
                    (Some(limit), _) => limit.0,
                    (None, k) if k < 0 => left >> -k,
                    (None, k) => left << k,
                }
            };
            let fits = others.pool + share(self.used + size) <= buffer.pool.0
                || share(self.used + size) == share(self.used);
            let within = fits && share(self.used + size) <= limit(self.used + size);
            let crosses = fits && self.headroom == 0 && share(self.used) <= limit(self.used);
            if within || (crosses && buffer.crossing == Crossing::Shared) {
                self.used += size;
                return (within, true);
            }
            let pool = buffer.headroom_pool.map_or(u64::MAX, |pool| pool.0);
            let fits = self.own[from] + size <= buffer.xoff.0
                && others.headroom + self.headroom + size <= pool;
            if fits {
                self.own[from] += size;
                self.headroom += size;
            }
            (false, fits)
        }
    }

    proptest! {
        #[test]
        fn sources_in_turn_fill_a_queue_as_a_walk_fills_it(
            pool in 0_u64..60_000, k in -4_i8..=4, reserved in 0_u64..2_000,
            static_th in prop::option::of(0_u64..20_000), size in 64_u64..2_000,
            xoff in 0_u64..9_000, headroom_pool in prop::option::of(0_u64..20_000),
            shared in any::<bool>(), taken in 0_u64..30_000,
            counts in prop::collection::vec(0_u64..80, 1..4),
        ) {
            let crossing = if shared { Crossing::Shared } else { Crossing::Headroom };
            let buffer = Buffer {
                pool: Bytes(pool), cell: Bytes(1), reserved: Bytes(reserved), dynamic_th: k,
                static_th: static_th.map(Bytes), xoff: Bytes(xoff),
                headroom_pool: headroom_pool.map(Bytes), ..deep(crossing)
            };
            let outside = Others { pool: taken, ..ALONE };
            let (mut queue, mut queued, mut headroom) = (Queue::default(), 0, 0);
            let mut pooled = 0;
            for (from, count) in counts.into_iter().enumerate() {
                let others = Others { headroom, ..outside };
                let ahead = Ahead { queued, headroom: 0 };
                let frame = Bytes(size);
                let (mut xoff, mut lost) = (None, None);
                for n in 1..=count {
                    let (within, taken) = queue.arrive(&buffer, size, &outside, from);
                    xoff = xoff.or((!within).then_some(n));
                    lost = lost.or((!taken).then_some(n));
                }
                let (first, drop) = (
                    first_xoff(&buffer, frame, &others, &ahead),
                    first_drop(&buffer, frame, &others, &ahead),
                );
                prop_assert_eq!(xoff, (first <= count).then_some(first));
                prop_assert_eq!(lost, (drop <= count).then_some(drop));
                let held = holds(&buffer, frame, &others, &ahead, count);
                queued += held.reserved + held.shared;
                headroom += held.headroom;
                pooled += held.shared;
                prop_assert_eq!(pooled, queued.saturating_sub(reserved));
                prop_assert_eq!((queued, headroom), (queue.used, queue.headroom));
            }
        }

        #[test]
        fn sources_together_fill_a_queue_as_a_walk_fills_it(
            pool in 0_u64..60_000, k in -4_i8..=4, size in 64_u64..2_000, sources in 1_usize..5,
        ) {
            let buffer = Buffer {
                pool: Bytes(pool), cell: Bytes(1), dynamic_th: k, ..deep(Crossing::Shared)
            };
            let (mut queue, mut had) = (Queue::default(), vec![0_u64; sources]);
            for n in 0.. {
                had[n % sources] += 1;
                if !queue.arrive(&buffer, size, &ALONE, 0).0 {
                    break;
                }
            }
            let walked = (*had.iter().min().unwrap(), *had.iter().max().unwrap());
            let form = together(&buffer, Bytes(size), u64::try_from(sources).unwrap(), &ALONE);
            prop_assert_eq!(form, walked);
        }
    }
}
