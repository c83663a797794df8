//! What lies between a rig port and the NIC that is looked at over it, where that is more than a cable: devices that take a frame in
//! whole before they send it on, or cut it through.

use crate::analyse::nic::taken;
use crate::{Dir, Record, What};
use rig_testcases::SwitchingMode;
use rig_units::{Apart, Bytes, Dur, PortSpeed, Time, Within};

/// A device on the way, which runs at the speed of the rig's port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Relay {
    /// What a frame takes through it when it is idle, from when it has come to its first bit out.
    pub transit: Within,
    /// When it has come.
    pub mode: SwitchingMode,
    /// The time through the cable on the side of the NIC.
    pub cable: Dur,
    /// How far its clock and the rig's may be apart.
    pub apart: Apart,
}

/// The way from a rig port to a NIC, beyond the rig's own cable. Whatever goes over it belongs to that NIC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approach {
    speed: PortSpeed,
    relays: Vec<Relay>,
    /// How much longer than the least a frame may have been on it, or how much shorter.
    spread: Dur,
}

impl Approach {
    /// The way over these devices, from the rig on, to a NIC whose clock and the rig's may be `apart`. `records` are those of the trial: of
    /// them follows how long a frame may have waited on it.
    pub fn of(
        speed: PortSpeed,
        (relays, apart): (Vec<Relay>, Apart),
        port: u16,
        records: &[Record],
    ) -> Approach {
        let waits = [Dir::Tx, Dir::Rx].map(|dir| {
            let (least, most) = sizes_of(records, port, dir)
                .fold((u16::MAX, 0), |(least, most), (_, size)| (size.min(least), size.max(most)));
            // Frames come in one after the other, at the speed at which they leave: one waits for what of a longer one before it takes
            // more time than it did itself.
            speed.serialise(Bytes(u64::from(most.saturating_sub(least))))
        });
        let waits = waits[0].max(waits[1]);
        let aparts: Vec<Apart> = relays.iter().map(|one| one.apart).chain([apart]).collect();
        let piled = [Dir::Tx, Dir::Rx]
            .map(|dir| piled((speed, &aparts), dir, sizes_of(records, port, dir)));
        let longest = records.iter().filter_map(|one| size(one.what)).max().unwrap_or(0);
        let spread = relays.iter().fold(piled[0].max(piled[1]), |all, relay| {
            let own = relay.transit.most() + taken(speed, longest);
            let clock = Dur(relay.apart.part(own.0));
            all + waits + speed.serialise(PREAMBLE_OR_GAP) + relay.transit.width() + clock
        });
        Approach { speed, relays, spread }
    }

    /// The least that a frame is on it, from its last bit to its last bit.
    pub fn takes(&self, size: u16) -> Dur {
        let relay = |all, relay: &Relay| {
            // What cuts through has the whole of it on its way out as it comes in.
            let meanwhile = match relay.mode {
                SwitchingMode::StoreAndForward => Dur::ZERO,
                SwitchingMode::CutThrough => self.speed.serialise(Bytes(size.into())),
            };
            all + relay.transit.least() + taken(self.speed, size) + relay.cable - meanwhile
        };
        self.relays.iter().fold(Dur::ZERO, relay)
    }

    /// How far off an instant at the NIC may be that follows from one at the rig: what frames may have waited for each other, whether
    /// a device counts preamble and gap before a frame or after it, how far its delay is declared, and its clock.
    pub const fn spread(&self) -> Dur {
        self.spread
    }
}

/// When each frame of the way passed a port of the rig, and its size.
fn sizes_of(
    records: &[Record],
    port: u16,
    dir: Dir,
) -> impl Iterator<Item = (Time, u16)> + use<'_> {
    let of = records.iter().filter(move |one| (one.port, one.dir) == (port, dir));
    of.filter_map(|one| Some((one.at, size(one.what)?)))
}

/// How long a frame has waited at most because whoever sends is faster than who sends on: while frames come without a pause each adds what
/// the clocks make of its time, wherever on the way that is. What the rig sends is known as it comes in: a pause lets so much of it go. What it
/// receives is known as it comes out: where that pauses, nothing waited.
fn piled(
    (speed, aparts): (PortSpeed, &[Apart]),
    dir: Dir,
    frames: impl Iterator<Item = (Time, u16)>,
) -> Dur {
    let part = |slot: Dur| Dur(aparts.iter().map(|apart| apart.part(slot.0)).sum());
    let (mut before, mut waits, mut most) = (Time::ZERO, Dur::ZERO, Dur::ZERO);
    for (at, size) in frames {
        let slot = speed.slot(Bytes(size.into()));
        let pause = (at - before).saturating_sub(slot);
        waits = match dir {
            Dir::Tx => waits.saturating_sub(pause),
            Dir::Rx if pause > part(slot) => Dur::ZERO,
            Dir::Rx => waits,
        } + part(slot);
        (before, most) = (at, most.max(waits));
    }
    most
}

/// Of preamble and gap one is the longer: the gap.
const PREAMBLE_OR_GAP: Bytes = Bytes(12);

