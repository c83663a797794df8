//! How long a flow takes at the least that loses packets on its way: a receiver may tell of a hole as late as is declared, and nothing gets through
//! until its sender has gone back. A case that wants more than that of a NIC wants what none of its kind does.

use super::super::super::judge_context::JudgeContext;
use super::super::{Passage, rc};
use super::got::Carried;
use crate::spec::nic::selective;
use crate::trials::trial::Trial;
use rig_testcases::{RoceKind, Verb};
use rig_units::{Bytes, Dur, Time, Within};

/// What a frame is no shorter than, in bytes.
const SHORTEST: u16 = 64;

/// What the packets of a flow take, and what mending its holes adds.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Mended {
    /// What each packet takes of the wire, in the order of their numbers.
    slots: Vec<Dur>,
    /// The packets that were missing until a NAK had brought them, by their place among all, each behind that which the NAK named: what is between
    /// came otherwise meanwhile.
    holes: Vec<[u64; 2]>,
    /// From a packet that shows a hole to the missing one: the NAK, the way back, and both ways between the NICs.
    each: Dur,
    /// What a NAK takes of it.
    nak: Dur,
    /// From the last packet sent to its acknowledgement.
    end: Dur,
    /// How much longer one acknowledgement may take than another.
    uneven: Dur,
}

impl Mended {
    /// Of what one NIC sends to another and loses some of; `None` of anything else.
    pub(super) fn of(done: &JudgeContext<'_>, trial: &Trial, flow: &str) -> Option<Mended> {
        let (.., between) = trial.script.between.as_ref()?;
        let (index, spec) = trial.flow(flow).ok()?;
        if spec.verb == Verb::Read || spec.nic == spec.to {
            return None;
        }
        let connection = trial.script.connection(index);
        let sender = Passage::of(done, trial, spec.nic);
        let receiver = Passage::of(done, trial, spec.to);
        let ports = &trial.observation.ports;
        let of_port = |port: u16| ports[usize::from(port)].way(SHORTEST);
        let way = of_port(spec.nic) + between.delay + of_port(spec.to);
        // What comes behind a hole is not thrown away there: it takes nothing of the wire that its packets did not take.
        if [&sender, &receiver].iter().any(|seen| selective::is_kept(&seen.nic.rc)) {
            return None;
        }
        let (answers, resend) = (&receiver.nic.rc, sender.nic.rc.resend_latency.least());
        let nak = answers.nak_latency.least();
        let back = resend + way * 2;
        let asked = rc::asked_again(trial, flow, &receiver, back)?;
        let speed = ports[usize::from(spec.nic)].speed;
        let mut slots = Vec::new();
        for one in sender.left.iter().filter(|one| one.roce.connection == connection) {
            let RoceKind::Data { .. } = one.roce.kind else { continue };
            let place = asked.place(one.roce.psn);
            if place == Some(slots.len()) {
                let slot = speed.slot(Bytes(one.roce.size.into()));
                slots.push(sender.apart.least(slot));
            }
        }
        let held = answers.ack_held.map_or(Dur::ZERO, Within::most);
        let mended = Mended {
            slots,
            holes: asked.places,
            each: nak + back,
            nak,
            end: answers.ack_latency.least() + way * 2,
            uneven: answers.ack_latency.width() + held,
        };
        (!mended.holes.is_empty()).then_some(mended)
    }

    /// What the packets from `from` until before `until` take at the least, from the acknowledgement of the one before them to that of the last.
    pub(super) fn between(&self, from: u64, until: u64) -> Dur {
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX).min(self.slots.len());
        let slots = |from, until: u64| -> Dur {
            let slots = self.slots.get(place(from)..place(until)).unwrap_or_default();
            slots.iter().copied().sum()
        };
        let holes = self.holes.iter().filter(|[_, hole]| (from..until).contains(hole));
        let (meanwhile, waits) = holes.fold((Dur::ZERO, Dur::ZERO), |(meanwhile, waits), hole| {
            let [named, hole] = *hole;
            (meanwhile + slots(named.max(from), hole), waits + self.each)
        });
        (slots(from, until) + waits).saturating_sub(meanwhile + self.uneven)
    }

    /// What the first packets take at the least until all of them are acknowledged.
    pub(super) fn first(&self, packets: u64) -> Dur {
        self.between(0, packets) + self.uneven + self.end
    }

    /// Why no NIC of which the same is declared gets so much through between the first step from `from` on and the last one.
    pub(super) fn slows(&self, carried: &Carried<'_>, from: Time, wanted: u64) -> Option<String> {
        let (bytes, packets) = carried.through(from)?;
        let least = self.between(packets[0], packets[1]);
        let most = u128::from(bytes) * 8 * 1_000_000_000_000 / u128::from(least.0.max(1));
        (most < u128::from(wanted)).then(|| format!("{bytes} B take {}", self.told(least)))
    }

    /// What is said of it where that is too long.
    pub(super) fn told(&self, least: Dur) -> String {
        format!(
            "{least} at the least: {} holes are told of no sooner than {} after they show, by what is declared, and mended {} after that",
            self.holes.len(),
            self.nak,
            self.each - self.nak
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hole_costs_its_nak_and_the_way_back() {
        let us = Dur::us;
        let mended = Mended {
            slots: vec![us(1); 10],
            holes: vec![[3, 3], [7, 7]],
            each: us(23),
            nak: us(20),
            end: us(2),
            uneven: us(1),
        };
        assert_eq!(mended.first(3), us(3 + 2));
        assert_eq!(mended.first(4), us(4 + 23 + 2));
        assert_eq!(mended.first(10), us(10 + 46 + 2));
        // The first acknowledgement may be late by what the last is not.
        assert_eq!(mended.between(3, 10), us(7 + 46 - 1));
        assert_eq!(mended.between(4, 7), us(3 - 1));
        // One of two packets that were missing came late by itself.
        let late = Mended { holes: vec![[3, 4]], ..mended.clone() };
        assert_eq!(late.first(10), us(10 - 1 + 23 + 2));
        assert_eq!(late.between(4, 10), us(6 + 23 - 1));
        assert!(mended.told(us(58)).contains("no sooner than 20us after they show"));
    }
}
