//! How exactly frames are paced: gaps between the instants at which frames were handed over that then arrived, beside the
//! gaps of a loop on the same clock that sends nothing, and the coverage of storms, on request beside a plain Python loop.
//!
//! Floor and sending take turns, because a shared machine is never the same for long. Below a gap of 20 us the thread
//! does not sleep, and a thread that never does is stopped by the kernel for 50 ms in every second: bursts are shorter.

mod burst;
mod kept_off;
mod python;
mod storm;
mod text;

use super::ends::Ends;
use super::rounds::{FORMAT, median};
use crate::cli::PacingArgs;
use crate::commands::figures::Ns;
use crate::commands::machine::{Awake, Host, Undisturbed};
use burst::Rig;
use kept_off::{KeptOff, Watch};
use python::Python;
use rig_generator::floor::floor;
use rig_generator::{Clock, Figures, Fine, Spread};
use rig_units::Dur;
use serde::Serialize;
use storm::Held;

/// The gaps.
const GAPS: [Dur; 5] = [Dur::us(2), Dur::us(5), Dur::us(10), Dur::us(50), Dur::us(100)];
/// Most frames of a burst: what the receiving end keeps until somebody looks.
const FRAMES: u64 = 16_000;
/// The longest burst.
const LONGEST: Dur = Dur::ms(800);

/// What is wanted of the gap error.
const P50: Dur = Dur::ns(50);
const P90: Dur = Dur::ns(100);
/// The same as times of the floor, in hundredths.
const P50_TO_FLOOR: u64 = 150;
const P90_TO_FLOOR: u64 = 200;

/// What was measured.
#[derive(Debug, Serialize)]
pub(super) struct Pacing {
    format: &'static str,
    bench: &'static str,
    host: Host,
    ports: String,
    port: String,
    pairs: usize,
    /// The thread stops sleeping so long before a frame is due: what its sleeps end late by.
    awake_ns: u64,
    gaps: Vec<Measured>,
    /// Version of the Python that storms take turns with.
    python: Option<String>,
    storms: Vec<Held>,
}

/// One gap. Times in nanoseconds, each the median over the pairs.
#[derive(Debug, Serialize)]
struct Measured {
    gap_ns: u64,
    /// Frames sent in all bursts, and those of them that arrived.
    sent: u64,
    /// `None`: the receiving end is not known.
    arrived: Option<u64>,
    floor_error: Ns,
    sent_error: Ns,
    /// Of the timestamps that the receiving end's XDP program took.
    received_error: Option<Ns>,
    /// How late frames were handed over, and the floor's loop found its time come.
    floor_late: Ns,
    sent_late: Ns,
    /// In the worst of the floors and of the bursts.
    floor_kept_off: KeptOff,
    sent_kept_off: KeptOff,
    /// Sending against the floor of the same pair, in hundredths.
    p50_to_floor_percent: u64,
    p90_to_floor_percent: u64,
    p50_met: bool,
    p90_met: bool,
    p50_to_floor_met: bool,
    p90_to_floor_met: bool,
}

/// One floor and one burst beside it.
#[derive(Debug)]
struct Pair {
    floor: Figures,
    floor_late: Figures,
    sent: Figures,
    sent_late: Figures,
    received: Option<Figures>,
    floor_kept_off: KeptOff,
    sent_kept_off: KeptOff,
    frames: u64,
    arrived: Option<u64>,
}

/// Whether the flags go together.
pub(super) fn fits(args: &PacingArgs) -> Result<(), String> {
    match &args.port {
        Some(port) if args.against_python && args.peer.is_none() => Err(format!(
            "`--against-python` with `--port {port}`: a program of its own is counted where its frames arrive: want `--peer IF`, \
             the interface at the other end"
        )),
        _ => Ok(()),
    }
}

