//! What is behind a plug: one variant a kind, and what the engine asks of each.
//!
//! A kind is added as a module with a [`Device`] in it, a variant of [`Node`] and one of [`HostKind`].

pub(in crate::model) mod router;

use super::device::Device;
use super::{Plug, RigPort};
use crate::model::blue_rdma::{self, Log};
use crate::model::link::Link;
use crate::model::middlebox::Middlebox;
use crate::model::nic;
use crate::model::packet::PacketKind;
use rig_units::Time;
use router::Router;

/// The kinds of hosts.
#[expect(
    clippy::large_enum_variant,
    reason = "a topology holds one a host, built once; copied, not boxed"
)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostKind {
    /// A port of the rig.
    RigPort {
        /// Size of the answer to each frame of data, if it answers.
        answer: Option<u16>,
    },
    /// A NIC.
    Nic(nic::Config),
    /// A NIC of blue-rdma.
    BlueRdma(blue_rdma::Config),
    /// The first port of a router.
    Router(router::Config),
    /// A further port of the node whose first port is this host.
    PortOf {
        /// The host that is its first port.
        first: u16,
        /// Which port this is.
        port: u16,
    },
}

/// What is behind a plug.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    /// A port of the rig.
    RigPort(RigPort),
    /// A NIC.
    Nic(nic::Port),
    /// A NIC of blue-rdma.
    BlueRdma(blue_rdma::Port),
    /// Two ports of the rig that pass on to each other what arrives. This is the first of them.
    Middlebox(Box<Middlebox>),
    /// A router. This is its first port.
    Router(Box<Router>),
    /// A further port of a node: which, and the host that is its first.
    PortOf { first: u16, port: usize },
}

impl HostKind {
    /// The host that is the first port of a node that passes frames on from one of its ports to another, and which of them this is;
    /// `None` of whatever frames end at.
    pub(crate) const fn passes_on(&self, own: u16) -> Option<(u16, u16)> {
        match *self {
            HostKind::Router(_) => Some((own, 0)),
            HostKind::PortOf { first, port } => Some((first, port)),
            HostKind::RigPort { .. } | HostKind::Nic(_) | HostKind::BlueRdma(_) => None,
        }
    }
}

impl Node {
    /// What the host called `index` is, on a port of `line` bits a second.
    pub(super) fn new(index: u16, kind: &HostKind, line: u64) -> Node {
        match kind {
            HostKind::RigPort { answer } => Node::RigPort(RigPort::new(*answer)),
            HostKind::Nic(config) => Node::Nic(nic::Port::new(index, config, line)),
            HostKind::BlueRdma(config) => Node::BlueRdma(blue_rdma::Port::new(index, config)),
            HostKind::Router(config) => Node::Router(Box::new(Router::new(config))),
            &HostKind::PortOf { first, port } => Node::PortOf { first, port: port.into() },
        }
    }

    /// What all kinds do; `None` at a further port.
    pub(crate) fn device(&mut self) -> Option<&mut dyn Device> {
        match self {
            Node::RigPort(port) => Some(port),
            Node::Nic(port) => Some(port),
            Node::BlueRdma(port) => Some(port),
            Node::Middlebox(middlebox) => Some(&mut **middlebox),
            Node::Router(router) => Some(&mut **router),
            Node::PortOf { .. } => None,
        }
    }

    /// The same, to look at.
    pub(crate) fn look(&self) -> Option<&dyn Device> {
        match self {
            Node::RigPort(port) => Some(port),
            Node::Nic(port) => Some(port),
            Node::BlueRdma(port) => Some(port),
            Node::Middlebox(middlebox) => Some(&**middlebox),
            Node::Router(router) => Some(&**router),
            Node::PortOf { .. } => None,
        }
    }

    /// The hosts that are its ports, where it has several.
    pub(crate) fn hosts(&self) -> &[u16] {
        match self {
            Node::RigPort(_) | Node::Nic(_) | Node::BlueRdma(_) | Node::PortOf { .. } => &[],
            Node::Middlebox(middlebox) => middlebox.hosts(),
            Node::Router(router) => router.hosts(),
        }
    }

    /// Whether what comes in here leaves by another of its ports.
    pub(crate) const fn passes_on(&self) -> bool {
        matches!(self, Node::Router(_) | Node::PortOf { .. })
    }

    /// From now on it knows by which of its ports each host of the network is reached; of whatever passes nothing on that is nothing.
    pub(crate) fn learn(&mut self, route: Vec<u16>) {
        if let Node::Router(router) = self {
            router.learn(route);
        }
    }

    /// The port of the rig that one of its ports is.
    pub(crate) fn rig_port(&mut self, port: usize) -> Option<&mut RigPort> {
        match self {
            Node::RigPort(port) => Some(port),
            Node::Middlebox(middlebox) => Some(middlebox.rig_port(port)),
            Node::Nic(_) | Node::BlueRdma(_) | Node::Router(_) | Node::PortOf { .. } => None,
        }
    }

    /// Says what it says in the log of its network, where frames have no room for it.
    pub(crate) fn share(&mut self, log: &Log) {
        if let Node::BlueRdma(port) = self {
            port.share(log);
        }
    }

    /// [`Device::foresee`] of a node with one port.
    #[inline]
    pub(crate) fn foresee(&self, plug: &Plug, up: &Link, down: &Link) -> Time {
        match self {
            Node::RigPort(port) => port.foresee(plug, up, down),
            Node::Nic(port) => port.foresee(plug, up, down),
            Node::BlueRdma(_) | Node::Middlebox(_) | Node::Router(_) | Node::PortOf { .. } => {
                Time::MAX
            }
        }
    }

    /// [`Device::consequence`] of a node with one port.
    #[inline]
    pub(crate) fn consequence(
        &self,
        plug: &Plug,
        up: &Link,
        kind: PacketKind,
        arrives: Time,
    ) -> Option<Time> {
        match self {
            Node::RigPort(port) => port.consequence(plug, up, kind, arrives),
            Node::Nic(port) => port.consequence(plug, up, kind, arrives),
            Node::BlueRdma(_) | Node::Middlebox(_) | Node::Router(_) | Node::PortOf { .. } => None,
        }
    }
}
