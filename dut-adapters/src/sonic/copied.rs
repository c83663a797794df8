//! How often a switch copies what its chip counts, as CONFIG_DB has it: groups of flex counters. The three of watermarks `counterpoll
//! watermark` sets alike; those of counters have an interval each.
//!
//! They are settings of a switch that is steered, and none of a profile that is made from databases: whoever reads watermarks of a switch
//! that copies them each minute waits, or has it copy them more often.

use super::tables::Tables;
use rig_units::Dur;

/// The table of flex counters.
pub(super) const FLEX: &str = "FLEX_COUNTER_TABLE";
/// The groups of watermarks, by their names there.
const WATERMARKS: [&str; 3] = ["QUEUE_WATERMARK", "PG_WATERMARK", "BUFFER_POOL_WATERMARK"];
/// The interval of one of them for which none is set, in milliseconds.
const USUAL: u64 = 60_000;
/// The setting of each group of counters, its name there, and its interval where none is set, in milliseconds.
const COUNTERS: [(&str, &str, u64); 3] = [
    ("flex_counter.port", "PORT", 1_000),
    ("flex_counter.queue", "QUEUE", 10_000),
    ("flex_counter.pg_drop", "PG_DROP", 10_000),
];
/// No interval of a switch is longer: a day.
const MOST: u64 = 86_400_000;

/// What FLEX_COUNTER_DB has to say of the groups, as far as CONFIG_DB says it: the key there, the field and its text.
pub(super) fn flex(tables: &Tables) -> Vec<(String, &'static str, String)> {
    let both = WATERMARKS
        .into_iter()
        .chain(COUNTERS.map(|(_, group, _)| group))
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

/// The settings, and the time between two copies; `None` where a group is off, or those of watermarks differ.
pub(super) fn settings(tables: &Tables) -> Vec<(&'static str, Option<Dur>)> {
    let of = |(path, group, usual)| (path, every(tables, group, usual));
    let mut all: Vec<_> = COUNTERS.into_iter().map(of).collect();
    let [first, others @ ..] = WATERMARKS.map(|group| every(tables, group, USUAL));
    all.push(("watermark.poll", first.filter(|_| others.iter().all(|other| *other == first))));
    all
}

/// Whether a setting is one of these.
pub(super) fn is_copied(path: &str) -> bool {
    path == "watermark.poll" || COUNTERS.iter().any(|(own, ..)| *own == path)
}

fn every(tables: &Tables, group: &str, usual: u64) -> Option<Dur> {
    let of = |field| tables.field(FLEX, group, field);
    of("FLEX_COUNTER_STATUS").filter(|said| said.text == "enable")?;
    of("POLL_INTERVAL").map_or(Some(usual), |said| said.number(MOST)).map(Dur::ms)
}
