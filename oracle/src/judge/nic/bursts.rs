//! Whether a limiter holds back packets or bursts of them: by the frames that leave back to back at a reduced rate.

use rig_capture::Span;
use rig_lab::Limiting;
use rig_units::{Bytes, Dur, PortSpeed, Time};

/// What the gaps between frames at a reduced rate show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bursts {
    /// Frames that left as soon as the port was free of the one before.
    pub together: u64,
    /// Frames that did not.
    pub apart: u64,
    /// The bytes of runs of frames back to back, the first and the last run left out, which may be cut short; `None`: there is
    /// none between them.
    pub bytes: Option<Span>,
}

impl Bursts {
    /// What is held back. `None`: nothing was, or too few frames left.
    pub fn limiting(&self) -> Option<Limiting> {
        match (self.together, self.apart) {
            (_, 0) => None,
            (0, _) => Some(Limiting::Packet),
            _ => Some(Limiting::Burst),
        }
    }
}

/// Reads the gaps between the frames of one limiter (first bits) while its rate is so low that a frame's hold is longer than its
/// place on the wire by more than stamps may be off: by more than four bounds.
pub fn limiting(line: PortSpeed, frames: &[(Time, Bytes)], bound: Dur) -> Bursts {
    let mut runs = Vec::new();
    let mut run = Bytes(0);
    let (mut together, mut apart) = (0, 0);
    for pair in frames.windows(2) {
        let [(at, bytes), (next, _)] = [pair[0], pair[1]];
        run += bytes;
        if next.since(at).unwrap_or(Dur::ZERO) <= line.slot(bytes) + bound * 2 {
            together += 1;
        } else {
            apart += 1;
            runs.push(core::mem::take(&mut run));
        }
    }
    let whole = runs.get(1..).unwrap_or_default();
    let bytes = whole.iter().map(|run| Span::exactly(run.0));
    let bytes = bytes.reduce(|a, b| Span { lo: a.lo.min(b.lo), hi: a.hi.max(b.hi) });
    Bursts { together, apart, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(times: &[u64]) -> Vec<(Time, Bytes)> {
        times.iter().map(|&at| (Time(at), Bytes(1_000))).collect()
    }

    #[test]
    fn frames_apart_are_packets_held_back_and_frames_together_are_bursts() {
        // 1020 x 80 ps = 81 600.
        let packets = limiting(PortSpeed::G100, &at(&[0, 160_000, 320_000]), Dur::ZERO);
        assert_eq!(
            (packets.together, packets.apart, packets.limiting()),
            (0, 2, Some(Limiting::Packet))
        );
        let two = at(&[0, 320_000, 401_600, 640_000, 721_600, 960_000]);
        let bursts = limiting(PortSpeed::G100, &two, Dur::ZERO);
        assert_eq!((bursts.together, bursts.apart), (2, 3));
        assert_eq!(bursts.bytes, Some(Span::exactly(2_000)));
        assert_eq!(bursts.limiting(), Some(Limiting::Burst));
    }

    #[test]
    fn back_to_back_is_what_stamps_do_not_tell_from_it() {
        let together = |gap, bound| limiting(PortSpeed::G100, &at(&[0, gap]), Dur(bound)).together;
        assert_eq!((together(81_600, 0), together(81_601, 0), together(81_601, 1)), (1, 0, 1));
        assert_eq!(limiting(PortSpeed::G100, &at(&[0, 81_600]), Dur::ZERO).limiting(), None);
    }
}
