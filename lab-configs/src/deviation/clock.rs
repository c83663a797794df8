//! How far the clock of a device is off.

use super::table::table;

table! {
    /// What is wrong with a clock.
    ClockFaults of Clock

    /// The clock of the device is fast: each of its seconds is shorter than a second.
    // Whatever it times comes sooner, and its ports send faster.
    clock_fast ("by how many ppm", 1..=100_000, default 300);
    /// The clock of the device is slow: each of its seconds is longer than a second.
    // Whatever it times comes later, and its ports send slower.
    clock_slow ("by how many ppm", 1..=100_000, default 300);
}
