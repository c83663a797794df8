//! What a NIC with a slow host was seen to be brought and to say, for one class, and what it is held against.

use super::super::super::judge_context::JudgeContext;
use super::super::super::judged::Unread;
use super::super::Passage;
use super::{HEADERS, cause};
use crate::judge::nic::asked::{
    Account, Lag, Promise, Spoken, Stretch, Stretches, Thresholds, Waiting, stretches,
};
use crate::judge::nic::explained::{Limits, limits, outs, reads};
use crate::spec::nic::slow_receiver::{Brought, Taker, bus, fetched};
use crate::spec::pause::pause_time;
use crate::spec::steps::Kept;
use crate::trials::trial::Trial;
use rig_capture::analyse::nic::Reached;
use rig_capture::{Dir, What};
use rig_lab::NicHost;
use rig_testcases::RoceKind;
use rig_units::{Bytes, Dur, L2Rate, PortSpeed, Quanta, Time, Within};

/// Size of a PFC frame.
const WORD: u16 = 64;

/// A field, what is declared of it, and by how much a device has to be outside to be told; `None` where nothing showed it.
pub(super) type Alike = Option<(String, Within, Dur)>;

/// The same of a threshold.
pub(super) type AlikeSize = Option<(String, Kept, Bytes)>;

/// What reached a NIC and what it said, for one class.
pub(super) struct Seen {
    /// The part by which it is configured.
    pub(super) part: &'static str,
    pub(super) promise: Promise,
    pub(super) of: Stretches,
    pub(super) words: Vec<Spoken>,
    /// Other classes that XOFFs were for, and how many.
    pub(super) others: Vec<(u8, usize)>,
    /// XOFFs that name priorities without PFC, and one of those.
    pub(super) strangers: Vec<(usize, u8)>,
    /// Frames with payload of the class.
    pub(super) frames: usize,
    pub(super) quanta: Quanta,
    pub(super) refresh: Dur,
    pub(super) asked: Vec<(usize, Quanta)>,
    /// What calls for XOFF, and for XON.
    thresholds: Thresholds,
    /// Bytes of the longest frame of the class.
    longest: Bytes,
    /// What the host takes at the most.
    drains: L2Rate,
    pub(super) speed: PortSpeed,
    /// The range of its emission, as it is declared.
    emission: Within,
    /// The range of its watchdog, if it has one.
    watchdog: Option<Within>,
    miss: Within,
    /// When the class is over its threshold, as far as what the host declares tells without a word of the NIC's.
    plain: Stretches,
    /// The same of a NIC that holds its XON to the greatest that it may be.
    at_most: Stretches,
    /// All that reached it, if it is all of the class.
    brought: Option<Vec<Brought>>,
    host: NicHost,
    /// The most reads that bear on one instant that an XON tells of.
    reads: u64,
}

