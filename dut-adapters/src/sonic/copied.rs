//! How often a switch copies its watermarks, as CONFIG_DB has it: three groups of flex counters, which `counterpoll watermark` sets alike.
//!
//! It is a setting of a switch that is steered, and none of a profile that is made from databases: whoever reads watermarks of a switch
//! that copies them each minute waits, or has it copy them more often.

use super::tables::Tables;
use rig_units::Dur;

/// The table of flex counters.
pub(super) const FLEX: &str = "FLEX_COUNTER_TABLE";
/// The groups, by their names there.
const GROUPS: [&str; 3] = ["QUEUE_WATERMARK", "PG_WATERMARK", "BUFFER_POOL_WATERMARK"];
/// The interval of a group for which none is set, in milliseconds.
const USUAL: u64 = 60_000;
/// No interval of a switch is longer: a day.
const MOST: u64 = 86_400_000;

/// What FLEX_COUNTER_DB has to say of the groups, as far as CONFIG_DB says it: the key there, the field and its text.
pub(super) fn flex(tables: &Tables) -> Vec<(String, &'static str, String)> {
    let both = GROUPS
        .into_iter()
        .flat_map(|group| ["FLEX_COUNTER_STATUS", "POLL_INTERVAL"].map(|field| (group, field)));
    let said = both.filter_map(|(group, field)| {
        let said = tables.field(FLEX, group, field)?;
        Some((
            format!("FLEX_COUNTER_GROUP_TABLE:{group}_STAT_COUNTER"),
            field,
            said.text.to_owned(),
        ))
    });
    said.collect()
}

/// The time between two copies; `None` where one of the groups is off, or they differ.
pub(super) fn every(tables: &Tables) -> Option<Dur> {
    let mut all = GROUPS.into_iter().map(|group| {
        let of = |field| tables.field(FLEX, group, field);
        of("FLEX_COUNTER_STATUS").filter(|said| said.text == "enable")?;
        of("POLL_INTERVAL").map_or(Some(USUAL), |said| said.number(MOST))
    });
    let first = all.next()??;
    all.all(|other| other == Some(first)).then(|| Dur::ms(first))
}
