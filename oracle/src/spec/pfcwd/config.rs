//! Which configurations a device takes (sonic.md section 3.1): orchagent's ranges, the YANG model's one rule, what SONiC's commands
//! look at, and the action that one ASIC does not offer.

use rig_lab::{Action, ConfigPath, Pfcwd, RuleFamily};
use rig_units::Dur;

/// Whether a device of `family` that is configured as `now` takes this configuration.
///
/// # Errors
/// The rule that it breaks.
pub fn accepts(now: &Pfcwd, wanted: &Pfcwd, family: RuleFamily) -> Result<(), &'static str> {
    if wanted.poll_interval == Dur::ZERO {
        return Err("poll_interval is above 0ms");
    }
    let (shortest, longest) = Pfcwd::DETECTION_RANGE;
    if wanted.detection_time < shortest || longest < wanted.detection_time {
        return Err("detection_time lies in 100ms to 5000ms (pfcwdorch.h)");
    }
    let (shortest, longest) = Pfcwd::RESTORATION_RANGE;
    if wanted.restoration_time.is_some_and(|time| time < shortest || longest < time) {
        return Err("restoration_time lies in 100ms to 60000ms (pfcwdorch.h)");
    }
    if wanted.config_path == ConfigPath::Yang && wanted.detection_time < wanted.poll_interval {
        return Err("detection_time is at least poll_interval (sonic-pfcwd.yang)");
    }
    // A command that is not typed looks at nothing.
    if wanted.config_path == ConfigPath::Cli && wanted.poll_interval != now.poll_interval {
        let (shortest, longest) = Pfcwd::TYPED_INTERVALS;
        if wanted.poll_interval < shortest || longest < wanted.poll_interval {
            return Err("poll_interval lies in 100ms to 1000ms (pfcwd interval)");
        }
        let times = [Some(wanted.detection_time), wanted.restoration_time];
        if times.into_iter().flatten().any(|time| time < wanted.poll_interval) {
            return Err(
                "poll_interval is at most detection_time and restoration_time (pfcwd interval)",
            );
        }
    }
    if wanted.action == Action::Forward && family == RuleFamily::Cisco8000 {
        return Err("cisco-8000 has no forward action (orchdaemon.cpp)");
    }
    Ok(())
}
