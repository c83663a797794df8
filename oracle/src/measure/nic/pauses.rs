//! What a NIC asks of its sender by PFC when its host is slow: when it must send XOFF and XON, when it must not, and what it says.

mod cause;
mod seen;

use self::seen::{Alike, AlikeSize, Seen};
use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, looked};
use super::super::measurement::{Expected, Known, Red, Tells, told};
use super::super::stamps;
use super::{HEADERS, OF_NIC};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::nic::asked::{Account, Lag, Promise};
use crate::resolution;
use crate::spec::nic::slow_receiver::{period, rate};
use crate::spec::pause::pause_time;
use crate::spec::steps::Kept;
use crate::trials::context::Context;
use crate::verdict::Doubt;
use core::cell::Cell;
use rig_capture::{Span, Unit};
use rig_lab::{Nic, Part};
use rig_testcases::vocabulary::{ByPfc, Entry, NIC, ValueKind, optional, required};
use rig_testcases::{Measure, Script};
use rig_units::{Bytes, Dur, L2Rate, Time, Within};

const SOURCE: &str = "Guo et al., SIGCOMM'16, 4.4; IEEE 802.1Q clause 36; IEEE 802.3 Annex 31B";
/// What stops a NIC that asks for too long.
const WATCHDOG: &str = "Guo et al., SIGCOMM'16, 4.3; ethtool(8), pfc-prevention-tout";

/// `nic.pauses`.
pub(in super::super) static PAUSES: Known = Known {
    entry: Entry {
        name: "nic.pauses",
        parts: Some(&[Part::NicPfc]),
        pfc: ByPfc::Rests,
        about: "XOFF and XON that a NIC sends for a priority as its receive buffer fills and empties: each when what arrived and what its host takes call for it, none without, refreshed in time, for as long as it says",
        source: SOURCE,
        fields: &[
            NIC,
            required("class", ValueKind::Class, "0 to 7", "the priority"),
            optional(
                "asks",
                ValueKind::Word(&["xoff", "xon", "refresh", "watchdog"]),
                "what has to be due at least once: a NIC that never has to say it shows nothing of that; absent: nothing has to",
            ),
        ],
        ..OF_NIC
    },
    tells: Tells::Width(
        "the timestamps of both frames, a frame of its own that is under way, and how far its clock may be off",
    ),
    red: Red::Mutated("slow-receiver-with-small-pages", "deviation=nic_xoff_late"),
    on: |measure| format!("{} class {}", measure.named("port"), class_of(measure)),
    expected: |measure, context, points| {
        let script = points.first().and_then(|point| context.script(point).ok());
        script.map_or_else(Vec::new, |script| rule(measure, context, &script))
    },
    judge: |measure, done, judged| pauses(done, measure, judged),
    stamps: Some(|measure, context, script| {
        let port = script.ports.iter().position(|name| name == measure.named("port"))?;
        let port = u16::try_from(port).ok()?;
        let behind = script.dut_ports.get(usize::from(port)).copied()?;
        let pfc = &context.nics().behind(behind)?.pfc;
        let between = Bytes(pfc.xoff?.0.saturating_sub(pfc.xon?.0));
        let fills = stamps::speed(context, script, port).serialise(between);
        let fills =
            stamps::told(fills, "the time in which its port fills what is between XON and XOFF");
        // What has to be due at least once is due by what comes beyond XOFF until the sender hears of it: by arrivals and departures, each off either way.
        let heard = pfc.emission.unwrap_or(Within::ZERO).most() / 4;
        let heard = stamps::told(heard, "a quarter of what an XOFF takes to leave");
        let asks = measure.arguments.word("asks").and(heard);
        stamps::finest([fills, asks])
    }),
    of_nic: |measure, _| Some(measure.named("port").to_owned()),
    unpromised: Some(undeclared),
    ..Known::USUAL
};

fn class_of(measure: &Measure) -> u8 {
    measure.arguments.class("class").unwrap_or_default()
}

