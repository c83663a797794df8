//! What a port sends ahead of a frame that is ready: the wire shows it.

use rig_capture::analyse::nic::Left;
use rig_testcases::RoceKind;
use rig_units::{Bytes, Dur, PortSpeed, Time};
use std::collections::BTreeSet;

/// For how long before each frame its port had sent without a pause of more than `blur` what goes ahead of an answer that is ready: other answers, and
/// before them one frame of any kind that was under way.
pub(super) fn went_ahead(left: &[Left], speed: PortSpeed, blur: Dur) -> Vec<Dur> {
    let mut since: Vec<Time> = Vec::new();
    for (index, one) in left.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| (&left[before], since[before]));
        let joined = before.filter(|(before, _)| follows(before, one, speed, blur));
        since.push(match joined {
            Some((before, since)) if is_answer(before.roce.kind) => since,
            Some((before, _)) => before.at,
            None => one.at,
        });
    }
    left.iter().zip(since).map(|(one, since)| one.at.since(since).unwrap_or(Dur::ZERO)).collect()
}

/// Whether a NIC sends it ahead of data.
pub(super) const fn is_answer(kind: RoceKind) -> bool {
    match kind {
        RoceKind::Ack
        | RoceKind::Nak
        | RoceKind::Denied
        | RoceKind::NotReady(_)
        | RoceKind::Cnp { .. } => true,
        RoceKind::Data { .. } | RoceKind::ReadRequest => false,
    }
}

/// Whether a frame leaves with no pause of more than `blur` behind the one before.
fn follows(before: &Left, one: &Left, speed: PortSpeed, blur: Dur) -> bool {
    one.at <= before.at + speed.slot(Bytes(before.roce.size.into())) + blur
}

/// For how long before the frame at `place` its port had sent without a pause what goes ahead of a queue pair's own frame that is ready: answers, the turn
/// of each other queue pair, and before them one frame of any that was under way. A turn is a frame, or one behind the other up to `burst`.
pub(super) fn waited_its_turn(
    left: &[Left],
    place: usize,
    (speed, blur): (PortSpeed, Dur),
    burst: Bytes,
) -> Dur {
    let Some(own) = left.get(place) else { return Dur::ZERO };
    let mut since = own.at;
    let mut turns = BTreeSet::new();
    let (mut now, mut taken) = (own.roce.connection, Bytes(0));
    for pair in left[..=place].windows(2).rev() {
        let [before, one] = pair else { break };
        if !follows(before, one, speed, blur) {
            break;
        }
        since = before.at;
        if is_answer(before.roce.kind) {
            continue;
        }
        let (of, size) = (before.roce.connection, Bytes(before.roce.size.into()));
        let goes_on = of == now && of != own.roce.connection && taken + size <= burst;
        if !goes_on && (of == own.roce.connection || !turns.insert(of)) {
            break;
        }
        (now, taken) = (of, if goes_on { taken + size } else { size });
    }
    own.at.since(since).unwrap_or(Dur::ZERO)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_testcases::Roce;

    const DATA: RoceKind = RoceKind::Data { first: true, last: true, response: false };

    /// Frames of 1000 B on the wire each, one behind the other at 10G: of which connection each is, and what.
    fn left(frames: &[(u16, RoceKind)]) -> Vec<Left> {
        let of = |(record, &(connection, kind)): (usize, &(u16, RoceKind))| {
            let at = Time::ZERO + Dur::ns(800) * u64::try_from(record).unwrap();
            Left { record, at, roce: Roce::of(connection, kind, 0, 980) }
        };
        frames.iter().enumerate().map(of).collect()
    }

    fn waited(frames: &[(u16, RoceKind)], burst: Bytes) -> u64 {
        let speed = PortSpeed::G10;
        let place = frames.len() - 1;
        waited_its_turn(&left(frames), place, (speed, Dur::ZERO), burst).0 / 800_000
    }

    #[test]
    fn a_question_waits_for_a_turn_of_each_other_queue_pair_for_answers_and_for_what_was_under_way()
    {
        let asks = (0, RoceKind::ReadRequest);
        let of = |frames: &[(u16, RoceKind)]| waited(frames, Bytes(0));
        assert_eq!(of(&[asks]), 0);
        assert_eq!(of(&[(1, DATA), (2, DATA), asks]), 2);
        // One was under way, and has its turn once more; what was before that it did not wait for.
        assert_eq!(of(&[(2, DATA), (1, DATA), (2, DATA), (1, DATA), asks]), 3);
        let answers = [(2, DATA), (1, DATA), (3, RoceKind::Ack), (3, RoceKind::Nak), (1, DATA)];
        assert_eq!(of(&[&answers[..], &[asks]].concat()), 4);
        // Behind a frame of its own its turn comes no sooner.
        assert_eq!(of(&[(2, DATA), (0, DATA), (1, DATA), asks]), 2);
    }

    #[test]
    fn a_turn_is_as_long_as_a_burst_where_queue_pairs_send_those() {
        let frames = [(2, DATA), (2, DATA), (1, DATA), (1, DATA), (1, DATA), (0, DATA)];
        assert_eq!([0, 1_960, 2_940].map(|burst| waited(&frames, Bytes(burst))), [2, 3, 5]);
    }

    #[test]
    fn a_port_that_was_idle_kept_nothing() {
        let mut all = left(&[(1, DATA), (2, DATA), (0, RoceKind::ReadRequest)]);
        all[2].at += Dur(1);
        let speed = PortSpeed::G10;
        let of = |blur| waited_its_turn(&all, 2, (speed, blur), Bytes(0));
        assert_eq!((of(Dur::ZERO), of(Dur(1))), (Dur::ZERO, Dur::ns(1_600) + Dur(1)));
    }
}
