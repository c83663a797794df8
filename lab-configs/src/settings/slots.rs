//! A configuration part by part: a setting reads anew the one value or part that it changes, and nothing beside it. Cases are held against
//! devices by the thousand, and a device has a hundred fields.

use crate::declared::{BlueNics, Router};
use crate::{Declared, Nic, Nics, Switch};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Error, Value};

/// What stands at one key below `declared:`.
pub(super) trait Slot {
    /// Its serialised form; null of what is not set.
    fn tree(&self) -> Value;
    /// Becomes what a serialised form says.
    fn read(&mut self, tree: Value) -> Result<(), Error>;
}

impl<T: Serialize + DeserializeOwned> Slot for T {
    fn tree(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn read(&mut self, tree: Value) -> Result<(), Error> {
        *self = serde_json::from_value(tree)?;
        Ok(())
    }
}

/// What stands where. Of a path that goes on below what is found, the rest is handed back.
pub(super) trait Slots {
    fn slot<'p>(&self, path: &'p str) -> Option<(&dyn Slot, Option<&'p str>)>;
    fn slot_mut<'p>(&mut self, path: &'p str) -> Option<(&mut dyn Slot, Option<&'p str>)>;
}

/// The first key of a path, and what is below.
fn first(path: &str) -> (&str, Option<&str>) {
    path.split_once('.').map_or((path, None), |(key, below)| (key, Some(below)))
}

/// The fields of one kind of device, or of a part that has parts, which are their own keys; one that is left out does not compile.
macro_rules! slots {
    ($of:ident: $($key:ident),+) => {
        impl Slots for $of {
            fn slot<'p>(&self, path: &'p str) -> Option<(&dyn Slot, Option<&'p str>)> {
                let $of { $($key),+ } = self;
                let (key, below) = first(path);
                match key {
                    $(stringify!($key) => Some(($key, below)),)+
                    _ => None,
                }
            }

            fn slot_mut<'p>(&mut self, path: &'p str) -> Option<(&mut dyn Slot, Option<&'p str>)> {
                let $of { $($key),+ } = self;
                let (key, below) = first(path);
                match key {
                    $(stringify!($key) => Some(($key, below)),)+
                    _ => None,
                }
            }
        }
    };
}

slots!(Switch: ports, mtu, clock, forwarding_delay, qos, scheduler, buffer, dynamic_buffer, wred, pfc, pfcwd, watermark, flex_counter, reboot, macsec);
slots!(Nics: ports, mtu, clock, nic, peer, rdma_router);
slots!(Nic: generation, np, rp, rc, receive, pfc, host, ets, estats);
slots!(Router: ports, mtu, clock, forwarding_delay);
slots!(BlueNics: ports, mtu, clock, blue_rdma);

impl Slots for Declared {
    fn slot<'p>(&self, path: &'p str) -> Option<(&dyn Slot, Option<&'p str>)> {
        match (self, first(path)) {
            (Declared::Switch(switch), _) => switch.slot(path),
            (Declared::Nic(nics), ("nic", Some(below))) => nics.nic.slot(below),
            (Declared::Nic(nics), ("peer", Some(below))) => nics.peer.as_ref()?.slot(below),
            (Declared::Nic(nics), _) => nics.slot(path),
            (Declared::Router(router), _) => router.slot(path),
            (Declared::BlueRdma(nics), _) => nics.slot(path),
        }
    }

    fn slot_mut<'p>(&mut self, path: &'p str) -> Option<(&mut dyn Slot, Option<&'p str>)> {
        match (self, first(path)) {
            (Declared::Switch(switch), _) => switch.slot_mut(path),
            (Declared::Nic(nics), ("nic", Some(below))) => nics.nic.slot_mut(below),
            (Declared::Nic(nics), ("peer", Some(below))) => nics.peer.as_mut()?.slot_mut(below),
            (Declared::Nic(nics), _) => nics.slot_mut(path),
            (Declared::Router(router), _) => router.slot_mut(path),
            (Declared::BlueRdma(nics), _) => nics.slot_mut(path),
        }
    }
}
