//! A case on the bridge of a guest. It neither sends nor obeys PFC, and what its kernel has memory for is no buffer of an ASIC.

use super::unfit::{Missing, Unfit};
use rig_lab::{Profile, Setting, macsec};
use rig_oracle::measure;
use rig_testcases::case::{CaseAction, Stream};
use rig_testcases::vocabulary::{ByMemory, ByPfc};
use rig_testcases::{Case, Measure, StreamRate, Sweep};
use rig_units::{Bytes, Dur, PortSpeed};

/// The case as it is run there; what it does without is added to `left_out`.
///
/// # Errors
/// What it asks for that nothing there does.
pub(super) fn of(
    profile: &Profile,
    case: &Case,
    left_out: &mut Vec<String>,
) -> Result<Case, Unfit> {
    let mut case = case.clone();
    let speaks = |one: &Setting| one.path == "macsec.enable" && one.value == true;
    if case.settings.iter().any(speaks) {
        case = of_its_data(profile, case, left_out)?;
    }
    if let Some((name, _)) = case.storms.iter().next() {
        let why = format!("`{name}` holds frames by PFC, which a bridge of Linux does not obey");
        return Err(Missing::Lab.so(why));
    }
    case.measure.retain(|measure| {
        let why = unshown(measure);
        left_out.extend(why.map(|why| format!("{}: {why}", measure.name())));
        why.is_none()
    });
    if case.measure.is_empty() {
        let why = format!("nothing of it can be measured: {}", left_out.join("; "));
        return Err(Missing::Lab.so(why));
    }
    Ok(case)
}

/// A case on ports that speak MACsec, without PFC: what becomes of data is the same whatever its PFC looks like.
///
/// # Errors
/// It is about PFC alone, or changes on the way what its ports speak by.
fn of_its_data(
    profile: &Profile,
    mut case: Case,
    left_out: &mut Vec<String>,
) -> Result<Case, Unfit> {
    let changes = case.steps.iter().find_map(|step| match &step.what {
        CaseAction::Configure(setting) if setting.path.starts_with("macsec.") => {
            Some(&setting.path)
        }
        _ => None,
    });
    if let Some(path) = changes {
        let why = format!(
            "it changes {path} on the way, and a guest takes longer for that than its steps leave"
        );
        return Err(Missing::Lab.so(why));
    }
    let tells = |one: &Measure| measure::of(one).tells_frames && unshown(one).is_none();
    if !case.measure.iter().any(tells) {
        let why = match case.storms.is_empty() {
            false => "it is about PFC, which a bridge of Linux neither sends nor obeys",
            true => "how long a guest takes to seal a frame, and to open one, is nobody's to say",
        };
        return Err(Missing::Lab.so(why));
    }
    let fills = |stream: &Stream| !matches!(stream.rate, StreamRate::Every(_));
    if let Some((name, _)) = case.streams.iter().find(|(_, stream)| fills(stream)) {
        let why = format!("{name} fills a port, and what is too much is held by PFC");
        return Err(Missing::Lab.so(why));
    }
    let storms: Vec<String> = case.storms.drain(..).map(|(name, _)| name).collect();
    left_out.extend(storms.iter().map(|name| format!("{name}: a bridge obeys no PFC")));
    case.steps.retain_mut(|step| match &mut step.what {
        CaseAction::Start { names, .. } | CaseAction::Stop { names } => {
            names.retain(|name| !storms.contains(name));
            !names.is_empty()
        }
        CaseAction::Pfc { .. } => false,
        _ => true,
    });
    let of_pfc = |path: &str| path.starts_with("macsec.pfc_");
    case.settings.retain(|one| !of_pfc(&one.path));
    case.sweep.retain(|sweep| match sweep {
        Sweep::Setting { path, .. } if of_pfc(path) => {
            left_out.push(format!("{path}: a bridge sends no PFC"));
            false
        }
        _ => true,
    });
    let speed = profile.declared.port_speed(0).unwrap_or(PortSpeed::G100);
    let times = slower(&case, |size| speed.slot(size).max(EACH));
    if times == 1 {
        return Ok(case);
    }
    left_out
        .push(format!("all of it happens {times} times as slowly: a guest takes {EACH} a frame"));
    Ok(case.stretched((times, 1), (1, 1), |_, size| speed.slot(size).max(EACH)))
}

/// What a guest may take to open a frame and to seal it again: its AES is emulated, and the machine does other things beside. Seen at a load of 9: 2.5 ms.
const EACH: Dur = Dur::ms(5);

/// How many times as slowly streams have to send for all that leave by one port, or come to one, to fit, of which a frame takes a `slot`.
fn slower(case: &Case, slot: impl Fn(Bytes) -> Dur) -> u64 {
    let of = |at: fn(&Stream) -> &String, port: &String| {
        let own = case.streams.values().filter(|stream| at(stream) == port);
        let parts = own.filter_map(|stream| match stream.rate {
            StreamRate::Every(gap) => {
                let slot = slot(stream.size + Bytes(macsec::overhead(true).into()));
                Some(slot.0.saturating_mul(100).div_ceil(gap.0.max(1)))
            }
            StreamRate::Load(_) => None,
        });
        parts.sum::<u64>()
    };
    let from = case.streams.values().map(|one| of(|stream| &stream.from, &one.from));
    let to = case.streams.values().map(|one| of(|stream| &stream.to, &one.to));
    from.chain(to).max().map_or(1, |percent| percent.div_ceil(100).max(1))
}

/// Why a bridge shows nothing of a measure; `None` where it does.
fn unshown(measure: &Measure) -> Option<&'static str> {
    if measure.entry.memory == ByMemory::Shared {
        return Some("the memory of a kernel has no thresholds that ports share");
    }
    let none = "a bridge of Linux sends no PFC and obeys none";
    (measure.entry.pfc != ByPfc::No).then_some(none)
}

#[cfg(test)]
mod tests {
    use super::super::applicability;
    use crate::runner::bundled;
    use std::path::Path;

    #[test]
    fn cases_that_set_a_queueing_discipline_run_beside_those_that_take_what_is_prepared() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/linux-switch.yaml");
        let lab = rig_lab::read::lab(Some(Path::new(path))).expect("a lab");
        let run = bundled::cases().iter().filter(|case| case.suits(&lab.duts[0]).is_ok());
        let run = run.filter_map(|case| {
            let of = applicability::of(&lab, &lab.duts[0], case).ok()?;
            // What is said of classes that the case does not use nobody sets.
            assert!(of.case.settings.iter().all(|one| one.path != "qos.pfc_enable"), "{}", case.id);
            Some(format!("{} {}", case.id, of.left_out.join("; ")))
        });
        insta::assert_snapshot!(run.collect::<Vec<_>>().join("\n"));
    }
}
