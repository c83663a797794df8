//! How far a sender has got, and what of it a packet may have known of that it sends.

use rig_frames::psn::Psn;
use rig_units::{Dur, Time};

/// How far a sender has got, from an instant on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Standing {
    pub(super) from: Time,
    /// The first number that is not acknowledged.
    pub(super) unacked: Psn,
    /// Since when there was no progress.
    pub(super) since: Time,
    pub(super) by: By,
}

/// What says that a sender has got so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    /// Something that came: for a while it may not have been taken in.
    Told,
    /// A packet that left when all was acknowledged that came before it. Who has not taken that in does not know that its time begins anew.
    Sent,
    /// Itself: its timer ran out, or it has not begun.
    Itself,
}

impl Standing {
    /// It stands so, and its time runs, from `at` on.
    pub(super) const fn of(unacked: Psn, at: Time, by: By) -> Standing {
        Standing { from: at, unacked, since: at, by }
    }
}

/// The standings that a packet which left at `at` may have known of: the last of them first, and then those before what came so short a
/// time ago that it need not have been taken in, whatever left since then. Two stamps leave `blur` open between them.
pub(super) fn may_stand(
    standings: &[Standing],
    at: Time,
    blur: Dur,
    taken_in: Dur,
) -> impl Iterator<Item = &Standing> {
    let known_by = move |standing: &Standing, after: Dur| standing.from + after <= at;
    let known = standings.iter().rposition(|standing| known_by(standing, blur)).unwrap_or(0);
    let before = standings[..=known].windows(2).rev();
    let before = before
        .take_while(move |pair| match pair[1].by {
            By::Told => !known_by(&pair[1], taken_in),
            By::Sent => true,
            By::Itself => false,
        })
        .filter(|pair| pair[1].by == By::Told)
        .map(|pair| &pair[0]);
    standings[known..].iter().chain(before)
}
