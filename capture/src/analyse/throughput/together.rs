//! The rate of several streams together: over one stretch of time, the same for all. Each over its own would add up what never was at
//! the same time, where senders that are paused come in bursts.

use super::{BITS, PS_PER_S, Throughput};
use crate::{Dir, Observation, Span, What};
use rig_testcases::Script;
use rig_units::{Dur, Time};

/// The rate at which all of `streams` arrived between `from` and `until`: from the first instant at which a frame of each was recorded to
/// the last. Where not all frames were recorded, how many arrived of the others follows from the numbers of the recorded ones on either side
/// of an instant, and from how fast the port can bring them.
///
/// # Errors
/// Why the records do not tell: less than half of the time asked for is covered by all of them.
pub fn throughput_together(
    observation: &Observation,
    script: &Script,
    streams: &[u16],
    (from, until): (Time, Time),
) -> Result<Throughput, String> {
    let all: Vec<Arrivals> =
        streams.iter().map(|stream| Arrivals::of(observation, script, *stream)).collect();
    let within = |one: &Arrivals| {
        let first = one.seen.partition_point(|seen| seen.at < from);
        let end = one.seen.partition_point(|seen| seen.at <= until);
        Some((*one.seen.get(first)?, *one.seen.get(end.checked_sub(1)?)?))
    };
    let ends: Option<Vec<(Arrival, Arrival)>> = all.iter().map(within).collect();
    let ends = ends.ok_or("no frame of one of the streams was recorded in that time")?;
    let begin = ends.iter().map(|(first, _)| *first).max_by_key(|seen| seen.at);
    let end = ends.iter().map(|(_, last)| *last).min_by_key(|seen| seen.at);
    let (Some(begin), Some(end)) = (begin, end) else { return Err("no stream".to_owned()) };
    let over = end.at.since(begin.at).unwrap_or(Dur::ZERO);
    if over * 2 < until - from || over == Dur::ZERO {
        return Err(format!("the records of all streams cover only {over} of the time asked for"));
    }
    let (mut least, mut most, mut frames) = (0_u128, 0_u128, 0);
    for one in &all {
        let (came, went) = (one.by(begin.at), one.by(end.at));
        let Span { lo, hi } =
            Span { lo: went.lo.saturating_sub(came.hi), hi: went.hi.saturating_sub(came.lo) };
        least += u128::from(lo) * u128::from(one.size);
        most += u128::from(hi) * u128::from(one.size);
        frames += lo;
    }
    // As with one stream: a frame more or less at the edges.
    let frame = all.iter().map(|one| u128::from(one.size)).max().unwrap_or(0);
    let slack = all.iter().map(|one| one.slack).max().unwrap_or(Dur::ZERO);
    let rate = |bytes: u128, over: Dur| {
        u64::try_from(bytes * BITS * PS_PER_S / u128::from(over.0.max(1))).unwrap_or(u64::MAX)
    };
    let lo = rate(least.saturating_sub(frame), over + slack);
    let hi = rate(most + frame, over.saturating_sub(slack));
    Ok(Throughput { bps: Span { lo, hi }, frames, over, records: [begin.record, end.record] })
}

/// A recorded arrival.
#[derive(Clone, Copy)]
struct Arrival {
    record: usize,
    at: Time,
    /// Frames of the stream up to this one, as far as they are known by its number.
    number: u64,
}

/// What was recorded of a stream where it arrives.
struct Arrivals {
    seen: Vec<Arrival>,
    /// Whether frames arrived that were not recorded.
    partial: bool,
    /// Bytes of a frame.
    size: u64,
    /// What the port takes for one.
    slot: Dur,
    /// How far two stamps may be off together.
    slack: Dur,
}

