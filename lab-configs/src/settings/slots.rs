//! A configuration field by field: a setting reads anew the one value that it changes, and nothing beside it. Cases are held against devices by
//! the thousand, and a device has a hundred fields.

use crate::declared::{BlueNics, Router};
use crate::{
    Buffer, Declared, Estats, Nic, NicHost, NicPfc, Nics, Np, Pfc, Pfcwd, Qos, Rc, Rp, Scheduler,
    Switch, Wred,
};
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

/// The fields of one kind of device, or of a part that has parts, which are their own keys; one that is left out does not compile. Of a part
/// in brackets each field is looked at by itself, too, as far as [`Slots`] tells it.
macro_rules! slots {
    ($of:ident: $([$part:ident])* $($key:ident),*) => {
        impl Slots for $of {
            fn slot<'p>(&self, path: &'p str) -> Option<(&dyn Slot, Option<&'p str>)> {
                let $of { $($part,)* $($key),* } = self;
                let (key, below) = first(path);
                match key {
                    $(stringify!($part) => {
                        let field = below.and_then(|below| $part.slot(below));
                        field.or(Some(($part, below)))
                    })*
                    $(stringify!($key) => Some(($key, below)),)*
                    _ => None,
                }
            }

            fn slot_mut<'p>(&mut self, path: &'p str) -> Option<(&mut dyn Slot, Option<&'p str>)> {
                let $of { $($part,)* $($key),* } = self;
                let (key, below) = first(path);
                match key {
                    $(stringify!($part) => match below {
                        Some(field) if $part.slot(field).is_some() => $part.slot_mut(field),
                        _ => Some(($part, below)),
                    })*
                    $(stringify!($key) => Some(($key, below)),)*
                    _ => None,
                }
            }
        }
    };
}

/// The fields of a part that are read as what they hold. One that its part reads in another way is left out, and read with the whole part.
macro_rules! fields_of {
    ($of:ident: $($key:ident),+) => {
        impl Slots for $of {
            fn slot<'p>(&self, path: &'p str) -> Option<(&dyn Slot, Option<&'p str>)> {
                let (key, below) = first(path);
                match key {
                    $(stringify!($key) => Some((&self.$key, below)),)+
                    _ => None,
                }
            }

            fn slot_mut<'p>(&mut self, path: &'p str) -> Option<(&mut dyn Slot, Option<&'p str>)> {
                let (key, below) = first(path);
                match key {
                    $(stringify!($key) => Some((&mut self.$key, below)),)+
                    _ => None,
                }
            }
        }
    };
}

slots!(Switch: [qos] [scheduler] [buffer] [wred] [pfc] [pfcwd] ports, shut_port, mtu, clock, forwarding_delay, switching_mode, dynamic_buffer, watermark, flex_counter, reboot, macsec);
slots!(Nics: ports, mtu, clock, nic, peer, rdma_router);
slots!(Nic: [np] [rp] [rc] [pfc] [host] [estats] generation, receive, ets);
slots!(Router: ports, mtu, clock, forwarding_delay);
slots!(BlueNics: ports, mtu, clock, blue_rdma);

fields_of!(Qos: default_tc, pfc_enable, pfcwd_sw_enable);
fields_of!(Scheduler: queues, pir, pbs, pir_margin);
fields_of!(Buffer: pool, lossy_pool, cell, descriptor, reserved, dynamic_th, static_th, port_dynamic_th, lossy_dynamic_th, lossy_static_th, xon, xon_offset, xoff, headroom_pool, crossing);
fields_of!(Wred: queues, ecn, kmin, kmax, pmax, weight, average_interval, marking, counts_itself, unit, draw, harddrop, chance_steps, threshold_step);
fields_of!(Pfc: quanta, refresh, response, emission, resumption, xon_counts);
fields_of!(Pfcwd: detection_time, restoration_time, poll_interval, action, big_red_switch, charge, min_samples, jitter, action_latency, timer_lag, backlog, drop_by, config_path);
fields_of!(Np: enable, interval, scope, latency, dscp, pcp, ecn, ack_earns, nak_earns);
fields_of!(Rp: enable, latency, scope, cut_window, initial_alpha, gd, min_dec_fac, first_cnp_rate, inverse_g, alpha_timer, timer, byte_counter, threshold, ai_rate, hai_rate, min_rate, clamp, limiting, burst, rate_step, pacer_step, alpha_free, by_period);
fields_of!(Rc: ack_every, ack_latency, ack_held, nak_latency, resend_latency, recovery, resend_extra, timeout, timeout_late, timeout_late_share, timer_runs_on, adaptive, retries, rnr_retries, rnr_late, mig_req, own_source_port, fmr_fence, receives, receive_again, rnr_timer);
fields_of!(NicPfc: priorities, response, resumption, xoff, xon, threshold_step, quanta, refresh, emission, watchdog);
fields_of!(NicHost: pcie, loopback, mtt, page, mtt_miss, region, contexts);
fields_of!(Estats: latency, poll, depth, window, sync, drift);

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
