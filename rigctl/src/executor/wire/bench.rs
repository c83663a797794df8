//! One bench: a device under test, and the rig's ports cabled to it.

use super::broken::Broken;
use super::cabling::Cabling;
use super::clocks::SessionClock;
use super::keeper::Keeper;
use super::steered::Steered;
use crate::executor::guest::GuestHost;
use crate::rights::{self, Work};
use rig_generator::netlab::Namespace;
use rig_generator::pausing::{self, Pauser, Reaction, Use};
use rig_generator::port::memory::Halves;
use rig_generator::port::{Backend, Config, Port, RealTime, Transmit};
use rig_generator::{Lane, Obeys, Pacer, Sender, Stall};
use rig_lab::Profile;
use rig_units::{Dur, PortSpeed};
use std::sync::Arc;

/// A device, and the rig's ports cabled to it.
#[derive(Debug)]
pub struct Bench {
    /// Name of the device's profile.
    pub(super) profile: String,
    /// The way to the device.
    pub control: Steered,
    /// What it is cabled to, and who cuts a link.
    pub(super) cabling: Cabling,
    /// The rig's ports: lane `i` is cabled to the device's port `i`.
    pub(super) pacer: Pacer<SessionClock>,
    pub(super) bound: Dur,
    /// The longest frame, without FCS, that each port takes.
    pub(super) longest: Vec<usize>,
    /// The other ends of the wires, where the rig has made them.
    pub(super) far: Option<Far>,
    /// Whether VLAN tags arrive at every one of them.
    pub(super) sees_tags: bool,
    /// Number of the next trial's frames, so that one of an earlier trial is never taken for one of a later.
    pub(super) next: u64,
    pub(super) spoilt: bool,
    /// The guest that the device runs in, if it is one that this machine may keep waiting.
    pub(super) host: Option<Arc<GuestHost>>,
}

/// The other ends of the wires.
#[derive(Debug)]
pub(super) struct Far {
    pub(super) within: Arc<Namespace>,
    pub(super) interfaces: Vec<String>,
    /// The device has ended when this goes: fields are dropped in their order.
    #[expect(dead_code, reason = "held for as long as the device is to live")]
    pub(super) keeper: Keeper,
}

/// Pieces of 4 KiB per port: a millisecond of the shortest frames at 1 Gb/s, and a machine that looks away for longer.
pub(super) const RING: u32 = 2_048;
/// Frames under way per port.
pub(super) const SLOTS: u32 = 256;
/// The longest frame, without FCS.
pub(super) const LONGEST: usize = 9_100;

impl Bench {
    /// The device of that name behind virtual ports that are open.
    pub fn of(
        profile: &Profile,
        control: Steered,
        clock: SessionClock,
        (ports, bound): (Vec<Halves>, Dur),
    ) -> Bench {
        let longest = vec![LONGEST; ports.len()];
        let open = (0..).zip(ports).map(|(index, port)| {
            let speed = profile.declared.port_speed(index).expect("a port of the device");
            // Between virtual ports frames pass in no time.
            lane(port, speed, bound, true)
        });
        let lanes = open.collect();
        // Nothing spins: what a sleep is late by is far below the bound.
        let pacer = Pacer { clock, lanes, awake: Dur::ZERO };
        let profile = profile.name.clone();
        let cabling = Cabling::made();
        Bench {
            profile,
            control,
            cabling,
            pacer,
            bound,
            longest,
            far: None,
            sees_tags: true,
            next: 0,
            spoilt: false,
            host: None,
        }
    }

    /// How far off a timestamp of it may be.
    pub const fn bound(&self) -> Dur {
        self.bound
    }

    /// Whether pauses can be sent to the rig's ports from the other ends of their wires.
    pub const fn has_far_ends(&self) -> bool {
        self.far.is_some()
    }

    /// Tries whether the ports stop when they are paused, in every class that is used.
    ///
    /// # Errors
    /// A port gave up.
    pub fn try_pausing(&mut self, uses: &[Use]) -> Result<Vec<Reaction>, Broken> {
        let ports = self.pacer.lanes.len();
        let uses: Vec<Use> =
            uses.iter().copied().filter(|used| usize::from(used.port) < ports).collect();
        let mut peers = self.far.as_ref().map(Far::open).transpose()?;
        let mut pauser = match &mut peers {
            Some(peers) => Pauser::Peers(peers),
            None => Pauser::Fed,
        };
        // Without the permission a pause is noticed later, and that is what is told.
        let _real_time = RealTime::enter();
        Ok(pausing::try_pausing(&mut self.pacer, &uses, &mut pauser)?)
    }
}

impl Far {
    /// A way into each of them beside the device, whose own ports stay as they are.
    fn open(&self) -> Result<Vec<Box<dyn Transmit>>, Broken> {
        let open = |name: &String| {
            let config = Config {
                backend: Backend::AfPacket,
                longest: 60,
                slots: 8,
                ring: 8,
                ..Config::new(name)
            };
            Port::open(&config).map(|port| port.tx)
        };
        let _raised = rights::raise(Work::Ports);
        let all = self.within.run(|| self.interfaces.iter().map(open).collect::<Result<_, _>>());
        Ok(all.map_err(|error| Broken::Device(error.to_string()))??)
    }
}

/// A port of the rig that sends nothing yet.
pub(super) fn lane((tx, rx): Halves, speed: PortSpeed, bound: Dur, instant: bool) -> Lane {
    // What is left out was late beyond the bound, and with it the frame before: the trial is void.
    let sender = Sender::new(speed, Obeys::default(), Stall::SkipAfter(bound));
    Lane::new(tx, rx, sender, instant)
}
