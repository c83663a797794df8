//! Who may talk to a device: its own user and root, as the kernel names them, and one at a time.

use core::fmt;
use core::time::Duration;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{getsockopt, sockopt};
use nix::unistd::geteuid;
use std::fs;
use std::io;
use std::net::Shutdown;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How long a conversation may take to end whose line is cut. It ends when the device has answered what it was asked last.
const PATIENCE: Duration = Duration::from_secs(5);

/// A process at the other end of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Visitor {
    /// Its number; 0 when it is in no process namespace that this one sees.
    pub(super) pid: i32,
    /// Whose it is.
    pub(super) uid: u32,
    program: String,
}

impl Visitor {
    /// Who called.
    ///
    /// # Errors
    /// The kernel does not say.
    pub(super) fn of(line: &UnixStream) -> io::Result<Visitor> {
        let peer = getsockopt(line, sockopt::PeerCredentials)?;
        let program = fs::read_to_string(format!("/proc/{}/comm", peer.pid())).unwrap_or_default();
        Ok(Visitor { pid: peer.pid(), uid: peer.uid(), program })
    }

    /// Whether it is of the user that this process is, or root.
    pub(super) fn may_enter(&self) -> bool {
        self.uid == geteuid().as_raw() || self.uid == 0
    }
}

impl fmt::Display for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = self.program.trim_end().escape_debug();
        write!(f, "process {} ({program}) of user {}", self.pid, self.uid)
    }
}

/// The place of the one that the device talks to.
#[derive(Debug, Default)]
pub(super) struct Seat {
    taken: Mutex<Option<(Visitor, UnixStream)>>,
    free: Condvar,
}

impl Seat {
    /// Takes it for `visitor`, whose line is `line`. Who has hung up does not have it any more; with `over` nobody else has,
    /// and the line of who had it is cut.
    ///
    /// # Errors
    /// Who has it.
    pub(super) fn take(
        &self,
        visitor: &Visitor,
        line: UnixStream,
        over: bool,
    ) -> Result<(), Visitor> {
        let mut taken = self.taken();
        if let Some((who, theirs)) = &*taken {
            if over {
                // One that has gone already needs no cutting.
                let _gone = theirs.shutdown(Shutdown::Both);
            } else if !has_hung_up(theirs) {
                return Err(who.clone());
            }
            let waited = self.free.wait_timeout_while(taken, PATIENCE, |taken| taken.is_some());
            taken = waited.map_or_else(|poisoned| poisoned.into_inner().0, |(taken, _)| taken);
            if let Some((who, _)) = &*taken {
                return Err(who.clone());
            }
        }
        *taken = Some((visitor.clone(), line));
        Ok(())
    }

    /// The conversation is over. Called before its line ends, so that who sees that end finds the place free.
    pub(super) fn leave(&self) {
        *self.taken() = None;
        self.free.notify_all();
    }

    fn taken(&self) -> MutexGuard<'_, Option<(Visitor, UnixStream)>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether the other end is closed.
fn has_hung_up(line: &UnixStream) -> bool {
    let mut asked = [PollFd::new(line.as_fd(), PollFlags::empty())];
    let polled = poll(&mut asked, PollTimeout::ZERO);
    polled.is_ok() && asked[0].revents().is_some_and(|seen| seen.contains(PollFlags::POLLHUP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    fn line() -> (UnixStream, UnixStream, Visitor) {
        let (own, other) = UnixStream::pair().expect("sockets");
        let visitor = Visitor::of(&own).expect("the kernel knows");
        (own, other, visitor)
    }

    #[test]
    fn the_kernel_names_who_calls_and_only_the_own_user_and_root_may_enter() {
        let (_own, _other, visitor) = line();
        assert_eq!(u32::try_from(visitor.pid), Ok(std::process::id()));
        assert_eq!(visitor.uid, geteuid().as_raw());
        assert!(visitor.may_enter() && Visitor { uid: 0, ..visitor.clone() }.may_enter());
        assert!(!Visitor { uid: visitor.uid + 4_242, ..visitor.clone() }.may_enter());
        let odd = Visitor { pid: 7, uid: 8, program: "a\u{1b}[2J\n".to_owned() };
        assert!(!odd.to_string().contains('\u{1b}'), "{odd}");
    }

    #[test]
    fn a_second_one_waits_for_the_end_of_the_first_or_takes_over() {
        let seat = Arc::new(Seat::default());
        let (first, firsts, visitor) = line();
        assert_eq!(seat.take(&visitor, first.try_clone().expect("a socket"), false), Ok(()));
        let (second, _seconds, _) = line();
        let second = || second.try_clone().expect("a socket");
        assert_eq!(seat.take(&visitor, second(), false), Err(visitor.clone()));
        // Cut off, the first one's conversation ends.
        let leaves = Arc::clone(&seat);
        let talk = thread::spawn(move || {
            let read = io::Read::read(&mut &first, &mut [0]);
            leaves.leave();
            read.expect("its end")
        });
        assert_eq!(seat.take(&visitor, second(), true), Ok(()));
        assert_eq!(talk.join().expect("no panic"), 0);
        drop(firsts);
        seat.leave();
        assert_eq!(seat.take(&visitor, second(), false), Ok(()));
    }

    #[test]
    fn who_has_hung_up_does_not_keep_others_out() {
        let (own, other, _) = line();
        assert!(!has_hung_up(&own));
        other.shutdown(Shutdown::Write).expect("a socket");
        assert!(!has_hung_up(&own), "it still listens");
        drop(other);
        assert!(has_hung_up(&own));
    }
}
