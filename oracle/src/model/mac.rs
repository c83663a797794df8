//! The receiving side of PFC in one port: which of its eight classes may not start a frame, and until when
//! (IEEE 802.1Q clause 36; pause times as formula F1, response as F2 of the research notes).
//!
//! Each frame restarts the timer of the classes it addresses; a time of zero ends the pause. The timer counts from the
//! last bit of the frame, the gate closes the MAC's response time later. A frame that has been started is finished.
//! Left out: the pause of all classes (IEEE 802.3 Annex 31B).

use super::chance::{self, Draws};
use super::nic::Departs;
use super::oscillator::Oscillator;
use super::packet::{CLASSES, Packet, bit, slot};
use rig_capture::PfcFault;
use rig_lab::{NicPfcFaults, PfcFaults};
use rig_units::{Dur, PortSpeed, Quanta, Time, Within};
use std::collections::VecDeque;

/// How a port obeys PFC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Bit `c` is set when class `c` obeys.
    pub obeys: u8,
    /// From the last bit of a PFC frame to its effect, drawn of each; no frame overtakes another, but for one that lets a class go.
    pub response: Within,
    /// From the end of a pause to its effect, drawn of each; where it is not known the end of its time takes none, and XON as long as any frame.
    pub resumption: Option<Within>,
    /// What the draws follow from.
    pub seed: u64,
    /// Whether a pause ends by itself when its time is over. Off is ns-3: pure XON/XOFF.
    pub expires: bool,
    /// Whether XON frames count as received PFC frames.
    pub xon_counts: bool,
    /// What it counts the bits of a pause by, and sends its own by.
    pub clock: Oscillator,
    /// What it does wrong.
    pub faults: PfcFaults,
    /// What it does wrong as the port of a NIC.
    pub nic: NicPfcFaults,
    /// Which faults of a frame's format it passes over.
    pub hears: &'static [PfcFault],
}

impl Config {
    /// Obeys at once in the classes `obeys`.
    pub const fn prompt(obeys: u8) -> Config {
        let faults = PfcFaults::NONE;
        Config {
            obeys,
            response: Within::ZERO,
            resumption: None,
            seed: 0,
            expires: true,
            xon_counts: true,
            clock: Oscillator::EXACT,
            faults,
            nic: NicPfcFaults::NONE,
            hears: &[],
        }
    }

    /// Gives the port its faults.
    pub(super) fn install(&mut self, faults: &PfcFaults) {
        self.faults = *faults;
        if faults.lossy_obeys_pfc {
            self.obeys = u8::MAX;
        }
        if faults.pfc_wants_usual_source {
            self.hears = &[];
        }
        if let Some(class) = faults.lossy_class_obeys_pfc {
            self.obeys |= u8::try_from(class).map_or(0, bit);
        }
    }

    /// The classes that are told something by `pfc`.
    const fn told(&self, pfc: &Packet) -> u8 {
        let (enable, nic) = (pfc.enable, &self.nic);
        let of_none = self.faults.empty_vector_pauses
            || nic.nic_stops_for_no_priority
            || (nic.nic_stops_for_any_frame && pfc.quanta.0 == 0);
        if (enable == 0 && of_none) || (enable != 0 && nic.nic_stops_all_priorities) {
            u8::MAX
        } else if self.faults.one_class_of_two_obeyed || nic.nic_stops_in_one_of_two {
            enable & enable.wrapping_neg()
        } else {
            enable
        }
    }

    /// Whether what `pfc` says of the end of pauses is passed over.
    const fn ignores(&self, pfc: &Packet) -> bool {
        let is_of_many = pfc.enable.count_ones() > 1;
        let of_two = self.faults.xon_of_two_ignored || self.nic.nic_ignores_xon_of_two;
        self.faults.xon_ignored || self.nic.nic_ignores_xon || (of_two && is_of_many)
    }

