//! How questions reach the loop that carries frames: in letters, with a bell that wakes it.

use crate::protocol::{Answer, Ask};
use core::fmt;
use rig_generator::port::{PortError, Receive, Stamp, Stats};
use rig_units::Dur;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};

/// One question, and where its answer goes.
#[derive(Debug)]
pub(super) struct Letter {
    pub(super) ask: Ask,
    pub(super) reply: Sender<Answer>,
}

/// Called as something has happened in the device, on the thread that carries its frames: it may not wait.
pub type Herald = Box<dyn Fn() + Send>;

/// Who is told; nobody at first.
#[derive(Clone, Default)]
struct Heralds(Arc<Mutex<Option<Herald>>>);

impl fmt::Debug for Heralds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Heralds")
    }
}

/// The side that asks; any number of threads may hold one.
#[derive(Debug, Clone)]
pub struct Post {
    letters: Sender<Letter>,
    rope: Arc<UnixStream>,
    heralds: Heralds,
}

/// The side that answers.
#[derive(Debug)]
pub(super) struct Mailbox {
    letters: Receiver<Letter>,
    heralds: Heralds,
    pub(super) bell: Bell,
    /// A bell whose last rope is gone would ring for ever.
    #[expect(dead_code, reason = "held, never pulled")]
    rope: Arc<UnixStream>,
}

/// Something to sleep by beside the ports: a port that never has a frame, and becomes readable when there is a letter.
#[derive(Debug)]
pub(super) struct Bell(UnixStream);

/// Both sides.
///
/// # Errors
/// When the system has no sockets left.
pub(super) fn mailbox() -> io::Result<(Post, Mailbox)> {
    let (rope, bell) = UnixStream::pair()?;
    rope.set_nonblocking(true)?;
    bell.set_nonblocking(true)?;
    let (sender, receiver) = channel();
    let rope = Arc::new(rope);
    let heralds = Heralds::default();
    let post = Post { letters: sender, rope: Arc::clone(&rope), heralds: heralds.clone() };
    Ok((post, Mailbox { letters: receiver, heralds, bell: Bell(bell), rope }))
}

impl Post {
    /// Asks and waits for the answer; `None` when the device has ended.
    pub fn ask(&self, ask: Ask) -> Option<Answer> {
        let (reply, answer) = channel();
        self.letters.send(Letter { ask, reply }).ok()?;
        self.ring();
        answer.recv().ok()
    }

    /// From now on this one is told as the device's watchdogs have acted, in place of whoever was: once for all that they did at once.
    pub fn tells(&self, herald: Herald) {
        *self.heralds.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(herald);
    }

    /// Ends the device, without waiting for it.
    pub fn stop(&self) {
        let (reply, _nobody) = channel();
        if self.letters.send(Letter { ask: Ask::Quit, reply }).is_ok() {
            self.ring();
        }
    }

    fn ring(&self) {
        // A rope that takes no more has been pulled often enough.
        let _full = (&*self.rope).write(&[1]);
    }
}

impl Mailbox {
    /// The next letter, if there is one.
    pub(super) fn take(&mut self) -> Option<Letter> {
        self.letters.try_recv().ok()
    }

    /// Tells whoever wants to know that something has happened.
    pub(super) fn herald(&self) {
        if let Some(herald) = &*self.heralds.0.lock().unwrap_or_else(PoisonError::into_inner) {
            herald();
        }
    }
}

impl Receive for Bell {
    /// Stops ringing.
    fn poll(&mut self, _: &mut dyn FnMut(&[u8], Stamp)) -> Result<usize, PortError> {
        let mut bytes = [0; 64];
        while self.0.read(&mut bytes).is_ok_and(|len| len == bytes.len()) {}
        Ok(0)
    }

    fn wait(&mut self, timeout: Dur) -> Result<bool, PortError> {
        rig_generator::port::wait_any(&[self], timeout)
    }

    fn fds(&self) -> Vec<BorrowedFd<'_>> {
        vec![self.0.as_fd()]
    }

    fn stats(&self) -> Result<Stats, PortError> {
        Ok(Stats::default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn a_letter_rings_until_the_bell_is_stopped_and_its_answer_finds_the_way_back() {
        let (post, mut mailbox) = mailbox().expect("sockets");
        assert_eq!(mailbox.bell.wait(Dur::ZERO), Ok(false));
        let asking = thread::spawn(move || post.ask(Ask::Events));
        assert_eq!(mailbox.bell.wait(Dur::s(10)), Ok(true));
        let letter = mailbox.take().expect("a letter");
        assert_eq!(letter.ask, Ask::Events);
        letter.reply.send(Answer::Done).expect("somebody waits");
        assert_eq!(asking.join().expect("no panic"), Some(Answer::Done));
        mailbox.bell.poll(&mut |_, _| {}).expect("a bell");
        assert_eq!(mailbox.bell.wait(Dur::ZERO), Ok(false));
    }

    #[test]
    fn a_full_rope_stops_nobody() {
        let (post, mut mailbox) = mailbox().expect("sockets");
        for _ in 0..100_000 {
            post.stop();
        }
        mailbox.bell.poll(&mut |_, _| {}).expect("a bell");
        assert_eq!(mailbox.bell.wait(Dur::ZERO), Ok(false));
    }

    #[test]
    fn who_asks_a_device_that_has_ended_is_told() {
        let (post, mailbox) = mailbox().expect("sockets");
        drop(mailbox);
        assert_eq!(post.ask(Ask::Events), None);
        post.stop();
    }
}
