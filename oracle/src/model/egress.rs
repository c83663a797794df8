//! The eight queues of one port and the choice of the next frame: control first, then strict queues from the highest
//! number down, then deficit weighted round robin in bytes among the rest (formula F10 describes the outcome).

use super::packet::{CLASSES, Packet, bit, slot};
use super::ring::Ring;
use rig_lab::Scheduling;

/// Bytes that the weighted queue of least weight may send per round: about a frame, so that a choice takes few rounds and
/// the shares hold over short times.
const QUANTUM: u32 = 1_536;

/// Queues of one port. Bytes are accounted in the buffer, not here.
#[derive(Debug, Clone)]
pub struct Egress {
    nonempty: u8,
    strict: u8,
    /// The weighted queue whose turn it is.
    turn: u8,
    control: Ring,
    queues: [Ring; CLASSES],
    /// Bytes a queue may still send in this round; zero for an empty queue.
    deficit: [u32; CLASSES],
    quantum: [u32; CLASSES],
    /// A fault: after so many frames two of one flow change places; 0 in a port that does right.
    swaps_after: u32,
    /// Frames until then.
    until_swap: u32,
}

impl Egress {
    /// Empty queues, served as `scheduling` says.
    pub fn new(scheduling: &[Scheduling; CLASSES]) -> Egress {
        let strict = |queue: &u8| scheduling[slot(*queue)] == Scheduling::Strict;
        let weight = |how: &Scheduling| match *how {
            Scheduling::Strict => None,
            // A weight of zero would never be served.
            Scheduling::Dwrr(weight) => Some(u32::from(weight.max(1))),
        };
        let least = scheduling.iter().filter_map(weight).min().unwrap_or(1);
        let quantum = scheduling.map(|how| weight(&how).unwrap_or(0) * QUANTUM / least);
        Egress {
            nonempty: 0,
            strict: (0..8).filter(strict).map(bit).sum(),
            turn: 0,
            control: Ring::default(),
            queues: Default::default(),
            deficit: [0; CLASSES],
            quantum,
            swaps_after: 0,
            until_swap: 0,
        }
    }

    /// The same queues, in which two frames of one flow change places after so many frames; 0: never.
    pub fn swapping(mut self, after: u32) -> Egress {
        (self.swaps_after, self.until_swap) = (after, after);
        self
    }

    #[cold]
    #[inline(never)]
    fn swap(&mut self, queue: u8) {
        self.until_swap = self.until_swap.saturating_sub(1);
        if self.until_swap == 0 && self.queues[slot(queue)].swap_front() {
            self.until_swap = self.swaps_after;
        }
    }

    /// Appends a copy of a frame to a queue; where it lies now.
    #[inline]
    pub fn push(&mut self, queue: u8, packet: &Packet) -> &mut Packet {
        self.nonempty |= bit(queue);
        self.queues[slot(queue)].push(packet)
    }

    /// Appends a frame that goes ahead of all queues.
    pub fn push_control(&mut self, packet: &Packet) {
        self.control.push(packet);
    }

    /// Forgets the control frames that wait.
    pub fn forget_control(&mut self) {
        self.control.clear();
    }

    /// Whether no frame is held.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.nonempty == 0 && self.control.is_empty()
    }

    /// Whether a frame could go, were the port free, with the queues in `closed` held back.
    #[inline]
    pub const fn ready(&self, closed: u8) -> bool {
        self.nonempty & !closed != 0 || !self.control.is_empty()
    }

    /// Frames in `queue`.
    pub const fn len(&self, queue: u8) -> usize {
        self.queues[slot(queue)].len()
    }

    /// Chooses what to send next, with the queues in `closed` held back. The frame is to be [taken](Self::drop_front).
    #[inline(always)]
    pub fn choose(&mut self, closed: u8) -> Option<Choice> {
        if !self.control.is_empty() {
            return Some(Choice::Control);
        }
        let ready = self.nonempty & !closed;
        if ready == 0 {
            return None;
        }
        let strict = ready & self.strict;
        Some(Choice::Queue(if strict != 0 {
            highest(strict)
        } else if ready.is_power_of_two() {
            highest(ready)
        } else {
            self.round_robin(ready)
        }))
    }

    /// The first frame of what was chosen.
    #[inline]
    pub fn front(&self, choice: Choice) -> Option<&Packet> {
        match choice {
            Choice::Control => self.control.front(),
            Choice::Queue(queue) => self.queues[slot(queue)].front(),
        }
    }

    /// The first frame of a queue, to change.
    #[inline]
    pub fn front_mut(&mut self, queue: u8) -> Option<&mut Packet> {
        self.queues[slot(queue)].front_mut()
    }

    /// Forgets the first frame of what was chosen.
    #[inline]
    pub fn drop_front(&mut self, choice: Choice) {
        match choice {
            Choice::Control => self.control.drop_front(),
            Choice::Queue(queue) => {
                let ring = &mut self.queues[slot(queue)];
                ring.drop_front();
                if ring.is_empty() {
                    self.nonempty &= !bit(queue);
                    self.deficit[slot(queue)] = 0;
                }
                if self.swaps_after != 0 {
                    self.swap(queue);
                }
            }
        }
    }

    /// The weighted queue to serve, of several in `ready`; its deficit is charged.
    fn round_robin(&mut self, ready: u8) -> u8 {
        loop {
            let index = slot(self.turn);
            if ready & bit(self.turn) != 0 {
                let size = self.queues[index].front().map_or(0, |packet| u32::from(packet.size));
                if self.deficit[index] >= size {
                    self.deficit[index] -= size;
                    return self.turn;
                }
            }
            let later = ready & (0xfe << self.turn);
            let next = if later != 0 { later } else { ready };
            self.turn = lowest(next);
            self.deficit[slot(self.turn)] += self.quantum[slot(self.turn)];
        }
    }
}

