//! The closed forms against a walk that takes in frame by frame and reads each rule as it is written.

use super::*;
use proptest::prelude::*;
use rig_lab::Accounting;

/// One group, and all that others hold.
#[derive(Debug, Clone, Copy, Default)]
struct Group {
    used: u64,
    headroom: u64,
    crossed: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Within,
    Crossed,
    Lost,
}

fn shifted(bytes: u64, k: i8) -> u64 {
    if k < 0 { bytes >> -k } else { bytes << k }
}

/// A threshold that lies so far off.
fn moved(threshold: u64, off: i64) -> u64 {
    u64::try_from((i128::from(threshold) + i128::from(off)).max(0)).unwrap()
}

fn size_of(buffer: &Buffer, frame: u64) -> u64 {
    let bytes = frame + buffer.descriptor.0;
    if buffer.cell.0 < 2 {
        return bytes;
    }
    let mut cells = 0;
    while cells * buffer.cell.0 < bytes {
        cells += 1;
    }
    cells * buffer.cell.0
}

impl Group {
    fn share(&self, buffer: &Buffer) -> u64 {
        self.used.saturating_sub(buffer.reserved.0)
    }

    fn limit(&self, buffer: &Buffer, others: &Others) -> u64 {
        let left = buffer.pool.0.saturating_sub(others.pool + self.share(buffer));
        let limit = match (buffer.static_th, buffer.port_dynamic_th) {
            (Some(limit), _) => limit.0,
            (None, None) => shifted(left, buffer.dynamic_th),
            (None, Some(port)) => {
                let port = shifted(left, port).saturating_sub(others.port + self.share(buffer));
                shifted(port, buffer.dynamic_th)
            }
        };
        moved(limit, others.off.limit)
    }

    fn arrive(&mut self, buffer: &Buffer, size: u64, others: &Others) -> Fate {
        let after = Group { used: self.used + size, ..*self };
        let taken = after.share(buffer) - self.share(buffer);
        let left = buffer.pool.0.saturating_sub(others.pool + self.share(buffer));
        let fits = taken <= left;
        if fits && after.share(buffer) <= after.limit(buffer, others) {
            *self = after;
            return Fate::Within;
        }
        let first = !self.crossed;
        self.crossed = true;
        if fits && first && buffer.crossing == Crossing::Shared {
            self.used = after.used;
            return Fate::Crossed;
        }
        let pool = buffer.headroom_pool.map_or(u64::MAX, |pool| pool.0);
        let in_pool = others.headroom + self.headroom + size <= pool;
        if self.headroom + size > moved(buffer.xoff.0, others.off.headroom) || !in_pool {
            return Fate::Lost;
        }
        self.headroom += size;
        Fate::Crossed
    }

    /// Lets one frame go, headroom first.
    fn leave(&mut self, size: u64) {
        let spare = self.headroom.min(size);
        self.headroom -= spare;
        self.used -= size - spare;
    }

    fn resumes(&self, buffer: &Buffer, others: &Others) -> bool {
        let falling = self.limit(buffer, others).saturating_sub(buffer.xon_offset.0);
        self.headroom == 0 && self.share(buffer) <= moved(falling.max(buffer.xon.0), others.off.xon)
    }

    fn held(&self, buffer: &Buffer) -> Held {
        let shared = self.share(buffer);
        Held { reserved: self.used - shared, shared, headroom: self.headroom }
    }
}

prop_compose! {
    /// Buffers small enough to fill frame by frame.
    fn a_buffer()(
        pool in 0_u64..6_000,
        lossy_pool in 0_u64..6_000,
        cell in prop_oneof![Just(0_u64), Just(1), 2_u64..70],
        descriptor in 0_u64..20,
        reserved in prop_oneof![Just(0_u64), 0_u64..900],
        thresholds in (-4_i8..=5, prop::option::of(0_u64..4_000), prop::option::of(-4_i8..=5)),
        use_static in prop::bool::weighted(0.2),
        lossy in (-4_i8..=5, prop::option::weighted(0.3, 0_u64..4_000)),
        marks in (0_u64..800, 0_u64..800),
        xoff in 0_u64..1_500,
        headroom_pool in prop::option::of(0_u64..2_500),
        shared in any::<bool>(),
    ) -> Buffer {
        let (dynamic_th, static_th, port_dynamic_th) = thresholds;
        Buffer {
            pool: Bytes(pool),
            lossy_pool: Bytes(lossy_pool),
            cell: Bytes(cell),
            descriptor: Bytes(descriptor),
            reserved: Bytes(reserved),
            dynamic_th,
            static_th: static_th.filter(|_| use_static).map(Bytes),
            port_dynamic_th,
            lossy_dynamic_th: lossy.0,
            lossy_static_th: lossy.1.map(Bytes),
            xon: Bytes(marks.0),
            xon_offset: Bytes(marks.1),
            xoff: Bytes(xoff),
            headroom_pool: headroom_pool.map(Bytes),
            margin: None,
            accounting_delay: None,
            crossing: if shared { Crossing::Shared } else { Crossing::Headroom },
            accounting: Accounting::Ingress,
            ingress_memories: None,
            egress_memories: None,
        }
    }
}

