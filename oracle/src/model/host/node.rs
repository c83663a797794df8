//! What is behind a plug: one variant a kind, and what the engine asks of each.
//!
//! A kind is added as a module with a [`Device`] in it, a variant here and one of [`HostKind`](super::HostKind).

use super::device::Device;
use super::{Plug, RigPort};
use crate::model::link::Link;
use crate::model::middlebox::Middlebox;
use crate::model::nic;
use crate::model::packet::Kind;
use rig_units::Time;

/// What is behind a plug.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    /// A port of the rig.
    RigPort(RigPort),
    /// A NIC.
    Nic(nic::Port),
    /// Two ports of the rig that pass on to each other what arrives. This is the first of them.
    Middlebox(Box<Middlebox>),
    /// A further port of a node: which, and the host that is its first.
    PortOf { first: u16, port: usize },
}

impl Node {
    /// What all kinds do; `None` at a further port.
    pub(crate) fn device(&mut self) -> Option<&mut dyn Device> {
        match self {
            Node::RigPort(port) => Some(port),
            Node::Nic(port) => Some(port),
            Node::Middlebox(middlebox) => Some(&mut **middlebox),
            Node::PortOf { .. } => None,
        }
    }

    /// The same, to look at.
    pub(crate) fn look(&self) -> Option<&dyn Device> {
        match self {
            Node::RigPort(port) => Some(port),
            Node::Nic(port) => Some(port),
            Node::Middlebox(middlebox) => Some(&**middlebox),
            Node::PortOf { .. } => None,
        }
    }

    /// The hosts that are its ports, where it has several.
    pub(crate) fn hosts(&self) -> &[u16] {
        match self {
            Node::RigPort(_) | Node::Nic(_) | Node::PortOf { .. } => &[],
            Node::Middlebox(middlebox) => middlebox.hosts(),
        }
    }

    /// The port of the rig that one of its ports is.
    pub(crate) fn rig_port(&mut self, port: usize) -> Option<&mut RigPort> {
        match self {
            Node::RigPort(port) => Some(port),
            Node::Middlebox(middlebox) => Some(middlebox.rig_port(port)),
            Node::Nic(_) | Node::PortOf { .. } => None,
        }
    }

    /// [`Device::foresee`] of a node with one port.
    #[inline]
    pub(crate) fn foresee(&self, plug: &Plug, up: &Link, down: &Link) -> Time {
        match self {
            Node::RigPort(port) => port.foresee(plug, up, down),
            Node::Nic(port) => port.foresee(plug, up, down),
            Node::Middlebox(_) | Node::PortOf { .. } => Time::MAX,
        }
    }

    /// [`Device::consequence`] of a node with one port.
    #[inline]
    pub(crate) fn consequence(
        &self,
        plug: &Plug,
        up: &Link,
        kind: Kind,
        arrives: Time,
    ) -> Option<Time> {
        match self {
            Node::RigPort(port) => port.consequence(plug, up, kind, arrives),
            Node::Nic(port) => port.consequence(plug, up, kind, arrives),
            Node::Middlebox(_) | Node::PortOf { .. } => None,
        }
    }
}
