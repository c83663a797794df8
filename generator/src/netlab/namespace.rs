//! Network namespaces without names.

use core::fmt;
use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::MetadataExt as _;
use std::panic::resume_unwind;
use std::thread;

/// A network namespace of its own: no interface but a loopback that is down, and no IPv6, so that nothing but what the
/// rig sends is on its wires.
#[derive(Debug)]
pub struct Namespace(File);

/// A lab that cannot be built.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LabError {
    /// What was tried.
    pub tried: String,
    /// The kernel's answer.
    pub errno: Errno,
}

impl LabError {
    /// Whether the process may not do this, as opposed to something being wrong with it.
    pub fn is_permission(&self) -> bool {
        matches!(self.errno, Errno::EPERM | Errno::EACCES)
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot {}: {}", self.tried, self.errno)?;
        if self.is_permission() {
            f.write_str(": needs CAP_SYS_ADMIN and CAP_NET_ADMIN; run with sudo")?;
        }
        Ok(())
    }
}

impl core::error::Error for LabError {}

impl Namespace {
    /// A new one. The calling thread stays where it is.
    ///
    /// # Errors
    /// The process may not make one.
    pub fn new() -> Result<Namespace, LabError> {
        on_a_thread_of_its_own(|| {
            let failed = |errno| failed("make a network namespace", errno);
            unshare(CloneFlags::CLONE_NEWNET).map_err(failed)?;
            let own = File::open("/proc/thread-self/ns/net");
            let own = own.map_err(|error| failed(Errno::try_from(error).unwrap_or(Errno::EIO)))?;
            for conf in ["default", "all"] {
                // Where the file is missing so is IPv6.
                let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{conf}/disable_ipv6"), "1");
            }
            Ok(Namespace(own))
        })
    }

    /// The one that a process is in.
    ///
    /// # Errors
    /// There is no such process, or it is someone else's.
    pub fn of_process(pid: u32) -> Result<Namespace, LabError> {
        let own = File::open(format!("/proc/{pid}/ns/net"));
        own.map(Namespace).map_err(|error| {
            let errno = Errno::try_from(error).unwrap_or(Errno::EIO);
            failed(&format!("find the network namespace of process {pid}"), errno)
        })
    }

    /// Does `work` on a thread inside the namespace. Sockets and ports that it opens stay in the namespace, on
    /// whichever thread they are used later.
    ///
    /// # Errors
    /// The process may not enter.
    pub fn run<T: Send>(&self, work: impl FnOnce() -> T + Send) -> Result<T, LabError> {
        on_a_thread_of_its_own(|| self.enter().map(|()| work()))
    }

    /// The calling thread is inside from here on, and of no use for anything outside.
    ///
    /// # Errors
    /// The process may not enter.
    pub fn enter(&self) -> Result<(), LabError> {
        setns(&self.0, CloneFlags::CLONE_NEWNET)
            .map_err(|errno| failed("enter a network namespace", errno))
    }

    /// The kernel's number of it: no two that are there at once have the same.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn number(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.ino())
    }

    /// The descriptor that stands for it.
    pub(super) fn raw(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

fn failed(tried: &str, errno: Errno) -> LabError {
    LabError { tried: tried.to_owned(), errno }
}

/// A thread that has changed its namespace is of no use for anything else.
fn on_a_thread_of_its_own<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join().unwrap_or_else(|panic| resume_unwind(panic)))
}
