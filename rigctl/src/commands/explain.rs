//! `rigctl explain`: what a case sends, when, and what the oracle predicts for it, before anything runs.

mod numbered;
mod page;
mod ports;

use super::input::{Bad, Input};
use crate::cli::{ExplainArgs, Selection};
use crate::runner::applicability::Applicability;
use crate::runner::budget;
use crate::runner::choose::choose;
use crate::runner::plan;
use crate::runner::steps::{classes, macsec_mode, settings, step_text, time};
use crate::runner::stimulus::{between_text, flow_text, gid_text, over_text, tag_text};
use crate::runner::under_test;
use crate::stdout;
use numbered::folded;
use page::Page;
use rig_frames::ip::Ecn;
use rig_lab::settings::nearest;
use rig_lab::{Lab, Profile};
use rig_oracle::measure::{self, Stamps};
use rig_oracle::trials::context::Context;
use rig_oracle::trials::effort::Effort;
use rig_oracle::trials::points::{Group, Point, groups};
use rig_oracle::trials::seed::Seed;
use rig_reports::Exit;
use rig_testcases::case::Count;
use rig_testcases::{Case, Expect, Script, StormSpec, StreamKind, StreamRate, StreamSpec};
use rig_units::Dur;
use std::fmt::Write as _;

/// Explains one case.
///
/// # Errors
/// Every fault of what was to be read; a case that does not exist.
pub fn explain(args: &ExplainArgs) -> Result<Exit, Bad> {
    let ExplainArgs { case, paths, lab, dut } = args.clone();
    let input = with_case(&Selection { paths, lab, dut, only: None }, &case)?;
    stdout::text(&text(&input, &case)?);
    Ok(Exit::Passed)
}

/// What has the case of that name, and no more of the bundled catalogue than its suite where that is known by the name; all that is
/// selected where nothing has it, to tell what may have been meant.
fn with_case(all: &Selection, id: &str) -> Result<Input, Bad> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-:".contains(letter);
    if all.paths.is_empty() && id.contains("::") && id.chars().all(plain) {
        let input = Input::read(&Selection { only: Some(format!("{id}*")), ..all.clone() })?;
        if input.unmatched.is_none() {
            return Ok(input);
        }
    }
    Input::read(all)
}

/// The explanation of the case that is called `id`, for people; of a case that is written for several rule families and named as it
/// is in its file, that of each.
///
/// # Errors
/// A case that does not exist, with the ones near it; what keeps it from being resolved on its device.
pub fn text(input: &Input, id: &str) -> Result<String, Bad> {
    let cases = input.cases();
    let is_meant = |case: &&&Case| {
        let own = case.id.to_string();
        own == id || case.family.is_some_and(|family| own == format!("{id}-{family}"))
    };
    let meant: Vec<&&Case> = cases.iter().filter(is_meant).collect();
    if meant.is_empty() {
        return Err(unknown(id, &cases));
    }
    let each: Result<Vec<String>, Bad> = meant.into_iter().map(|case| one(input, case)).collect();
    each.map(|each| each.join("\n"))
}

/// The explanation of one case.
fn one(input: &Input, case: &Case) -> Result<String, Bad> {
    let mut page = Page::default();
    about(&mut page, case);
    match choose(&input.lab, input.only_dut.as_deref(), case) {
        Err(why) => page.field("device", &format!("none, so it is skipped: {why}")),
        Ok((profile, reach)) => on_device(&mut page, &input.lab, profile, &reach)?,
    }
    Ok(page.into_text())
}

/// A case that is not there, and those that may have been meant.
fn unknown(id: &str, cases: &[&Case]) -> Bad {
    let ids: Vec<String> = cases.iter().map(|case| case.id.to_string()).collect();
    // A name without its suite, or without its family's ending, is the most frequent slip.
    let parts = ids.iter().filter(|all| !id.is_empty() && all.contains(id)).take(5);
    let mut near: Vec<String> = parts.cloned().collect();
    if near.is_empty() {
        near = nearest(id, ids.iter().map(String::as_str));
    }
    let near = match near.as_slice() {
        [] => String::new(),
        near => format!("\n   = did you mean {}?", near.join(" or ")),
    };
    Bad::of(format!(
        "there is no case `{id}`\n   = want: one of those that rigctl list names{near}"
    ))
}

