//! How a NIC's reaction point departs from its rule.

use super::table::table;

table! {
    /// What a reaction point does wrong.
    RpFaults of Rp

    /// Alpha stays as it is while no CNP comes.
    // A cut long after the last one is as deep as one right after it.
    alpha_not_decayed;
    /// A cut leaves alpha as it is.
    // Cuts that follow one another do not grow deeper.
    alpha_not_raised;
    /// The first alpha timer after a cut cuts again.
    // One CNP, two cuts.
    cut_without_cnp;
    /// The second CNP within a window cuts, too.
    cut_twice_per_window;
    /// A cut takes the queue pair after its own, too.
    cut_spreads;
    /// A cut takes every queue pair of another priority, too.
    // One limiter for both lossless priorities: the congestion of the front end slows down the back end.
    cut_crosses_priorities;
    /// The target stays at the speed of the port when the rate is cut.
    // Recovery goes half of the way to the speed of the port, and so on.
    target_not_saved;
    /// The rate is cut below its minimum.
    min_rate_ignored;
    /// A cut does not restart the timer of increases.
    // The first increase after a cut comes early.
    timer_not_restarted;
    /// A cut does not restart the byte counter.
    bytes_not_reset;
    /// A cut does not start fast recovery anew.
    // The increases after a cut go on as if there had been none.
    stages_not_reset;
    /// Increases are hyper where they should be additive.
    hyper_before_additive;
    /// The reaction point takes its port for half as fast as it is.
    // Who was never told to slow down is slow.
    line_rate_halved;
    /// The queue pairs of a NIC are served in turns, and one that is held back holds all others: each is as slow as the slowest.
    // The congestion of one way leaks onto all others.
    flows_tied;
    /// Every second queue pair of a NIC is passed over in every second turn.
    // What one of many connections gets rests on which of them it is.
    turns_skipped;
    /// All packets of a message leave in one turn of its queue pair.
    // Small messages wait for as long as the largest of a neighbour take.
    turn_of_a_message;
    /// Each request is read over the bus when it is its turn, and until it is there nothing else leaves the port.
    // A neighbour that sends many small messages takes the port from all.
    request_read_holds_port ("nanoseconds", 1..=1_000_000, default 300);
    /// A hole that a NAK names cuts the rate, though no CNP came.
    // A lost packet slows down as a mark does, where nobody has asked for that: a NIC with slow restart on.
    cut_on_loss;
    /// What is sent again is not held back by the rate of its queue pair.
    // Who was told of congestion by a loss answers it with a burst.
    resent_unlimited;
    /// CNPs for an unreliable connection, or for whoever sends datagrams, are counted as ignored and slow nobody down.
    unreliable_not_slowed;
}
