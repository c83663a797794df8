//! Walking a YAML tree and keeping every fault on the way, so that a person hears of all of them at once.
//!
//! A method that finds a fault notes it and answers `None`; who walks goes on with the rest of the file.

mod fields;

pub use fields::Fields;

use crate::fault::{Fault, brief, one_of};
use crate::keys;
use crate::settings::nearest;
use crate::yaml::{Key, Mark, Node, Source, Spot, Value};
use core::cell::{Cell, RefCell};
use core::ops::RangeInclusive;
use core::str::FromStr;
use rig_units::BadQuantity;
use rig_units::limits::{self, FAULTS, NAME};

/// A walk through one file.
#[derive(Debug)]
pub struct Walk<'s> {
    source: &'s Source,
    faults: RefCell<Vec<Fault>>,
    /// How many there are beyond those that are told.
    more: Cell<usize>,
}

impl<'s> Walk<'s> {
    /// A walk that has met no fault yet.
    pub fn new(source: &'s Source) -> Walk<'s> {
        Walk { source, faults: RefCell::default(), more: Cell::default() }
    }

    /// The start of the walk.
    pub fn root(&'s self, node: &'s Node) -> At<'s> {
        At { walk: self, node, key: None, path: String::new() }
    }

    /// Notes a fault. What it quotes of the file may be a key, and it may be long.
    pub fn note(&self, fault: Fault) {
        self.noted(|| fault);
    }

    /// The same, or one more that is only counted: to say where each stands in a file that is nothing but faults, or one long line,
    /// would take minutes.
    fn noted(&self, fault: impl FnOnce() -> Fault) {
        if self.faults.borrow().len() >= FAULTS {
            self.more.set(self.more.get() + 1);
            return;
        }
        let fault = fault();
        let (found, want) = (keys::shown(&fault.found), brief(&fault.want));
        self.faults.borrow_mut().push(Fault { found, want, ..fault });
    }

    /// Whether a fault was met so far.
    pub fn failed(&self) -> bool {
        !self.faults.borrow().is_empty()
    }

    /// Every fault, by place; what stands in one place and is used in two is reported once.
    pub fn finish(self) -> Vec<Fault> {
        let mut faults = self.faults.into_inner();
        faults.sort_by(|a, b| {
            let key = |f: &Fault| (f.place.line, f.place.column);
            key(a).cmp(&key(b)).then_with(|| a.found.cmp(&b.found))
        });
        faults.dedup_by(|a, b| {
            (a.place.line, a.place.column, &a.found) == (b.place.line, b.place.column, &b.found)
        });
        match self.more.get() {
            0 => {}
            more => {
                let found = format!("{more} more faults, which are not told");
                let want = format!("fewer than {FAULTS} faults: mend these first");
                faults.push(Fault::of_file(&self.source.file, found, want));
            }
        }
        faults
    }
}

/// One value on the way, and the keys that led to it.
#[derive(Debug, Clone)]
pub struct At<'w> {
    walk: &'w Walk<'w>,
    /// The value.
    pub node: &'w Node,
    key: Option<Mark>,
    /// Keys from the top of the file.
    pub path: String,
}

impl<'w> At<'w> {
    /// Notes a fault here. A mapping is shown by its key.
    pub fn fault(&self, found: impl Into<String>, want: impl Into<String>) {
        self.walk.noted(|| Fault {
            place: Box::new(self.place()),
            found: found.into(),
            want: want.into(),
        });
    }

    /// Notes a fault of another place of the same file.
    pub fn note(&self, fault: Fault) {
        self.walk.note(fault);
    }

    /// What a fault shows of where this is.
    pub fn place(&self) -> crate::fault::Place {
        self.walk.source.place(self.mark(), &self.path)
    }

    /// Where this is, to be shown later or never.
    pub fn spot(&self) -> Spot {
        Spot::new(self.walk.source, self.mark(), &self.path)
    }

    fn mark(&self) -> Mark {
        let collection = matches!(self.node.value, Value::Map(_) | Value::List(_) | Value::Null);
        self.key.filter(|_| collection).unwrap_or(self.node.mark)
    }

    /// Notes that something else was wanted.
    pub fn wrong(&self, want: impl Into<String>) {
        self.fault(format!("{} is not what belongs here", self.node.describe()), want);
    }