/// The size of a frame that goes the whole way; PFC stays on its link.
const fn size(what: What) -> Option<u16> {
    match what {
        What::Data { size, .. } => Some(size),
        What::Roce(roce) => Some(roce.size),
        What::BlueRdma(frame) => Some(frame.size),
        What::Pfc { .. } | What::BadPfc { .. } | What::Other { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::Ppm;

    const SPEED: PortSpeed = PortSpeed::G100;

    fn data(dir: Dir, size: u16) -> Record {
        let what = What::Data { stream: 0, seq: 0, size, ce: false };
        Record { at: Time::ZERO, port: 0, dir, what, secured: None, vlan: None }
    }

    fn relay(apart: Apart) -> Relay {
        let mode = SwitchingMode::StoreAndForward;
        Relay { transit: Dur::ns(600).into(), mode, cable: Dur::ns(200), apart }
    }

    #[test]
    fn a_device_that_cuts_through_adds_no_more_than_a_preamble() {
        let cuts = Relay { mode: SwitchingMode::CutThrough, ..relay(Apart::NOT) };
        let way = Approach::of(SPEED, (vec![cuts], Apart::NOT), 0, &[]);
        assert_eq!([64, 9_000].map(|size| way.takes(size)), [Dur::ns(800) + Dur(8 * 80); 2]);
    }

    #[test]
    fn each_device_takes_the_frame_once_more() {
        let way = |relays| Approach::of(SPEED, (relays, Apart::NOT), 0, &[]);
        // 1032 bytes with the preamble, 80 ps each.
        assert_eq!(way(vec![relay(Apart::NOT)]).takes(1_024), Dur::ns(800) + Dur(1_032 * 80));
        assert_eq!(way(vec![relay(Apart::NOT); 2]).takes(64), (Dur::ns(800) + Dur(72 * 80)) * 2);
        assert_eq!(way(Vec::new()).takes(64), Dur::ZERO);
    }

    #[test]
    fn a_short_frame_waits_for_what_a_long_one_takes_more() {
        let spread = |records: &[Record]| {
            Approach::of(SPEED, (vec![relay(Apart::NOT)], Apart::NOT), 0, records).spread()
        };
        let gap = Dur(12 * 80);
        assert_eq!(spread(&[data(Dir::Tx, 1_024)]), gap);
        // Frames that go the other way are in nobody's way.
        assert_eq!(spread(&[data(Dir::Tx, 1_024), data(Dir::Rx, 78)]), gap);
        assert_eq!(spread(&[data(Dir::Rx, 1_024), data(Dir::Rx, 78)]), gap + Dur(946 * 80));
        let elsewhere = Record { port: 1, ..data(Dir::Rx, 9_000) };
        assert_eq!(spread(&[data(Dir::Rx, 78), elsewhere]), gap);
    }

    #[test]
    fn a_clock_that_may_be_off_makes_the_way_uncertain() {
        let apart = Apart::of(Ppm(100), Ppm(0));
        let way = Approach::of(SPEED, (vec![relay(apart)], Apart::NOT), 0, &[data(Dir::Tx, 1_024)]);
        let own = Dur::ns(600) + Dur(1_032 * 80);
        // The one frame takes its slot of 1044 bytes longer, too.
        let piled = Dur(apart.part(1_044 * 80));
        assert_eq!(way.spread(), Dur(12 * 80) + Dur(apart.part(own.0)) + piled);
        assert!(way.spread() > Dur(12 * 80));
    }

    #[test]
    fn frames_without_a_pause_pile_up_where_the_next_clock_is_slower() {
        let (slot, aparts) = (Dur(1_044 * 80), [Apart::of(Ppm(100), Ppm(0)); 2]);
        let part = Dur(aparts[0].part(slot.0) * 2);
        let piled_up = |dir, gaps: &[Dur]| {
            let ends = gaps.iter().scan(Time::ZERO + slot, |at, gap| {
                *at += *gap;
                Some(*at)
            });
            piled((SPEED, &aparts), dir, ends.map(|at| (at, 1_024)))
        };
        for dir in [Dir::Tx, Dir::Rx] {
            assert_eq!(piled_up(dir, &[]), Dur::ZERO);
            assert_eq!(piled_up(dir, &[slot; 100]), part * 100);
            assert_eq!(
                piled((SPEED, &[]), dir, [(Time::ZERO + slot, 1_024); 3].into_iter()),
                Dur::ZERO
            );
        }
        // A pause of the rig lets out as much as it is long; behind one that shows at the other end nothing waits.
        let pauses = |by: Dur| [slot, slot, slot, slot + by, slot];
        assert_eq!(piled_up(Dir::Tx, &pauses(part * 2)), part * 3);
        assert_eq!(piled_up(Dir::Tx, &pauses(part)), part * 4);
        assert_eq!(piled_up(Dir::Rx, &pauses(part)), part * 5);
        assert_eq!(piled_up(Dir::Rx, &pauses(part + Dur(1))), part * 3);
    }
}
