//! By which test a command of a page is run, or what it needs that no test has.

use super::{Told, root};
use std::fs;

/// How a command is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tried {
    /// In this test, as it is told, and it ends with one of these exit codes.
    Here(&'static [i32]),
    /// By another test, in this file.
    Elsewhere(&'static str),
    /// Nowhere: the page says what it needs.
    Needs,
}

/// Commands that need root, or minutes: words that they have, the file of the test that runs what they do, and what stands there.
const ELSEWHERE: [(&[&str], &str, &str); 28] = [
    (&["run", "lab-configs/veth.yaml"], "rigctl/tests/wire.rs", "veth.yaml"),
    (&["run", "lab-configs/veth-nics.yaml"], "rigctl/tests/wire.rs", "veth-nics.yaml"),
    (&["run", "lab-configs/veth-nic-pair.yaml"], "rigctl/tests/wire/pair.rs", "veth-nic-pair.yaml"),
    (&["run", "lab-configs/veth-blue-rdma.yaml"], "rigctl/tests/wire.rs", "veth-blue-rdma.yaml"),
    (
        &["run", "lab-configs/veth-rdma-router.yaml"],
        "rigctl/tests/wire.rs",
        "veth-rdma-router.yaml",
    ),
    (&["run", "lab-configs/soft-roce.yaml"], "rigctl/tests/linux.rs", "soft-roce.yaml"),
    (&["run", "lab-configs/soft-roce-jumbo.yaml"], "rigctl/tests/linux.rs", "soft-roce-jumbo.yaml"),
    (&["run", "lab-configs/soft-roce-pair.yaml"], "rigctl/tests/linux.rs", "soft-roce-pair.yaml"),
    (
        &["run", "testcases/macsec-pfc.yaml", "lab-configs/linux-switch.yaml"],
        "rigctl/tests/linux_switch/secured.rs",
        "linux-switch.yaml",
    ),
    (
        &["run", "lab-configs/linux-switch.yaml"],
        "rigctl/tests/linux_switch.rs",
        "linux-switch.yaml",
    ),
    (
        &["run", "lab-configs/linux-switch-curve.yaml"],
        "rigctl/tests/linux_switch.rs",
        "linux-switch-curve.yaml",
    ),
    (&["RIG_SONIC_LUA", "run"], "rigctl/tests/sonic/whole.rs", "RIG_SONIC_LUA"),
    (&["run", "lab-configs/sonic-standin.yaml"], "rigctl/tests/sonic.rs", "sonic-standin.yaml"),
    (&["ip netns exec", "run", "my-lab.yaml"], "rigctl/tests/cabled.rs", "bench.rigctl("),
    (
        &["ip netns exec", "doctor", "my-lab.yaml"],
        "rigctl/tests/cabled.rs",
        "doctor --lab lab.yaml",
    ),
    (&["guest", "perftest", "_lat"], "guests/tests/linux/latency.rs", "run_as_client"),
    (&["guest", "perftest"], "guests/tests/linux.rs", "\"ib_write_bw\", FLAGS"),
    (&["guest", "build"], "guests/tests/linux.rs", "Image::build"),
    (&["dut", "serve", "--as", "sonic"], "rigctl/tests/sonic.rs", "--as sonic --redis"),
    (&["dut", "serve"], "rigctl/tests/steered.rs", "dut serve --dut broadcom --port d1 d2"),
    (&["gen", "--port", "eth1"], "rigctl/tests/obstacles.rs", "\"gen\", \"--port\", \"eth1\""),
    (&["restore"], "rigctl/tests/left.rs", "restore --dry-run"),
    (&["bench", "pacing"], "rigctl/tests/benchmarks.rs", "pacing --against-python"),
    (&["bench", "tx"], "rigctl/tests/benchmarks.rs", "tx --rounds 1"),
    (&["bench", "oracle"], "rigctl/tests/benchmarks.rs", "--against"),
    (&["mutants"], "xtask/src/nightly/checks.rs", "mutants testcases/{suite}.yaml"),
    (&["compare", "night/last"], "rigctl/tests/cli/compare.rs", "compare "),
    // Whole suites, which are minutes together.
    (&["run", "testcases/"], "rigctl/tests/catalogue.rs", "read::bundled"),
];

/// How this one is. What is run here comes first, but for what a page says it needs.
pub(super) fn tried(told: &Told) -> Option<Tried> {
    if told.needs {
        return Some(Tried::Needs);
    }
    let has = |word: &str| told.words.iter().any(|own| own == word);
    let is = |first: &str| told.words.first().is_some_and(|own| own == first);
    let quick = ["check", "list", "explain", "size", "schema", "gen", "analyze", "compare"];
    let kept = is("profile") || has("--sysroot") && !has("server7.txt");
    let of_a_night = told.words.iter().any(|word| word.contains('$'));
    if !told.root && !of_a_night && (quick.iter().any(|first| is(first)) || kept) {
        return Some(Tried::Here(&[0]));
    }
    // What is found is told by the exit code.
    if is("lint") {
        return Some(Tried::Here(&[0, 1]));
    }
    // It says what is missing, to whoever asks.
    if is("doctor") && told.words.iter().all(|word| !word.starts_with("my-")) {
        return Some(Tried::Here(&[0, 4]));
    }
    if is("run") && !told.root && (has("--only") || has("--dut")) {
        return Some(Tried::Here(if has("--mutate") { &[1] } else { &[0] }));
    }
    let all = |words: &&[&str]| words.iter().all(|word| told.line.contains(word));
    let found = ELSEWHERE.iter().find(|(words, ..)| all(words));
    found.map(|(_, file, _)| Tried::Elsewhere(file))
}

#[test]
fn tests_that_run_what_is_told_are_there() {
    for (words, file, says) in ELSEWHERE {
        let text = fs::read_to_string(root().join(file)).expect(file);
        assert!(text.contains(says), "{words:?}: {file} has no `{says}`");
    }
}
