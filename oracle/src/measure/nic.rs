//! What is measured of a NIC: how it answers marks, what it makes of CNPs, and how its connections recover.

mod ahead;
pub(super) mod app;
pub(super) mod carried;
pub(super) mod class;
pub(super) mod completions;
pub(super) mod counters;
pub(super) mod datagrams;
mod declared_recovery;
mod each_frame;
mod end;
pub(super) mod ets;
pub(super) mod fence;
pub(super) mod fixed_point;
mod gap_stamps;
pub(super) mod gid;
pub(super) mod headers;
pub(super) mod incast;
mod limited;
pub(super) mod message;
pub(super) mod neighbours;
pub(super) mod np;
mod packets;
pub(super) mod pause;
pub(super) mod pauses;
pub(super) mod rates;
pub(super) mod rc;
pub(super) mod receives;
mod recovered;
pub(super) mod recovery;
pub(super) mod rp;
pub(super) mod shares;
mod spoilt;
pub(super) mod tags;
pub(super) mod tail;
pub(super) mod turns;
pub(super) mod unreliable;

use super::judge_context::JudgeContext;
use super::legs::PASSING;
use crate::spec::nic::pipeline;
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use rig_capture::analyse::nic::{self, Left, Reached};
use rig_lab::{Kind, Limiting, Nic, Receive};
use rig_testcases::vocabulary::{Entry, FLOW, Looks, NIC};
use rig_testcases::wire::longer;
use rig_testcases::{FlowSpec, Script};
use rig_units::{Apart, Bytes, Dur, PortSpeed, Time};

/// What a frame has before what goes to memory, and behind it: Ethernet, IPv4, UDP, BTH, ICRC and FCS. What extends the BTH is counted as
/// payload, in the model, too: 16 bytes of a first packet of a WRITE.
const HEADERS: u16 = 62;

/// The same of a flow's frames, which are longer over IPv6.
fn beside_payload(spec: &FlowSpec) -> Bytes {
    Bytes(HEADERS.into()) + longer(spec.over)
}

/// What a NIC may stand behind, and what it does can be told all the same: each of them sends on what comes.
const BEHIND: &[Kind] = PASSING;

/// How much longer the way from each NIC to the rig makes a loop of marks and CNPs than a cable would, for people; nothing where no device
/// stands on it. Flows that meet at the rig have the whole of it in common, so that it moves none of them away from the others.
fn over_the_way(context: &Context<'_>) -> String {
    let relays = context.relays();
    let count = relays.iter().map(Vec::len).sum::<usize>();
    let longer: Dur =
        relays.iter().flatten().map(|relay| relay.transit.least() + relay.cable).sum();
    match count {
        0 => String::new(),
        _ => format!(
            "; the {count} devices between make the loop at least {} longer, there and back",
            longer * 2
        ),
    }
}

/// What most measures of a NIC are: of every frame at its port.
const OF_NIC: Entry = Entry { fields: &[NIC], looks: &[Looks::EVERY_FRAME], ..Entry::USUAL };

/// What measures of marks are: who acknowledges nothing notifies all the same.
const OF_MARKS: Entry = Entry { unreliable: true, ..OF_NIC };

/// What most measures of a flow are: of every frame at its ends.
const OF_FLOW: Entry = Entry { fields: &[FLOW], ..OF_NIC };

/// What passed the NIC behind one port in one trial.
struct Passage<'a> {
    /// The part by which it is configured: `nic`.
    part: &'static str,
    /// What it is configured to.
    nic: &'a Nic,
    /// As the wire shows it.
    reached: Vec<Reached>,
    /// When the declared receive pipeline lets each of them pass: a prediction, by their places.
    passes: Vec<Time>,
    left: Vec<Left>,
    /// For how long before each of them the port had sent what goes ahead of an answer, without a pause.
    behind: Vec<Dur>,
    /// How far its clock and the rig's may be apart.
    apart: Apart,
    speed: PortSpeed,
    /// How far off an instant at its port may be: by the stamp, by what the longest frame takes of its clock, and by what its receive
    /// pipeline does.
    bound: Dur,
    /// When what it sends no longer reaches the rig within the trial.
    until: Time,
    /// How long a frame of its own may keep another from leaving, at most.
    busy: Dur,
    /// How long queue pairs beside one may keep it from going on, at most, where each of them sends a burst when its turn comes.
    turn: Dur,
    /// Whether other devices pass on what it sends before the rig sees it.
    relayed: bool,
}

/// A CNP, of what answers a packet the longest; over IPv6 it is longer.
fn small(script: &Script) -> Bytes {
    const CNP: Bytes = Bytes(78);
    let streams = script.streams.iter().map(|stream| stream.over);
    let all = streams.chain(script.flows.iter().map(|flow| flow.over));
    CNP + all.map(longer).max().unwrap_or(Bytes(0))
}

