//! What is declared of a switch, and what of it Linux's queueing disciplines are set to.

use super::found::Found;
use super::qdisc::{Does, Ets, Red};
use rig_lab::{Declared, EcnMode, Scheduling, Setting, Switch};
use rig_units::{Bytes, Ppm};

/// The settings that are held: what of them no queueing discipline can be is refused.
pub(super) const HELD: [&str; 8] = [
    "wred.kmin",
    "wred.kmax",
    "wred.pmax",
    "wred.weight",
    "wred.ecn",
    "wred.harddrop",
    "scheduler.queues",
    "buffer.lossy_static_th",
];

/// A turn of the weighted queue that has the least, at least: a frame of this size.
const TURN: u32 = 1_024;
/// The kernel keeps a chance in so many parts.
const WHOLE: u64 = 1 << 32;

/// The configuration as the kernel states it. Where two queues of one kind differ there is no one value, and what is `declared` stands: what the wire shows
/// decides then.
pub(super) fn stated(declared: &Declared, found: &[Found]) -> Declared {
    let Declared::Switch(switch) = declared else { return declared.clone() };
    let mut switch = switch.clone();
    let reds = || found.iter().filter_map(|one| red(&one.does));
    let size = |size: u32| Bytes(size.into());
    let wred = &mut switch.wred;
    wred.kmin = alike(reds().map(|red| size(red.min))).unwrap_or(wred.kmin);
    wred.kmax = alike(reds().map(|red| size(red.max))).unwrap_or(wred.kmax);
    wred.pmax = alike(reds().map(|red| chance(red.max_p))).unwrap_or(wred.pmax);
    wred.weight = alike(reds().map(|red| red.wlog)).unwrap_or(wred.weight);
    wred.ecn = match alike(reds().map(Red::marks)) {
        Some(false) => EcnMode::EcnNone,
        Some(true) if wred.ecn == EcnMode::EcnNone => EcnMode::EcnAll,
        _ => wred.ecn,
    };
    wred.harddrop = alike(reds().map(Red::drops_hard)).unwrap_or(wred.harddrop);
    let limit = alike(found.iter().filter_map(|one| limit(&one.does)).map(size));
    switch.buffer.lossy_static_th = limit.or(switch.buffer.lossy_static_th);
    let ets = alike(found.iter().filter_map(|one| ets(&one.does)));
    if let Some(ets) = ets {
        let queues = &mut switch.scheduler.queues;
        // Quanta tell weights but for what all of them have in common.
        if !is_alike(ets, queues) {
            *queues = shares(ets);
        }
    }
    Declared::Switch(switch)
}

/// What each queueing discipline has to do that `settings` change, which `declared` has already.
///
/// # Errors
/// What of it none of them can do.
pub(super) fn wanted(
    declared: &Declared,
    settings: &[Setting],
    found: &[Found],
) -> Result<Vec<Does>, String> {
    let Declared::Switch(switch) = declared else { return Err("it is no switch".to_owned()) };
    let mut all: Vec<Does> = found.iter().map(|one| one.does.clone()).collect();
    for setting in settings {
        let mut made = 0;
        for (does, one) in all.iter_mut().zip(found) {
            let told =
                |why| format!("{}={}: {}: {why}", setting.path, shown(&setting.value), one.called);
            made += usize::from(make(switch, &setting.path, does).map_err(told)?);
        }
        if made == 0 {
            let (path, value) = (&setting.path, shown(&setting.value));
            return Err(format!("{path}={value}: it has no queueing discipline that is set to it"));
        }
    }
    Ok(all)
}

