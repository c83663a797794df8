//! Whether many queue pairs of a NIC get the same that have something to send all the time, and what all of them carry: as much as the contexts that the
//! other end has at hand leave.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, looked};
use super::super::measurement::{Known, Red, Tells, told};
use super::super::stamps;
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::judge::jain::jain;
use crate::spec::nic::turns::{Steady, apart};
use crate::trials::context::Context;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::analyse::nic::{Reached, reached};
use rig_capture::{Dir, Span, Unit, What};
use rig_lab::{Fault, Nic, Part};
use rig_testcases::vocabulary::{ByPfc, Entry, Looks, WINDOW};
use rig_testcases::{Case, FlowSpec, Measure, RoceKind, Script, Verb, Window};
use rig_units::{Bytes, Quanta, Time, Within};
use std::collections::{BTreeMap, BTreeSet};

const SOURCE: &str = "Kalia et al., ATC'16; Guo et al., SIGCOMM'16, 4.4";
const APART: &str = "one packet, or one burst, of whoever has its turn";
const PASSES: &str = "W / max(slot, n / r + misses x miss)";
/// Headers of a frame that are no payload, as the host counts it.
const BARE: u64 = 62;
/// What a WRITE says of the memory that it is for.
const RETH: u64 = 16;

/// `rate.turns`.
pub(in super::super) static TURNS: Known = Known {
    entry: Entry {
        name: "rate.turns",
        parts: Some(&[Part::Rp, Part::NicPfc]),
        pfc: ByPfc::Rests,
        about: "packets by which queue pairs of a NIC differ that have something to send all the time, and how many of all of them the other end's host takes: they take turns, whoever's context is at hand",
        source: SOURCE,
        fields: &WINDOW,
        check: |given| {
            given.ordered();
            true
        },
        sense: of_packets,
        looks: &[Looks::EVERY_FRAME],
        ..Entry::USUAL
    },
    tells: Tells::Width(
        "a packet or a burst in each turn; of the rate, the timestamps of both ends and what may wait for the host at either",
    ),
    red: Red::Mutated("thousands-of-connections-take-turns", "deviation=turns_skipped"),
    on,
    expected: |measure, context, points| {
        let script = points.first().and_then(|point| context.script(point).ok());
        let seen = script.as_ref().and_then(|script| Ends::of(measure, context, script));
        let Some(ends) = seen else { return told("nothing: its flows are not there", "", SOURCE) };
        let most = ends.turn();
        let takes = match ends.steady(context) {
            None if most > 1 => "; what its receiver takes of bursts is not told",
            None => "; when its receiver asks for a pause is not declared",
            Some(steady) if steady.is_slow() => {
                "; the host at the other end takes less than the port brings"
            }
            Some(_) => "; the host at the other end takes all that the port brings",
        };
        let text = format!("no two of them are more than {} apart{takes}", packets(most));
        told(text, PASSES, SOURCE)
    },
    judge: |measure, done, judged| turns(done, measure, judged),
    stamps: Some(|_, _, script| stamps::steps(script)),
    of_nic: |measure, case| Some(case.flows.get(measure.names("flows").first()?)?.nic.clone()),
    unpromised: Some(undeclared),
    tells_rate: true,
    ..Known::USUAL
};

fn on(measure: &Measure) -> String {
    let flows = measure.names("flows");
    format!("{} queue pairs from {} on", flows.len(), flows.first().map_or("", String::as_str))
}

/// So many, for people.
fn packets(count: u64) -> String {
    format!("{count} {}", if count == 1 { "packet" } else { "packets" })
}

/// Why nothing promises anything: a case has so many contexts of a NIC of which nobody declared what a read costs.
fn undeclared(measure: &Measure, context: &Context<'_>, script: &Script) -> Option<String> {
    let host = &Ends::of(measure, context, script)?.receiver.host;
    let unknown = host.contexts.is_some() && host.pcie.is_none();
    unknown.then(|| {
        "`host.pcie` is not declared: nothing says what a context costs that is not at hand"
            .to_owned()
    })
}

/// Each message of it is a packet from one NIC to another.
fn of_packets(measure: &Measure, case: &Case) -> Vec<Fault> {
    let named =
        measure.names("flows").iter().filter_map(|name| Some((name, case.flows.get(name)?)));
    let other = named.into_iter().find(|(_, flow)| {
        let writes = matches!(flow.verb, Verb::Write | Verb::Send);
        !writes || flow.message > flow.mtu || flow.nic == flow.to || flow.count.is_some()
    });
    let fault = other.map(|(name, _)| {
        let found = format!("`rate.turns` of `{name}`, whose turns are not told by its packets");
        let want = "flows without a `count` from one NIC to another, with `verb: write` or `send` and a `message` of at most their mtu";
        case.fault("measure", found, want)
    });
    fault.into_iter().collect()
}

