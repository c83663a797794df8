//! Scripts that decide for a stand-in's watchdogs, from a folder to a verdict: the device obeys them, and one that decides otherwise is
//! red on a chip that is sound.

use super::{STALLS, SUITE, redis, run_by, verdict};
use crate::common::root;
use std::path::Path;

/// The scripts of this repository: none of SONiC's.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../dut-adapters/testdata/sonic/lua");

#[test]
fn a_stand_in_obeys_the_scripts_of_a_folder_and_one_that_decides_two_polls_later_is_red() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    if !redis(desk.path()) {
        return;
    }
    std::fs::write(desk.path().join("one.yaml"), SUITE).expect("writable");
    std::fs::create_dir(desk.path().join("tmp")).expect("a folder");
    let late = desk.path().join("late");
    std::fs::create_dir(&late).expect("a folder");
    for name in ["pfc_detect_broadcom.lua", "pfc_restore.lua"] {
        let text = std::fs::read_to_string(Path::new(FOLDER).join(name)).expect("it is there");
        let later = if name == "pfc_restore.lua" {
            text
        } else {
            // A poll later shows in most trials and not in each: see `LATER` there.
            let later = text.replace("left <= poll", "left <= -poll");
            assert_ne!(later, text);
            later
        };
        std::fs::write(late.join(name), later).expect("writable");
    }
    for (folder, wanted) in [(Path::new(FOLDER), "pass"), (&late, "fail")] {
        let (output, results) = run_by(desk.path(), "", Some(folder));
        for id in ["one::one", "one::told"] {
            let (verdict, reason) = verdict(&results, id);
            let stalled = verdict == "inconclusive" && STALLS.contains(&reason);
            let folder = folder.display();
            assert!(verdict == wanted || stalled, "{id} {folder}: {verdict} {reason}\n{output:?}");
        }
    }
}
