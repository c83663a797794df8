//! A child, and what would have been one of a rig that is gone.

use super::*;
use std::process::id;

#[test]
fn what_is_started_by_a_rig_that_is_gone_does_not_run() {
    let said = |rig: u32| {
        let out = with_rig(rig, "echo").arg("runs").output();
        out.map(|out| (out.status.success(), String::from_utf8_lossy(&out.stdout).into_owned()))
    };
    if Command::new("setpriv").arg("--version").output().is_err() {
        let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
        assert!(!required, "no setpriv and RIG_REQUIRE_ALL=1");
        eprintln!("skipped: no setpriv (util-linux)");
        return;
    }
    assert_eq!(said(id()).expect("a shell"), (true, "runs\n".to_owned()));
    // As if another had taken its child over.
    assert_eq!(said(1).expect("a shell"), (false, String::new()));
}
