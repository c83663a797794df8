//! The copies that a switch keeps of its watermarks: what they show, and how one is cleared.
//!
//! A request clears a copy and not the chip: what that holds from before comes back with the next poll. So whoever wants a copy of what
//! comes from now on clears, waits for a poll, and clears again. `sonic-clear` asks orchagent in the same way; what it does of counters
//! otherwise is to remember for one user, which nothing here looks at.

use super::super::link::{Db, Link};
use super::counters::{self, Group, LONGEST, LOOKS, SLOWEST};
use crate::control::Lost;
use core::time::Duration;
use rig_generator::port::Mono;
use rig_lab::WatermarkCopy;
use std::collections::BTreeMap;

/// The groups of flex counters that copy watermarks, by their names in FLEX_COUNTER_DB.
pub(super) const QUEUES: &str = "QUEUE_WATERMARK_STAT_COUNTER";
pub(super) const PRIORITY_GROUPS: &str = "PG_WATERMARK_STAT_COUNTER";
pub(super) const POOLS: &str = "BUFFER_POOL_WATERMARK_STAT_COUNTER";
/// Where orchagent hears of a clear, and what it clears by which word.
const CHANNEL: &str = "WATERMARK_CLEAR_REQUEST";
const KINDS: [&str; 7] = [
    "PG_HEADROOM",
    "PG_SHARED",
    "Q_SHARED_UNI",
    "Q_SHARED_MULTI",
    "Q_SHARED_ALL",
    "BUFFER_POOL",
    "HEADROOM_POOL",
];
/// How long a clear may take until it shows, and how long between two looks.
const SHOWS: Duration = Duration::from_secs(1);
const LOOK: Duration = Duration::from_millis(5);

/// An object by its canonical name, and its key in COUNTERS_DB.
pub(super) type Object = (String, String);

/// What every copy shows now, under the rig's names: `USER_WATERMARKS Ethernet0:3 SAI_...`.
pub(super) fn shown(link: &mut Link, objects: &[Object]) -> Result<BTreeMap<String, u64>, Lost> {
    let mut all = BTreeMap::new();
    for (_, copy) in WatermarkCopy::NAMES {
        let table = copy.table();
        for ((name, _), row) in objects.iter().zip(rows(link, objects, copy)?) {
            let named =
                row.into_iter().map(|(field, value)| (format!("{table} {name} {field}"), value));
            all.extend(named);
        }
    }
    Ok(all)
}

/// The rows of one copy, an object each.
pub(super) fn rows(
    link: &mut Link,
    objects: &[Object],
    copy: WatermarkCopy,
) -> Result<Vec<BTreeMap<String, u64>>, Lost> {
    if objects.is_empty() {
        return Ok(Vec::new());
    }
    let table = copy.table();
    let mut ask = redis::pipe();
    for (_, key) in objects {
        ask.cmd("HGETALL").arg(key.replacen("COUNTERS", table, 1));
    }
    let all: Vec<BTreeMap<String, String>> =
        link.ask(Db::Counters, &format!("read {table}"), &ask)?;
    let number = |(field, text): (String, String)| Some((field, text.parse().ok()?));
    Ok(all.into_iter().map(|row| row.into_iter().filter_map(number).collect()).collect())
}

/// Makes the user's copy hold what comes from now on: clear, wait for a poll, clear. `None` where it does not: a group is off, is polled
/// too seldom to wait for or bears no stamp, or no clear shows. Else how late the copy shows what it has come to: as late as a clear, and
/// where there was nothing to clear, as late as one may.
pub(super) fn begin_anew(
    link: &mut Link,
    ports: &[String],
    pause: &mut dyn FnMut(Duration),
) -> Result<Option<Duration>, Lost> {
    let mut groups = BTreeMap::new();
    for name in [QUEUES, PRIORITY_GROUPS, POOLS] {
        let Some(group) = counters::group(link, name)?.filter(|group| group.ms <= SLOWEST) else {
            return Ok(None);
        };
        groups.insert(name, group);
    }
    let mut late = None;
    for again in [false, true] {
        if again {
            if !polled(link, ports, &groups, pause)? {
                return Ok(None);
            }
            // A clear that has nothing to take away cannot be seen to have happened, and would take what comes later: there is none.
            let objects = counters::objects(link, ports)?;
            let copied = rows(link, &objects, WatermarkCopy::User)?;
            if copied.iter().flat_map(BTreeMap::values).all(|value| *value == 0) {
                break;
            }
        }
        let asked = Mono::now();
        let clear = AskedClear::send(link, ports, WatermarkCopy::User)?;
        let tells = clear.left.iter().flat_map(BTreeMap::values).any(|value| *value > 0);
        if !clear.shows(link, pause)? {
            return Ok(None);
        }
        let took = Duration::from_nanos(Mono::now().0.saturating_sub(asked.0));
        late = late.max(tells.then_some(took));
    }
    Ok(Some(late.unwrap_or(SHOWS)))
}

