//! Sorts packets by connection, and finds out which answers belong to which requests.

use super::Connection;
use super::packet::{Flow, Packet, Role};
use super::replay::replay;
use core::net::IpAddr;
use indexmap::IndexMap;
use rig_frames::packet::RoceFrame;
use rig_units::Time;
use std::collections::BTreeMap;

/// Answers that are asked which requests they belong to.
const ASKED: usize = 64;

/// Takes the RoCE frames of a capture in order of time.
#[derive(Debug, Default)]
pub struct Finder {
    flows: IndexMap<Flow, Way>,
}

/// All that goes one way to one queue pair: what is asked of it, and what it is answered.
#[derive(Debug, Default)]
struct Way {
    requests: Vec<Packet>,
    answers: Vec<Packet>,
    notifications: u64,
}

/// Requests by where they go and their sequence number: the flows that have such a one.
type Asked = BTreeMap<(IpAddr, IpAddr, u32), Vec<usize>>;

impl Finder {
    /// A frame that passed port `port` at `at`; `sound` says whether its ICRC is right.
    pub fn take(&mut self, port: u16, at: Time, frame: &RoceFrame, sound: bool) {
        let Some(packet) = Packet::of(at, frame, sound) else { return };
        let way = self.flows.entry(Flow::of(port, frame)).or_default();
        match packet.role {
            Role::Request { .. } => way.requests.push(packet),
            Role::Answer(_) => way.answers.push(packet),
            Role::Notification => way.notifications += 1,
        }
    }

    /// The connections, by the first packet of each. A flow that asks for no acknowledgement and gets no answer is none: it is a
    /// stream of somebody who sends packets, not messages.
    pub fn connections(&self) -> Vec<Connection> {
        let asked = self.asked();
        let mut answers_of: BTreeMap<usize, usize> = BTreeMap::new();
        let mut without_requests = Vec::new();
        for (index, (flow, way)) in self.flows.iter().enumerate() {
            if way.answers.is_empty() {
                continue;
            }
            match self.requests_of(flow, way, &asked).filter(|of| !answers_of.contains_key(of)) {
                Some(of) => drop(answers_of.insert(of, index)),
                None => without_requests.push(index),
            }
        }
        let of_requests = self.flows.iter().enumerate().filter_map(|(index, (_, way))| {
            let answers = answers_of.get(&index).copied();
            let asks = answers.is_some() || way.requests.iter().any(|packet| packet.asks);
            (asks && !way.requests.is_empty()).then_some((Some(index), answers))
        });
        let of_answers = without_requests.into_iter().map(|index| (None, Some(index)));
        let mut both: Vec<_> = of_requests.chain(of_answers).collect();
        both.sort_by_key(|(requests, answers)| requests.or(*answers));
        both.into_iter()
            .filter_map(|(requests, answers)| self.connection(requests, answers))
            .collect()
    }

    fn asked(&self) -> Asked {
        let mut asked = Asked::new();
        for (index, (flow, way)) in self.flows.iter().enumerate() {
            for packet in &way.requests {
                let flows = asked.entry((flow.src, flow.dst, packet.psn.get())).or_default();
                if flows.last() != Some(&index) {
                    flows.push(index);
                }
            }
        }
        asked
    }

    /// The requests that these answers speak of: the most of them; of as many those at the same port, then those to the queue
    /// pair of the same number. `None` where there are none, or still several.
    fn requests_of(&self, flow: &Flow, way: &Way, asked: &Asked) -> Option<usize> {
        let mut votes: BTreeMap<usize, usize> = BTreeMap::new();
        for answer in way.answers.iter().take(ASKED) {
            let of = asked.get(&(flow.dst, flow.src, answer.psn.get()));
            of.into_iter().flatten().for_each(|&of| *votes.entry(of).or_default() += 1);
        }
        let rank = |(&of, &votes): (&usize, &usize)| {
            let other = self.flows.get_index(of)?.0;
            Some((votes, other.port == flow.port, other.to == flow.to, of))
        };
        let mut ranked: Vec<_> = votes.iter().filter_map(rank).collect();
        ranked.sort_unstable();
        match ranked[..] {
            [] => None,
            [.., (a, b, c, _), (x, y, z, _)] if (a, b, c) == (x, y, z) => None,
            [.., (_, _, _, best)] => Some(best),
        }
    }

    fn connection(&self, requests: Option<usize>, answers: Option<usize>) -> Option<Connection> {
        let at = |index: usize| self.flows.get_index(index);
        let (to, from) = (requests.and_then(at), answers.and_then(at));
        let (port, requester, responder) = match (to, from) {
            (Some((flow, _)), _) => (flow.port, flow.src, flow.dst),
            (None, from) => from.map(|(flow, _)| (flow.port, flow.dst, flow.src))?,
        };
        let asked = to.map_or(&[][..], |(_, way)| &way.requests);
        let answered = from.map_or(&[][..], |(_, way)| &way.answers);
        let (requests, answers) = replay(asked, answered);
        Some(Connection {
            port,
            requester,
            responder,
            responder_qp: to.map(|(flow, _)| flow.to.get()),
            requester_qp: from.map(|(flow, _)| flow.to.get()),
            requests,
            answers,
            cnps_to_requester: from.map_or(0, |(_, way)| way.notifications),
            cnps_to_responder: to.map_or(0, |(_, way)| way.notifications),
        })
    }
}
