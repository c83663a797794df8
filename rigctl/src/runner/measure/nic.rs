//! What is measured of a NIC: how it answers marks, what it makes of CNPs, and how its connections recover.

mod carried;
mod counters;
mod np;
mod rates;
mod rc;
mod rest;
mod rp;
mod shares;

use super::{Done, Judged};
use crate::runner::trial::Trial;
use rig_capture::analyse::nic::{self, Left, Reached};
use rig_lab::Nic;
use rig_oracle::spec::nic::pipeline;
use rig_testcases::NicMeasure;
use rig_units::{Bytes, Dur};

/// Judges one measure of a NIC.
pub(super) fn judge(done: &Done<'_>, measure: &NicMeasure, judged: &mut Judged) {
    match measure {
        NicMeasure::Answers { port } => np::answers(done, port, judged),
        NicMeasure::Latency { port } => np::latency(done, port, judged),
        NicMeasure::Interval { port } => np::interval(done, port, judged),
        NicMeasure::Format { port } => np::format(done, port, judged),
        NicMeasure::Counters { port } => counters::judge(done, port, judged),
        NicMeasure::Follows { flow } => rp::follows(done, flow, judged),
        NicMeasure::Cut { flow } => rp::cut(done, flow, judged),
        NicMeasure::Reaction { flow } => rp::reaction(done, flow, judged),
        NicMeasure::Least { flow } => rates::rate(done, flow, rates::Which::Least, judged),
        NicMeasure::Final { flow } => rates::rate(done, flow, rates::Which::Final, judged),
        NicMeasure::Bursts { flow } => rates::bursts(done, flow, judged),
        NicMeasure::Goodput { flow, wanted, from } => {
            carried::goodput(done, flow, (*wanted, *from), judged);
        }
        NicMeasure::Completion { flow, by, unfinished } => {
            carried::completion(done, flow, (*by, *unfinished), judged);
        }
        NicMeasure::Shares { window, within } => shares::judge(done, window, *within, judged),
        NicMeasure::FixedPoint { windows } => rest::judge(done, windows, judged),
        NicMeasure::Sender { flow } => rc::sender(done, flow, judged),
        NicMeasure::Receiver { of } => rc::receiver(done, of, judged),
    }
}

/// What passed the NIC behind one port in one trial.
struct Seen<'a> {
    /// What it is configured to.
    nic: &'a Nic,
    reached: Vec<Reached>,
    left: Vec<Left>,
    /// How long a frame of its own may keep another from leaving, at most.
    busy: Dur,
}

impl<'a> Seen<'a> {
    fn of(done: &Done<'a>, trial: &Trial, port: u16) -> Seen<'a> {
        let Trial { script, observation, .. } = trial;
        let declared = &done.session.group.declared;
        let behind = script.dut_ports.get(usize::from(port)).copied().unwrap_or(0);
        let left = nic::left(observation, port);
        let speed = observation.ports[usize::from(port)].speed;
        let longest = left.iter().map(|left| left.roce.size).max().unwrap_or(0);
        // One that is under way, and one of every connection that has one to send at the same time.
        let connections = u64::try_from(script.streams.len() + script.flows.len()).unwrap_or(1);
        const SMALL: Bytes = Bytes(78);
        let busy = speed.slot(Bytes(longest.into())) + speed.slot(SMALL) * (2 * connections);
        let nic = if behind == 0 { &declared.nic } else { &declared.peer };
        let mut reached = nic::reached(observation, port, &script.streams);
        let frames: Vec<_> = reached.iter().map(|one| (one.at, one.connection)).collect();
        for (one, at) in reached.iter_mut().zip(pipeline::passed(&nic.receive, &frames)) {
            one.at = at;
        }
        Seen { nic, reached, left, busy }
    }
}
