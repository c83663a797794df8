//! How many frames a second a port takes: real RoCEv2 frames, each with its own sequence number and a right ICRC, from
//! 80 B on with the time of its call as well. Beside it, where it is asked for, DPDK's testpmd over the same kind of port,
//! which sends one constant frame.

mod check;
mod testpmd;
mod text;

use super::ends::Ends;
use super::rounds::{FORMAT, Rounds};
use crate::cli::TxArgs;
use crate::commands::machine::{Awake, Host, Undisturbed};
use rig_generator::blast::{Blast, blast};
use rig_generator::flow::{Flow, FlowKind};
use rig_generator::port::{Config, Port, Transmit};
use rig_generator::{Fine, Template};
use rig_units::{Bytes, Dur};
use serde::Serialize;
use testpmd::Testpmd;

/// Frame sizes, FCS counted, and the share of testpmd's rate that is wanted at them, in hundredths. The last one is RDMA
/// with an MTU of 4096.
const SIZES: [(Bytes, Option<u64>); 4] =
    [(Bytes(64), Some(98)), (Bytes(80), None), (Bytes(1_024), Some(90)), (Bytes(4_174), None)];
/// From this size on a frame carries its number and time.
const STAMPED: Bytes = Bytes(80);
/// Frames a call.
const BATCH: u32 = 64;
/// Frames that are under way at most: few, so that the memory they lie in stays near the processor.
const SLOTS: u32 = 128;
/// How long is measured, and what is sent before.
const LENGTH: Dur = Dur::ms(800);
const WARM: Dur = Dur::ms(50);
const MTU: u32 = 1_500;
/// Queues of a pair that is made to compare several with one, and flows that are spread over them.
const QUEUES: u32 = 4;
const FLOWS: u16 = 16;
const LONG_MTU: u32 = 9_000;

/// What was measured.
#[derive(Debug, Serialize)]
pub(super) struct Tx {
    format: &'static str,
    bench: &'static str,
    host: Host,
    ports: String,
    batch: u32,
    rounds: usize,
    /// Version of the program that is compared against.
    testpmd: Option<String>,
    sizes: Vec<Measured>,
}

/// One size.
#[derive(Debug, Serialize)]
struct Measured {
    /// FCS counted.
    bytes: u64,
    stamped: bool,
    /// Frames whose every byte was read back at the other end before.
    checked: Option<u64>,
    frames_per_s: Rounds,
    ps_per_frame: Rounds,
    /// Frames that the port took and threw away, and those of the kernel's count that this program did not send.
    lost: u64,
    unaccounted: u64,
    testpmd_frames_per_s: Option<Rounds>,
    /// Own rate against testpmd's of the same round, in hundredths of a percent.
    ratio: Option<Rounds>,
    one_queue_frames_per_s: Option<Rounds>,
    /// Own rate against that of one queue alone of the same round, in hundredths of a percent.
    ratio_to_one_queue: Option<Rounds>,
    /// Of testpmd's rate, what is wanted, in hundredths.
    wanted: Option<u64>,
}

/// One end that sends, and what it sends.
struct Side {
    ends: Ends,
    port: Port,
    template: Template,
    /// Frames a call: as many for each queue, however many there are.
    batch: u32,
    next: u64,
    lost: u64,
    unaccounted: u64,
}

