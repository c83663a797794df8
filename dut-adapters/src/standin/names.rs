//! What SONiC calls its databases, and rows of them. Written down here once more: a stand-in that took them from the adapter would
//! share its mistakes.

use redis::Pipeline;
use std::collections::BTreeMap;

/// The fields of a key.
pub type Row = BTreeMap<String, String>;
/// Rows of CONFIG_DB by their whole keys, such as `PFC_WD|Ethernet0`.
pub type Rows = BTreeMap<String, Row>;

/// A database, by its number in `database_config.json`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Db {
    Appl = 0,
    Asic = 1,
    Counters = 2,
    Config = 4,
    Flex = 5,
    State = 6,
}

/// A row of these fields.
pub(super) fn row<const N: usize>(fields: [(&str, String); N]) -> Row {
    fields.into_iter().map(|(field, text)| (field.to_owned(), text)).collect()
}

/// The ports of CONFIG_DB by the number in their name.
pub(super) fn ports(rows: &Rows) -> Vec<&str> {
    let number = |port: &&str| port.trim_start_matches("Ethernet").parse().unwrap_or(u32::MAX);
    let mut all: Vec<&str> = of(rows, "PORT").map(|(port, _)| port).collect();
    all.sort_by_key(number);
    all
}

/// The rows of a table, by their keys in it. They stand together, and no other is looked at.
pub(super) fn of<'r>(rows: &'r Rows, table: &str) -> impl Iterator<Item = (&'r str, &'r Row)> {
    let prefix = format!("{table}|");
    let from = rows.range(prefix.clone()..);
    from.map_while(move |(key, row)| Some((key.strip_prefix(&prefix)?, row)))
}

/// The row of a table that is of `port`: its own, or one of several ports.
pub(super) fn of_port<'r>(rows: &'r Rows, table: &str, port: &str) -> Option<&'r Row> {
    let named = |names: &str| names.split(',').any(|one| one == port);
    let own = rows.get(&format!("{table}|{port}"));
    own.or_else(|| of(rows, table).find(|(names, _)| named(names)).map(|(_, row)| row))
}

/// The row of a table of queues or groups that is of this one, ranges counted.
pub(super) fn bound<'r>(rows: &'r Rows, table: &str, port: &str, index: u8) -> Option<&'r Row> {
    let named = |key: &str| {
        let (names, indices) = key.rsplit_once('|')?;
        let ours = names.rsplit('|').next()?.split(',').any(|one| one == port);
        Some(ours && numbers(indices).contains(&index))
    };
    of(rows, table).find(|(key, _)| named(key) == Some(true)).map(|(_, row)| row)
}

/// What `3`, `3-4` or `0,3-4` names.
pub(super) fn numbers(text: &str) -> Vec<u8> {
    let range = |part: &str| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        Some(from.trim().parse::<u8>().ok()?..=to.trim().parse::<u8>().ok()?)
    };
    text.split(',').filter_map(range).flatten().collect()
}

/// A name as it is referred to: plain, or in brackets with its table as before 2021.
pub(super) fn referred(text: &str) -> &str {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    inner.and_then(|inner| inner.split_once('|')).map_or(text, |(_, name)| name)
}

/// Has these fields written to a key.
pub(super) fn set(all: &mut Pipeline, key: &str, row: &Row) {
    if !row.is_empty() {
        let fields: Vec<(&String, &String)> = row.iter().collect();
        all.cmd("HSET").arg(key).arg(fields).ignore();
    }
}
