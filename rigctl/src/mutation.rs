//! `--mutate PATH=VALUE` and `--mutate deviation=NAME[:VALUE]`, and the list of every mutant of a lab.

use rig_lab::keys::hidden;
use rig_lab::settings::nearest;
use rig_lab::{Deviation, Lab, Mutation};

/// Reads one `--mutate` argument.
///
/// # Errors
/// What is wrong with it and what would be accepted.
pub fn parse(text: &str) -> Result<Mutation, String> {
    let form = || {
        format!(
            "`--mutate {text}`: want PATH=VALUE, such as pfcwd.detection_time=x1.1, or deviation=NAME[:VALUE]"
        )
    };
    let (path, value) = text.split_once('=').ok_or_else(form)?;
    if path.is_empty() || value.is_empty() {
        return Err(form());
    }
    if path != "deviation" {
        return Ok(Mutation::Override { path: path.to_owned(), value: value.to_owned() });
    }
    let (called, value) =
        value.split_once(':').map_or((value, None), |(name, value)| (name, Some(value)));
    let Some(deviation) = Deviation::named(called) else {
        let near = nearest(called, Deviation::all().map(Deviation::name));
        let near =
            if near.is_empty() { String::new() } else { format!("; near it: {}", near.join(", ")) };
        return Err(format!(
            "`--mutate {text}`: there is no deviation `{called}`{near} (rigctl mutants --list)"
        ));
    };
    let switched = deviation.switched(value).map_err(|why| format!("`--mutate {text}`: {why}"))?;
    Ok(Mutation::Deviation(switched))
}

/// Puts every mutation into every device of the lab. What looks like a key is not echoed: a lab's keys are no setting of a
/// device, so whoever types one here is told that there is no such setting, on a terminal or in a log.
///
/// # Errors
/// Every mutation that does not fit, with what would be accepted.
pub fn apply(lab: &mut Lab, texts: &[String]) -> Result<(), Vec<String>> {
    let mut faults = Vec::new();
    for text in texts {
        let mutation = match parse(text) {
            Ok(mutation) => mutation,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
        };
        let refused = match of_device(&mutation) {
            Some((device, mutation)) => one(lab, device, &mutation),
            None => lab
                .duts
                .iter_mut()
                .try_for_each(|dut| dut.mutate(&mutation))
                .map_err(|why| why.to_string()),
        };
        faults.extend(refused.err().map(|why| format!("`--mutate {text}`: {why}")));
    }
    if faults.is_empty() { Ok(()) } else { Err(faults.iter().map(|why| hidden(why)).collect()) }
}

/// The device of a system that a mutation names before its path, and what is left of it: `far/pfc.refresh=x2`.
fn of_device(mutation: &Mutation) -> Option<(&str, Mutation)> {
    let Mutation::Override { path, value } = mutation else { return None };
    let (device, path) = path.split_once('/')?;
    Some((device, Mutation::Override { path: path.to_owned(), value: value.clone() }))
}

/// Breaks one device of the lab's systems.
fn one(lab: &mut Lab, device: &str, mutation: &Mutation) -> Result<(), String> {
    let mut any = false;
    for dut in &mut lab.duts {
        any |= dut.mutate_device(device, mutation).map_err(|why| why.to_string())?;
    }
    let systems = lab.duts.iter().filter_map(|dut| dut.system.as_ref());
    let mut names: Vec<&str> =
        systems.flat_map(|system| &system.devices).map(|device| device.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(" or ") };
    any.then_some(()).ok_or(format!("no system of the lab has a device `{device}`: want {names}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::Switched;

    #[test]
    fn a_deviation_and_an_override_are_read() {
        let name = Deviation::named("drop_leaks").unwrap();
        assert_eq!(
            parse("deviation=drop_leaks:3"),
            Ok(Mutation::Deviation(Switched { name, value: Some(3) }))
        );
        let path = "pfcwd.detection_time".to_owned();
        assert_eq!(
            parse("pfcwd.detection_time=x1.1"),
            Ok(Mutation::Override { path, value: "x1.1".into() })
        );
    }

    #[test]
    fn mistakes_are_answered_with_what_is_accepted() {
        for (text, want) in [
            ("pfcwd.detection_time", "want PATH=VALUE"),
            ("=x2", "want PATH=VALUE"),
            ("deviation=drop_leeks", "near it: drop_leaks"),
            ("deviation=alert_acts:2", "takes no value"),
            ("deviation=drop_leaks:many", "want a whole number"),
            ("deviation=malformed_pfc:6", "want a whole number, 0 to 5"),
        ] {
            let fault = parse(text).expect_err(text);
            assert!(fault.contains(want), "{text}: {fault}");
        }
    }
}
