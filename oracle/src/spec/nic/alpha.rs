//! How badly a path is congested, as a limiter has come to know it: each cut brings alpha nearer to one, each alpha timer without one
//! nearer to zero (equations 1 and 2 of DCQCN). The timer starts anew with each cut, so that alpha at any time follows from the last. One that runs on by
//! itself has run out as often, or once more: nobody knows how far it was at the cut.

use super::forms;
use super::real::Real;
use rig_lab::Rp;
use rig_units::{Dur, Time};

/// Alpha as the last cut left it, and when that was. Before the first cut no timer runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Alpha {
    left: Real,
    since: Option<Time>,
}

impl Alpha {
    /// Before the first cut.
    pub(super) fn new(rp: &Rp) -> Alpha {
        Alpha { left: forms::initial_alpha(rp), since: None }
    }

    /// What it is at `at`, after a timer that runs out there; how long ago the cut was is known to within `blur` either way.
    pub(super) fn at(&self, rp: &Rp, at: Time, blur: Dur) -> Real {
        let Some(since) = self.since else { return self.left };
        let ago = at.since(since).unwrap_or(Dur::ZERO);
        let timers = |ago: Dur| ago / rp.alpha_timer;
        let least = timers(ago.saturating_sub(blur));
        let most = match rp.alpha_free {
            Some(true) => (ago + blur).0.div_ceil(rp.alpha_timer.0),
            _ => timers(ago + blur),
        };
        forms::decayed(rp, self.left, (least, most))
    }

    /// A cut at `at`, before which it was `before`.
    pub(super) fn cut(rp: &Rp, at: Time, before: Real) -> Alpha {
        Alpha { left: forms::raised(rp, before), since: Some(at) }
    }
}