/// Why nothing says when the NIC behind a port pauses its sender: what that follows from is not declared.
fn undeclared(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    let port = script.ports.iter().position(|name| name == measure.named("port"))?;
    let behind = *script.dut_ports.get(port)?;
    let Nic { pfc, host, .. } = context.nics().behind(behind)?;
    let asks = |word: &str| measure.arguments.word("asks") == Some(word);
    let fields = [
        ("host.pcie", host.pcie.is_some()),
        ("pfc.xoff", pfc.xoff.is_some()),
        ("pfc.xon", pfc.xon.is_some()),
        ("pfc.quanta", pfc.quanta.is_some()),
        ("pfc.refresh", pfc.refresh.is_some()),
        ("pfc.watchdog", pfc.watchdog.is_some() || !asks("watchdog")),
    ];
    let (missing, _) = fields.into_iter().find(|(_, is_there)| !is_there)?;
    let part = if behind == 0 { "nic" } else { "peer" };
    Some(format!("`{part}.{missing}` is not declared: nothing says when it pauses its sender"))
}

/// The rule, and what it comes to for senders of full frames at the speed of the port that stop at once and take turns.
fn rule(measure: &Measure, context: &Context<'_>, script: &Script) -> Vec<Expected> {
    let nics = context.nics();
    let port = script.ports.iter().position(|name| name == measure.named("port"));
    let behind = port.and_then(|port| script.dut_ports.get(port).copied()).unwrap_or(0);
    let nic = nics.behind(behind).unwrap_or(&nics.nic);
    let (Some(xoff), Some(xon)) = (nic.pfc.xoff, nic.pfc.xon) else {
        return told("nothing: its `pfc.xoff` is not declared", "", SOURCE);
    };
    let to = |of: u16, class: u8| (Some(usize::from(of)), class) == (port, class_of(measure));
    let streams = script.streams.iter().filter(|spec| to(spec.to, spec.class)).count();
    let flows = script.flows.iter().filter(|spec| to(spec.to, spec.class) && spec.nic != spec.to);
    let connections = u64::try_from((streams + flows.count()).max(1)).unwrap_or(1);
    let [up, down] = [xoff, xon].map(|of| Kept::of(of, nic.pfc.threshold_step).shown());
    let text = format!("XOFF once more than {up} wait for the host, XON once no more than {down}");
    let speed = nics.ports.iter().map(|group| group.speed).next();
    let (frame, payload) = (Bytes(u64::from(HEADERS) + 1_024), Bytes(1_024));
    let miss = nic.host.mtt_miss.unwrap_or(Within::ZERO);
    let takes = |miss| rate(&nic.host, (frame, payload), connections, miss);
    let takes = takes(miss.most()).zip(takes(miss.least()));
    let steady = speed.zip(takes).map(|(speed, (least, most))| {
        let slot = speed.slot(frame);
        let brings = u128::from(frame.0) * 8 * 1_000_000_000_000 / u128::from(slot.0.max(1));
        let brings = L2Rate { bps: u64::try_from(brings).unwrap_or(u64::MAX) };
        let often = |takes| {
            period(brings, takes, Bytes(xoff.0 - xon.0)).map_or_else(
                || "none".to_owned(),
                |period| format!("about {}", 1_000_000_000_000 / period.0.max(1)),
            )
        };
        let both = |one: String, other: String| match one == other {
            true => one,
            false => format!("{one} to {other}"),
        };
        let takes = both(least.to_string(), most.to_string());
        let often = both(often(most), often(least));
        format!(
            "; of {} with 1024B of payload a packet the host takes {takes} in the long run, and the port brings {brings}: {often} pauses a second",
            if connections == 1 { "one connection".to_owned() } else { format!("{connections} connections") }
        )
    });
    told(
        text + &steady.unwrap_or_default(),
        "T(i) = max(A(i), T(i - 1)) + n / r + misses x miss",
        SOURCE,
    )
}

