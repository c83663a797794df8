//! What each traffic class of a NIC gets of its port while more is offered than that carries (ETS). Flows of one class are taken together: how they share
//! what the class gets is no property of ETS.

mod cause;
pub(in super::super) mod flows;
mod offered;
mod planned;

use self::offered::{By, Of, Offered, Table, classes};
use super::super::judge_context::{JudgeContext, TrialReading, show};
use super::super::judged::looked;
use super::super::measurement::{FromStart, Known, Red, Tells, by_source};
use super::BEHIND;
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::spec::nic::ets::{Class, SOURCE, granted};
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit};
use rig_lab::{Fault, Part};
use rig_testcases::vocabulary::{Entry, Looks, ValueKind, WINDOW, required};
use rig_testcases::{Case, Measure, Verb, Window};

/// `nic.shares`.
pub(in super::super) static SHARES: Known = Known {
    entry: Entry {
        name: "nic.shares",
        parts: Some(&[Part::Ets]),
        about: "the rate at which flows of a NIC leave it between two instants, class by class: what enhanced transmission selection grants each of a full port",
        source: SOURCE,
        fields: &[
            required(
                "flows",
                ValueKind::Flows,
                "flows of one NIC, such as [a, b]",
                "the flows whose classes are judged; what else the NIC sends is taken into account",
            ),
            WINDOW[1],
            WINDOW[2],
        ],
        check: |given| {
            given.ordered();
            true
        },
        looks: &[Looks::EVERY_FRAME],
        sense: sends_by_itself,
        over_ipv6: true,
        ..Entry::USUAL
    },
    tells: Tells::Width(
        "a round in which each class has its turn, over the time between the two instants; what is left open of which bytes of a frame count",
    ),
    red: Red::Mutated("hlk-minimum-classes", "deviation=ets_shares_swapped"),
    on: |measure| window(measure).flows.join(" and "),
    expected: |measure, context, _| {
        let Window { flows, from, until } = window(measure);
        let part = |flow: &String| Some(context.case.flows.get(flow)?.class);
        let table = Table::of(&context.nics().nic.ets).map(|table| {
            let of = |flow: &String| Some(table.words(table.class_of(part(flow)?)));
            let all = flows.iter().filter_map(|flow| Some(format!("{flow} {}", of(flow)?)));
            all.collect::<Vec<_>>().join(", ")
        });
        let table =
            table.unwrap_or_else(|| "nothing: `nic.ets.classes` is not declared".to_owned());
        by_source(format!("from {from} to {until} each class its share: {table}"), SOURCE)
    },
    judge: |measure, done, judged| {
        let window = window(measure);
        done.several("nic.shares", judged, |trial| shares(done, trial, &window));
    },
    from_start: FromStart::Everything,
    shows: Some(planned::shows),
    of_class: true,
    tells_rate: true,
    knows_class_limits: true,
    crosses: |_, _| BEHIND,
    ..Known::USUAL
};

fn window(measure: &Measure) -> Window {
    measure.arguments.window().unwrap_or_default()
}

/// What a READ brings the other end sends.
fn sends_by_itself(measure: &Measure, case: &Case) -> Vec<Fault> {
    let reads = |name: &&String| case.flows.get(*name).is_some_and(|flow| flow.verb == Verb::Read);
    let flows = window(measure).flows;
    let faults = flows.iter().filter(reads).map(|name| {
        let found = format!("`{name}` is a READ: the other end sends the data");
        case.fault("measure", found, "flows of another `verb`, such as write")
    });
    faults.collect()
}

/// What the classes of the named flows carried, each beside its share.
fn shares(
    done: &JudgeContext<'_>,
    trial: &Trial,
    window: &Window,
) -> Result<Vec<(String, TrialReading)>, Doubt> {
    let offered = Offered::of(done, trial, window, By::Class)?;
    let declared = classes(&offered, &offered.table);
    let wanted = want(&offered, offered.port, &declared);
    let named: Vec<usize> = (0..declared.len())
        .filter(|class| {
            offered
                .flows
                .iter()
                .any(|of| of.is_named && offered.table.class_of(of.priority) == *class)
        })
        .collect();
    if let Some(class) = named.iter().find(|class| is_idle(&offered, &declared, **class)) {
        let why =
            format!("the limit of class {class} holds nothing back: it would send as much without");
        return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) });
    }
    let off = |class: &usize| !offered.carried(&offered.table, *class).meets(wanted[*class]);
    let cause = named.iter().any(off).then(|| cause::of(&offered)).flatten();
    let read = |class: usize| {
        let of: Vec<&Of> = offered
            .flows
            .iter()
            .filter(|of| offered.table.class_of(of.priority) == class)
            .collect();
        let names: Vec<&str> = of.iter().map(|of| of.name.as_str()).collect();
        let span = offered.carried(&offered.table, class);
        let records: Vec<usize> = of.iter().flat_map(|of| of.records.clone()).collect();
        let got = cause
            .as_ref()
            .filter(|_| off(&class))
            .map(|cause| format!("{}, as {cause}", show(Unit::Bps, span)));
        let want = Prediction {
            unit: Unit::Bps,
            span: wanted[class],
            formula: "what strict classes leave, in proportion to bandwidths, as water fills vessels",
            text: text(&offered, &declared, class, wanted[class]),
            source: SOURCE,
        };
        let on = format!("{}, traffic class {class}", names.join(" and "));
        (
            on,
            TrialReading {
                span,
                want,
                got,
                records,
                looked: looked(offered.frames, "packets of the NIC"),
            },
        )
    };
    if offered.frames == 0 {
        let why = format!("{} sent nothing", window.flows.join(", "));
        return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) });
    }
    Ok(named.into_iter().map(read).collect())
}

/// Whether the limit of a class makes no difference to what it sends.
fn is_idle(offered: &Offered, classes: &[Class], class: usize) -> bool {
    let mut free = classes.to_vec();
    let limit = free[class].limit.take();
    let [free, limited] =
        [&free[..], classes].map(|classes| want(offered, offered.port, classes)[class]);
    limit.is_some() && free.meets(limited)
}

/// What each class is granted, give or take a round.
fn want(offered: &Offered, port: Span, classes: &[Class]) -> Vec<Span> {
    let all = granted(port, classes, offered.table.precision);
    let round = offered.round(classes);
    let wider =
        |span: Span| Span { lo: span.lo.saturating_sub(round), hi: span.hi.saturating_add(round) };
    all.into_iter().map(wider).collect()
}

/// What is wanted, in words.
fn text(offered: &Offered, classes: &[Class], class: usize, want: Span) -> String {
    let port = Unit::Bps.show(offered.port.hi);
    let others: Vec<String> = (0..classes.len())
        .filter(|other| *other != class && classes[*other].offers.hi > 0)
        .map(|other| format!("class {other} {}", offered.table.words(other)))
        .collect();
    let beside = if others.is_empty() { "nothing".to_owned() } else { others.join(", ") };
    format!(
        "class {class} {}, of {port} on the wire, beside {beside}: {} to {}",
        offered.table.words(class),
        Unit::Bps.show(want.lo),
        Unit::Bps.show(want.hi)
    )
}
