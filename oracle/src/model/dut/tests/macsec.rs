//! A device whose ports speak MACsec, and a rig that does too.

use super::bench::{Case, set};
use crate::model::dut::Dut;
use crate::model::host::{Obeys, PFC_SIZE, Security};
use crate::model::packet::{Packet, PacketKind, Tag};
use crate::model::tap::Dir;
use crate::model::{Storm, Stream};
use rig_lab::{Form, RuleFamily, Setting};
use rig_testcases::{MacsecMode, Tamper};
use rig_units::{Dur, Pace, Quanta, Time};

mod deviations;
mod frames;
mod live;
mod pauses;

/// Hosts 0 to 2 as the device's peers, and what passes them.
pub(super) struct Rig {
    pub(super) dut: Dut,
    pub(super) seen: Vec<(Time, u16, Dir, Packet)>,
}

/// A broadcom device with MACsec, in this mode of PFC; replay protection without a window.
pub(super) fn case(mode: &str) -> Case {
    Case::of(RuleFamily::Broadcom)
        .with("macsec.enable", true)
        .with("macsec.pfc_encryption_mode", mode)
        .with("macsec.enable_replay_protect", true)
}

pub(super) const PEER: Security = Security {
    an: 0,
    next_pn: 1,
    encrypted: true,
    sci: true,
    pfc: Form::Encrypted,
    obeys: Obeys { clear: true, encrypted: true },
};

impl Rig {
    pub(super) fn of(case: Case) -> Rig {
        let mut dut = case.start().dut;
        for host in 0..3 {
            dut.rig().secure(host, Some(PEER));
        }
        Rig { dut, seen: Vec::new() }
    }

    /// The same with a deviation.
    pub(super) fn broken(case: Case, deviation: &str) -> Rig {
        Rig::of(case.mutated(&format!("deviation={deviation}")))
    }

    pub(super) fn until(&mut self, at: Time) {
        let seen = &mut self.seen;
        let mut tap = |at: Time, host: u16, dir: Dir, packet: &Packet| {
            seen.push((at, host, dir, *packet));
        };
        self.dut.run_until(at, &mut tap);
    }

    pub(super) fn run(&mut self, time: Dur) {
        self.until(self.dut.now() + time);
    }

    /// Host `from` sends so many frames of 1024 B of class 3, one each microsecond, and all is over.
    pub(super) fn send(&mut self, from: u16, to: u16, count: u32, macsec_mode: MacsecMode) {
        let stream = Stream { count: Some(count), ..stream(from, to, macsec_mode) };
        self.dut.rig().start_stream(from, &stream);
        self.run(Dur::us(u64::from(count) + 20));
    }

    /// A frame that pauses class 3 as long as can be, from host `from`; whether it does.
    pub(super) fn pauses(&mut self, from: u16, macsec_mode: MacsecMode) -> bool {
        let (enable, quanta, count) = (1 << 3, Quanta::MAX, Some(1));
        let every = Dur::us(1);
        let storm = Storm { id: 900, enable, zero: 0, quanta, every, count, macsec_mode };
        self.dut.rig().start_storm(from, &storm);
        self.run(Dur::us(20));
        self.dut.network().queue_view(from, 3).paused
    }

    /// A counter of host `port`'s port, by what follows the port in its name.
    pub(super) fn counter(&self, port: u16, name: &str) -> u64 {
        let name = format!("Ethernet{} SAI_{name}", port * 4);
        self.dut.counter(&name).unwrap_or_else(|| panic!("there is no {name}"))
    }

    /// What host `host` received of one kind.
    pub(super) fn received(&self, host: u16, kind: PacketKind) -> Vec<Packet> {
        let of = |&&(_, to, dir, ref packet): &&(Time, u16, Dir, Packet)| {
            (to, dir, packet.kind) == (host, Dir::Rx, kind)
        };
        self.seen.iter().filter(of).map(|seen| seen.3).collect()
    }

    pub(super) fn configure(&mut self, path: &str, value: impl Into<serde_json::Value>) {
        let settings: [Setting; 1] = [set(path, value)];
        self.dut.configure(&settings).unwrap_or_else(|why| panic!("{why}"));
    }
}

pub(super) fn stream(from: u16, to: u16, macsec_mode: MacsecMode) -> Stream {
    Stream {
        address: 0,
        first: 0,
        id: from,
        kind: PacketKind::Data,
        names: from,
        class: 3,
        dscp: 3,
        size: 1_024,
        pace: Pace::every(Dur::us(1)),
        dst: to,
        count: None,
        ect: false,
        ce: false,
        record: true,
        pcp: None,
        macsec_mode,
    }
}
