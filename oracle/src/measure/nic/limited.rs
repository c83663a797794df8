//! What one limiter of a NIC was told and did, and how far off what is known of it may be.

use super::super::judge_context::JudgeContext;
use super::Passage;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::rp::{self, Followed, PaceFault, Point};
use crate::spec::nic::gaps::{Off, gaps};
use crate::spec::nic::real::Real;
use crate::spec::nic::{forms, pipeline, selective};
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::Span;
use rig_frames::psn::Psn;
use rig_lab::{Limiting, Receive, Rp, Scope};
use rig_testcases::RoceKind;
use rig_units::{Apart, Bytes, Dur, PortSpeed, Ppm, Time};
use std::collections::BTreeMap;

pub(super) const SOURCE: &str =
    "DCQCN: Zhu et al., SIGCOMM'15, section 3; docs/nic.md, reaction point";

/// A CNP for a limiter.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// The record that shows it, by its index in the trial.
    pub(super) record: usize,
    /// When it arrived, on the wire.
    pub(super) at: Time,
    /// When the declared receive pipeline lets it pass.
    pub(super) passes: Time,
}

/// What one limiter was told and did.
pub(super) struct Limited {
    /// The part by which it is configured.
    pub(super) part: &'static str,
    /// What it is configured to. What a CNP takes is as the rig's clock shows it.
    pub(super) rp: Rp,
    pub(super) line: PortSpeed,
    /// How far off stamps and clocks may be.
    pub(super) off: Off,
    pub(super) apart: Apart,
    pub(super) allowance: Dur,
    /// What reached it, each CNP with its arrival and with what is predicted of it.
    pub(super) cnps: Vec<Told>,
    /// Records, departures and sizes of the packets.
    pub(super) frames: Vec<(usize, Time, Bytes)>,
    /// The packets, by index, with which it went back: before one of those it waited for what its latencies and timers take, and that is no
    /// lateness of the limiter's.
    went_back: Vec<usize>,
}

/// What a limiter asks for between two instants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Asks {
    /// Of frames, in millionths.
    bytes: u128,
    /// What they are held for, at the least and at the most.
    least: Dur,
    most: Dur,
}

impl Asks {
    /// What stands between the two instants of `frames`, each held for as long as `holds` says, and `wait` longer at the most. One that is held across an instant counts by the part of its gap that lies
    /// between them: at a low rate a gap is a good part of that time, and whatever is left out of it is time in which less leaves. `None`: none leaves in between.
    fn within(
        frames: &[(Time, Bytes)],
        holds: &[[Dur; 2]],
        (from, until): (Time, Time),
        wait: Dur,
    ) -> Option<Asks> {
        // Behind the last one nothing is seen: for as long as it is held at the least.
        let last = frames.iter().zip(holds).next_back().map(|((at, _), [least, _])| *at + *least);
        let ends = frames.iter().skip(1).map(|(next, _)| *next).chain(last);
        let mut all = Asks::default();
        for ((&(at, bytes), next), [least, most]) in frames.iter().zip(ends).zip(holds) {
            let [gap, inside] = [next.since(at), next.min(until).since(at.max(from))];
            let [Some(gap), Some(inside)] = [gap, inside] else { continue };
            if inside == Dur::ZERO {
                continue;
            }
            let part = |of: u128| of * u128::from(inside.0) / u128::from(gap.0);
            let of_time = |time: Dur| part(u128::from(time.0));
            let whole = |time: u128| Dur(u64::try_from(time).unwrap_or(u64::MAX));
            all.bytes += part(u128::from(bytes.0) * u128::from(Ppm::ONE.0));
            all.least += whole(of_time(*least));
            all.most += whole(of_time(*most + wait) + 1);
        }
        (all.bytes > 0).then_some(all)
    }
}

/// Millionths of bytes in so long, in bits a second.
fn rate(bytes: u128, took: Dur) -> u64 {
    let bits = bytes * 8 * 1_000_000_000_000 / u128::from(Ppm::ONE.0);
    u64::try_from(bits / u128::from(took.0.max(1))).unwrap_or(u64::MAX)
}

