//! Which captures are kept, and where.

use super::case::Ran;
use crate::cli::Keep;
use crate::outdir::OutDir;
use std::io;

/// Writes the captures of a case that are to be kept, and notes them in its report.
///
/// # Errors
/// The system's, when a file cannot be written whole.
pub fn keep(_keep: Keep, _out: &OutDir, _ran: &mut Ran) -> io::Result<()> {
    Ok(())
}
