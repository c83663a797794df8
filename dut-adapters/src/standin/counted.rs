//! Counters, copied to COUNTERS_DB now and then as syncd's flex counters do: each group by its own interval, and only where it is on.

use super::asic::Asic;
use super::faults::Faults;
use super::groups::{COPIES, GROUPS, STORMED};
use super::names::{Db, Row, Rows, set};
use super::places::{Place, Places};
use super::said;
use redis::{Connection, Pipeline, RedisResult};
use rig_generator::port::Mono;
use rig_units::Dur;
use std::collections::{BTreeMap, BTreeSet};

/// So many looks in an interval, and no two closer than this, in milliseconds.
const LOOKS: u64 = 10;
const CLOSEST: u64 = 8;
const SECOND: u64 = 1_000;
/// What is to be copied more often than this, in milliseconds, is not: there would be time for nothing else.
const LEAST: u64 = 4;
/// The watchdog's polls where CONFIG_DB says none, in milliseconds.
const POLL: &str = "100";

/// How often watchdogs poll, in milliseconds, as it stands there.
pub(super) fn poll(rows: &Rows) -> &str {
    let global = rows.get("PFC_WD|GLOBAL").and_then(|row| row.get("POLL_INTERVAL"));
    global.map_or(POLL, String::as_str)
}

/// The groups of FLEX_COUNTER_DB, as CONFIG_DB has them.
pub(super) fn flex(rows: &Rows, all: &mut Pipeline) {
    all.cmd("SELECT").arg(Db::Flex as u8).ignore();
    let watchdog = Row::from([("POLL_INTERVAL".to_owned(), poll(rows).to_owned())]);
    set(all, "FLEX_COUNTER_GROUP_TABLE:PFC_WD", &watchdog);
    for (name, group, _) in GROUPS {
        if let Some(row) = rows.get(&format!("FLEX_COUNTER_TABLE|{name}")) {
            set(all, &format!("FLEX_COUNTER_GROUP_TABLE:{group}"), row);
        }
    }
}

/// When each group is copied next.
#[derive(Debug, Default)]
pub(super) struct CopySchedule {
    due: BTreeMap<&'static str, Mono>,
    /// The first of those that are copied at all.
    next: Option<Mono>,
    places: Places,
    /// What each copy of watermarks showed last, by its key.
    shown: BTreeMap<String, Row>,
    /// The groups that were copied so far.
    made: BTreeSet<&'static str>,
    pub(super) faults: Faults,
}

impl CopySchedule {
    /// None was made yet.
    pub(super) fn new(faults: Faults) -> CopySchedule {
        CopySchedule { faults, ..CopySchedule::default() }
    }

    /// When something is copied next.
    pub(super) const fn next(&self) -> Option<Mono> {
        self.next
    }

    /// Whether a group is not copied any more.
    fn stands_still(&self, group: &str) -> bool {
        match group {
            "PORT_STAT_COUNTER" => self.faults.still_ports,
            "QUEUE_STAT_COUNTER" => self.faults.still_queues,
            "PG_DROP_STAT_COUNTER" => self.faults.still_pg_drops,
            _ => false,
        }
    }

    /// Looks at the copies of watermarks at once, or as late as they show anything.
    pub(super) fn look(&mut self) {
        let late = self.faults.late_watermarks.0 / 1_000;
        let at = Mono(Mono::now().0 + late);
        self.due.insert(COPIES, at);
        self.next = Some(self.next.map_or(at, |next| next.min(at)));
    }

    /// Copies what is due at `now`.
    pub(super) fn copy(
        &mut self,
        rows: &Rows,
        now: Mono,
        line: &mut Connection,
        asic: &mut dyn Asic,
    ) -> RedisResult<()> {
        let mut due: Vec<&str> = Vec::new();
        self.next = None;
        let intervals =
            GROUPS.iter().filter_map(|(name, group, _)| Some((*group, interval(rows, name)?)));
        let polled = said::WATERMARKS.into_iter().filter_map(|name| interval(rows, name)).min();
        let looked = polled.map(|ms| (COPIES, (ms / LOOKS).max(CLOSEST)));
        for (group, ms) in intervals.chain([(STORMED, SECOND)]).chain(looked) {
            let of_copies = group == COPIES;
            let Faults { late_counters, late_watermarks, .. } = self.faults;
            let late = if of_copies { late_watermarks } else { late_counters }.0 / 1_000;
            let after = Mono(now.0 + Dur::ms(ms.max(LEAST)).0 / 1_000 + late);
            // An interval that is set shorter counts from now on: syncd waits for the old one no longer.
            let next = self.due.entry(group).or_insert(now);
            *next = (*next).min(after);
            let is_due = *next <= now;
            if is_due {
                *next = after;
            }
            self.next = Some(self.next.map_or(*next, |first| first.min(*next)));
            if is_due {
                // The first copy of all is made.
                if self.made.insert(group) || !self.stands_still(group) {
                    due.push(group);
                }
            }
        }
        if due.is_empty() || rows.is_empty() {
            return Ok(());
        }
        let mut copied: BTreeMap<String, Row> = BTreeMap::new();
        let counters = asic.counters();
        // As syncd stamps a copy that it reads in bulk: once it is read, by a clock of its own.
        let stamp = Mono::now().0.to_string();
        self.places.learn(rows, counters.keys());
        for (value, place) in counters.values().zip(self.places.all()) {
            let Some(Place { key, field, group }) = place else { continue };
            if !due.contains(group) {
                continue;
            }
            let row = copied.entry(key.clone()).or_default();
            row.insert(field.clone(), value.to_string());
            if ![COPIES, STORMED].contains(group) && !self.faults.unstamped {
                row.insert(format!("{group}_time_stamp"), stamp.clone());
            }
        }
        // Of the copies what is new.
        copied.retain(|key, row| {
            key.starts_with("COUNTERS:")
                || self.shown.insert(key.clone(), row.clone()).as_ref() != Some(row)
        });
        if copied.is_empty() {
            return Ok(());
        }
        let mut all = redis::pipe();
        all.cmd("SELECT").arg(Db::Counters as u8).ignore();
        copied.iter().for_each(|(key, row)| set(&mut all, key, row));
        all.exec(line)
    }
}

/// How often CONFIG_DB has a group copied, in milliseconds; `None` where it does not.
pub(super) fn interval(rows: &Rows, name: &str) -> Option<u64> {
    let row = rows.get(&format!("FLEX_COUNTER_TABLE|{name}"))?;
    let on = row.get("FLEX_COUNTER_STATUS").is_some_and(|word| word == "enable");
    row.get("POLL_INTERVAL").filter(|_| on)?.parse().ok()
}
