//! What ports that went deaf come to over the trials of a case: one trial says nothing of a device, many do.

use rig_capture::analyse::integrity::SILENT;
use rig_oracle::verdict::Doubt;

/// That a port went deaf in more trials than a machine that stands still now and then explains: in a quarter of the plan, and in three. It
/// was seen to do so in one of twenty to sixty; then a plan of twenty has five with a chance below one in a hundred. A device that lets
/// nothing through now and then does not pass because its trials were repeated until none was left.
pub(super) fn deaf(void: &[Doubt], planned: u32) -> Option<Doubt> {
    let mut silent = void.iter().filter(|doubt| doubt.reason == SILENT);
    let first = silent.next()?;
    let times = silent.count() + 1;
    let often = usize::try_from(planned.div_ceil(4)).unwrap_or(usize::MAX).max(3);
    let detail = format!(
        "in {times} trials of a plan of {planned}, more often than a machine that stands still now and then explains; {}",
        first.detail
    );
    (times >= often).then_some(Doubt { reason: SILENT, detail })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_that_is_deaf_now_and_then_is_borne_and_one_that_is_so_more_often_is_told() {
        let of = |times: usize, planned| {
            let doubt = |reason| Doubt { reason, detail: "trial 4: nothing".to_owned() };
            let void = [vec![doubt(SILENT); times], vec![doubt("late-send"); 9]].concat();
            deaf(&void, planned).map(|doubt| doubt.detail)
        };
        assert_eq!([of(0, 20), of(4, 20), of(2, 1)], [None, None, None]);
        insta::assert_snapshot!(of(5, 20).expect("told"), @"in 5 trials of a plan of 20, more often than a machine that stands still now and then explains; trial 4: nothing");
        assert!(of(3, 1).is_some());
    }
}
