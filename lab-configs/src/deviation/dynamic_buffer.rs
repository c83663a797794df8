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
    /// A port that is shut keeps its headroom.
    // Memory lies idle behind ports that nobody uses.
    shut_port_keeps_headroom;
    /// A port that was shut and opened again has no headroom any more.
    // A class that is lossless loses on the first day that the port is full.
    opened_port_gets_no_headroom;
    /// Headroom is worked out from the speed that is configured, whatever is negotiated.
    // A link that comes up faster than it was configured has too little.
    negotiated_speed_ignored;
    /// Headroom of a port that negotiates is worked out from the fastest speed that it supports, whatever it advertises.
    // Memory lies idle that no frame of a slower link can fill.
    advertised_speed_ignored;
}