    /// Its text; `want` is what is said when it has none.
    pub fn text(&self, want: &str) -> Option<&'w str> {
        match &self.node.value {
            Value::Text(text) if !text.is_empty() => Some(text),
            _ => {
                self.wrong(want);
                None
            }
        }
    }

    /// A quantity with its unit.
    pub fn quantity<T: FromStr<Err = BadQuantity>>(&self) -> Option<T> {
        match self.node.written().parse() {
            Ok(quantity) => Some(quantity),
            Err(bad) => {
                self.fault(format!("{} is not {}", self.node.describe(), bad.what()), bad.want());
                None
            }
        }
    }

    /// A whole number within `range`; `what` it is, for messages.
    pub fn whole<T: TryFrom<i64>>(&self, range: RangeInclusive<i64>, what: &str) -> Option<T> {
        let fits = match self.node.value {
            Value::Whole(n) if range.contains(&n) => T::try_from(n).ok(),
            _ => None,
        };
        if fits.is_none() {
            let (from, to) = range.into_inner();
            let found = match self.node.value {
                Value::Whole(n) => format!("`{n}` is not {what}"),
                _ => format!("{} is not {what}", self.node.describe()),
            };
            self.fault(found, format!("a whole number from {from} to {to}"));
        }
        fits
    }

    /// One of a few words.
    pub fn choice<T: Copy>(&self, words: &[(&str, T)]) -> Option<T> {
        let names = words.iter().map(|&(word, _)| word);
        let word = match &self.node.value {
            Value::Text(text) => text.as_str(),
            _ => "",
        };
        let meant = words.iter().find(|&&(name, _)| name == word).map(|&(_, meant)| meant);
        if meant.is_none() {
            let found = match word {
                "" => format!("{} is not what belongs here", self.node.describe()),
                word => format!("unknown word `{word}`"),
            };
            self.fault(found, one_of(word, names));
        }
        meant
    }

    /// The elements of a list.
    pub fn list(&self, want: &str) -> Option<Vec<At<'w>>> {
        match &self.node.value {
            Value::List(all) => {
                Some(all.iter().enumerate().map(|(i, n)| self.element(i, n)).collect())
            }
            _ => {
                self.wrong(want);
                None
            }
        }
    }

    /// The elements of a list, or the one value that stands for a list of one.
    pub fn one_or_many(&self) -> Vec<At<'w>> {
        match &self.node.value {
            Value::List(all) => all.iter().enumerate().map(|(i, n)| self.element(i, n)).collect(),
            _ => vec![self.clone()],
        }
    }

    fn element(&self, index: usize, node: &'w Node) -> At<'w> {
        At { walk: self.walk, node, key: None, path: format!("{}[{index}]", self.path) }
    }

    /// The entries of a mapping whose keys are names or paths.
    pub fn entries(&self, want: &str) -> Option<Vec<(&'w Key, At<'w>)>> {
        match &self.node.value {
            Value::Map(fields) => {
                Some(fields.iter().map(|(key, node)| (key, self.below(key, node))).collect())
            }
            _ => {
                self.wrong(want);
                None
            }
        }
    }

    fn below(&self, key: &Key, node: &'w Node) -> At<'w> {
        let path = match self.path.as_str() {
            "" => key.name.clone(),
            path => format!("{path}.{}", key.name),
        };
        At { walk: self.walk, node, key: Some(key.mark), path }
    }

    /// The value at a dotted path below this one, or the last one on the way to it.
    pub fn down(&self, path: &str) -> At<'w> {
        path.split('.')
            .try_fold(self.clone(), |at, name| match &at.node.value {
                Value::Map(fields) => match fields.iter().find(|(key, _)| key.name == name) {
                    Some((key, node)) => Ok(at.below(key, node)),
                    None => Err(at),
                },
                _ => Err(at),
            })
            .unwrap_or_else(|last| last)
    }

    /// The value at or below this one that `found` quotes, or this one: a list is read as a whole, and what is wrong
    /// with it is one of its parts.
    pub fn naming(&self, found: &str) -> At<'w> {
        let quoted = found.split(['`', '"']).nth(1).unwrap_or_default();
        self.parts()
            .into_iter()
            .find(|at| at.node.written() == quoted)
            .unwrap_or_else(|| self.clone())
    }

    /// The single values below this one.
    fn parts(&self) -> Vec<At<'w>> {
        let below: Vec<At<'w>> = match &self.node.value {
            Value::List(_) => self.one_or_many(),
            Value::Map(fields) => fields.iter().map(|(key, node)| self.below(key, node)).collect(),
            Value::Null | Value::Bool(_) | Value::Whole(_) | Value::Real(_) | Value::Text(_) => {
                return vec![self.clone()];
            }
        };
        below.iter().flat_map(At::parts).collect()
    }

    /// A mapping with these keys and no others. A key that looks like one of them is read as that one, so that a typo
    /// is one fault and not two.
    pub fn fields(&self, allowed: &[&str]) -> Option<Fields<'w>> {
        self.fields_hinted(allowed, &|_| None)
    }

    /// The same; of a key that belongs elsewhere `elsewhere` says where.
    pub fn fields_hinted(
        &self,
        allowed: &[&str],
        elsewhere: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Fields<'w>> {
        let entries = self.entries(&format!("a mapping with {}", allowed.join(", ")))?;
        let is_there = |known: &&str| entries.iter().any(|(key, _)| key.name == **known);
        let absent: Vec<&str> = allowed.iter().copied().filter(|known| !is_there(known)).collect();
        let mut named = Vec::new();
        for (key, at) in &entries {
            let name = key.name.as_str();
            if allowed.contains(&name) {
                named.push((name.to_owned(), at.clone()));
                continue;
            }
            if let Some(want) = elsewhere(name) {
                at.at_key(format!("`{name}` does not stand here"), want);
                continue;
            }
            let meant = nearest(name, absent.iter().copied()).into_iter().next();
            at.at_key(format!("unknown key `{name}`"), one_of(name, allowed.iter().copied()));
            named.extend(meant.map(|meant| (meant, at.clone())));
        }
        Some(Fields::new(self.clone(), named))
    }

    /// Whether this name is one of those that the rig takes; a fault of its key when it is longer.
    pub fn is_short(&self, name: &str) -> bool {
        let count = name.chars().count();
        if count > NAME {
            self.at_key(format!("`{name}` has {count} characters"), limits::name().want);
        }
        count <= NAME
    }

    /// Notes a fault of this value's key rather than of the value.
    pub fn at_key(&self, found: impl Into<String>, want: impl Into<String>) {
        let place = || self.walk.source.place(self.key.unwrap_or(self.node.mark), &self.path);
        self.walk.noted(|| Fault {
            place: Box::new(place()),
            found: found.into(),
            want: want.into(),
        });
    }
}
