//! The emulated device fed with frames of the outside world, on a clock that its caller reads.
//!
//! Frames are put in as they arrive and taken up in the order of their stamps; the engine then catches up with the
//! present, each event at its own instant, so that a caller who comes late changes when frames leave and nothing else.
//! What leaves is handed out with the instant at which its last bit was due.
//!
//! Time here counts from the boot. The cables are the real ones: the engine's have no length.

use super::frame::{Heard, Reader, pauses};
use super::meter::Meter;
use super::nics::{Nics, is_control};
use super::secure::Secure;
use super::store::{Store, number, numbered};
use super::{tag, tos};
use crate::Emulated;
use crate::control::{Control as _, ControlError, FlowOrder, Order, Refused};
use rig_lab::{Declared, Keys, Macsec, Profile, Setting};
use rig_oracle::model::network::Delivered;
use rig_oracle::model::packet::Tag;
use rig_oracle::model::{Dir, Packet, PacketKind, host, nic};
use rig_testcases::Container;
use rig_testcases::wire::macsec::is_protected;
use rig_units::Time;

/// A device that runs.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) emulated: Emulated,
    pub(super) meter: Meter,
    reader: Reader,
    store: Store,
    /// Its connections, if it is a NIC.
    nics: Option<Nics>,
    /// The keys that it has been given.
    keys: Option<Keys>,
    /// Its ports' side of MACsec, where it speaks it and has keys; and for which configuration that was made.
    secure: Option<Secure>,
    macsec: Option<Macsec>,
    /// Which links are up.
    up: Vec<bool>,
    arrivals: Vec<Arrival>,
    departures: Vec<Departure>,
}

/// A frame that arrived and was not taken up yet.
#[derive(Debug, Clone, Copy)]
struct Arrival {
    at: Time,
    port: u16,
    what: Heard,
    /// What protected it.
    tag: Option<Tag>,
}

/// A frame that leaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Departure {
    /// When its last bit is due at the port.
    pub(super) at: Time,
    /// The device's port.
    pub(super) port: u16,
    /// From the destination MAC on, without FCS.
    pub(super) bytes: Vec<u8>,
}

/// What a run dealt with: when it was due.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Dealt {
    /// The first event inside the device.
    pub(super) event: Option<Time>,
    /// The first frame that was taken up.
    pub(super) arrival: Option<Time>,
}

impl Device {
    /// Boots the device that `profile` describes, at the beginning of its time.
    ///
    /// # Errors
    /// When it refuses a setting.
    pub(super) fn boot(
        profile: &Profile,
        settings: &[Setting],
        seed: u64,
        meter: Meter,
    ) -> Result<Device, ControlError> {
        let mut emulated = Emulated::boot(profile, settings, 0, seed)?;
        let declared = emulated.configured();
        let ports = declared.port_count();
        let reader = Reader::new(ports, &declared.qos());
        let room = profile.devices().iter().map(|device| room(&device.declared));
        let room = room.fold(0, usize::saturating_add);
        let (store, macsec) = (Store::new(room), macsec(declared));
        let nics = Nics::of(profile, &mut emulated);
        Ok(Device {
            emulated,
            meter,
            reader,
            store,
            nics,
            keys: None,
            secure: None,
            macsec,
            up: vec![true; ports.into()],
            arrivals: Vec::new(),
            departures: Vec::new(),
        })
    }

