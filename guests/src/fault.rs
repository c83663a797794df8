//! What can be wrong with a guest or the program in it, and what mends it.

use core::fmt;

/// Why a guest, or the conversation with a program in it, came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuestFault {
    /// Programs or files of this machine that are not there: each with the Debian package that has it.
    Missing(Vec<(&'static str, &'static str)>),
    /// Something was tried, and this came of it.
    Failed {
        /// What was tried: words behind "cannot".
        tried: String,
        /// What was answered.
        why: String,
    },
    /// The guest ended, or said nothing for too long; what its console said last.
    Lost {
        /// While what was asked of it.
        during: String,
        /// The last lines of its console.
        console: String,
    },
}

impl GuestFault {
    /// The packages that have what is missing, each once, with blanks between.
    pub fn packages(missing: &[(&'static str, &'static str)]) -> String {
        let mut packages: Vec<&str> = missing.iter().map(|(_, package)| *package).collect();
        packages.sort_unstable();
        packages.dedup();
        packages.join(" ")
    }

    /// That `tried` failed.
    pub fn failed(tried: impl Into<String>, why: impl fmt::Display) -> GuestFault {
        GuestFault::Failed { tried: tried.into(), why: why.to_string() }
    }
}

impl fmt::Display for GuestFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GuestFault::Missing(all) => {
                let files: Vec<&str> = all.iter().map(|(file, _)| *file).collect();
                write!(
                    f,
                    "a guest needs {}, which this machine has not: `apt-get install --no-install-recommends {}`",
                    files.join(", "),
                    GuestFault::packages(all)
                )
            }
            GuestFault::Failed { tried, why } => write!(f, "cannot {tried}: {why}"),
            GuestFault::Lost { during, console } => {
                write!(f, "the guest was lost during `{during}`; its console said last:\n{console}")
            }
        }
    }
}

impl core::error::Error for GuestFault {}
