//! Tables of CONFIG_DB with the place of every row and field.

use super::ports;
use rig_lab::fault::Snippet;
use rig_lab::{Fault, Place};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// Where something stands: line and column from 1, width in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) width: usize,
}

/// One row: a key and what of its fields is kept.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) spot: Spot,
    pub(super) fields: BTreeMap<String, (String, Spot)>,
}

/// CONFIG_DB of one chip, from a file, as far as it is kept.
#[derive(Debug, Clone)]
pub struct Tables {
    pub(super) file: String,
    /// The lines of the file, what is not kept hidden.
    pub(super) lines: Vec<String>,
    pub(super) rows: BTreeMap<String, BTreeMap<String, Row>>,
    /// What is wrong with values that somebody asked for.
    pub(super) faults: RefCell<Vec<Fault>>,
}

/// What a field says, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'t> {
    tables: &'t Tables,
    table: &'t str,
    key: &'t str,
    field: &'t str,
    /// The value.
    pub(super) text: &'t str,
    spot: Spot,
}

impl Tables {
    /// The rows of a table, by key.
    pub(super) fn table<'t>(&'t self, table: &str) -> impl Iterator<Item = (&'t str, &'t Row)> {
        self.rows.get(table).into_iter().flatten().map(|(key, row)| (key.as_str(), row))
    }

    /// A field of a row.
    pub(super) fn field<'t>(&'t self, table: &str, key: &str, field: &str) -> Option<Said<'t>> {
        let (table, rows) = self.rows.get_key_value(table)?;
        let (key, row) = rows.get_key_value(key)?;
        let (field, (text, spot)) = row.fields.get_key_value(field)?;
        Some(Said { tables: self, table, key, field, text, spot: *spot })
    }

    /// A field of the row of a port: the one that is named after it, or one of several ports, as images of 2019 write them. Two rows that
    /// say different things of one port are none of them to be believed: orchagent takes each as it comes, and the last one stays.
    pub(super) fn of_port<'t>(&'t self, table: &str, port: &str, field: &str) -> Option<Said<'t>> {
        let own = |key: &&str| key.split(',').any(|one| one.trim() == port);
        let keys = self.table(table).map(|(key, _)| key).filter(own);
        let mut all = keys.filter_map(|key| self.field(table, key, field));
        let first = all.next()?;
        if let Some(other) = all.find(|other| other.text != first.text) {
            let (one, text) = (first.path(), rig_units::limits::quoted(other.text));
            let found = format!("{} is `{text}`, and {one} says otherwise of {port}", other.path());
            let want = "one row for each port: which of two is in effect hangs on the order in which they were written";
            self.note(other.place(), found, want);
        }
        Some(first)
    }

    /// Whether the file is of an image on which `pfc_enable` says what the watchdog guards, too: `pfcwd_sw_enable` came with the
    /// version after 3.0.4 of the database, whose migrator copies the one into the other.
    pub(super) fn is_before_pfcwd_sw_enable(&self) -> bool {
        let version = self.field("VERSIONS", "DATABASE", "VERSION");
        match version.and_then(|said| version_of(said.text)) {
            Some(version) => version.as_slice() <= &[3, 0, 4],
            None => {
                let mut rows = self.table("PORT_QOS_MAP");
                !rows.any(|(_, row)| row.fields.contains_key("pfcwd_sw_enable"))
            }
        }
    }

    /// The same tables once a field is something else, or gone: what was noted of them is not carried over.
    pub(super) fn with(&self, key: &str, field: &str, value: Option<&str>) -> Tables {
        let mut other = self.clone();
        other.faults = RefCell::default();
        let (table, key) = key.split_once('|').unwrap_or((key, ""));
        let rows = other.rows.entry(table.to_owned()).or_default();
        let spot = Spot { line: 0, column: 0, width: 1 };
        let row =
            rows.entry(key.to_owned()).or_insert_with(|| Row { spot, fields: BTreeMap::new() });
        match value {
            Some(value) => drop(row.fields.insert(field.to_owned(), (value.to_owned(), spot))),
            None => drop(row.fields.remove(field)),
        }
        other
    }

    /// Every field of a row.
    pub(super) fn fields<'t>(&'t self, table: &str, key: &str) -> Vec<Said<'t>> {
        let row = self.rows.get(table).and_then(|rows| rows.get(key));
        let names = row.into_iter().flat_map(|row| row.fields.keys());
        names.filter_map(|name| self.field(table, key, name)).collect()
    }

    /// A field of the switch itself.
    pub(super) fn metadata<'t>(&'t self, field: &str) -> Option<Said<'t>> {
        self.field("DEVICE_METADATA", "localhost", field)
    }

    /// The profile that a port's MACsec goes by, if it has any: an empty text is none, as `macsecmgrd` takes it and a tool leaves it.
    pub(super) fn macsec<'t>(&'t self, port: &str) -> Option<Said<'t>> {
        self.field("PORT", port, "macsec").filter(|said| !said.text.is_empty())
    }

    /// The key of the row that binds queue or group `index` of `port` in such a table, ranges and lists in keys counted.
    pub(super) fn bound<'t>(&'t self, table: &str, port: &str, index: u8) -> Option<&'t str> {
        let chip = self.chip();
        self.table(table).map(|(key, _)| key).find(|key| ports::names(key, chip, port, index))
    }

    /// How many queues of front-panel ports name each row of `SCHEDULER`.
    pub(super) fn schedulers(&self) -> BTreeMap<&str, usize> {
        let chip = self.chip();
        let mut all: BTreeMap<&str, usize> = BTreeMap::new();
        for (key, _) in self.table("QUEUE") {
            let named = self.field("QUEUE", key, "scheduler");
            let row = named.and_then(|said| said.referred("SCHEDULER"));
            let (Some(row), Some((own, indices))) = (row, ports::parts(key, chip)) else {
                continue;
            };
            let there =
                own.split(',').filter(|port| self.row_place("PORT", port).is_some()).count();
            *all.entry(row).or_default() +=
                there * ports::numbers(indices).map_or(0, |all| all.len());
        }
        all
    }

    /// The names of the switch and of the chip that keys of virtual output queues begin with.
    fn chip(&self) -> (&str, &str) {
        let named = |field: &str| self.metadata(field).map_or("", |said| said.text);
        (named("hostname"), named("asic_name"))
    }

    /// Where a row stands.
    pub(super) fn row_place(&self, table: &str, key: &str) -> Option<Place> {
        let row = self.rows.get(table)?.get(key)?;
        Some(self.place(row.spot, format!("{table}|{key}")))
    }

    pub(super) fn place(&self, spot: Spot, path: String) -> Place {
        place(&self.file, &self.lines, spot, path)
    }

    /// Notes that something cannot be used.
    pub(super) fn note(&self, place: Place, found: String, want: &str) {
        let fault = Fault { place: Box::new(place), found, want: want.to_owned() };
        let mut faults = self.faults.borrow_mut();
        if !faults.contains(&fault) {
            faults.push(fault);
        }
    }
}

