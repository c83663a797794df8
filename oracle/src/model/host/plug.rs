//! The end of a host's cable: where it is plugged in, when it may send, and what PFC does to it.

use crate::model::alarm::Alarm;
use crate::model::mac::{self, Mac};
use crate::model::packet::Packet;
use rig_units::{Dur, PortSpeed, Time};

/// What stands for the number of a host where there is none.
pub(crate) const NO_HOST: u16 = u16::MAX;

/// A host's plug.
#[derive(Debug, Clone)]
pub(crate) struct Plug {
    /// The number of the host.
    pub(crate) host: u16,
    /// The link that leads away; the one that leads here is `link ^ 1`.
    pub(crate) link: u16,
    /// Wake-ups for the next arrival of one of its frames at its switch.
    pub(crate) uplink: Alarm,
    /// Wake-ups for its next step, if it is not to be late.
    pub(crate) step: Alarm,
    /// The host at the far end of its cable, or [`NO_HOST`] where that is a switch.
    pub(crate) peer: u16,
    /// Whether it is brought up to date at each of its steps.
    pub(crate) is_prompt: bool,
    /// When the next frame may start.
    pub(crate) busy: Time,
    /// The latest step that was made.
    pub(crate) clock: Time,
    /// When a pause begins or ends by itself.
    pub(crate) gate: Time,
    /// When the next frame starts if nothing happens until then; [`Time::MAX`] if none does.
    pub(crate) starts: Time,
    up: bool,
    mac: Mac,
}

impl Plug {
    /// The plug of host `index`, on a port of `speed`.
    pub(super) fn new(index: u16, config: &mac::Config, speed: PortSpeed) -> Plug {
        Plug {
            host: index,
            link: 0,
            uplink: Alarm::default(),
            step: Alarm::default(),
            peer: NO_HOST,
            is_prompt: false,
            busy: Time::ZERO,
            clock: Time::ZERO,
            gate: Time::MAX,
            starts: Time::MAX,
            up: true,
            mac: Mac::new(config, speed),
        }
    }

    /// The classes that are paused.
    #[inline]
    pub(crate) const fn closed(&self) -> u8 {
        self.mac.closed()
    }

    /// Whether there is a link.
    pub(crate) const fn is_up(&self) -> bool {
        self.up
    }

    /// The earliest instant at which another frame may start.
    #[inline]
    pub(crate) fn ready(&self) -> Time {
        self.busy.max(self.clock)
    }

    /// The next frame starts at `at`, if there is a link.
    #[inline]
    pub(crate) const fn plan(&mut self, at: Time) {
        self.starts = if self.up { at } else { Time::MAX };
    }

    /// The frame that was to start next has started, and another may at `free`.
    #[inline]
    pub(crate) const fn started(&mut self, free: Time) {
        self.clock = self.starts;
        self.busy = free;
    }

    /// A PFC frame arrives at `now`; the classes that may send again.
    pub(crate) fn on_pfc(&mut self, now: Time, pfc: &Packet) -> u8 {
        let opened = self.mac.on_pfc(now, pfc);
        self.turned(now, opened)
    }

    /// A pause begins or ends at `now`; the classes that may send again.
    pub(crate) fn on_gate(&mut self, now: Time) -> u8 {
        let opened = self.mac.on_wake(now);
        self.turned(now, opened)
    }

    /// Obeys PFC otherwise from `now` on; the classes that may send again.
    pub(crate) fn obey(&mut self, now: Time, obeys: u8, response: Dur) -> u8 {
        let opened = self.mac.obey(now, obeys, response);
        self.turned(now, opened)
    }

    /// Obeys PFC in other classes from `now` on; the classes that may send again.
    pub(crate) fn enable(&mut self, now: Time, obeys: u8) -> u8 {
        let opened = self.mac.enable(obeys);
        self.turned(now, opened)
    }

    fn turned(&mut self, now: Time, opened: u8) -> u8 {
        self.clock = now;
        self.gate = self.mac.wake_at().unwrap_or(Time::MAX);
        opened
    }

    /// The cable was cut or mended.
    pub(crate) fn set_up(&mut self, now: Time, up: bool) {
        self.clock = now;
        self.up = up;
        self.mac.reset(now);
        self.gate = Time::MAX;
    }

    /// What PFC did to `class` until `now`.
    /// PFC frames received for `class`.
    pub(crate) fn heard(&self, class: u8) -> u64 {
        self.mac.heard(class)
    }

    pub(crate) fn pauses(&self, class: u8, now: Time) -> mac::Pauses {
        self.mac.pauses(class, now)
    }
}
