//! Measures of flows that share a path: how they share it, and where they come to rest.

use super::names::Names;
use crate::{Measure, NicMeasure, Window};
use rig_lab::walk::{At, Fields};
use rig_units::Ppm;

/// Reads `rate.shares`.
pub(super) fn shares(at: &At<'_>, names: &Names<'_>) -> Option<Vec<Measure>> {
    let fields = at.fields(&["flows", "from", "until", "within"])?;
    let within = fields.need("within", "how far a share may be off an equal one, such as 10%");
    let within = within.and_then(|at| Some((at.quantity::<Ppm>()?, at)));
    let window = window(&fields, names);
    let (within, at) = within?;
    if within == Ppm(0) || within >= Ppm::ONE {
        at.fault(format!("within {within} of an equal share"), "more than 0% and less than 100%");
    }
    Some(vec![Measure::Nic(NicMeasure::Shares { window: window?, within })])
}

/// Reads `rate.fixed_point`.
pub(super) fn fixed_point(at: &At<'_>, names: &Names<'_>) -> Option<Vec<Measure>> {
    const WANT: &str =
        "two windows or more, such as {flows: [a, b], from: 30ms, until: 50ms}, each of more flows";
    let fields = at.fields(&["windows"])?;
    let listed = fields.need("windows", WANT)?;
    let all = listed.list(WANT)?;
    let read = all.iter().filter_map(|at| {
        let fields = at.fields(&["flows", "from", "until"])?;
        window(&fields, names)
    });
    let windows: Vec<Window> = read.collect();
    if windows.len() != all.len() {
        return None;
    }
    let few = windows.windows(2).any(|two| two[0].flows.len() >= two[1].flows.len());
    if few || windows.len() < 2 {
        let flows: Vec<String> =
            windows.iter().map(|window| window.flows.len().to_string()).collect();
        let found = match flows.is_empty() {
            true => "no window".to_owned(),
            false => format!("windows of {} flows", flows.join(", ")),
        };
        listed.fault(found, WANT);
        return None;
    }
    Some(vec![Measure::Nic(NicMeasure::FixedPoint { windows })])
}

fn window(fields: &Fields<'_>, names: &Names<'_>) -> Option<Window> {
    let flows = fields.need("flows", "the flows that share a path, such as [a, b]");
    let flows = flows.and_then(|at| {
        let all = at.list("a list of flows")?;
        let read: Vec<_> = all.iter().filter_map(|at| names.flow(at)).collect();
        let flows = read.concat();
        if read.len() == all.len() && flows.len() < 2 {
            at.fault(format!("{} flows share a path", flows.len()), "at least two");
        }
        let mut twice = (1..flows.len()).filter(|&i| flows[..i].contains(&flows[i]));
        if let Some(i) = twice.next() {
            at.fault(format!("`{}` twice", flows[i]), "each flow once");
        }
        (read.len() == all.len()).then_some(flows)
    });
    let when = |key: &str| {
        let at = fields.need(key, "an instant of the trial, such as 30ms")?;
        Some((at.quantity()?, at))
    };
    let ((from, _), (until, at)) = (when("from")?, when("until")?);
    if until <= from {
        at.fault(format!("from {from} until {until}"), "an end after the beginning");
    }
    Some(Window { flows: flows?, from, until })
}
