//! A child of a test: waited for no longer than is said, and on whatever way the test ends killed with all that it has started.

use core::fmt::Debug;
use core::ops::{Deref, DerefMut};
use core::time::Duration;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::mpsc;
use std::thread;

/// How long what a killed child has said may take to come: something that has left its group may hold its output.
const SAYS: Duration = Duration::from_secs(5);

/// A child at the head of a process group of its own.
pub(crate) struct Bounded(Option<Child>);

impl Bounded {
    /// Starts it.
    pub(crate) fn start(command: &mut Command) -> Bounded {
        Bounded(Some(command.process_group(0).spawn().expect("it starts")))
    }

    /// What `wait` says of its end: `Child::wait_with_output`, or `wait` alone where what it has started may go on. One that does not come to
    /// that within `patience` is killed, and the test fails with what it had said.
    pub(crate) fn end<T: Debug + Send + 'static>(
        mut self,
        patience: Duration,
        wait: impl FnOnce(Child) -> io::Result<T> + Send + 'static,
    ) -> T {
        let child = self.0.take().expect("it has not been waited for");
        let number = child.id();
        let (done, comes) = mpsc::channel();
        thread::spawn(move || done.send(wait(child)));
        if let Ok(end) = comes.recv_timeout(patience) {
            return end.expect("it is ours");
        }
        kill(number);
        panic!("process {number} still ran after {patience:?}: {:?}", comes.recv_timeout(SAYS));
    }
}

impl Deref for Bounded {
    type Target = Child;

    fn deref(&self) -> &Child {
        self.0.as_ref().expect("it has not been waited for")
    }
}

impl DerefMut for Bounded {
    fn deref_mut(&mut self) -> &mut Child {
        self.0.as_mut().expect("it has not been waited for")
    }
}

impl Drop for Bounded {
    fn drop(&mut self) {
        if let Some(mut child) = self.0.take() {
            kill(child.id());
            let _reaped = child.wait();
        }
    }
}

/// Kills the process group that this process heads.
fn kill(head: u32) {
    let _none_left = Command::new("kill").args(["-KILL", "--", &format!("-{head}")]).status();
}
