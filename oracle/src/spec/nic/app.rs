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
    /// The chunk that is as many before it as may be under way.
    ChunkBefore,
    /// A registered buffer, which the end of an earlier round gives back.
    Buffer,
    /// What its end sends before it by the same queue pair: that has to have left.
    QueueBefore,
}

/// A step of an application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepShape {
    /// How many messages it is in a round.
    pub chunks: u32,
    /// How many of those may be under way.
    pub at_once: u32,
    /// Which end does it.
    pub end: u16,
    /// Whether its messages are READs.
    pub reads: bool,
    /// How many buffers there are for it, of which a round takes one with it until it is over.
    pub buffers: Option<u32>,
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

/// What message `message` of step `step` waits for, both from 0. `credits`: how many rounds may have begun that are not over; `one_pair`: all steps go over one
/// queue pair, by which either end does its own round after round. There a SEND or a WRITE lets the next step of its end go as soon as it is handed over:
/// the queue pair keeps their order (IBTA volume 1, 9.5), but a READ has to be over, which a SEND behind it may overtake (10.8.3).
pub fn awaited(
    steps: &[StepShape],
    (credits, one_pair): (u32, bool),
    step: usize,
    message: u32,
) -> Vec<Awaited> {
    let Some(shape) = steps.get(step) else { return Vec::new() };
    let own = shape.chunks.max(1);
    // The last message of a step in a round.
    let end = |step: usize, round: u32| (round + 1) * steps[step].chunks.max(1) - 1;
    let mut all = Vec::new();
    if let Some(message) = message.checked_sub(shape.at_once.max(1)).filter(|_| own > 1) {
        all.push(Awaited { step, message, why: WaitsFor::ChunkBefore });
    }
    let round = message / own;
    if !message.is_multiple_of(own) {
        return all;
    }
    if one_pair {
        let alike = |other: &usize| steps[*other].end == shape.end;
        let sooner = (0..step).rfind(alike).map(|before| (before, end(before, round)));
        let earlier = || {
            let before = (step..steps.len()).rfind(alike)?;
            Some((before, end(before, round.checked_sub(1)?)))
        };
        all.extend(sooner.or_else(earlier).map(|(step, message)| Awaited {
            step,
            message,
            why: WaitsFor::QueueBefore,
        }));
    }
    let last = steps.len() - 1;
    let free = shape.buffers.and_then(|buffers| round.checked_sub(buffers));
    all.extend(free.map(|over| Awaited {
        step: last,
        message: end(last, over),
        why: WaitsFor::Buffer,
    }));
    match step {
        0 => {
            let over = round.checked_sub(credits);
            all.extend(over.map(|over| Awaited {
                step: last,
                message: end(last, over),
                why: WaitsFor::Credit,
            }));
        }
        _ if one_pair && steps[step - 1].end == shape.end && !steps[step - 1].reads => {}
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
        let steps = [(1, 0), (4, 1), (1, 0)].map(|(chunks, end)| StepShape {
            chunks,
            at_once: 1,
            end,
            reads: false,
            buffers: None,
        });
        let of = |step, message| awaited(&steps, (2, false), step, message);
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

    #[test]
    fn of_chunks_of_which_several_may_be_under_way_each_waits_for_the_one_so_many_before_it() {
        let shape =
            |chunks, at_once| StepShape { chunks, at_once, end: 0, reads: false, buffers: None };
        let of = |step, message| awaited(&[shape(6, 3), shape(4, 4)], (1, false), step, message);
        let chunk = |step, message| Awaited { step, message, why: WaitsFor::ChunkBefore };
        assert_eq!((of(0, 2), of(0, 3), of(0, 5)), (vec![], vec![chunk(0, 0)], vec![chunk(0, 2)]));
        // The next step waits for the last of all.
        assert_eq!(of(1, 0), [Awaited { step: 0, message: 5, why: WaitsFor::StepBefore }]);
        assert_eq!((of(1, 3), of(1, 5)), (vec![], vec![chunk(1, 1)]));
    }

    #[test]
    fn by_one_queue_pair_a_message_goes_behind_what_its_end_sends_before_it_and_behind_a_read_that_is_over()
     {
        let one = |step, message, why| Awaited { step, message, why };
        let of = |shapes: [(u16, bool); 3], step, message| {
            let steps = shapes.map(|(end, reads)| StepShape {
                chunks: 1,
                at_once: 1,
                end,
                reads,
                buffers: None,
            });
            awaited(&steps, (2, true), step, message)
        };
        // Data, done | reply.
        let medium = [(0, false), (0, false), (1, false)];
        assert_eq!(of(medium, 0, 0), []);
        assert_eq!(of(medium, 1, 0), [one(0, 0, WaitsFor::QueueBefore)]);
        let credit = [one(1, 1, WaitsFor::QueueBefore), one(2, 0, WaitsFor::Credit)];
        assert_eq!(of(medium, 0, 2), credit);
        assert_eq!(of(medium, 2, 0), [one(1, 0, WaitsFor::StepBefore)]);
        let next = [one(2, 0, WaitsFor::QueueBefore), one(1, 1, WaitsFor::StepBefore)];
        assert_eq!(of(medium, 2, 1), next);
        // Descriptor | fetch, reply.
        let large = [(0, false), (1, true), (1, false)];
        let read = [one(1, 4, WaitsFor::QueueBefore), one(1, 4, WaitsFor::StepBefore)];
        assert_eq!(of(large, 2, 4), read);
    }
    #[test]
    fn a_message_waits_for_one_of_its_buffers_until_the_round_is_over_that_has_it() {
        let [asks, takes, says] = [(0, None), (1, Some(2)), (1, None)].map(|(end, buffers)| {
            StepShape { chunks: 1, at_once: 1, end, reads: buffers.is_some(), buffers }
        });
        let of = |message| awaited(&[asks, takes, says], (4, false), 1, message);
        let before = |message| Awaited { step: 0, message, why: WaitsFor::StepBefore };
        assert_eq!(of(1), [before(1)]);
        let free = Awaited { step: 2, message: 0, why: WaitsFor::Buffer };
        assert_eq!(of(2), [free, before(2)]);
    }
}
