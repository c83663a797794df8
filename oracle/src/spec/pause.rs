//! What pause frames take from a port (formulas F1 and F2).

use rig_units::{Bytes, Dur, PortSpeed, Quanta};

/// F1: how long a frame of `quanta` pauses a class of a port: q x 512 bit times (IEEE 802.3 Annex 31B.2).
pub fn pause_time(quanta: Quanta, speed: PortSpeed) -> Dur {
    let bits = u64::from(quanta.0) * 512;
    Dur(bits * speed.byte().0 / 8)
}

/// PFC frames sent evenly to one class of a port that has data to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Periodic {
    /// Pause time of each.
    pub quanta: Quanta,
    /// Time between two.
    pub every: Dur,
    /// The port's speed.
    pub speed: PortSpeed,
    /// What the MAC takes from the last bit of a PFC frame until no frame of the class starts any more.
    pub response: Dur,
    /// Size of the data frames, FCS counted.
    pub frame: Bytes,
}

/// A share of time in millionths: its bounds over every phase between data and PFC frames, and its mean over them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Duty {
    /// At the phase that gives the least.
    pub least: u64,
    /// At a random phase.
    pub mean: u64,
    /// Greatest.
    pub most: u64,
}

impl Periodic {
    /// T: the time during which no frame of the class may start.
    fn held(&self) -> Dur {
        pause_time(self.quanta, self.speed).saturating_sub(self.response)
    }

    /// F2: the share of time for which the class is idle. A frame in flight finishes, so each PFC frame costs between
    /// T - t_f and T; at a random phase T - t_f / 2, or T^2 / 2 t_f where T is below a frame time t_f.
    pub fn duty(&self) -> Duty {
        let (held, every) = (u128::from(self.held().0), u128::from(self.every.0.max(1)));
        if held >= every {
            return Duty { least: 1_000_000, mean: 1_000_000, most: 1_000_000 };
        }
        let frame = u128::from(self.speed.slot(self.frame).0.max(1));
        let ppm = |num: u128, den: u128| {
            u64::try_from(num * 1_000_000 / den).unwrap_or(1_000_000).min(1_000_000)
        };
        let mean = if held >= frame {
            ppm(2 * held - frame, 2 * every)
        } else {
            ppm(held * held, 2 * frame * every)
        };
        Duty { least: ppm(held.saturating_sub(frame), every), mean, most: ppm(held, every) }
    }
}

