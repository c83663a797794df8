//! Hosts that are NICs: what they are told to do.

use super::Network;
use super::late::at;
use crate::model::blue_rdma;
use crate::model::host::{Host, Node, Plug, usual};
use crate::model::network::control::Delivered;
use crate::model::nic::{Config, Flow, Nic, Port, Verb};
use crate::model::packet::Packet;
use crate::model::queue::EventQueue;
use crate::model::tap::Tap;
use rig_capture::HostReport;
use rig_capture::blue_rdma::Frame;
use rig_testcases::AppStep;

impl<Q: EventQueue> Network<Q> {
    /// A frame of the outside world whose last bit reaches a host now.
    pub fn deliver_to_host(&mut self, host: u16, packet: &Packet, tap: &mut impl Tap) -> Delivered {
        let now = self.wires.now;
        self.catch_up(host.into(), now, tap);
        let (port, plug, node) = at(&mut self.hosts, host.into());
        if let Some(device) = node.device() {
            device.arrive(port, plug, now, packet, false);
        }
        self.arm_host(host);
        Delivered::Done
    }
}

/// What NICs are asked to do, at the present instant.
impl<Q: EventQueue> Network<Q> {
    /// Starts a flow; its first frame may leave now. A NIC at the far end is told its first number, the size of what a READ is answered with, and that
    /// SENDs come, as connection management would.
    ///
    /// # Panics
    ///
    /// If `host` is no NIC.
    pub fn start_flow(&mut self, host: u16, flow: &Flow) {
        let now = self.wires.now;
        if let Some((nic, plug)) = self.blue_port(host) {
            nic.start_flow(plug, now, flow);
            if let Some((far, _)) = self.blue_port(flow.dst) {
                far.expect(host, flow);
            }
            return self.arm_host(host);
        }
        let (nic, plug) = self.nic_port(host);
        nic.start_flow(plug, now, flow);
        // At whichever of its addresses.
        let far = usize::from(usual(flow.dst));
        if let Some(Host { node: Node::Nic(far), .. }) = self.hosts.get_mut(far) {
            if !flow.verb.is_unreliable() {
                far.begin_at(flow.id, host, flow.psn);
            }
            match flow.verb {
                Verb::Read => far.expect(flow.id, host, flow.mtu),
                verb => far.expect_requests(flow.id, host, verb),
            }
        }
        self.arm_host(host);
    }

    /// Starts a flow whose messages are a step of an application that both ends know.
    ///
    /// # Panics
    ///
    /// If `host` or the far end is no NIC.
    pub fn start_step(&mut self, host: u16, flow: &Flow, step: AppStep) {
        let now = self.wires.now;
        let to = usual(flow.dst);
        for (at, is_own, far) in [(host, true, flow.dst), (to, false, host)] {
            self.nic_port(at).0.learn_step(flow, step, (is_own, far));
        }
        self.start_flow(host, flow);
        for at in [host, to] {
            let (nic, plug) = self.nic_port(at);
            nic.run_apps(plug, now);
            self.arm_host(at);
        }
    }

    /// Sends nothing new of a flow of `host`. What was sent may be sent again.
    ///
    /// # Panics
    ///
    /// If `host` is no NIC.
    pub fn stop_flow(&mut self, host: u16, id: u16) {
        let now = self.wires.now;
        if let Some((nic, plug)) = self.blue_port(host) {
            nic.stop_flow(plug, now, id);
            return self.arm_host(host);
        }
        let (nic, plug) = self.nic_port(host);
        nic.stop_flow(plug, now, id);
        self.arm_host(host);
    }

    /// Takes away the queue pair of a flow at this end of it, as an application does that ends: what was sent is not sent again.
    ///
    /// # Panics
    ///
    /// If `host` is no NIC.
    pub fn end_flow(&mut self, host: u16, id: u16) {
        if self.blue_port(host).is_some() {
            return self.stop_flow(host, id);
        }
        let now = self.wires.now;
        let (nic, plug) = self.nic_port(host);
        nic.end_flow(plug, now, id);
        self.arm_host(host);
    }

    /// Gives the NIC that is `host` another configuration. Its state stays; limiters that are kept for something else start
    /// afresh.
    ///
    /// # Panics
    ///
    /// If `host` is no NIC.
    pub fn set_nic(&mut self, host: u16, config: &Config) {
        let now = self.wires.now;
        let (nic, plug) = self.nic_port(host);
        nic.set(plug, now, config);
        self.arm_host(host);
    }

    /// Gives the NIC of blue-rdma that is `host` another configuration. Its state stays.
    pub(crate) fn set_blue_rdma(&mut self, host: u16, config: &blue_rdma::Config) {
        if let Some((nic, _)) = self.blue_port(host) {
            nic.set(config);
        }
    }

    /// A frame of the outside world for a NIC of blue-rdma, from host `ends.0` to host `ends.1`: what it says, of a connection as the engine calls it.
    pub fn saying(&self, frame: Frame, ends: (u16, u16)) -> Packet {
        blue_rdma::saying(frame, ends, &self.log)
    }

    /// What frames of NICs of blue-rdma say.
    pub fn said(&self) -> blue_rdma::Said {
        self.log.look()
    }

    /// What the driver of the NIC of blue-rdma that is `host` has counted, by name.
    pub(crate) fn blue_rdma_counters(&self, host: u16) -> Vec<(&'static str, u64)> {
        match self.hosts.get(usize::from(host)) {
            Some(Host { node: Node::BlueRdma(port), .. }) => port.counters().to_vec(),
            _ => Vec::new(),
        }
    }

    fn blue_port(&mut self, host: u16) -> Option<(&mut blue_rdma::Port, &mut Plug)> {
        match self.hosts.get_mut(usize::from(host)) {
            Some(Host { plug, node: Node::BlueRdma(port) }) => Some((port, plug)),
            _ => None,
        }
    }

    fn nic_port(&mut self, host: u16) -> (&mut Port, &mut Plug) {
        match &mut self.hosts[usize::from(host)] {
            Host { plug, node: Node::Nic(port) } => (port, plug),
            _ => panic!("a flow starts at a NIC, and only a NIC is configured as one"),
        }
    }

    /// PFC frames for `class`, XOFF and XON, that reached the host that is `host`.
    pub fn pauses_received(&self, host: u16, class: u8) -> u64 {
        self.hosts[usize::from(host)].plug.heard(class)
    }

    /// What the host behind the NIC that is `host` says since it was asked last; `None` where it keeps nothing.
    pub fn host_report(&mut self, host: u16) -> Option<HostReport> {
        match &mut self.hosts.get_mut(usize::from(host))?.node {
            Node::Nic(port) => port.host_report(),
            _ => None,
        }
    }

    /// The NIC that is `host`, to look at.
    pub fn nic(&self, host: u16) -> Option<&Nic> {
        match &self.hosts[usize::from(host)].node {
            Node::Nic(port) => Some(port.nic()),
            _ => None,
        }
    }
}
