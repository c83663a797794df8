//! `rigctl gen`: any stream by hand, to a port or to a file, through the sender and the templates of the executors.

mod report;
mod spec;
mod tally;
mod taped;
mod values;

use super::input::Bad;
use super::machine::{Host, Undisturbed};
use crate::cli::{Carrier, Format, GenArgs};
use crate::folder::takes_capture;
use crate::interrupt::{Interrupted, Requests};
use crate::rights::{self, Work};
use crate::stop::Stop;
use crate::{stderr, stdout};
use report::{Paused, Report, Sent, Wire};
use rig_capture::pcapng::FrameFile;
use rig_generator::clock::Manual;
use rig_generator::floor::floor;
use rig_generator::port::{Backend, Config, Port, PortError, memory};
use rig_generator::{
    Clock, Fine, Job, Lane, Obeys, Pacer, Sender, Spread, Stall, Watcher, Who, wake,
};
use rig_reports::Exit;
use rig_units::{Dur, PortSpeed, Time};
use spec::Stream;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;
use tally::{IntoFile, Tally};
use taped::{Disk, Taped};

const FORMAT: &str = "rig-gen/1";
/// The speed of a port that exists in a file only.
const FILE_SPEED: PortSpeed = PortSpeed::G100;
/// From now to the first frame.
const LEAD: Dur = Dur::ms(1);
/// How often it is looked whether everything has been sent, or Ctrl-C was pressed.
const SLICE: Dur = Dur::ms(100);
/// A thread that sleeps for less than this between two frames hardly does.
const NAP: Dur = Dur::us(10);
/// For so long such a thread is left alone.
const LEFT_ALONE: Dur = Dur::ms(900);
const SLOTS: u32 = 256;
/// Pieces of 4 KiB for frames that arrive: pauses.
const RING: u32 = 1_024;

/// Sends.
///
/// # Errors
/// Streams that cannot be sent, every fault of all of them.
pub fn generate(args: &GenArgs) -> Result<Exit, Bad> {
    let mut bad = Bad::default();
    let speed = speed(args).map_err(|why| bad.note(why)).ok();
    // What is wrong with the streams is told in any case; which speed that holds for may be open.
    let streams = spec::streams(&args.streams, speed.unwrap_or(FILE_SPEED));
    let streams = streams.map_err(|other| bad.also(other)).unwrap_or_default();
    let endless = streams.iter().any(|stream| stream.count.is_none() && stream.length.is_none());
    if endless && args.to.is_some() {
        bad.note("a file has an end: want `count` or `for` for every stream");
    }
    bad.or(())?;
    let speed = speed.unwrap_or(FILE_SPEED);
    let disk = Disk::create(args).map_err(Bad::of)?;
    let stop = Arc::new(Stop::default());
    let interrupted =
        Requests::hear().and_then(|requests| requests.listen(stop, Work::Waiting, || ()));
    let interrupted = interrupted.unwrap_or_default();
    let done = match &args.to {
        Some(file) => into_file(file, &streams, speed, &interrupted),
        None => to_port(args, &streams, speed, &interrupted, disk),
    };
    let report = match done {
        Ok(report) => report,
        Err(why) => {
            stderr::line(&format!("error: {why}"));
            return Ok(Exit::Broken);
        }
    };
    match args.format {
        Format::Human => stdout::text(&report.to_string()),
        Format::Json => stdout::json(&serde_json::to_string_pretty(&report).unwrap_or_default()),
    }
    // A stream without an end is ended by Ctrl-C, and by nothing else.
    Ok(if report.interrupted && !endless { Exit::Broken } else { Exit::Passed })
}

/// The speed of the port: the one said, or the one it has.
fn speed(args: &GenArgs) -> Result<PortSpeed, String> {
    if let Some(speed) = &args.speed {
        return speed.parse().map_err(|why: rig_units::BadQuantity| format!("`--speed`: {why}"));
    }
    let Some(port) = &args.port else { return Ok(FILE_SPEED) };
    let said = fs::read_to_string(format!("/sys/class/net/{port}/speed")).ok();
    let mbps = said.and_then(|said| said.trim().parse::<u64>().ok());
    mbps.and_then(|mbps| PortSpeed::from_bps(mbps.checked_mul(1_000_000)?)).ok_or_else(|| {
        format!(
            "port {port} does not say how fast it is: want `--speed`, such as `--speed 100Gbps`"
        )
    })
}

/// Everything under way, on whatever clock and port.
struct Run<'a, C> {
    pacer: Pacer<C>,
    streams: &'a [Stream],
    origin: Time,
    /// Frames that each stream left out.
    skipped: Vec<u64>,
    /// When the last stream was stopped, so far.
    ended: Time,
}