impl Arrivals {
    fn of(observation: &Observation, script: &Script, stream: u16) -> Arrivals {
        let spec = &script.streams[usize::from(stream)];
        let port = &observation.ports[usize::from(spec.to)];
        let own = observation.records.iter().enumerate().filter_map(|(record, frame)| {
            let What::Data { stream: of, seq, .. } = frame.what else { return None };
            let own = of == stream && frame.dir == Dir::Rx && frame.port == spec.to;
            own.then_some(Arrival { record, at: frame.at, number: u64::from(seq) + 1 })
        });
        Arrivals {
            seen: own.collect(),
            partial: observation.partial(stream),
            size: spec.on_wire().0,
            slot: port.speed.slot(spec.on_wire()),
            slack: port.provenance.bound() * 2,
        }
    }

    /// How many had arrived by `at`, as far as stamps tell.
    fn by(&self, at: Time) -> Span {
        let (early, late) = (at.saturating_sub(self.slack), at + self.slack);
        if !self.partial {
            let by = |at| {
                u64::try_from(self.seen.partition_point(|seen| seen.at <= at)).unwrap_or(u64::MAX)
            };
            return Span { lo: by(early), hi: by(late) };
        }
        Span { lo: self.numbered(early).lo, hi: self.numbered(late).hi }
    }

    /// The same by the numbers of the recorded ones before and behind: between them no more come than the port brings.
    fn numbered(&self, at: Time) -> Span {
        let next = self.seen.partition_point(|seen| seen.at <= at);
        let fit = |time: Dur| time.0 / self.slot.0.max(1) + 1;
        let since = |later: Time, before: Time| later.since(before).unwrap_or(Dur::ZERO);
        let (mut lo, mut hi) = (0, u64::MAX);
        if let Some(before) = next.checked_sub(1).and_then(|before| self.seen.get(before)) {
            lo = before.number;
            hi = before.number.saturating_add(fit(since(at, before.at)));
        }
        if let Some(behind) = self.seen.get(next) {
            let others = behind.number.saturating_sub(1);
            lo = lo.max(others.saturating_sub(fit(since(behind.at, at))));
            hi = hi.min(others).max(lo);
        }
        Span { lo, hi }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamCount;
    use crate::sample::{SIZE, Sample};

    const SLOT: Dur = Dur(83_520);

    /// Two streams of 40 000 frames that share a port of 100 Gb/s, 128 frames of one and 128 of the other in turn, of which those of which
    /// `kept` says so were recorded.
    fn bursts(kept: impl Fn(u32) -> bool) -> (Observation, Script) {
        let mut sample = Sample::new();
        let mut other = sample.script.streams[0].clone();
        "other".clone_into(&mut other.name);
        sample.script.streams.push(other);
        let mut seqs = [0_u32; 2];
        for n in 0..80_000_u32 {
            let stream = u16::from(n / 128 % 2 == 1);
            let seq = &mut seqs[usize::from(stream)];
            if kept(*seq) {
                let what = What::Data { stream, seq: *seq, size: SIZE, ce: false };
                sample.push(SLOT * u64::from(n), 1, Dir::Rx, what);
            }
            *seq += 1;
        }
        let (mut observation, script) = sample.done(SLOT * 80_000);
        let count = StreamCount { sent: 40_000, received: 40_000, reordered: 0 };
        observation.streams = vec![count; 2];
        observation.integrity.unrecorded = u64::from(!kept(1));
        (observation, script)
    }

    #[test]
    fn bursts_in_turn_never_add_up_to_more_than_the_port_has() {
        // 1024 of 1044 bytes of each slot are the frame's.
        let line = 98_084_291_187;
        for every in [1, 64] {
            let (observation, script) = bursts(|seq| seq % every == 0);
            let window = (Time::ZERO + SLOT * 20_064, Time::ZERO + SLOT * 60_064);
            let both = throughput_together(&observation, &script, &[0, 1], window).expect("seen");
            let frame = line / 39_000;
            assert!(both.bps.lo <= line && line <= both.bps.hi, "{every}: {:?}", both.bps);
            // A burst more or less, or an edge, where not all is recorded.
            let off = if every == 1 { 2 * frame } else { 300 * frame };
            assert!(both.bps.hi - both.bps.lo <= off, "{every}: {:?}", both.bps);
        }
    }
}
