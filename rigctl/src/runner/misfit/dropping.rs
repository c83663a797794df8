//! Switches on the way that drop what a case rests on, as they are configured, and that it says nothing of. A suite of switches sets what it
//! needs; of a system, or of what NICs are behind, no case does.

use rig_lab::{EcnMode, Profile};
use rig_testcases::Case;

/// Which switch of the device drops what comes, and by what.
pub(super) fn of(profile: &Profile, case: &Case) -> Option<String> {
    let configured = profile.clone().configured(&case.settings).ok()?;
    let changed = |path: &str| {
        let set = case.settings.iter().any(|setting| setting.path == path);
        set || case.changed().any(|changed| changed == path)
    };
    let drops = |device: &Profile| {
        let switch = device.declared.switch()?;
        let name = &device.name;
        if switch.pfcwd.big_red_switch && !changed("pfcwd.big_red_switch") {
            return Some(format!(
                "every lossless queue of {name} drops what comes (pfcwd.big_red_switch)"
            ));
        }
        let wred = &switch.wred;
        if wred.queues.is_empty() {
            return None;
        }
        let drops = wred.ecn == EcnMode::EcnNone && !changed("wred.ecn");
        let hard = wred.harddrop && !changed("wred.harddrop");
        drops
            .then(|| format!("{name} drops where others mark, in lossless queues too (wred.ecn)"))
            .or_else(|| {
                hard.then(|| format!("{name} drops from kmax on where others mark (wred.harddrop)"))
            })
    };
    let before = profile.approaches().map(|(device, _)| device);
    configured.devices().iter().chain(before).find_map(drops)
}
