//! A first-in first-out queue of packets, by value: no allocation per frame, and none before the first one.

use super::packet::Packet;

/// Packets in order of arrival. Its capacity is a power of two and doubles when it is full.
#[derive(Debug, Clone, Default)]
pub struct Ring {
    slots: Vec<Packet>,
    head: usize,
    len: usize,
}

const FIRST_CAPACITY: usize = 16;

impl Ring {
    /// Whether it holds nothing.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// How many packets it holds.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Appends a copy of a packet; where it lies now.
    #[inline]
    pub fn push(&mut self, packet: &Packet) -> &mut Packet {
        if self.len == self.slots.len() {
            self.grow();
        }
        let tail = (self.head + self.len) & (self.slots.len() - 1);
        self.len += 1;
        let slot = &mut self.slots[tail];
        *slot = *packet;
        slot
    }

    /// The packet that was appended first.
    #[inline]
    pub fn front(&self) -> Option<&Packet> {
        if self.len == 0 { None } else { self.slots.get(self.head) }
    }

    /// The same, to change.
    #[inline]
    pub fn front_mut(&mut self) -> Option<&mut Packet> {
        if self.len == 0 { None } else { self.slots.get_mut(self.head) }
    }

    /// The packet of a stream that was appended last, to change.
    pub fn last_of(&mut self, stream: u16) -> Option<&mut Packet> {
        let mut places = (0..self.len).rev().map(|nth| (self.head + nth) & (self.slots.len() - 1));
        let place = places.find(|&place| self.slots[place].stream == stream)?;
        self.slots.get_mut(place)
    }

    /// Forgets the packet that was appended first, if there is one.
    #[inline]
    pub fn drop_front(&mut self) {
        if self.len > 0 {
            self.head = (self.head + 1) & (self.slots.len() - 1);
            self.len -= 1;
        }
    }

    /// Lets the first two packets change places, if they are of one stream; whether they were.
    pub fn swap_front(&mut self) -> bool {
        if self.len < 2 {
            return false;
        }
        let (first, second) = (self.head, (self.head + 1) & (self.slots.len() - 1));
        let same = self.slots[first].stream == self.slots[second].stream;
        if same {
            self.slots.swap(first, second);
        }
        same
    }

    /// Takes the packet that was appended first.
    pub fn pop(&mut self) -> Option<Packet> {
        let packet = *self.front()?;
        self.drop_front();
        Some(packet)
    }

    /// Forgets every packet; how many there were.
    pub fn clear(&mut self) -> usize {
        core::mem::take(&mut self.len)
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let capacity = (self.slots.len() * 2).max(FIRST_CAPACITY);
        self.slots.rotate_left(self.head);
        self.slots.resize(capacity, Packet::data(0, 0, 0, 0, 0, 0));
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_is_a_queue_whatever_the_mix_of_pushes_and_pops(pushes in prop::collection::vec(prop::bool::weighted(0.6), 0..300)) {
            let mut ring = Ring::default();
            let mut reference = VecDeque::new();
            for (seq, push) in (0..).zip(pushes) {
                if push {
                    let packet = Packet { seq, ..Packet::data(0, 0, 0, 0, 0, 64) };
                    ring.push(&packet);
                    reference.push_back(packet);
                } else {
                    prop_assert_eq!(ring.pop(), reference.pop_front());
                }
                prop_assert_eq!(ring.len(), reference.len());
                prop_assert_eq!(ring.front(), reference.front());
            }
        }
    }
}
