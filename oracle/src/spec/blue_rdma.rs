//! What NICs of blue-rdma owe each other, by which packets came: which bitmaps stand in each acknowledgement, and what is sent again for it.
//!
//! Said of sets of numbers, whatever order they came in; the rules are those of `docs/blue-rdma.md`. Numbers are counted so that they do not
//! begin again: a queue pair that was just made takes all below 0 for what has come.

use rig_lab::declared::BlueRdma;
use rig_units::{Dur, Time, Within};
use std::collections::BTreeSet;

/// What the rules are.
pub const SOURCE: &str = "docs/blue-rdma.md: the window, the driver";

/// Numbers in a window, and those in a stride of it.
pub const WINDOW: i64 = 128;
/// Numbers in a stride.
pub const STRIDE: i64 = 16;
/// Numbers before they begin again.
const SPACE: i64 = 1 << 24;

/// A number as it stands in a packet, nearest to another one.
pub fn near(psn: u32, other: i64) -> i64 {
    let ahead = (i64::from(psn) - other).rem_euclid(SPACE);
    other + if ahead < SPACE / 2 { ahead } else { ahead - SPACE }
}

/// A number as it stands in a packet.
pub fn psn(number: i64) -> u32 {
    u32::try_from(number.rem_euclid(SPACE)).unwrap_or(0)
}

/// An acknowledgement that hardware owes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owed {
    /// For which of the packets, in the order in which they came.
    pub for_packet: usize,
    /// The lowest number of the newest stride before, and now.
    pub around: [i64; 2],
    /// The bitmaps around them.
    pub bitmaps: [u128; 2],
}

/// What hardware owes for packets of these numbers, in the order in which they came: one for each that moves the window by all of it, or over
/// a number that has not come.
pub fn owed(numbers: &[i64]) -> Vec<Owed> {
    let mut come = BTreeSet::new();
    let mut newest = -STRIDE;
    let mut all = Vec::new();
    for (for_packet, &number) in numbers.iter().enumerate() {
        let stride = number.div_euclid(STRIDE) * STRIDE;
        let left = lowest(newest)..lowest(stride);
        let is_hole = |number: i64| number >= 0 && !come.contains(&number);
        let tells = stride > newest && (stride - newest >= WINDOW || left.clone().any(is_hole));
        let before = tells.then(|| bitmap(newest, &come));
        come.insert(number);
        if let Some(before) = before {
            let bitmaps = [before, bitmap(stride, &come)];
            all.push(Owed { for_packet, around: [newest, stride], bitmaps });
        }
        newest = newest.max(stride);
    }
    all
}

/// The lowest number of a window, by the lowest of its newest stride.
pub const fn lowest(newest: i64) -> i64 {
    newest - (WINDOW - STRIDE)
}

/// The bits of the window whose newest stride begins with `newest`, of the numbers that have come.
fn bitmap(newest: i64, come: &BTreeSet<i64>) -> u128 {
    let is_set = |at: &i64| {
        let number = lowest(newest) + at;
        number < 0 || come.contains(&number)
    };
    (0..WINDOW).filter(is_set).map(|at| 1 << at).sum()
}

/// The numbers that a window's bitmap says have come.
pub fn come(newest: i64, bits: u128) -> impl Iterator<Item = i64> {
    (0..WINDOW).filter(move |at| bits >> at & 1 == 1).map(move |at| lowest(newest) + at)
}

/// What the driver sends again of a range, where messages have so many packets, the first of them with `first`, and all before `base` are known to have
/// come: of each message that begins in the range, and neither ends before the one in which the last of those is, what the range has of it.
pub fn again(
    [low, high]: [i64; 2],
    (first, packets): (i64, i64),
    base: i64,
) -> impl Iterator<Item = i64> {
    let begins = move |number: i64| first + (number - first).div_euclid(packets) * packets;
    let kept = if base > first { begins(base - 1) } else { first };
    (low.max(kept)..high).filter(move |&number| begins(number) >= low)
}

