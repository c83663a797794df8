//! The sending side of PFC in one port: XOFF when a class becomes congested, again before the pause it asked for is
//! over, and XON when the class is relieved.

use super::chance::{self, Draws};
use super::mac::classes;
use super::packet::{CLASSES, Packet, bit, slot};
use rig_capture::PfcFault;
use rig_lab::PfcFaults;
use rig_units::{Dur, PortSpeed, Quanta, Time, Within};

/// How a port sends PFC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// Bit `c` is set when the port sends PFC for class `c`.
    pub sends: u8,
    /// The pause that XOFF asks for.
    pub quanta: Quanta,
    /// Time between two XOFF frames for a class; `None` sends one only, as ns-3 does.
    pub refresh: Option<Within>,
    /// Size of a PFC frame, FCS counted: 64 on Ethernet, 43 in ns-3.
    pub size: u16,
    /// What is wrong with every frame that the port sends.
    pub fault: Option<PfcFault>,
    /// When XON is sent.
    pub xon: Xon,
    /// Time from a class becoming congested to its XOFF, drawn of each; a class that is relieved by then gets none.
    pub emission: Within,
    /// Time from a class being relieved to its XON, drawn of each; a class that is congested again by then gets none. XOFF goes on
    /// until then.
    pub resumption: Within,
    /// What the draws follow from.
    pub seed: u64,
    /// XOFF frames name the class so many above the one that is meant: 0, in a port that does right.
    pub class_off_by: u32,
    /// Whether it sends none any more once its link is up again.
    pub ends_with_link: bool,
    /// Whether a port that was shut sends none once it is open again.
    pub ends_with_port: bool,
}

impl Config {
    /// Gives the ports, which have these speeds, their faults.
    pub(super) fn install(&mut self, faults: &PfcFaults, speeds: impl Iterator<Item = PortSpeed>) {
        let number = faults.malformed_pfc.and_then(|number| usize::try_from(number).ok());
        self.fault = number.and_then(|number| PfcFault::ALL.get(number).copied());
        if faults.refresh_late {
            let longest = speeds.map(|speed| speed.pause(self.quanta)).max();
            self.refresh = longest.map(|longest| Within::exactly(longest.scaled(3, 2)));
        }
        if let Some(us) = faults.xon_late {
            self.xon = Xon::After(Dur::us(us.into()));
        }
        if faults.xon_never {
            self.xon = Xon::Never;
        }
        self.class_off_by = u32::from(faults.xoff_wrong_class);
        self.ends_with_link = faults.link_up_asks_for_nothing;
        self.ends_with_port = faults.opened_port_asks_for_nothing;
    }
}

/// When a port sends XON for a class that is relieved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Xon {
    /// As soon as the port can, as it should.
    AtOnce,
    /// So much later.
    After(Dur),
    /// Never. XOFF does not go on.
    Never,
}

/// What the sender at the far end of one port was told.
#[derive(Debug, Clone)]
pub struct PfcGen {
    config: Config,
    sends: u8,
    congested: u8,
    /// Classes kept at XOFF whatever their congestion.
    held: u8,
    /// Classes that are relieved and whose XON is to come.
    late: u8,
    /// Classes that are congested and whose XOFF is to come.
    coming: u8,
    xoff_at: [Time; CLASSES],
    xon_at: [Time; CLASSES],
    refresh_at: [Time; CLASSES],
    sent: [u64; CLASSES],
    draws: Draws,
}

impl PfcGen {
    /// Nothing congested, nothing sent.
    pub fn new(config: &Config) -> PfcGen {
        PfcGen {
            config: *config,
            sends: config.sends,
            congested: 0,
            held: 0,
            late: 0,
            coming: 0,
            xoff_at: [Time::MAX; CLASSES],
            xon_at: [Time::MAX; CLASSES],
            refresh_at: [Time::MAX; CLASSES],
            sent: [0; CLASSES],
            draws: Draws::new(chance::stream(config.seed, *b"pfctells")),
        }
    }

    /// An XOFF and an XON take so long from now on. Those on their way come when they were due.
    pub(crate) const fn set_taken(&mut self, emission: Within, resumption: Within) {
        self.config.emission = emission;
        self.config.resumption = resumption;
    }

