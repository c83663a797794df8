//! A thread that stays on one processor.

use nix::errno::Errno;
use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

/// The calling thread stays on one processor until this value is dropped.
#[derive(Debug)]
pub struct Pinned {
    before: CpuSet,
}

impl Pinned {
    /// On processor `cpu`.
    ///
    /// # Errors
    /// There is none of that number, or the process may not use it.
    pub fn to(cpu: usize) -> Result<Pinned, Errno> {
        let before = sched_getaffinity(this())?;
        let mut only = CpuSet::new();
        only.set(cpu)?;
        sched_setaffinity(this(), &only)?;
        Ok(Pinned { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // What it was before is allowed.
        let _ = sched_setaffinity(this(), &self.before);
    }
}

/// The processors that the calling thread may use, by number.
///
/// # Errors
/// The kernel does not say.
pub fn cpus() -> Result<Vec<usize>, Errno> {
    let set = sched_getaffinity(this())?;
    Ok((0..CpuSet::count()).filter(|&cpu| set.is_set(cpu) == Ok(true)).collect())
}

/// The calling thread.
const fn this() -> Pid {
    Pid::from_raw(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_where_it_was_put_and_afterwards_where_it_likes() {
        let before = cpus().expect("a set");
        let last = *before.last().expect("one that runs this");
        let pinned = Pinned::to(last).expect("allowed");
        assert_eq!(cpus(), Ok(vec![last]));
        drop(pinned);
        assert_eq!(cpus(), Ok(before));
        assert!(Pinned::to(CpuSet::count() + 1).is_err());
    }
}
