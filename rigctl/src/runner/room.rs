//! How much evidence a run may leave behind. Room is given away in catalogue order, whatever finished first, so that the
//! same captures are kept however many cases run side by side.

use crate::outdir::OutDir;
use rig_reports::{CaseReport, EvidenceFile, LeftOut};
use rig_units::Bytes;

/// Of the room, captures that no finding cites get three quarters: a failure near the end of the catalogue is seen, too.
const UNCITED: (u64, u64) = (3, 4);

/// What is left of it.
#[derive(Debug)]
pub struct Room {
    limit: Option<Bytes>,
    used: u64,
}

impl Room {
    /// Room for so much, or for all.
    pub const fn new(limit: Option<Bytes>) -> Room {
        Room { limit, used: 0 }
    }

    /// Takes the captures of the next case in the order of the catalogue: those that findings cite first. What does not
    /// fit is taken away again, and the report says so.
    pub fn settle(&mut self, out: &OutDir, report: &mut CaseReport) {
        let Some(Bytes(limit)) = self.limit else { return };
        let cited = super::evidence::cited_trials(report);
        let (first, rest): (Vec<EvidenceFile>, Vec<EvidenceFile>) =
            report.evidence.drain(..).partition(|file| cited.contains(&file.trial));
        for (file, cited) in
            first.into_iter().map(|file| (file, true)).chain(rest.into_iter().map(|f| (f, false)))
        {
            let most = if cited { limit } else { limit / UNCITED.1 * UNCITED.0 };
            if self.used.saturating_add(file.bytes) <= most {
                self.used += file.bytes;
                report.evidence.push(file);
                continue;
            }
            out.remove(&file.path);
            let EvidenceFile { trial, bytes, .. } = file;
            report.evidence_left_out.push(LeftOut { trial, bytes, cited });
        }
        report.evidence.sort_by_key(|file| file.trial);
        report.evidence_left_out.sort_by_key(|left| left.trial);
    }
}
