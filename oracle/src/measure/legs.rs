//! The devices that a stream passes on its way, one after the other: one, or several of a system.

use crate::trials::context::{Context, switch_of};
use rig_lab::{Declared, Kind, Switch};
use rig_testcases::{Script, StreamSpec};
use rig_units::{Bytes, Dur, Length, MIN_FRAME, PortSpeed, Within};

/// Whatever passes frames on: what a measure goes over that asks a device for no more than that.
pub(super) const PASSING: &[Kind] = Kind::PASSING;
/// What has classes, buffers and PFC, too.
pub(super) const SWITCHES: &[Kind] = &[Kind::Switch];

/// A device on the way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leg<'a> {
    /// What it is configured to.
    pub(super) declared: &'a Declared,
    /// How fast the two ports are of the stream whose frames wait longest for their own end where the device cuts through; `None` where flows
    /// of NICs pass it, too, and in a system of devices: then any two of its ports may be those.
    pub(super) speeds: Option<[PortSpeed; 2]>,
    /// The speed of the cable to the next device, and the time through it; `None` at the last.
    pub(super) onward: Option<(PortSpeed, Dur)>,
}

impl<'a> Leg<'a> {
    /// One device as a stream passes it: behind a frame of any other stream that waits for its own end, whichever port that leaves by. Where
    /// flows of NICs pass it, too, that may be between any of its ports.
    pub(super) fn alone(declared: &'a Declared, script: &Script) -> Leg<'a> {
        let speed = |port: u16| declared.port_speed(script.dut_ports[usize::from(port)]);
        let both = |spec: &StreamSpec| Some([speed(spec.from)?, speed(spec.to)?]);
        let waits = |[from, to]: &[PortSpeed; 2]| {
            from.serialise(MIN_FRAME).saturating_sub(to.serialise(MIN_FRAME))
        };
        let speeds = script.streams.iter().filter_map(both).max_by_key(waits);
        Leg { declared, speeds: speeds.filter(|_| script.flows.is_empty()), onward: None }
    }

    /// What a frame of any size takes through it when it is idle. Nothing goes through a NIC.
    pub(super) fn transit(&self) -> Within {
        self.declared.transit().unwrap_or(Within::ZERO)
    }

    /// The same of a frame of this size, where none is longer than `longest`: it stays behind one that takes more, and so may take as much.
    pub(super) fn transit_of(&self, size: Bytes, longest: Bytes) -> Within {
        let of = |size| self.of(size);
        let (own, other) = (of(size), of(longest));
        if other.most() > own.most() { Within::between(own.least(), other.most()) } else { own }
    }

    /// Whether it may take longer for a longer frame: MACsec, or ports of unlike speeds where it cuts through.
    pub(super) fn grows(&self) -> bool {
        self.of(MIN_FRAME) != self.of(self.declared.mtu())
    }

    fn of(&self, size: Bytes) -> Within {
        let of = match self.speeds {
            Some(speeds) => self.declared.transit_between(speeds, size),
            None => self.declared.transit_of(size),
        };
        of.unwrap_or(Within::ZERO)
    }

    /// Whether it pauses who sends this class to it.
    pub(super) fn is_lossless(&self, class: u8) -> bool {
        self.declared.switch().is_some_and(|switch| switch.qos.lossless(class))
    }

    /// The same as a switch, for whatever is measured of what a switch has.
    pub(super) fn switch(&self) -> &'a Switch {
        switch_of(self.declared)
    }
}

/// The way of a stream.
pub(super) fn legs<'a>(
    context: &'a Context<'_>,
    script: &Script,
    spec: &StreamSpec,
) -> Vec<Leg<'a>> {
    let [from, to] = [spec.from, spec.to].map(|port| script.dut_ports[usize::from(port)]);
    let whole = context.profile.system.as_deref().filter(|system| system.alone.is_none());
    let Some((system, hops)) = whole.and_then(|system| Some((system, system.way(from, to)?)))
    else {
        return vec![Leg::alone(context.seen(), script)];
    };
    let leg = |hop: &rig_lab::Hop| {
        let onward = hop.link.and_then(|link| {
            let cable_cm = link.cable_cm.unwrap_or(context.cable_cm());
            Some((system.speed(link.ends[0])?, Length(cable_cm).travel()))
        });
        Leg { declared: context.seen_of(hop.device), speeds: None, onward }
    };
    hops.iter().map(leg).collect()
}