fn pauses(done: &JudgeContext<'_>, measure: &Measure, judged: &mut Judged) {
    let (port, class) = (measure.named("port"), class_of(measure));
    let on = format!("{port} class {class}");
    let told: Cell<[Alike; 3]> = Cell::default();
    let sizes: Cell<[AlikeSize; 2]> = Cell::default();
    done.each("nic.pauses", &on, judged, |trial| {
        let seen = Seen::of(done, trial, port, class)?;
        if seen.frames == 0 {
            let why = format!("nothing of class {class} reached the NIC behind {port}");
            return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into());
        }
        let read = count(&seen, class);
        // A pause too many is one, whatever was asked for.
        let asks = measure.arguments.word("asks").filter(|asks| !seen.had_to(asks));
        match asks.filter(|_| read.span.meets(read.want.span)) {
            Some(asks) => {
                let why = match asks {
                    "watchdog" => format!("whether the watchdog of the NIC behind {port} was due to stop class {class} is not certain"),
                    _ => format!("no {} of class {class} was due of the NIC behind {port}: its host took what came", said(asks)),
                };
                Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) }.into())
            }
            None => Ok(read),
        }
    });
    done.several("nic.pauses", judged, |trial| {
        let Ok(seen) = Seen::of(done, trial, port, class) else { return Ok(Vec::new()) };
        let account = seen.account();
        let known = told.take();
        told.set(coarser(known, seen.tells(!account.stops.is_empty())));
        sizes.set(coarser(sizes.take(), seen.sizes()));
        let all = [
            ("XOFF", reacted(&seen, (&account, &account.xoffs), true)),
            ("XON", xon(&seen, &account)),
            ("refresh", refreshed(&seen, &account)),
            ("watchdog", stopped(&seen, &account)),
            ("quanta", asked(&seen)),
            ("other priorities", strangers(&seen)),
        ];
        let named =
            |(what, read): (&str, Option<TrialReading>)| Some((format!("{on} {what}"), read?));
        Ok(all.into_iter().filter_map(named).collect())
    });
    let told: Vec<_> = told.take().into_iter().flatten().collect();
    judged.resolved("nic.pauses", &told);
    let sizes = sizes.take().into_iter().flatten();
    let sizes: Vec<_> =
        sizes.map(|(field, kept, off)| resolution::Alike::of_size(&field, kept, off)).collect();
    judged.resolved_too("nic.pauses", &sizes);
}

/// A field, what is declared of it, and by how much a device has to be outside to be told.
type Told<D, O> = Option<(String, D, O)>;

/// Of two trials what the one tells that tells less.
fn coarser<const N: usize, D, O: PartialOrd>(
    known: [Told<D, O>; N],
    other: [Told<D, O>; N],
) -> [Told<D, O>; N] {
    let mut other = other.into_iter();
    known.map(|one| match (one, other.next().flatten()) {
        (Some(one), Some(other)) => Some(if one.2 < other.2 { other } else { one }),
        (one, other) => one.or(other),
    })
}

/// A word of PFC, for people.
fn said(asks: &str) -> &'static str {
    match asks {
        "xoff" => "XOFF",
        "xon" => "XON",
        _ => "refresh",
    }
}