/// Where the next frame comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// From what goes ahead of all queues.
    Control,
    /// From this queue.
    Queue(u8),
}

#[inline]
fn lowest(mask: u8) -> u8 {
    mask.trailing_zeros().to_le_bytes()[0]
}

#[inline]
fn highest(mask: u8) -> u8 {
    mask.ilog2().to_le_bytes()[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Egress {
        fn put(&mut self, queue: u8, size: u16) {
            self.push(queue, &Packet::data(0, 0, 0, queue, queue, size));
        }

        /// Class and size of the next frame, which is taken.
        fn pop(&mut self, closed: u8) -> Option<(u8, u16)> {
            let choice = self.choose(closed)?;
            let next = self.front(choice).map(|packet| (packet.class, packet.size));
            self.drop_front(choice);
            next
        }
    }

    fn weighted(weights: [u16; CLASSES]) -> Egress {
        Egress::new(&weights.map(Scheduling::Dwrr))
    }

    #[test]
    fn control_goes_first_then_strict_queues_from_the_top_then_the_weighted() {
        let mut scheduling = [Scheduling::Dwrr(1); CLASSES];
        scheduling[5] = Scheduling::Strict;
        scheduling[6] = Scheduling::Strict;
        let mut egress = Egress::new(&scheduling);
        for queue in [3, 5, 6] {
            egress.put(queue, 100);
        }
        egress.push_control(&Packet::pfc(8, 0, rig_units::Quanta(1), 64));
        let order: Vec<(u8, u16)> = std::iter::from_fn(|| egress.pop(0)).collect();
        assert_eq!(order, [(7, 64), (6, 100), (5, 100), (3, 100)]);
        assert!(egress.is_empty());
    }

    #[test]
    fn a_closed_queue_waits_and_control_does_not() {
        let mut egress = weighted([1; CLASSES]);
        egress.put(3, 100);
        assert!(!egress.ready(bit(3)));
        assert_eq!(egress.pop(bit(3)), None);
        assert_eq!(egress.pop(0), Some((3, 100)));
    }

    #[test]
    fn a_weight_of_zero_is_served_all_the_same() {
        let mut egress = weighted([0; CLASSES]);
        egress.put(1, 1000);
        egress.put(2, 1000);
        assert!(egress.pop(0).is_some() && egress.pop(0).is_some());
    }

    proptest! {
        /// DRR's own bound (Shreedhar and Varghese 1995): while queues stay backlogged, what one has sent per unit of
        /// weight is off by less than a quantum and a largest frame.
        #[test]
        fn backlogged_queues_share_by_weight_whatever_their_frame_sizes(
            weights in prop::array::uniform3(1..40_u16), sizes in prop::array::uniform3(64..1600_u16)
        ) {
            let mut all = [1; CLASSES];
            all[..3].copy_from_slice(&weights);
            let mut egress = weighted(all);
            for (queue, &size) in (0..).zip(&sizes) {
                for _ in 0..4_000 {
                    egress.put(queue, size);
                }
            }
            let mut sent = [0_u64; 3];
            for _ in 0..2_000 {
                let (queue, size) = egress.pop(0).unwrap();
                sent[slot(queue)] += u64::from(size);
            }
            // Rounds each queue has been served for, within one round and one frame.
            let rounds = |queue: usize, bytes: u64| bytes as f64 / (f64::from(weights[queue]) * f64::from(QUANTUM));
            for queue in 0..3 {
                let low = rounds(queue, sent[queue]);
                let high = rounds(queue, sent[queue] + u64::from(sizes[queue])) + 1.0;
                for other in 0..3 {
                    prop_assert!(rounds(other, sent[other]) <= high + 1.0, "{sent:?} {low}");
                }
            }
        }
    }
}
