//! How the port of a NIC departs from the way in which its traffic classes share it.

use super::table::table;

table! {
    /// What the port of a NIC does wrong with the traffic classes that share it.
    EtsFaults of Ets

    /// The first and the last of the classes that share have each other's bandwidth.
    ets_shares_swapped;
    /// The classes that share have the same bandwidth, whatever each is set to.
    ets_shares_equal;
    /// Classes that share are counted in frames.
    // Who sends large frames gets more.
    ets_counts_frames;
    /// What a class that shares does not use is given to nobody.
    // The port stands idle while others wait.
    ets_unused_kept;
    /// Strict classes are served after those that share.
    // What has to go first never goes where the port is full.
    ets_strict_last;
    /// A strict class is served in turns with those that share, as if it had as much as all of them.
    ets_strict_in_turn;
    /// Of two strict classes the lower number goes first.
    ets_strict_lowest_first;
    /// No limit holds a class.
    ets_limit_ignored;
    /// The limit of a class holds all of them together.
    // Who was not to be limited is.
    ets_limit_of_port;
    /// Each priority is in the class of the priority above it, the highest in that of the lowest.
    ets_priority_off_by_one;
}
