//! Keys in the memory of this process, and who could read them there.

use crate::stderr;
use nix::sys::prctl;

/// From here on the kernel writes no dump of this process's memory, and lets nobody but root trace it.
pub fn no_dumps() {
    if let Err(errno) = prctl::set_dumpable(false) {
        stderr::line(&format!(
            "note: a dump of this process would show the keys of the lab, and the kernel does not refuse one: {errno}"
        ));
    }
}
