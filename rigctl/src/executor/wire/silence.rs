//! Whether a port went deaf: nothing at all arrived there for longer than the lab bears, while frames were sent there that nothing holds.
//!
//! A stall of the machine that takes one direction of one port away shows nowhere else: what is sent leaves in time, and what is missing
//! looks like a device that drops. A device that drops lets something through: other classes, other streams, a PFC frame of its own; and one
//! that lets nothing at all through did not begin with it in mid-trial. So a port at which nothing arrived in the whole trial is none that
//! went deaf: what is missing there is judged.

use rig_capture::SilentPort;
use rig_lab::Declared;
use rig_testcases::{Action, Script, StreamSpec};
use rig_units::{Dur, Time};

/// Fewer frames than these may be lost one by one: their silence says nothing.
const LEAST: u64 = 3;

/// Listens for the silence of each port of a trial.
#[derive(Debug)]
pub(super) struct Listener {
    /// The port at which each stream has to arrive; `None` where something may hold it.
    to: Vec<Option<u16>>,
    ports: Vec<Unanswered>,
    /// How long a frame may be on its way.
    limit: Dur,
    longest: Option<SilentPort>,
}

/// What was sent to a port since something arrived there.
#[derive(Debug, Clone, Copy, Default)]
struct Unanswered {
    /// When its first frame left, and of which stream it was.
    first: Option<(Time, u16)>,
    frames: u64,
    /// Whether anything has arrived there in this trial before.
    heard: bool,
}

impl Listener {
    /// One for `script`, on a device that is so configured: a frame may be on its way for `limit`.
    pub(super) fn of(script: &Script, declared: &Declared, limit: Dur) -> Listener {
        let held = held(script, declared);
        let free = |stream: &StreamSpec| {
            // What is protected may stop for good reason: numbers run out, keys change, what is old is not taken.
            let passes = stream.size <= declared.mtu() && script.macsec.is_none();
            let free = !stream.is_to_nic() && passes && held >> stream.class & 1 == 0;
            let to = free.then_some(stream.to);
            to.filter(|_| !is_cut(script, stream.from) && !is_cut(script, stream.to))
        };
        Listener {
            to: script.streams.iter().map(free).collect(),
            ports: vec![Unanswered::default(); script.ports.len()],
            limit,
            longest: None,
        }
    }

    /// A frame of `stream` left at `at`.
    pub(super) fn sent(&mut self, stream: u16, at: Time) {
        let Some(to) = self.to.get(usize::from(stream)).copied().flatten() else { return };
        let Some(port) = self.ports.get_mut(usize::from(to)) else { return };
        port.first.get_or_insert((at, stream));
        port.frames += 1;
    }

    /// Something arrived at `port` at `at`: if that is after what was sent there, it is no longer silent.
    pub(super) fn heard(&mut self, port: u16, at: Time) {
        let Some(sent) = self.ports.get_mut(usize::from(port)) else { return };
        let answered = sent.first.is_some_and(|(first, _)| at >= first);
        let before = if answered { core::mem::take(sent) } else { Unanswered::default() };
        sent.heard = true;
        self.note(port, before, at);
    }

    /// It was listened until `end`: the longest silence, if any was too long.
    pub(super) fn ends(mut self, end: Time) -> Option<SilentPort> {
        for (port, sent) in (0..).zip(core::mem::take(&mut self.ports)) {
            self.note(port, sent, end);
        }
        self.longest
    }

    fn note(&mut self, port: u16, Unanswered { first, frames, heard }: Unanswered, until: Time) {
        let Some((from, stream)) = first.filter(|_| heard && frames >= LEAST) else { return };
        let lasts = until.since(from).unwrap_or_default();
        let longest = self.longest.map_or(self.limit, |longest| longest.until - longest.from);
        if lasts > longest {
            self.longest = Some(SilentPort { port, stream, frames, from, until });
        }
    }
}