/// The numbers of a version such as `version_3_0_4` or `version_202305_01`.
fn version_of(text: &str) -> Option<Vec<u32>> {
    let numbers = text.strip_prefix("version_")?.split('_');
    numbers.map(|number| number.parse().ok()).collect()
}

/// A place in lines that hide what is not kept.
pub(super) fn place(file: &str, lines: &[String], spot: Spot, path: String) -> Place {
    let line = lines.get(spot.line.saturating_sub(1)).map_or("", String::as_str);
    Place {
        file: file.to_owned(),
        line: spot.line,
        column: spot.column,
        width: spot.width.max(1),
        snippet: Snippet::of(line, spot.column),
        path,
    }
}

impl<'t> Said<'t> {
    /// Where it stands.
    pub(super) fn place(&self) -> Place {
        self.tables.place(self.spot, self.path())
    }

    /// `TABLE|key|field`.
    pub(super) fn path(&self) -> String {
        format!("{}|{}|{}", self.table, self.key, self.field)
    }

    /// The number that is the name of the field, as in a map of code points.
    pub(super) fn field_number(&self) -> Option<u8> {
        self.field.parse().ok()
    }

    /// Notes that it cannot be used.
    pub(super) fn wrong(&self, want: &str) {
        let found = format!("{} is `{}`", self.field, rig_units::limits::quoted(self.text));
        self.tables.note(self.place(), found, want);
    }

    /// The value as `read` takes it; what it does not take is noted.
    pub(super) fn read<T>(&self, want: &str, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let value = read(self.text.trim());
        if value.is_none() {
            self.wrong(want);
        }
        value
    }

    /// A whole number of bytes, milliseconds or the like.
    pub(super) fn number(&self, most: u64) -> Option<u64> {
        self.read(&format!("a whole number from 0 to {most}, as text"), |text| {
            text.parse().ok().filter(|&number| number <= most)
        })
    }

    /// Classes, in order. An empty text names none.
    pub(super) fn classes(&self) -> Option<Vec<u8>> {
        self.read("classes from 0 to 7, such as 3,4", |text| {
            let mut all = if text.is_empty() { Vec::new() } else { ports::numbers(text)? };
            all.sort_unstable();
            all.dedup();
            all.iter().all(|&class| class < 8).then_some(all)
        })
    }

    /// The row of `table` that it refers to: its key; a name that is not there is noted.
    pub(super) fn referred(&self, table: &str) -> Option<&'t str> {
        let name = ports::referred(self.text);
        let found = self.tables.rows.get(table).and_then(|rows| rows.get_key_value(name));
        if found.is_none() {
            self.wrong(&format!("the name of a row of {table} in this file"));
        }
        found.map(|(key, _)| key.as_str())
    }
}