/// How often it asked for a pause, and how often it should.
fn count(seen: &Seen, class: u8) -> TrialReading {
    let account = seen.account();
    let (xoff, xon) = seen.told_thresholds();
    let number = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let needless = account.needless.len();
    // Each that something called for may be one that had to be; an XOFF too many counts whether a pause was on or not.
    let called_for = account.called_for().count();
    let most = number(called_for).max(account.due);
    let all = number(called_for + needless);
    let length = seen.promise.until.since(Time::ZERO).unwrap_or(Dur::ZERO);
    let a_second = u128::from(all) * 1_000_000_000_000 / u128::from(length.0.max(1));
    let word = if all == 1 { "pause" } else { "pauses" };
    let mut got = format!("{all} {word}, {a_second} a second");
    if needless > 0 {
        got += &format!(
            "; {needless} of its XOFFs without need: no more than {xoff} waited since no more than {xon} did"
        );
        got += &seen.cause().map(|cause| format!("; {cause}")).unwrap_or_default();
    }
    if all < account.due {
        got += &seen.instead(&account);
    }
    let want = Prediction {
        unit: Unit::Count,
        span: Span { lo: account.due, hi: most },
        formula: "",
        text: format!(
            "as often as more than {xoff} of priority {class} wait for the host, after no more than {xon} did"
        ),
        source: SOURCE,
    };
    let records = match needless {
        0 => account.pauses.clone(),
        _ => account.needless.clone(),
    };
    let looked = looked(seen.frames, "frames with payload");
    let span = Span::exactly(all.max(if needless > 0 { most.saturating_add(1) } else { 0 }));
    TrialReading { span, want, got: Some(got), records, looked }
}

/// How soon it said what it had to: of several the one that is furthest off.
fn reacted(seen: &Seen, (account, all): (&Account, &[Lag]), is_xoff: bool) -> Option<TrialReading> {
    let Promise { emission, turn, .. } = seen.promise;
    let want = Span { lo: emission.least().0, hi: (emission.most() + turn).0 };
    let off = |one: &&Lag| {
        let late = one.least.0.saturating_sub(want.hi);
        let missing = u64::from(one.record.is_none());
        (missing, late.max(want.lo.saturating_sub(one.most.0)))
    };
    let worst = all.iter().rev().max_by_key(off)?;
    let (xoff, xon) = seen.told_thresholds();
    let (word, cause) = match is_xoff {
        true => ("XOFF", format!("more than {xoff} waited")),
        false => ("XON", format!("no more than {xon} waited")),
    };
    let missing = worst.record.is_none().then(|| {
        let instead = if is_xoff { seen.instead(account) } else { String::new() };
        format!("no {word} for {} after {cause}{instead}", Unit::Ps.show(worst.least.0))
    });
    let want = Prediction {
        unit: Unit::Ps,
        span: want,
        formula: "",
        text: format!(
            "{word} within the declared {emission} of when {cause}, and a frame that is under way"
        ),
        source: SOURCE,
    };
    Some(TrialReading {
        span: Span { lo: worst.least.0, hi: worst.most.0 },
        want,
        got: missing,
        records: worst.record.into_iter().collect(),
        looked: looked(all.len(), if is_xoff { "times it filled" } else { "times it emptied" }),
    })
}

/// How soon XON came, and none too soon.
fn xon(seen: &Seen, account: &Account) -> Option<TrialReading> {
    let usual = reacted(seen, (account, &account.xons), false);
    let Some(first) = account.early.first() else { return usual };
    let (_, xon) = seen.told_thresholds();
    let early = account.early.len();
    Some(TrialReading {
        span: Span::exactly(0),
        want: Prediction {
            unit: Unit::Ps,
            span: Span { lo: 1, hi: u64::MAX },
            formula: "",
            text: format!("XON once no more than {xon} wait, not before"),
            source: SOURCE,
        },
        got: Some(format!("{early} XONs while more than {xon} waited")),
        records: vec![*first],
        looked: looked(early + account.xons.len(), "XONs"),
    })
}

