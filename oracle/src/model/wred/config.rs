//! What early detection is configured to, and how it departs from that.

use super::{Curve, Depth};
use crate::model::packet::{Packet, bit};
use crate::model::rounding::Rounding;
use rig_lab::{Color, DepthUnit, DrawRule, EcnMode, Marking, WredFaults};
use rig_units::{Bytes, Dur, Ppm};

/// Early detection, the same on every port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Config {
    /// Bit `q` is set when queue `q` has it.
    pub queues: u8,
    /// Colours whose ECN-capable frames are marked.
    pub ecn: [bool; 3],
    /// By colour: what is marked.
    pub mark: [Curve; 3],
    /// By colour: what is dropped.
    pub drop: [Curve; 3],
    /// 0: the depth is the one of the moment; n: its average, of weight 2^-n.
    pub weight: u8,
    /// How often a timer has the average take in the depth; without it each frame that arrives has.
    pub average_interval: Option<Dur>,
    /// Frames are marked when they are taken in, not when they start to leave.
    pub at_enqueue: bool,
    /// Whether the frame counts in the depth that decides about it.
    pub counts_itself: bool,
    /// What each frame counts, whatever its size; without it frames count what they take.
    pub packet: Option<u64>,
    /// Whether a draw is made once after each frame that is taken, and not for each frame.
    pub counts_since: bool,
    /// Whether from the end of its curve on what is to be marked is dropped when it arrives.
    pub harddrop: bool,
    /// In how many steps to one it keeps the greatest chance of each curve; without it to the millionth.
    pub steps: Option<u32>,
    /// In steps of how many bytes it keeps where each curve begins and ends; without it to the byte.
    pub threshold_step: Option<u64>,
    /// Colour of every DSCP, as an index.
    pub color: [u8; 64],
    /// Where its draws come from.
    pub seed: u64,
    /// What it does wrong.
    pub faults: WredFaults,
}

impl Config {
    /// None.
    pub fn off() -> Config {
        let never = Curve { kmin: u64::MAX, kmax: u64::MAX, pmax: Ppm(0) };
        Config {
            queues: 0,
            ecn: [true; 3],
            mark: [never; 3],
            drop: [never; 3],
            weight: 0,
            average_interval: None,
            at_enqueue: false,
            counts_itself: false,
            packet: None,
            counts_since: false,
            harddrop: false,
            steps: None,
            threshold_step: None,
            color: [0; 64],
            seed: 0,
            faults: WredFaults::NONE,
        }
    }

    /// Early detection as a profile declares it; the seed is the caller's.
    pub fn declared(declared: &rig_lab::Switch) -> Config {
        let wred = &declared.wred;
        let curve = |curve: rig_lab::Curve| {
            let rig_lab::Curve { kmin: Bytes(kmin), kmax: Bytes(kmax), pmax } = curve;
            Curve { kmin, kmax, pmax }
        };
        // Colours without a curve of their own go by that of green, and drops without one by that of marks.
        let green = Curve { kmin: wred.kmin.0, kmax: wred.kmax.0, pmax: wred.pmax };
        let mark = [None, wred.yellow, wred.red].map(|own| own.map_or(green, curve));
        let drop = wred.drop.map_or(mark, |own| [curve(own); 3]);
        let mut color = [0; 64];
        for (at, dscp) in color.iter_mut().zip(0..) {
            *at = match declared.qos.color(dscp) {
                Color::Green => 0,
                Color::Yellow => 1,
                Color::Red => 2,
            };
        }
        Config {
            queues: wred.queues.iter().fold(0, |mask, &queue| mask | bit(queue)),
            ecn: marked(wred.ecn),
            mark,
            drop,
            weight: wred.weight,
            average_interval: wred.average_interval,
            at_enqueue: wred.marking == Marking::Enqueue,
            counts_itself: wred.counts_itself,
            packet: match wred.unit {
                DepthUnit::Bytes => None,
                DepthUnit::Packets(Bytes(size)) => Some(size),
            },
            counts_since: wred.draw == DrawRule::CountSinceMark,
            harddrop: wred.harddrop,
            steps: wred.chance_steps,
            threshold_step: wred.threshold_step.map(|step| step.0),
            color,
            seed: 0,
            faults: WredFaults::NONE,
        }
    }

    /// Gives early detection its faults.
    pub(in crate::model) fn install(&mut self, faults: &WredFaults) {
        self.faults = *faults;
        self.at_enqueue ^= faults.marks_at_other_point;
        if let Some(weight) = faults.average_outlives_idle.or(faults.depth_averaged) {
            self.weight = u8::try_from(weight).unwrap_or(u8::MAX);
        }
        if faults.wred_on_every_queue {
            self.queues = u8::MAX;
        }
    }