impl Passage<'_> {
    /// How far off is what is known of a limiter that sent these frames.
    fn off(&self, trial: &Trial, line: PortSpeed, frames: &[(usize, Time, Bytes)]) -> Off {
        let longest = frames.iter().map(|(.., bytes)| line.slot(*bytes)).max();
        // First bits are told from last bits by what a frame takes, which of two frames of a size is the same: once for any two instants.
        let sending = self.apart.part(longest.unwrap_or_default().0);
        // A pipeline that takes longer for each miss lets none pass sooner, and the longer the more so.
        let slower = Receive { miss: self.apart.most(self.nic.receive.miss), ..self.nic.receive };
        let frames: Vec<_> = self.reached.iter().map(|one| (one.at, one.connection)).collect();
        let later = pipeline::passed(&slower, &frames).into_iter().zip(&self.passes);
        let cnps = later.map(|(later, passes)| later - *passes).max().unwrap_or_default();
        Off {
            stamps: trial.observation.bound() + Dur(sending.div_ceil(2)),
            cnps,
            apart: self.apart,
        }
    }
}

impl Limited {
    /// The limiter of a flow: its own, or that of all flows of its port.
    pub(super) fn of(done: &JudgeContext<'_>, trial: &Trial, flow: &str) -> Result<Limited, Doubt> {
        let (index, spec) = trial.flow(flow)?;
        let seen = Passage::of(done, trial, spec.nic);
        let rp = Rp { latency: seen.apart.range(seen.nic.rp.latency), ..seen.nic.rp };
        let own = |connection: u16| match (rp.scope, trial.script.flow_of(connection)) {
            (Scope::Qp, _) => connection == trial.script.connection(index),
            (Scope::DestIp, Some((_, other))) => {
                (other.over, other.address) == (spec.over, spec.address)
            }
            (Scope::Port, Some(_)) => true,
            (Scope::DestIp | Scope::Port, None) => false,
        };
        let told = seen.counted().filter(|(one, _)| matches!(one.kind, RoceKind::Cnp { .. }));
        let cnps = told.filter(|(one, _)| own(one.connection));
        let cnps = cnps.map(|(one, passes)| Told { record: one.record, at: one.at, passes });
        let data = seen.left.iter().filter(|one| matches!(one.roce.kind, RoceKind::Data { .. }));
        let data: Vec<_> = data.filter(|one| own(one.roce.connection)).collect();
        let numbers = data.iter().map(|one| (one.roce.connection, one.roce.psn));
        let went_back = went_back(numbers, selective::is_kept(&seen.nic.rc));
        let frames = data.iter().map(|one| (one.record, one.at, Bytes(one.roce.size.into())));
        let frames: Vec<_> = frames.collect();
        let line = trial.observation.ports[usize::from(spec.nic)].speed;
        // What else the NIC sends may be in the way of a packet: what is under way, and a frame of each other connection; two where
        // a burst that had to wait is followed by the next one, which has waited longer than the packet.
        let others = seen.left.iter().filter(|one| {
            !matches!(one.roce.kind, RoceKind::Data { .. }) || !own(one.roce.connection)
        });
        let mut longest: BTreeMap<u16, Dur> = BTreeMap::new();
        for one in others {
            let slot = line.slot(Bytes(one.roce.size.into()));
            let of = longest.entry(one.roce.connection).or_default();
            *of = slot.max(*of);
        }
        let under_way = longest.values().max().copied().unwrap_or_default();
        let turn: Dur = longest.into_values().sum();
        let turns = match rp.limiting {
            Limiting::Packet => turn,
            Limiting::Burst => turn * 2,
        };
        Ok(Limited {
            part: seen.part,
            rp,
            line,
            off: seen.off(trial, line, &frames),
            apart: seen.apart,
            allowance: seen.apart.most(turns + under_way),
            cnps: cnps.collect(),
            frames,
            went_back,
        })
    }

    /// Whether it went back for the first time before a packet, or with it, and had sent others before that.
    pub(super) fn is_behind_a_loss(&self, packet: usize) -> bool {
        self.went_back.first().is_some_and(|&first| first > 1 && first <= packet)
    }

