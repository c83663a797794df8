//! Measures of what a flow gets through: how much of it a second, and all of it by when.

use super::names::Names;
use crate::{Measure, NicMeasure};
use rig_lab::walk::At;
use rig_units::{Dur, L2Rate};

/// Reads `rate.goodput`.
pub(super) fn goodput(at: &At<'_>, names: &Names<'_>) -> Option<Vec<Measure>> {
    let fields = at.fields(&["flow", "from", "at_least", "at_most"])?;
    let flows = names.flow(&fields.need("flow", "a flow of the case")?)?;
    let rate = |key| match fields.get(key) {
        Some(at) => at.quantity::<L2Rate>().map(|rate| Some(rate.bps)),
        None => Some(None),
    };
    let from = match fields.get("from") {
        Some(at) => at.quantity(),
        None => Some(Dur::ZERO),
    };
    let (least, most) = (rate("at_least"), rate("at_most"));
    let (from, least, most) = (from?, least?, most?);
    if least.is_none() && most.is_none() {
        at.fault("nothing is wanted of it", "`at_least: 40Gbps-L2`, `at_most:` or both");
        return None;
    }
    let wanted = (least.unwrap_or(0), most.unwrap_or(u64::MAX));
    let goodput = |flow| NicMeasure::Goodput { flow, wanted, from };
    Some(flows.into_iter().map(goodput).map(Measure::Nic).collect())
}

/// Reads `rc.completion`.
pub(super) fn completion(at: &At<'_>, names: &Names<'_>) -> Option<Vec<Measure>> {
    let fields = at.fields(&["flow", "by", "unfinished"])?;
    let flows = names.flow(&fields.need("flow", "a flow of the case")?)?;
    let by: Option<Dur> = match fields.get("by") {
        Some(at) => Some(at.quantity()?),
        None => None,
    };
    let unfinished = match fields.get("unfinished") {
        Some(at) => at.whole(1..=i64::from(u32::MAX), "a number of messages")?,
        None => 0,
    };
    let completion = |flow| NicMeasure::Completion { flow, by, unfinished };
    Some(flows.into_iter().map(completion).map(Measure::Nic).collect())
}