/// The NICs at both ends of flows.
struct Ends<'a> {
    spec: &'a FlowSpec,
    sharing: u64,
    sender: &'a Nic,
    receiver: &'a Nic,
    script: &'a Script,
}

impl<'a> Ends<'a> {
    fn of(measure: &Measure, context: &'a Context<'_>, script: &'a Script) -> Option<Ends<'a>> {
        let names = measure.names("flows");
        let first = names.first()?;
        let spec = script.flows.iter().find(|flow| flow.name == *first)?;
        let nic = |port: u16| context.nics().behind(*script.dut_ports.get(usize::from(port))?);
        let sharing = u64::try_from(names.len()).ok()?;
        Some(Ends { spec, sharing, sender: nic(spec.nic)?, receiver: nic(spec.to)?, script })
    }

    /// The size of each of their packets.
    fn frame(&self) -> Bytes {
        let names_memory = if self.spec.verb == Verb::Write { RETH } else { 0 };
        Bytes(BARE + names_memory + u64::from(self.spec.message))
    }

    /// How many packets a queue pair sends in its turn, at most.
    fn turn(&self) -> u64 {
        apart(&self.sender.rp, self.frame())
    }

    /// What of them the host of the receiver takes. Of a sender of bursts nothing is told where a read may be needed: one fetches the context of a
    /// whole burst, of which nobody knows how long it is.
    fn steady(&self, context: &Context<'_>) -> Option<Steady> {
        let Nic { pfc, host, .. } = self.receiver;
        let frame = self.frame();
        if self.turn() > 1 && (host.contexts.is_some() || host.mtt.is_some()) {
            return None;
        }
        let speed = stamps::speed(context, self.script, self.spec.to);
        // From what calls for a word until the sender obeys: behind a frame of the receiver's, over the cable, and a frame that is under way.
        let said = pfc.emission.unwrap_or(Within::ZERO).most() + speed.slot(frame) * 3;
        let response = self.script.endpoint(self.spec.to).response;
        let heard = context.apart().most(said + context.cable() * 2 + response);
        let size = (frame, Bytes(frame.0.saturating_sub(BARE)));
        Steady::of(host, size, self.sharing, speed, (pfc.xoff.zip(pfc.xon), heard))
    }
}

/// The packets of all of them that reached the other NIC within the window.
struct Carried {
    /// How many each of them brought.
    counts: BTreeMap<u16, u64>,
    records: Vec<usize>,
    /// How often the receiver asked for a pause.
    pauses: u64,
}

fn turns(done: &JudgeContext<'_>, measure: &Measure, judged: &mut Judged) {
    let window = measure.arguments.window().unwrap_or_default();
    done.several("rate.turns", judged, |trial| {
        let ends = Ends::of(measure, done.context, &trial.script);
        let ends = ends.ok_or_else(|| trial.doubt("its flows are not in the script"))?;
        let carried = carried(trial, &window, ends.spec)?;
        let mut all = vec![(on(measure), fairness(trial, &ends, &carried)?)];
        if let Some(steady) = ends.steady(done.context) {
            let open = trial.observation.bound() * 2;
            let lasts = done.context.apart().range(Within::exactly(window.until - window.from));
            let lasts = Within::between(lasts.least().saturating_sub(open), lasts.most() + open);
            all.push((format!("{}, rate", on(measure)), passed(&ends, &carried, (&steady, lasts))));
        }
        Ok(all)
    });
}

/// What reached the other end of the flows, which were all there from before the window until after it.
fn carried(trial: &Trial, window: &Window, spec: &FlowSpec) -> Result<Carried, Doubt> {
    let Trial { script, observation, .. } = trial;
    let doubt = |why: String| Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) };
    let named: BTreeSet<&str> = window.flows.iter().map(String::as_str).collect();
    let like = |of: &FlowSpec| (of.nic, of.to, of.class, of.verb, of.message, of.mtu);
    for one in &script.flows {
        if !named.contains(one.name.as_str()) || like(one) != like(spec) {
            let why = format!(
                "{} is not alike or not named: nothing says that it takes turns with the others",
                one.name
            );
            return Err(doubt(why));
        }
    }
    if !script.streams.is_empty() {
        return Err(doubt("frames of the rig are among those of the queue pairs".to_owned()));
    }
    let (from, until) = (Time::ZERO + window.from, Time::ZERO + window.until);
    let mut pauses = 0;
    for one in &observation.records {
        let told = match one.what {
            What::Roce(roce) if (one.port, one.dir) == (spec.nic, Dir::Tx) => {
                matches!(
                    roce.kind,
                    RoceKind::Nak | RoceKind::Denied | RoceKind::NotReady(_) | RoceKind::Cnp { .. }
                )
            }
            What::Pfc { enable, quanta } if (one.port, one.dir) == (spec.to, Dir::Rx) => {
                let class = usize::from(spec.class);
                let asks = enable >> class & 1 == 1 && quanta[class] > Quanta(0);
                pauses += u64::from(asks && from <= one.at && one.at < until);
                false
            }
            _ => false,
        };
        if told {
            return Err(doubt(
                "something was asked for again, or somebody told to slow down".to_owned(),
            ));
        }
    }
    let brought = reached(observation, spec.to, &script.streams);
    let data = |one: &&Reached| matches!(one.kind, RoceKind::Data { .. });
    let own = (0_u16..).zip(&script.flows).map(|(index, _)| (script.connection(index), 0));
    let mut counts: BTreeMap<u16, u64> = own.collect();
    let mut fresh: BTreeSet<u16> = counts.keys().copied().collect();
    let mut records = Vec::new();
    for one in brought.iter().filter(data) {
        if one.at < from {
            fresh.remove(&one.connection);
        } else if one.at < until
            && let Some(count) = counts.get_mut(&one.connection)
        {
            *count += 1;
            records.push(one.record);
        }
    }
    if let Some(one) = fresh.first() {
        let name = script.flow_of(*one).map_or("", |(_, flow)| flow.name.as_str());
        let why = format!(
            "{name} had brought nothing before the window: what is at hand of it is not there yet"
        );
        return Err(doubt(why));
    }
    Ok(Carried { counts, records, pauses })
}

