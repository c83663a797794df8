//! How early marking and dropping depart from their curves.

use super::table::table;
use crate::Wred;

table! {
    /// What early detection does wrong.
    WredFaults of Wred

    /// Frames are marked when they are taken in where they should be when they start to leave, and the other way round.
    // The frames that follow a burst are marked, not those that lead it, or the other way round.
    marks_at_other_point;
    /// Marks and drops go by the moving average of the depth.
    // A burst is over before the average has risen to what it comes to.
    depth_averaged ("its weight is 2^-n", 1..=Wred::MOST_WEIGHT as u32, default 9);
    /// Marks and drops go by a moving average that an empty queue does not wear down.
    // The first frames of a burst are marked for a congestion that is long over.
    average_outlives_idle ("its weight is 2^-n", 1..=Wred::MOST_WEIGHT as u32, default 4);
    /// Frames that are not ECN-capable are marked where they should be dropped.
    // A frame that said that it does not understand marks has one.
    marks_non_ect;
    /// Frames of IPv6 are dropped where they should be marked.
    // ECN is looked for in the header of IPv4 alone: who sends over IPv6 loses what others are told of.
    ipv6_not_marked;
    /// A frame that arrives marked leaves without its mark, unless it is marked anew.
    // Marks of switches before this one do not come through.
    clears_ce;
    /// ECN-capable frames are dropped where they should be marked.
    // No marks, and holes in the sequence.
    drops_ect;
    /// From kmax on, where frames that could be marked are dropped (`harddrop`), one that arrives marked passes.
    // What met congestion before is spared, and fills the queue that is too deep already.
    harddrop_spares_ce;
    /// From kmax on the chance stays what it grew to just below.
    // Frames above kmax leave unmarked.
    no_jump_at_kmax;
    /// Marks and drops go by what all queues of the port hold.
    // A queue that is not congested has marks when its neighbour is.
    depth_of_port;
    /// Marks and drops go by what the same queue of every port holds.
    // A port that is not congested marks when another one is.
    depth_of_class;
    /// The chance is too high wherever it is above zero.
    // Right above kmin the curve jumps.
    marks_too_often ("by how many percentage points", 1..=100, default 2);
    /// Where chances are kept in steps, pmax is kept one step too high.
    // A few more marks at each depth.
    pmax_a_step_high;
    /// Frames one after the other share a draw.
    // Marks come in runs, although they are as many as they should be.
    draws_correlated ("how many", 2..=1_000, default 8);
    /// Ports share their draws: the same queue of each draws the same numbers.
    // Frames that go to two ports at once are marked together.
    draws_shared_by_ports;
    /// Frames that arrive marked do not count as marked.
    // Counter and marks on the wire disagree as soon as frames arrive marked.
    ce_not_counted;
    /// Early detection looks at every queue, whatever it is bound to.
    // Queues that nobody asked to be marked are.
    wred_on_every_queue;
}
