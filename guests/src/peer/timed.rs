//! The rig as whoever asks: frames for queue pairs of a foreign NIC, each at its time. Whatever comes back is told, and changes nothing.

use super::station::{NAP, SLOTS};
use core::net::{IpAddr, Ipv4Addr};
use rig_frames::{MacAddr, ethernet, udp};
use rig_generator::clock::{Clock as _, Wall};
use rig_generator::port::{Backend, Config, Port, RealTime};
use rig_units::{Dur, Time};
use std::net::UdpSocket;

/// How long frames of the NIC are waited for, by which its address is known.
const PATIENCE: Dur = Dur::s(5);
/// How long before a frame is due nobody sleeps any more: a sleeper wakes late by some tens of microseconds.
const AWAKE: Dur = Dur::us(100);

/// A frame that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimedFrame {
    /// When it leaves, from the start.
    pub at: Dur,
    /// What of: a stream, and its number there.
    pub of: (u16, u32),
    /// Its bytes, without FCS.
    pub bytes: Vec<u8>,
}

/// Whether more is to be heard, by now.
pub type GoesOn<'t> = &'t (dyn Fn(Time) -> bool + Sync);
/// A frame that passed: when, which of the frames that were due it was, `None` where the NIC sent it; its bytes.
pub type TimedTap<'t> = &'t mut (dyn FnMut(Time, Option<(u16, u32)>, &[u8]) + Send);

/// What became of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimedPassed {
    /// How long after it was due the latest one had left.
    pub late: Dur,
    /// Frames that the port lost on the way in or out.
    pub lost: u64,
}

/// The rig's interface, open.
#[derive(Debug)]
pub(crate) struct TimedPort {
    port: Port,
    /// The kernel would tell the NIC that nobody listens.
    _socket: UdpSocket,
}

impl TimedPort {
    /// Opens it, in the network namespace of this thread.
    ///
    /// # Errors
    /// It does not open, or another has UDP port 4791.
    pub(crate) fn open(interface: &str, own: IpAddr) -> Result<TimedPort, String> {
        let config = Config { backend: Backend::AfPacket, slots: SLOTS, ..Config::new(interface) };
        let socket = UdpSocket::bind((own, udp::ROCE_PORT));
        let socket = socket.map_err(|error| error.to_string())?;
        let port = Port::open(&config).map_err(|error| error.to_string())?;
        Ok(TimedPort { port, _socket: socket })
    }

    /// The rig's Ethernet address and the NIC's, read off what `from` has sent here since it was opened.
    ///
    /// # Errors
    /// Nothing has come of it.
    pub(crate) fn addresses(&mut self, from: Ipv4Addr) -> Result<(MacAddr, MacAddr), String> {
        let clock = Wall::start();
        let mut found = None;
        while found.is_none() {
            let left = PATIENCE.0.saturating_sub(clock.now().0);
            if left == 0 {
                return Err(format!("nothing has come from {from}"));
            }
            let heard = self.port.rx.poll(&mut |frame, _| found = found.or(ends_of(frame, from)));
            if heard.map_err(|error| error.to_string())? == 0 {
                self.port.rx.wait(NAP).map_err(|error| error.to_string())?;
            }
        }
        found.ok_or_else(|| format!("nothing has come from {from}"))
    }

    /// Sends `frames`, which are in order, and hears what comes until `length` is over, or `goes_on` says no.
    ///
    /// # Errors
    /// The port gave up.
    pub(crate) fn run(
        &mut self,
        frames: &[TimedFrame],
        length: Dur,
        (record, goes_on): (TimedTap<'_>, GoesOn<'_>),
    ) -> Result<TimedPassed, String> {
        let told = |error: rig_generator::port::PortError| error.to_string();
        let mut passed = TimedPassed::default();
        // What came before is none of it.
        while self.port.rx.poll(&mut |_, _| {}).map_err(told)? > 0 {}
        let lost = self.port.rx.stats().map_err(told)?.rx_dropped;
        let clock = Wall::start();
        let end = Time::ZERO + length;
        // Without the permission frames leave late now and then, which is measured.
        let _real_time = RealTime::enter();
        let mut next = 0;
        while clock.now() < end && goes_on(clock.now()) {
            let heard =
                self.port.rx.poll(&mut |frame, stamp| record(clock.at(stamp.at), None, frame));
            let heard = heard.map_err(told)?;
            let tx = &mut self.port.tx;
            let now = clock.now();
            let mut first = None;
            while let Some(frame) = frames.get(next).filter(|frame| Time::ZERO + frame.at <= now) {
                let Some(mut slot) = tx.alloc() else { break };
                tx.bytes(&mut slot)[..frame.bytes.len()].copy_from_slice(&frame.bytes);
                tx.stage(slot, frame.bytes.len());
                first = first.or(Some(Time::ZERO + frame.at));
                record(clock.now(), Some(frame.of), &frame.bytes);
                next += 1;
            }
            tx.publish();
            passed.lost += tx.kick().map_err(told)?.lost;
            if let Some(first) = first {
                passed.late = passed.late.max(clock.now().since(first).unwrap_or_default());
            }
            if heard == 0 {
                let due = frames.get(next).map_or(end, |frame| Time::ZERO + frame.at).min(end);
                let nap = due.since(clock.now() + AWAKE).unwrap_or_default().min(NAP);
                if nap > Dur::ZERO {
                    self.port.rx.wait(nap).map_err(told)?;
                }
            }
        }
        // What was due and did not leave is as late as the end.
        if let Some(left) = frames.get(next).filter(|frame| Time::ZERO + frame.at < end) {
            let by = clock.now().since(Time::ZERO + left.at).unwrap_or_default();
            passed.late = passed.late.max(by);
        }
        passed.lost += self.port.rx.stats().map_err(told)?.rx_dropped - lost;
        Ok(passed)
    }
}

/// Who a frame from `from` went to and comes from, as Ethernet has it; `None` where it is from another one.
fn ends_of(frame: &[u8], from: Ipv4Addr) -> Option<(MacAddr, MacAddr)> {
    let (head, ip) = frame.split_at_checked(ethernet::LEN)?;
    let is_ip = head[12..] == ethernet::ethertype::IPV4.to_be_bytes();
    let is_from = ip.get(12..16)? == from.octets();
    let address = |bytes: &[u8]| bytes.try_into().ok().map(MacAddr);
    let both = (address(&head[..6])?, address(&head[6..12])?);
    // To all of them it says nothing of the rig's own.
    (is_ip && is_from && head[0] & 1 == 0).then_some(both)
}
