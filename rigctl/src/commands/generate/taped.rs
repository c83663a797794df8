//! Streams by hand with every frame that passes the port onto a disk.

use super::tally::Tally;
use crate::cli::GenArgs;
use crate::folder::takes_capture;
use crate::to_disk::{Keeps, Told, whole};
use rig_capture::deep::{Capture, Interface};
use rig_generator::port::StampedBy;
use rig_generator::{Departure, Fine, Watcher};
use rig_units::{PortSpeed, Time};
use std::fs::File;
use std::path::{Path, PathBuf};

/// The file, before anything is sent.
#[derive(Debug)]
pub(super) struct Disk {
    path: PathBuf,
    file: File,
    keeps: Keeps,
}

/// The capture under way, or over.
#[derive(Debug)]
pub(super) struct Taping {
    path: PathBuf,
    keeps: Keeps,
    capture: Capture,
}

impl Disk {
    /// Makes the file, if one is asked for.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn create(args: &GenArgs) -> Result<Option<Disk>, String> {
        let Some(path) = &args.capture else { return Ok(None) };
        let file = takes_capture(path).and_then(|()| File::create(path)).map_err(|error| {
            format!("`--capture {}`: {error}\n   = want: a file that can be made", path.display())
        })?;
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        let keeps = Keeps::of(&args.keeps, folder.unwrap_or(Path::new(".")));
        Ok(Some(Disk { path: path.clone(), file, keeps }))
    }

    /// Begins to write. The thread that does has the priority of this one: usual as yet.
    ///
    /// # Errors
    /// The disk has no room even for the beginning.
    pub(super) fn begin(
        self,
        port: &str,
        speed: PortSpeed,
        clock: &Fine,
    ) -> Result<Taping, String> {
        let Disk { path, file, keeps } = self;
        let ns = clock.error().0.div_ceil(1_000);
        let interface = Interface {
            name: port.to_owned(),
            description: String::new(),
            speed,
            clock: format!(
                "{} since the port was opened, within {ns}ns of CLOCK_MONOTONIC; a frame that was sent stands at its last \
                 bit, as it leaves a port that takes it at once",
                clock.counter()
            ),
        };
        let about = "streams sent by hand with rigctl gen, and what arrived meanwhile".to_owned();
        let capture = Capture::begin(file, &keeps.settings(about, vec![interface]));
        let capture = capture.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Taping { path, keeps, capture })
    }
}

impl Taping {
    /// Ends the file; what it came to. `missed` frames were lost at the port.
    pub(super) fn finish(mut self, missed: u64) -> Told {
        self.capture.missed(0, missed);
        let summary = self.capture.finish();
        whole(&self.path, &summary);
        Told::of(self.path.display().to_string(), &summary, &self.keeps)
    }
}

/// Listens to a port and writes down what it hears.
#[derive(Debug)]
pub(super) struct Taped {
    pub(super) tally: Tally,
    pub(super) taping: Taping,
}

impl Watcher for Taped {
    fn sent(&mut self, port: u16, departure: &Departure, at: Time, gone: Time) {
        self.tally.sent(port, departure, at, gone);
        let took = departure.end.since(departure.start).unwrap_or_default();
        self.taping.capture.sent(at + took);
    }

    fn received(&mut self, port: u16, frame: &[u8], at: Time, by: StampedBy) {
        self.tally.received(port, frame, at, by);
        self.taping.capture.received(port, at, frame);
    }

    fn reads(&self) -> bool {
        true
    }

    fn wrote(&mut self, port: u16, frame: &[u8]) {
        self.taping.capture.wrote(port, frame);
    }
}
