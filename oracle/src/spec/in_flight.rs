//! What still arrives after a group has crossed its limit (formula F3).
//!
//! The device decides, waits for the frame it may be sending that way, and sends the PFC frame; that travels; the sender
//! takes it in, stops, and finishes the frame it may have begun; the last of that travels back. F6 is a vendor's rule for
//! sizing headroom, not this: it leaves room for what never happens and knows no lower end.

use super::buffer::occupied;
use rig_capture::Span;
use rig_lab::{Buffer, SwitchingMode};
use rig_units::{Apart, Bytes, Dur, L1_OVERHEAD, Length, MIN_FRAME, PortSpeed, Within};

/// Where the form comes from, for reports.
pub const SOURCE: &str = "IEEE 802.1Q cl. 36 and its annex on PFC buffer requirements, IEEE 802.3 31B.3.7 (response); F3";

/// The gap after the PFC frame, and the one between the frame that crossed and the next: the sender stops at the last bit of the one,
/// and sends nothing in the other.
const GAPS: Bytes = Bytes(24);

/// Preamble and start delimiter.
const PREAMBLE: Bytes = Bytes(8);

/// A sender that fills its wire with frames of one lossless class, and the way to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InFlight {
    /// The port's.
    pub speed: PortSpeed,
    /// Size of the data frames in clear, FCS counted: what the buffer stores.
    pub frame: Bytes,
    /// What MACsec adds to each of them on the wire.
    pub overhead: Bytes,
    /// Size of the PFC frame as it travels, FCS counted.
    pub pfc: Bytes,
    /// Largest frame that the device may be sending to the sender when it wants to send PFC; 0 for none.
    pub ahead: Bytes,
    /// Cable between them.
    pub cable: Length,
    /// When a frame counts: with its last bit, or with its first.
    pub mode: SwitchingMode,
    /// Everything that is neither wire nor cable, in picoseconds, least and most: what the device takes from the frame
    /// counting to its decision, the delays of both interfaces, and the sender's response.
    pub delays: Span,
    /// How far the device's clock and the sender's may be apart.
    pub apart: Apart,
}

/// How long after the frame that crosses has arrived its XOFF leaves, in picoseconds: what the device takes, and up to `wait` for
/// the frame that it may be sending that way by then.
pub fn emitted(taken: Within, wait: Dur) -> Span {
    Span { lo: taken.least().0, hi: (taken.most() + wait).0 }
}

/// [`InFlight::delays`] of a device that takes so long to say XOFF and a sender that responds within `response`, in picoseconds.
pub fn delays(taken: Within, response: Span) -> Span {
    let Span { lo, hi } = emitted(taken, Dur::ZERO);
    Span { lo: lo + response.lo, hi: hi + response.hi }
}

impl InFlight {
    /// F3: bits on the wire, preambles and gaps counted, from the last bit of the frame that crosses to the last bit of the
    /// last frame, over all phases: 0 to 1 frame ahead of the PFC frame, 0 to 1 frame that the sender has begun.
    pub fn wire(&self) -> Span {
        let byte = self.speed.byte().0.max(1);
        let Span { lo, hi } = self.time();
        Span { lo: lo * 8 / byte, hi: (hi * 8).div_ceil(byte) }
    }

    /// The same in whole frames: as many as began before the sender stopped. One that would begin at that very instant does not.
    pub fn frames(&self) -> Span {
        let slot = self.slot().0.max(1);
        let Span { lo, hi } = self.time();
        Span { lo: lo.div_ceil(slot), hi: hi.saturating_sub(1) / slot }
    }

    /// The same as the buffer stores it: L of each L + 20 bytes and what MACsec adds, in whole cells.
    pub fn stored(&self, buffer: &Buffer) -> Span {
        let (size, frames) = (occupied(buffer, self.frame), self.frames());
        Span { lo: frames.lo.saturating_mul(size), hi: frames.hi.saturating_mul(size) }
    }

    /// How long one of the data frames takes.
    fn slot(&self) -> Dur {
        self.speed.slot(self.frame + self.overhead)
    }

    /// How long it goes on, in picoseconds.
    fn time(&self) -> Span {
        // There and back; each way may have been cut down to whole picoseconds.
        let there = Span { lo: self.cable.travel().0, hi: self.cable.travel_at_most().0 };
        let lo = self.told().0 + 2 * there.lo + self.delays.lo;
        let hi = (self.waited() + self.told() + self.slot()).0 + 2 * there.hi + self.delays.hi;
        // The rest of the frame that crosses comes in meanwhile; what counts it from its preamble on has it a preamble sooner.
        let [least, most] = match self.mode {
            SwitchingMode::StoreAndForward => [Dur::ZERO; 2],
            SwitchingMode::CutThrough => {
                let size = self.frame + self.overhead;
                [size, size + PREAMBLE].map(|size| self.speed.serialise(size))
            }
        };
        let (lo, hi) = (lo.saturating_sub(most.0), hi.saturating_sub(least.0));
        // The device's part by its clock, the sender's by the sender's: in frames of one clock no more than all of it by the other.
        Span { lo: self.apart.least(Dur(lo)).0, hi: self.apart.most(Dur(hi)).0 }
    }