/// How long it let pass from one XOFF to the next while its buffer stayed full.
fn refreshed(seen: &Seen, account: &Account) -> Option<TrialReading> {
    let Promise { refresh, turn, blur, .. } = seen.promise;
    let margin = turn + blur;
    let want =
        Span { lo: refresh.least().saturating_sub(margin).0, hi: (refresh.most() + margin).0 };
    let off =
        |one: &&Lag| one.least.0.saturating_sub(want.hi).max(want.lo.saturating_sub(one.most.0));
    let worst = account.refreshes.iter().rev().max_by_key(off)?;
    let got = worst.record.is_none().then(|| {
        format!("no other XOFF for {} while its buffer stayed full", Unit::Ps.show(worst.most.0))
    });
    let pause = pause_time(seen.quanta, seen.speed);
    let want = Prediction {
        unit: Unit::Ps,
        span: want,
        formula: "F1",
        text: format!(
            "another XOFF each {} while its buffer stays full, before the {pause} are over that one asks for",
            seen.refresh
        ),
        source: SOURCE,
    };
    Some(TrialReading {
        span: Span { lo: worst.least.0, hi: worst.most.0 },
        want,
        got,
        records: worst.record.into_iter().collect(),
        looked: looked(account.refreshes.len(), "XOFFs that another came before"),
    })
}

/// For how long it asked before its watchdog stopped it: of several times the one that is furthest off.
fn stopped(seen: &Seen, account: &Account) -> Option<TrialReading> {
    let watchdog = seen.promise.watchdog?;
    let want = Span { lo: watchdog.least().0, hi: watchdog.most().0 };
    let off =
        |one: &&Lag| one.least.0.saturating_sub(want.hi).max(want.lo.saturating_sub(one.most.0));
    let worst = account.stops.iter().rev().max_by_key(off)?;
    let (least, most) = (Unit::Ps.show(worst.least.0), Unit::Ps.show(worst.most.0));
    let (_, xon) = seen.told_thresholds();
    let full = format!("though more than {xon} waited all the time");
    let got = match (worst.most.0 < want.lo, worst.least.0 > want.hi) {
        (true, _) => format!("asked no more after {least} to {most}, {full}"),
        (false, true) => format!("still asked {least} after its first XOFF, with no XON between"),
        (false, false) => format!("asked no more after {least} to {most}"),
    };
    let want = Prediction {
        unit: Unit::Ps,
        span: want,
        formula: "",
        text: format!("asks on until its watchdog stops it, after {watchdog} without XON"),
        source: WATCHDOG,
    };
    Some(TrialReading {
        span: Span { lo: worst.least.0, hi: worst.most.0 },
        want,
        got: Some(got),
        records: worst.record.into_iter().collect(),
        looked: looked(account.stops.len(), "times it asked for long"),
    })
}

/// For how long each XOFF asks.
fn asked(seen: &Seen) -> Option<TrialReading> {
    let other = seen.asked.iter().find(|(_, quanta)| *quanta != seen.quanta);
    let (record, quanta) = *other.or(seen.asked.first())?;
    let want = Prediction {
        unit: Unit::Count,
        span: Span::exactly(seen.quanta.0.into()),
        formula: "F1",
        text: format!("the declared {} in every XOFF", seen.quanta),
        source: "the declared pause time",
    };
    Some(TrialReading {
        span: Span::exactly(quanta.0.into()),
        want,
        got: Some(format!("{}q", quanta.0)),
        records: vec![record],
        looked: looked(seen.asked.len(), "XOFFs"),
    })
}

/// How many of its XOFFs ask for a pause of priorities that have no PFC.
fn strangers(seen: &Seen) -> Option<TrialReading> {
    let asked = seen.asked.len().max(seen.strangers.len());
    let got = seen.strangers.first().map(|(_, class)| {
        format!("{} of {asked}, the first for priority {class}", seen.strangers.len())
    });
    let want = Prediction {
        unit: Unit::Count,
        span: Span::exactly(0),
        formula: "",
        text: format!("no XOFF for a priority that is not in `{}.pfc.priorities`", seen.part),
        source: SOURCE,
    };
    (asked > 0).then(|| TrialReading {
        span: Span::exactly(u64::try_from(seen.strangers.len()).unwrap_or(u64::MAX)),
        want,
        got,
        records: seen.strangers.first().map(|(record, _)| *record).into_iter().collect(),
        looked: looked(asked, "XOFFs"),
    })
}
