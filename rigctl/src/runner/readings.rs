//! Files of what each trial showed, beside the results, packed as captures are.

use crate::outdir::OutDir;
use rig_capture::pcapng::Zip;
use rig_oracle::trials::table::Table;
use rig_reports::TableFile;
use rig_testcases::CaseId;
use std::io::{self, Write};

/// Writes the tables of a case, `readings/<suite>/<case>/<measure>.csv.gz`.
///
/// # Errors
/// The system's, when a file cannot be written whole.
pub fn keep(out: &OutDir, id: &CaseId, tables: &[Table]) -> io::Result<Vec<TableFile>> {
    let write = |table: &Table| {
        let path = format!("readings/{}/{}/{}.csv.gz", id.suite, id.case, table.measure());
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
        let rows = u64::try_from(table.row_count()).unwrap_or(u64::MAX);
        Ok(TableFile { measure: table.measure().to_owned(), path, rows })
    };
    tables.iter().filter(|table| table.row_count() > 0).map(write).collect()
}
