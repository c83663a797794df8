//! How often a void trial is repeated: as long as the lab's budget lasts, and there is hope. Only a trial that is void for a reason of the
//! rig's own is; what the device did never asks for another.

use crate::executor::wire::Patience;
use rig_units::Dur;

/// So many void trials of one reason, none of which counted before them, are proof that less than one trial in four counts here: where one
/// in four does, so many in a row are void with a chance below one in a million, which is what a whole run may err by
/// (`(3/4)^49 < 1e-6`). A plan of which fewer than one in four count would take four times as long as planned and more, and a step that
/// takes longer than the lab bears does so each time.
const HOPELESS: u32 = 49;

/// Void trials of one configuration.
#[derive(Debug, Default)]
pub struct Repeats {
    void: u32,
    /// A trial counted.
    counted: bool,
    /// The reason of the last void trials, and how many in a row it was.
    row: Option<(&'static str, u32)>,
}

impl Repeats {
    /// A trial counts.
    pub const fn counts(&mut self) {
        self.counted = true;
    }

    /// A trial is void for `reason` and `took` so long, and is to be repeated: up to half of `planned` always are, which is what a plan
    /// allows for, and more as long as there is patience and hope. Virtual time has no patience: the same trial is void again.
    ///
    /// # Errors
    /// It is not: nothing is left for another, or, with the words for it, no other would count.
    pub fn again(
        &mut self,
        planned: u32,
        (reason, took): (&'static str, Dur),
        patience: Option<&Patience>,
    ) -> Result<(), Option<String>> {
        self.void += 1;
        let before = self.row.filter(|(of, _)| *of == reason).map_or(0, |(_, times)| times);
        self.row = Some((reason, before + 1));
        let Some(patience) = patience else {
            return if self.bears(planned) { Ok(()) } else { Err(None) };
        };
        if !self.counted && before + 1 >= HOPELESS {
            return Err(Some(format!(
                "given up after {HOPELESS} in a row for one reason, as fewer than one in four can count here: {} s that are left for void \
                 trials are saved for other cases",
                patience.left().0 / Dur::s(1).0
            )));
        }
        if self.bears(planned) || patience.spend(took) { Ok(()) } else { Err(None) }
    }

    /// Whether a plan allows for as many void trials as there were.
    const fn bears(&self, planned: u32) -> bool {
        self.void <= planned.div_ceil(2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a trial of a second is repeated of a plan of `planned`.
    fn often(planned: u32, patience: Option<&Patience>) -> usize {
        let mut repeats = Repeats::default();
        let mut again = |_: &i32| repeats.again(planned, ("late-send", Dur::s(1)), patience);
        (0..1_000).take_while(|trial| again(trial).is_ok()).count()
    }

    fn patience(seconds: u64) -> Patience {
        let patience = Patience::default();
        patience.grant(Dur::s(seconds));
        patience
    }

    #[test]
    fn without_patience_half_the_plan_is_repeated_and_one_even_where_one_is_planned() {
        assert_eq!([often(4, None), often(1, None), often(200, None)], [2, 1, 100]);
    }

    #[test]
    fn cases_share_the_time_and_none_gets_less_than_without_it() {
        let patience = patience(10);
        assert_eq!([often(4, Some(&patience)), often(4, Some(&patience))], [12, 2]);
    }

    #[test]
    fn where_none_counts_for_one_reason_it_is_over_after_as_many_as_a_quarter_that_counts_would_not_give()
     {
        assert!(0.75_f64.powi(49) < 1e-6 && 0.75_f64.powi(48) > 1e-6);
        let patience = patience(1_000);
        let mut repeats = Repeats::default();
        let mut of = |reason| repeats.again(1, (reason, Dur::s(1)), Some(&patience));
        assert!((0..48).all(|_| of("late-send").is_ok()));
        // Another reason begins anew.
        assert_eq!(of("dut-late"), Ok(()));
        assert!((0..48).all(|_| of("late-send").is_ok()));
        // The first of them all is the plan's.
        insta::assert_snapshot!(of("late-send").unwrap_err().expect("told"), @"given up after 49 in a row for one reason, as fewer than one in four can count here: 904 s that are left for void trials are saved for other cases");
    }

    #[test]
    fn where_one_has_counted_it_goes_on_as_long_as_there_is_time() {
        let patience = patience(100);
        let mut repeats = Repeats::default();
        repeats.counts();
        let mut of = |_: &i32| repeats.again(1, ("late-send", Dur::s(1)), Some(&patience));
        assert_eq!((0..200).take_while(|trial| of(trial).is_ok()).count(), 101);
        assert_eq!(of(&0), Err(None));
    }
}
