//! The rig's ports as peers of a device that speaks MACsec: keyed before the first trial of a session, and keyed anew with
//! the device.

use super::trial::Trial;
use super::{Broken, WireLab};
use rig_dut::control::{Keyring, Order, if_offered};
use rig_generator::Peer;
use rig_lab::Declared;
use rig_testcases::Script;

impl WireLab {
    /// Makes the rig's ports speak MACsec, where the device does. Packet numbers go on from trial to trial, and with a device
    /// that is not booted for a session from session to session.
    pub(super) fn secure(&mut self, script: &Script, declared: &Declared) -> Result<(), Broken> {
        let unkeyed = |why: &dyn core::fmt::Display| {
            Broken::Device(format!("{}: it speaks MACsec, and {why}", self.bench.profile))
        };
        let Some(protection) = &script.macsec else {
            return if declared.switch().is_some_and(|switch| switch.macsec.enable) {
                Err(unkeyed(&"the lab has no keys for it (`macsec: keys:`)"))
            } else {
                Ok(())
            };
        };
        let mut peers = Vec::new();
        for (port, &lane) in (0..).zip(&script.dut_ports) {
            if self.bench.pacer.lanes[usize::from(lane)].peer.is_none() {
                let peer = Peer::of(protection, port, script.endpoint(port));
                peers.push((lane, peer.map_err(|bad| unkeyed(&bad))?));
            }
        }
        if !peers.is_empty() {
            let keys = Keyring(protection.keys.clone());
            // One that cannot be given any has them from elsewhere.
            if_offered(self.bench.control.order(Order::Key { keys }))?;
        }
        for (lane, peer) in peers {
            self.bench.pacer.lanes[usize::from(lane)].peer = Some(peer);
        }
        Ok(())
    }
}

impl Trial<'_> {
    /// Goes on with another association at every port of the rig: what a key server would tell both ends.
    pub(super) fn rekey(&mut self, an: u8) {
        for &lane in &self.script.dut_ports {
            if let Some(peer) = &mut self.lab.bench.pacer.lanes[usize::from(lane)].peer {
                peer.rekey(an);
            }
        }
        self.tape.decoder.rekey(an);
    }

    /// Goes on with a packet number that the device was told to go on with.
    pub(super) fn renumber(&mut self, first: u64) {
        for &lane in &self.script.dut_ports {
            if let Some(peer) = &mut self.lab.bench.pacer.lanes[usize::from(lane)].peer {
                peer.renumber(first);
            }
        }
        self.tape.decoder.renumber(first);
    }
}
