//! Waiting for what a guest says: for as long as it may be silent, and hardly any longer once somebody has asked for the end.

use core::fmt;
use core::time::Duration;
use std::sync::mpsc::{Receiver, RecvTimeoutError};

/// How often it is looked whether somebody asked for the end.
const LOOKS: Duration = Duration::from_millis(50);
/// As often it is looked once more then, a second in all: a guest that has a processor has answered by then, and can be left in order.
const GRACE: u32 = 20;

/// Who may ask for the end while something is waited for.
pub trait AsksToEnd: fmt::Debug + Send + Sync {
    /// Whether somebody has.
    fn is_asked(&self) -> bool;
}

/// Nobody ever does.
#[derive(Debug, Clone, Copy)]
pub struct NeverAsked;

impl AsksToEnd for NeverAsked {
    fn is_asked(&self) -> bool {
        false
    }
}

/// Why there is no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// The guest has ended, or was silent for too long.
    Silent,
    /// Somebody asked for the end, and it did not answer in the second that it was still given.
    Ended,
}

/// The lines of an answer and the status that it ends with. Each line may take as long as `patience`.
pub(crate) fn answer(
    said: &Receiver<String>,
    patience: Duration,
    end: &dyn AsksToEnd,
) -> Result<(Vec<String>, String), Unanswered> {
    let (mut lines, mut waited, mut grace) = (Vec::new(), Duration::ZERO, GRACE);
    loop {
        match said.recv_timeout(LOOKS.min(patience)) {
            Ok(line) => {
                waited = Duration::ZERO;
                if let Some(text) = line.strip_prefix('|') {
                    lines.push(text.to_owned());
                } else if let Some(status) = line.strip_prefix('=') {
                    return Ok((lines, status.trim().to_owned()));
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Err(Unanswered::Silent),
            Err(RecvTimeoutError::Timeout) => {
                waited += LOOKS;
                if end.is_asked() {
                    grace -= 1;
                }
                if grace == 0 {
                    return Err(Unanswered::Ended);
                }
                if waited >= patience {
                    return Err(Unanswered::Silent);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc;

    const LONG: Duration = Duration::from_secs(10);

    /// Asks for the end from the third look on, and counts the looks.
    #[derive(Debug, Default)]
    struct FromTheThird(AtomicU32);

    impl AsksToEnd for FromTheThird {
        fn is_asked(&self) -> bool {
            self.0.fetch_add(1, Ordering::Relaxed) >= 2
        }
    }

    #[derive(Debug)]
    struct Asked;

    impl AsksToEnd for Asked {
        fn is_asked(&self) -> bool {
            true
        }
    }

    #[test]
    fn a_guest_that_says_nothing_is_waited_for_a_second_once_the_end_is_asked_for() {
        let (_silent, said) = mpsc::channel();
        let end = FromTheThird::default();
        assert_eq!(answer(&said, LONG, &end), Err(Unanswered::Ended));
        assert_eq!(end.0.into_inner(), 2 + GRACE, "it may still answer");
        assert_eq!(LOOKS * GRACE, Duration::from_secs(1));
    }

    #[test]
    fn an_answer_that_is_there_is_taken_though_the_end_is_asked_for() {
        let (say, said) = mpsc::channel();
        for line in ["|one", "noise", "=0 "] {
            say.send(line.to_owned()).expect("heard");
        }
        assert_eq!(answer(&said, LONG, &Asked), Ok((vec!["one".to_owned()], "0".to_owned())));
    }

    #[test]
    fn a_guest_that_is_gone_or_silent_for_too_long_is_lost() {
        let (say, said) = mpsc::channel::<String>();
        let little = Duration::from_millis(60);
        assert_eq!(answer(&said, little, &NeverAsked), Err(Unanswered::Silent));
        drop(say);
        assert_eq!(answer(&said, LONG, &NeverAsked), Err(Unanswered::Silent));
    }
}