impl<'a> Passage<'a> {
    fn of(done: &JudgeContext<'a>, trial: &Trial, port: u16) -> Passage<'a> {
        let Trial { script, observation, .. } = trial;
        let declared = done.context.nics();
        let behind = script.dut_ports.get(usize::from(port)).copied().unwrap_or(0);
        let left = nic::left(observation, port);
        let speed = observation.ports[usize::from(port)].speed;
        let longest = left.iter().map(|left| left.roce.size).max().unwrap_or(0);
        // One that is under way, and one of every connection that has one to send at the same time.
        let connections = u64::try_from(script.streams.len() + script.flows.len()).unwrap_or(1);
        let busy =
            speed.slot(Bytes(longest.into())) + speed.slot(small(script)) * (2 * connections);
        let nic = declared.behind(behind).expect("a NIC behind each port");
        let reached = nic::reached(observation, port, &script.streams);
        let frames: Vec<_> = reached.iter().map(|one| (one.at, one.connection)).collect();
        let apart = done.context.apart();
        let (passes, drift) = passes(&nic.receive, &frames, apart);
        let part = if behind == 0 { "nic" } else { "peer" };
        let busy = apart.most(busy);
        let rp = &nic.rp;
        let burst = rp.burst + Bytes(longest.into());
        let bursts = rp.limiting == Limiting::Burst;
        let turn =
            if bursts { speed.slot(burst) * connections.saturating_sub(1) } else { Dur::ZERO };
        let turn = apart.most(turn);
        let frame = Dur(apart.part(speed.slot(Bytes(longest.into())).0));
        let bound = observation.bound() + frame + drift;
        let behind = ahead::went_ahead(&left, speed, bound * 2);
        // Over other devices, or a long cable, it is longer on its way than any trial's end leaves out of account.
        let trace = &observation.ports[usize::from(port)];
        let relayed = trace.approach.is_some();
        let back = trace.approach.as_ref().map_or(Dur::ZERO, |approach| {
            approach.takes(longest) + approach.spread() + speed.slot(Bytes(longest.into()))
        });
        let back = back + trace.cable;
        let until = (Time::ZERO + script.length).saturating_sub(back);
        Passage {
            part,
            nic,
            reached,
            passes,
            left,
            behind,
            apart,
            speed,
            bound,
            until,
            busy,
            turn,
            relayed,
        }
    }

    /// How long the turns of other queue pairs, and what goes ahead of all of them, kept one of what it sent, by its place among that.
    fn waited_its_turn(&self, place: usize) -> Dur {
        let Passage { left, speed, bound, nic, .. } = self;
        let burst = if nic.rp.limiting == Limiting::Burst { nic.rp.burst } else { Bytes(0) };
        ahead::waited_its_turn(left, place, (*speed, *bound * 2), burst)
    }

    /// What reached it, each with the instant from which the rule has it there. For what is predicted alone: what is measured begins with
    /// the frame on the wire.
    fn counted(&self) -> impl Iterator<Item = (&Reached, Time)> {
        self.reached.iter().zip(self.passes.iter().copied())
    }
}

/// When the receive pipeline lets each frame pass, and by how much one of them may do so sooner or later: misses last by the device's
/// clock, and those that wait for one another add up.
fn passes(receive: &Receive, frames: &[(Time, u16)], apart: Apart) -> (Vec<Time>, Dur) {
    let of = |miss: Dur| pipeline::passed(&Receive { miss, ..*receive }, frames);
    let (soonest, latest) = (of(apart.least(receive.miss)), of(apart.most(receive.miss)));
    let half = |(from, by): (&Time, &Time)| Dur(by.0.saturating_sub(from.0).div_ceil(2));
    let off = soonest.iter().zip(&latest).map(half).max().unwrap_or(Dur::ZERO);
    let middle = soonest.iter().zip(&latest).map(|both| *both.0 + half(both)).collect();
    (middle, off)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::Ppm;

    #[test]
    fn misses_that_wait_for_one_another_are_off_by_all_their_clock_is() {
        let receive = Receive { cache: 1, miss: Dur::us(1) };
        // Each of another connection than the one before: 100 misses in a row.
        let frames: Vec<(Time, u16)> = (0..100).map(|n| (Time::ZERO, n % 2)).collect();
        let (exact, off) = passes(&receive, &frames, Apart::NOT);
        assert_eq!((exact[99], off), (Time::ZERO + Dur::us(100), Dur::ZERO));
        let apart = Apart::of(Ppm(100), Ppm(0));
        let (middle, off) = passes(&receive, &frames, apart);
        let latest = apart.most(receive.miss) * 100;
        let soonest = apart.least(receive.miss) * 100;
        assert_eq!(middle[99] + off, Time::ZERO + latest);
        // 100 ps a microsecond either way, and the longest is rounded up to a whole one.
        assert_eq!((middle[99] - off, off), (Time::ZERO + soonest, Dur(10_050)));
    }
}
