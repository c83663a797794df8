//! The plots of a case as files of their own, for a text that tells of a run: each an SVG with the page's own drawing and style in it.
//!
//! Left out: timelines, whose marks and lanes are as high as their words; the page has them.

use super::{STYLE, curve, intervals};
use rig_oracle::{Curve, Judgement};

/// Width in pixels, and what is left free on each side.
const WIDTH: u64 = 1_000;
const MARGIN: u64 = 12;
/// How high a line of intervals is, the head and the scale of a plot among them: two lines of words.
const ROW: u64 = 44;
/// How high a curve is with its scale.
const CURVE: u64 = 230;

/// Words stay in their lines, so that a plot is as high as its rows.
const LINES: &str = "
.alone { padding: 12px; font: 15px/1.5 system-ui, -apple-system, \"Segoe UI\", Roboto, \"Helvetica Neue\", Arial, sans-serif; color: var(--ink); background: var(--sheet); }
.alone .plot { margin: 0; }
.alone .plot.intervals { grid-template-columns: 15rem minmax(0, 1fr) 17rem; grid-auto-rows: 44px; row-gap: 0; }
.alone .intervals .label span, .alone .value b, .alone .value span { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.alone .plot .value .known { display: none; }
";

/// A plot in a file of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlotFile {
    /// What is plotted: the measure.
    pub of: String,
    /// The text of the file.
    pub svg: String,
}

/// The plots of what was measured and of the curves of a case, as on the page.
pub fn figures(judgements: &[Judgement], curves: &[Curve]) -> Vec<PlotFile> {
    let rows = |rows: usize| u64::try_from(rows).unwrap_or(u64::MAX).saturating_add(2) * ROW;
    let groups = intervals::groups(judgements).into_iter();
    let of_intervals = groups.map(|(measure, unit, group)| PlotFile {
        of: measure.to_owned(),
        svg: alone(&intervals::plot(measure, unit, &group), rows(group.len())),
    });
    let of_curves = curves.iter().map(|curve| PlotFile {
        of: curve.measure.to_owned(),
        svg: alone(&curve::plot(curve), CURVE),
    });
    of_intervals.chain(of_curves).collect()
}

/// A drawing of the page with its style, so high.
fn alone(drawing: &str, height: u64) -> String {
    let height = height + 2 * MARGIN;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\">\n<style>\n{STYLE}{LINES}</style>\n\
         <foreignObject width=\"{WIDTH}\" height=\"{height}\">\n<div xmlns=\"http://www.w3.org/1999/xhtml\" class=\"alone\">\n{}</div>\n</foreignObject>\n</svg>\n",
        drawing.replace("<svg ", "<svg xmlns=\"http://www.w3.org/2000/svg\" ")
    )
}
