//! What each traffic class is granted of a port that more is offered than it carries: strict classes first, what they leave in proportion to the
//! bandwidth of the others, as water fills vessels (enhanced transmission selection, IEEE 802.1Q clause 37).
//!
//! Rates are real numbers here; a span holds them, rounded outwards to a bit a second.

use rig_capture::Span;
use rig_units::L1_OVERHEAD;

/// Where the rule comes from, for reports.
pub const SOURCE: &str = "IEEE 802.1Q clause 37 (enhanced transmission selection); docs/nic.md";

/// One traffic class: how it is selected, and what it has to send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Class {
    /// Its bandwidth, in hundredths; `None` of a strict one.
    pub percent: Option<f64>,
    /// The most that it sends, in bits a second, whatever it counts: at the least where it makes up for no wait, and at the most.
    pub limit: Option<Span>,
    /// What it has to send, in bits a second of frames, at the least and at the most; nothing where it has nothing.
    pub offers: Span,
    /// Bytes of a frame on the average, FCS counted.
    pub frame: f64,
}

/// What of a frame a device counts, which the standard leaves to it: by this bandwidths and limits differ where frames do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// The frame with its FCS.
    Frame,
    /// Preamble and gap, too.
    Wire,
}

/// Whether something is taken at the least that it may be, or at the most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Least,
    Most,
}

/// What each class, from number 0 on, sends in the long run of a port of `port` bits a second on the wire, in bits a second of frames. A bandwidth may be
/// off by `precision` hundredths.
pub fn granted(port: Span, classes: &[Class], precision: f64) -> Vec<Span> {
    let of = |own: usize, end: End, counts: Counts| {
        let vessels: Vec<Vessel> = (classes.iter().enumerate())
            .map(|(number, class)| {
                // Whatever is more of another class is less of this one.
                let end = if number == own { end } else { end.other() };
                Vessel::of(class, (end, precision), counts)
            })
            .collect();
        let wire = filled(end.of(port), &vessels)[own];
        wire / classes[own].on_wire()
    };
    let span = |own: usize| {
        let both = |end: End| [Counts::Frame, Counts::Wire].map(|counts| of(own, end, counts));
        let least = both(End::Least).into_iter().fold(f64::INFINITY, f64::min);
        let most = both(End::Most).into_iter().fold(0.0, f64::max);
        Span { lo: whole(least.floor()), hi: whole(most.ceil()) }
    };
    (0..classes.len()).map(span).collect()
}

/// What each vessel holds of `port`: strict ones first, the highest number first.
fn filled(port: f64, vessels: &[Vessel]) -> Vec<f64> {
    let mut left = port;
    let mut held = vec![0.0; vessels.len()];
    for (number, vessel) in vessels.iter().enumerate().rev() {
        if vessel.weight.is_none() {
            held[number] = vessel.wants.min(left);
            left -= held[number];
        }
    }
    let mut open: Vec<(usize, f64)> = (vessels.iter().enumerate())
        .filter(|(_, vessel)| vessel.wants > 0.0)
        .filter_map(|(number, vessel)| Some((number, vessel.weight?)))
        .collect();
    while !open.is_empty() {
        let level = left / open.iter().map(|(_, weight)| weight).sum::<f64>();
        let (full, rest): (Vec<_>, Vec<_>) =
            open.iter().partition(|(number, weight)| vessels[*number].wants <= level * weight);
        if full.is_empty() {
            rest.iter().for_each(|&(number, weight): &(usize, f64)| held[number] = level * weight);
            break;
        }
        for (number, _) in full {
            held[number] = vessels[number].wants;
            left -= held[number];
        }
        open = rest;
    }
    held
}

/// A class as it takes of a port, all of it in bits a second on the wire.
#[derive(Debug, Clone, Copy)]
struct Vessel {
    /// `None`: strict.
    weight: Option<f64>,
    wants: f64,
}