    /// What is off, each gap by itself. One in which it went back may be as long as that takes.
    pub(super) fn follow(&self) -> Followed {
        let cnps: Vec<Time> = self.cnps.iter().map(|cnp| cnp.passes).collect();
        let frames: Vec<(Time, Bytes)> =
            self.frames.iter().map(|&(_, at, bytes)| (at, bytes)).collect();
        let allowance = Some(self.allowance);
        let seen = rp::LimiterTrace { cnps: &cnps, frames: &frames, off: self.off, allowance };
        let mut followed = rp::follow(&self.rp, self.line, &seen);
        followed.faults.retain(|fault| {
            let mut back = self.went_back.iter();
            let waited = back.any(|&index| fault.from < index && index <= fault.frame);
            fault.kind != PaceFault::TooLate || !waited
        });
        followed
    }

    /// What the rule leaves from the beginning of each frame to that of the next one of its limiter, at the least and at the most, where there is
    /// something to send and nothing else is in the way; by the device's clock. Of a burst its last frame bears what the rest of it does not
    /// take. `None`: stamps leave too many orders open to say.
    pub(super) fn holds(&self) -> Option<Vec<[Dur; 2]>> {
        let cnps: Vec<Time> = self.cnps.iter().map(|cnp| cnp.passes).collect();
        let frames: Vec<(Time, Bytes)> =
            self.frames.iter().map(|&(_, at, bytes)| (at, bytes)).collect();
        let asked = gaps(&self.rp, self.line, &cnps, &frames, (self.off, Some(self.allowance)));
        let mut used = Dur::ZERO;
        let each = asked.iter().zip(&frames).map(|(gap, &(_, bytes))| {
            if gap.is_lost() {
                return None;
            }
            let slot = self.line.slot(bytes);
            used += slot;
            let holds = [gap.lo, gap.hi].map(|asked| slot + asked.saturating_sub(used));
            if gap.bytes > Bytes(0) {
                used = Dur::ZERO;
            }
            Some(holds)
        });
        each.collect()
    }

    /// What of its flow has to leave between two instants, in bits a second of frames, where each may have to wait for `wait` until its turn comes: all that
    /// the port takes where no CNP was sent. `None`: it cannot be told.
    pub(super) fn has_to_send(&self, (from, until): (Time, Time), wait: Dur) -> Option<Span> {
        if !self.rp.enable || self.cnps.iter().all(|cnp| cnp.at >= until) {
            return Some(Span::exactly(self.line.bps()));
        }
        if self.rp.limiting != Limiting::Packet || self.rp.scope != Scope::Qp {
            return None;
        }
        let frames: Vec<(Time, Bytes)> =
            self.frames.iter().map(|&(_, at, bytes)| (at, bytes)).collect();
        let asks = Asks::within(&frames, &self.holds()?, (from, until), wait)?;
        Some(Span {
            lo: rate(asks.bytes, self.apart.most(asks.most)),
            hi: rate(asks.bytes, self.apart.least(asks.least))
                .saturating_add(1)
                .min(self.line.bps()),
        })
    }