/// Waits until each group was polled, from now on, and what was polled is copied; whether it was in time. Stamps are written before a
/// poll's script copies what it read, so that the poll behind tells that it has.
fn polled(
    link: &mut Link,
    ports: &[String],
    groups: &BTreeMap<&'static str, Group>,
    pause: &mut dyn FnMut(Duration),
) -> Result<bool, Lost> {
    let objects = counters::objects(link, ports)?;
    let keys = objects.into_iter().map(|(_, key)| key);
    let fields: Vec<String> = groups.keys().map(|name| format!("{name}_time_stamp")).collect();
    let asked: Vec<_> = keys.map(|key| (key, fields.clone())).collect();
    let slowest = groups.values().map(|group| group.ms).max().unwrap_or_default();
    let (mut seen, mut newer) = (stamps(link, &asked)?, BTreeMap::<_, u32>::new());
    let mut waited = Duration::ZERO;
    loop {
        let wait = Duration::from_millis((slowest / LOOKS).max(1));
        pause(wait);
        waited += wait;
        for (at, stamp) in stamps(link, &asked)? {
            if seen.insert(at, stamp).is_some_and(|before| before < stamp) {
                *newer.entry(at).or_default() += 1;
            }
        }
        // By their places: which object, and which of the groups.
        let mut each = groups.values().enumerate().map(|(group, of)| {
            let mut own = seen.keys().filter(|(_, of)| *of == group).peekable();
            own.peek().is_some()
                && own.all(|at| newer.get(at).is_some_and(|count| *count > of.copies))
        });
        if each.all(|is| is) {
            return Ok(true);
        }
        if waited > Duration::from_millis(slowest * LONGEST) {
            return Ok(false);
        }
    }
}

/// The stamps that there are, by object and group.
fn stamps(
    link: &mut Link,
    asked: &[(String, Vec<String>)],
) -> Result<BTreeMap<(usize, usize), u64>, Lost> {
    let rows = link.fields(Db::Counters, asked)?;
    let mut all = BTreeMap::new();
    for (object, row) in rows.into_iter().enumerate() {
        for (group, text) in row.into_iter().enumerate() {
            if let Some(stamp) = text.and_then(|text| text.parse().ok()) {
                all.insert((object, group), stamp);
            }
        }
    }
    Ok(all)
}

/// A copy that is to be cleared, and what it showed before.
#[derive(Debug)]
pub(super) struct AskedClear {
    copy: WatermarkCopy,
    objects: Vec<Object>,
    left: Vec<BTreeMap<String, u64>>,
}

impl AskedClear {
    /// Asks orchagent for it.
    ///
    /// # Errors
    /// Nobody hears of it, or the switch is lost.
    pub(super) fn send(
        link: &mut Link,
        ports: &[String],
        copy: WatermarkCopy,
    ) -> Result<AskedClear, Lost> {
        let objects = counters::objects(link, ports)?;
        let (table, left) = (copy.table(), rows(link, &objects, copy)?);
        let (word, _) = table.split_once('_').unwrap_or((table, ""));
        let mut ask = redis::pipe();
        for kind in KINDS {
            ask.cmd("PUBLISH").arg(CHANNEL).arg(format!("[\"{word}\",\"{kind}\"]"));
        }
        let tried = format!("clear {table}");
        let heard: Vec<u64> = link.ask(Db::Appl, &tried, &ask)?;
        if heard.contains(&0) {
            let why = format!("nobody listens to {CHANNEL}: orchagent is not there");
            return Err(Lost { tried, why });
        }
        Ok(AskedClear { copy, objects, left })
    }

    /// Waits until it shows; whether it does within a second.
    ///
    /// # Errors
    /// The switch is lost.
    pub(super) fn shows(
        mut self,
        link: &mut Link,
        pause: &mut dyn FnMut(Duration),
    ) -> Result<bool, Lost> {
        let mut waited = Duration::ZERO;
        loop {
            // What was less at a look than it was before has been cleared in between, whatever came since.
            for (row, now) in self.left.iter_mut().zip(rows(link, &self.objects, self.copy)?) {
                row.retain(|field, before| {
                    *before > 0 && now.get(field).is_some_and(|now| *now >= *before)
                });
            }
            if self.left.iter().all(BTreeMap::is_empty) {
                return Ok(true);
            }
            if waited >= SHOWS {
                return Ok(false);
            }
            pause(LOOK);
            waited += LOOK;
        }
    }
}
