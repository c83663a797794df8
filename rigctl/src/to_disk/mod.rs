//! Captures to disk: what of the frames is kept, where, and what is told of it afterwards.
//!
//! No verdict rests on such a capture. What it leaves out is told, and changes neither a result nor the exit code.

mod folder;
mod told;

pub use folder::Folder;
pub(crate) use folder::whole;
pub use told::Told;

use crate::cli::{CaptureFlags, CaptureKind};
use nix::sys::statvfs::statvfs;
use rig_capture::deep::{CHUNKS, FrameKind, Interface, Limit, Only, Pool, Settings};
use rig_units::Bytes;
use std::path::Path;

/// What of the frames is kept, and how much of the disk it may take.
#[derive(Debug, Clone)]
pub struct Keeps {
    only: Only,
    snap: Option<Bytes>,
    limit: Limit,
    /// The limit in words.
    most: String,
    pool: Pool,
}

impl Keeps {
    /// What the flags ask for, of captures on the disk that `place` is on.
    pub fn of(flags: &CaptureFlags, place: &Path) -> Keeps {
        let kinds: Vec<FrameKind> =
            flags.capture_only.iter().copied().map(CaptureKind::kind).collect();
        let (limit, most) = match (flags.capture_limit, free(place)) {
            (Some(most), _) => (Limit::of(most), most.to_string()),
            // Results and the rest of the machine need the disk, too.
            (None, Some(Bytes(free))) => {
                let most = free / 10 * 9;
                (
                    Limit::of(Bytes(most)),
                    format!("nine tenths of what was free, {}MB", most / 1_000_000),
                )
            }
            (None, None) => (Limit::NONE, String::new()),
        };
        let pool = Pool::default();
        Keeps { only: Only::of(&kinds), snap: flags.capture_snap, limit, most, pool }
    }

    /// The settings of one capture.
    pub fn settings(&self, about: String, interfaces: Vec<Interface>) -> Settings {
        Settings {
            about,
            interfaces,
            only: self.only,
            snap: self.snap,
            limit: self.limit.clone(),
            burst: rig_generator::BATCH,
            chunks: CHUNKS,
            pool: self.pool.clone(),
        }
    }
}

/// What is free on the disk that `place` is on, to those who are not root; `None` when the system does not say.
fn free(place: &Path) -> Option<Bytes> {
    let disk = statvfs(place).ok()?;
    disk.blocks_available().checked_mul(disk.fragment_size()).map(Bytes)
}
