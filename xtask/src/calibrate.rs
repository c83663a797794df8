//! How often bounds hold what is true, over more healthy trials than CI has time for.

use std::path::Path;
use std::process::Command;

/// Trials of each row.
const TRIALS: &str = "1000";

/// Runs and prints all rows; whether each misses as often as it may.
pub(crate) fn run(root: &Path, trials: Option<String>) -> bool {
    let trials = trials.unwrap_or_else(|| TRIALS.to_owned());
    if !trials.parse().is_ok_and(|trials: u32| trials > 0) {
        eprintln!("calibrate: {trials} is no number of trials, such as {TRIALS}");
        return false;
    }
    let test = ["test", "--locked", "-p", "rig-oracle", "--test", "calibration"];
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root).args(test).args(["--", "--nocapture"]).env("RIG_CALIBRATE", trials);
    match cargo.status() {
        Ok(status) => status.success(),
        Err(why) => {
            eprintln!("calibrate: cargo: {why}");
            false
        }
    }
}