/// Something that happens at one instant of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Stop(usize),
    Start(usize),
}

impl<C: Clock> Run<'_, C> {
    /// Sends until every stream has ended or Ctrl-C was pressed; whether it was.
    fn run(&mut self, watcher: &mut dyn Watcher, ctrl_c: &Interrupted) -> Result<bool, PortError> {
        let mut events: Vec<(Time, Event)> = Vec::new();
        for (index, stream) in self.streams.iter().enumerate() {
            let start = self.origin + stream.start;
            events.push((start, Event::Start(index)));
            events.extend(stream.length.map(|length| (start + length, Event::Stop(index))));
        }
        events.sort_unstable();
        let mut events = events.into_iter().peekable();
        loop {
            if ctrl_c.happened() {
                self.ended = self.pacer.clock.now();
                return Ok(true);
            }
            let slice = self.pacer.clock.now() + SLICE;
            let next = events.peek().map(|&(at, _)| at);
            let idle = self.pacer.lanes[0].sender.is_idle();
            // A stream that ends with its last frame has no more to wait for, whenever it was to be stopped.
            let starts = events.clone().any(|(_, event)| matches!(event, Event::Start(_)));
            if idle && !starts {
                return Ok(false);
            }
            self.pacer.run_until(next.map_or(slice, |next| next.min(slice)), watcher)?;
            while let Some((at, event)) = events.next_if(|&(at, _)| at <= self.pacer.clock.now()) {
                match event {
                    Event::Start(index) => self.start(at, index),
                    Event::Stop(index) => {
                        self.stop(index);
                        self.ended = at;
                    }
                }
            }
        }
    }

    fn start(&mut self, at: Time, index: usize) {
        let stream = &self.streams[index];
        let lane = &mut self.pacer.lanes[0];
        lane.assign(who(index), stream.template.clone());
        lane.sender.start(
            at,
            Job {
                who: who(index),
                class: stream.class,
                size: stream.size,
                rhythm: stream.rhythm.clone(),
                first: 0,
                count: stream.count,
            },
        );
    }

    fn stop(&mut self, index: usize) {
        self.skipped[index] += self.pacer.lanes[0].sender.stop(who(index));
    }

    /// What came of it.
    fn report(mut self, to: String, speed: PortSpeed, tally: &Tally) -> Report {
        let end = self.ended.max(tally.last);
        for index in 0..self.streams.len() {
            self.stop(index);
        }
        let lane = &mut self.pacer.lanes[0];
        let paused = lane.sender.paused(end).into_iter();
        let streams = self.streams.iter().zip(&tally.streams).zip(&self.skipped);
        Report {
            format: FORMAT,
            to,
            speed_bps: speed.bps(),
            obeys_pfc: true,
            took_ns: end.since(self.origin).unwrap_or_default().0 / 1_000,
            interrupted: false,
            streams: streams.map(|((of, count), skipped)| Sent::of(of, count, *skipped)).collect(),
            paused: paused.map(|(class, dur)| Paused { class, ns: dur.0 / 1_000 }).collect(),
            wire: None,
            capture: None,
        }
    }
}

fn who(index: usize) -> Who {
    Who::Stream(u16::try_from(index).unwrap_or(u16::MAX))
}

/// The longest frame of all, without FCS.
fn longest(streams: &[Stream]) -> usize {
    streams.iter().map(|stream| stream.template.len()).max().unwrap_or(0).max(1_514)
}

/// Writes what would be sent, each frame at the time at which its last bit would have left.
fn into_file(
    path: &Path,
    streams: &[Stream],
    speed: PortSpeed,
    ctrl_c: &Interrupted,
) -> Result<Report, String> {
    let place = path.display().to_string();
    let failed = |error: &dyn core::fmt::Display| format!("{place}: {error}");
    takes_capture(path).map_err(|error| {
        format!("`--to {place}`: {error}\n   = want: a new file, or an earlier capture")
    })?;
    let file = File::create(path).map_err(|error| failed(&error))?;
    let about: Vec<String> = streams
        .iter()
        .map(|Stream { name, kind, size, .. }| format!("stream {name}: {kind}, {size}"))
        .collect();
    let about = format!("frames that rigctl would have sent\n{}", about.join("\n"));
    let file = FrameFile::begin(file, &about, "p1", speed).map_err(|error| failed(&error))?;
    let clock = Manual::default();
    let ((tx, rx), (_, far)) = memory::pair(&clock, 1, longest(streams));
    let sender = Sender::new(speed, Obeys::default(), Stall::CatchUp);
    let lanes = vec![Lane::new(tx, rx, sender, true)];
    let mut run = Run {
        pacer: Pacer { clock, lanes, awake: Dur::ZERO },
        streams,
        origin: Time::ZERO,
        skipped: vec![0; streams.len()],
        ended: Time::ZERO,
    };
    let tally = Tally::new(streams.len());
    let mut into = IntoFile { tally, far, file, fault: None };
    let interrupted = run.run(&mut into, ctrl_c).map_err(|error| error.to_string())?;
    let IntoFile { tally, file, fault, .. } = into;
    if let Some(fault) = fault {
        return Err(failed(&fault));
    }
    file.finish().map_err(|error| failed(&error))?;
    Ok(Report { interrupted, ..run.report(place, speed, &tally) })
}