/// What the file says of the case as a whole.
fn about(page: &mut Page, case: &Case) {
    page.line(&case.id.to_string());
    page.field("why", &case.why);
    page.field("source", &case.source.join("; "));
    let file = case.places.get("").map(|place| format!("{}:{}", place.file(), case.line));
    if let Some(file) = file {
        page.field("written in", &file);
    }
    let expects = match &case.expect {
        Expect::Pass => "every measurement as predicted".to_owned(),
        Expect::Inconclusive { reason } => {
            format!("a measurement that is void, for exactly this reason: {reason}")
        }
    };
    page.field("passes on", &expects);
}

/// The device, and every configuration of it that the case asks for.
fn on_device(
    page: &mut Page,
    lab: &Lab,
    profile: &Profile,
    Applicability { case, left_out, stamps }: &Applicability,
) -> Result<(), Bad> {
    let Profile { name, about, rule, .. } = profile;
    page.field("device", &format!("{name} of lab {}: {about}", lab.name));
    if let Some(rule) = rule {
        page.field("rule", &format!("{}, of {}", rule.family, rule.version));
    }
    for line in under_test::system(profile) {
        page.field("system", &line);
    }
    for line in left_out {
        page.field("left out", line);
    }
    if let Some(Stamps { within, why }) = stamps {
        page.field("stamps", &format!("within {within}: {why}"));
    }
    let groups = groups(case, &profile.declared);
    let groups = groups.map_err(|bad| Bad::of(format!("{}: {bad}", case.id)))?;
    let several = groups.len() > 1;
    let mut told = None;
    for group in groups {
        configuration(page, lab, profile, case, (group, several), &mut told)?;
    }
    Ok(())
}

/// One configuration: stimulus and predictions. `told` is the last stimulus that was told in full, and of which configuration.
fn configuration(
    page: &mut Page,
    lab: &Lab,
    profile: &Profile,
    case: &Case,
    (group, several): (Group, bool),
    told: &mut Option<(String, Page)>,
) -> Result<(), Bad> {
    page.line("");
    let label = group.label.clone();
    if several {
        page.line(&format!("With {label}"));
    }
    page.field("configured", &settings(&group.settings));
    let context = measure::context(lab, profile, case, group, Seed::of_run(0));
    let points = context.points();
    let points = points.map_err(|name| {
        let found = format!("`{name}` has no value on device {}", profile.name);
        let mut bad = Bad::default();
        bad.faults(&[case.fault("sweep", found, "a prediction that exists for this device")]);
        bad
    })?;
    let (alpha, effort) = (budget::each(&[case]), Effort::USUAL);
    let planned = plan::of(&context, &points, alpha, effort).planned();
    let why = plan::why(planned, &context, &points, (alpha, effort)).filter(|_| planned > 0);
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    page.field("trials", &format!("{}{why}", trials(planned, &points)));
    for (index, point) in points.iter().enumerate() {
        // The points of a sweep differ in the swept length only: the first one stands for all.
        if index == 0 {
            let script = context.script(point).map_err(|fault| {
                let mut bad = Bad::default();
                bad.faults(&[*fault]);
                bad
            })?;
            let mut own = Page::default();
            stimulus(&mut own, &script, &context, point);
            match told {
                Some((as_with, same)) if *same == own => {
                    page.field("stimulus", &format!("as with {as_with}"));
                }
                _ => {
                    page.add(&own);
                    *told = Some((label.clone(), own));
                }
            }
        }
    }
    page.heading("measured");
    for measure in &case.measure {
        let known = measure::of(measure);
        page.at(4, 24, measure.name(), &(known.on)(measure));
        for (what, text) in (known.expected)(measure, &context, &points) {
            page.detail(what, &text);
        }
    }
    Ok(())
}

fn trials(planned: u32, points: &[Point]) -> String {
    let points = match points {
        [] | [_] => String::new(),
        [first, .., last] => {
            format!(" over {} points, {} to {}", points.len(), label(first), label(last))
        }
    };
    match planned {
        0 => "none: settings are tried on a device of their own".to_owned(),
        planned => format!("{planned}{points}"),
    }
}

/// Where in a sweep: `storm-length=202.162368ms`, the pause that a storm makes rather than the time it is sent.
fn label(point: &Point) -> String {
    let names = point.swept.iter();
    let names =
        names.map(|(name, value)| format!("{name}={}", time(point.pause.unwrap_or(*value))));
    names.collect::<Vec<_>>().join(" ")
}