impl Seen {
    /// What the port shows of the NIC behind it.
    pub(super) fn of(
        done: &JudgeContext<'_>,
        trial: &Trial,
        port: &str,
        class: u8,
    ) -> Result<Seen, Unread> {
        let index = trial.port(port)?;
        let seen = Passage::of(done, trial, index);
        let (pfc, part) = (&seen.nic.pfc, seen.part);
        let undeclared =
            |what: &str| Unread::NotApplicable(format!("`{part}.{what}` is not declared"));
        let (xoff, xon) = pfc.xoff.zip(pfc.xon).ok_or_else(|| undeclared("pfc.xoff"))?;
        let (quanta, refresh) =
            pfc.quanta.zip(pfc.refresh).ok_or_else(|| undeclared("pfc.quanta"))?;
        let brought = brought(trial, &seen.reached);
        let ends = ends(&seen).ok_or_else(|| undeclared("host.pcie"))?;
        let frames: Vec<Brought> = brought.iter().map(|(_, one)| *one).collect();
        let fetched = fetched(&seen.nic.host, &frames);
        let trace = &trial.observation.ports[usize::from(index)];
        let mut words = Vec::new();
        let mut asked = Vec::new();
        let mut others: Vec<(u8, usize)> = Vec::new();
        let mut strangers = Vec::new();
        let on_way = trace.way(WORD) + trace.speed.serialise(Bytes(8 + u64::from(WORD)));
        for (record, one) in trial.observation.records.iter().enumerate() {
            let What::Pfc { enable, quanta } = one.what else { continue };
            if (one.port, one.dir) != (index, Dir::Rx) {
                continue;
            }
            for other in (0..8).filter(|other| enable >> other & 1 == 1 && *other != class) {
                if quanta[usize::from(other)] > Quanta(0) {
                    match others.iter_mut().find(|(known, _)| *known == other) {
                        Some((_, count)) => *count += 1,
                        None => others.push((other, 1)),
                    }
                }
            }
            let stops =
                |class: &u8| enable >> class & 1 == 1 && quanta[usize::from(*class)] > Quanta(0);
            let stranger = (0..8).filter(stops).find(|class| !pfc.obeys(*class));
            strangers.extend(stranger.map(|class| (record, class)));
            if enable >> class & 1 == 1 {
                let quanta = quanta[usize::from(class)];
                let at = one.at.saturating_sub(on_way);
                words.push(Spoken { record, at, lasts: pause_time(quanta, trace.speed) });
                asked.extend((quanta > Quanta(0)).then_some((record, quanta)));
            }
        }
        let emission = seen.apart.range(pfc.emission.unwrap_or(Within::ZERO));
        let (blur, until) = (seen.bound, seen.until);
        let turn = seen.busy;
        let again = seen.apart.range(Within::exactly(refresh));
        let watchdog = pfc.watchdog.map(|after| seen.apart.range(after));
        let promise = Promise { emission, turn, blur, refresh: again, watchdog, until };
        let kept = |of: Bytes| Kept::of(of, pfc.threshold_step);
        let thresholds = Thresholds { xoff: kept(xoff), xon: kept(xon) };
        let is_own = |at: usize| brought[at].0 == class;
        // What is not lossless is never full.
        let lossless = pfc.obeys(class);
        let held = |outs: &[(Time, Time)]| -> Vec<Waiting> {
            let own = (0..frames.len()).filter(|at| lossless && is_own(*at));
            own.map(|at| Waiting { at: frames[at].at, out: outs[at], size: frames[at].size })
                .collect()
        };
        let over = |outs: &[(Time, Time)], said: &[Stretch]| {
            stretches(&held(outs), thresholds, said, blur, until)
        };
        let bare = frames.iter().zip(&fetched).map(|(one, reads)| (*one, *reads, Limits::NONE));
        let mut all: Vec<(Brought, u64, Limits)> = bare.collect();
        let bare = outs(&all, ends);
        let plain = over(&bare, &[]);
        let greatest = Thresholds { xon: Kept::exactly(thresholds.xon.most), ..thresholds };
        let at_most = stretches(&held(&bare), greatest, &[], blur, until);
        let own: Vec<Brought> =
            (0..frames.len()).filter(|at| is_own(*at)).map(|at| frames[at]).collect();
        let limits = limits(&own, &words, thresholds, &promise);
        let bounded = all.iter_mut().enumerate().filter(|(at, _)| is_own(*at));
        for ((_, one), limits) in bounded.zip(limits) {
            one.2 = limits;
        }
        let bounded = outs(&all, ends);
        let of = over(&bounded, &promise.said(&words));
        Ok(Seen {
            part,
            promise,
            of,
            words,
            others,
            strangers,
            frames: own.len(),
            quanta,
            refresh,
            asked,
            thresholds,
            longest: own.iter().map(|one| one.size).max().unwrap_or_default(),
            drains: bus(&seen.nic.host).unwrap_or(L2Rate { bps: 0 }),
            speed: trace.speed,
            emission: pfc.emission.unwrap_or(Within::ZERO),
            watchdog: pfc.watchdog,
            miss: seen.nic.host.mtt_miss.unwrap_or(Within::ZERO),
            plain,
            at_most,
            reads: reads(&all, &bounded),
            brought: (own.len() == frames.len()).then_some(frames),
            host: seen.nic.host,
        })
    }

    /// What came of it.
    pub(super) fn account(&self) -> Account {
        self.promise.account(&self.of, &self.words)
    }

    /// Within which values emissions and reads look alike. An emission that is always off looks like a host that was, so it is told as far as
    /// the host's declaration alone bounds what called for a word; reads that are always off add up until an XON. A watchdog says nothing when it
    /// trips: the XOFF tells that does not come.
    pub(super) fn tells(&self, stops: bool) -> [Alike; 3] {
        let account = self.promise.account(&self.plain, &self.words);
        let watchdog = self.watchdog.filter(|_| stops);
        let next = self.promise.refresh.most() + self.promise.margin();
        let open = |one: &Lag| one.record.map(|_| one.most - one.least);
        let all = account.xoffs.iter().chain(&account.xons);
        let emission = all.filter_map(open).min().map(|open| self.promise.turn + open);
        // An XON too soon is one that leaves while more waits, by what bounds it from below; where the threshold is open, by what the host takes of it.
        let open = self.drains.serialise(self.thresholds.xon.width())
            + self.miss.most() * (self.thresholds.xon.width().0 / self.longest.0.max(1) + 1);
        let open = if self.thresholds.xon.width() > Bytes(0) { open } else { Dur::ZERO };
        let width = self.promise.emission.most() + self.promise.turn + self.promise.blur * 5 + open;
        let adds_up = self.reads > 0 && account.stops.is_empty();
        let miss = adds_up.then(|| Dur(width.0.div_ceil(self.reads)));
        let named = |field: &str| format!("{}.{field}", self.part);
        [
            emission.map(|off| (named("pfc.emission"), self.emission, off)),
            miss.map(|off| (named("host.mtt_miss"), self.miss, off)),
            watchdog.map(|declared| (named("pfc.watchdog"), declared, next)),
        ]
    }

