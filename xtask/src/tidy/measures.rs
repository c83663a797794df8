//! A measure is known by its name in its own file alone: who asks for one by name elsewhere has a list of measures of his own, which
//! the next one is not in. By text: on the line that asks, in the arms of a `match` on a name, and in constant lists.

use super::breach::Breach;
use super::tree::{Source, product, words};
use std::collections::BTreeSet;

/// Where measures are: what each is called stands there alone.
const MEASURES: &str = "oracle/src/measure/";
/// Rooms that have no lists of fields, which are called like the measures of them.
const WITHOUT_FIELDS: [&str; 4] = ["capture/", "reports/", "rigctl/", "testcases/"];

/// What the measures of a tree are called.
struct Names<'a> {
    whole: BTreeSet<&'a str>,
    /// What stands before the dot.
    rooms: BTreeSet<&'a str>,
}

impl<'a> Names<'a> {
    fn of(own: &[&'a Source]) -> Names<'a> {
        let lines = own.iter().flat_map(|source| source.product());
        let named =
            lines.filter_map(|(_, line)| line.trim().strip_prefix("name: \"")?.strip_suffix("\","));
        let whole: BTreeSet<&str> = named.collect();
        let rooms = whole.iter().filter_map(|name| name.split_once('.'));
        Names { rooms: rooms.map(|(room, _)| room).collect(), whole }
    }

    /// How many texts of a line are the name of one, or the beginning of some.
    fn in_line(&self, line: &str) -> usize {
        let quoted = line.split('"').skip(1).step_by(2);
        let known = quoted.filter(|text| {
            let room = text.strip_suffix('.').is_some_and(|room| self.rooms.contains(room));
            self.whole.contains(text) || room
        });
        known.count()
    }
}

/// Names of measures in code of the product that is none of theirs.
pub(crate) fn check(sources: &[Source]) -> Vec<Breach> {
    let (own, others): (Vec<&Source>, Vec<&Source>) =
        product(sources).into_iter().partition(|source| source.path.starts_with(MEASURES));
    let names = Names::of(&own);
    others
        .into_iter()
        .flat_map(|source| {
            let lines = source.product();
            let mut knows = by_name(&lines, &names);
            knows.extend(arms(&lines, &names));
            if WITHOUT_FIELDS.iter().any(|room| source.path.starts_with(room)) {
                knows.extend(lists(&lines, &names));
            }
            knows.into_iter().map(|line| Breach {
                file: source.path.clone(),
                line,
                why: "a measure is known by its name in its own file alone: give what is asked here a field of `Entry` or `Known`".to_owned(),
            })
        })
        .collect()
}

/// Lines that ask whether a name is that of a measure. Fields of a profile are called like the measures of them, and other words, too:
/// it is asked by name, or of one, here or on the line before that goes on here.
fn by_name(lines: &[(usize, &str)], names: &Names) -> BTreeSet<usize> {
    let asks = |line: &str| {
        let asks = ["name()", "name ==", "name.", "(_, \""];
        asks.iter().any(|words| line.contains(words))
    };
    let mut before = "";
    let knows = lines.iter().filter(|(_, line)| {
        let goes_on = ["==", "!=", "."].iter().any(|with| line.trim_start().starts_with(with));
        let asked = asks(line) || goes_on && asks(before);
        before = line;
        asked && names.in_line(line) > 0
    });
    knows.map(|&(number, _)| number).collect()
}

/// A `match`, or a `matches!` over several lines, that is not closed yet.
struct Open {
    /// Spaces before it.
    deep: usize,
    /// Whether it looks at a name; of a `matches!` its first line says so.
    of_name: Option<bool>,
}

/// Arms of a `match` on a name that are the names of measures.
fn arms(lines: &[(usize, &str)], names: &Names) -> BTreeSet<usize> {
    let mut open: Vec<Open> = Vec::new();
    let mut found = BTreeSet::new();
    for &(number, line) in lines.iter().filter(|(_, line)| !line.trim().is_empty()) {
        let text = line.trim_start();
        let deep = line.len() - text.len();
        while open.pop_if(|open| deep <= open.deep).is_some() {}
        let looks = words(line).any(|(_, word)| ["name", "measure"].contains(&word));
        if let Some(open) = open.last_mut()
            && *open.of_name.get_or_insert(looks)
        {
            let pattern = text.split("=>").next().unwrap_or_default();
            let is_arm = deep == open.deep + 4 && pattern.starts_with(['"', '|', '(', 'S']);
            if is_arm && names.in_line(pattern) > 0 {
                found.insert(number);
            }
        }
        let is_match = words(line).any(|(_, word)| word == "match") && text.ends_with('{');
        if is_match || text.ends_with("matches!(") {
            open.push(Open { deep, of_name: is_match.then_some(looks) });
        }
    }
    found
}

/// Constant lists with the names of two measures or more: the first line of each.
fn lists(lines: &[(usize, &str)], names: &Names) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut list = None;
    for &(number, line) in lines {
        let text = line.trim_start();
        if words(text).any(|(_, word)| ["const", "static"].contains(&word)) && text.contains("&str")
        {
            list = Some((number, 0));
        }
        if let Some((first, count)) = &mut list {
            *count += names.in_line(line);
            if *count > 1 {
                found.insert(*first);
            }
        }
        if text.ends_with(';') {
            list = None;
        }
    }
    found
}
