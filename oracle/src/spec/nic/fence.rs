//! What a queue pair gets through whose messages wait for one another (Bai et al., NSDI'23, section 5): one a round trip.

use rig_units::{Bytes, Dur};

/// From the beginning of one message to that of the next: it takes its time on the wire and waits for its acknowledgement, the round trip, behind a fence. Without
/// one the next follows at once.
pub fn period(on_wire: Dur, round_trip: Dur, is_fenced: bool) -> Dur {
    if is_fenced { on_wire + round_trip } else { on_wire }
}

/// Payload a second, in bits, of one message each `period`.
pub fn goodput(message: Bytes, period: Dur) -> u64 {
    let bits = u128::from(message.0) * 8 * 1_000_000_000_000;
    u64::try_from(bits / u128::from(period.0.max(1))).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_a_fence_it_is_the_size_over_the_round_trip_until_the_wire_takes_longer() {
        // A byte a nanosecond, and a round trip of 10 us.
        let fenced = |bytes: u64| goodput(Bytes(bytes), period(Dur::ns(bytes), Dur::us(10), true));
        assert_eq!(fenced(1_000), 8_000_000_000 / 11);
        assert_eq!(fenced(10_000), 4_000_000_000);
        assert_eq!(fenced(990_000), 7_920_000_000);
        let free = goodput(Bytes(1_000), period(Dur::us(1), Dur::us(10), false));
        assert_eq!(free, 8_000_000_000);
    }
}
