//! Measured intervals against predicted ones, as bars on one axis for each measure.

use super::axis::{Axis, WIDTH, percent};
use super::escape::esc;
use crate::figure;
use rig_capture::{Span, Unit};
use rig_oracle::Judgement;

/// Ticks along an axis, about.
const TICKS: u64 = 7;

/// What is plotted together: a measure, its unit and what it judged.
pub(super) type Group<'a> = (&'a str, Unit, Vec<&'a Judgement>);

/// All judgements of a case, measure by measure in the order of their first.
pub(super) fn plots(judgements: &[Judgement]) -> String {
    let groups = groups(judgements);
    groups.iter().map(|(measure, unit, group)| plot(measure, *unit, group)).collect()
}

/// The same, in groups.
pub(super) fn groups(judgements: &[Judgement]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for judgement in judgements {
        let (measure, unit) = (judgement.measure, judgement.reading.unit);
        match groups.iter_mut().find(|group| (group.0, group.1) == (measure, unit)) {
            Some((_, _, group)) => group.push(judgement),
            None => groups.push((measure, unit, vec![judgement])),
        }
    }
    groups
}

/// One group on its axis.
pub(super) fn plot(measure: &str, unit: Unit, group: &[&Judgement]) -> String {
    let axis = Axis::around(unit, group.iter().flat_map(|j| [j.reading.span, j.prediction.span]));
    let mut rows = String::new();
    for judgement in group {
        let Judgement { reading, prediction, .. } = judgement;
        rows += &format!(
            "<div class=\"label\">{}</div>{}<div class=\"value\"><b class=\"{}\">{}</b> <span>predicted {}</span><span class=\"known\">{}</span></div>\n",
            label(judgement),
            bar(&axis, judgement, 28, true),
            tone(judgement),
            figure::span(unit, reading.span),
            figure::span(unit, prediction.span),
            figure::Known::of(judgement).line(),
        );
    }
    format!(
        "<div class=\"plot intervals\" role=\"group\" aria-label=\"{name}\">\n\
         <div class=\"label head\">{name}</div><div></div><div></div>\n{rows}\
         <div></div>{scale}<div></div>\n</div>\n",
        name = esc(measure),
        scale = scale(&axis),
    )
}

/// Subject and point of a judgement, one under the other.
fn label(judgement: &Judgement) -> String {
    let Judgement { subject, point, .. } = judgement;
    let parts = [subject, point].into_iter().filter(|part| !part.is_empty());
    parts.map(|part| format!("<span>{}</span>", esc(part))).collect()
}

/// Red where the judgement has a finding.
fn tone(judgement: &Judgement) -> &'static str {
    if judgement.findings.is_empty() { "met" } else { "missed" }
}

/// The band that was predicted and, in it or beside it, the bar that was measured.
pub(super) fn bar(axis: &Axis, judgement: &Judgement, height: u64, grid: bool) -> String {
    let ticks = if grid { axis.ticks(TICKS) } else { Vec::new() };
    let grid: String = ticks.iter().map(|(at, _)| rule("grid", *at)).collect();
    let middle = height / 2;
    let predicted = strip(axis, judgement.prediction.span, "predicted", 3, height - 3);
    let measured = strip(axis, judgement.reading.span, tone(judgement), middle - 4, middle + 4);
    format!(
        "<svg class=\"bar\" height=\"{height}\" aria-hidden=\"true\">{grid}{predicted}{measured}</svg>"
    )
}

/// A filled interval with a stroke at each end, so that one of no width is seen too. What never happened has no place.
fn strip(axis: &Axis, span: Span, class: &str, top: u64, bottom: u64) -> String {
    if span.lo == u64::MAX {
        return String::new();
    }
    let (from, to) = (axis.at(span.lo), axis.at(span.hi));
    let open = span.hi == u64::MAX;
    let edge = if open { String::new() } else { line(class, to, top, bottom) };
    format!(
        "<rect class=\"{class}\" x=\"{}\" y=\"{top}\" width=\"{}\" height=\"{}\"/>{}{edge}",
        percent(from),
        percent(to - from),
        bottom - top,
        line(class, from, top, bottom),
    )
}

/// A vertical line.
fn line(class: &str, at: u64, top: u64, bottom: u64) -> String {
    let x = percent(at);
    format!("<line class=\"{class}\" x1=\"{x}\" x2=\"{x}\" y1=\"{top}\" y2=\"{bottom}\"/>")
}

/// A vertical line over the whole height of its drawing.
pub(super) fn rule(class: &str, at: u64) -> String {
    let x = percent(at);
    format!("<line class=\"{class}\" x1=\"{x}\" x2=\"{x}\" y1=\"0\" y2=\"100%\"/>")
}

/// The labels under an axis. The outermost are anchored inwards where they would stick out.
pub(super) fn scale(axis: &Axis) -> String {
    let mut labels = String::new();
    for (at, label) in axis.ticks(TICKS) {
        let anchor = match at {
            at if at < WIDTH / 40 => "start",
            at if at > WIDTH - WIDTH / 40 => "end",
            _ => "middle",
        };
        let x = percent(at);
        labels +=
            &format!("<text x=\"{x}\" y=\"15\" text-anchor=\"{anchor}\">{}</text>", esc(&label));
    }
    format!("<svg class=\"scale\" height=\"20\" aria-hidden=\"true\">{labels}</svg>")
}