/// Sends.
fn to_port(
    args: &GenArgs,
    streams: &[Stream],
    speed: PortSpeed,
    ctrl_c: &Interrupted,
    disk: Option<Disk>,
) -> Result<Report, String> {
    let said = |error: PortError| error.to_string();
    let name = args.port.clone().unwrap_or_default();
    let backend = match args.carrier {
        Carrier::AfXdp => Backend::AfXdp,
        Carrier::AfPacket => Backend::AfPacket,
    };
    let config = Config {
        backend,
        longest: longest(streams),
        slots: SLOTS,
        ring: RING,
        queue: args.queue,
        ..Config::new(&name)
    };
    let Port { tx, rx, caps } = Port::open(&config).map_err(said)?;
    // No other is opened later.
    rights::keep(Work::Trial);
    let clock = Fine::start();
    // The thread that writes is one of the usual ones: it begins before this one is none.
    let taping = disk.map(|disk| disk.begin(&name, speed, &clock)).transpose()?;
    let thread = Undisturbed::now(args.cpu);
    let host = Host::now(&clock, &thread);
    let least = streams.iter().map(|stream| stream.mean).min().unwrap_or(Dur::ms(1));
    let awake = wake::awake(&clock).map_err(said)?;
    let (gap, own) = measure_floor(&clock, least, awake).map_err(said)?;
    let classes = if args.ignore_pfc { 0 } else { u8::MAX };
    let stall = if args.catch_up { Stall::CatchUp } else { Stall::SkipAfter(SKIP_AFTER) };
    let obeys = Obeys { classes, link_pause: args.link_pause, response: Dur::ZERO };
    let lanes = vec![Lane::new(tx, rx, Sender::new(speed, obeys, stall), false)];
    let origin = clock.now() + LEAD;
    let mut run = Run {
        pacer: Pacer { clock, lanes, awake },
        streams,
        origin,
        skipped: vec![0; streams.len()],
        ended: Time::ZERO,
    };
    let mut tally = Tally::new(streams.len());
    let (ran, tally, taping) = match taping {
        None => (run.run(&mut tally, ctrl_c), tally, None),
        Some(taping) => {
            let mut taped = Taped { tally, taping };
            let ran = run.run(&mut taped, ctrl_c);
            (ran, taped.tally, Some(taped.taping))
        }
    };
    drop(thread);
    let lane = &run.pacer.lanes[0];
    let missed = lane.rx.stats().map_or(0, |stats| stats.rx_lost());
    // What was captured until the port gave up is worth keeping.
    let capture = taping.map(|taping| taping.finish(missed));
    let interrupted = ran.map_err(said)?;
    let lost = lane.tx.stats().map_err(said)?.tx_lost;
    let report = run.report(name, speed, &tally);
    let spun = least < awake + NAP && Dur::ns(report.took_ns) > LEFT_ALONE;
    let wire = Wire {
        host,
        port: caps.to_string(),
        floor_gap_ns: gap.0 / 1_000,
        floor_error: own.figures().into(),
        awake_ns: awake.0 / 1_000,
        lost,
        received: tally.received,
        spun,
    };
    Ok(Report { interrupted, obeys_pfc: !args.ignore_pfc, wire: Some(wire), capture, ..report })
}

/// Frames that were due longer ago than this when the machine had stood still are left out.
const SKIP_AFTER: Dur = Dur::ms(1);

/// What the machine itself allows at the smallest mean gap of the streams, within reason: for a tenth of a second.
fn measure_floor(clock: &Fine, least: Dur, awake: Dur) -> Result<(Dur, Spread), PortError> {
    let gap = least.clamp(Dur::us(2), Dur::ms(1));
    let count = usize::try_from(Dur::ms(100) / gap).unwrap_or(0);
    let timestamps = floor(clock, clock.now() + LEAD, gap, count, awake)?;
    Ok((gap, Spread::of_gaps(&timestamps, gap)))
}
