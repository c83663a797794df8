//! `rigctl profile from-dut`: the profile of a switch, from what its databases say.

use super::input::Bad;
use crate::cli::FromDutArgs;
use crate::stdout;
use rig_dut::sonic;
use rig_lab::fault::one_of;
use rig_lab::is_name;
use rig_lab::read::profile_from;
use rig_lab::yaml::Source;
use rig_reports::Exit;
use std::path::Path;

/// Prints the profile, once it reads as one.
///
/// # Errors
/// A file that cannot be used, a port that it has not, or a configuration that no device may have.
pub fn from_dut(args: &FromDutArgs) -> Result<Exit, Bad> {
    let mut bad = Bad::default();
    if !is_name(&args.name) {
        bad.note(format!(
            "`--name {}` is no name of a profile\n   = want: lower case, digits and single dashes, such as leaf-7",
            args.name
        ));
    }
    let tables = match (&args.redis, &args.config_db) {
        (Some(at), _) => sonic::live(at, args.namespace.as_deref()),
        (None, file) => {
            sonic::read(file.as_deref().unwrap_or(Path::new("")), args.namespace.as_deref())
        }
    };
    let sets = tables.and_then(|tables| sonic::alike(&tables, args.base.as_deref()));
    let sets = sets.map_err(|faults| bad.faults(&faults)).ok();
    let (Some(sets), true) = (sets, bad.is_clean()) else { return Err(bad) };
    let wanted =
        |set: &&sonic::PortSet| args.port.as_ref().is_none_or(|port| set.ports.contains(port));
    let Some(set) = sets.iter().find(wanted) else {
        let port = args.port.as_deref().unwrap_or_default();
        let ports = sets.iter().flat_map(|set| &set.ports).map(String::as_str);
        return Err(Bad::of(format!(
            "`--port {port}`: there is no such port that is up\n   = want: {}",
            one_of(port, ports)
        )));
    };
    let text = set.written(&args.name);
    if let Err(faults) = profile_from(&Source::new("the profile", &text)) {
        bad.faults(&set.in_the_file(faults));
        return Err(bad);
    }
    stdout::text(&text);
    Ok(Exit::Passed)
}
