//! Which way a register rounds what it is given.

/// A device does one of these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rounding {
    Down,
    Nearest,
    Up,
}

impl Rounding {
    /// That of a device whose ways `drawn` decides.
    pub(super) const fn of_device(drawn: u64) -> Rounding {
        match drawn % 3 {
            0 => Rounding::Down,
            1 => Rounding::Nearest,
            _ => Rounding::Up,
        }
    }

    /// What becomes of a value in a register that counts steps of so much; without one it is kept as it is.
    pub(super) fn in_steps(self, value: u64, step: Option<u64>) -> u64 {
        let Some(step) = step.filter(|step| *step > 1) else { return value };
        let over = value % step;
        let up = match self {
            Rounding::Down => false,
            Rounding::Nearest => over >= step.div_ceil(2),
            Rounding::Up => over > 0,
        };
        (value - over).saturating_add(if up { step } else { 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_kept_in_whole_steps_down_up_or_the_nearest() {
        let ways = [Rounding::Down, Rounding::Nearest, Rounding::Up];
        let of = |value: u64| ways.map(|way| way.in_steps(value, Some(300)));
        assert_eq!((of(1_000), of(1_050)), ([900, 900, 1_200], [900, 1_200, 1_200]));
        assert_eq!(
            (of(900), of(0), of(u64::MAX)[0]),
            ([900; 3], [0; 3], u64::MAX - u64::MAX % 300)
        );
        assert_eq!(ways.map(|way| way.in_steps(1_001, None)), [1_001; 3]);
    }

    #[test]
    fn devices_do_all_three() {
        let ways: Vec<Rounding> = (0..3).map(Rounding::of_device).collect();
        assert_eq!(ways, [Rounding::Down, Rounding::Nearest, Rounding::Up]);
    }
}
