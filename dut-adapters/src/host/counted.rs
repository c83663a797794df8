//! What a NIC has counted, under the rig's terms, with the driver's own names beside them.

use super::names::{self, Driver, Row, TERMS, Where};
use super::said::{Entry, Said};
use rig_generator::pause_counters;
use std::collections::BTreeMap;

/// What was counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// The rig's term: `out_of_sequence`, `rx_prio3_pause`.
    pub term: String,
    /// What that is, in words.
    pub what: &'static str,
    /// How often; of a `_duration` in whole microseconds.
    pub value: u64,
    /// What the driver calls it, and where it stands. Of several the sum was taken.
    pub called: String,
    /// What it counts otherwise than the term says; empty where it counts just that.
    pub but: &'static str,
}

/// What was not counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// The rig's term; `rx_prio*_pause` is that of every priority.
    pub term: String,
    /// Why there is no value.
    pub why: String,
}

/// All counters of one port of a NIC.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counted {
    /// Those that are there, in the order of the terms.
    pub values: Vec<Value>,
    /// Those that are not.
    pub missing: Vec<Missing>,
}

/// A term of each priority, what it counts, and what drivers call it: `{}` is the priority.
type OfPriority = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// What is known of each priority, as mlx5 calls it, and what bnxt, i40e and ionic call it: XOFF and XON are pauses of theirs.
const OF_PRIORITY: [OfPriority; 3] = [
    (
        "rx_prio{}_pause_duration",
        "time that it was paused, in us",
        &[
            ("mlx5_core", "rx_prio{}_pause_duration"),
            ("bnxt_en", "pfc_pri{}_rx_duration_us"),
            ("ionic", "rx_pripause_{}_1us_count"),
        ],
    ),
    (
        "tx_prio{}_pause_duration",
        "time that it paused the other end, in us",
        &[
            ("mlx5_core", "tx_prio{}_pause_duration"),
            ("bnxt_en", "pfc_pri{}_tx_duration_us"),
            ("ionic", "tx_pripause_{}_1us_count"),
        ],
    ),
    (
        "rx_prio{}_pause_transition",
        "pauses that began",
        &[
            ("mlx5_core", "rx_prio{}_pause_transition"),
            ("bnxt_en", "pfc_pri{}_rx_transitions"),
            ("i40e", "port.rx_priority_{}_xon_2_xoff"),
        ],
    ),
];

/// A port of a NIC whose counters are read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Port<'p> {
    /// Its folder in `/sys`.
    pub(super) folder: &'p str,
    /// Its driver, if that is known.
    pub(super) driver: Option<&'static Driver>,
    /// What to say where it is not.
    pub(super) unknown: &'p str,
    /// Its interface and the driver of that; or why `ethtool` says nothing of it.
    pub(super) net: Result<(&'p str, &'p str), &'p str>,
}

impl Counted {
    /// Reads them.
    ///
    /// # Errors
    /// Every counter that is there and is no number, with its path.
    pub(super) fn read(said: &Said, port: &Port<'_>) -> Result<Counted, Vec<String>> {
        let mut counted = Counted::default();
        let mut wrong = Vec::new();
        let ethtool = Ethtool::read(said, port.net.map(|(net, _)| net));
        for (term, what) in TERMS {
            let row = port.driver.map(|driver| driver.rows.iter().find(|row| row.term == term));
            let found = match row {
                Some(Some(row)) => one(said, port, &ethtool, row),
                Some(None) | None => Ok(Err(port.unknown.to_owned())),
            };
            match found {
                Ok(Ok((value, called, but))) => {
                    counted.values.push(Value { term: term.to_owned(), what, value, called, but });
                }
                Ok(Err(why)) => counted.missing.push(Missing { term: term.to_owned(), why }),
                Err(why) => wrong.push(why),
            }
        }
        counted.priorities(port, &ethtool, &mut wrong);
        if wrong.is_empty() { Ok(counted) } else { Err(wrong) }
    }

    /// What a driver counts in `hw_counters` alone, whose files hold these values. Nothing is known of one that `names::DRIVERS`
    /// has not.
    pub fn of_hw_counters(driver: &str, files: &BTreeMap<String, u64>) -> Counted {
        let mut counted = Counted::default();
        let Some(driver) = names::DRIVERS.iter().find(|known| known.name == driver) else {
            return counted;
        };
        for (term, what) in TERMS {
            let Some(row) = driver.rows.iter().find(|row| row.term == term) else { continue };
            let why = match row.is {
                Where::Never(why) => why.to_owned(),
                Where::Ethtool(_) => "`ethtool -S` was not asked".to_owned(),
                Where::Hw(names) => {
                    let found = names.iter().find_map(|name| Some((name, *files.get(*name)?)));
                    if let Some((name, value)) = found {
                        let (called, but) = (format!("hw_counters/{name}"), row.but);
                        counted.values.push(Value {
                            term: term.to_owned(),
                            what,
                            value,
                            called,
                            but,
                        });
                        continue;
                    }
                    format!("there is no {}", names.join(", nor "))
                }
            };
            counted.missing.push(Missing { term: term.to_owned(), why });
        }
        counted
    }

