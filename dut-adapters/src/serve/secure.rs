//! The device's ports behind their tags: what arrives is opened before the engine takes it up, what the engine sends behind a
//! tag is sealed. The engine decides everything; here is only what it leaves out, which is cryptography.

use rig_frames::macsec::BadKey;
use rig_lab::{Keys, Macsec};
use rig_oracle::model::packet::Tag;
use rig_testcases::wire::macsec::{Cable, End, Heard};
use rig_testcases::{Protection, Secured};

/// Every port's side of MACsec.
#[derive(Debug)]
pub(super) struct Secure {
    ports: Vec<Port>,
    /// Packet number that the device's associations begin with.
    first: u64,
}

#[derive(Debug)]
struct Port {
    cable: Cable,
    received: Heard,
    sent: Heard,
}

impl Secure {
    /// The ports of a device with this configuration; `rig[i]` is the rig's port at its port `i`. `None` where it does not
    /// speak MACsec.
    pub(super) fn of(macsec: &Macsec, keys: &Keys, rig: &[u16]) -> Result<Option<Secure>, BadKey> {
        let Some(protection) = Protection::of(macsec, Some(keys)) else { return Ok(None) };
        let first = protection.next_pn;
        let port = |&rig: &u16| {
            let cable = Cable::of(&protection, rig)?;
            Ok(Port { cable, received: Heard::default(), sent: Heard::from(first) })
        };
        let ports = rig.iter().map(port).collect::<Result<_, BadKey>>()?;
        Ok(Some(Secure { ports, first }))
    }

    /// Goes on with the packet numbers of `before` at the ports whose cable `stays`.
    pub(super) fn go_on(&mut self, before: Secure, stays: impl Iterator<Item = bool>) {
        let ports = self.ports.iter_mut().zip(before.ports).zip(stays);
        for ((now, before), _) in ports.filter(|&(_, stays)| stays) {
            (now.received, now.sent) = (before.received, before.sent);
        }
    }

    /// Goes by another configuration of which only the association in use and the packet number are new. An association
    /// that is new begins anew at both ends of every cable; with another number the device alone goes on.
    pub(super) fn set(&mut self, before: &Macsec, macsec: &Macsec) {
        let an = macsec.encoding_sa;
        let is_new = an != before.encoding_sa;
        self.first = macsec.next_pn.unwrap_or(1);
        for port in &mut self.ports {
            if is_new {
                port.received.begin(an, 1);
            }
            if is_new || macsec.next_pn != before.next_pn {
                port.sent.begin(an, self.first);
            }
        }
    }

    /// A protected frame that arrived at `port` in clear, as far as that is possible, and its tag as the engine has it.
    pub(super) fn open(&mut self, port: u16, frame: &[u8]) -> Option<(Vec<u8>, Tag)> {
        let port = self.ports.get_mut(usize::from(port))?;
        let (clear, secured) = port.cable.open(End::Rig, &port.received, frame)?;
        port.received.saw(&secured);
        let Secured { an, encrypted, sci, tamper, .. } = secured;
        Some((clear, Tag { an, pn: low(secured.pn), encrypted, sci, tamper }))
    }

    /// `frame` as it leaves `port` behind `tag`.
    pub(super) fn seal(&mut self, port: u16, tag: Tag, frame: &[u8]) -> Option<Vec<u8>> {
        let port = self.ports.get_mut(usize::from(port))?;
        let Tag { an, pn, encrypted, sci, tamper } = tag;
        let pn = port.cable.whole(&port.sent, an, pn);
        let secured = Secured { an, pn, encrypted, sci, tamper };
        port.sent.saw(&secured);
        Some(port.cable.seal(End::Dut, &secured, frame))
    }
}

/// What a tag shows of a packet number.
fn low(pn: u64) -> u32 {
    u32::try_from(pn & u64::from(u32::MAX)).unwrap_or_default()
}
