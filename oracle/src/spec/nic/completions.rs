//! When a request is posted, complete and polled, and in which bucket of a histogram its latencies are (`docs/nic.md`, "Completions").

use rig_capture::{CompletionStatus, LATENCY_BUCKETS, Operation};
use rig_lab::{Estats, Rc};
use rig_testcases::Verb;
use rig_units::{Dur, Ppm, Time, Within};

/// Where the instants and the histograms are defined.
pub const SOURCE: &str =
    "Bai et al., NSDI'23, section 5: RDMA Estats; IBTA volume 1, 10.7.3 and 11.6.2";

/// What is declared of a host that tells of completions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Teller {
    /// From what ends a message to its completion.
    pub latency: Within,
    /// From one poll to the next.
    pub poll: Dur,
    /// Messages that are posted and not polled.
    pub depth: u64,
    /// For how long a histogram counts.
    pub window: Dur,
    /// How far off a completion's instant may be told.
    pub off: Dur,
}

impl Teller {
    /// As a NIC and its host are declared; `None` where nothing is.
    pub fn declared(estats: &Estats) -> Option<Teller> {
        let Estats { latency, poll, depth, window, sync, drift } = *estats;
        Some(Teller {
            latency: latency?,
            poll: poll?,
            depth: depth?.into(),
            window: window?,
            off: drifted(sync?, drift?),
        })
    }
}

/// How far a clock drifts that was looked at `sync` ago, at most; what is told of it is rounded, besides.
fn drifted(sync: Dur, drift: Ppm) -> Dur {
    sync.scaled(drift.0.into(), 1_000_000) + Dur(2)
}

/// The bucket of a latency: the first whose bound it is below, of 1 us, 2 us, 4 us and so on, or the last.
pub fn bucket(took: Dur) -> usize {
    let mut bound = Dur::us(1);
    for bucket in 0..LATENCY_BUCKETS - 1 {
        if took < bound {
            return bucket;
        }
        bound = bound * 2;
    }
    LATENCY_BUCKETS - 1
}

/// In which window an instant of the session is.
pub fn window(at: Time, length: Dur) -> u64 {
    at.elapsed() / length
}

/// What the messages of a flow are counted as; `None` of what nobody acknowledges.
pub const fn operation(verb: Verb) -> Option<Operation> {
    match verb {
        Verb::Send | Verb::SendRegistered | Verb::SendImmediate | Verb::SendInvalidate => {
            Some(Operation::Send)
        }
        Verb::Write | Verb::WriteImmediate => Some(Operation::Write),
        Verb::Read => Some(Operation::Read),
        Verb::FetchAdd | Verb::CompareSwap => Some(Operation::Atomic),
        Verb::SendUnreliable | Verb::WriteUnreliable | Verb::Datagram => None,
    }
}

/// How the message ends at which a connection is given up, where the receiver said so often that it is not ready and nothing else since.
pub fn given_up(rc: &Rc, refusals: u64) -> CompletionStatus {
    let most = rc.rnr_retries.unwrap_or(7);
    match most < 7 && refusals > most.into() {
        true => CompletionStatus::RnrRetryExceeded,
        false => CompletionStatus::RetryExceeded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_latency_is_in_the_first_bucket_whose_bound_it_is_below() {
        for (took, want) in [
            (Dur::ZERO, 0),
            (Dur(999_999), 0),
            (Dur::us(1), 1),
            (Dur(1_999_999), 1),
            (Dur::us(2), 2),
            (Dur::us(16_383), 14),
            (Dur::us(16_384), 15),
            (Dur::s(1), 15),
        ] {
            assert_eq!(bucket(took), want, "{took}");
        }
    }

    #[test]
    fn a_clock_that_is_looked_at_is_as_far_off_as_it_drifts_until_it_is_again() {
        assert_eq!(drifted(Dur::ms(1), Ppm(100)), Dur(100_002));
    }

    #[test]
    fn whoever_was_refused_once_more_than_it_tries_gave_up_for_that() {
        let rc = Rc { rnr_retries: Some(2), ..rig_lab::Nic::quiet().rc };
        assert_eq!(given_up(&rc, 2), CompletionStatus::RetryExceeded);
        assert_eq!(given_up(&rc, 3), CompletionStatus::RnrRetryExceeded);
        let rc = Rc { rnr_retries: Some(7), ..rc };
        assert_eq!(given_up(&rc, 30), CompletionStatus::RetryExceeded);
    }
}