    /// A frame whose last bit reached `port` at `at`.
    pub(super) fn arrive(&mut self, port: u16, at: Time, frame: &[u8]) {
        self.meter.note(|health| health.received += 1);
        if !self.up[usize::from(port)] {
            return self.meter.note(|health| health.cut += 1);
        }
        let secure = self.secure.as_mut().filter(|_| is_protected(frame));
        let opened = secure.and_then(|secure| secure.open(port, frame));
        let (frame, tag) = match &opened {
            Some((clear, tag)) => (&clear[..], Some(*tag)),
            // Without MACsec, or without keys, it has a type that nobody knows.
            None if is_protected(frame) => return self.meter.note(|health| health.foreign += 1),
            None => (frame, None),
        };
        let rig = self.reader.rig(port);
        let heard = match self.nics.as_mut().filter(|_| !is_control(frame)) {
            Some(nics) if nics.are_blue_rdma() => {
                nics.hear((port, rig), frame, self.emulated.rig())
            }
            Some(nics) => nics.read(port, rig, frame),
            None => self.reader.read(port, frame),
        };
        let what = match heard {
            Heard::Data(packet) if self.nics.is_some() => Heard::Data(packet),
            Heard::Data(packet) => Heard::Data(numbered(packet, self.store.put(frame))),
            Heard::Pfc(repr) => Heard::Pfc(repr),
            // Noise, which the engine throws away for its tag.
            _ if tag.is_some_and(|tag| tag.tamper.is_some()) => {
                Heard::Data(numbered(Packet::data(0, port, port, 0, 0, 64), self.store.put(frame)))
            }
            Heard::Pause => return self.meter.note(|health| health.pauses += 1),
            Heard::Malformed => return self.meter.note(|health| health.malformed += 1),
            Heard::Foreign => return self.meter.note(|health| health.foreign += 1),
        };
        self.arrivals.push(Arrival { at, port, what, tag });
    }

    /// Catches up with `now`: takes up every frame that has arrived by then and does all that is due before. What is
    /// stamped later than `now` waits.
    pub(super) fn run_until(&mut self, now: Time) -> Dealt {
        let event = Some(self.emulated.next_event()).filter(|&due| due < now);
        self.arrivals.sort_by_key(|arrival| (arrival.at, arrival.port));
        let taken = self.arrivals.partition_point(|arrival| arrival.at <= now);
        let first = self.departures.len();
        let arrival = self.arrivals.first().filter(|_| taken > 0).map(|arrival| arrival.at);
        for Arrival { at, port, what, tag } in self.arrivals.drain(..taken) {
            let present = self.emulated.now();
            self.meter.late(Some(at), present, |health| &mut health.misplaced);
            let mut tap = Tap {
                ports: self.up.len(),
                reader: &self.reader,
                store: &mut self.store,
                nics: self.nics.as_ref(),
                secure: self.secure.as_mut(),
                meter: &mut self.meter,
                departures: &mut self.departures,
            };
            self.emulated.run_until(at.max(present), &mut tap);
            let behind = |packet: Packet| tag.map_or(packet, |tag| packet.secured(tag));
            match what {
                Heard::Data(packet) => {
                    let packet = behind(packet);
                    let done = self.emulated.deliver(port, packet, &mut tap) == Delivered::Done;
                    if done && self.nics.is_none() {
                        tap.store.take(number(&packet));
                    }
                }
                Heard::Pfc(repr) => pauses(&repr).for_each(|packet| {
                    self.emulated.deliver(port, behind(packet), &mut tap);
                }),
                Heard::Pause | Heard::Malformed | Heard::Foreign => {}
            }
        }
        let mut tap = Tap {
            ports: self.up.len(),
            reader: &self.reader,
            store: &mut self.store,
            nics: self.nics.as_ref(),
            secure: self.secure.as_mut(),
            meter: &mut self.meter,
            departures: &mut self.departures,
        };
        self.emulated.run_until(now, &mut tap);
        // The engine tells of each port in order, of all together not.
        self.departures[first..].sort_by_key(|departure| (departure.at, departure.port));
        Dealt { event, arrival }
    }