impl Vessel {
    fn of(class: &Class, (end, precision): (End, f64), counts: Counts) -> Vessel {
        // What the device counts of a bit on the wire.
        let counted = match counts {
            Counts::Frame => class.on_wire(),
            Counts::Wire => 1.0,
        };
        let off = match end {
            End::Least => -precision,
            End::Most => precision,
        };
        let limit = class.limit.map_or(f64::INFINITY, |limit| end.of(limit) * counted);
        let offers = end.of(class.offers) * class.on_wire();
        Vessel {
            weight: class.percent.map(|percent| (percent + off).max(LEAST) * counted),
            wants: offers.min(limit),
        }
    }
}

/// The least that a class is taken to have that may have nothing by what is declared of it.
const LEAST: f64 = 0.1;

impl Class {
    /// Bits on the wire for each bit of its frames.
    fn on_wire(&self) -> f64 {
        (self.frame + real(L1_OVERHEAD.0)) / self.frame
    }
}

impl End {
    const fn other(self) -> End {
        match self {
            End::Least => End::Most,
            End::Most => End::Least,
        }
    }

    fn of(self, span: Span) -> f64 {
        match self {
            End::Least => real(span.lo),
            End::Most => real(span.hi),
        }
    }
}

/// How many bytes a class may be ahead or behind at an instant because the classes of a port are served in turns: in each the class of least bandwidth sends
/// a frame, or `turn` bytes where its frames are smaller, the others as much more as their bandwidth is, and any may have to wait for a frame that is under way.
pub fn in_turns(classes: &[Class], turn: f64) -> f64 {
    let sends = |class: &&Class| class.offers.hi > 0;
    let least = classes.iter().filter_map(|class| class.percent).fold(100.0, f64::min).max(LEAST);
    let longest = classes.iter().map(|class| class.frame).fold(0.0, f64::max);
    let of = |class: &Class| {
        let turns = class.percent.map_or(0.0, |percent| (percent / least).ceil());
        turns * longest.max(turn) + longest
    };
    match classes.iter().filter(sends).count() {
        0 | 1 => longest,
        _ => classes.iter().filter(sends).map(of).sum(),
    }
}

/// What a class sends that a limit of so many bits a second holds, at the least and at the most: `waits` picoseconds for its turn at each frame, of which
/// it need not make up for any.
pub fn limited(limit: u64, frame: f64, waits: f64) -> Span {
    let bits = frame * 8.0;
    let least = bits / (bits / real(limit) + waits / 1e12);
    Span { lo: whole(least.floor()), hi: limit }
}

