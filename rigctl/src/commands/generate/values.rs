//! What the values of a stream by hand may be. Each refuses with what it would take.

use core::str::FromStr;
use rig_frames::ip::{Dscp, Ecn};
use rig_frames::roce::Qpn;
use rig_generator::flow::FlowKind;
use rig_units::{Dur, Quanta};

/// Most values that a list goes through.
const MOST: u32 = 1 << 16;

/// The kinds, by name, but for PFC, which says more.
pub(super) const KINDS: [(&str, FlowKind); 4] = [
    ("roce-write", FlowKind::RoceWrite),
    ("roce-send", FlowKind::RoceSend),
    ("cnp", FlowKind::Cnp),
    ("udp", FlowKind::Udp),
];

/// What a value should have been.
type Want = String;

/// `3`, `3+4` one after the other, or `3..9`, from 0 to `most`.
pub(super) fn list(text: &str, most: u32) -> Result<Vec<u32>, Want> {
    let want = || {
        format!(
            "numbers from 0 to {most}: 3, 3+4 (in turn) or 3..9 (one after the other, up to {MOST})"
        )
    };
    let number = |text: &str| {
        let number = match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        };
        number.filter(|&number| number <= most).ok_or_else(want)
    };
    if let Some((first, last)) = text.split_once("..") {
        let (first, last) = (number(first)?, number(last)?);
        if first > last || last - first >= MOST {
            return Err(want());
        }
        return Ok((first..=last).collect());
    }
    text.split('+').map(number).collect()
}

/// DSCPs, 0 to 63, as a [`list`].
pub(super) fn dscp(text: &str) -> Result<Vec<Dscp>, Want> {
    let numbers = list(text, Dscp::MAX.get().into())?;
    let dscp = |n| u8::try_from(n).ok().and_then(Dscp::new);
    Ok(numbers.into_iter().filter_map(dscp).collect())
}

/// Congestion marks.
pub(super) fn ecn(text: &str) -> Result<Vec<Ecn>, Want> {
    const MARKS: [(&str, Ecn); 4] =
        [("not-ect", Ecn::NotEct), ("ect0", Ecn::Ect0), ("ect1", Ecn::Ect1), ("ce", Ecn::Ce)];
    let mark = |text: &str| MARKS.iter().find(|(name, _)| *name == text).map(|(_, mark)| *mark);
    let marks = text.split('+').map(mark).collect::<Option<Vec<Ecn>>>();
    marks.ok_or_else(|| "not-ect, ect0, ect1 or ce; ect0+ce takes turns".to_owned())
}

/// Queue pairs of 24 bits, as a [`list`].
pub(super) fn queue_pairs(text: &str) -> Result<Vec<Qpn>, Want> {
    Ok(list(text, Qpn::MAX.get())?.into_iter().filter_map(Qpn::new).collect())
}

/// UDP ports, as a [`list`].
pub(super) fn udp_ports(text: &str) -> Result<Vec<u16>, Want> {
    let ports = list(text, u16::MAX.into())?;
    Ok(ports.into_iter().filter_map(|port| u16::try_from(port).ok()).collect())
}

/// `3:65535q`, or `3+4:0q` for two classes: what PFC frames say.
pub(super) fn pfc(text: &str) -> Result<FlowKind, Want> {
    let want = || "classes and their pause time: 3:65535q, or 3+4:0q to resume both".to_owned();
    let (classes, quanta) = text.split_once(':').ok_or_else(want)?;
    let classes = list(classes, 7).map_err(|_| want())?;
    let quanta = Quanta::from_str(quanta).map_err(|_| want())?;
    let classes = classes.into_iter().fold(0, |all, class| all | 1_u8 << class);
    Ok(FlowKind::Pfc { classes, quanta })
}

/// When frames are due, but for their rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Even,
    Burst { frames: u32, within: Dur, every: Dur },
    Ramp { from: Dur, to: Dur, frames: u32 },
    Poisson { seed: u64 },
}

/// `even`, `burst:8,1us,100us`, `ramp:10us,1us,500` or `poisson:7`.
pub(super) fn shape(text: &str) -> Result<Shape, Want> {
    let want = || {
        "even, burst:FRAMES,WITHIN,EVERY (burst:8,1us,100us), ramp:FROM,TO,FRAMES (ramp:10us,1us,500) or poisson:SEED"
            .to_owned()
    };
    let (name, rest) = text.split_once(':').unwrap_or((text, ""));
    let parts: Vec<&str> = rest.split(',').collect();
    let dur = |text: &str| text.parse::<Dur>().ok().filter(|dur| *dur > Dur::ZERO);
    let count = |text: &str| text.parse::<u32>().ok().filter(|&count| count > 0);
    let shape = match (name, &parts[..]) {
        ("even", [""]) => Some(Shape::Even),
        ("burst", [frames, within, every]) => (|| {
            let (frames, within, every) = (count(frames)?, dur(within)?, dur(every)?);
            // A burst that has not ended when the next begins is no burst.
            (within * u64::from(frames - 1) < every).then_some(Shape::Burst {
                frames,
                within,
                every,
            })
        })(),
        ("ramp", [from, to, frames]) => {
            (|| Some(Shape::Ramp { from: dur(from)?, to: dur(to)?, frames: count(frames)? }))()
        }
        ("poisson", [seed]) => seed.parse().ok().map(|seed| Shape::Poisson { seed }),
        _ => None,
    };
    shape.ok_or_else(want)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_single_in_turn_or_a_range() {
        assert_eq!(list("5", 7), Ok(vec![5]));
        assert_eq!(list("5+0x3", 7), Ok(vec![5, 3]));
        assert_eq!(list("5..7", 7), Ok(vec![5, 6, 7]));
        for wrong in ["", "8", "5..8", "7..5", "5+", "-1", "5..", "0..99999999"] {
            assert!(list(wrong, 7).is_err(), "{wrong}");
        }
        assert_eq!(list("0..65535", u32::MAX).map(|all| all.len()), Ok(65_536));
        assert!(list("0..65536", u32::MAX).is_err());
    }

    #[test]
    fn shapes_are_read_and_a_burst_that_overlaps_the_next_is_none() {
        let us = Dur::us;
        assert_eq!(shape("even"), Ok(Shape::Even));
        let burst = Shape::Burst { frames: 3, within: us(5), every: us(11) };
        assert_eq!(shape("burst:3,5us,11us"), Ok(burst));
        assert_eq!(
            shape("ramp:10us,1us,5"),
            Ok(Shape::Ramp { from: us(10), to: us(1), frames: 5 })
        );
        assert_eq!(shape("poisson:9"), Ok(Shape::Poisson { seed: 9 }));
        for wrong in ["burst:3,5us,10us", "burst", "even:1", "poisson", "ramp:1us,0us,5", "saw"] {
            assert!(shape(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn marks_and_pauses_are_read() {
        assert_eq!(ecn("ect0+ce"), Ok(vec![Ecn::Ect0, Ecn::Ce]));
        assert!(ecn("ect2").is_err());
        assert_eq!(pfc("3+4:9q"), Ok(FlowKind::Pfc { classes: 0b1_1000, quanta: Quanta(9) }));
        for wrong in ["3", "8:1q", "3:65536q", ":1q", "3:1"] {
            assert!(pfc(wrong).is_err(), "{wrong}");
        }
    }
}