/// Measures.
pub(super) fn run(args: &TxArgs) -> Result<Tx, String> {
    let clock = Fine::start();
    // For everyone who takes a turn.
    let _awake = Awake::keep();
    let testpmd = args.against_testpmd.then(Testpmd::find).transpose()?;
    let mut host = None;
    let mut ports = String::new();
    let mut sizes = Vec::new();
    for (size, wanted) in SIZES {
        let between = Flow::between(0, 1, FlowKind::RoceSend, size);
        let (queues, flows) = if args.against_one_queue { (QUEUES, FLOWS) } else { (1, 1) };
        let first = between.udp_source[0];
        let udp_source = (first..first + flows).collect();
        let flow = Flow { stamped: size >= STAMPED, udp_source, ..between };
        let mtu = if size.0 > u64::from(MTU) { LONG_MTU } else { MTU };
        let of = (args.port.as_deref(), args.peer.as_deref());
        let ends = || Ends::with_queues(of, mtu, queues);
        let checked = check::check(&ends()?, &flow, queues, &clock)?;
        let mut side = Side::open(ends()?, &flow, (None, queues))?;
        ports = side.ends.to_string();
        let (mut own, mut took, mut others, mut ratios) = (vec![], vec![], vec![], vec![]);
        let (mut alone, mut to_alone) = (vec![], vec![]);
        let (mut lost, mut unaccounted) = (0, 0);
        for _ in 0..args.rounds {
            let thread = Undisturbed::wide_awake(args.cpu);
            let cpu = thread.cpu();
            host.get_or_insert_with(|| Host::now(&clock, &thread));
            let rate = side.rate(&clock)?;
            drop(thread);
            if args.against_one_queue {
                // An interface that exists is open once at a time.
                (lost, unaccounted) = (lost + side.lost, unaccounted + side.unaccounted);
                drop(side);
                let _thread = Undisturbed::wide_awake(args.cpu);
                let one = Side::open(ends()?, &flow, (Some(0), queues))?.rate(&clock)?;
                alone.push(one);
                to_alone.push(rate * 10_000 / one.max(1));
                side = Side::open(ends()?, &flow, (None, queues))?;
            }
            own.push(rate);
            took.push(1_000_000_000_000 / rate.max(1));
            if let Some(testpmd) = &testpmd
                && wanted.is_some()
            {
                let other = testpmd.rate(&ends()?, size, &clock, cpu)?;
                others.push(other);
                ratios.push(rate * 10_000 / other.max(1));
            }
        }
        let rounds = |all: Vec<u64>| (!all.is_empty()).then(|| Rounds::of(all));
        sizes.push(Measured {
            bytes: size.0,
            stamped: flow.stamped,
            checked,
            frames_per_s: Rounds::of(own),
            ps_per_frame: Rounds::of(took),
            lost: lost + side.lost,
            unaccounted: unaccounted + side.unaccounted,
            testpmd_frames_per_s: rounds(others),
            ratio: rounds(ratios),
            one_queue_frames_per_s: rounds(alone),
            ratio_to_one_queue: rounds(to_alone),
            wanted,
        });
    }
    let host = host.unwrap_or_else(|| Host::now(&clock, &Undisturbed::wide_awake(args.cpu)));
    Ok(Tx {
        format: FORMAT,
        bench: "tx",
        host,
        ports,
        batch: if args.against_one_queue { BATCH * QUEUES } else { BATCH },
        rounds: args.rounds.into(),
        testpmd: testpmd.map(|testpmd| testpmd.version),
        sizes,
    })
}

/// How an end that only sends is opened.
fn config(size: Bytes, queues: u32) -> Config {
    let longest = usize::try_from(size.0).unwrap_or(usize::MAX).max(1_514);
    Config { longest, slots: SLOTS * queues, ring: 64, ..Config::new("") }
}

impl Side {
    /// Of `of` queues that one, or all.
    fn open(ends: Ends, flow: &Flow, (queue, of): (Option<u32>, u32)) -> Result<Side, String> {
        let port = ends.open_near(&Config { queue, ..config(flow.size, of) })?;
        let template = flow.template().map_err(|error| error.to_string())?;
        Ok(Side { ends, port, template, batch: BATCH * of, next: 0, lost: 0, unaccounted: 0 })
    }

    fn blast(&mut self, clock: &Fine, length: Dur) -> Result<Blast, String> {
        let tx: &mut dyn Transmit = &mut *self.port.tx;
        let sent = blast(tx, &self.template, 1, clock, self.batch, self.next, length);
        let sent = sent.map_err(|error| error.to_string())?;
        self.next += sent.frames;
        Ok(sent)
    }

    /// Frames a second that left.
    fn rate(&mut self, clock: &Fine) -> Result<u64, String> {
        self.blast(clock, WARM)?;
        let before = self.ends.sent()?;
        let sent = self.blast(clock, LENGTH)?;
        let counted = self.ends.sent()? - before;
        self.lost += sent.lost;
        self.unaccounted += counted.abs_diff(sent.frames - sent.lost);
        Ok(super::rounds::rate(sent.frames - sent.lost, sent.took))
    }
}

#[cfg(test)]
mod tests;
