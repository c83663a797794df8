//! What each trial showed where a value rests on all trials together: rows for a file beside the results.

use core::fmt::Display;

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

    /// The name of the measure.
    pub const fn measure(&self) -> &'static str {
        self.measure
    }

    /// How many rows there are.
    pub const fn row_count(&self) -> usize {
        self.rows.len()
    }

    /// The text of the file (RFC 4180, but for the ends of lines).
    pub fn csv(&self) -> String {
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
