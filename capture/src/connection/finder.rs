//! Sorts packets by connection.

use super::Connection;
use super::lives::Life;
use super::packet::{Flow, Packet, Role};
use super::pairs::pairs;
use super::replay::replay;
use indexmap::IndexMap;
use rig_frames::packet::RoceFrame;
use rig_units::Time;

/// Takes the RoCE frames of a capture in order of time.
#[derive(Debug, Default)]
pub struct Finder {
    flows: IndexMap<Flow, Way>,
}

/// All that goes one way to one queue pair: what is asked of it, what it is answered, and when it was notified.
#[derive(Debug, Default)]
struct Way {
    requests: Vec<Packet>,
    answers: Vec<Packet>,
    notified: Vec<Time>,
}

impl Finder {
    /// A frame that passed port `port` at `at`; `sound` says whether its ICRC is right.
    pub fn take(&mut self, port: u16, at: Time, frame: &RoceFrame, sound: bool) {
        let Some(packet) = Packet::of(at, frame, sound) else { return };
        let way = self.flows.entry(Flow::of(port, frame)).or_default();
        match packet.role {
            Role::Request { .. } => way.requests.push(packet),
            Role::Answer(_) => way.answers.push(packet),
            Role::Notification => way.notified.push(at),
        }
    }

    /// The connections, by the first packet of each. A flow that asks for no acknowledgement and gets no answer is none: it is a
    /// stream of somebody who sends packets, not messages.
    pub fn connections(&self) -> Vec<Connection> {
        let flows = self.flows.iter();
        let requests = flows.clone().flat_map(|(flow, way)| Life::all(flow, &way.requests));
        let answers = flows.flat_map(|(flow, way)| Life::all(flow, &way.answers));
        let (requests, answers): (Vec<Life<'_>>, Vec<Life<'_>>) =
            (requests.collect(), answers.collect());
        let (requests, answers_of) = pairs(requests, &answers);
        let mut alone = vec![true; answers.len()];
        answers_of.iter().flatten().for_each(|&own| alone[own] = false);
        let of_requests = requests.iter().zip(&answers_of).filter_map(|(life, own)| {
            let own = own.map(|own| &answers[own]);
            let asks = own.is_some() || life.packets.iter().any(|packet| packet.asks);
            asks.then_some((Some(life), own))
        });
        let of_answers = answers.iter().zip(alone).filter(|(_, alone)| *alone);
        let of_answers = of_answers.map(|(life, _)| (None, Some(life)));
        let mut both: Vec<_> = of_requests.chain(of_answers).collect();
        both.sort_by_key(|(requests, answers)| requests.or(*answers).map(Life::first));
        let all = both.into_iter();
        all.filter_map(|(requests, answers)| self.connection(requests, answers)).collect()
    }

    /// How often the queue pair was notified as long as it was this one.
    fn notified(&self, life: &Life<'_>) -> u64 {
        let all = self.flows.get(life.flow).map_or(&[][..], |way| &way.notified);
        let (from, until) = life.during;
        let own = all.iter().filter(|&&at| from <= at && at < until).count();
        u64::try_from(own).unwrap_or(u64::MAX)
    }

    fn connection(
        &self,
        requests: Option<&Life<'_>>,
        answers: Option<&Life<'_>>,
    ) -> Option<Connection> {
        let (port, requester, responder) = match (requests, answers) {
            (Some(Life { flow, .. }), _) => (flow.port, flow.src, flow.dst),
            (None, answers) => {
                answers.map(|life| (life.flow.port, life.flow.dst, life.flow.src))?
            }
        };
        let asked = requests.map_or(&[][..], |life| life.packets);
        let answered = answers.map_or(&[][..], |life| life.packets);
        let (to, from) = (requests, answers);
        let (requests, answers) = replay(asked, answered);
        Some(Connection {
            port,
            requester,
            responder,
            responder_qp: to.map(|life| life.flow.to.get()),
            requester_qp: from.map(|life| life.flow.to.get()),
            requests,
            answers,
            cnps_to_requester: from.map_or(0, |life| self.notified(life)),
            cnps_to_responder: to.map_or(0, |life| self.notified(life)),
        })
    }
}