/// Has one do what `path` says; whether that says anything of it.
fn make(switch: &Switch, path: &str, does: &mut Does) -> Result<bool, String> {
    let wred = &switch.wred;
    match (path, &mut *does) {
        ("wred.kmin", Does::Red(red)) => red.min = bytes(wred.kmin)?,
        ("wred.kmax", Does::Red(red)) => red.max = bytes(wred.kmax)?,
        ("wred.pmax", Does::Red(red)) => red.max_p = parts(wred.pmax)?,
        ("wred.weight", Does::Red(red)) => red.wlog = wred.weight,
        ("wred.ecn", Does::Red(red)) => {
            *red = match wred.ecn {
                EcnMode::EcnAll => red.marking(true),
                EcnMode::EcnNone => red.marking(false),
                _ => return Err("RED knows no colours".to_owned()),
            }
        }
        ("wred.harddrop", Does::Red(red)) => *red = red.dropping_hard(wred.harddrop),
        ("buffer.lossy_static_th", Does::Red(Red { limit, .. }) | Does::Fifo { limit }) => {
            let own = switch.buffer.lossy_static_th;
            *limit = bytes(own.ok_or("each of its queues has an end of its own")?)?;
        }
        ("scheduler.queues", Does::Ets(ets)) => schedule(ets, &switch.scheduler.queues)?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Has it serve the queues so: quanta in the proportion of the weights, to the byte.
fn schedule(ets: &mut Ets, queues: &[Scheduling]) -> Result<(), String> {
    if usize::from(ets.bands) != queues.len() {
        return Err(format!("it has {} bands for {} queues", ets.bands, queues.len()));
    }
    let weights = weights(queues).ok_or(
        "its strict bands come before all others: strict classes are those of the highest numbers",
    )?;
    let least = weights.iter().copied().min().unwrap_or(1).max(1);
    let turn = TURN.div_ceil(u32::from(least));
    ets.quanta = weights.iter().map(|&weight| u32::from(weight) * turn).collect();
    ets.strict = ets.bands - u8::try_from(weights.len()).unwrap_or(ets.bands);
    Ok(())
}

/// Weights by band: of the highest class first. None where a strict class comes behind a weighted one.
fn weights(queues: &[Scheduling]) -> Option<Vec<u16>> {
    let weighted = queues.iter().rev().skip_while(|&&one| one == Scheduling::Strict);
    let weight = |one: &Scheduling| match one {
        Scheduling::Dwrr(weight) => Some(*weight),
        Scheduling::Strict => None,
    };
    weighted.map(weight).collect()
}

/// Whether it serves queues so that are declared like that.
fn is_alike(ets: &Ets, queues: &[Scheduling]) -> bool {
    let Some(weights) = weights(queues).filter(|all| all.len() == ets.quanta.len()) else {
        return false;
    };
    let all: Vec<(u64, u64)> =
        weights.iter().zip(&ets.quanta).map(|(&w, &q)| (w.into(), q.into())).collect();
    queues.len() == usize::from(ets.bands)
        && all.windows(2).all(|two| two[0].0 * two[1].1 == two[1].0 * two[0].1)
}

/// The least weights that are in the proportion of its quanta.
fn shares(ets: &Ets) -> Vec<Scheduling> {
    fn common(a: u32, b: u32) -> u32 {
        if b == 0 { a } else { common(b, a % b) }
    }
    let all = ets.quanta.iter().copied().fold(0, common).max(1);
    let share = |quantum: &u32| Scheduling::Dwrr(u16::try_from(quantum / all).unwrap_or(u16::MAX));
    let weighted = ets.quanta.iter().rev().map(share);
    weighted.chain((0..ets.strict).map(|_| Scheduling::Strict)).collect()
}

fn bytes(size: Bytes) -> Result<u32, String> {
    u32::try_from(size.0).map_err(|_| "it counts to 4 GB".to_owned())
}

/// A chance as the kernel keeps it.
fn parts(chance: Ppm) -> Result<u32, String> {
    let one = u64::from(Ppm::ONE.0);
    let parts = (u64::from(chance.0) * WHOLE + one / 2) / one;
    match u32::try_from(parts).unwrap_or(u32::MAX) {
        // The kernel takes it for none that was told, and goes by another rule.
        0 => Err("RED has no chance of nothing".to_owned()),
        parts => Ok(parts),
    }
}

/// The nearest that a profile may declare.
fn chance(parts: u32) -> Ppm {
    let millionths = (u64::from(parts) * u64::from(Ppm::ONE.0) + WHOLE / 2) / WHOLE;
    Ppm(u32::try_from(millionths).unwrap_or(Ppm::ONE.0))
}

/// The one value that all have; `None` where there are none, or several.
fn alike<T: PartialEq>(mut all: impl Iterator<Item = T>) -> Option<T> {
    let first = all.next()?;
    all.all(|other| other == first).then_some(first)
}

const fn red(does: &Does) -> Option<&Red> {
    match does {
        Does::Red(red) => Some(red),
        Does::Ets(_) | Does::Fifo { .. } => None,
    }
}

const fn ets(does: &Does) -> Option<&Ets> {
    match does {
        Does::Ets(ets) => Some(ets),
        Does::Red(_) | Does::Fifo { .. } => None,
    }
}

const fn limit(does: &Does) -> Option<u32> {
    match does {
        Does::Red(Red { limit, .. }) | Does::Fifo { limit } => Some(*limit),
        Does::Ets(_) => None,
    }
}

fn shown(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
