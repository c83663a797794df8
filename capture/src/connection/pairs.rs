//! Which answers belong to which requests.

use super::lives::Life;
use core::net::IpAddr;
use rig_frames::roce::aeth::Syndrome;
use rig_units::Time;
use std::collections::BTreeMap;

/// Answers that are asked which requests they belong to.
const ASKED: usize = 64;
/// Connections that are looked through for that, all answers together: where very many have the same numbers, fewer answers are asked.
const LOOKED_THROUGH: usize = 1 << 12;
/// More connections than these that have asked for the same number by then are not told apart by it, but for those of the same UDP port.
const MANY: usize = 64;

/// Requests by where they go and their sequence number: when each life first had such a one, in order of time.
type Asked = BTreeMap<(IpAddr, IpAddr, u32), Vec<(Time, usize)>>;

/// How well requests fit: how many of the answers they explain, and then whether they passed the same port, come from the UDP port
/// that the answers come from (drivers make it of both queue pairs' numbers, Linux `rdma_get_udp_sport`), and go to the queue
/// pair of the same number.
type Fit = (usize, bool, bool, bool);

/// The requests, some of them cut where answers show that the queue pair began anew, and the answers of each.
pub(super) fn pairs<'a>(
    requests: Vec<Life<'a>>,
    answers: &[Life<'a>],
) -> (Vec<Life<'a>>, Vec<Option<usize>>) {
    let answers_of = vec![None; requests.len()];
    let mut pairing = Pairing { asked: asked(&requests), requests, answers, answers_of };
    let mut left: Vec<usize> = (0..answers.len()).collect();
    left.sort_by_key(|&at| answers[at].first());
    // Those all of which one request explains, and one alone: of several another may be taken by then.
    loop {
        let before = left.len();
        left.retain(|&own| match pairing.best(own, false) {
            Some((of, _, true)) => {
                pairing.answers_of[of] = Some(own);
                false
            }
            _ => true,
        });
        if left.len() == before {
            break;
        }
    }
    // What some requests explain in part, those first that are explained best.
    let fits = |&own: &usize| pairing.best(own, false).map(|(_, fit, _)| fit);
    left.sort_by_cached_key(|own| core::cmp::Reverse(fits(own)));
    left.retain(|&own| match pairing.best(own, false) {
        Some((of, ..)) => {
            pairing.answers_of[of] = Some(own);
            false
        }
        None => true,
    });
    left.sort_by_key(|&at| answers[at].first());
    for own in left {
        pairing.cut_for(own);
    }
    (pairing.requests, pairing.answers_of)
}

struct Pairing<'a, 'b> {
    requests: Vec<Life<'a>>,
    answers: &'b [Life<'a>],
    answers_of: Vec<Option<usize>>,
    asked: Asked,
}

fn asked(requests: &[Life<'_>]) -> Asked {
    let mut asked = Asked::new();
    for (index, life) in requests.iter().enumerate() {
        for packet in life.packets.iter().filter(|packet| packet.sound) {
            let key = (life.flow.src, life.flow.dst, packet.psn.get());
            let lives = asked.entry(key).or_default();
            if lives.last().is_none_or(|&(_, last)| last != index) {
                lives.push((packet.at, index));
            }
        }
    }
    asked.values_mut().for_each(|lives| lives.sort_unstable());
    asked
}

impl Pairing<'_, '_> {
    /// The requests that these answers speak of, how well they fit, and whether they explain all of them: what acknowledges has
    /// been asked before. Those that have answers already count only with `taken`. `None` where there are none, or still several.
    fn best(&self, own: usize, taken: bool) -> Option<(usize, Fit, bool)> {
        let life = &self.answers[own];
        let sound = life.packets.iter().filter(|packet| packet.sound).take(ASKED);
        let (mut votes, mut acknowledged): (BTreeMap<usize, (usize, usize)>, usize) =
            Default::default();
        let udp = |life: &Life<'_>| life.packets.first().map(|packet| packet.udp_src);
        let mut looked_through = 0;
        for answer in sound {
            if looked_through > LOOKED_THROUGH {
                break;
            }
            let key = (life.flow.dst, life.flow.src, answer.psn.get());
            let lives = self.asked.get(&key).map_or(&[][..], Vec::as_slice);
            let before = &lives[..lives.partition_point(|(at, _)| *at <= answer.at)];
            looked_through += before.len();
            let few = |same_port: bool| {
                let free = before.iter().map(|&(_, of)| of).filter(|&of| {
                    let is_free = taken || self.answers_of[of].is_none();
                    is_free && (!same_port || udp(&self.requests[of]) == udp(life))
                });
                let all: Vec<usize> = free.take(MANY + 1).collect();
                (all.len() <= MANY).then_some(all)
            };
            let Some(all) = few(false).or_else(|| few(true)) else { continue };
            let acknowledges = matches!(answer.says, None | Some(Syndrome::Ack(_)));
            acknowledged += usize::from(acknowledges);
            for of in all {
                let (all, of_those) = votes.entry(of).or_default();
                *all += 1;
                *of_those += usize::from(acknowledges);
            }
        }
        let fit = |of: usize, votes: usize| {
            let other = &self.requests[of];
            let (port, same) = (other.flow.port == life.flow.port, other.flow.to == life.flow.to);
            (votes, port, udp(other) == udp(life), same)
        };
        let ranked = votes.iter().map(|(&of, &(all, whole))| (fit(of, all), of, whole));
        let mut ranked: Vec<(Fit, usize, usize)> = ranked.collect();
        ranked.sort_unstable();
        match ranked[..] {
            [] => None,
            [.., (one, ..), (other, ..)] if one == other => None,
            [.., (fit, of, whole)] => Some((of, fit, whole == acknowledged)),
        }
    }

    /// Answers to requests that have others already, and all of those before: the queue pair that was asked began anew in between,
    /// where its numbers went back.
    fn cut_for(&mut self, own: usize) {
        let Some((of, _, true)) = self.best(own, true) else { return };
        let Some(other) = self.answers_of[of].map(|other| &self.answers[other]) else { return };
        let (after, until) = (other.last(), self.answers[own].first());
        let cut = self.requests[of].goes_back(after, until);
        if let Some((one, rest)) = cut.and_then(|at| self.requests[of].cut(at)) {
            self.requests[of] = one;
            self.requests.push(rest);
            self.answers_of.push(Some(own));
        }
    }
}
