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
    /// Whether something that came says so: for a while it may not have been taken in.
    pub(super) told: bool,
}

/// The standings that a packet which left at `at` may have known of: the last of them first, and then those before what came so short a
/// time ago that it need not have been taken in. Two stamps leave `blur` open between them.
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
        .take_while(move |pair| pair[1].told && !known_by(&pair[1], taken_in))
        .map(|pair| &pair[0]);
    standings[known..].iter().chain(before)
}
