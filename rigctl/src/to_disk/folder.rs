//! The captures of a run: a file for each trial, in a folder for each case.

use super::{Keeps, Told};
use crate::cli::CaptureFlags;
use crate::folder::{self, Refused};
use crate::wall;
use rig_capture::deep::{Capture, Ended, Interface, Summary, Why};
use rig_testcases::CaseId;
use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Where the captures of a run go.
#[derive(Debug)]
pub struct Folder {
    folder: folder::Folder,
    keeps: Keeps,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    files: u64,
    frames: u64,
    /// What is missing, a line for each reason of each trial; not told yet.
    notes: Vec<String>,
}

impl Folder {
    /// Makes the folder; a run that is there is moved away where `overwrite` allows it, and where to is told.
    ///
    /// # Errors
    /// What cannot be made, and what is not to be touched.
    pub fn create(
        path: &Path,
        overwrite: bool,
        flags: &CaptureFlags,
    ) -> Result<(Folder, Option<String>), Refused> {
        let (folder, moved) = folder::Folder::make(path, "--capture", overwrite)?;
        let keeps = Keeps::of(flags, path);
        Ok((Folder { folder, keeps, state: Mutex::default() }, moved))
    }

    /// Takes the folder away again: nothing was run.
    pub fn abandon(self) {
        self.folder.abandon();
    }

    /// Begins the file of a trial; `None` when it cannot be made, which is noted.
    pub fn begin(&self, id: &CaseId, trial: u32, interfaces: Vec<Interface>) -> Option<Capture> {
        let place = self.place(id, trial);
        if self.keeps.limit.is_reached() {
            let why = format!("not captured: the limit is reached ({})", self.keeps.most);
            self.note(id, trial, &why);
            return None;
        }
        let about = format!(
            "{id}, trial {trial}, begun {}\ntimestamps start with the trial; frames in the order in which the rig saw them",
            wall::now_rfc3339()
        );
        let capture = self
            .folder
            .file(&name(id, trial))
            .and_then(|file| Capture::begin(file, &self.keeps.settings(about, interfaces)));
        match capture {
            Ok(capture) => Some(capture),
            Err(error) => {
                self.note(id, trial, &format!("not captured: {}: {error}", place.display()));
                None
            }
        }
    }

    /// Takes away the file of a trial that was broken off.
    pub fn drop_trial(&self, id: &CaseId, trial: u32, capture: Capture) {
        capture.finish();
        self.folder.remove(&name(id, trial));
    }

    /// Ends the file of a trial, and notes what is missing in it.
    pub fn end(&self, id: &CaseId, trial: u32, capture: Capture) {
        let place = self.place(id, trial);
        let summary = capture.finish();
        whole(&place, &summary);
        let file = place.display().to_string();
        let told = Told::of(file, &summary, &self.keeps);
        for lack in &told.lacks {
            self.note(id, trial, &format!("{}: {lack}", told.file));
        }
        let mut state = self.state();
        state.files += 1;
        state.frames += told.recorded;
    }

    /// What is missing, since this was last asked.
    pub fn notes(&self) -> Vec<String> {
        core::mem::take(&mut self.state().notes)
    }

    /// What there is: `24690 frames in 12 files under DIR`.
    pub fn total(&self) -> String {
        let State { files, frames, .. } = *self.state();
        format!("{frames} frames in {files} files under {}", self.folder.path().display())
    }

    fn place(&self, id: &CaseId, trial: u32) -> PathBuf {
        self.folder.path().join(name(id, trial))
    }

    fn note(&self, id: &CaseId, trial: u32, what: &str) {
        self.state().notes.push(format!("{id}, trial {trial}: {what}"));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn name(CaseId { suite, case }: &CaseId, trial: u32) -> String {
    format!("{suite}/{case}/{trial:04}.pcapng")
}

/// Takes the piece of a block off the end of a file that a full disk has left there: without it the file is a valid one.
pub(crate) fn whole(place: &Path, summary: &Summary) {
    if let (Some(Ended { why: Why::Refused(_), .. }), 1..) = (&summary.ended, summary.bytes) {
        let file = OpenOptions::new().write(true).open(place);
        // Where this cannot be done either, readers tell where the file breaks off.
        let _as_good_as_it_gets = file.and_then(|file| file.set_len(summary.bytes));
    }
}
