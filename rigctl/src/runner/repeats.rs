//! How often a void trial is repeated: as long as the lab's budget lasts. Only a trial that is void for a reason of the rig's
//! own is; what the device did never asks for another.

use crate::executor::wire::Patience;
use rig_units::Dur;

/// Void trials of one configuration.
#[derive(Debug, Default)]
pub struct Repeats {
    void: u32,
}

impl Repeats {
    /// Whether a void trial that `took` so long is repeated: up to half of `planned` always are, which is what a plan allows
    /// for, and more as long as there is patience. Virtual time has none: the same trial is void again.
    pub fn again(&mut self, planned: u32, took: Dur, patience: Option<&Patience>) -> bool {
        self.void += 1;
        self.void <= planned.div_ceil(2) || patience.is_some_and(|patience| patience.spend(took))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a trial of a second is repeated of a plan of `planned`.
    fn often(planned: u32, patience: Option<&Patience>) -> usize {
        let mut repeats = Repeats::default();
        (0..1_000).take_while(|_| repeats.again(planned, Dur::s(1), patience)).count()
    }

    #[test]
    fn without_patience_half_the_plan_is_repeated_and_one_even_where_one_is_planned() {
        assert_eq!([often(4, None), often(1, None)], [2, 1]);
    }

    #[test]
    fn cases_share_the_time_and_none_gets_less_than_without_it() {
        let patience = Patience::default();
        patience.grant(Dur::s(10));
        assert_eq!([often(4, Some(&patience)), often(4, Some(&patience))], [12, 2]);
    }
}
