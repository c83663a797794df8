//! What this machine allows, measured in this process right before a run in real time: the same clock, the same sleep, the
//! same priority as the pacing threads, and nothing sent.

use super::sent::errors;
use rig_generator::clock::Wall;
use rig_generator::floor::floor;
use rig_generator::port::RealTime;
use rig_generator::{Clock, Spread};
use rig_reports::Floor;
use rig_units::Dur;

/// The gap that is kept: between that of a load and that of a probe.
const GAP: Dur = Dur::us(100);
/// For how long.
const LENGTH: Dur = Dur::ms(200);

/// The floor; `None` where the kernel refuses to wait.
pub fn measure() -> Option<Floor> {
    let _real_time = RealTime::enter();
    let clock = Wall::start();
    let first = clock.now() + GAP;
    let count = usize::try_from(LENGTH / GAP).unwrap_or(0);
    let timestamps = floor(&clock, first, GAP, count, Dur::ZERO).ok()?;
    Some(Floor {
        gap: GAP.0,
        gap_error: errors(&Spread::of_gaps(&timestamps, GAP)),
        late_by: errors(&Spread::of_lateness(&timestamps, first, GAP)),
    })
}
