//! What happened in one trial: pauses, held frames, deliveries, the device's own PFC, its counters and named instants,
//! lane by lane over one axis of time.

use super::axis::{Axis, WIDTH, percent};
use super::escape::esc;
use super::intervals::{rule, scale};
use crate::text::count;
use rig_capture::Unit;
use rig_capture::analyse::timeline::Timeline;
use rig_units::{Dur, Time};

/// Height of the drawing inside a lane, in its own units.
const TALL: u64 = 1_000;
/// Positions closer than this are drawn as one: about a pixel, which keeps a page of many cases small.
const GRAIN: u64 = WIDTH / 1_000;
/// Up to so many gaps between pauses are drawn at least a hair wide.
const GAPS: usize = 200;
/// Closer than this, the numbers of two marks would overlap.
const APART: u64 = WIDTH * 3 / 100;

/// The whole figure.
pub(super) fn plot(timeline: &Timeline) -> String {
    let Timeline { pauses, held, delivered, dut_pfc, dut_pfc_sent, counters, .. } = timeline;
    let Timeline { read_every, marks, length, .. } = timeline;
    let axis = Axis::new(Unit::Ps, 0, length.0);
    let lines: String = marks.iter().map(|(at, _)| rule("mark", axis.at(at.0))).collect();
    let row = |name: &str, note: &str, height: u64, drawing: &str| {
        format!(
            "<div class=\"label\"><span>{name}</span><span>{}</span></div>\
             <svg class=\"lane\" height=\"{height}\" aria-hidden=\"true\">{drawing}{lines}</svg>\n",
            esc(note),
        )
    };
    let lane = |name: &str, note: &str, height: u64, drawing: &str| {
        row(&esc(name), note, height, &stretched(&height.to_string(), drawing))
    };
    let mut lanes = String::new();
    for (name, intervals) in pauses {
        lanes += &lane(
            &format!("Paused: {name}"),
            &paused_note(intervals),
            26,
            &paused(&axis, intervals),
        );
    }
    if !held.is_empty() {
        let most = held.iter().map(|step| step.1).max().unwrap_or(0);
        let note = format!("at most {}", frames(most));
        lanes +=
            &lane("Sent, not yet delivered", &note, 64, &steps(&axis, held, (0, most), *length));
    }
    if !delivered.is_empty() {
        let most = delivered.iter().map(|step| step.1).max().unwrap_or(0);
        let note = format!("{} in all", frames(most));
        lanes += &lane("Delivered", &note, 64, &steps(&axis, delivered, (0, most), *length));
    }
    if !dut_pfc.is_empty() {
        let note = frames(*dut_pfc_sent);
        lanes += &lane("PFC from the device", &note, 26, &instants(&axis, dut_pfc));
    }
    for (name, values) in counters {
        let all = || values.iter().map(|step| step.1);
        let (least, most) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
        let (of, counter) = match name.split_once(' ') {
            Some((of, counter)) => (format!("{of}, "), counter),
            None => (String::new(), name.as_str()),
        };
        // As tall as its name makes it.
        let drawing = stretched("100%", &steps(&axis, values, (least, most), *length));
        lanes += &row(&breakable(counter), &format!("{of}{least} to {most}"), 36, &drawing);
    }
    format!(
        "<div class=\"plot timeline\">\n{}{lanes}<div></div>{}\n</div>\n{}{}",
        numbers(&axis, marks),
        scale(&axis),
        legend(marks),
        reading(counters.len(), *read_every),
    )
}

/// The name of a counter, which may be broken behind its underscores.
fn breakable(name: &str) -> String {
    format!("<code>{}</code>", esc(name).replace('_', "_<wbr/>"))
}

/// How often the counters were read.
fn reading(counters: usize, every: Dur) -> String {
    if counters == 0 {
        return String::new();
    }
    format!(
        "<p class=\"sources\">The device's counters were read every {} and after each step of the script: a change is \
         drawn when it was read.</p>\n",
        Unit::Ps.show(every.0),
    )
}

/// A drawing that is as wide as its lane, whatever that is.
pub(super) fn stretched(height: &str, drawing: &str) -> String {
    format!(
        "<svg width=\"100%\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {TALL}\" preserveAspectRatio=\"none\">{drawing}</svg>"
    )
}