    /// Whether something is sent once the first CNP takes effect, if there is one.
    pub(super) fn takes_effect(&self, trial: &Trial, flow: &str) -> Result<(), Doubt> {
        let (first, last) = (self.cnps.first(), self.frames.last());
        let (Some(cnp), Some((_, last, _))) = (first, last) else { return Ok(()) };
        if *last >= cnp.passes + self.rp.latency.most() {
            return Ok(());
        }
        let why = format!("{flow} sent nothing after a CNP took effect");
        Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) })
    }

    /// What it sends `bytes` at after its first cut and nothing else, in bits a second, no faster than the port.
    pub(super) fn after_first_cut(&self, bytes: Bytes) -> Span {
        self.sent_at(bytes, forms::first_cut(&self.rp, self.line))
    }

    /// What it sends them at if it is told and does not cut: at what a first cut is taken from, or as before.
    pub(super) fn uncut(&self, bytes: Bytes) -> [Span; 2] {
        let rates = [forms::start(&self.rp, self.line), Real::of(self.line.bps())];
        rates.map(|rate| self.sent_at(bytes, rate))
    }

    /// What is sent at once in packets of that size, and how long at the least it holds the next back after the first cut.
    fn first_hold(&self, bytes: Bytes) -> (Bytes, Dur) {
        let sent = match self.rp.limiting {
            Limiting::Packet => bytes,
            Limiting::Burst => self.rp.burst + bytes,
        };
        let cut = forms::first_cut(&self.rp, self.line);
        (sent, forms::hold(&self.rp, self.line, sent, cut).0)
    }

    /// Whether steps may leave packets of that size back to back after the first cut, or as good as.
    pub(super) fn hides_its_first_cut(&self, bytes: Bytes) -> bool {
        let (sent, least) = self.first_hold(bytes);
        self.is_in_steps()
            && self.apart.least(least) <= self.apart.most(self.line.slot(sent)) + self.blur()
    }

    /// Whether a packet of that size which the first cut holds back may look as one that nothing did, by what stamps leave open: then one that was held
    /// later, and by more, looks as the first.
    fn may_miss_its_first_cut(&self, bytes: Bytes) -> bool {
        let (sent, least) = self.first_hold(bytes);
        let open = self.blur() * 2;
        open > Dur::ZERO && self.apart.least(least) <= self.apart.most(self.line.slot(sent)) + open
    }

    /// Whether steps are declared of its rates or its pacer.
    pub(super) const fn is_in_steps(&self) -> bool {
        self.rp.rate_step.is_some() || self.rp.pacer_step.is_some()
    }

    /// Where steps are declared and CNPs came, whether a packet had to be held back for certain: else one that obeys none of them does the same.
    ///
    /// # Errors
    /// None had to be.
    pub(super) fn shows(&self, trial: &Trial, curve: &[Point]) -> Result<(), Doubt> {
        let Some(cnp) = self.cnps.first().filter(|_| self.is_in_steps() && self.rp.enable) else {
            return Ok(());
        };
        let held = |point: &Point| {
            point.at >= cnp.at
                && point.predicted.hi < rp::rate(point.bytes, self.line.slot(point.bytes).0)
        };
        if self.rp.limiting == Limiting::Burst || curve.iter().any(held) {
            return Ok(());
        }
        let why = "by the declared steps of its rates or of its pacer no packet has to be held back by any CNP";
        Err(Doubt { reason: "not-observable", ..trial.doubt(why) })
    }

    fn sent_at(&self, bytes: Bytes, rate: Real) -> Span {
        let (least, most) = forms::hold(&self.rp, self.line, bytes, rate);
        let sent = |gap: Dur| rp::rate(bytes, gap.max(self.line.slot(bytes)).0);
        // What it counts a second by is its own.
        let [slowest, fastest] = [sent(most), sent(least)];
        let part = |rate: u64| self.apart.part(rate);
        Span { lo: slowest.saturating_sub(part(slowest)), hi: fastest + part(fastest) }
    }

    /// From when on something else than the first CNP, `cnp`, may have changed the rate: the next one, the timer, or so
    /// many bytes.
    pub(super) fn next_change(&self, cnp: Told) -> Option<Time> {
        let effect = cnp.passes + self.rp.latency.least();
        let second = self.cnps.get(1).map(|cnp| cnp.passes + self.rp.latency.least());
        let every = Some(self.rp.byte_counter).filter(|every| *every > Bytes(0));
        let mut sent = 0;
        let mut counted =
            self.frames.iter().filter(|(_, at, _)| *at >= effect).filter(|(.., bytes)| {
                sent += bytes.0;
                every.is_some_and(|every| sent >= every.0)
            });
        let by_bytes = counted.next().map(|(_, at, _)| *at);
        let timer = effect + self.apart.least(self.rp.timer);
        let first = second.into_iter().chain(by_bytes).fold(timer, Time::min);
        self.rp.enable.then(|| first.saturating_sub(self.blur() + self.off.cnps))
    }

    /// How far a stamp may be off from another.
    pub(super) fn blur(&self) -> Dur {
        self.off.stamps * 2
    }

    /// When the port is surely free again after a packet.
    pub(super) fn free(&self, begun: Time, packet: Bytes) -> Time {
        begun + self.apart.most(self.line.slot(packet)) + self.blur()
    }

    /// The first packet behind which the port was idle: it, and the one before. Only after the first CNP.
    pub(super) fn held(&self, trial: &Trial) -> Result<(Told, usize), Doubt> {
        let Some(&cnp) = self.cnps.first() else {
            return Err(trial.doubt("no CNP was sent"));
        };
        let longest = self.frames.iter().map(|(.., bytes)| *bytes).max().unwrap_or_default();
        if self.hides_its_first_cut(longest) {
            let why =
                "by the declared steps of its rates or of its pacer the first cut may leave no gap";
            return Err(Doubt { reason: "not-observable", ..trial.doubt(why) });
        }
        let shortest = self.frames.iter().map(|(.., bytes)| *bytes).min().unwrap_or_default();
        if self.may_miss_its_first_cut(shortest) {
            let why = format!(
                "stamps leave {} open, and the first cut leaves a gap of no more than twice as much: which packet it held back is not known",
                self.blur()
            );
            return Err(Doubt { reason: "not-observable", ..trial.doubt(&why) });
        }
        let pairs = self.frames.windows(2).enumerate();
        let mut idle = pairs
            .filter(|(_, pair)| pair[1].1 > self.free(pair[0].1, pair[0].2) && pair[0].1 > cnp.at);
        let first = idle.next().map(|(index, _)| index).filter(|index| *index > 0);
        first.map(|index| (cnp, index)).ok_or_else(|| trial.doubt("no packet was held back"))
    }
}