    /// What calls for XOFF, and for XON, in words.
    pub(super) fn told_thresholds(&self) -> (String, String) {
        (self.thresholds.xoff.shown(), self.thresholds.xon.shown())
    }

    /// Within which values thresholds look alike: a NIC that asks at another one is as much later or sooner as the port brings of it, and the host takes.
    /// As for an emission, that is told as far as the host's declaration alone bounds what called for a word.
    pub(super) fn sizes(&self) -> [AlikeSize; 2] {
        let account = self.promise.account(&self.plain, &self.words);
        let open = |all: &[Lag]| {
            let each =
                all.iter().filter(|one| one.record.is_some()).map(|one| one.most - one.least);
            each.min()
        };
        let Promise { emission, turn, blur, .. } = self.promise;
        let in_time = |bps: u64, open: Dur| {
            let time = open + emission.most() + turn + blur * 2;
            let bits = u128::from(bps) * u128::from(time.0) / 1_000_000_000_000;
            let bytes = u64::try_from(bits / 8).unwrap_or(u64::MAX);
            Bytes(bytes) + self.longest * 2
        };
        let named = |field: &str| format!("{}.pfc.{field}", self.part);
        let (brings, drains) = (self.speed.bps(), self.drains.bps);
        let Thresholds { xoff, xon } = self.thresholds;
        [
            open(&account.xoffs).map(|open| (named("xoff"), xoff, in_time(brings, open))),
            // Whose XON comes before it surely had to shows how long that is open; of one whom its watchdog stopped none is waited for.
            open(&account.xons)
                .or_else(|| self.falls().filter(|_| account.stops.is_empty()))
                .map(|open| (named("xon"), xon, in_time(drains, open))),
        ]
    }

    /// For how long it is open that what waits has fallen to one XON.
    fn falls(&self) -> Option<Dur> {
        let Stretches { full, relieved } = &self.at_most;
        let falls = full.iter().filter_map(|full| {
            let next = relieved.partition_point(|one| one.from < full.until);
            Some(relieved.get(next)?.from - full.until)
        });
        falls.min()
    }

    /// Whether something called for that word once: surely, or by what the NIC said and some host explains.
    pub(super) fn had_to(&self, asks: &str) -> bool {
        let account = self.account();
        match asks {
            "xoff" => account.due > 0 || account.called_for().next().is_some(),
            "xon" => !account.xons.is_empty(),
            "watchdog" => !account.stops.is_empty(),
            _ => !account.refreshes.is_empty(),
        }
    }

    /// What is known of the host that is behind its words.
    pub(super) fn cause(&self) -> Option<String> {
        cause::told(&self.host, self.brought.as_deref()?, &self.words)
    }

    /// What it did instead for another priority, in words; or that its watchdog stopped it before.
    pub(super) fn instead(&self, account: &Account) -> String {
        match (self.others.first(), account.stops.is_empty()) {
            (Some((class, count)), _) => format!(", and {count} for priority {class}"),
            (None, false) => ", and none ever since its watchdog stopped it".to_owned(),
            (None, true) => String::new(),
        }
    }
}

/// The hosts that take what comes the soonest and the latest: by a clock as fast and as slow as the NIC's may be, with reads of the least and of the
/// most that is declared. What a read takes is declared as any clock may show it.
fn ends(seen: &Passage<'_>) -> Option<(Taker, Taker)> {
    const SECOND: Dur = Dur::s(1);
    let host = &seen.nic.host;
    let miss = host.mtt_miss.unwrap_or(Within::ZERO);
    let by = |second: Dur, miss: Dur| {
        let rate = |rate: L2Rate| {
            let bps = u128::from(rate.bps) * u128::from(SECOND.0) / u128::from(second.0.max(1));
            L2Rate { bps: u64::try_from(bps).unwrap_or(u64::MAX) }
        };
        let (pcie, loopback) = (host.pcie.map(rate), host.loopback.map(rate));
        Taker::of(&NicHost { pcie, loopback, ..*host }, miss)
    };
    by(seen.apart.least(SECOND), miss.least()).zip(by(seen.apart.most(SECOND), miss.most()))
}

/// The frames with payload that reached the NIC, each with its class.
fn brought(trial: &Trial, reached: &[Reached]) -> Vec<(u8, Brought)> {
    let script = &trial.script;
    let read = |one: &Reached| {
        let RoceKind::Data { .. } = one.kind else { return None };
        let size = match trial.observation.records[one.record].what {
            What::Data { size, .. } => size,
            What::Roce(roce) => roce.size,
            _ => return None,
        };
        let stream = script.streams.get(usize::from(one.connection)).map(|spec| spec.class);
        let flow = script.flow_of(one.connection).map(|(_, spec)| spec.class);
        let payload = Bytes(size.saturating_sub(HEADERS).into());
        let (at, connection, size) = (one.at, one.connection, Bytes(size.into()));
        Some((stream.or(flow)?, Brought { at, connection, size, payload }))
    };
    reached.iter().filter_map(read).collect()
}