    /// Frames that leave, in order, to be sent.
    pub(super) fn departures(&mut self) -> std::vec::Drain<'_, Departure> {
        self.departures.drain(..)
    }

    /// When [`run_until`](Self::run_until) has something to do next, if nothing arrives before.
    pub(super) fn next(&self) -> Time {
        let waiting = self.arrivals.iter().map(|arrival| arrival.at).min();
        waiting.unwrap_or(Time::MAX).min(self.emulated.next_event())
    }

    /// Cuts or mends the link of a port, now. What arrived over it and was not taken up yet is lost.
    fn set_link(&mut self, port: u16, up: bool) {
        self.up[usize::from(port)] = up;
        self.emulated.set_link(port, up);
        if !up {
            let before = self.arrivals.len();
            self.arrivals.retain(|arrival| arrival.port != port);
            let lost = u64::try_from(before - self.arrivals.len()).unwrap_or(u64::MAX);
            self.meter.note(|health| health.cut += lost);
        }
    }

    /// Does something at once, at a port that there is.
    ///
    /// # Errors
    /// It refuses.
    pub(super) fn obey(&mut self, order: Order) -> Result<(), ControlError> {
        match order {
            Order::Link { port, up } => self.set_link(port, up),
            Order::Disconnect => self.nics.iter_mut().for_each(Nics::disconnect),
            Order::StartFlow { port, flow } => self.start_flow(port, &flow)?,
            Order::StopFlow { port, connection } => self.stop_flow(port, connection)?,
            other => self.emulated.order(other)?,
        }
        Ok(())
    }

    /// Lets the NIC at a port send by itself from now on.
    ///
    /// # Errors
    /// It is no NIC.
    fn start_flow(&mut self, port: u16, order: &FlowOrder) -> Result<(), Refused> {
        let FlowOrder { connection, message, mtu, count, psn, class, dscp, .. } = *order;
        let verb = order.verb.into();
        let tag = order.tag();
        let id = self.nics.as_mut().ok_or_else(no_nic)?.begin(connection, verb, tag);
        let verb = nic::Verb::from(verb);
        let host = self.emulated.nic_host(port);
        if order.to.is_some() {
            self.nics.iter_mut().for_each(|nics| nics.join(connection));
        }
        let dst = match order.to {
            Some(other) => self.emulated.nic_host(other),
            None => port,
        };
        let dst = host::at(dst, order.address);
        let container = order.container.map_or(Container::USUAL, Container::from);
        let nics = self.nics.as_mut().ok_or_else(no_nic)?;
        let takes_over = container.takes_over.map(|before| nics.name(before));
        let (ect, container) = (true, Container { takes_over, ..container });
        let (pcp, over, gid) = (tag.map(|tag| tag.pcp.get()), order.over.into(), order.gid);
        let flow = nic::Flow {
            id,
            verb,
            message,
            mtu,
            count,
            psn,
            dst,
            class,
            dscp,
            pcp,
            over,
            gid,
            ect,
            container,
        };
        self.emulated.rig().start_flow(host, &flow);
        Ok(())
    }

    /// Lets it send nothing new on a connection.
    ///
    /// # Errors
    /// It is no NIC.
    fn stop_flow(&mut self, port: u16, connection: u16) -> Result<(), Refused> {
        let id = self.nics.as_mut().ok_or_else(no_nic)?.name(connection);
        let host = self.emulated.nic_host(port);
        self.emulated.rig().stop_flow(host, id);
        Ok(())
    }

    /// Rig port `i` is cabled to port `behind[i]`: it is behind that cable that its channels are. A cable that stays where it
    /// was goes on with its packet numbers.
    pub(super) fn cable(&mut self, behind: &[u16]) {
        let (before, secure) = (self.rig(), self.secure.take());
        self.reader.cable(behind);
        // The keys fitted before.
        let _fits = self.secure();
        let stays = before.iter().zip(self.rig()).map(|(&before, now)| before == now);
        if let (Some(now), Some(before)) = (&mut self.secure, secure) {
            now.go_on(before, stays);
        }
    }

    /// The rig's port at each of the device's.
    fn rig(&self) -> Vec<u16> {
        (0..).take(self.up.len()).map(|port| self.reader.rig(port)).collect()
    }

    /// The device has these keys from now on.
    ///
    /// # Errors
    /// They are too short for its cipher suite.
    pub(super) fn key(&mut self, keys: Option<Keys>) -> Result<(), ControlError> {
        self.keys = keys;
        self.secure()
    }

    /// Settings were changed. Another association begins anew; with anything else of MACsec all of it does.
    ///
    /// # Errors
    /// The keys are too short for the cipher suite that was set.
    pub(super) fn configured(&mut self) -> Result<(), ControlError> {
        let now = macsec(self.emulated.configured());
        let before = core::mem::replace(&mut self.macsec, now);
        if before == self.macsec {
            return Ok(());
        }
        let (Some(before), Some(now)) = (&before, &self.macsec) else { return self.secure() };
        let Macsec { encoding_sa, next_pn, .. } = *before;
        if *before == (Macsec { encoding_sa, next_pn, ..now.clone() }) {
            self.secure.iter_mut().for_each(|secure| secure.set(before, now));
            return Ok(());
        }
        self.secure()
    }

    fn secure(&mut self) -> Result<(), ControlError> {
        let rig = self.rig();
        let both = self.keys.as_ref().zip(self.macsec.as_ref());
        let made = both.map(|(keys, macsec)| Secure::of(macsec, keys, &rig)).transpose();
        self.secure = None;
        self.secure = made.map_err(|bad| Refused { why: bad.to_string() })?.flatten();
        Ok(())
    }

    /// Room for so many bytes of frames and no more.
    #[cfg(test)]
    pub(super) fn limit(&mut self, bytes: usize) {
        self.store = Store::new(bytes);
    }
}