    /// Whether a PFC frame goes on to other ports, which it never does where nothing is wrong.
    const fn passes_on(&self, pfc: &Packet, lossless: u8) -> bool {
        let PfcFaults { pfc_forwarded, xon_forwarded, lossy_pfc_forwarded, .. } = self.faults;
        let pauses_nobody = pfc.enable & !pfc.zero == 0 || pfc.quanta.0 == 0;
        let is_lossy = pfc.enable != 0 && pfc.enable & lossless == 0;
        pfc_forwarded || (xon_forwarded && pauses_nobody) || (lossy_pfc_forwarded && is_lossy)
    }
}

/// What PFC did to one class so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Pauses {
    /// PFC frames received for the class.
    pub frames: u64,
    /// XON frames received for the class, whether they count among `frames` or not.
    pub xons: u64,
    /// Times the class went from paused to not paused, by XON or by the clock.
    pub on_to_off: u64,
    /// Time the class has been paused, the pause that is going on included.
    pub duration: Dur,
    /// Whether it is paused now. It may send all the same if it does not obey.
    pub paused: bool,
    /// Since when it has been, without a break.
    pub since: Option<Time>,
}

/// A frame that was received and takes effect later.
#[derive(Debug, Clone)]
struct Settling {
    reached: Time,
    effect: Time,
    received: Time,
    pfc: Packet,
    /// Whether it lets a class go.
    opens: bool,
}

/// Pause state of one port.
#[derive(Debug, Clone)]
pub struct Mac {
    paused: u8,
    obeys: u8,
    /// All classes where a pause takes the class above too; none in a port that does right.
    spills: u8,
    config: Config,
    quantum: Dur,
    until: [Time; CLASSES],
    since: [Time; CLASSES],
    past: [Pauses; CLASSES],
    received: u64,
    draws: Draws,
    /// What a protected frame takes longer, and when the last of them reached the MAC.
    lates: Draws,
    protected_until: Time,
    /// Frames received whose effect is to come.
    settling: VecDeque<Settling>,
}

/// The classes that a frame asks a pause of.
fn asks(pfc: &Packet) -> u8 {
    if pfc.quanta > Quanta(0) { pfc.enable & !pfc.zero } else { 0 }
}

impl Mac {
    /// Nothing paused, on a port of `speed`.
    pub fn new(config: &Config, speed: PortSpeed) -> Mac {
        Mac {
            paused: 0,
            obeys: config.obeys,
            spills: if config.faults.pfc_honoured_for_other_class { u8::MAX } else { 0 },
            config: *config,
            quantum: config.nic.quantum(speed),
            until: [Time::MAX; CLASSES],
            since: [Time::ZERO; CLASSES],
            past: [Pauses::default(); CLASSES],
            received: 0,
            draws: Draws::new(chance::stream(config.seed, *b"pfcreact")),
            lates: Draws::new(chance::stream(config.seed, *b"pfc-secy")),
            protected_until: Time::ZERO,
            settling: VecDeque::new(),
        }
    }

    /// The classes that may not start a frame.
    #[inline]
    pub const fn closed(&self) -> u8 {
        let own = self.paused & self.obeys;
        own | (own.rotate_left(1) & self.spills)
    }

    /// Takes in a PFC frame whose last bit arrived at `now`; the classes that may send again because of it. One that
    /// breaks its format, as far as that is looked at, is no PFC frame.
    #[cold]
    #[inline(never)]
    pub fn on_pfc(&mut self, now: Time, pfc: &Packet) -> u8 {
        self.on_late_pfc(now, pfc, Within::ZERO)
    }

