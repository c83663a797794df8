//! What the tests of guests share: whether this machine can have one, and what a run with one came to.

use crate::bounded::Bounded;
use core::time::Duration;
use rig_generator::netlab::Namespace;
use rig_guests::GuestFault;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Whether this machine can have a guest; a word on stderr where it cannot.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
pub(crate) fn can_have_one() -> bool {
    let lacks = rig_guests::image::missing();
    let why = match Namespace::new() {
        Err(error) => error.to_string(),
        Ok(_) if !lacks.is_empty() => GuestFault::Missing(lacks).to_string(),
        Ok(_) => return true,
    };
    let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
    assert!(!required, "{why} (RIG_REQUIRE_ALL=1)");
    eprintln!("skipped: {why}");
    false
}

/// How long a run may take, at night, too, when it has many cases.
const PATIENCE: Duration = Duration::from_secs(3_600);
/// What CI runs is over before a program of tests is taken for one that hangs.
const BY_DAY: Duration = Duration::from_secs(420);

/// One run at a time: a guest that another one keeps from the processor is slow, and what it does not get done within a trial is inconclusive.
pub(crate) static TURN: Mutex<()> = Mutex::new(());

/// What the run of the cases `only` of `suites` in a lab came to: of each case its verdict, and all that the report says of it. Each test keeps
/// what is its own in the folder `state`.
pub(crate) fn run(
    state: &str,
    (suites, only): (&[&str], &str),
    lab: &Path,
    out: &Path,
) -> BTreeMap<String, (String, String)> {
    let _own = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let state = Path::new(env!("CARGO_TARGET_TMPDIR")).join(state);
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command.env("RIGCTL_STATE", state).arg("run").args(suites);
    command.args(["--only", only, "--seed", "1", "--lab"]).arg(lab).arg("--out").arg(out);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let at_night = ["RIG_WHOLE_LINUX", "RIG_WHOLE_LINUX_SWITCH"]
        .iter()
        .any(|all| std::env::var_os(all).is_some_and(|all| all == "1"));
    let patience = if at_night { PATIENCE } else { BY_DAY };
    let ran = Bounded::start(&mut command).end(patience, Child::wait_with_output);
    let said = [&ran.stdout, &ran.stderr].map(|bytes| String::from_utf8_lossy(bytes)).concat();
    let results = fs::read(out.join("results.json")).unwrap_or_else(|_| panic!("{said}"));
    let results: serde_json::Value = serde_json::from_slice(&results).expect("JSON");
    let all = results["cases"].as_array().unwrap_or_else(|| panic!("{said}"));
    let told = all.iter().map(|case| {
        let id = case["id"].as_str().unwrap_or_default();
        let name = id.rsplit("::").next().unwrap_or(id).to_owned();
        (name, (case["verdict"].as_str().unwrap_or_default().to_owned(), case.to_string()))
    });
    told.collect()
}