    /// Whether `class` is congested.
    #[inline]
    pub const fn is_congested(&self, class: u8) -> bool {
        self.congested & bit(class) != 0
    }

    /// Classes that the far end has been told to pause.
    pub const fn asserted(&self) -> u8 {
        (((self.congested & !self.coming) | self.late) & self.sends) | self.held
    }

    /// Notes that `class` is congested, or not any more; the frame that this calls for.
    #[cold]
    #[inline(never)]
    pub fn set_congested(&mut self, now: Time, class: u8, congested: bool) -> Option<Packet> {
        let before = self.asserted();
        let unsaid = self.coming & bit(class) != 0;
        let was_congested = self.is_congested(class);
        let is_new = congested && !was_congested && before & bit(class) == 0;
        set(&mut self.congested, class, congested);
        if congested {
            self.late &= !bit(class);
        } else {
            self.coming &= !bit(class);
        }
        if is_new {
            let takes = self.draws.next(self.config.emission);
            set(&mut self.coming, class, takes > Dur::ZERO);
            self.xoff_at[slot(class)] = now + takes;
        }
        // What was never said is not taken back.
        if was_congested && !congested && !unsaid {
            let takes = self.resumes_after();
            set(&mut self.late, class, takes > Dur::ZERO);
            self.xon_at[slot(class)] = now + takes;
        }
        self.tell(now, class, before)
    }

    /// How long after the relief of a class its XON is to leave.
    fn resumes_after(&mut self) -> Dur {
        match self.config.xon {
            Xon::Never => Dur::ZERO,
            Xon::AtOnce => self.draws.next(self.config.resumption),
            Xon::After(late) => self.draws.next(self.config.resumption) + late,
        }
    }

    /// Keeps `class` at XOFF, or lets it follow its congestion again; the frame that this calls for.
    pub fn set_held(&mut self, now: Time, class: u8, held: bool) -> Option<Packet> {
        let before = self.asserted();
        set(&mut self.held, class, held);
        self.tell(now, class, before)
    }

    /// Stops sending PFC for `class`, without a last XON, or sends again if it is configured to; the frame that this
    /// calls for.
    pub fn set_ignore(&mut self, now: Time, class: u8, ignore: bool) -> Option<Packet> {
        let before = self.asserted();
        set(&mut self.sends, class, !ignore && self.config.sends & bit(class) != 0);
        if ignore { None } else { self.tell(now, class, before) }
    }

    /// The frame that is due at `now`: XOFF for every class whose refresh is, XON for every one whose late XON is.
    pub fn on_wake(&mut self, now: Time) -> Option<Packet> {
        let relieved = self.end_late(now);
        for class in classes(self.coming) {
            if self.xoff_at[slot(class)] <= now {
                self.coming &= !bit(class);
                self.refresh_at[slot(class)] = now;
            }
        }
        let due = |class: &u8| self.refresh_at[slot(*class)] <= now;
        let due: u8 = classes(self.asserted()).filter(due).map(bit).sum();
        match (due, relieved) {
            (0, 0) => None,
            (_, 0) => Some(self.xoff(now, due)),
            _ => {
                let xoff = if due == 0 { 0 } else { self.xoff(now, due).enable };
                Some(self.frame(xoff | relieved, relieved, self.config.quanta))
            }
        }
    }

    /// When [`on_wake`](Self::on_wake) has to be called next.
    pub fn wake_at(&self) -> Option<Time> {
        let refreshes = if self.config.refresh.is_some() { self.asserted() } else { 0 };
        let refreshes = classes(refreshes).map(|class| self.refresh_at[slot(class)]);
        let xons = classes(self.late).map(|class| self.xon_at[slot(class)]);
        let xoffs = classes(self.coming).map(|class| self.xoff_at[slot(class)]);
        refreshes.chain(xons).chain(xoffs).min()
    }

    /// Whether there is an XOFF or an XON to come.
    #[inline]
    pub const fn owes(&self) -> bool {
        (self.late | self.coming) != 0
    }

