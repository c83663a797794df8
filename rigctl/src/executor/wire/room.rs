//! How much of the machine the benches may take together: a bench that sends at full speed leaves no room for seven others,
//! and all of them would be late.

use core::ops::Sub;
use rig_generator::Program;
use rig_testcases::{Action, Script};
use rig_units::Dur;
use std::sync::{Condvar, Mutex, PoisonError};

/// What a frame costs on its way from the rig through a served device and back, and each KiB of it: on a processor of
/// 2 GHz that copies it four times. On a faster one benches are merely more often idle.
const FRAME: Dur = Dur::us(30);
const KIB: Dur = Dur::us(4);

/// What runs for less than this takes less: others wait that long without harm.
const SHORT: Dur = Dur::ms(100);

/// A share of one processor, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Share(pub u64);

impl Share {
    /// What a script takes while all its streams run.
    pub fn of(script: &Script, program: &Program) -> Share {
        let streams = program.ports.iter().flat_map(|port| &port.streams);
        let each = streams.map(|stream| {
            let size = script.streams[usize::from(stream.index)].on_wire();
            let cost = FRAME.0 + KIB.0 * size.0 / 1_024;
            // It is sealed and opened twice on its way.
            let cost = if script.macsec.is_some() { cost * 2 } else { cost };
            let gap = stream.pace.gap();
            let whole = cost.saturating_mul(1_000_000) / gap.0.max(1);
            whole.saturating_mul(runs(script, stream.index, gap).min(SHORT).0) / SHORT.0
        });
        Share(each.sum())
    }
}

/// How long a stream runs, a frame every `gap`: until it is stopped, has sent what it is to send, or the trial ends.
fn runs(script: &Script, stream: u16, gap: Dur) -> Dur {
    let count = script.streams[usize::from(stream)].count;
    // Of a stream whose number is searched, the number of this trial.
    let most = count.map_or(script.length, |count| gap.saturating_mul(count));
    let (mut since, mut total) = (None, Dur::ZERO);
    for step in &script.steps {
        match step.action {
            Action::StartStream(of) if of == stream => since = since.or(Some(step.at)),
            Action::StopStream(of) if of == stream => {
                total += since.take().map_or(Dur::ZERO, |since| (step.at - since).min(most));
            }
            _ => {}
        }
    }
    total + since.map_or(Dur::ZERO, |since| script.length.saturating_sub(since).min(most))
}

impl Sub for Share {
    type Output = Share;
    fn sub(self, less: Share) -> Share {
        Share(self.0.saturating_sub(less.0))
    }
}

/// What is free, and who waits for some of it.
#[derive(Debug)]
pub(super) struct Room {
    whole: Share,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    taken: Share,
    /// What is asked for, and the turn of whoever asks.
    waiting: Vec<(Share, u64)>,
    turns: u64,
}

impl State {
    /// Whether it is this one's turn: the largest first, which would otherwise wait until all others are done, and the
    /// first to come among equals.
    fn is_next(&self, share: Share, turn: u64) -> bool {
        let before =
            |other: &&(Share, u64)| other.0 > share || (other.0 == share && other.1 < turn);
        !self.waiting.iter().any(|other| before(&other))
    }
}

impl Room {
    /// Six tenths of each of so many processors: the kernel works too, and a thread that waits its turn is late.
    pub(super) fn of(processors: usize) -> Room {
        let whole = Share(600_000 * u64::try_from(processors).unwrap_or(1).max(1));
        Room { whole, state: Mutex::default(), changed: Condvar::new() }
    }

    /// All of it.
    pub(super) const fn whole(&self) -> Share {
        self.whole
    }

    /// Waits until there is room for `share`; what was taken. What exceeds the machine takes all of it.
    pub(super) fn take(&self, share: Share) -> Share {
        let share = share.min(self.whole);
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = state.turns;
        state.turns += 1;
        state.waiting.push((share, turn));
        while share > self.whole - state.taken || !state.is_next(share, turn) {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.retain(|other| other.1 != turn);
        state.taken = Share(state.taken.0 + share.0);
        // Whoever is next may fit in beside this one.
        self.changed.notify_all();
        share
    }

    /// Gives back what was taken.
    pub(super) fn give_back(&self, share: Share) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.taken = state.taken - share;
        self.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_testcases::{Step, StreamKind, StreamRate, StreamSpec};
    use rig_units::{Bytes, PortSpeed};
    use std::sync::Arc;
    use std::sync::mpsc;
    use std::thread;

    /// One stream of 1 KiB frames, one every 340 us, that runs as `steps` say.
    fn share(steps: &[(u64, Action)], length: Dur) -> Share {
        share_of(None, steps, length)
    }

    fn share_of(count: Option<u64>, steps: &[(u64, Action)], length: Dur) -> Share {
        let stream = StreamSpec {
            name: "probe".into(),
            kind: StreamKind::Udp,
            size: Bytes(1_024),
            rate: StreamRate::Every(Dur::us(340)),
            count,
            ..StreamSpec::probe(0, 1)
        };
        let steps =
            steps.iter().map(|&(ms, ref action)| Step { at: Dur::ms(ms), action: action.clone() });
        let script =
            Script { streams: vec![stream], steps: steps.collect(), length, ..Script::idle(2) };
        let program = Program::of(&script, &[PortSpeed::G10; 2]).expect("a slow stream");
        Share::of(&script, &program)
    }

    #[test]
    fn a_stream_takes_what_its_frames_cost_and_less_when_it_is_short() {
        let start = |ms| (ms, Action::StartStream(0));
        let stop = |ms| (ms, Action::StopStream(0));
        let long = Dur::ms(500);
        // 34 us of every 340.
        assert_eq!(share(&[start(0)], long), Share(100_000));
        assert_eq!(share(&[start(450)], long), Share(50_000), "it ends with the trial");
        assert_eq!(share(&[start(0), stop(25)], long), Share(25_000));
        let twice = [start(0), start(10), stop(20), start(100), stop(120)];
        assert_eq!(share(&twice, long), Share(40_000), "20 ms and 20 ms");
        assert_eq!(share(&[], long), Share(0));
        let counted = |count| share_of(Some(count), &[start(0)], long);
        // 50 and 500 frames, one every 340 us: 17 ms, and 170 ms.
        assert_eq!([50, 500].map(counted), [17_000, 100_000].map(Share), "it ends by itself");
    }

    #[test]
    fn the_largest_goes_first_and_what_is_larger_than_the_machine_takes_it_alone() {
        let room = Arc::new(Room::of(1));
        let held = room.take(Share(500_000));
        let (send, receive) = mpsc::channel();
        let ask = |share| {
            let (room, send) = (Arc::clone(&room), send.clone());
            thread::spawn(move || {
                let taken = room.take(Share(share));
                let _ = send.send(taken);
                room.give_back(taken);
            })
        };
        let waiting = |many| {
            while room.state.lock().expect("nobody panicked").waiting.len() < many {
                thread::yield_now();
            }
        };
        let large = ask(9_000_000);
        waiting(1);
        let small = ask(50_000);
        waiting(2);
        assert!(
            receive.try_recv().is_err(),
            "the small one would fit, and the large one is before it"
        );
        room.give_back(held);
        let order: Vec<u64> = receive.iter().take(2).map(|share| share.0).collect();
        assert_eq!(order, [600_000, 50_000]);
        large.join().expect("ends");
        small.join().expect("ends");
    }
}
