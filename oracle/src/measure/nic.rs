//! What is measured of a NIC: how it answers marks, what it makes of CNPs, and how its connections recover.

pub(super) mod carried;
pub(super) mod counters;
pub(super) mod fixed_point;
mod limited;
pub(super) mod np;
pub(super) mod rates;
pub(super) mod rc;
pub(super) mod rp;
pub(super) mod shares;

use super::judge_context::JudgeContext;
use super::legs::PASSING;
use crate::spec::nic::pipeline;
use crate::trials::trial::Trial;
use rig_capture::analyse::nic::{self, Left, Reached};
use rig_lab::{Kind, Nic};
use rig_testcases::RoceKind;
use rig_testcases::vocabulary::{Entry, FLOW, Looks, NIC};
use rig_units::{Apart, Bytes, Dur, PortSpeed, Time};

/// What a NIC may stand behind, and what it does can be told all the same: each of them takes a frame in whole and sends it on.
const BEHIND: &[Kind] = PASSING;

/// What most measures of a NIC are: of every frame at its port.
const OF_NIC: Entry = Entry { fields: &[NIC], looks: &[Looks::EVERY_FRAME], ..Entry::USUAL };

/// What most measures of a flow are: of every frame at its ends.
const OF_FLOW: Entry = Entry { fields: &[FLOW], ..OF_NIC };

/// What passed the NIC behind one port in one trial.
struct Seen<'a> {
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
    /// How far off an instant at its port may be: by the stamp, and by what the longest frame takes of its clock.
    bound: Dur,
    /// When what it sends no longer reaches the rig within the trial.
    until: Time,
    /// How long a frame of its own may keep another from leaving, at most.
    busy: Dur,
}

impl<'a> Seen<'a> {
    fn of(done: &JudgeContext<'a>, trial: &Trial, port: u16) -> Seen<'a> {
        let Trial { script, observation, .. } = trial;
        let declared = done.context.nics();
        let behind = script.dut_ports.get(usize::from(port)).copied().unwrap_or(0);
        let left = nic::left(observation, port);
        let speed = observation.ports[usize::from(port)].speed;
        let longest = left.iter().map(|left| left.roce.size).max().unwrap_or(0);
        // One that is under way, and one of every connection that has one to send at the same time.
        let connections = u64::try_from(script.streams.len() + script.flows.len()).unwrap_or(1);
        const SMALL: Bytes = Bytes(78);
        let busy = speed.slot(Bytes(longest.into())) + speed.slot(SMALL) * (2 * connections);
        let nic = declared.behind(behind).expect("a NIC behind each port");
        let reached = nic::reached(observation, port, &script.streams);
        let frames: Vec<_> = reached.iter().map(|one| (one.at, one.connection)).collect();
        let passes = pipeline::passed(&nic.receive, &frames);
        let part = if behind == 0 { "nic" } else { "peer" };
        let apart = done.context.apart();
        let busy = apart.most(busy);
        let bound = observation.bound() + Dur(apart.part(speed.slot(Bytes(longest.into())).0));
        let behind = went_ahead(&left, speed, bound * 2);
        // Over other devices it is longer on its way than any trial's end leaves out of account.
        let trace = &observation.ports[usize::from(port)];
        let back = trace.approach.as_ref().map_or(Dur::ZERO, |approach| {
            approach.takes(longest)
                + approach.spread()
                + trace.cable
                + speed.slot(Bytes(longest.into()))
        });
        let until = (Time::ZERO + script.length).saturating_sub(back);
        Seen { part, nic, reached, passes, left, behind, apart, bound, until, busy }
    }

    /// What reached it, each with the instant from which the rule has it there. For what is predicted alone: what is measured begins with
    /// the frame on the wire.
    fn counted(&self) -> impl Iterator<Item = (&Reached, Time)> {
        self.reached.iter().zip(self.passes.iter().copied())
    }
}

/// For how long before each frame its port had sent without a pause of more than `blur` what goes ahead of an answer that is ready: other answers, and
/// before them one frame of any kind that was under way.
fn went_ahead(left: &[Left], speed: PortSpeed, blur: Dur) -> Vec<Dur> {
    let mut since: Vec<Time> = Vec::new();
    for (index, one) in left.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| (&left[before], since[before]));
        let joined = before.filter(|(before, _)| {
            let end = before.at + speed.slot(Bytes(before.roce.size.into()));
            one.at <= end + blur
        });
        since.push(match joined {
            Some((before, since)) if is_answer(before.roce.kind) => since,
            Some((before, _)) => before.at,
            None => one.at,
        });
    }
    left.iter().zip(since).map(|(one, since)| one.at.since(since).unwrap_or(Dur::ZERO)).collect()
}

/// Whether a NIC sends it ahead of data.
const fn is_answer(kind: RoceKind) -> bool {
    match kind {
        RoceKind::Ack | RoceKind::Nak | RoceKind::NotReady(_) | RoceKind::Cnp { .. } => true,
        RoceKind::Data { .. } | RoceKind::ReadRequest => false,
    }
}