fn frames(n: u64) -> String {
    count(usize::try_from(n).unwrap_or(usize::MAX), "frame")
}

/// `2 intervals, 598ms in all, shortest gap 12.4us`
fn paused_note(intervals: &[(Time, Time)]) -> String {
    let total: Dur = intervals.iter().filter_map(|(from, to)| to.since(*from)).sum();
    let gaps = intervals.windows(2).filter_map(|pair| pair[1].0.since(pair[0].1));
    let pieces = count(intervals.len(), "interval");
    let total = Unit::Ps.show(total.0);
    match gaps.max() {
        Some(gap) => format!("{pieces}, {total} in all, longest gap {}", Unit::Ps.show(gap.0)),
        None => format!("{pieces}, {total} in all"),
    }
}

/// Bars; the gap between two stays visible even where it is narrower than a pixel.
fn paused(axis: &Axis, intervals: &[(Time, Time)]) -> String {
    let mut bars = String::new();
    let mut open: Option<(u64, u64)> = None;
    for (from, to) in intervals {
        let (from, to) = (axis.at(from.0), axis.at(to.0));
        open = match open {
            Some((start, end)) if from <= end + GRAIN => Some((start, to.max(end))),
            Some(whole) => {
                bars += &block(whole);
                Some((from, to))
            }
            None => Some((from, to)),
        };
    }
    bars += &open.map_or_else(String::new, block);
    let mut drawing = format!("<path class=\"paused\" d=\"{bars}\"/>");
    let gaps = intervals.windows(2).filter(|pair| pair[1].0 > pair[0].1);
    let gaps: Vec<u64> = gaps.map(|pair| axis.at(pair[0].1.0)).collect();
    if (1..=GAPS).contains(&gaps.len()) {
        let hairs: String = gaps.iter().map(|at| format!("M{at} 0V{TALL}")).collect();
        drawing += &format!("<path class=\"gap\" d=\"{hairs}\"/>");
    }
    drawing
}

fn block((from, to): (u64, u64)) -> String {
    format!("M{from} 150H{to}V850H{from}Z")
}

/// A number over time as an area under steps. Where several steps fall on one position, the least and the greatest of
/// them are drawn: no spike is lost.
fn steps(axis: &Axis, steps: &[(Time, u64)], (least, most): (u64, u64), length: Dur) -> String {
    let height = |value: u64| {
        let above = u128::from(value.saturating_sub(least));
        let scaled = above * 900 / u128::from(most.saturating_sub(least).max(1));
        TALL - 50 - u64::try_from(scaled).unwrap_or(900)
    };
    let start = steps.first().map_or(0, |step| axis.at(step.0.0));
    let (mut x, mut y) = (start, height(least));
    let mut path = format!("M{x} {y}");
    for group in steps.chunk_by(|a, b| axis.at(a.0.0) / GRAIN == axis.at(b.0.0) / GRAIN) {
        // A step at the very end is drawn a little before it, to be seen.
        let at = axis.at(group[0].0.0).min(WIDTH - 3 * GRAIN);
        let values = || group.iter().map(|step| step.1);
        for value in values().min().into_iter().chain(values().max()).chain(values().next_back()) {
            let level = height(value);
            if level == y {
                continue;
            }
            if at > x {
                path += &format!("h{}", at - x);
            }
            path += &format!("V{level}");
            (x, y) = (at, level);
        }
    }
    path += &format!("H{}V{}", axis.at(length.0), height(least));
    format!("<path class=\"steps\" d=\"{path}\"/>")
}

/// A stroke at each instant.
fn instants(axis: &Axis, instants: &[Time]) -> String {
    let mut at: Vec<u64> = instants.iter().map(|time| axis.at(time.0) / GRAIN * GRAIN).collect();
    at.dedup();
    let strokes: String = at.iter().map(|at| format!("M{at} 150V850")).collect();
    format!("<path class=\"instants\" d=\"{strokes}\"/>")
}

