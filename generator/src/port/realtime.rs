//! A thread that is not kept waiting: SCHED_FIFO while it carries data, the usual policy before and after.
#![expect(unsafe_code, reason = "nothing safe sets the scheduling policy of one thread")]

use nix::errno::Errno;

/// Above every usual thread, below those of the kernel that carry interrupts.
const PRIORITY: i32 = 40;

/// The calling thread runs before every usual one until this value is dropped. It has to sleep in between: a thread of
/// this kind that never does is stopped by the kernel for 50 ms in every second.
#[derive(Debug)]
pub struct RealTime(());

impl RealTime {
    /// From now on.
    ///
    /// # Errors
    /// The process may not: it needs CAP_SYS_NICE.
    pub fn enter() -> Result<RealTime, Errno> {
        set(libc::SCHED_FIFO, PRIORITY).map(|()| RealTime(()))
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        // A thread may always become a usual one.
        let _ = set(libc::SCHED_OTHER, 0);
    }
}

fn set(policy: i32, priority: i32) -> Result<(), Errno> {
    let param = libc::sched_param { sched_priority: priority };
    // SAFETY: `param` is a whole sched_param that outlives the call; 0 is the calling thread.
    let done = unsafe { libc::sched_setscheduler(0, policy, &raw const param) };
    Errno::result(done).map(|_| ())
}