impl Periodic {
    /// The same over a window of `over` that begins and ends anywhere in the period: it holds a pause more or less than its
    /// share. Least and most.
    pub fn within(&self, over: Dur) -> (u64, u64) {
        let Duty { least, most, .. } = self.duty();
        if least == 1_000_000 {
            return (least, most);
        }
        let share = |of_one: u64, pauses: u64| {
            let idle = u128::from(of_one) * u128::from(pauses) * u128::from(self.every.0);
            let share = idle / u128::from(over.0.max(1));
            u64::try_from(share).unwrap_or(u64::MAX).min(1_000_000)
        };
        let every = self.every.0.max(1);
        (share(least, over.0 / every), share(most, over.0.div_ceil(every)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_times_are_those_worked_by_hand() {
        // 65535 x 512 bits: 3.355392 ms at 10 Gb/s, 335.5392 us at 100 Gb/s, 83.8848 us at 400 Gb/s.
        let max = |speed| pause_time(Quanta::MAX, speed).0;
        assert_eq!(max(PortSpeed::G10), 3_355_392_000);
        assert_eq!(max(PortSpeed::G100), 335_539_200);
        assert_eq!(max(PortSpeed::G400), 83_884_800);
        assert_eq!(pause_time(Quanta(1), PortSpeed::G100), Dur(5_120));
        assert_eq!(pause_time(Quanta(0), PortSpeed::G100), Dur::ZERO);
    }

    fn periodic(quanta: u16, every: Dur, response: Dur) -> Duty {
        let frame = Bytes(1_024);
        let (quanta, speed) = (Quanta(quanta), PortSpeed::G100);
        Periodic { quanta, every, speed, response, frame }.duty()
    }

    #[test]
    fn a_pause_longer_than_a_frame_costs_half_a_frame_less_than_it_says() {
        // 1000 quanta = 5.12 us; a 1024 B frame takes 1044 x 80 ps = 83.52 ns; every 10.24 us.
        let duty = periodic(1_000, Dur::ns(10_240), Dur::ZERO);
        assert_eq!(duty, Duty { least: 491_843, mean: 495_921, most: 500_000 });
    }

    #[test]
    fn a_window_holds_a_pause_more_or_less_than_its_share() {
        // 5.12 us every 10.24 us, seen for two and a half periods: two of at least 491843 or three of at most 500000, of 2.5.
        let frame = Bytes(1_024);
        let (every, speed) = (Dur::ns(10_240), PortSpeed::G100);
        let of = Periodic { quanta: Quanta(1_000), every, speed, response: Dur::ZERO, frame };
        assert_eq!(of.within(Dur::ns(25_600)), (393_474, 600_000));
        let held = Periodic { every: Dur::ns(5_120), ..of };
        assert_eq!(held.within(Dur::ns(7)), (1_000_000, 1_000_000));
    }

    #[test]
    fn a_pause_shorter_than_a_frame_often_costs_nothing() {
        // 10 quanta = 51.2 ns against 83.52 ns: 51.2^2 / (2 x 83.52) = 15.693 ns in each microsecond.
        let duty = periodic(10, Dur::us(1), Dur::ZERO);
        assert_eq!(duty, Duty { least: 0, mean: 15_693, most: 51_200 });
    }

    /// How long a class with data to send is idle for a pause of `held` that begins `phase` after a frame did.
    fn idle(phase: u64, held: u64, frame: u64) -> u64 {
        let (mut at, mut idle) = (0, 0);
        while at <= phase + held {
            let starts = if at < phase { at } else { at.max(phase + held) };
            idle += starts - at;
            at = starts + frame;
        }
        idle
    }

    #[test]
    fn a_walk_over_every_phase_costs_what_the_closed_form_says() {
        // Frames of 64 B at 400 Gb/s take 1680 ps. Pauses of one quantum, 1280 ps, and of two and nine, less a response.
        let (speed, every, frame) = (PortSpeed::G400, Dur::us(1), 1_680);
        for (quanta, response) in [(1, 0), (1, 600), (2, 0), (9, 0), (9, 1_000), (9, 10_500)] {
            let periodic = Periodic {
                quanta: Quanta(quanta),
                every,
                speed,
                response: Dur(response),
                frame: Bytes(64),
            };
            let held = u64::from(quanta) * 1_280 - response;
            let walked: Vec<u64> = (1..=frame).map(|phase| idle(phase, held, frame)).collect();
            let (least, most) = (walked.iter().min().unwrap(), walked.iter().max().unwrap());
            // A picosecond of a microsecond is a millionth. The least is approached, not reached, as the phase nears a frame's
            // start; whole picoseconds of phase leave half of one in the mean.
            let duty = periodic.duty();
            assert_eq!(duty.most, *most, "{quanta} quanta");
            assert!(*least - duty.least <= 1, "{quanta} quanta: {} for {least}", duty.least);
            let mean = walked.iter().sum::<u64>() / frame;
            assert!(duty.mean.abs_diff(mean) <= 1, "{quanta} quanta: {} for {mean}", duty.mean);
        }
    }

    #[test]
    fn a_period_without_jitter_keeps_one_phase_anywhere_between_least_and_most() {
        // 100 quanta at 400 Gb/s, 128 ns; frames of 1680 ps begin again when the pause ends. A period that leaves room for
        // whole frames cuts none: most. One that is a picosecond longer has just begun another: least.
        let (held, frame) = (128_000, 1_680);
        let idle_in = |every: u64| idle((every - held) % frame, held, frame);
        let periodic = |every| Periodic {
            quanta: Quanta(100),
            every: Dur(every),
            speed: PortSpeed::G400,
            response: Dur::ZERO,
            frame: Bytes(64),
        };
        let ppm = |every: u64| idle_in(every) * 1_000_000 / every;
        let whole = held + 100 * frame;
        assert_eq!(ppm(whole), periodic(whole).duty().most);
        assert!(ppm(whole + 1).abs_diff(periodic(whole + 1).duty().least) <= 4);
        for every in (whole..whole + frame).step_by(7) {
            let duty = periodic(every).duty();
            assert!(duty.least <= ppm(every) && ppm(every) <= duty.most);
        }
    }

    #[test]
    fn the_response_time_shortens_the_pause_and_a_refreshed_one_never_ends() {
        let duty = periodic(1_000, Dur::ns(10_240), Dur::ns(5_120));
        assert_eq!(duty, Duty { least: 0, mean: 0, most: 0 });
        let duty = periodic(1_000, Dur::ns(5_120), Dur::ZERO);
        assert_eq!((duty.least, duty.most), (1_000_000, 1_000_000));
    }
}
