//! How a switch departs from its chip in the copies that it makes of counters.

use super::table::table;

table! {
    /// What the copying of counters does wrong.
    FlexCounterFaults of FlexCounter

    /// Each copy shows twice what was counted.
    // An operator sees twice the traffic that there is.
    copies_count_twice;
}