    /// The same, with an effect that comes later by what the frame takes to the MAC. Its pause counts from its last bit all the same.
    pub fn on_late_pfc(&mut self, now: Time, pfc: &Packet, later: Within) -> u8 {
        if pfc.fault().is_some_and(|fault| !self.config.hears.contains(&fault)) {
            return 0;
        }
        let odd = pfc.fault() == Some(PfcFault::Source);
        let counted = if odd && self.config.faults.pfc_without_source_not_counted {
            0
        } else {
            self.received += 1;
            pfc.enable
        };
        for class in classes(counted) {
            let xon = pfc.zero & bit(class) != 0 || pfc.quanta == Quanta(0);
            self.past[slot(class)].frames += u64::from(!xon || self.config.xon_counts);
            self.past[slot(class)].xons += u64::from(xon);
        }
        let asked = asks(pfc);
        let resumption = self.config.resumption.filter(|_| asked == 0 && self.opens(pfc));
        let takes = resumption.unwrap_or(self.config.response);
        let mut response = self.draws.next(takes);
        if asked != 0 {
            response += self.config.nic.later();
        }
        // The MAC takes frames in one after the other, as they reach it.
        let mut reached = now + self.lates.next(later);
        if later.width() > Dur::ZERO {
            // What is protected does not overtake what was before it.
            reached = reached.max(self.protected_until);
            self.protected_until = reached;
        }
        let ahead = self.settling.partition_point(|other| other.reached <= reached);
        // What lets a class go takes longer than the MAC has each frame: others go ahead of it.
        let is_before = |other: &&Settling| resumption.is_some() || !other.opens;
        let others = self.settling.range(..ahead).filter(is_before);
        let before = others.map(|other| other.effect).max().unwrap_or(Time::ZERO);
        let effect = (reached + response).max(before);
        if effect == now && ahead == 0 {
            return self.apply(now, now, pfc);
        }
        let place = self.settling.iter().take(ahead).position(|other| other.effect > effect);
        let place = place.unwrap_or(ahead);
        for other in self.settling.iter_mut().take(ahead).skip(place) {
            // It stays closed: the pause has begun anew.
            other.pfc.enable &= !asked;
            other.reached = reached;
        }
        let behind = self.settling.iter_mut().skip(ahead);
        behind.for_each(|other| other.effect = other.effect.max(effect));
        let opens = resumption.is_some();
        let settling = Settling { reached, effect, received: now, pfc: *pfc, opens };
        self.settling.insert(place, settling);
        0
    }

    /// Whether a frame lets a class go that is held, or that will be.
    fn opens(&self, pfc: &Packet) -> bool {
        let frees = if pfc.quanta == Quanta(0) { u8::MAX } else { pfc.zero };
        let asking = self.settling.iter().filter(|one| asks(&one.pfc) != 0);
        let coming = asking.fold(0, |all, one| all | self.config.told(&one.pfc));
        self.config.told(pfc) & frees & (self.paused | coming) != 0
    }

    /// Does what is due at `now`; the classes that may send again.
    #[cold]
    #[inline(never)]
    pub fn on_wake(&mut self, now: Time) -> u8 {
        let mut opened = 0;
        while self.settling.front().is_some_and(|next| next.effect <= now)
            && let Some(Settling { received, pfc, .. }) = self.settling.pop_front()
        {
            // A class that one frame opens and the next one closes again stays closed.
            opened = (opened | self.apply(now, received, &pfc)) & !self.closed();
        }
        for class in classes(self.paused) {
            if self.until[slot(class)] <= now {
                opened |= self.end(now, class);
            }
        }
        opened
    }

    /// When [`on_wake`](Self::on_wake) has to be called next.
    pub fn wake_at(&self) -> Option<Time> {
        let settles = self.settling.front().map(|next| next.effect);
        let ends = classes(self.paused).map(|class| self.until[slot(class)]).min();
        settles.into_iter().chain(ends).min().filter(|&at| at != Time::MAX)
    }

    /// Lets `class` ignore its pauses, or obey them if it is configured to; the classes that may send again.
    pub fn set_ignore(&mut self, class: u8, ignore: bool) -> u8 {
        let before = self.closed();
        self.obeys &= !bit(class);
        if !ignore {
            self.obeys |= bit(class) & self.config.obeys;
        }
        before & !self.closed()
    }

    /// Obeys in the classes `obeys` from now on, `response` after the last bit of a frame; what was ignored class by class
    /// is forgotten. Frames that are settling take effect at once, pauses go on. The classes that may send again.
    pub fn obey(&mut self, now: Time, obeys: u8, response: Dur) -> u8 {
        let before = self.closed();
        while let Some(Settling { received, pfc, .. }) = self.settling.pop_front() {
            self.apply(now, received, &pfc);
        }
        self.config = Config { obeys, response: response.into(), ..self.config };
        self.obeys = obeys;
        before & !self.closed()
    }

