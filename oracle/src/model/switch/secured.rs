//! The MACsec entities of a switch's ports, and what it does with frames of which any may be behind a tag.

use super::{Config, Place, Switch};
use crate::model::packet::{Packet, PacketKind, slot};
use crate::model::secy::{Received, SecY};
use rig_units::{Time, Within};
use std::sync::OnceLock;

impl Switch {
    /// What a frame comes to that arrived at `port`, now that its tag is looked at.
    pub(crate) fn open(&mut self, port: usize, packet: &Packet) -> Received {
        match self.secys.get_mut(port) {
            Some(secy) => secy.receive(packet),
            // Without MACsec a SecTAG is an EtherType that nobody knows.
            None if packet.is_secured() => Received::Gone,
            None if packet.kind == PacketKind::Pfc => Received::Pfc(*packet, Within::ZERO),
            None => Received::Data(*packet),
        }
    }

    /// A frame as it leaves a queue: with the 802.1Q tag that it came with, or with what is made of that.
    pub(crate) fn retagged(&self, packet: Packet) -> Packet {
        self.retags.map_or(packet, |retags| retags.applied(packet))
    }

    /// A frame as it goes onto the cable of `port`, if it may.
    pub(crate) fn protect(&mut self, port: usize, packet: &Packet) -> Option<Packet> {
        match self.secys.get_mut(port) {
            Some(secy) => secy.transmit(packet),
            None => Some(*packet),
        }
    }

    /// Notes that a frame was at the front of its queue and could not be protected: it is dropped there. The port whose sender is
    /// told to go on because of it.
    pub(crate) fn unsent(&mut self, now: Time, place: Place) -> Option<usize> {
        self.ports[place.to].counters[slot(place.class)].queue_drops += 1;
        self.release(now, place)
    }

    /// Frames that arrive may be behind a tag, although the switch does not speak MACsec.
    pub(crate) const fn expect_tags(&mut self) {
        self.secured = true;
    }

    /// MACsec goes by another configuration from the next frame on. What is inside stays as it was, and nothing overtakes it.
    pub(crate) fn set_macsec(&mut self, now: Time, config: &Config) {
        // Those of the entities come and go with them.
        self.counter_names = OnceLock::new();
        match &config.macsec {
            None => self.secys.clear(),
            Some(macsec) if self.secys.is_empty() => {
                self.secys = vec![SecY::new(macsec); self.ports.len()];
                self.secured = true;
            }
            Some(macsec) => self.secys.iter_mut().for_each(|secy| secy.set(macsec)),
        }
        let longest = self.delay + self.delay_of_a_byte.times(self.mtu.into());
        self.not_before = self.not_before.max(now + longest.most());
        [self.delay, self.delay_of_a_byte] = config.delays();
        self.delays = config.takes_time();
        let [emission, resumption] = config.words_take();
        for port in &mut self.ports {
            port.pfc.set_taken(emission, resumption);
        }
    }
}