    /// How long the PFC frame takes, less the gaps.
    fn told(&self) -> Dur {
        self.speed.serialise(self.pfc + L1_OVERHEAD - GAPS)
    }

    /// How long the frame takes that the device may be sending to the sender.
    fn waited(&self) -> Dur {
        if self.ahead == Bytes(0) { Dur::ZERO } else { self.speed.slot(self.ahead) }
    }

    /// The same with frames of the size, from the smallest to `mtu`, of which the most is stored.
    #[must_use]
    pub fn worst(&self, buffer: &Buffer, mtu: Bytes) -> InFlight {
        let of = |frame| InFlight { frame: Bytes(frame), ..*self };
        let sizes = (MIN_FRAME.0..=mtu.0).rev();
        sizes.map(of).max_by_key(|one| one.stored(buffer).hi).unwrap_or(*self)
    }

    /// F3's upper end with the numbers put in.
    pub fn worked(&self, buffer: &Buffer) -> String {
        format!(
            "({} of a frame ahead + {} of PFC + 2 x {} of cable + {} until the sender stops + {} of a frame begun) / {} = {} \
             frames of {}, {}B each",
            self.waited(),
            self.told(),
            self.cable.travel(),
            Dur(self.delays.hi),
            self.slot(),
            self.slot(),
            self.frames().hi,
            self.frame,
            occupied(buffer, self.frame)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn loop_of(metres: u64, ahead: u64, delays: Span) -> InFlight {
        InFlight {
            speed: PortSpeed::G100,
            frame: Bytes(1_024),
            overhead: Bytes(0),
            pfc: MIN_FRAME,
            ahead: Bytes(ahead),
            cable: Length(metres * 100),
            mode: SwitchingMode::StoreAndForward,
            delays,
            apart: Apart::NOT,
        }
    }

    fn cells(cell: u64) -> Buffer {
        Buffer { cell: Bytes(cell), ..Buffer::plain(0, 0) }
    }

    #[test]
    fn a_cable_of_40_metres_and_a_sender_that_may_take_394_quanta() {
        // 100 Gb/s: a byte is 80 ps, a frame's slot 83.52 ns. Cable: 202.020 ns each way.
        // Least: 60 x 0.08 + 404.040 = 408.840 ns: 40884 bits, 4.9 slots.
        // Most: 83.52 + 4.80 + 404.042 + 2017.28 + 83.52 = 2593.162 ns: 259316.2 bits, 31.05 slots.
        let longest = Dur(2_017_280);
        let in_flight = loop_of(40, 1_024, Span { lo: 0, hi: longest.0 });
        assert_eq!(in_flight.wire(), Span { lo: 40_884, hi: 259_317 });
        assert_eq!(in_flight.frames(), Span { lo: 5, hi: 31 });
        assert_eq!(in_flight.stored(&cells(208)), Span { lo: 5 * 1_040, hi: 31 * 1_040 });
    }

    #[test]
    fn what_the_device_takes_is_wire_time_that_the_sender_uses() {
        let range: Within = "300ns..400ns".parse().expect("a range");
        assert_eq!(emitted(Within::ZERO, Dur::ns(83)), Span { lo: 0, hi: 83_000 });
        assert_eq!(emitted(range, Dur::ns(83)), Span { lo: 300_000, hi: 483_000 });
        // 300 ns at 100 Gb/s are 30 000 bits, 3.6 slots of 1 044 B.
        let with = |emission| delays(emission, Span { lo: 0, hi: 2_017_280 });
        let [none, some] = [Dur::ZERO, Dur::ns(300)]
            .map(Within::from)
            .map(|emission| loop_of(40, 1_024, with(emission)));
        assert_eq!(some.wire().lo - none.wire().lo, 30_000);
        assert_eq!((none.frames().hi, some.frames().hi), (31, 34));
    }

    #[test]
    fn under_macsec_a_slot_is_longer_by_what_it_adds_and_so_is_the_pfc_frame() {
        // 32 B more on a frame: a slot of 1076 B is 86.08 ns; the PFC frame is 96 B, 116 B with preamble and gap.
        // Least: 92 x 0.08 + 404.040 = 411.400 ns: 41140 bits, 4.8 slots.
        // Most: 86.08 + 7.36 + 404.042 + 2017.28 + 86.08 = 2600.842 ns: 260084.2 bits, 30.2 slots.
        let clear = loop_of(40, 1_024 + 32, Span { lo: 0, hi: 2_017_280 });
        let in_flight = InFlight { overhead: Bytes(32), pfc: MIN_FRAME + Bytes(32), ..clear };
        assert_eq!(in_flight.wire(), Span { lo: 41_140, hi: 260_085 });
        assert_eq!(in_flight.frames(), Span { lo: 5, hi: 30 });
        // What is stored is what was in the frames: 1024 of each 1076 bytes, in whole cells.
        assert_eq!(in_flight.stored(&cells(208)), Span { lo: 5 * 1_040, hi: 30 * 1_040 });
        let latency = delays(Dur::ns(700).into(), Span { lo: 0, hi: 2_017_280 });
        assert_eq!(latency, Span { lo: 700_000, hi: 2_717_280 });
    }

    #[test]
    fn phases_are_one_frame_on_either_side() {
        // No cable, no delay: from 60 B to 60 B and two slots of 1044 B.
        let in_flight = loop_of(0, 1_024, Span::exactly(0));
        assert_eq!(in_flight.wire(), Span { lo: 480, hi: 8 * (60 + 2 * 1_044) });
        // An idle way back takes one of them away.
        let in_flight = loop_of(0, 0, Span::exactly(0));
        assert_eq!(in_flight.wire(), Span { lo: 480, hi: 8 * (60 + 1_044) });
    }

    #[test]
    fn the_worst_size_is_the_one_that_wastes_most_of_its_cells() {
        // Cells of 208 B and no loop but two frames: 64 B take 208 of 84 B on the wire, more than any other size, where many fit.
        let quick = loop_of(0, 64, Span::exactly(2_017_280));
        assert_eq!(quick.worst(&cells(208), Bytes(9_122)).frame, MIN_FRAME);
        // 80 B cells and 16 B of descriptor: 64 B fill one, 65 B take two.
        let described = Buffer { descriptor: Bytes(16), ..cells(80) };
        assert_eq!(quick.worst(&described, Bytes(9_122)).frame, Bytes(65));
        // No time at all: one frame, so the largest.
        let slow = InFlight { delays: Span::exactly(0), ..quick };
        assert_eq!(slow.worst(&cells(1), Bytes(9_122)).stored(&cells(1)).hi, 9_122);
    }

    #[test]
    fn every_metre_is_ten_nanoseconds_of_wire() {
        // 300 m at 100 Gb/s: 2 x 300 x 5.0505 ns = 3030.3 ns, 303030.3 bits.
        let of = |metres| loop_of(metres, 0, Span::exactly(0)).wire();
        assert_eq!(of(300).lo - of(0).lo, 303_030);
        assert!((303_030..=303_032).contains(&(of(300).hi - of(0).hi)));
        let (speed, frame) = (PortSpeed::G400, Bytes(1_024));
        let at_400 = InFlight { speed, frame, ..loop_of(300, 0, Span::exactly(0)) };
        assert_eq!(at_400.wire().lo, 480 + 1_212_121 - 1);
    }

    proptest! {
        /// A sender without a gap, an instant at which its gate closes, frames counted one by one.
        #[test]
        fn a_walk_over_phases_stays_within(
            frame in 64_u64..4_096, ahead in 0_u64..4_096, metres in 0_u64..400,
            delay in 0_u64..400_000, waited in 0_u64..=1_000,
        ) {
            let byte = PortSpeed::G100.byte().0;
            let frame_slot = (frame + 20) * byte;
            let there = metres * 1_000_000 / 198;
            let wait = if ahead == 0 { 0 } else { (ahead + 20) * byte * waited / 1_000 };
            // The frame that crosses is complete at 0. Preamble, frame, no gap: 72 bytes to the PFC frame's last bit.
            let closes = wait + 72 * byte + there + delay;
            // At the sender it was complete one cable earlier; after the gap the next began.
            let first = 12 * byte;
            let began = (0_u64..).take_while(|nth| first + nth * frame_slot < closes + there);
            let began = u64::try_from(began.count()).unwrap();
            let delays = Span::exactly(delay);
            let in_flight = InFlight { frame: Bytes(frame), ..loop_of(metres, ahead, delays) };
            let Span { lo, hi } = in_flight.frames();
            prop_assert!(lo <= began && began <= hi, "{lo} <= {began} <= {hi}");
            let bits = began * (frame + 20) * 8;
            prop_assert!(in_flight.wire().lo <= bits && bits <= in_flight.wire().hi);
        }
    }

    #[test]
    fn a_frame_more_or_less_may_come_where_two_clocks_are_apart() {
        // 83.52 ns a slot: of what takes ten of them to the picosecond nine begin, and one more by a clock that is off at all.
        let of = |apart, lacks: u64| {
            let bare = loop_of(0, 0, Span::exactly(0));
            let rest = 83_520 * 9 - bare.told().0 - lacks;
            InFlight { delays: Span::exactly(rest), apart, ..bare }.frames()
        };
        let off = Apart::of(rig_units::Ppm(100), rig_units::Ppm(0));
        assert_eq!(of(Apart::NOT, 0), Span { lo: 9, hi: 9 });
        assert_eq!(of(off, 0), Span { lo: 9, hi: 10 });
        // 835.2 ns by 100 ppm: 83.5 ps.
        assert_eq!(of(off, 83), Span { lo: 9, hi: 10 });
        assert_eq!(of(off, 84), Span { lo: 9, hi: 9 });
    }
}