#[expect(clippy::cast_precision_loss, reason = "rates and sizes are far below 2^53")]
fn real(value: u64) -> f64 {
    value as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped")]
fn whole(value: f64) -> u64 {
    value.max(0.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const GBPS: u64 = 1_000_000_000;

    /// Frames of 80 B, which take 100 B of the wire.
    fn class(percent: u8, offers: u64) -> Class {
        let percent = (percent > 0).then_some(f64::from(percent));
        Class { percent, limit: None, offers: Span::exactly(offers * GBPS), frame: 80.0 }
    }

    fn held(limit: u64, class: Class) -> Class {
        Class { limit: Some(Span::exactly(limit * GBPS)), ..class }
    }

    /// In Gb/s of frames; a port of 100 Gb/s carries 80.
    fn of(classes: &[Class]) -> Vec<(u64, u64)> {
        let spans = granted(Span::exactly(100 * GBPS), classes, 0.0);
        // To the nearest bit.
        spans.iter().map(|span| ((span.lo + 1) / GBPS, span.hi / GBPS)).collect()
    }

    #[test]
    fn classes_share_by_their_bandwidth_and_what_one_does_not_use_goes_to_the_others() {
        assert_eq!(of(&[class(30, 100), class(70, 100)]), [(24, 24), (56, 56)]);
        assert_eq!(of(&[class(100, 100)]), [(80, 80)]);
        // Of the 72 that 8 leave two fifths and three fifths.
        let under = [class(50, 8), class(20, 100), class(30, 100)];
        assert_eq!(of(&under), [(8, 8), (28, 28), (43, 43)]);
        assert_eq!(
            of(&[class(50, 0), class(20, 100), class(30, 100)]),
            [(0, 0), (32, 32), (48, 48)]
        );
        // Where the port is not full each gets what it offers.
        assert_eq!(of(&[class(50, 8), class(50, 16)]), [(8, 8), (16, 16)]);
    }

    #[test]
    fn strict_classes_go_first_the_highest_first_and_no_class_beyond_its_limit() {
        assert_eq!(of(&[class(100, 100), class(0, 100)]), [(0, 0), (80, 80)]);
        assert_eq!(of(&[class(0, 100), class(0, 48)]), [(32, 32), (48, 48)]);
        // A limit of 16: counted with preamble and gap 12.8.
        let top = held(16, class(0, 100));
        let [low, high] = of(&[class(100, 100), top])[..] else { panic!("two classes") };
        assert_eq!((low, high), ((64, 67), (12, 16)));
        assert_eq!(of(&[held(80, class(100, 100))])[0], (64, 80));
    }

    #[test]
    fn a_limit_need_not_make_up_for_what_its_class_waits() {
        assert_eq!(limited(GBPS, 1_000.0, 0.0), Span::exactly(GBPS));
        // 8 us at 1 Gb/s, and 2 us more.
        assert_eq!(limited(GBPS, 1_000.0, 2e6), Span { lo: 800_000_000, hi: GBPS });
        let of =
            |limit| granted(Span::exactly(100 * GBPS), &[Class { limit, ..class(100, 100) }], 0.0);
        // Counted with preamble and gap 0.64.
        let spans = of(Some(Span { lo: 800_000_000, hi: GBPS }));
        assert_eq!(spans, [Span { lo: 640_000_000, hi: GBPS }]);
    }

    #[test]
    fn frames_of_two_sizes_are_counted_with_and_without_what_is_around_them() {
        let small = class(50, 100);
        let large = Class { frame: 1_980.0, ..small };
        let [few, many] = of(&[small, large])[..] else { panic!("two classes") };
        // On the wire half and half: 40 and 49.5; in frames as much of both: 44.2.
        assert_eq!((few, many), ((40, 44), (44, 49)));
    }

    #[test]
    fn a_bandwidth_may_be_off_by_what_is_declared() {
        let [low, high] =
            granted(Span::exactly(100 * GBPS), &[class(30, 100), class(70, 100)], 10.0)[..]
        else {
            panic!("two classes")
        };
        // 20 : 80 and 40 : 60.
        assert_eq!([low.lo + 1, low.hi].map(|bps| bps / GBPS), [16, 32]);
        assert_eq!([high.lo + 1, high.hi].map(|bps| bps / GBPS), [48, 64]);
    }

    #[test]
    fn a_round_is_as_long_as_the_least_bandwidth_makes_it() {
        let alone = [class(30, 100), class(70, 0)];
        assert!((in_turns(&alone, 100.0) - 80.0).abs() < 1e-9);
        // One turn and three of 100 B, and a frame each.
        let both = [class(30, 100), class(70, 100)];
        assert!((in_turns(&both, 100.0) - 560.0).abs() < 1e-9);
        let strict = [class(100, 100), class(0, 100)];
        assert!((in_turns(&strict, 100.0) - 260.0).abs() < 1e-9);
    }

    proptest! {
        /// No more is carried than there is, nothing of it is left where somebody wants more, and nobody gets more than it offers.
        #[test]
        fn the_port_is_full_or_everybody_has_what_it_offers(
            all in prop::collection::vec((0_u8..=60, 0_u64..120), 1..=8),
        ) {
            let classes: Vec<Class> = all.iter().map(|&(percent, offers)| class(percent, offers)).collect();
            let spans = granted(Span::exactly(100 * GBPS), &classes, 0.0);
            let (least, most): (u64, u64) =
                spans.iter().fold((0, 0), |(least, most), span| (least + span.lo, most + span.hi));
            let offered: u64 = classes.iter().map(|class| class.offers.hi).sum();
            prop_assert!(least <= 80 * GBPS + 8 && most + 8 >= offered.min(80 * GBPS));
            for (span, class) in spans.iter().zip(&classes) {
                prop_assert!(span.hi <= class.offers.hi + 1);
            }
        }
    }
}