/// The marks' numbers above the lanes, on as many rows as keep them apart.
fn numbers(axis: &Axis, marks: &[(Time, String)]) -> String {
    let mut rows: Vec<u64> = Vec::new();
    let mut drawn = String::new();
    for (no, (time, _)) in (1..).zip(marks) {
        let at = axis.at(time.0);
        let row =
            rows.iter().position(|&last| at >= last.saturating_add(APART)).unwrap_or_else(|| {
                rows.push(0);
                rows.len() - 1
            });
        rows[row] = at;
        let (x, y) = (percent(at), 11 + 20 * row);
        drawn += &format!(
            "<circle cx=\"{x}\" cy=\"{y}\" r=\"8.5\"/><text x=\"{x}\" y=\"{}\" text-anchor=\"middle\">{no}</text>",
            y + 4,
        );
    }
    match rows.len() {
        0 => String::new(),
        rows => {
            let height = 20 * rows + 4;
            format!(
                "<div></div><svg class=\"numbers\" height=\"{height}\" aria-hidden=\"true\">{drawn}</svg>\n"
            )
        }
    }
}

/// What the numbers stand for.
fn legend(marks: &[(Time, String)]) -> String {
    let item = |(at, what): &(Time, String)| {
        format!("<li><b>{}</b> {}</li>", Unit::Ps.show(at.0), esc(what))
    };
    match marks {
        [] => String::new(),
        marks => {
            format!("<ol class=\"marks\">{}</ol>\n", marks.iter().map(item).collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000_000;

    fn axis() -> Axis {
        Axis::new(Unit::Ps, 0, 1_000 * MS)
    }

    fn at(ms: u64) -> Time {
        Time(ms * MS)
    }

    #[test]
    fn a_gap_of_a_microsecond_in_a_second_is_drawn() {
        let intervals = [(at(0), at(400)), (Time(400 * MS + 1_000_000), at(900))];
        let drawing = paused(&axis(), &intervals);
        assert!(drawing.contains("d=\"M0 150H90000V850H0Z\""), "one bar, {drawing}");
        assert!(drawing.contains("class=\"gap\" d=\"M40000 0V1000\""), "cut at 400 ms, {drawing}");
        assert_eq!(paused_note(&intervals), "2 intervals, 899.999ms in all, longest gap 1us");
    }

    #[test]
    fn intervals_that_touch_leave_no_gap() {
        let drawing = paused(&axis(), &[(at(0), at(400)), (at(400), at(900))]);
        assert!(!drawing.contains("gap"), "{drawing}");
    }

    #[test]
    fn of_a_million_steps_the_page_keeps_a_thousand_and_every_spike() {
        let all = (0..1_000_000_u64)
            .map(|i| (Time(i * MS / 1_000), if i == 444_444 { 900 } else { i % 2 }));
        let all: Vec<(Time, u64)> = all.collect();
        let drawing = steps(&axis(), &all, (0, 900), Dur::ms(1_000));
        assert!(drawing.len() < 20_000, "{} bytes", drawing.len());
        let top = TALL - 50 - 900;
        assert_eq!(drawing.matches(&format!("V{top}")).count(), 1);
    }

    #[test]
    fn a_counter_is_drawn_from_its_least_value_to_its_greatest() {
        let values = [(at(0), 1_000_000), (at(500), 1_000_002), (at(750), 1_000_001)];
        let drawing = steps(&axis(), &values, (1_000_000, 1_000_002), Dur::ms(1_000));
        assert!(
            steps(&axis(), &[(at(0), 7), (at(1_000), 8)], (7, 8), Dur::ms(1_000))
                .contains("d=\"M0 950h99700V50H100000V950\"")
        );
        let drawn = "d=\"M0 950h50000V50h25000V500H100000V950\"";
        assert!(drawing.contains(drawn), "{drawing}");
    }

    #[test]
    fn a_counters_name_may_be_broken_behind_an_underscore() {
        assert_eq!(breakable("A_B<C"), "<code>A_<wbr/>B&lt;C</code>");
    }

    #[test]
    fn strokes_at_one_place_are_drawn_once() {
        let drawing = instants(&axis(), &[at(1), Time(MS + 1), Time(MS + 2), at(500)]);
        assert_eq!(drawing.matches('M').count(), 2, "{drawing}");
    }

    #[test]
    fn marks_that_lie_close_take_a_row_each() {
        let mark = |ms| (at(ms), String::new());
        let drawn = numbers(&axis(), &[mark(100), mark(101), mark(102), mark(500)]);
        let rows: Vec<&str> =
            drawn.split("cy=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        assert_eq!(rows, ["11", "31", "51", "11"]);
    }
}