/// Measures.
pub(super) fn run(args: &PacingArgs) -> Result<Pacing, String> {
    let python = args.against_python.then(Python::find).transpose()?;
    let ends = Ends::of(args.port.as_deref(), args.peer.as_deref(), 1_500)?;
    let mut rig = Rig::open(&ends, Fine::start())?;
    // For everyone who takes a turn.
    let _awake = Awake::keep();
    let thread = Undisturbed::wide_awake(args.cpu);
    let mut pairs: Vec<Vec<Pair>> = GAPS.map(|_| Vec::new()).into();
    let mut awake = Vec::new();
    for _ in 0..args.pairs {
        awake.push(rig.rouse()?.0 / 1_000);
        for (gap, pairs) in GAPS.into_iter().zip(&mut pairs) {
            pairs.push(pair(&mut rig, gap, thread.cpu())?);
        }
    }
    drop(thread);
    let storms = storm::held(&mut rig, &ends, python.as_ref(), args)?;
    Ok(Pacing {
        format: FORMAT,
        bench: "pacing",
        host: Host::now(rig.clock(), &Undisturbed::wide_awake(args.cpu)),
        ports: ends.to_string(),
        port: rig.port().to_owned(),
        pairs: pairs[0].len(),
        awake_ns: median(awake),
        gaps: GAPS.into_iter().zip(&pairs).map(|(gap, pairs)| Measured::of(gap, pairs)).collect(),
        python: python.map(|python| python.version),
        storms,
    })
}

/// Frames of a burst with this gap.
fn frames(gap: Dur) -> u64 {
    (LONGEST / gap).min(FRAMES)
}

fn pair(rig: &mut Rig, gap: Dur, cpu: Option<usize>) -> Result<Pair, String> {
    let count = frames(gap);
    let said = |error: rig_generator::port::PortError| error.to_string();
    // The processor is idle for a moment before each: what ran for long before would be stopped sooner.
    rig.rest()?;
    let first = rig.clock().now() + Dur::us(500);
    let slots = usize::try_from(count).unwrap_or(0);
    let watch = Watch::start(cpu);
    let timestamps = floor(rig.clock(), first, gap, slots, rig.awake()).map_err(said)?;
    let floor_kept_off = watch.end();
    let (own, late) =
        (Spread::of_gaps(&timestamps, gap), Spread::of_lateness(&timestamps, first, gap));
    rig.rest()?;
    let watch = Watch::start(cpu);
    let burst = rig.burst(gap, count)?;
    Ok(Pair {
        floor_kept_off,
        sent_kept_off: watch.end(),
        floor: own.figures(),
        floor_late: late.figures(),
        sent: burst.gaps.figures(),
        sent_late: burst.late.figures(),
        received: burst.received.map(|received| received.figures()),
        frames: count,
        arrived: burst.arrived,
    })
}

impl Measured {
    fn of(gap: Dur, pairs: &[Pair]) -> Measured {
        let figures =
            |of: &dyn Fn(&Pair) -> Figures| middle(&pairs.iter().map(of).collect::<Vec<_>>());
        let floor_error = figures(&|pair| pair.floor);
        let sent_error = figures(&|pair| pair.sent);
        let received: Vec<Figures> = pairs.iter().filter_map(|pair| pair.received).collect();
        let ratio = |of: &dyn Fn(Figures) -> Dur| {
            median(
                pairs.iter().map(|pair| of(pair.sent).0 * 100 / of(pair.floor).0.max(1)).collect(),
            )
        };
        let (p50, p90) = (ratio(&|of| of.p50), ratio(&|of| of.p90));
        Measured {
            gap_ns: gap.0 / 1_000,
            sent: pairs.iter().map(|pair| pair.frames).sum(),
            arrived: pairs.iter().map(|pair| pair.arrived).sum(),
            floor_error: floor_error.into(),
            sent_error: sent_error.into(),
            received_error: (!received.is_empty()).then(|| middle(&received).into()),
            floor_late: figures(&|pair| pair.floor_late).into(),
            sent_late: figures(&|pair| pair.sent_late).into(),
            floor_kept_off: KeptOff::worst(pairs.iter().map(|pair| pair.floor_kept_off)),
            sent_kept_off: KeptOff::worst(pairs.iter().map(|pair| pair.sent_kept_off)),
            p50_to_floor_percent: p50,
            p90_to_floor_percent: p90,
            p50_met: sent_error.p50 <= P50,
            p90_met: sent_error.p90 <= P90,
            p50_to_floor_met: p50 <= P50_TO_FLOOR,
            p90_to_floor_met: p90 <= P90_TO_FLOOR,
        }
    }
}

/// The median of each figure.
fn middle(all: &[Figures]) -> Figures {
    let of = |one: fn(&Figures) -> Dur| Dur(median(all.iter().map(|of| one(of).0).collect()));
    Figures {
        count: all.iter().map(|of| of.count).sum(),
        p50: of(|of| of.p50),
        p90: of(|of| of.p90),
        p99: of(|of| of.p99),
        p99_9: of(|of| of.p99_9),
        max: of(|of| of.max),
    }
}

#[cfg(test)]
mod tests;
