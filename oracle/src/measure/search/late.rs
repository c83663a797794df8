//! How late a group may count its frames so that the number with which it asks for a pause does not show it.

use super::predict::gap;
use super::seen::named;
use super::{Searched, Sought};
use crate::measure::judge_context::JudgeContext;
use crate::resolution::Alike;
use crate::spec::buffer::{self, Off, Others};
use crate::trials::threshold_search::Stage;
use core::ops::Bound;
use rig_capture::Unit;
use rig_testcases::Script;

/// More frames than that beyond what is declared are looked at for none that shows.
const LOOKED_AT: u64 = 10_000;

/// Delays that an XOFF of one stream alone does not tell apart: from none on, as frames may come more slowly, up to where so many of its own frames
/// are missing that it comes later than any that is declared.
pub(super) fn alike(
    done: &JudgeContext<'_>,
    search: &Searched<'_>,
    stage: &Stage,
    script: &Script,
) -> Option<Alike> {
    let declared = done.context.switch();
    // Of a limit that is not known to the cell nobody says how many frames are missing at it.
    declared.buffer.accounting_delay.filter(|_| declared.buffer.margin.is_none())?;
    let ([name], Sought::Xoff) = (&stage.streams[..], search.sought) else { return None };
    let spec = named(script, name).filter(|spec| declared.qos.lossless(spec.class))?;
    if search.streams.first() != Some(&name.as_str()) {
        return None;
    }
    let xoff = |off| buffer::first_xoff(&declared.buffer, spec.size, &Others::ALONE.with(off));
    let (_, latest) = Off::span(declared, xoff);
    let size = buffer::occupied(&declared.buffer, spec.size);
    let missing = |frames: &u64| {
        let limit = i64::try_from(size.saturating_mul(*frames)).unwrap_or(i64::MAX);
        xoff(Off { limit, ..Off::NONE }) > latest
    };
    let frames = (1..=LOOKED_AT).find(missing)?;
    let most = done.context.apart().most(gap(declared, script, spec) * frames);
    Some(Alike {
        parameter: "buffer.accounting_delay".to_owned(),
        unit: Unit::Ps,
        least: Bound::Unbounded,
        most: Bound::Included(most.0),
        certain: true,
    })
}
