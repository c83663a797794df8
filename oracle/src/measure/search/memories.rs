//! A device with another number of packet memories than it declares: its pools are as many times too large or too small, which one number tells.

use super::predict::predicted;
use super::sought::Searched;
use crate::trials::threshold_search::Stage;
use rig_capture::Span;
use rig_lab::{Buffer, Memories, Switch};
use rig_testcases::Script;
use rig_units::Bytes;

/// What a number that was found and is not predicted would be that of, in words: the same device with so many memories.
pub(super) fn as_of(
    declared: &Switch,
    search: &Searched<'_>,
    stage: &Stage,
    script: &Script,
    found: Span,
) -> Option<String> {
    let declares = declared.buffer.memories();
    // Of a device that declares one it would be one of many reasons: whatever makes its thresholds smaller.
    if declares == 1 {
        return None;
    }
    let fits = |count: &u16| {
        let other = with(declared, *count);
        let Span { lo, hi } = predicted(&other, search, stage, script).span;
        // Of a device whose thresholds may lie off it would be one of many reasons.
        lo == hi && Span { lo, hi }.meets(found)
    };
    let count = (1..=Memories::MOST).filter(|count| *count != declares).find(fits)?;
    let path = "buffer.ingress_memories, buffer.egress_memories";
    Some(match (count, declares) {
        (1, _) => format!("as of one packet memory, and {declares} are declared ({path})"),
        _ => format!("as of one of {count} packet memories, and {declares} are declared ({path})"),
    })
}

/// The same device with so many memories, of which all streams take one.
fn with(declared: &Switch, count: u16) -> Switch {
    let memories = u64::from(declared.buffer.memories());
    // The rest of the division is less than a byte of each.
    let part = |one: Bytes| Bytes(one.0.saturating_mul(memories) / u64::from(count.max(1)));
    let buffer = Buffer {
        pool: part(declared.buffer.pool),
        lossy_pool: part(declared.buffer.lossy_pool),
        headroom_pool: declared.buffer.headroom_pool.map(part),
        ingress_memories: None,
        egress_memories: None,
        ..declared.buffer.clone()
    };
    Switch { buffer, ..declared.clone() }
}
