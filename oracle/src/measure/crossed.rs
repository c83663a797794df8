//! Whether a load surely was more than its group had room for, by what others held of the memory as each frame came. Read off the record: how much
//! another stream holds at an instant follows from its frames that had come by then and had not left.

use crate::spec::buffer::{Others, first_drop, first_xoff, occupied};
use crate::trials::trial::Trial;
use rig_capture::passage::around;
use rig_capture::{Dir, Span};
use rig_lab::Switch;
use rig_testcases::StreamSpec;

/// Whether more frames of a load surely came, before any of them left, than its group may have had room for; `None` where not every frame was
/// recorded, or what others hold is no matter of counting their frames.
///
/// While frames come beyond the crossing one, others leave, the limit rises, and one more may find room in the pool: so many fit at the most as
/// where others held the least that they held meanwhile.
pub(super) fn overflows(declared: &Switch, trial: &Trial, index: u16) -> Option<bool> {
    let (streams, observation) = (&trial.script.streams, &trial.observation);
    let spec = streams.get(usize::from(index))?;
    let others = (0_u16..).zip(streams).filter(|(other, _)| *other != index);
    let others: Vec<Other> =
        others.map(|one| Other::of(declared, trial, one)).collect::<Option<_>>()?;
    if observation.partial(index) {
        return None;
    }
    // What comes once the queue is let go finds room that others made.
    let released = instants(trial, index, (spec.to, Dir::Rx)).first().map(|left| left.lo);
    let came = instants(trial, index, (spec.from, Dir::Tx));
    let came = came.into_iter().filter(|came| released.is_none_or(|at| came.hi < at));
    let held: Vec<u64> = came.map(|at| others.iter().map(|other| other.holds(at)).sum()).collect();
    let with = |pool: u64| Others { pool, ..Others::ALONE };
    // None before this one needs more than the pool.
    let most = with(held.iter().copied().max()?);
    let first = usize::try_from(first_xoff(&declared.buffer, spec.size, &most)).ok()?;
    let least = held.iter().skip(first.saturating_sub(1)).copied().min();
    let full = first_drop(&declared.buffer, spec.size, &with(least.unwrap_or(0)));
    Some(u64::try_from(held.len()).ok()? >= full)
}

/// When the last bit of each frame of a stream was at the device, as it passed a port of the rig: sorted.
fn instants(trial: &Trial, stream: u16, (port, dir): (u16, Dir)) -> Vec<Span> {
    let trace = &trial.observation.ports[usize::from(port)];
    let frames = trial.observation.of_stream(stream, (port, dir));
    let at = frames.map(|(_, record)| match dir {
        Dir::Tx => record.at + trace.cable,
        Dir::Rx => record.at.saturating_sub(trace.cable),
    });
    let mut all: Vec<Span> = at.map(|at| around(at, trace.provenance.bound())).collect();
    all.sort_unstable_by_key(|span| span.lo);
    all
}

/// When each frame of a stream began to leave the device: from then on it may have freed it.
fn begun(trial: &Trial, stream: u16, spec: &StreamSpec) -> Vec<Span> {
    let slot = trial.observation.ports[usize::from(spec.to)].speed.slot(spec.on_wire());
    let mut all = instants(trial, stream, (spec.to, Dir::Rx));
    for left in &mut all {
        left.lo = left.lo.saturating_sub(slot.0);
        left.hi = left.hi.saturating_sub(slot.0);
    }
    all
}

/// Another stream, none of which pauses anybody: whatever of it is in the device has its place in the pool.
struct Other {
    /// Bytes that each frame takes.
    each: u64,
    came: Vec<Span>,
    left: Vec<Span>,
}

impl Other {
    fn of(declared: &Switch, trial: &Trial, (index, spec): (u16, &StreamSpec)) -> Option<Other> {
        let counted = !declared.qos.lossless(spec.class) && !trial.observation.partial(index);
        counted.then(|| Other {
            each: occupied(&declared.buffer, spec.size),
            came: instants(trial, index, (spec.from, Dir::Tx)),
            left: begun(trial, index, spec),
        })
    }

    /// The least that it holds at an instant: what surely had come, less what may have left.
    fn holds(&self, at: Span) -> u64 {
        let came = self.came.partition_point(|came| came.hi < at.lo);
        let left = self.left.partition_point(|left| left.lo <= at.hi);
        u64::try_from(came.saturating_sub(left)).unwrap_or(u64::MAX).saturating_mul(self.each)
    }
}