    /// What there is of pauses.
    fn priorities(&mut self, port: &Port<'_>, ethtool: &Ethtool, wrong: &mut Vec<String>) {
        let driver = port.net.map_or("", |(_, driver)| driver);
        let pauses = |way: usize| {
            pause_counters::names(driver).map(|named| named[way].to_vec()).collect::<Vec<_>>()
        };
        let mut patterns = vec![
            ("rx_prio{}_pause", "PFC frames received", pauses(0)),
            ("tx_prio{}_pause", "PFC frames sent", pauses(1)),
        ];
        for (term, what, called) in OF_PRIORITY {
            let own = called.iter().filter(|(of, _)| *of == driver).map(|(_, name)| *name);
            let own: Vec<&str> = own.collect();
            patterns.push((term, what, if own.is_empty() { Vec::new() } else { vec![own] }));
        }
        for (term, what, ways) in patterns {
            let has = |names: &&Vec<&str>| {
                (0..8).any(|class| {
                    let class = class.to_string();
                    let own = |pattern: &&str| pattern.replace("{}", &class);
                    names.iter().all(|pattern| ethtool.values.contains_key(&own(pattern)))
                })
            };
            let names = ways.iter().find(has).or(ways.first()).cloned().unwrap_or_default();
            let mut found = false;
            for class in 0..8 {
                let name = |pattern: &str| pattern.replace("{}", &class.to_string());
                let own: Vec<String> = names.iter().map(|pattern| name(pattern)).collect();
                let each: Option<Vec<_>> = own.iter().map(|own| ethtool.values.get(own)).collect();
                let Some(each) = each.filter(|each| !each.is_empty()) else { continue };
                let sum = each.into_iter().cloned().sum::<Result<u64, String>>();
                let value = sum.unwrap_or_else(|odd| {
                    wrong.push(odd);
                    0
                });
                found = true;
                let called = format!("ethtool {}", own.join(" + "));
                self.values.push(Value { term: name(term), what, value, called, but: "" });
            }
            if !found {
                let why = match (&ethtool.why_not, names.is_empty()) {
                    (Some(why), _) => why.clone(),
                    (None, true) => format!("no name of it is known of the driver `{driver}`"),
                    // mlx5 is one of those that do so.
                    (None, false) => format!(
                        "ethtool has no {}: some drivers name it only while PFC is on for a priority",
                        names.join(", ").replace("{}", "N")
                    ),
                };
                self.missing.push(Missing { term: term.replace("{}", "*"), why });
            }
        }
    }
}

/// A counter, its own name and what differs; or why there is none.
type Found = Result<(u64, String, &'static str), String>;

/// One that is about no priority.
fn one(said: &Said, port: &Port<'_>, ethtool: &Ethtool, row: &Row) -> Result<Found, String> {
    match row.is {
        Where::Never(why) => Ok(Err(why.to_owned())),
        Where::Ethtool(names) => {
            let found = names.iter().find_map(|name| Some((ethtool.values.get(*name)?, name)));
            Ok(match (found, &ethtool.why_not) {
                (Some((value, name)), _) => {
                    Ok((value.clone()?, format!("ethtool {name}"), row.but))
                }
                (None, Some(why)) => Err(why.clone()),
                (None, None) => Err(format!("ethtool has no {}", names.join(", "))),
            })
        }
        Where::Hw(names) => {
            let mut why = format!("there is no {}", names.join(", nor "));
            for name in names {
                let path = format!("{}/hw_counters/{name}", port.folder);
                match said.entry(&path) {
                    Some(Entry::Text(text)) => {
                        let value =
                            count(&text).map_err(|odd| format!("{}: {odd}", said.shown(&path)))?;
                        return Ok(Ok((value, format!("hw_counters/{name}"), row.but)));
                    }
                    Some(Entry::Unread(said)) => why = format!("{name} cannot be read: {said}"),
                    Some(Entry::Link(_)) | None => {}
                }
            }
            Ok(Err(why))
        }
    }
}

/// A count as drivers write it.
fn count(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| {
        let begins: String = text.trim().chars().take(40).collect();
        format!("`{begins}` is no count\n   = want: a whole number, 0 to {}", u64::MAX)
    })
}

/// What `ethtool -S` has printed.
#[derive(Debug, Default)]
struct Ethtool {
    /// What stands behind each name. One that nobody asks for may be anything.
    values: BTreeMap<String, Result<u64, String>>,
    /// Why there is nothing.
    why_not: Option<String>,
}

impl Ethtool {
    /// Of that interface.
    fn read(said: &Said, net: Result<&str, &str>) -> Ethtool {
        let without = |why: String| Ethtool { values: BTreeMap::new(), why_not: Some(why) };
        let net = match net {
            Ok(net) => net,
            Err(why) => return without(why.to_owned()),
        };
        let path = format!("/ethtool/{net}/statistics");
        let text = match said.entry(&path) {
            Some(Entry::Text(text)) => text,
            Some(Entry::Unread(why)) => return without(format!("`ethtool -S {net}`: {why}")),
            Some(Entry::Link(_)) | None => {
                return without(format!("`ethtool -S {net}` was not asked"));
            }
        };
        let mut values = BTreeMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            // Its head and lines between groups.
            let Some((name, value)) = line.trim().rsplit_once(':') else { continue };
            if value.trim().is_empty() {
                continue;
            }
            let value = count(value)
                .map_err(|odd| format!("{}:{number}: {name}: {odd}", said.shown(&path)));
            values.insert(name.trim().to_owned(), value);
        }
        Ethtool { values, why_not: None }
    }
}
