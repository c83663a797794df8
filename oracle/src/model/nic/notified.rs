//! CNPs: they arrive, and take effect later.

use super::Nic;
use super::table::NOBODY;
use crate::model::packet::Packet;
use rig_lab::Scope;
use rig_units::Time;

impl Nic {
    #[cold]
    #[inline(never)]
    pub(super) fn cnp(&mut self, now: Time, packet: &Packet) {
        if packet.ce() && self.config.faults.np.cnp_on_cnp {
            self.marked(now, packet, self.table.get(packet.stream));
        }
        self.cnps_received += 1;
        let effect = now + self.draws.next(self.config.rp.latency);
        self.cnps.insert((effect, self.cnps_received, packet.stream, packet.src));
        if effect == now {
            self.on_wake(now);
        }
    }

    /// A CNP for `stream` from `source` takes effect.
    pub(super) fn notified(&mut self, now: Time, stream: u16, source: u16) {
        let ignored = self.ignores_cnp(stream);
        let pair = self.pairs.get(usize::from(self.table.get(stream)));
        let limit = match self.config.rp.scope {
            Scope::Qp => pair.map_or(NOBODY, |pair| pair.limit),
            Scope::DestIp => self.limit_of_address.get(&source).copied().unwrap_or(NOBODY),
            Scope::Port => self.limit_of_port,
        };
        let Some(found) = self.send_queues.limits.get_mut(usize::from(limit)) else { return };
        let (rp, faults) = (&self.config.rp, &self.config.faults.rp);
        if !rp.enable || ignored || !found.limiter.notified(rp, faults, now) {
            self.counters.rp_cnp_ignored += 1;
            return;
        }
        self.counters.rp_cnp_handled += 1;
        if faults.cut_spreads
            && let Some(next) = self.limit_after(stream).filter(|&next| next != limit)
        {
            let (rp, faults) = (&self.config.rp, &self.config.faults.rp);
            self.send_queues.limits[usize::from(next)].limiter.notified(rp, faults, now);
        }
        if faults.cut_crosses_priorities {
            self.cut_other_priorities(now, stream, limit);
        }
    }

    /// The limit of a queue pair that a NAK came for is cut, as by a CNP; a fault.
    #[cold]
    pub(super) fn cut_on_loss(&mut self, now: Time, slot: u16) {
        let (rp, faults) = (&self.config.rp, &self.config.faults.rp);
        let limit = self.pairs.get(usize::from(slot)).map_or(NOBODY, |pair| pair.limit);
        let found = self.send_queues.limits.get_mut(usize::from(limit)).filter(|_| rp.enable);
        if let Some(found) = found {
            found.limiter.notified(rp, faults, now);
        }
    }

    /// What a NIC does that has one limiter for all of its priorities.
    #[cold]
    fn cut_other_priorities(&mut self, now: Time, stream: u16, limit: u16) {
        let (rp, faults) = (&self.config.rp, &self.config.faults.rp);
        let class = self.pairs.get(usize::from(self.table.get(stream))).map(|pair| pair.class);
        let others = self.pairs.iter().filter(|pair| Some(pair.class) != class);
        for other in others.map(|pair| pair.limit).filter(|other| *other != limit) {
            if let Some(found) = self.send_queues.limits.get_mut(usize::from(other)) {
                found.limiter.notified(rp, faults, now);
            }
        }
    }

    /// The limiter of the queue pair that is named after `stream`: the first one after the last.
    fn limit_after(&self, stream: u16) -> Option<u16> {
        let senders = self.pairs.iter().filter(|pair| pair.limit != NOBODY);
        senders
            .min_by_key(|pair| pair.stream.wrapping_sub(stream).wrapping_sub(1))
            .map(|pair| pair.limit)
    }
}
