//! `--mutate PATH=VALUE` and `--mutate deviation=NAME[:VALUE]`, and the list of every mutant of a lab.

use rig_lab::keys::hidden;
use rig_lab::settings::nearest;
use rig_lab::{Deviation, Lab, Mutation};

/// One `--mutate` argument, read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// The one device of a system that it is put into: `far/pfc.refresh=x2`; `None`: every device.
    pub device: Option<String>,
    /// What becomes of it.
    pub mutation: Mutation,
}

impl Typed {
    /// What is broken: the path of a field below `declared:`, or the part of a deviation.
    pub fn path(&self) -> &str {
        match &self.mutation {
            Mutation::Override { path, .. } => path,
            Mutation::Deviation(switched) => switched.name.part().key(),
        }
    }
}

/// Reads one `--mutate` argument.
///
/// # Errors
/// What is wrong with it and what would be accepted.
pub fn parse(text: &str) -> Result<Typed, String> {
    let form = || {
        format!(
            "`--mutate {text}`: want PATH=VALUE, such as pfcwd.detection_time=x1.1, or deviation=NAME[:VALUE]; \
             of one device of a system, DEVICE/ before either"
        )
    };
    let (path, value) = text.split_once('=').ok_or_else(form)?;
    let (device, path) = match path.split_once('/') {
        Some((device, path)) => (Some(device), path),
        None => (None, path),
    };
    if path.is_empty() || value.is_empty() || device == Some("") {
        return Err(form());
    }
    let device = device.map(str::to_owned);
    if path != "deviation" {
        let mutation = Mutation::Override { path: path.to_owned(), value: value.to_owned() };
        return Ok(Typed { device, mutation });
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
    Ok(Typed { device, mutation: Mutation::Deviation(switched) })
}

/// Puts every mutation into every device of the lab, or into the one of a system that it names. What looks like a key is not echoed: a lab's keys are no setting of a
/// device, so whoever types one here is told that there is no such setting, on a terminal or in a log.
///
/// # Errors
/// Every mutation that does not fit, with what would be accepted.
pub fn apply(lab: &mut Lab, texts: &[String]) -> Result<(), Vec<String>> {
    let mut faults = Vec::new();
    for text in texts {
        let Typed { device, mutation } = match parse(text) {
            Ok(typed) => typed,
            Err(fault) => {
                faults.push(fault);
                continue;
            }
        };
        let refused = match &device {
            Some(device) => one(lab, device, &mutation),
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

/// Breaks one device of the lab's systems.
fn one(lab: &mut Lab, device: &str, mutation: &Mutation) -> Result<(), String> {
    let mut any = false;
    for dut in &mut lab.duts {
        any |= dut.mutate_device(device, mutation).map_err(|why| why.to_string())?;
    }
    let names = devices(lab);
    let names = if names.is_empty() { "none".to_owned() } else { names.join(" or ") };
    any.then_some(()).ok_or(format!("no system of the lab has a device `{device}`: want {names}"))
}

/// The names of the devices of the lab's systems, each once, in order.
pub fn devices(lab: &Lab) -> Vec<&str> {
    let systems = lab.duts.iter().filter_map(|dut| dut.system.as_ref());
    let mut names: Vec<&str> =
        systems.flat_map(|system| &system.devices).map(|device| device.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::Switched;

    #[test]
    fn a_deviation_and_an_override_are_read() {
        let name = Deviation::named("drop_leaks").unwrap();
        let leaks = Mutation::Deviation(Switched { name, value: Some(3) });
        let every = |mutation: &Mutation| Ok(Typed { device: None, mutation: mutation.clone() });
        let far = |mutation| Ok(Typed { device: Some("far".to_owned()), mutation });
        assert_eq!(parse("deviation=drop_leaks:3"), every(&leaks));
        assert_eq!(parse("far/deviation=drop_leaks:3"), far(leaks));
        let path = "pfcwd.detection_time".to_owned();
        let late = Mutation::Override { path, value: "x1.1".into() };
        assert_eq!(parse("pfcwd.detection_time=x1.1"), every(&late));
        assert_eq!(parse("far/pfcwd.detection_time=x1.1"), far(late));
    }

    #[test]
    fn a_deviation_is_put_into_one_device_of_a_system() {
        let mut lab = rig_lab::read::lab(None).expect("the bundled lab");
        let healthy = lab.clone();
        apply(&mut lab, &["far/deviation=latency_grows".to_owned()]).expect("it is put in");
        let broken = |name: &str| {
            let of = |lab: &Lab| {
                let dut = lab.duts.iter().find(|dut| dut.name == name).expect(name);
                // What stands beside it is another's.
                let mut devices = dut.devices().to_vec();
                devices.iter_mut().for_each(|device| device.system = None);
                devices
            };
            let broken = of(&lab).into_iter().zip(of(&healthy)).filter(|(is, was)| is != was);
            broken.map(|(device, _)| device.name).collect::<Vec<_>>()
        };
        assert_eq!(broken("two-in-a-row"), ["far"]);
        assert_eq!(broken("two-in-a-row-far"), ["two-in-a-row-far"]);
        assert_eq!(broken("two-in-a-row-near"), [""; 0]);
        assert_eq!(broken("broadcom"), [""; 0]);
        let refused = apply(&mut lab, &["fra/deviation=latency_grows".to_owned()]);
        let refused = refused.expect_err("there is no such device").join("");
        assert!(refused.contains("has a device `fra`: want far or near"), "{refused}");
    }

    #[test]
    fn mistakes_are_answered_with_what_is_accepted() {
        for (text, want) in [
            ("pfcwd.detection_time", "want PATH=VALUE"),
            ("=x2", "want PATH=VALUE"),
            ("/deviation=drop_leaks", "DEVICE/ before either"),
            ("far/=x2", "want PATH=VALUE"),
            ("far/deviation=drop_leeks", "near it: drop_leaks"),
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