/// How many packets are sent again each time that hardware tells of a loss, where messages begin with strides and are no longer than one: from the
/// first of its stride on what had left of the window before and of two strides more, when hardware told. It tells when the first packet of the last of them comes.
pub const AGAIN: [i64; 2] = [WINDOW + 1, WINDOW + STRIDE];

/// How often hardware tells of numbers that were lost, each once, in order, at least and at most. What is sent again for one brings all others that were lost
/// in that range, but for those of which it had told already: strides that left the window with a hole among the `ahead` numbers that left at most between
/// the packet for which it told and what was sent again.
pub fn told(lost: &[i64], ahead: i64) -> [usize; 2] {
    let stride = |number: i64| number.div_euclid(STRIDE) * STRIDE;
    let from = |number: i64| lost.partition_point(|&one| one < number);
    let (mut least, mut at) = (0, 0);
    while let Some(&first) = lost.get(at) {
        (least, at) = (least + 1, from(stride(first) + AGAIN[1]));
    }
    // From each that nothing has brought yet: it is told, and with it each hole of a stride close behind.
    let mut most = vec![0; lost.len() + 1];
    let close = (ahead - 1).max(0).div_euclid(STRIDE) * STRIDE;
    for (at, &first) in lost.iter().enumerate().rev() {
        let end = from(stride(first) + close + STRIDE);
        let (mut tells, mut last) = (0, i64::MIN);
        for &hole in &lost[at..end] {
            if stride(hole) > last {
                (tells, last) = (tells + 1, stride(hole));
                let reach = from(last + AGAIN[0])..=from(last + AGAIN[1]);
                let behind = most[reach].iter().copied().max().unwrap_or(0);
                most[at] = most[at].max(tells + behind);
            }
        }
    }
    [least, most[0]]
}

/// Most bytes of a message that one descriptor of the driver is for.
pub const CHUNK: u64 = 1 << 16;

/// Descriptors for so many bytes of a message, which begins where a chunk may begin.
pub const fn chunks(bytes: u64) -> u64 {
    bytes.div_ceil(CHUNK)
}

/// Of which packets that came marked hardware sends a CNP, or may, by when they came: one, and the next no sooner than `interval` after it. `sent`: whether
/// there was one, of a packet about which the width of the interval leaves a doubt.
pub fn notified(
    marked: &[Time],
    interval: Within,
    mut sent: impl FnMut(usize, Time) -> bool,
) -> Vec<usize> {
    let mut last: Option<Time> = None;
    let mut all = Vec::new();
    for (index, &at) in marked.iter().enumerate() {
        let since = last.map(|last| at.since(last).unwrap_or_default());
        let tells = match since {
            None => true,
            Some(since) if since >= interval.most() => true,
            Some(since) if since < interval.least() => false,
            Some(_) => sent(all.len(), at),
        };
        if tells {
            last = Some(at);
            all.push(index);
        }
    }
    all
}

/// Whether the driver may post a message with which so many packets, from the first that is not known to have come to its last, and so many messages
/// are outstanding.
pub fn fits(declared: &BlueRdma, packets: i64, messages: i64) -> bool {
    packets <= i64::from(declared.psn_window) && messages <= i64::from(declared.msn_window)
}