    /// Obeys in the classes `obeys` from now on. Pauses go on. The classes that may send again.
    pub fn enable(&mut self, obeys: u8) -> u8 {
        let before = self.closed();
        self.config.obeys = obeys;
        self.obeys = obeys;
        before & !self.closed()
    }

    /// Forgets every pause: the link went down. The classes that may send again.
    pub fn reset(&mut self, now: Time) -> u8 {
        let opened = self.closed();
        self.settling.clear();
        for class in classes(self.paused) {
            self.past[slot(class)].duration += now - self.since[slot(class)];
        }
        self.paused = 0;
        opened
    }

    /// The cable was mended.
    pub(super) const fn linked(&mut self) {
        if self.config.faults.link_up_obeys_nothing {
            self.obeys = 0;
        }
    }

    /// The port is open again that was shut.
    pub(super) const fn opened(&mut self) {
        if self.config.faults.opened_port_obeys_nothing {
            self.obeys = 0;
        }
    }

    /// Whether a PFC frame that came in here goes on to other ports.
    pub(super) const fn passes_on(&self, pfc: &Packet, lossless: u8) -> bool {
        self.config.passes_on(pfc, lossless)
    }

    /// PFC frames received, XON and those without any class included.
    pub const fn received(&self) -> u64 {
        self.received
    }

    /// PFC frames received for `class`, XON included where those count.
    pub(crate) fn heard(&self, class: u8) -> u64 {
        self.past[slot(class)].frames
    }

    /// What PFC did to `class` until `now`.
    pub fn pauses(&self, class: u8, now: Time) -> Pauses {
        let mut pauses = self.past[slot(class)];
        pauses.paused = self.paused & bit(class) != 0;
        if pauses.paused {
            pauses.duration += now - self.since[slot(class)];
            pauses.since = Some(self.since[slot(class)]);
        }
        pauses
    }

    fn apply(&mut self, now: Time, received: Time, pfc: &Packet) -> u8 {
        let mut opened = 0;
        let config = self.config;
        for class in classes(config.told(pfc)) {
            let xon = pfc.zero & bit(class) != 0;
            if config.ignores(pfc) && (xon || pfc.quanta == Quanta(0)) {
                continue;
            }
            let is_paused = self.paused & bit(class) != 0;
            let quanta = match if xon { 0 } else { pfc.quanta.0 } {
                0 if !is_paused && config.nic.takes_for_longest(pfc.enable) => Quanta::MAX.0,
                quanta => quanta,
            };
            let mut pause = config.clock.lasting(self.quantum * u64::from(quanta));
            // One that was over before the gate would have closed holds nobody, and so nobody goes on after it.
            let in_vain = config.expires && !is_paused && received + pause <= now;
            if in_vain && pause > Dur::ZERO {
                continue;
            }
            if let Some(resumption) = config.resumption.filter(|_| pause > Dur::ZERO) {
                pause += self.draws.next(resumption);
            }
            let left = self.until[slot(class)];
            let adds = config.nic.nic_pauses_add_up && is_paused && pause > Dur::ZERO;
            let until = if adds { left + pause } else { received + pause };
            if pause == Dur::ZERO || (self.config.expires && until <= now) {
                opened |= self.end(now, class);
                continue;
            }
            let stays = match left > until {
                true => config.faults.long_pause_stays || config.nic.nic_pause_not_shortened,
                false => config.nic.nic_pause_not_prolonged,
            };
            if (config.faults.pause_time_not_restarted || stays) && is_paused {
                continue;
            }
            self.until[slot(class)] = if self.config.expires { until } else { Time::MAX };
            if !is_paused {
                self.paused |= bit(class);
                self.since[slot(class)] = now;
            }
        }
        opened
    }

    fn end(&mut self, now: Time, class: u8) -> u8 {
        let ended = self.paused & bit(class);
        if ended != 0 {
            self.paused &= !ended;
            let past = &mut self.past[slot(class)];
            past.on_to_off += 1;
            past.duration += now - self.since[slot(class)];
        }
        ended & self.obeys
    }
}

/// The classes of a mask, in order.
pub(crate) fn classes(mask: u8) -> impl Iterator<Item = u8> {
    (0..8).filter(move |&class| mask & bit(class) != 0)
}

#[cfg(test)]
mod tests;