/// Classes that something may hold or drop: those for which the rig itself sends a PFC frame, be it an XON, and those that a big red
/// switch drops. All of them, where the script changes the device on the way or sends PFC frames that name no class: nobody knows of which
/// class they are then.
fn held(script: &Script, declared: &Declared) -> u8 {
    let named = |classes: u8| if classes == 0 { u8::MAX } else { classes };
    let storms = script.storms.iter().map(|storm| named(storm.classes));
    let steps = script.steps.iter().map(|step| match &step.action {
        Action::Pfc(frames) => named(frames.enable),
        Action::Configure(_) | Action::Device(_) => u8::MAX,
        _ => 0,
    });
    let dropped = declared.switch().filter(|switch| switch.pfcwd.big_red_switch);
    let dropped = dropped.into_iter().flat_map(|switch| switch.qos.pfc_enable.iter());
    storms.chain(steps).chain(dropped.map(|class| 1 << class)).fold(0, |all, classes| all | classes)
}

/// Whether the link of a port is cut at any time.
fn is_cut(script: &Script, port: u16) -> bool {
    script.steps.iter().any(|step| step.action == Action::LinkDown(port))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::Switch;
    use rig_testcases::{Step, StormSpec};

    const LIMIT: Dur = Dur::ms(16);

    const fn at(ms: u64) -> Time {
        Time(Dur::ms(ms).0)
    }

    /// A victim of class 3 and a neighbour of class 4, both to p2, which asks for a pause of class 3.
    fn script() -> Script {
        let neighbour =
            StreamSpec { name: "neighbour".into(), class: 4, ..StreamSpec::probe(0, 1) };
        let storms = vec![StormSpec::steady(1)];
        Script { streams: vec![StreamSpec::probe(0, 1), neighbour], storms, ..Script::idle(2) }
    }

    /// The silence of a second in which both send each 10 ms, and p2 hears what is said.
    fn of(script: &Script, heard: impl Fn(u64) -> bool) -> Option<SilentPort> {
        let declared = Declared::Switch(Box::new(Switch::usual()));
        let mut listener = Listener::of(script, &declared, LIMIT);
        for ms in (0..1_000).step_by(10) {
            (0..2).for_each(|stream| listener.sent(stream, at(ms)));
            if heard(ms) {
                listener.heard(1, at(ms) + Dur::us(80));
            }
        }
        listener.ends(at(1_000))
    }

    #[test]
    fn a_port_at_which_nothing_arrives_while_its_neighbour_is_sent_is_deaf() {
        let silent = of(&script(), |ms| ms < 320).expect("680 ms of it");
        assert_eq!(
            silent,
            SilentPort { port: 1, stream: 1, frames: 68, from: at(320), until: at(1_000) }
        );
        // In the middle: until something arrives again.
        let silent = of(&script(), |ms| !(320..500).contains(&ms)).expect("180 ms of it");
        assert_eq!(
            (silent.from, silent.until, silent.frames),
            (at(320), at(500) + Dur::us(80), 19)
        );
    }

    #[test]
    fn a_port_that_hears_anything_is_not_and_nor_is_one_that_misses_single_frames() {
        assert_eq!(of(&script(), |_| true), None);
        // One of three: two are lost in a row, 20 ms pass, and the third comes.
        assert_eq!(of(&script(), |ms| ms.is_multiple_of(20)), None);
    }

    #[test]
    fn a_port_that_nothing_was_ever_let_through_to_is_judged() {
        assert_eq!(of(&script(), |_| false), None);
        // One frame is enough to tell that there is a way.
        assert!(of(&script(), |ms| ms == 0).is_some());
    }

    #[test]
    fn what_may_be_held_asks_for_nothing() {
        let deaf = |script: &Script| of(script, |ms| ms < 320);
        assert!(deaf(&script()).is_some());
        let mut both = script();
        both.storms[0].classes = 0b1_1000;
        assert_eq!(deaf(&both), None, "a storm of both classes");
        both.storms[0].classes = 0;
        assert_eq!(deaf(&both), None, "a storm of no class that is named");
        for action in [
            Action::LinkDown(0),
            Action::LinkDown(1),
            Action::Device(rig_testcases::DeviceVerb::ClearCounters),
        ] {
            let mut cut = script();
            cut.steps.push(Step { at: Dur::ms(1), action: action.clone() });
            assert_eq!(deaf(&cut), None, "{action:?}");
        }
        let mut nic = script();
        nic.streams.iter_mut().for_each(|stream| stream.to = 0);
        assert_eq!(deaf(&nic), None, "to a NIC");
    }
}
