//! The frames of data that passed the two ports of a stream, whichever queue they took: what the counters of those ports must have grown by.

use crate::trials::trial::Trial;
use rig_capture::analyse::{ActionView, loss};
use rig_capture::{Dir, Span, What};
use rig_lab::Switch;
use rig_testcases::StreamSpec;
use rig_units::Dur;

/// Frames of data at both ports, as the wire shows them.
pub(super) struct Through {
    /// What came by the port that the stream is sent to.
    pub(super) received: Span,
    /// What left by the one that it leaves by. A frame that is still under way may have.
    pub(super) sent: Span,
}

impl Through {
    /// What a trial shows. A device may send what nobody here asked it for (a Linux its own multicast): what arrives of that counts there, too, and
    /// is no frame of a stream.
    pub(super) fn of(trial: &Trial, declared: &Switch, spec: &StreamSpec) -> Through {
        let (observation, script) = (&trial.observation, &trial.script);
        let (mut received, mut sent, mut open) = (0, 0, 0);
        for ((index, of), counted) in (0..).zip(&script.streams).zip(&observation.streams) {
            if of.from == spec.from {
                received += counted.sent;
            }
            if of.to == spec.to {
                sent += counted.received;
                open += loss(observation, script, index, ActionView::from(declared).delays()).open;
            }
        }
        let of_its_own = observation.records.iter().filter(|record| {
            (record.port, record.dir) == (spec.to, Dir::Rx)
                && matches!(record.what, What::Other { .. })
        });
        let most = sent + open + of_its_own.count() as u64;
        // Of its own a host sends by a real port what the rig neither asked for nor sees.
        let alone = observation.bound() == Dur::ZERO;
        let received = Span { lo: received, hi: if alone { received } else { u64::MAX } };
        Through { received, sent: Span { lo: sent, hi: most } }
    }
}
