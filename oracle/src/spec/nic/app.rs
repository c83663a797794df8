//! What a message of an application waits for (Bai et al., NSDI'23, section 4): the agreed order of its messages, its credits, and chunks of which one is
//! under way at a time.

/// Where the rule comes from, for reports.
pub const SOURCE: &str = "Bai et al., NSDI'23, section 4: the order of messages, credits and static flow control of sU-RDMA and sK-RDMA";

/// Why a message waits for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitsFor {
    /// The step before it in the round.
    StepBefore,
    /// The credit that the end of an earlier round gives back.
    Credit,
    /// The chunk before it.
    ChunkBefore,
}

/// A message that has to be complete before another may begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Awaited {
    /// Of which step.
    pub step: usize,
    /// Which of its messages, from 0.
    pub message: u32,
    /// By which rule it is awaited.
    pub why: WaitsFor,
}

/// What message `message` of step `step` waits for, both from 0. `chunks`: how many messages each step is in a round; `credits`: how many rounds may have begun
/// that are not over.
pub fn awaited(chunks: &[u32], credits: u32, step: usize, message: u32) -> Vec<Awaited> {
    let Some(own) = chunks.get(step).map(|own| (*own).max(1)) else { return Vec::new() };
    // The last message of a step in a round.
    let end = |step: usize, round: u32| (round + 1) * chunks[step].max(1) - 1;
    let mut all = Vec::new();
    if own > 1 && message > 0 {
        all.push(Awaited { step, message: message - 1, why: WaitsFor::ChunkBefore });
    }
    let round = message / own;
    if !message.is_multiple_of(own) {
        return all;
    }
    match step {
        0 => {
            let last = chunks.len() - 1;
            let over = round.checked_sub(credits);
            all.extend(over.map(|over| Awaited {
                step: last,
                message: end(last, over),
                why: WaitsFor::Credit,
            }));
        }
        _ => all.push(Awaited {
            step: step - 1,
            message: end(step - 1, round),
            why: WaitsFor::StepBefore,
        }),
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_waits_for_the_step_before_it_for_a_credit_and_for_the_chunk_before_it() {
        let of = |step, message| awaited(&[1, 4, 1], 2, step, message);
        let one = |step, message, why| vec![Awaited { step, message, why }];
        assert_eq!((of(0, 0), of(0, 1)), (vec![], vec![]));
        assert_eq!(of(0, 2), one(2, 0, WaitsFor::Credit));
        assert_eq!(of(1, 0), one(0, 0, WaitsFor::StepBefore));
        assert_eq!(of(1, 3), one(1, 2, WaitsFor::ChunkBefore));
        let both = [one(1, 3, WaitsFor::ChunkBefore), one(0, 1, WaitsFor::StepBefore)].concat();
        assert_eq!(of(1, 4), both);
        assert_eq!(of(2, 5), one(1, 23, WaitsFor::StepBefore));
        assert_eq!(of(3, 0), vec![]);
    }
}