/// By how many packets they differ.
fn fairness(trial: &Trial, ends: &Ends<'_>, carried: &Carried) -> Result<TrialReading, Doubt> {
    let by_count = |one: &(&u16, &u64)| *one.1;
    let fewest = carried.counts.iter().min_by_key(by_count);
    let most = carried.counts.iter().max_by_key(by_count);
    let name =
        |connection: u16| trial.script.flow_of(connection).map_or("", |(_, flow)| &flow.name);
    let number = |of: Option<(&u16, &u64)>| of.map_or(0, |(_, count)| *count);
    let said = |of: Option<(&u16, &u64)>| {
        of.map_or(String::new(), |(connection, count)| format!("{count} of {}", name(*connection)))
    };
    let bound = ends.turn();
    let all: u64 = carried.counts.values().sum();
    // One that gets every other turn is half of the others' behind.
    let each = all / ends.sharing.max(1);
    if each < bound * 2 {
        let why = format!(
            "each brought about {}, and may send {bound} in a turn: too few turns to tell who gets none",
            packets(each)
        );
        return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) });
    }
    let want = Prediction {
        unit: Unit::Count,
        span: Span { lo: 0, hi: bound },
        formula: APART,
        text: format!("no two queue pairs more than {} apart, of {all}", packets(bound)),
        source: SOURCE,
    };
    let index = jain(carried.counts.values().copied());
    let got = format!("{} to {}, {index}", said(fewest), said(most));
    Ok(TrialReading {
        span: Span::exactly(number(most) - number(fewest)),
        want,
        got: Some(got),
        records: carried.records.iter().copied().take(2).collect(),
        looked: looked(carried.records.len(), "packets"),
    })
}

/// How many packets of all of them came.
fn passed(ends: &Ends<'_>, carried: &Carried, (steady, lasts): (&Steady, Within)) -> TrialReading {
    let (lo, hi) = steady.passes(lasts, carried.pauses);
    let host = &ends.receiver.host;
    let at_hand = host.contexts.map_or("all".to_owned(), |places| places.to_string());
    let by = if steady.is_slow() { "its host takes" } else { "the port brings" };
    let want = Prediction {
        unit: Unit::Frames,
        span: Span { lo, hi },
        formula: PASSES,
        text: format!(
            "{lo} to {hi} packets: what {by}, of {} queue pairs with the contexts of {at_hand} at hand",
            ends.sharing
        ),
        source: SOURCE,
    };
    let all: u64 = carried.counts.values().sum();
    let records = carried.records.first().into_iter().chain(carried.records.last()).copied();
    TrialReading {
        span: Span::exactly(all),
        want,
        got: Some(packets(all)),
        records: records.collect(),
        looked: looked(carried.records.len(), "packets"),
    }
}
