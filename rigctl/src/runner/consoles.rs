//! What the guests of a run said on their consoles, beside the captures: a guest that was lost has no other witness.

use crate::executor::guest::consoles;
use crate::outdir::OutDir;
use crate::rights::{self, Work};
use crate::state;
use rig_lab::{Lab, Transport};
use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

/// A console that is longer is cut there: a boot says some kilobytes.
const MOST: u64 = 1 << 20;

/// Copies each boot's console from the folder of the image into `evidence/guests` of a run: `nic-1.console`. Nothing without guests, or
/// where no evidence is kept.
///
/// # Errors
/// What could not be kept, with the file's name; all else is.
pub fn keep(lab: &Lab, out: Option<&OutDir>) -> Result<(), String> {
    let (Some(out), Transport::Guests(_)) = (out, &lab.transport) else { return Ok(()) };
    let copied = consoles(&state::guest()).into_iter().map(|(boot, path)| {
        copied(&boot, &path, out).map_err(|error| format!("{}: {error}", path.display()))
    });
    let lost: Vec<String> = copied.filter_map(Result::err).collect();
    if lost.is_empty() { Ok(()) } else { Err(lost.join("; ")) }
}

fn copied(boot: &str, path: &Path, out: &OutDir) -> io::Result<()> {
    let said = {
        let _raised = rights::raise(Work::Ports);
        let mut said = Vec::new();
        File::open(path)?.take(MOST).read_to_end(&mut said)?;
        said
    };
    let mut kept = out.new_file(&format!("evidence/guests/{boot}.console"))?;
    io::copy(&mut said.as_slice(), &mut kept).map(drop)
}
