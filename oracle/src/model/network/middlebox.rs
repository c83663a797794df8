//! Two ports of the rig that pass on to each other what arrives: the rig between two NICs.

use super::{NO_HOST, Network};
use crate::model::host::Node;
use crate::model::middlebox::{Middlebox, Touched};
use crate::model::queue::EventQueue;
use rig_testcases::{Bottleneck, Injection};
use rig_units::Dur;

impl<Q: EventQueue> Network<Q> {
    /// Lets two ports of the rig, each cabled to a NIC or to what NICs stand behind, pass on what arrives from now on, `delay` from the last bit in to the first
    /// bit out.
    ///
    /// # Panics
    ///
    /// If one of them is no port of the rig.
    pub fn bridge(&mut self, hosts: [u16; 2], delay: Dur) {
        self.unbridge();
        let ports = hosts.map(|host| {
            let at = &mut self.hosts[usize::from(host)];
            at.plug.is_prompt = true;
            match core::mem::replace(&mut at.node, Node::PortOf { first: hosts[0], port: 1 }) {
                Node::RigPort(port) => port,
                other => panic!("only ports of the rig become a middlebox, not {other:?}"),
            }
        });
        let middlebox = Middlebox::new((self.wires.now, self.log.clone()), hosts, ports, delay);
        self.hosts[usize::from(hosts[0])].node = Node::Middlebox(Box::new(middlebox));
        self.arm(hosts);
    }

    /// Comes back at the next step of such ports: at a switch they were late until now, or are from now on.
    fn arm(&mut self, hosts: [u16; 2]) {
        for host in hosts {
            if self.hosts[usize::from(host)].plug.peer == NO_HOST {
                self.arm_host(host);
            }
        }
    }

    fn middlebox(&mut self) -> Option<&mut Middlebox> {
        self.hosts.iter_mut().find_map(|host| match &mut host.node {
            Node::Middlebox(middlebox) => Some(&mut **middlebox),
            _ => None,
        })
    }

    /// Makes what is passed on to a host pass a bottleneck, from now on. Its draws are those of `seed`.
    pub fn narrow(&mut self, host: u16, bottleneck: &Bottleneck<u16>, seed: u64) {
        if let Some(middlebox) = self.middlebox() {
            middlebox.narrow(host, bottleneck, seed);
        }
    }

    /// Does something to frames that are passed on, from now on. What of it is left to chance is drawn from `seed`.
    pub fn inject(&mut self, injection: Injection<u16>, seed: u64) {
        if let Some(middlebox) = self.middlebox() {
            middlebox.inject(injection, seed);
        }
    }

    /// Passes nothing on any more. What was under way between the hosts is lost; what was done to frames is told.
    pub fn unbridge(&mut self) -> Vec<Touched> {
        let Some([a, b]) = self.middlebox().map(|middlebox| middlebox.sides()) else {
            return Vec::new();
        };
        let hosts = [a, b];
        let [a, b] = hosts.map(usize::from);
        let far = Node::PortOf { first: 0, port: 0 };
        let Node::Middlebox(middlebox) = core::mem::replace(&mut self.hosts[a].node, far) else {
            return Vec::new();
        };
        let ([first, second], touched) = middlebox.into_parts();
        self.hosts[a].node = Node::RigPort(first);
        self.hosts[b].node = Node::RigPort(second);
        for at in [a, b] {
            let plug = &mut self.hosts[at].plug;
            plug.is_prompt = plug.peer != NO_HOST;
        }
        self.arm(hosts);
        touched
    }
}