/// Which packets, by index, are not ahead of the one before them of their connection; of one that sends again what is missing `alone`, of all before
/// them: behind one that was missing the next may be.
fn went_back(sent: impl Iterator<Item = (u16, u32)>, alone: bool) -> Vec<usize> {
    let mut last: BTreeMap<u16, Psn> = BTreeMap::new();
    let back = sent.enumerate().filter_map(|(index, (connection, psn))| {
        let psn = Psn::new(psn);
        let Some(&before) = last.get(&connection) else {
            last.insert(connection, psn);
            return None;
        };
        let back = psn.ahead_of(before).is_none_or(|ahead| ahead == 0);
        if !(back && alone) {
            last.insert(connection, psn);
        }
        back.then_some(index)
    });
    back.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_goes_back_sends_a_packet_that_is_not_ahead_of_the_last_of_its_connection() {
        // Two connections take turns; 4 goes back to 8, 5 sends its first anew, and its next is ahead again beyond the greatest number.
        let most = (1 << 24) - 1;
        let sent = [(4, 7), (5, most), (4, 8), (5, most), (4, 9), (4, 8), (5, 0), (4, 9)];
        assert_eq!(went_back(sent.into_iter(), false), [3, 5]);
        // 7 and 8 are sent again, one after the other, and then 10.
        let sent = [(4, 7), (4, 8), (4, 9), (4, 7), (4, 8), (4, 10)];
        assert_eq!(went_back(sent.into_iter(), true), [3, 4]);
        assert_eq!(went_back(sent.into_iter(), false), [3]);
    }

    #[test]
    fn a_gap_that_begins_before_a_window_or_ends_after_it_counts_by_its_part_in_it() {
        let us = |at: u64| Time::ZERO + Dur::us(at);
        // Three of 1000 B in 20 us between two long gaps, which reach 300 us and 60 us into the window.
        let ats = [0, 400, 410, 420, 540];
        let frames = ats.map(|at| (us(at), Bytes(1_000)));
        let holds: Vec<[Dur; 2]> =
            [400, 10, 10, 120, 50].map(|held| [Dur::us(held), Dur::us(held)]).into();
        let of = |from: u64, until: u64, holds: &[[Dur; 2]]| {
            Asks::within(&frames, holds, (us(from), us(until)), Dur::ZERO)
        };
        let asks = of(100, 480, &holds).expect("some leave");
        // 3 of 4, 1, 1, 1 of 2: 3250 B in all of it.
        assert_eq!((asks.bytes, asks.least), (3_250_000_000, Dur::us(380)));
        // The gaps as they are asked for, whatever they were: twice as fast.
        let faster: Vec<_> = holds.iter().map(|held| held.map(|held| held / 2)).collect();
        let asks = of(100, 480, &faster).expect("some leave");
        assert_eq!((asks.bytes, asks.least), (3_250_000_000, Dur::us(190)));
        assert_eq!(rate(asks.bytes, asks.least), 3_250 * 8 * 1_000_000 / 190);
        assert_eq!(of(600, 700, &holds), None);
        // The last one may be held for longer than is seen.
        let long = [holds[0], [Dur::us(500), Dur::us(500)]];
        let asks = Asks::within(&frames[..2], &long, (us(400), us(650)), Dur::ZERO);
        let asks = asks.expect("it is held all the time");
        assert_eq!((asks.bytes, asks.least), (500_000_000, Dur::us(250)));
    }
}
