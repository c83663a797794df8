//! One burst of paced frames through the rig's own pacer, and what the other end saw of it.

use super::super::ends::Ends;
use rig_generator::flow::{Flow, FlowKind};
use rig_generator::port::{Config, Mono, Port, Receive, StampedBy};
use rig_generator::{
    Clock, Departure, Fine, Job, Lane, Obeys, Pacer, Rhythm, Sender, Spread, Stall, Template,
    Watcher, Who, wake,
};
use rig_testcases::wire::PSN;
use rig_units::{Bytes, Dur, Pace, PortSpeed, Time};

/// A port that sends, and the one that receives, if it is known.
#[derive(Debug)]
pub(super) struct Rig {
    pacer: Pacer<Fine>,
    far: Option<Box<dyn Receive>>,
    port: String,
    /// Number of the next frame: no two bursts have one in common.
    next: u64,
}

/// What one burst gave.
#[derive(Debug)]
pub(super) struct Burst {
    /// Errors of the gaps between two frames that both arrived.
    pub(super) gaps: Spread,
    pub(super) late: Spread,
    /// Errors of the gaps as they arrived.
    pub(super) received: Option<Spread>,
    pub(super) arrived: Option<u64>,
}

/// When frames were handed over, by their order.
#[derive(Debug, Default)]
pub(super) struct Log {
    pub(super) at: Vec<Time>,
}

impl Watcher for Log {
    fn sent(&mut self, _: u16, _: &Departure, at: Time, _: Time) {
        self.at.push(at);
    }
    fn received(&mut self, _: u16, _: &[u8], _: Time, _: StampedBy) {}
}

const STREAM: Who = Who::Stream(0);
/// Frames for which the receiving end has room while nobody looks.
const RING: u32 = 16_384;
/// Frames under way: few, so that the memory they lie in stays near the processor.
const SLOTS: u32 = 64;
const REST: Dur = Dur::ms(20);

impl Rig {
    /// Opens both ends.
    pub(super) fn open(ends: &Ends, clock: Fine) -> Result<Rig, String> {
        let config = |ring| Config { slots: SLOTS, ring, ..Config::new("") };
        let far = ends.open_far(&config(RING))?.map(|port| port.rx);
        let Port { tx, rx, caps } = ends.open_near(&config(256))?;
        let sender = Sender::new(PortSpeed::G400, Obeys::default(), Stall::CatchUp);
        let lanes = vec![Lane::new(tx, rx, sender, false)];
        let pacer = Pacer { clock, lanes, awake: Dur::ZERO };
        let mut rig = Rig { pacer, far, port: format!("{caps}, one call a frame"), next: 0 };
        let flow = Flow::between(0, 1, FlowKind::RoceSend, Bytes(64));
        rig.assign(STREAM, flow.template().map_err(|error| error.to_string())?);
        Ok(rig)
    }

    /// Measures how long before a frame is due this thread has to stop sleeping, from now on.
    pub(super) fn rouse(&mut self) -> Result<Dur, String> {
        let awake = wake::awake(&self.pacer.clock);
        self.pacer.awake = awake.map_err(|error| error.to_string())?;
        Ok(self.pacer.awake)
    }

    /// Until so long before a frame is due the thread sleeps.
    pub(super) fn awake(&self) -> Dur {
        self.pacer.awake
    }

    pub(super) fn assign(&mut self, who: Who, template: Template) {
        self.pacer.lanes[0].assign(who, template);
    }

    pub(super) fn clock(&self) -> &Fine {
        &self.pacer.clock
    }

    /// What carries the frames.
    pub(super) fn port(&self) -> &str {
        &self.port
    }

    /// A while without anything; what arrived before is forgotten.
    pub(super) fn rest(&mut self) -> Result<(), String> {
        let until = self.pacer.clock.now() + REST;
        while self.pacer.clock.now() < until {
            self.pacer.clock.sleep(until, &[]).map_err(|error| error.to_string())?;
        }
        self.arrived(&mut |_, _| {}).map(|_| ())
    }

    /// Sends `job` on a port of `speed`, starting at the instant given; when each frame was handed over.
    pub(super) fn send(
        &mut self,
        speed: PortSpeed,
        start: Time,
        job: Job,
        length: Dur,
    ) -> Result<Log, String> {
        let lane = &mut self.pacer.lanes[0];
        lane.sender = Sender::new(speed, Obeys::default(), Stall::CatchUp);
        lane.sender.start(start, job);
        let mut log = Log { at: Vec::with_capacity(32_768) };
        self.pacer.run_until(start + length, &mut log).map_err(|error| error.to_string())?;
        Ok(log)
    }

    /// Sends `count` frames, one every `gap`.
    pub(super) fn burst(&mut self, gap: Dur, count: u64) -> Result<Burst, String> {
        let first = self.next;
        self.next += count;
        let start = self.pacer.clock.now() + Dur::us(500);
        let job = Job {
            who: STREAM,
            class: None,
            size: Bytes(64),
            rhythm: Rhythm::Even(Pace::every(gap)),
            first,
            count: Some(count),
        };
        let log = self.send(PortSpeed::G400, start, job, gap * count + Dur::ms(1))?;
        let mut seen: Vec<Option<Mono>> = vec![None; log.at.len()];
        let known = self.arrived(&mut |frame, at| {
            let number = frame.get(PSN).map(|psn| [0, psn[0], psn[1], psn[2]]);
            let number = number.map(|bytes| u64::from(u32::from_be_bytes(bytes)));
            let index = number.and_then(|number| number.checked_sub(first % (1 << 24)));
            let index = index.and_then(|index| usize::try_from(index).ok());
            if let Some(slot) = index.and_then(|index| seen.get_mut(index)) {
                *slot = Some(at);
            }
        })?;
        let clock = &self.pacer.clock;
        let arrived = |index: usize| !known || seen[index].is_some();
        let (mut gaps, mut received) = (Spread::new(), Spread::new());
        for index in 1..log.at.len() {
            if arrived(index - 1) && arrived(index) {
                gaps.add(error(log.at[index - 1], log.at[index], gap));
            }
            if let (Some(before), Some(after)) = (seen[index - 1], seen[index]) {
                received.add(error(clock.at(before), clock.at(after), gap));
            }
        }
        let count = seen.iter().flatten().count() as u64;
        Ok(Burst {
            gaps,
            late: Spread::of_lateness(&log.at, start, gap),
            received: known.then_some(received),
            arrived: known.then_some(count),
        })
    }

    /// Hands over what has arrived at the other end; whether there is one.
    pub(super) fn arrived(&mut self, take: &mut dyn FnMut(&[u8], Mono)) -> Result<bool, String> {
        let Some(far) = &mut self.far else { return Ok(false) };
        let said = |error: rig_generator::port::PortError| error.to_string();
        loop {
            let got = far.poll(&mut |frame, stamp| take(frame, stamp.at)).map_err(said)?;
            if got == 0 && !far.wait(Dur::ms(2)).map_err(said)? {
                return Ok(true);
            }
        }
    }
}

/// How far a gap is from what it should be.
fn error(before: Time, after: Time, gap: Dur) -> Dur {
    Dur(after.since(before).unwrap_or_default().0.abs_diff(gap.0))
}