/// Streams, storms and what happens when.
fn stimulus(page: &mut Page, script: &Script, context: &Context<'_>, point: &Point) {
    if !script.streams.is_empty() {
        page.heading("streams");
        let rows = script.streams.iter().map(|spec| stream(script, spec, context.case));
        page.table(&rows.collect::<Vec<_>>());
    }
    if !script.flows.is_empty() {
        page.heading("flows");
        let rows: Vec<String> = script.flows.iter().map(|flow| flow_text(script, flow)).collect();
        page.table(&folded(&rows).into_iter().map(|row| vec![row]).collect::<Vec<_>>());
    }
    if let Some(between) = &script.between {
        page.heading("between");
        let rows = between_text(script, between).into_iter().map(|line| vec![line]);
        page.table(&rows.collect::<Vec<_>>());
    }
    if !script.storms.is_empty() {
        page.heading("storms");
        let rows = script.storms.iter().map(|spec| storm(script, spec, context));
        page.table(&rows.collect::<Vec<_>>());
    }
    ports::write(page, script);
    if script.steps.is_empty() {
        return;
    }
    page.heading(&if point.label.is_empty() {
        "steps".to_owned()
    } else {
        format!("steps, at {}", label(point))
    });
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut last = "";
    for step in &script.steps {
        let (at, (verb, what)) = (time(step.at), step_text(script, &step.action));
        match rows.last_mut().filter(|row| row[0] == at) {
            Some(row) => {
                let again = if verb == last { String::new() } else { format!("{verb} ") };
                let _infallible = write!(row[1], ", {again}{what}");
            }
            None => rows.push(vec![at, format!("{verb} {what}")]),
        }
        last = verb;
    }
    for row in &mut rows {
        let all: Vec<String> = row[1].split(", ").map(str::to_owned).collect();
        row[1] = folded(&all).join(", ");
    }
    rows.push(vec![time(script.length), "end of the trial".to_owned()]);
    page.table(&rows);
}

fn port(script: &Script, index: u16) -> &str {
    &script.ports[usize::from(index)]
}

fn stream(script: &Script, spec: &StreamSpec, case: &Case) -> Vec<String> {
    let kind = match spec.kind {
        StreamKind::RoceWrite => "RoCEv2 WRITE",
        StreamKind::RoceSend => "RoCEv2 SEND",
        StreamKind::Udp => "UDP",
        StreamKind::Cnp => "CNP",
    };
    let ecn = match spec.ecn {
        Ecn::Ect0 => "",
        Ecn::Ect1 => ", ECT(1)",
        Ecn::NotEct => ", not ECN-capable",
        Ecn::Ce => ", marked when sent",
    };
    let rate = match spec.rate {
        StreamRate::Every(gap) => format!("one frame every {gap}"),
        StreamRate::Load(rate) => rate.to_string(),
    };
    let rate = match case.streams.get(&spec.name).and_then(|stream| stream.count) {
        None => rate,
        Some(Count::Frames(frames)) => format!("{rate}, {frames} of them"),
        Some(Count::Searched) => format!("{rate}, their number searched"),
    };
    vec![
        spec.name.clone(),
        match spec.from == spec.to {
            true => format!("{} to the NIC behind it", port(script, spec.from)),
            false => format!("{} to {}", port(script, spec.from), port(script, spec.to)),
        },
        format!("class {} (DSCP {})", spec.class, spec.dscp),
        format!(
            "{kind}{ecn}{}{}{}{}",
            tag_text(spec.vlan),
            over_text(spec.over),
            gid_text(spec.gid),
            macsec_mode(spec.macsec)
        ),
        spec.size.to_string(),
        rate,
    ]
}

fn storm(script: &Script, spec: &StormSpec, context: &Context<'_>) -> Vec<String> {
    let dut_port = script.dut_ports[usize::from(spec.from)];
    let speed = context.group.declared.port_speed(dut_port);
    let pause = speed.map_or(Dur::ZERO, |speed| speed.pause(spec.quanta));
    let gap = match spec.every.0.checked_sub(pause.0) {
        Some(gap) if gap > 0 => format!("a gap of {} in every period", time(Dur(gap))),
        _ => "gap-free".to_owned(),
    };
    vec![
        spec.name.clone(),
        format!("from {}", port(script, spec.from)),
        format!("class {}", classes(spec.classes)),
        format!("{} ({}) every {}", spec.quanta, time(pause), time(spec.every)),
        format!("{gap}{}", macsec_mode(spec.macsec)),
    ]
}

#[cfg(test)]
mod tests;
