//! What loads came to, window by window: the frames of a load say nothing one by one, and most are never recorded.

use crate::{Dir, Record};
use rig_units::Time;

/// Most windows of one trial; the last one lasts until its end.
const WINDOWS: usize = 64;

/// The frames of one stream or flow that passed one side of a port within one window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// The rig port.
    pub port: u16,
    /// Which way.
    pub dir: Dir,
    /// Index of the stream in the script; flows come behind the streams.
    pub connection: u16,
    /// Index of the window in [`Loads::windows`].
    pub window: u16,
    /// How many frames.
    pub frames: u64,
    /// Their sizes together, FCS counted.
    pub bytes: u64,
    /// When the first one's last bit passed.
    pub first: Time,
    /// When the last one's did.
    pub last: Time,
}

/// All loads of a trial.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Loads {
    /// When each window begins, the first with the trial: with each step of the script another one.
    pub windows: Vec<Time>,
    /// By window, and within one in the order in which they were first seen.
    pub all: Vec<Load>,
    /// Where those of the present window begin in `all`.
    open: usize,
}

impl Loads {
    /// How many bytes of memory it takes at least.
    pub(crate) fn takes(&self) -> usize {
        size_of_val(&self.windows[..]) + size_of_val(&self.all[..])
    }

    /// All numbers of it, in an order of its own, for [`of_numbers`](Self::of_numbers).
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let Loads { windows, all, open } = self;
        let count = |of: usize| u64::try_from(of).unwrap_or(u64::MAX);
        let mut numbers = vec![count(*open), count(windows.len()), count(all.len())];
        numbers.extend(windows.iter().map(|at| at.0));
        for Load { port, dir, connection, window, frames, bytes, first, last } in all {
            let small = [*port, u16::from(*dir == Dir::Rx), *connection, *window].map(u64::from);
            numbers.extend(small);
            numbers.extend([*frames, *bytes, first.0, last.0 - first.0]);
        }
        numbers
    }

    /// What [`numbers`](Self::numbers) were of.
    pub(crate) fn of_numbers(numbers: &mut impl Iterator<Item = u64>) -> Loads {
        let mut next = || numbers.next().unwrap_or(0);
        let count = |of: u64| usize::try_from(of).unwrap_or(usize::MAX);
        let small = |of: u64| u16::try_from(of).unwrap_or(u16::MAX);
        let [open, windows, all] = core::array::from_fn(|_| count(next()));
        let windows = (0..windows).map(|_| Time(next())).collect();
        let one = |_| {
            let [port, back, connection, window] = core::array::from_fn(|_| small(next()));
            let [frames, bytes, first, lasted] = core::array::from_fn(|_| next());
            let dir = if back == 1 { Dir::Rx } else { Dir::Tx };
            let (first, last) = (Time(first), Time(first + lasted));
            Load { port, dir, connection, window, frames, bytes, first, last }
        };
        Loads { windows, all: (0..all).map(one).collect(), open }
    }

    /// A step of the script happens.
    pub fn window(&mut self, at: Time) {
        if self.windows.is_empty() {
            self.windows.push(Time::ZERO);
        }
        if self.windows.last() != Some(&at) && self.windows.len() < WINDOWS {
            self.windows.push(at);
            self.open = self.all.len();
        }
    }

    /// A frame of a load passed, recorded or not.
    pub fn saw(&mut self, record: &Record, connection: u16) {
        if self.windows.is_empty() {
            self.windows.push(Time::ZERO);
        }
        let bytes = record.on_wire().0;
        let place = (record.port, record.dir, connection);
        let own = |load: &&mut Load| (load.port, load.dir, load.connection) == place;
        if let Some(load) = self.all[self.open..].iter_mut().find(own) {
            load.frames += 1;
            load.bytes += bytes;
            load.first = load.first.min(record.at);
            load.last = load.last.max(record.at);
            return;
        }
        let window = u16::try_from(self.windows.len() - 1).unwrap_or(u16::MAX);
        let Record { at, port, dir, .. } = *record;
        let (first, last) = (at, at);
        self.all.push(Load { port, dir, connection, window, frames: 1, bytes, first, last });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::What;
    use rig_units::Dur;

    fn frame(at: Dur, dir: Dir) -> Record {
        let what = What::Data { stream: 2, seq: 0, size: 1_000, ce: false };
        Record { at: Time::ZERO + at, port: 1, dir, what, secured: None, vlan: None }
    }

    #[test]
    fn each_window_has_its_own_sums() {
        let mut loads = Loads::default();
        for (us, dir) in [(1, Dir::Tx), (2, Dir::Rx), (3, Dir::Tx)] {
            loads.saw(&frame(Dur::us(us), dir), 2);
        }
        loads.window(Time::ZERO + Dur::us(4));
        loads.saw(&frame(Dur::us(5), Dir::Tx), 2);
        assert_eq!(loads.windows, [Time::ZERO, Time::ZERO + Dur::us(4)]);
        let sums = loads.all.iter().map(|load| (load.dir, load.window, load.frames, load.bytes));
        assert_eq!(
            sums.collect::<Vec<_>>(),
            [(Dir::Tx, 0, 2, 2_000), (Dir::Rx, 0, 1, 1_000), (Dir::Tx, 1, 1, 1_000)]
        );
        let Load { first, last, .. } = loads.all[0];
        assert_eq!((first, last), (Time::ZERO + Dur::us(1), Time::ZERO + Dur::us(3)));
    }

    #[test]
    fn steps_of_one_instant_begin_one_window_and_there_are_not_too_many() {
        let mut loads = Loads::default();
        for us in 0..200 {
            loads.window(Time::ZERO + Dur::us(us / 2));
        }
        assert_eq!(loads.windows.len(), WINDOWS);
    }
}
