//! What each trial showed where a value rests on all trials together: rows for a file beside the results, packed as captures
//! are.

use crate::outdir::OutDir;
use core::fmt::Display;
use rig_capture::pcapng::Zip;
use rig_reports::TableFile;
use rig_testcases::CaseId;
use std::io::{self, Write};

/// Rows of one measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    measure: &'static str,
    columns: &'static [&'static str],
    rows: Vec<String>,
}

impl Table {
    /// Without rows yet.
    pub const fn new(measure: &'static str, columns: &'static [&'static str]) -> Table {
        Table { measure, columns, rows: Vec::new() }
    }

    /// Adds a row: a cell for each column.
    pub fn row<const N: usize>(&mut self, cells: [&dyn Display; N]) {
        debug_assert_eq!(N, self.columns.len(), "{}", self.measure);
        self.rows.push(cells.map(|cell| quoted(&cell.to_string())).join(","));
    }

    /// Goes on with the rows of `other`, if it is of the same measure; else gives it back.
    fn take(&mut self, other: Table) -> Option<Table> {
        if (self.measure, self.columns) != (other.measure, other.columns) {
            return Some(other);
        }
        self.rows.extend(other.rows);
        None
    }

    /// The text of the file (RFC 4180, but for the ends of lines).
    fn csv(&self) -> String {
        let head = self.columns.join(",");
        let lines = core::iter::once(&head).chain(&self.rows);
        lines.map(|line| format!("{line}\n")).collect()
    }
}

/// A cell that has a comma or a quote, between quotes.
fn quoted(cell: &str) -> String {
    if cell.contains([',', '"', '\n']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

/// Puts `tables` behind those that there are, one for each measure.
pub fn collect(all: &mut Vec<Table>, tables: Vec<Table>) {
    for table in tables {
        let rest = all.iter_mut().try_fold(table, |table, one| one.take(table).ok_or(()));
        all.extend(rest.ok());
    }
}

/// Writes the tables of a case, `readings/<suite>/<case>/<measure>.csv.gz`.
///
/// # Errors
/// The system's, when a file cannot be written whole.
pub fn keep(out: &OutDir, id: &CaseId, tables: &[Table]) -> io::Result<Vec<TableFile>> {
    let write = |table: &Table| {
        let path = format!("readings/{}/{}/{}.csv.gz", id.suite, id.case, table.measure);
        let written = out.file(&path).and_then(|file| {
            let mut zip = Zip::new(file);
            zip.write_all(table.csv().as_bytes())?;
            zip.finish()
        });
        if let Err(error) = written {
            // Half a table is mistaken for one.
            out.remove(&path);
            return Err(io::Error::new(error.kind(), format!("{path}: {error}")));
        }
        let rows = u64::try_from(table.rows.len()).unwrap_or(u64::MAX);
        Ok(TableFile { measure: table.measure.to_owned(), path, rows })
    };
    tables.iter().filter(|table| !table.rows.is_empty()).map(write).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_one_measure_are_one_and_cells_with_commas_are_quoted() {
        let mut all = Vec::new();
        for (measure, trial) in [("a", 1), ("b", 2), ("a", 3)] {
            let mut table = Table::new(measure, &["point", "trial"]);
            table.row([&"x=1, \"y\"", &trial]);
            collect(&mut all, vec![table]);
        }
        let texts: Vec<String> = all.iter().map(Table::csv).collect();
        let row = |trial| format!("\"x=1, \"\"y\"\"\",{trial}\n");
        let (first, second) = (row(1) + &row(3), row(2));
        assert_eq!(texts, [format!("point,trial\n{first}"), format!("point,trial\n{second}")]);
    }
}