    /// The classes whose late XON is to be sent at `now`.
    fn end_late(&mut self, now: Time) -> u8 {
        let before = self.asserted();
        for class in classes(self.late) {
            if self.xon_at[slot(class)] <= now {
                self.late &= !bit(class);
            }
        }
        let relieved = before & !self.asserted();
        for class in classes(relieved) {
            self.sent[slot(class)] += 1;
        }
        relieved
    }

    /// The XOFF for everything congested: a new sender is at the far end.
    pub fn renew(&mut self, now: Time) -> Option<Packet> {
        let asserted = self.asserted();
        if asserted == 0 { None } else { Some(self.xoff(now, asserted)) }
    }

    /// The cable was mended.
    pub(super) const fn linked(&mut self) {
        if self.config.ends_with_link {
            self.sends = 0;
        }
    }

    /// The port is open again that was shut.
    pub(super) const fn opened(&mut self) {
        if self.config.ends_with_port {
            self.sends = 0;
        }
    }

    /// PFC frames sent for `class`, XON included.
    pub const fn sent(&self, class: u8) -> u64 {
        self.sent[slot(class)]
    }

    fn tell(&mut self, now: Time, class: u8, before: u8) -> Option<Packet> {
        let after = self.asserted();
        if after == before {
            None
        } else if after & bit(class) != 0 {
            Some(self.xoff(now, bit(class)))
        } else if self.config.xon == Xon::Never {
            None
        } else {
            self.sent[slot(class)] += 1;
            Some(self.frame(bit(class), bit(class), Quanta(0)))
        }
    }

    fn xoff(&mut self, now: Time, enable: u8) -> Packet {
        for class in classes(enable) {
            self.sent[slot(class)] += 1;
            let every = self.config.refresh.map(|every| self.draws.next(every));
            self.refresh_at[slot(class)] = every.map_or(Time::MAX, |every| now + every);
        }
        self.frame(enable.rotate_left(self.config.class_off_by), 0, self.config.quanta)
    }

    fn frame(&self, enable: u8, zero: u8, quanta: Quanta) -> Packet {
        let frame = Packet::pfc(enable, zero, quanta, self.config.size);
        self.config.fault.map_or(frame, |fault| frame.with_fault(fault))
    }
}

