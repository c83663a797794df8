//! `config_db.json` as tables: JSON with places, of which only what [`kept`](super::kept) lists leaves the text.

use super::kept::{is_kept, keeps};
use super::tables::{Row, Spot, Tables, place};
use rig_lab::{Fault, file};
use rig_units::limits::{CONFIG_BYTES, CONFIG_DEPTH, quoted};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

/// Reads the file of a chip. `namespace` chooses one where the file holds those of several (`localhost`, `asic0`, ...).
///
/// # Errors
/// Every fault of it, each with its place; what is not kept is in no message.
pub fn read(path: &Path, namespace: Option<&str>) -> Result<Tables, Vec<Fault>> {
    let name = path.display().to_string();
    let bytes = file::read(path, CONFIG_BYTES)
        .map_err(|unread| vec![Fault::of_file(&name, unread.found, unread.want)])?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        vec![Fault::of_file(&name, format!("is not UTF-8 text: byte {at} is not"), WANT)]
    })?;
    tables(&name, &text, namespace)
}

const WANT: &str = "CONFIG_DB as SONiC saves it: {\"TABLE\": {\"key\": {\"field\": \"value\"}}}";

/// The tables of a text.
///
/// # Errors
/// As [`read`].
pub(super) fn tables(
    name: &str,
    text: &str,
    namespace: Option<&str>,
) -> Result<Tables, Vec<Fault>> {
    let mut reader = Reader {
        rest: text.chars().peekable(),
        at: (1, 1),
        shown: String::new(),
        hidden: false,
        spaces: BTreeMap::new(),
        faults: Vec::new(),
    };
    let whole = reader.whole();
    let lines: Vec<String> = reader.shown.split('\n').map(rig_lab::keys::hidden).collect();
    let faults = reader.faults.into_iter().chain(whole.err());
    let told = |Wrong { spot, path, found, want }: Wrong| Fault {
        place: Box::new(place(name, &lines, spot, path)),
        found,
        want,
    };
    let mut faults: Vec<Fault> = faults.map(told).collect();
    let mut spaces = reader.spaces;
    let rows = match (namespace, spaces.len()) {
        (None, 0 | 1) => spaces.pop_first().map(|(_, rows)| rows),
        (Some(wanted), _) => spaces.remove(wanted),
        _ => None,
    };
    if rows.is_none() && faults.is_empty() {
        let there: Vec<&str> =
            spaces.keys().map(String::as_str).filter(|s| !s.is_empty()).collect();
        let (found, want) = match (there.is_empty(), namespace) {
            (true, None) => ("there are no tables in it".to_owned(), WANT.to_owned()),
            (true, Some(_)) => ("it has no namespaces".to_owned(), "no --namespace".to_owned()),
            (false, _) => (
                "it has several namespaces".to_owned(),
                format!("--namespace with one of {}", there.join(", ")),
            ),
        };
        faults.push(Fault::of_file(name, found, want));
    }
    match rows {
        Some(rows) if faults.is_empty() => {
            Ok(Tables { file: name.to_owned(), lines, rows, faults: RefCell::default() })
        }
        _ => Err(faults),
    }
}

type Rows = BTreeMap<String, BTreeMap<String, Row>>;

/// A fault before the lines are there in which it is shown.
struct Wrong {
    spot: Spot,
    path: String,
    found: String,
    want: String,
}

struct Reader<'t> {
    rest: std::iter::Peekable<std::str::Chars<'t>>,
    /// Line and column of what comes next.
    at: (usize, usize),
    /// What was read, as it may be shown.
    shown: String,
    /// Whether what is read now is hidden.
    hidden: bool,
    spaces: BTreeMap<String, Rows>,
    faults: Vec<Wrong>,
}

