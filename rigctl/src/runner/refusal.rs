//! What a device that answers nothing made of a setting that never showed. A switch that runs SONiC takes any text into its database, and
//! what it thinks of it stands in a log: one that refuses is told from one that takes nothing at all by another value, which it must take.

use crate::executor::wire::Steered;
use rig_dut::control::Unseen;
use rig_generator::port::Mono;
use rig_lab::{Declared, Setting};
use rig_oracle::measure::SettingAnswer;
use rig_units::Dur;

/// What it takes has to show within this: a device that is as slow as one waited for the other may have been about to take that.
const PROMPT: Dur = Dur::s(2);
/// The time that is set to another value, by how much, and the longest that every device takes.
const PATH: &str = "pfcwd.detection_time";
const STEP: Dur = Dur::ms(100);
const MOST: Dur = Dur::ms(5_000);

/// What it made of `setting`, of which `unseen` tells: taken back by now.
///
/// # Errors
/// Nothing tells: it does not take the other value either, or takes it late.
pub(super) fn said(
    control: &mut Steered,
    setting: &[Setting],
    unseen: Unseen,
    now: impl Fn() -> Mono,
) -> Result<SettingAnswer, String> {
    let Unseen { lost, otherwise } = unseen;
    let untold =
        |why: &str| format!("{}, and nothing tells whether it is refused: {why}", lost.plainly());
    if !setting.iter().all(|one| one.path.starts_with("pfcwd.")) {
        return Err(untold("it is none of the watchdog's"));
    }
    let stated = control.snapshot().map_err(|error| untold(&error.to_string()))?;
    let other = other(&stated).ok_or_else(|| untold("no watchdog runs there"))?;
    let shown = rig_oracle::measure::shown(&other);
    let asked = now();
    let took = control.set(core::slice::from_ref(&other));
    took.map_err(|error| untold(&format!("{shown} is not taken either: {error}")))?;
    let took = now().since(asked).unwrap_or_default();
    if took > PROMPT {
        let late =
            format!("{shown} was in effect after {took}, and what it takes shows within {PROMPT}");
        return Err(untold(&late));
    }
    let why = format!("{}, and {shown} was in effect after {took}", lost.why);
    Ok(if otherwise { SettingAnswer::Otherwise(why) } else { SettingAnswer::Refused(why) })
}

/// Another detection time than the one that is stated.
fn other(stated: &Declared) -> Option<Setting> {
    let switch = stated.switch().filter(|switch| !switch.qos.pfcwd_sw_enable.is_empty())?;
    let own = switch.pfcwd.detection_time;
    let other = if own + STEP <= MOST { own + STEP } else { own.saturating_sub(STEP) };
    Some(Setting { path: PATH.to_owned(), value: other.to_string().into() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_dut::control::{Ability, Capabilities, Control, ControlError, Lost};
    use std::cell::Cell;

    /// One that takes what it is asked, or nothing.
    #[derive(Debug)]
    struct Device {
        declared: Declared,
        takes: bool,
    }

    impl Control for Device {
        fn name(&self) -> &'static str {
            "device"
        }

        fn capabilities(&self) -> Capabilities {
            let offered = &[Ability::Snapshot, Ability::Configure];
            Capabilities { offered, verbs: &[], clock_bound: Dur::ZERO }
        }

        fn snapshot(&mut self) -> Result<Declared, ControlError> {
            Ok(self.declared.clone())
        }

        fn set(&mut self, settings: &[Setting]) -> Result<(), ControlError> {
            if !self.takes {
                return Err(ControlError::Unseen(unseen(false)));
            }
            self.declared = self.declared.with(&settings[0]).expect("it fits");
            Ok(())
        }
    }

    fn unseen(otherwise: bool) -> Unseen {
        let (tried, why) = ("see it".to_owned(), "it is `200`, not `99`".to_owned());
        Unseen { lost: Lost { tried, why }, otherwise }
    }

    fn setting(path: &str) -> Setting {
        Setting { path: path.to_owned(), value: "99ms".into() }
    }

    /// What is said of a device that takes so long.
    fn of(takes: bool, otherwise: bool, long: Dur, path: &str) -> Result<SettingAnswer, String> {
        let declared = rig_lab::read::lab(None).expect("the bundled lab").duts.remove(0).declared;
        let mut control = Steered::new(Box::new(Device { declared, takes }));
        let time = Cell::new(Mono(0));
        let now = || time.replace(Mono(long.0 / 1_000));
        said(&mut control, &[setting(path)], unseen(otherwise), now)
    }

    #[test]
    fn what_never_shows_is_refused_where_another_value_shows_soon_and_untold_where_none_does() {
        let path = "pfcwd.restoration_time";
        let soon = of(true, false, PROMPT, path);
        let Ok(SettingAnswer::Refused(why)) = soon else { panic!("{soon:?}") };
        assert_eq!(
            why,
            "it is `200`, not `99`, and pfcwd.detection_time=300ms was in effect after 2s"
        );
        assert!(matches!(of(true, true, Dur::ms(1), path), Ok(SettingAnswer::Otherwise(_))));
        let late = of(true, false, PROMPT + Dur::ns(1), path).expect_err("it is late");
        assert!(late.contains("and what it takes shows within 2s"), "{late}");
        let deaf = of(false, true, Dur::ms(1), path).expect_err("it takes nothing");
        assert!(
            deaf.contains("pfcwd.detection_time=300ms is not taken either: cannot see it"),
            "{deaf}"
        );
        assert!(of(true, false, Dur::ms(1), "buffer.xon").is_err(), "that is another's to refuse");
    }
}