    /// The same with every curve as its registers take it.
    pub(super) fn in_steps(&self, way: Rounding) -> Config {
        let mut kept = self.clone();
        for curve in kept.mark.iter_mut().chain(&mut kept.drop) {
            curve.kmin = way.in_steps(curve.kmin, self.threshold_step);
            curve.kmax = way.in_steps(curve.kmax, self.threshold_step);
        }
        let Some(steps) = self.steps else { return kept };
        let more = u32::from(self.faults.pmax_a_step_high);
        for curve in kept.mark.iter_mut().chain(&mut kept.drop) {
            curve.pmax = in_register(curve.pmax, (steps, more), way);
        }
        kept
    }

    /// Whether the depth of the queue in bytes, the frame counted, is never less than the one that decides, and what is less deep changes nothing.
    pub(super) const fn is_plain(&self) -> bool {
        self.weight == 0
            && self.packet.is_none()
            && !self.counts_since
            && !self.faults.depth_of_port
            && !self.faults.depth_of_class
            && !self.faults.clears_ce
    }

    /// The least depth at which any frame may be taken.
    pub(super) fn floor(&self) -> u64 {
        let floors = self.mark.iter().chain(&self.drop).map(Curve::floor);
        floors.min().unwrap_or(0)
    }

    /// The depth that decides about a frame that takes `size`, besides `others`.
    pub(super) fn depth(&self, others: Depth, size: u64) -> u64 {
        let itself = u64::from(self.counts_itself);
        self.content(Depth { bytes: others.bytes + itself * size, frames: others.frames + itself })
    }

    /// What a queue counts that holds `held`.
    pub(super) fn content(&self, held: Depth) -> u64 {
        self.packet.map_or(held.bytes, |packet| held.frames * packet)
    }

    pub(super) fn color(&self, dscp: u8) -> usize {
        usize::from(self.color[usize::from(dscp & 63)])
    }

    /// Whether a frame that is one to mark is dropped all the same at this depth.
    pub(super) const fn drops_hard(&self, packet: &Packet, curve: Curve, depth: u64) -> bool {
        let spared = self.faults.harddrop_spares_ce && packet.ce();
        self.harddrop && depth >= curve.kmax && !self.faults.no_jump_at_kmax && !spared
    }

    /// Whether a frame of this colour is one to mark rather than to drop. One that met congestion before is ECN-capable.
    pub(super) const fn marks(&self, packet: &Packet, color: usize) -> bool {
        let capable = packet.ect() || packet.ce();
        if self.faults.ipv6_not_marked && packet.is_v6() {
            return false;
        }
        let taken = (capable || self.faults.marks_non_ect) && !self.faults.drops_ect;
        taken && self.ecn[color]
    }
}

/// What a register that counts steps of one makes of a chance, `more` of them added.
fn in_register(chance: Ppm, (steps, more): (u32, u32), way: Rounding) -> Ppm {
    let steps = steps.max(1);
    let (parts, one) = (u64::from(chance.0) * u64::from(steps), u64::from(Ppm::ONE.0));
    let whole = parts / one;
    let over = parts % one;
    let up = match way {
        Rounding::Down => false,
        Rounding::Nearest => over >= one.div_ceil(2),
        Rounding::Up => over > 0,
    };
    let count = (whole + u64::from(up) + u64::from(more)).min(u64::from(steps));
    // Back to millionths: the register holds a count, the draw is against a share.
    let (share, rest) = (count * one / u64::from(steps), count * one % u64::from(steps));
    let ppm = share + u64::from(rest * 2 >= u64::from(steps));
    Ppm(u32::try_from(ppm).unwrap_or(Ppm::ONE.0))
}

/// Of frames that are green, yellow and red: whether those that are capable are marked instead of dropped (the mode is SAI's).
const fn marked(mode: EcnMode) -> [bool; 3] {
    match mode {
        EcnMode::EcnNone => [false; 3],
        EcnMode::EcnGreen => [true, false, false],
        EcnMode::EcnYellow => [false, true, false],
        EcnMode::EcnRed => [false, false, true],
        EcnMode::EcnGreenYellow => [true, true, false],
        EcnMode::EcnGreenRed => [true, false, true],
        EcnMode::EcnYellowRed => [false, true, true],
        EcnMode::EcnAll => [true; 3],
    }
}