/// What the driver's timer lasts; `None` where it does not run out in a lifetime.
pub fn timeout(declared: &BlueRdma) -> Option<Within> {
    // 4.096 us x 2^41 are 104 days.
    let doubled = (declared.timeout <= 41).then(|| 1_u64 << declared.timeout)?;
    let least = Dur::ns(4_096).saturating_mul(doubled);
    Some(Within::between(least, least.saturating_add(declared.timeout_late)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_owed_when_its_stride_leaves_the_window() {
        let numbers: Vec<i64> = (0..129).filter(|number| *number != 5).collect();
        let want = Owed {
            for_packet: 127,
            around: [112, 128],
            bitmaps: [u128::MAX ^ (1 << 5), (u128::MAX >> 16) | (1 << 112)],
        };
        assert_eq!(owed(&numbers), [want]);
    }

    #[test]
    fn nothing_is_owed_for_what_comes_late_or_in_order() {
        let late: Vec<i64> = (0..5).chain(6..128).chain([5]).chain(128..400).collect();
        assert_eq!((owed(&late), owed(&(0..400).collect::<Vec<_>>())), (vec![], vec![]));
    }

    #[test]
    fn a_leap_over_the_window_is_owed_whatever_came() {
        let leap: Vec<i64> = (0..16).chain([128]).collect();
        assert_eq!(owed(&leap)[0].bitmaps, [u128::MAX, 1 << 112]);
        // A stride less, and the window keeps what it had.
        assert_eq!(owed(&(0..16).chain([112]).collect::<Vec<_>>()), []);
    }

    #[test]
    fn numbers_go_on_where_they_begin_again() {
        assert_eq!([near(0, -1), near(0xff_ffff, 3), near(5, 0x1ff_fff0)], [0, -1, 0x200_0005]);
        assert_eq!([psn(-1), psn(0x100_0005)], [0xff_ffff, 5]);
    }

    #[test]
    fn a_message_that_begins_before_the_range_is_left_out() {
        let all = |base| again([20, 50], (0, 16), base).collect::<Vec<_>>();
        assert_eq!(all(0), (32..50).collect::<Vec<_>>());
        // What is whole is forgotten, but for the last.
        assert_eq!(all(48), (32..50).collect::<Vec<_>>());
        assert_eq!(all(49), [48, 49]);
        assert_eq!(again([0, 40], (-3, 16), -3).collect::<Vec<_>>(), (13..40).collect::<Vec<_>>());
    }

    #[test]
    fn a_loss_is_told_once_and_those_close_behind_it_once_each_at_most() {
        // Far apart each has one of its own.
        assert_eq!(told(&[40, 1_000, 5_000], 20), [3, 3]);
        // 112 behind the first of its stride is among what is sent again, 144 is not, and between it depends on what had left.
        assert_eq!(
            [told(&[0, 128], 16), told(&[0, 129], 16), told(&[0, 144], 16)],
            [[1, 1], [1, 2], [2, 2]]
        );
        // One a stride behind is told as well, where so many leave before the first is brought.
        assert_eq!([told(&[0, 16], 16), told(&[0, 16], 17)], [[1, 1], [1, 2]]);
        // Two of one stride are one hole.
        assert_eq!([told(&[0, 15], 100), told(&[], 100)], [[1, 1], [0, 0]]);
    }

    #[test]
    fn a_descriptor_is_for_a_chunk() {
        assert_eq!([1, 65_536, 65_537, 1 << 20].map(chunks), [1, 1, 2, 16]);
    }

    #[test]
    fn a_cnp_follows_the_last_no_sooner_than_an_interval() {
        let at = |us: u64| Time::ZERO + Dur::us(us);
        let of = |interval| notified(&[at(0), at(5), at(10), at(11)], interval, |_, _| false);
        assert_eq!(of(Within::exactly(Dur::ZERO)), [0, 1, 2, 3]);
        assert_eq!(of(Within::exactly(Dur::us(10))), [0, 2]);
        assert_eq!(of(Within::exactly(Dur(10_000_001))), [0, 3]);
        // Where it may be either way, what was sent tells.
        assert_eq!(of(Within::between(Dur::us(9), Dur(10_000_001))), [0, 3]);
    }

    #[test]
    fn a_timer_doubles_with_each_step_until_nobody_waits_for_it() {
        let of = |timeout| {
            let late = Dur::us(1);
            let (hardware, driver) = (Dur::ns(500), Dur::us(5));
            let (cnp_interval, timeout_late) = (Dur::ZERO, late);
            let (retries, psn_window, msn_window) = (5, 1 << 23, 1 << 15);
            let declared = BlueRdma {
                hardware,
                driver,
                timeout,
                timeout_late,
                retries,
                cnp_interval,
                psn_window,
                msn_window,
            };
            self::timeout(&declared).map(|lasts| (lasts.least(), lasts.most()))
        };
        assert_eq!(of(1), Some((Dur::ns(8_192), Dur::ns(9_192))));
        assert_eq!(of(50), None);
    }
}
