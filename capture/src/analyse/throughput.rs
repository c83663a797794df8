//! Rule `throughput`: how fast a stream arrives between two instants, in frames (FCS counted, preamble and gap not).

mod together;

pub use together::throughput_together;

use crate::{Dir, Observation, Span, What};
use rig_testcases::Script;
use rig_units::{Bytes, Dur, Time};

const PS_PER_S: u128 = 1_000_000_000_000;
const BITS: u128 = 8;

/// The rate of a stream over a while.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Throughput {
    /// Bits a second, surely within: a frame more or less at the edges, timestamps off by their bound.
    pub bps: Span,
    /// Frames that arrived after the first record up to the last.
    pub frames: u64,
    /// The time from the first record to the last.
    pub over: Dur,
    /// The first and the last record.
    pub records: [usize; 2],
}

/// The rate at which `stream` arrived between `from` and `until`.
///
/// Where frames were counted and not all recorded, the numbers of the first and the last recorded frame tell how many
/// arrived in between, provided that none of the stream was lost or reordered.
///
/// # Errors
/// Why the records do not tell: fewer than two in at least half of the time asked for, or losses between them.
pub fn throughput(
    observation: &Observation,
    script: &Script,
    stream: u16,
    (from, until): (Time, Time),
) -> Result<Throughput, String> {
    let spec = &script.streams[usize::from(stream)];
    let arrivals = observation.records.iter().enumerate().filter_map(|(record, frame)| {
        let What::Data { stream: of, seq, .. } = frame.what else { return None };
        let own = of == stream && frame.dir == Dir::Rx && frame.port == spec.to;
        (own && (from..=until).contains(&frame.at)).then_some((
            record,
            frame.at,
            seq,
            frame.on_wire(),
        ))
    });
    let arrivals: Vec<(usize, Time, u32, Bytes)> = arrivals.collect();
    let [(first, begin, low, _), .., (last, end, high, _)] = arrivals[..] else {
        return Err("fewer than two frames were recorded in that time".to_owned());
    };
    let over = end - begin;
    if over * 2 < until - from || over == Dur::ZERO {
        return Err(format!("the records cover only {over} of the time asked for"));
    }
    let recorded = u64::try_from(arrivals.len() - 1).unwrap_or(u64::MAX);
    let numbered = u64::from(high.saturating_sub(low));
    let (frames, bytes) = if recorded == numbered {
        (recorded, arrivals[1..].iter().map(|&(_, _, _, size)| u128::from(size.0)).sum())
    } else {
        let count = observation.streams.get(usize::from(stream)).copied().unwrap_or_default();
        if !observation.partial(stream) {
            // Every arrival was recorded: what is missing was lost and did not arrive.
            (recorded, arrivals[1..].iter().map(|&(_, _, _, size)| u128::from(size.0)).sum())
        } else if count.received < count.sent || count.reordered > 0 {
            let lost = count.sent.saturating_sub(count.received);
            return Err(format!(
                "not all frames were recorded, and {lost} did not arrive: those between two records are not known"
            ));
        } else {
            (numbered, u128::from(numbered) * u128::from(spec.on_wire().0))
        }
    };
    let slack = observation.ports[usize::from(spec.to)].provenance.bound() * 2;
    let frame = u128::from(spec.on_wire().0);
    let rate = |bytes: u128, over: Dur| {
        let bps = bytes * BITS * PS_PER_S / u128::from(over.0.max(1));
        u64::try_from(bps).unwrap_or(u64::MAX)
    };
    let bps = Span {
        lo: rate(bytes.saturating_sub(frame), over + slack),
        hi: rate(bytes + frame, over.saturating_sub(slack)),
    };
    Ok(Throughput { bps, frames, over, records: [first, last] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StreamCount;
    use crate::sample::{SIZE, Sample, TRANSIT};

    const WINDOW: (Time, Time) = (Time(10_000_000_000), Time(30_000_000_000));

    /// 1024 B every 500 us, those at `lost` lost.
    fn probes(lost: impl Fn(u64) -> bool) -> Sample {
        let mut sample = Sample::new();
        sample.probes(Dur::ZERO, Dur::ms(40), |sent| {
            (!lost(sent / Dur::us(500))).then_some(sent + TRANSIT)
        });
        sample
    }

    fn of(sample: Sample) -> Result<Throughput, String> {
        let (observation, script) = sample.done(Dur::ms(41));
        throughput(&observation, &script, 0, WINDOW)
    }

    #[test]
    fn a_steady_stream_arrives_at_its_rate_give_or_take_a_frame() {
        let seen = of(probes(|_| false)).expect("seen");
        // 39 frames of 1024 B in 19.5 ms: 16.384 Mb/s.
        assert_eq!((seen.frames, seen.over), (39, Dur::us(19_500)));
        let one = 1024 * 8 * 1_000_000_000_000 / 19_500_000_000_u64;
        assert_eq!(seen.bps, Span { lo: 16_384_000 - one - 1, hi: 16_384_000 + one });
    }

    #[test]
    fn lost_frames_do_not_count() {
        let seen = of(probes(|n| n % 2 == 1)).expect("seen");
        assert!(seen.bps.lo < 8_192_000 && 8_192_000 < seen.bps.hi, "{:?}", seen.bps);
    }

    /// Only the first and the last ten arrivals in the window are recorded, of a load of `sent` that lost `lost`.
    fn windows(lost: u64, late: bool) -> Result<Throughput, String> {
        let mut sample = Sample::new();
        for n in 0..10_u32 {
            sample.arrives(n, 1, Dur::ms(10) + Dur::us(1) * u64::from(n));
            let last = if late { Dur::ms(15) } else { Dur::ms(29) };
            sample.arrives(5_000 + n, 1, last + Dur::us(1) * u64::from(n));
        }
        let (mut observation, script) = sample.done(Dur::ms(41));
        observation.streams[0] = StreamCount { sent: 9_000, received: 9_000 - lost, reordered: 0 };
        observation.integrity.unrecorded = 1;
        throughput(&observation, &script, 0, WINDOW)
    }

    #[test]
    fn a_load_is_counted_by_its_numbers_while_none_is_lost() {
        let seen = windows(0, false).expect("seen");
        assert_eq!((seen.frames, seen.over), (5_009, Dur::ms(19) + Dur::us(9)));
        let bytes = 5_009 * u64::from(SIZE);
        let exact = bytes * 8 * 1_000_000 / 19_009;
        assert!(seen.bps.lo < exact && exact < seen.bps.hi);
    }

    #[test]
    fn a_load_that_lost_a_frame_somewhere_is_not_told_by_its_numbers() {
        let why = windows(1, false).expect_err("not known");
        assert!(why.contains("1 did not arrive"), "{why}");
    }

    #[test]
    fn records_of_less_than_half_the_time_do_not_tell() {
        let why = windows(0, true).expect_err("too short");
        assert!(why.contains("cover only 5.009ms"), "{why}");
        let nothing = Sample::new();
        assert!(of(nothing).is_err());
    }
}
