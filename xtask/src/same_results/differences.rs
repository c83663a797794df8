//! What differs between two results, by case, and in each case by what it is that differs.

use core::fmt;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// What belongs to no case.
const RUN: &str = "the run itself";
/// Keys by which one element of a list is told from the next.
const NAMES: [&str; 4] = ["id", "name", "subject", "point"];
/// Cases that are shown; the others are counted.
const SHOWN: usize = 12;
/// Characters of a value that are shown.
const WIDTH: usize = 90;

/// Places of one kind that differ.
#[derive(Debug)]
struct Unlike {
    count: usize,
    /// The first of them, in words.
    first: String,
}

/// All that differs.
#[derive(Debug)]
pub(super) struct Differences {
    /// Cases that there are now.
    cases: usize,
    /// By case, and by the keys that lead there.
    unlike: BTreeMap<String, BTreeMap<String, Unlike>>,
}

impl Differences {
    pub(super) fn between(before: &Value, now: &Value) -> Differences {
        let cases = now["cases"].as_array().map_or(0, Vec::len);
        let mut found = Differences { cases, unlike: BTreeMap::new() };
        for key in keys(before, now) {
            let (was, is) = (before.get(key), now.get(key));
            match (key, was, is) {
                ("cases", Some(Value::Array(was)), Some(Value::Array(is))) => {
                    for (case, was, is) in paired(was, is) {
                        found.walk(&case, ("", ""), was, is);
                    }
                }
                _ => found.walk(RUN, (key, ""), was, is),
            }
        }
        found
    }

    pub(super) fn is_empty(&self) -> bool {
        self.unlike.is_empty()
    }

    /// Looks at what stands at the keys `kind` of a case, in the element `place` of the lists on the way.
    fn walk(
        &mut self,
        case: &str,
        (kind, place): (&str, &str),
        was: Option<&Value>,
        is: Option<&Value>,
    ) {
        match (was, is) {
            (Some(before @ Value::Object(_)), Some(now @ Value::Object(_))) => {
                for key in keys(before, now) {
                    let kind = joined(kind, ".", key);
                    self.walk(case, (&kind, place), before.get(key), now.get(key));
                }
            }
            (Some(Value::Array(before)), Some(Value::Array(now))) => {
                for (name, was, is) in paired(before, now) {
                    self.walk(case, (kind, &joined(place, ", ", &name)), was, is);
                }
            }
            _ if was == is => {}
            _ => {
                let of_case = self.unlike.entry(case.to_owned()).or_default();
                let first = || {
                    let at = if place.is_empty() { String::new() } else { format!("at {place} ") };
                    Unlike { count: 0, first: format!("{at}was {}, is {}", told(was), told(is)) }
                };
                let kind = if kind.is_empty() { "all of it" } else { kind };
                of_case.entry(kind.to_owned()).or_insert_with(first).count += 1;
            }
        }
    }
}

/// The keys that one or the other has.
fn keys<'a>(before: &'a Value, now: &'a Value) -> BTreeSet<&'a str> {
    let all = [before, now].into_iter().filter_map(Value::as_object);
    all.flat_map(|of| of.keys().map(String::as_str)).collect()
}

fn joined(left: &str, by: &str, right: &str) -> String {
    if left.is_empty() { right.to_owned() } else { format!("{left}{by}{right}") }
}

/// Elements of two lists that are the same thing, by their names, where these are names of one each; else by their places.
fn paired<'a>(
    before: &'a [Value],
    now: &'a [Value],
) -> Vec<(String, Option<&'a Value>, Option<&'a Value>)> {
    let names = |all: &'a [Value]| -> Option<BTreeMap<String, &'a Value>> {
        let all: Vec<_> = all.iter().map(|one| Some((named(one)?, one))).collect::<Option<_>>()?;
        let count = all.len();
        let by_name: BTreeMap<_, _> = all.into_iter().collect();
        (by_name.len() == count).then_some(by_name)
    };
    if let (Some(was), Some(is)) = (names(before), names(now)) {
        let all: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
        let pair = |name: &String| (name.clone(), was.get(name).copied(), is.get(name).copied());
        return all.into_iter().map(pair).collect();
    }
    let pair = |at: usize| ((at + 1).to_string(), before.get(at), now.get(at));
    (0..before.len().max(now.len())).map(pair).collect()
}

/// What an element is called.
fn named(element: &Value) -> Option<String> {
    let words = NAMES.iter().filter_map(|&key| element.get(key)?.as_str());
    let name = words.filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some(name)
}

/// A value, as far as it has room.
fn told(value: Option<&Value>) -> String {
    let Some(value) = value else { return "nothing".to_owned() };
    let text = value.to_string();
    match text.char_indices().nth(WIDTH) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text,
    }
}

/// A number of things: `1 case`, `2 cases`.
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", counted(self.cases, "case"))?;
        if self.is_empty() {
            return f.write_str("the same");
        }
        let places = self.unlike.values().flat_map(BTreeMap::values).map(|kind| kind.count).sum();
        let cases = self.unlike.keys().filter(|case| *case != RUN).count();
        let (places, of) = (counted(places, "place"), counted(cases, "case"));
        write!(f, "other results in {places} of {of}")?;
        for (case, kinds) in self.unlike.iter().take(SHOWN) {
            write!(f, "\n  {case}")?;
            for (name, Unlike { count, first }) in kinds {
                let times = if *count == 1 { String::new() } else { format!(", {count} times") };
                write!(f, "\n    {name}{times}: {first}")?;
            }
        }
        let kinds = self.unlike.values().flat_map(BTreeMap::keys).collect::<BTreeSet<_>>();
        match self.unlike.len().saturating_sub(SHOWN) {
            0 => Ok(()),
            more => {
                let kinds = kinds.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
                write!(f, "\n  and {}; of all, what differs is {kinds}", counted(more, "more case"))
            }
        }
    }
}
