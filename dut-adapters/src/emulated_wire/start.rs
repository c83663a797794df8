//! The time until a process that was started says that it serves a device.

use core::time::Duration;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;

/// Waits until something was said, as long as somebody waits for it.
pub(super) fn said_within(
    stream: &UnixStream,
    most: Duration,
    waits: &dyn Fn() -> bool,
) -> io::Result<()> {
    /// How soon it is noticed that nobody does.
    const LOOKS: Duration = Duration::from_millis(50);
    let looks = most.as_millis() / LOOKS.as_millis();
    let look = PollTimeout::try_from(LOOKS).unwrap_or(PollTimeout::ZERO);
    for _ in 0..looks {
        let mut line = [PollFd::new(stream.as_fd(), PollFlags::POLLIN)];
        match poll(&mut line, look) {
            Ok(0) | Err(Errno::EINTR) if !waits() => {
                return Err(io::Error::other("nobody waits for it any more"));
            }
            Ok(0) | Err(Errno::EINTR) => {}
            Ok(_) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}