/// Hears of every frame that leaves the device.
struct Tap<'a> {
    /// How many of the engine's hosts are ports of the rig: whatever further ones hear of stays within the device.
    ports: usize,
    reader: &'a Reader,
    store: &'a mut Store,
    nics: Option<&'a Nics>,
    secure: Option<&'a mut Secure>,
    meter: &'a mut Meter,
    departures: &'a mut Vec<Departure>,
}

impl rig_oracle::model::Tap for Tap<'_> {
    fn frame(&mut self, at: Time, port: u16, dir: Dir, packet: &Packet) {
        if dir == Dir::Tx || usize::from(port) >= self.ports {
            return;
        }
        let (packet, tag) = packet.opened();
        let packet = &packet;
        let bytes = match (packet.kind, self.nics) {
            (PacketKind::Pfc, _) => self.reader.pfc(port, packet),
            (_, Some(nics)) => {
                // Of a connection that was torn down nothing leaves.
                let Some(bytes) = nics.bytes(self.reader.rig(port), packet) else { return };
                bytes
            }
            (
                PacketKind::Data
                | PacketKind::Ack
                | PacketKind::Nak
                | PacketKind::Cnp
                | PacketKind::ReadRequest
                | PacketKind::NotReady,
                None,
            ) => {
                let Some(mut bytes) = self.store.take(number(packet)) else {
                    return self.meter.note(|health| health.evicted += 1);
                };
                if packet.ce() {
                    tos::mark(&mut bytes);
                } else {
                    // Only a device that takes marks off sends out unmarked what came in marked.
                    tos::unmark(&mut bytes);
                }
                tag::set(&mut bytes, packet.pcp());
                bytes
            }
        };
        let bytes = match tag {
            None => bytes,
            Some(tag) => {
                let secure = self.secure.as_mut();
                let Some(sealed) = secure.and_then(|secure| secure.seal(port, tag, &bytes)) else {
                    return self.meter.note(|health| health.keyless += 1);
                };
                sealed
            }
        };
        self.departures.push(Departure { at, port, bytes });
    }
}

/// What somebody is told who wants flows of a switch.
fn no_nic() -> Refused {
    Refused { why: "the device is a switch, which sends nothing by itself: want a NIC".to_owned() }
}

/// How the device protects frames; `None` of what has no MACsec.
fn macsec(declared: &Declared) -> Option<Macsec> {
    declared.switch().map(|switch| switch.macsec.clone())
}

/// Twice as many bytes as the device's buffers hold: what it holds, and as much again of what it threw away. Of another device than a
/// switch no limit is declared.
fn room(declared: &Declared) -> usize {
    let Some(buffer) = declared.switch().map(|switch| &switch.buffer) else { return usize::MAX };
    let groups = u64::from(declared.port_count()) * 8 * u64::from(buffer.memories());
    let held = buffer.pool.0 + groups * (buffer.reserved.0 + buffer.xoff.0);
    usize::try_from(held.saturating_mul(2)).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