impl Reader<'_> {
    fn whole(&mut self) -> Result<(), Wrong> {
        self.object("", 0, &mut |reader, key, spot| reader.top(key, spot))?;
        self.blanks();
        match self.rest.peek() {
            None => Ok(()),
            Some(_) => Err(self.wrong("", "something stands behind the last brace", "nothing")),
        }
    }

    /// A table, a row by its whole key (`PORT|Ethernet0`), or a namespace.
    fn top(&mut self, key: &str, spot: Spot) -> Result<(), Wrong> {
        let is_asic = key.strip_prefix("asic").is_some_and(|number| number.parse::<u8>().is_ok());
        if key == "localhost" || is_asic {
            return self.object(key, 1, &mut |reader, table, spot| reader.entry(key, table, spot));
        }
        self.entry("", key, spot)
    }

    fn entry(&mut self, space: &str, key: &str, spot: Spot) -> Result<(), Wrong> {
        self.spaces.entry(space.to_owned()).or_default();
        let (table, row) =
            key.split_once('|').map_or((key, None), |(table, row)| (table, Some(row)));
        if !is_kept(table) {
            return self.unseen(2);
        }
        match row {
            Some(row) => self.row(space, table, row, spot),
            None => {
                self.object(table, 2, &mut |reader, row, spot| reader.row(space, table, row, spot))
            }
        }
    }

    fn row(&mut self, space: &str, table: &str, key: &str, spot: Spot) -> Result<(), Wrong> {
        let mut fields = BTreeMap::new();
        let path = format!("{table}|{key}");
        self.object(&path, 3, &mut |reader, field, spot| {
            if !keeps(table, field) {
                return reader.unseen(4);
            }
            if let Some(value) = reader.value(&format!("{path}|{field}"))?
                && fields.insert(field.to_owned(), value).is_some()
            {
                reader.twice(&path, field, spot);
            }
            Ok(())
        })?;
        let rows = self.spaces.entry(space.to_owned()).or_default();
        let rows = rows.entry(table.to_owned()).or_default();
        if rows.insert(key.to_owned(), Row { spot, fields }).is_some() {
            self.twice(table, key, spot);
        }
        Ok(())
    }

    fn twice(&mut self, path: &str, key: &str, spot: Spot) {
        let found = format!("`{}` stands twice", quoted(key));
        self.faults.push(Wrong {
            spot,
            path: path.to_owned(),
            found,
            want: "each key once".to_owned(),
        });
    }

    /// A value of a field: a text, a number, or a list of these, which is one text with commas. Anything else is noted and left.
    fn value(&mut self, path: &str) -> Result<Option<(String, Spot)>, Wrong> {
        self.blanks();
        let (line, column) = self.at;
        let text = match self.rest.peek() {
            Some('"') => Some(self.text(path, |_| true)?),
            Some('{') => {
                self.unseen(4)?;
                None
            }
            Some('[') => {
                let mut all = Vec::new();
                self.take();
                self.blanks();
                while self.rest.peek() != Some(&']') {
                    match self.rest.peek() {
                        Some('"') => all.push(self.text(path, |_| true)?),
                        _ => return Err(self.wrong(path, "this is no text", "a list of texts")),
                    }
                    if !self.goes_on(path, ']')? {
                        break;
                    }
                }
                self.expect(path, ']')?;
                Some(all.join(","))
            }
            _ => Some(self.bare(path)?),
        };
        let width = if self.at.0 == line { self.at.1 - column } else { 1 };
        let spot = Spot { line, column, width };
        if text.is_none() {
            let (found, want) = ("an object where a value belongs".to_owned(), "a text".to_owned());
            self.faults.push(Wrong { spot, path: path.to_owned(), found, want });
        }
        Ok(text.map(|text| (text, spot)))
    }

    /// An object; `each` reads what a key of it holds.
    fn object(
        &mut self,
        path: &str,
        depth: usize,
        each: &mut dyn FnMut(&mut Self, &str, Spot) -> Result<(), Wrong>,
    ) -> Result<(), Wrong> {
        if depth > CONFIG_DEPTH {
            return Err(self.wrong(
                path,
                "the nesting is too deep",
                &format!("at most {CONFIG_DEPTH} levels"),
            ));
        }
        self.blanks();
        self.expect(path, '{')?;
        self.blanks();
        while self.rest.peek() != Some(&'}') {
            let (line, column) = self.at;
            // A field that is not kept is hidden with its name: a quote that is missing makes one name of both.
            let may = |key: &str| match path.split_once('|') {
                Some((table, _)) => keeps(table, key),
                None => key.chars().all(|c| c.is_ascii_alphanumeric() || "_|,.:-".contains(c)),
            };
            let key = self.text(path, may)?;
            let width = self.at.1.saturating_sub(column);
            self.blanks();
            self.expect(path, ':')?;
            each(self, &key, Spot { line, column, width })?;
            if !self.goes_on(path, '}')? {
                break;
            }
        }
        self.expect(path, '}')
    }

    /// Whether a comma and one more follow.
    fn goes_on(&mut self, path: &str, end: char) -> Result<bool, Wrong> {
        self.blanks();
        if self.rest.peek() != Some(&',') {
            return Ok(false);
        }
        self.take();
        self.blanks();
        if self.rest.peek() == Some(&end) {
            return Err(self.wrong(
                path,
                "a comma with nothing behind it",
                "one more, or no comma",
            ));
        }
        Ok(true)
    }

    /// Whatever stands here, unseen.
    fn unseen(&mut self, depth: usize) -> Result<(), Wrong> {
        let before = std::mem::replace(&mut self.hidden, true);
        let done = self.any(depth);
        self.hidden = before;
        done
    }

    fn any(&mut self, depth: usize) -> Result<(), Wrong> {
        self.blanks();
        match self.rest.peek() {
            Some('{') => self.object("", depth, &mut |reader, _, _| reader.any(depth + 1)),
            Some('[') if depth > CONFIG_DEPTH => Err(self.wrong(
                "",
                "the nesting is too deep",
                &format!("at most {CONFIG_DEPTH} levels"),
            )),
            Some('[') => {
                self.take();
                self.blanks();
                while self.rest.peek() != Some(&']') {
                    self.any(depth + 1)?;
                    if !self.goes_on("", ']')? {
                        break;
                    }
                }
                self.expect("", ']')
            }
            Some('"') => self.text("", |_| true).map(drop),
            _ => self.bare("").map(drop),
        }
    }

    /// A number, `true`, `false` or `null`.
    fn bare(&mut self, path: &str) -> Result<String, Wrong> {
        let mut word = String::new();
        while let Some(&c) = self.rest.peek()
            && (c.is_ascii_alphanumeric() || "+-.".contains(c))
            && word.len() < 40
        {
            word.push(c);
            self.take_hidden();
        }
        let is_value =
            matches!(word.as_str(), "true" | "false" | "null") || word.parse::<f64>().is_ok();
        if !is_value {
            return Err(self.wrong(path, "no value stands here", "a text in double quotes"));
        }
        if !self.hidden {
            let kept = self.shown.len() - word.len();
            self.shown.replace_range(kept.., &word);
        }
        Ok(word)
    }

    /// A text. It is shown only where it `may` be, and only once its end is there.
    fn text(&mut self, path: &str, may: impl Fn(&str) -> bool) -> Result<String, Wrong> {
        self.expect(path, '"')?;
        let from = self.shown.len();
        let (mut text, mut raw) = (String::new(), String::new());
        loop {
            let Some(&c) = self.rest.peek() else {
                return Err(self.wrong(
                    path,
                    "the file ends within a text",
                    "a double quote at its end",
                ));
            };
            match c {
                '"' => break,
                '\n' => {
                    return Err(self.wrong(
                        path,
                        "the line ends within a text",
                        "a double quote at its end",
                    ));
                }
                '\\' => {
                    self.take_hidden();
                    raw.push(c);
                    let Some(&c) = self.rest.peek() else { continue };
                    self.take_hidden();
                    raw.push(c);
                    text.push(match c {
                        '"' | '\\' | '/' => c,
                        // No name and no number that is read here has any other; where one stands it says so.
                        _ => '\u{fffd}',
                    });
                }
                _ => {
                    self.take_hidden();
                    raw.push(c);
                    text.push(c);
                }
            }
        }
        if !self.hidden && may(&text) {
            self.shown.truncate(from);
            self.shown.push_str(&raw);
        }
        self.expect(path, '"')?;
        Ok(text)
    }

    fn blanks(&mut self) {
        while self.rest.peek().is_some_and(|c| matches!(c, ' ' | '\t' | '\r' | '\n')) {
            self.take();
        }
    }

    fn expect(&mut self, path: &str, wanted: char) -> Result<(), Wrong> {
        if self.rest.peek() == Some(&wanted) {
            self.take();
            return Ok(());
        }
        let found = match self.rest.peek() {
            None => "the file ends here".to_owned(),
            Some(c) if c.is_ascii_punctuation() => format!("`{c}` stands here"),
            Some(_) => "something else stands here".to_owned(),
        };
        Err(self.wrong(path, &found, &format!("`{wanted}`")))
    }

    /// Takes a character that structure is made of.
    fn take(&mut self) {
        if let Some(c) = self.step() {
            self.shown.push(c);
        }
    }

    /// Takes a character of a value: a star stands for it until it is known to be kept.
    fn take_hidden(&mut self) {
        if self.step().is_some() {
            self.shown.push('*');
        }
    }

    fn step(&mut self) -> Option<char> {
        let c = self.rest.next()?;
        self.at = if c == '\n' { (self.at.0 + 1, 1) } else { (self.at.0, self.at.1 + 1) };
        Some(c)
    }

    fn wrong(&self, path: &str, found: &str, want: &str) -> Wrong {
        let spot = Spot { line: self.at.0, column: self.at.1, width: 1 };
        Wrong { spot, path: path.to_owned(), found: found.to_owned(), want: want.to_owned() }
    }
}
