//! What a frame that arrives does to a NIC: hardware places it and tells what is missing, the driver hears of it a while later.

use super::{Later, Nic};
use crate::model::packet::{ACK_SIZE, Packet, PacketKind};
use rig_capture::blue_rdma::{DRIVER_REPORT_SIZE, Frame, MEMORY, REPORT_SIZE, Says};
use rig_lab::declared::BlueRdma;
use rig_units::Time;

impl Nic {
    /// A frame arrives whose last bit is here at `now`; no PFC.
    pub(super) fn receive(&mut self, now: Time, packet: &Packet) {
        let said = self.log.said(packet);
        let Some(frame) = said.or_else(|| self.rocev2(now, packet)) else { return };
        let id = packet.stream;
        let driver = self.config.declared.driver;
        let (last, address, places) = match frame.says {
            Says::Report { .. } | Says::Cnp => {
                return self.wait(now + driver, Later::Heed(id, frame));
            }
            Says::Data { last, address, .. } | Says::Response { last, address, .. } => {
                (last, address, true)
            }
            Says::Request { address, .. } => (true, address, false),
        };
        let Some(receiver) = self.receivers.get_mut(&id) else { return };
        // Where nothing says where it goes it is placed behind what came before, or not at all.
        if address == 0 && !receiver.is_next(frame.psn) {
            return;
        }
        let what = (places, frame.is_retry, last);
        let taken = receiver.take(frame.psn, what, &self.config.faults);
        let is_silent = self.is_dead || matches!(frame.says, Says::Response { .. });
        for (is_of_hardware, report) in taken {
            if is_of_hardware || !is_silent {
                self.report(now, packet, &frame, (is_of_hardware, report));
            }
        }
        if matches!(frame.says, Says::Request { .. }) {
            self.wait(now + driver, Later::Respond(id));
        }
        if packet.ce() {
            self.notify(now, packet, &frame);
        }
    }

    /// Hardware or the driver says something of a packet.
    fn report(
        &mut self,
        now: Time,
        packet: &Packet,
        frame: &Frame,
        (is_of_hardware, mut report): (bool, Frame),
    ) {
        let BlueRdma { hardware, driver, .. } = self.config.declared;
        let (size, takes) =
            if is_of_hardware { (REPORT_SIZE, hardware) } else { (DRIVER_REPORT_SIZE, driver) };
        (report.msn, report.size) = (if is_of_hardware { report.msn } else { frame.msn }, size);
        let kind = match report.says {
            Says::Report { by_driver: true, lost: true, .. } => PacketKind::Nak,
            _ => PacketKind::Ack,
        };
        self.send(now + takes, packet, kind, report);
    }

    /// Hardware tells the sender of a mark, unless it did so a short while ago.
    fn notify(&mut self, now: Time, packet: &Packet, frame: &Frame) {
        let faults = self.config.faults;
        let interval = self.config.clock.lasting(self.config.declared.cnp_interval);
        let since = self.notified.get(&packet.stream);
        let early = since.is_some_and(|since| now < *since + interval);
        if faults.cnp_never || (early && !faults.cnp_each) {
            return;
        }
        self.notified.insert(packet.stream, now);
        let (size, says) = (REPORT_SIZE, Says::Cnp);
        let (is_retry, ce, is_send, immediate) = (false, false, false, None);
        let cnp = Frame { psn: 0, size, is_retry, ce, is_send, immediate, says, ..*frame };
        self.send(now + self.config.declared.hardware, packet, PacketKind::Cnp, cnp);
    }

    /// An answer to a packet, ready at `at`.
    fn send(&mut self, at: Time, packet: &Packet, kind: PacketKind, frame: Frame) {
        let mut answer = packet.ack(frame.size).with_ect(false).with_ce(false);
        (answer.src, answer.seq, answer.kind) = (self.host, frame.psn, kind);
        let answer = self.log.note(answer, frame);
        self.wait(at, Later::Answer(answer));
    }

    /// A frame of RoCEv2 arrives: where its key should be stands payload, and nothing is done. As what it is taken otherwise.
    fn rocev2(&mut self, now: Time, packet: &Packet) -> Option<Frame> {
        if packet.kind != PacketKind::Data {
            return None;
        }
        if self.config.faults.answers_rocev2 {
            let mut answer = packet.ack(ACK_SIZE).with_ect(false).with_ce(false);
            answer.src = self.host;
            self.wait(now + self.config.declared.hardware, Later::Answer(answer));
        }
        let (first, last) = (packet.is_first(), packet.is_last());
        let says = Says::Data { first, last, address: MEMORY, length: 0 };
        let (connection, psn, size) = (packet.stream, packet.seq, packet.size);
        let (is_retry, ce, is_send, immediate) = (false, false, false, None);
        let taken = Frame { connection, psn, msn: 0, size, is_retry, ce, is_send, immediate, says };
        self.config.faults.takes_rocev2.then_some(taken)
    }
}