fn set(mask: &mut u8, class: u8, on: bool) {
    if on {
        *mask |= bit(class);
    } else {
        *mask &= !bit(class);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: Config = Config {
        sends: 0b1_1000,
        quanta: Quanta(100),
        refresh: Some(Within::exactly(Dur(50))),
        size: 64,
        fault: None,
        xon: Xon::AtOnce,
        emission: Within::ZERO,
        resumption: Within::ZERO,
        seed: 0,
        class_off_by: 0,
        ends_with_link: false,
        ends_with_port: false,
    };

    fn enabled(frame: Option<Packet>) -> Option<(u8, u8)> {
        frame.map(|frame| (frame.enable, frame.zero))
    }

    #[test]
    fn congestion_sends_one_xoff_and_its_end_one_xon() {
        let mut pfc = PfcGen::new(&CONFIG);
        assert_eq!(enabled(pfc.set_congested(Time(0), 3, true)), Some((8, 0)));
        assert_eq!(pfc.set_congested(Time(1), 3, true), None);
        assert_eq!(enabled(pfc.set_congested(Time(2), 3, false)), Some((8, 8)));
        assert_eq!((pfc.sent(3), pfc.sent(4)), (2, 0));
    }

    #[test]
    fn one_frame_refreshes_every_class_that_is_due() {
        let mut pfc = PfcGen::new(&CONFIG);
        pfc.set_congested(Time(0), 3, true);
        pfc.set_congested(Time(10), 4, true);
        assert_eq!(pfc.wake_at(), Some(Time(50)));
        assert_eq!(enabled(pfc.on_wake(Time(50))), Some((8, 0)));
        assert_eq!(enabled(pfc.on_wake(Time(100))), Some((0b1_1000, 0)));
        assert_eq!(pfc.on_wake(Time(101)), None);
    }

    #[test]
    fn a_fault_is_in_every_frame_and_in_nothing_else_about_it() {
        for fault in PfcFault::ALL {
            let mut pfc = PfcGen::new(&Config { fault: Some(fault), ..CONFIG });
            let xoff = pfc.set_congested(Time(0), 3, true).expect("told");
            let xon = pfc.set_congested(Time(1), 3, false).expect("told");
            assert_eq!((xoff.fault(), xon.fault()), (Some(fault), Some(fault)));
            assert_eq!((xoff.enable, xoff.zero, xoff.quanta), (8, 0, Quanta(100)));
            assert_eq!(xoff.size, if fault == PfcFault::Size { 65 } else { 64 });
        }
        assert_eq!(Packet::data(0, 0, 0, 3, 3, 64).with_record(true).with_ce(true).fault(), None);
    }

    #[test]
    fn a_class_without_pfc_is_congested_in_silence() {
        let mut pfc = PfcGen::new(&CONFIG);
        assert_eq!(pfc.set_congested(Time(0), 0, true), None);
        assert_eq!((pfc.asserted(), pfc.wake_at()), (0, None));
    }

    #[test]
    fn ignoring_goes_silent_and_its_end_speaks_up_if_need_be() {
        let mut pfc = PfcGen::new(&CONFIG);
        pfc.set_congested(Time(0), 3, true);
        assert_eq!(pfc.set_ignore(Time(1), 3, true), None);
        assert_eq!(pfc.wake_at(), None);
        assert_eq!(enabled(pfc.set_ignore(Time(2), 3, false)), Some((8, 0)));
        pfc.set_ignore(Time(3), 3, true);
        assert_eq!(pfc.set_congested(Time(4), 3, false), None);
    }

    #[test]
    fn a_held_class_stays_at_xoff_when_it_is_relieved() {
        let mut pfc = PfcGen::new(&CONFIG);
        pfc.set_congested(Time(0), 3, true);
        assert_eq!(pfc.set_held(Time(1), 3, true), None);
        assert_eq!(pfc.set_congested(Time(2), 3, false), None);
        assert_eq!(enabled(pfc.on_wake(Time(50))), Some((8, 0)));
        assert_eq!(enabled(pfc.set_held(Time(60), 3, false)), Some((8, 8)));
    }

    #[test]
    fn an_xoff_takes_its_time_and_is_refreshed_from_then_on() {
        let mut pfc = PfcGen::new(&Config { emission: Within::exactly(Dur(7)), ..CONFIG });
        assert_eq!(pfc.set_congested(Time(10), 3, true), None);
        assert_eq!((pfc.asserted(), pfc.owes(), pfc.wake_at()), (0, true, Some(Time(17))));
        assert_eq!(pfc.on_wake(Time(16)), None);
        assert_eq!(enabled(pfc.on_wake(Time(17))), Some((8, 0)));
        assert_eq!((pfc.asserted(), pfc.owes(), pfc.wake_at()), (8, false, Some(Time(67))));
        assert_eq!(enabled(pfc.set_congested(Time(20), 3, false)), Some((8, 8)));
    }

    #[test]
    fn a_class_that_is_relieved_before_its_xoff_gets_neither_word() {
        for xon in [Xon::AtOnce, Xon::After(Dur(3)), Xon::Never] {
            let mut pfc = PfcGen::new(&Config { emission: Within::exactly(Dur(7)), xon, ..CONFIG });
            pfc.set_congested(Time(10), 3, true);
            assert_eq!(pfc.set_congested(Time(12), 3, false), None);
            assert_eq!((pfc.wake_at(), pfc.on_wake(Time(17)), pfc.sent(3)), (None, None, 0));
        }
    }

    #[test]
    fn a_class_that_is_still_paused_needs_no_other_xoff() {
        let mut pfc = PfcGen::new(&Config {
            emission: Within::exactly(Dur(7)),
            xon: Xon::After(Dur(20)),
            ..CONFIG
        });
        pfc.set_congested(Time(0), 3, true);
        pfc.on_wake(Time(7));
        assert_eq!(pfc.set_congested(Time(10), 3, false), None);
        assert_eq!(pfc.set_congested(Time(15), 3, true), None);
        assert_eq!((pfc.asserted(), pfc.wake_at()), (8, Some(Time(57))));
    }

    #[test]
    fn a_late_xon_comes_when_it_is_due_and_xoff_goes_on_until_then() {
        let mut pfc = PfcGen::new(&Config { xon: Xon::After(Dur(70)), ..CONFIG });
        pfc.set_congested(Time(0), 3, true);
        assert_eq!(pfc.set_congested(Time(10), 3, false), None);
        assert_eq!((pfc.asserted(), pfc.wake_at()), (8, Some(Time(50))));
        assert_eq!(enabled(pfc.on_wake(Time(50))), Some((8, 0)));
        assert_eq!(pfc.wake_at(), Some(Time(80)));
        assert_eq!(enabled(pfc.on_wake(Time(80))), Some((8, 8)));
        assert_eq!((pfc.asserted(), pfc.wake_at(), pfc.sent(3)), (0, None, 3));
    }

    #[test]
    fn an_xon_takes_its_time_and_xoff_goes_on_until_then() {
        let resumption = Within::exactly(Dur(7));
        for (xon, takes) in [(Xon::AtOnce, 7), (Xon::After(Dur(20)), 27)] {
            let mut pfc = PfcGen::new(&Config { resumption, xon, ..CONFIG });
            assert_eq!(enabled(pfc.set_congested(Time(0), 3, true)), Some((8, 0)));
            assert_eq!(pfc.set_congested(Time(10), 3, false), None);
            assert_eq!((pfc.asserted(), pfc.wake_at()), (8, Some(Time(10 + takes))));
            assert_eq!(enabled(pfc.on_wake(Time(10 + takes))), Some((8, 8)));
        }
    }

    #[test]
    fn each_word_is_drawn_anew_from_its_range() {
        let emission = Within::exactly(Dur(3)) + "0ps..9ps".parse().expect("a range");
        let mut pfc = PfcGen::new(&Config { emission, ..CONFIG });
        let taken = (0..200).map(|n| {
            let now = Time(1_000 * n);
            assert_eq!(pfc.set_congested(now, 3, true), None);
            let due = pfc.wake_at().expect("an XOFF is due");
            assert_eq!(enabled(pfc.on_wake(due)), Some((8, 0)));
            pfc.set_congested(due, 3, false);
            due.since(now).map(|taken| taken.0)
        });
        let taken: std::collections::BTreeSet<_> = taken.map(Option::unwrap).collect();
        assert_eq!(taken.into_iter().collect::<Vec<_>>(), (3..=12).collect::<Vec<_>>());
    }

    #[test]
    fn a_late_xon_is_forgotten_when_the_class_is_congested_again() {
        let mut pfc = PfcGen::new(&Config { xon: Xon::After(Dur(20)), ..CONFIG });
        pfc.set_congested(Time(0), 3, true);
        pfc.set_congested(Time(10), 3, false);
        assert_eq!(pfc.set_congested(Time(15), 3, true), None);
        assert_eq!(pfc.wake_at(), Some(Time(50)));
        // One frame says both: class 3 goes on pausing, class 4 may go on.
        pfc.set_congested(Time(20), 4, true);
        pfc.set_congested(Time(30), 4, false);
        assert_eq!(enabled(pfc.on_wake(Time(50))), Some((0b1_1000, 0b1_0000)));
    }

    #[test]
    fn without_xon_the_refresh_ends_in_silence() {
        let mut pfc = PfcGen::new(&Config { xon: Xon::Never, ..CONFIG });
        pfc.set_congested(Time(0), 3, true);
        assert_eq!(pfc.set_congested(Time(10), 3, false), None);
        assert_eq!((pfc.asserted(), pfc.wake_at(), pfc.sent(3)), (0, None, 1));
    }

    #[test]
    fn xoff_of_the_wrong_class_is_answered_by_xon_of_the_right_one() {
        let mut pfc = PfcGen::new(&Config { class_off_by: 1, ..CONFIG });
        assert_eq!(enabled(pfc.set_congested(Time(0), 4, true)), Some((0b10_0000, 0)));
        assert_eq!(enabled(pfc.set_congested(Time(1), 4, false)), Some((0b1_0000, 0b1_0000)));
        assert_eq!((pfc.sent(4), pfc.sent(5)), (2, 0));
    }
}
