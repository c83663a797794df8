//! How far off timestamps may be for a case: what its measures need, each by itself.

use super::stamps::Stamps;
use crate::trials::context::Context;
use rig_testcases::Script;

/// What stamps have to be for some of a case to show anything: of its measures the finest.
pub fn stamps(context: &Context<'_>, script: &Script) -> Option<Stamps> {
    let measures = context.case.measure.iter();
    let all = measures.filter_map(|one| (super::of(one).stamps?)(one, context, script));
    all.min_by_key(|one| one.within)
}
