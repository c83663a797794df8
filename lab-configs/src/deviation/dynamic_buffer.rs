//! How a switch departs from the rule by which it sizes its buffers.

use super::table::table;

table! {
    /// What a buffer manager does wrong.
    DynamicBufferFaults of DynamicBuffer

    /// Headroom is worked out as if there were no cable.
    // A longer cable brings more than there is room for, and a class that is lossless loses.
    headroom_ignores_cable;
    /// Headroom is worked out as if the peer stopped at once.
    // What the peer sends until it has stopped finds no room.
    headroom_forgets_peer;
    /// The shared headroom pool is as large as all that it is promised for.
    // What is to be over-subscribed is taken from the shared pool in full.
    shared_headroom_not_divided;
    /// The pool is not made smaller by what groups have for themselves.
    // The pools promise more than there is memory.
    pool_forgets_groups;
    /// What an operator says of a group's headroom is not taken.
    // Who has measured that a group needs more gets what the rule makes.
    own_headroom_not_taken;
    /// Headroom of an operator's own is taken beyond what the port can have.
    // The chip has no such room, and what it does then nobody has said.
    headroom_limit_forgotten;
}