prop_compose! {
    fn some_others()(
        pool in prop_oneof![Just(0_u64), 0_u64..6_500],
        of_port in 0_u64..=100,
        headroom in prop_oneof![Just(0_u64), 0_u64..2_600],
        off in prop_oneof![Just((0_i64, 0, 0)), (-700_i64..700, -700_i64..700, -700_i64..700)],
    ) -> Others {
        let off = Off { limit: off.0, xon: off.1, headroom: off.2, uncounted: 0 };
        Others { pool, port: pool * of_port / 100, headroom, off }
    }
}

proptest! {
    #[test]
    fn a_group_fills_as_a_walk_fills_it(
        buffer in a_buffer(), others in some_others(), frame in 1_u64..200,
    ) {
        let size = size_of(&buffer, frame);
        prop_assert_eq!(occupied(&buffer, Bytes(frame)), size);
        let (mut group, mut xoff, mut lost) = (Group::default(), None, None);
        for n in 1.. {
            let fate = group.arrive(&buffer, size, &others);
            if fate != Fate::Within {
                xoff = xoff.or(Some(n));
            }
            if fate == Fate::Lost {
                lost = lost.or(Some(n));
            }
            let held = group.held(&buffer);
            prop_assert_eq!(holds(&buffer, Bytes(frame), &others, n), held, "after {}", n);
            prop_assert_eq!(
                watermarks(&buffer, Bytes(frame), &others, n),
                (held.shared, held.headroom)
            );
            if lost.is_some_and(|lost| n > lost + 3) {
                break;
            }
        }
        prop_assert_eq!(Some(first_xoff(&buffer, Bytes(frame), &others)), xoff);
        prop_assert_eq!(Some(first_drop(&buffer, Bytes(frame), &others)), lost);
    }

    #[test]
    fn a_group_drains_as_a_walk_drains_it(
        buffer in a_buffer(), others in some_others(), frame in 1_u64..200, beyond in 0_u64..20,
    ) {
        let size = size_of(&buffer, frame);
        let n_xoff = first_xoff(&buffer, Bytes(frame), &others);
        prop_assert_eq!(xon_after(&buffer, Bytes(frame), &others, n_xoff - 1), None);
        let n = n_xoff + beyond;
        let mut group = Group::default();
        for _ in 0..n {
            group.arrive(&buffer, size, &others);
        }
        let mut left = 0;
        while !group.resumes(&buffer, &others) {
            group.leave(size);
            left += 1;
        }
        prop_assert_eq!(xon_after(&buffer, Bytes(frame), &others, n), Some(left));
    }

    #[test]
    fn groups_fill_together_as_a_walk_fills_them(
        buffer in a_buffer(), others in some_others(), frame in 1_u64..200,
        ports in prop::collection::vec(0_u8..3, 1..6), backwards in any::<bool>(),
    ) {
        let size = size_of(&buffer, frame);
        let count = ports.len();
        let mut all = vec![(Group::default(), 0_u64); count];
        'turns: loop {
            for place in 0..count {
                let place = if backwards { count - 1 - place } else { place };
                let rest = |same_port: bool| -> u64 {
                    (0..count)
                        .filter(|other| *other != place)
                        .filter(|other| !same_port || ports[*other] == ports[place])
                        .map(|other| all[other].0.share(&buffer))
                        .sum()
                };
                let (pool, port) = (others.pool + rest(false), others.port + rest(true));
                let others = Others { pool, port, ..others };
                let (group, had) = &mut all[place];
                *had += 1;
                if group.arrive(&buffer, size, &others) != Fate::Within {
                    break 'turns;
                }
            }
        }
        let had = all.iter().map(|(_, had)| *had);
        let seen = (had.clone().min().unwrap(), had.max().unwrap());
        let spread = GroupSpread::over(ports.iter());
        let (lo, hi) = together(&buffer, Bytes(frame), spread, &others);
        // Of ports that have as many groups each the turn is certain.
        if spread.fewest == spread.most {
            prop_assert_eq!(seen.1, hi);
        }
        // Where it does not matter who comes first the place is, too.
        if spread.most == 1 || spread.most == spread.groups || buffer.port_dynamic_th.is_none() {
            prop_assert_eq!((lo, hi), seen);
        }
        prop_assert!(lo <= seen.0 && seen.1 <= hi, "{seen:?} outside of {lo} to {hi}");
    }

    #[test]
    fn a_lossy_queue_fills_as_a_walk_fills_it(
        buffer in a_buffer(), frame in 1_u64..200,
        lossy_taken in 0_u64..7_000, pool_taken in 0_u64..7_000,
        off in prop_oneof![Just(0_i64), -700_i64..700],
    ) {
        let size = size_of(&buffer, frame);
        let mut used = 0;
        let lost = (1..).find(|_| {
            let room = buffer.pool.0.saturating_sub(pool_taken + used);
            used += size;
            let left = buffer.lossy_pool.0.saturating_sub(lossy_taken + used);
            let limit = match buffer.lossy_static_th {
                Some(limit) => limit.0,
                None => shifted(left, buffer.lossy_dynamic_th),
            };
            let fits = used <= buffer.lossy_pool.0.saturating_sub(lossy_taken);
            used > moved(limit, off) || !fits || size > room
        });
        let taken = (lossy_taken, pool_taken);
        let form = lossy_first_drop_off(&buffer, Bytes(frame), taken, off);
        if off == 0 {
            prop_assert_eq!(form, lossy_first_drop(&buffer, Bytes(frame), taken.0, taken.1));
        }
        prop_assert_eq!(Some(form), lost);
    }

    #[test]
    fn what_was_counted_gives_back_what_was_configured_and_no_byte_beyond(
        buffer in a_buffer(), others in some_others(), frame in 1_u64..200,
    ) {
        let (frame, others) = (Bytes(frame), others.with(Off::NONE));
        let n_xoff = first_xoff(&buffer, frame, &others);
        let n_drop = first_drop(&buffer, frame, &others);
        let at = |pool: u64| {
            first_xoff(&Buffer { pool: Bytes(pool), ..buffer.clone() }, frame, &others)
        };
        let pool = pool_from(&buffer, frame, &others, n_xoff).unwrap();
        prop_assert!(pool.lo <= buffer.pool.0 && buffer.pool.0 <= pool.hi, "{pool:?}");
        prop_assert_eq!(at(pool.lo), n_xoff);
        prop_assert_eq!(at(pool.hi), n_xoff);
        prop_assert!(pool.lo == 0 || at(pool.lo - 1) < n_xoff);
        prop_assert!(pool.hi == u64::MAX || at(pool.hi + 1) > n_xoff);

        let with = |headroom: u64| {
            let buffer = Buffer { xoff: Bytes(headroom), headroom_pool: None, ..buffer.clone() };
            first_drop(&buffer, frame, &others)
        };
        let headroom = headroom_from(&buffer, frame, &others, n_xoff, n_drop).unwrap();
        prop_assert_eq!(with(headroom.lo), n_drop);
        prop_assert_eq!(with(headroom.hi), n_drop);
        prop_assert!(headroom.lo == 0 || with(headroom.lo - 1) < n_drop);
        prop_assert_eq!(with(headroom.hi + 1), n_drop + 1);
        if buffer.headroom_pool.is_none() {
            prop_assert!(headroom.lo <= buffer.xoff.0 && buffer.xoff.0 <= headroom.hi);
        }
    }

    #[test]
    fn no_configuration_overflows(
        pool in any::<u64>(), reserved in any::<u64>(), k in any::<i8>(),
        port in prop::option::of(any::<i8>()), frame in any::<u64>(), taken in any::<u64>(),
        xoff in any::<u64>(), shared in any::<bool>(), groups in any::<u64>(), n in any::<u64>(),
    ) {
        let buffer = Buffer {
            pool: Bytes(pool),
            lossy_pool: Bytes(reserved),
            cell: Bytes(xoff),
            descriptor: Bytes(taken),
            reserved: Bytes(reserved),
            dynamic_th: k,
            static_th: None,
            port_dynamic_th: port,
            lossy_dynamic_th: k,
            lossy_static_th: None,
            xon: Bytes(xoff),
            xon_offset: Bytes(taken),
            xoff: Bytes(xoff),
            headroom_pool: Some(Bytes(taken)),
            margin: Some(u32::MAX),
            accounting_delay: None,
            crossing: if shared { Crossing::Shared } else { Crossing::Headroom },
            accounting: Accounting::Ingress,
            ingress_memories: None,
            egress_memories: None,
        };
        let (frame, others) = (Bytes(frame), Others { pool: taken, port: taken, headroom: taken, ..Others::ALONE });
        let n_xoff = first_xoff(&buffer, frame, &others);
        prop_assert!(n_xoff <= first_drop(&buffer, frame, &others));
        let held = holds(&buffer, frame, &others, n);
        prop_assert!(held.reserved <= reserved && held.headroom <= xoff);
        let after = others.and(held, true);
        prop_assert!(first_xoff(&buffer, frame, &after) <= n_xoff);
        let one = GroupSpread { groups, fewest: groups, most: groups };
        let (fewest, most) = together(&buffer, frame, one, &others);
        prop_assert!(fewest <= most && most <= n_xoff);
        xon_after(&buffer, frame, &others, n);
        lossy_first_drop(&buffer, frame, taken, taken);
        pool_from(&buffer, frame, &others, n_xoff);
        lone_limit(&buffer);
    }
}
