//! The device's side of a conversation: introduces itself, then answers line by line until the other side hangs up.

use super::Post;
use crate::protocol::{self, Answer, Ask, Hello, LONGEST, QUESTION};
use std::io::{self, BufRead, Read as _, Write};
use zeroize::Zeroizing;

/// How the device talks to whoever steers it.
#[derive(Debug, Clone)]
pub struct Conversation {
    /// How it introduces itself.
    pub hello: Hello,
    /// The way to its loop.
    pub post: Post,
    /// Whether it ends with the conversation in which it was booted.
    pub until_hangup: bool,
}

impl Conversation {
    /// Talks until the other side hangs up or asks the device to end.
    ///
    /// # Errors
    /// The line broke.
    pub fn hold(&self, mut from: impl BufRead, mut to: impl Write) -> io::Result<()> {
        let mut booted = false;
        let held = self.talk(&mut from, &mut to, &mut booted);
        if booted && self.until_hangup {
            self.post.stop();
        }
        held
    }

    fn talk(
        &self,
        from: &mut impl BufRead,
        to: &mut impl Write,
        booted: &mut bool,
    ) -> io::Result<()> {
        let mut send = |line: String| {
            to.write_all(line.as_bytes())?;
            to.flush()
        };
        send(protocol::line(&self.hello))?;
        let mut say = |answer: &Answer| send(protocol::line(answer));
        loop {
            // It may hold keys.
            let mut line = Zeroizing::new(Vec::with_capacity(1 << 10));
            if from.by_ref().take(LONGEST).read_until(b'\n', &mut line)? == 0 {
                return Ok(());
            }
            if line.last() != Some(&b'\n') && line.len() as u64 == LONGEST {
                // What follows is the rest of it, so nothing more can be understood.
                return say(&bad(&format!("not {QUESTION}: no end within {LONGEST} bytes")));
            }
            match std::str::from_utf8(&line).map_err(|error| format!("not {QUESTION}: {error}")) {
                Err(why) => say(&bad(&why))?,
                Ok(text) => match protocol::read(QUESTION, text) {
                    Err(why) => say(&bad(&why.to_string()))?,
                    Ok(Ask::Quit) => {
                        // Said before it is done: afterwards nobody may be left to say it.
                        say(&Answer::Done)?;
                        self.post.stop();
                        return Ok(());
                    }
                    Ok(ask) => {
                        let boot = matches!(ask, Ask::Boot { .. });
                        let Some(answer) = self.post.ask(ask) else {
                            return say(&bad("the device has ended"));
                        };
                        *booted |= boot && matches!(answer, Answer::Booted { .. });
                        say(&answer)?;
                    }
                },
            }
        }
    }
}

fn bad(why: &str) -> Answer {
    Answer::Bad { why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::serve::served::tests::bench::Bench;
    use std::thread;

    /// What a device answers to `text`, and whether it ended because of it.
    fn answers(text: &[u8], until_hangup: bool) -> (Vec<String>, bool) {
        let mut bench = Bench::new();
        let hello = bench.served.hello();
        let conversation = Conversation { hello, post: bench.post.clone(), until_hangup };
        let post = bench.post.clone();
        let text = text.to_vec();
        let talking = thread::spawn(move || {
            let mut said = Vec::new();
            conversation.hold(&text[..], &mut said).expect("memory");
            // Answered only by a device that goes on.
            let goes_on = post.ask(Ask::Events).is_some();
            post.stop();
            (String::from_utf8(said).expect("JSON"), goes_on)
        });
        bench.served.run().expect("ports in memory");
        drop(bench);
        let (said, goes_on) = talking.join().expect("no panic");
        (said.lines().map(str::to_owned).collect(), !goes_on)
    }

    #[test]
    fn a_conversation_survives_what_it_does_not_understand() {
        let text = b"hello?\n\xff\n\n\"reboot\"\n{\"do\":{\"link\":{\"port\":9,\"up\":true}}}\n\"events\"\n";
        let (said, ended) = answers(text, true);
        let hello: Hello = protocol::read("a hello", &said[0]).expect("a hello");
        assert_eq!(hello.device, "broadcom");
        let wants = [
            "expected value at line 1 column 1",
            "invalid utf-8",
            "EOF while parsing",
            "expected one of `boot`, `configure`, `counters`, `do`, `events`, `polled`, `status`, `lateness`, `passed`, `quit`",
        ];
        for (line, want) in said[1..].iter().zip(wants) {
            assert!(line.starts_with(r#"{"bad""#) && line.contains(want), "{line}");
        }
        assert_eq!(said[5], r#"{"refused":{"why":"there is no port 9: want 0 to 3"}}"#);
        assert_eq!(said[6..], [r#"{"events":{"events":[]}}"#]);
        assert!(!ended, "nobody booted it");
    }

    #[test]
    fn a_device_ends_with_the_conversation_that_booted_it_if_it_is_told_to() {
        let boot = b"{\"boot\":{\"seed\":1}}\n";
        let refused = b"{\"boot\":{\"seed\":1,\"settings\":[{\"path\":\"x\",\"value\":1}]}}\n";
        for (text, until_hangup, ends) in [
            (&boot[..], true, true),
            (boot, false, false),
            (refused, true, false),
            (b"\"status\"\n", true, false),
            (b"\"quit\"\n\"status\"\n", false, true),
        ] {
            let (said, ended) = answers(text, until_hangup);
            assert_eq!((said.len(), ended), (2, ends), "{said:?}");
        }
    }

    #[test]
    fn a_line_without_an_end_is_not_kept() {
        let endless = vec![b' '; usize::try_from(LONGEST).unwrap() + 5];
        let (said, _) = answers(&endless, false);
        assert!(said[1].contains("no end within 1048576 bytes"), "{said:?}");
        assert_eq!(said.len(), 2);
    }
}
