//! What the machine itself allows: a loop that keeps its gaps by the same clock, in the same way, and sends nothing.

use crate::clock::Clock;
use crate::port::PortError;
use rig_units::{Dur, Time};

/// The instants at which such a loop found its time come: `count` of them from `first` on, one every `gap`. Until
/// `awake` before each it sleeps, as the pacer does.
///
/// # Errors
/// The kernel refuses to wait.
pub fn floor<C: Clock>(
    clock: &C,
    first: Time,
    gap: Dur,
    count: usize,
    awake: Dur,
) -> Result<Vec<Time>, PortError> {
    let mut timestamps = Vec::with_capacity(count);
    let mut due = first;
    while timestamps.len() < count {
        let now = clock.now();
        if due > now + awake {
            clock.sleep(due.saturating_sub(awake), &[])?;
            continue;
        }
        clock.spin(due);
        timestamps.push(clock.now());
        due += gap;
    }
    Ok(timestamps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Manual;

    #[test]
    fn by_a_clock_without_a_machine_there_is_no_floor() {
        let first = Time::ZERO + Dur::us(50);
        let clock = Manual::default();
        let timestamps =
            floor(&clock, first, Dur::us(5), 3, Dur::us(2)).expect("nothing to wait for");
        assert_eq!(timestamps, [0, 5, 10].map(|us| first + Dur::us(us)));
        // One that jumps ahead finds its times over, and makes up for them.
        clock.step_to(first + Dur::us(1));
        let timestamps =
            floor(&clock, first, Dur::us(5), 2, Dur::us(2)).expect("nothing to wait for");
        assert_eq!(timestamps, [1, 5].map(|us| first + Dur::us(us)));
    }
}
