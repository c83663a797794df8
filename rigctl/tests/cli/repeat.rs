//! One seed, one result, byte for byte, however many cases run side by side.

use crate::support::Desk;
use serde_json::Value;

const CASES: &str = "{pfcwd::{detection-of-a-discarded-backlog,both-lossless-classes-*,no-traffic-no-storm},buffers::xoff-threshold-broadcom}";

fn results(desk: &Desk, out: &str) -> Value {
    let mut results = desk.json(&format!("{out}/results.json"));
    results.as_object_mut().expect("an object").remove("wall").expect("wall-clock fields");
    results
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_runs_side_by_side() {
    let desk = Desk::new();
    for (out, jobs) in [("a", 1), ("b", 1), ("c", 2)] {
        let run = format!("run --only {CASES} --seed 11 --jobs {jobs} --out {out}");
        let left = desk.rigctl(&run);
        assert_eq!(left.code, 0, "{left:?}");
    }
    let first = (results(&desk, "a"), desk.files("a/evidence"), desk.files("a/readings"));
    assert!(first.1.len() > 3, "{} captures", first.1.len());
    assert_eq!(first.2.len(), 1, "the table of the search");
    for out in ["b", "c"] {
        assert!(results(&desk, out) == first.0, "results of {out} differ");
        assert!(desk.files(&format!("{out}/evidence")) == first.1, "evidence of {out} differs");
        assert!(desk.files(&format!("{out}/readings")) == first.2, "tables of {out} differ");
    }
}

#[test]
fn another_seed_gives_other_trials() {
    let desk = Desk::new();
    for seed in [1, 2] {
        desk.rigctl(&format!(
            "run --only pfcwd::both-lossless-classes-broadcom --seed {seed} --out {seed}"
        ));
    }
    assert!(desk.files("1/evidence") != desk.files("2/evidence"));
}
