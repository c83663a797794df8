//! What is more than the rig takes is refused when it is read, at its place, and docs/limits.md says the same.

use crate::support::{Desk, Left, STORM, suite};
use rig_units::limits::{self, Limit};

const DETECTION: &str = "    measure:\n      - pfcwd.detection: {storm: storm, stream: victim}\n";
const DOCS: &str = include_str!("../../../docs/limits.md");

/// A suite in which `from` is written as `to`.
fn with(from: &str, to: &str) -> String {
    let text = suite(&format!("{STORM}{DETECTION}"));
    assert!(text.contains(from), "{from}");
    text.replace(from, to)
}

/// What is said of a file that both `check` and `run` refuse.
fn refused(desk: &Desk, file: &str) -> String {
    let mut said = String::new();
    for command in ["run --out out", "check"] {
        let Left { code, stdout, stderr } = desk.rigctl(&format!("{command} {file}"));
        assert_eq!((code, stdout.as_str()), (2, ""), "{command} {file}: {stderr}");
        assert!(!desk.path("out").is_dir(), "{command} {file}: something ran");
        said = stderr;
    }
    said
}

/// Whether `said` is at this line, and wants what the limit says.
fn wants(said: &str, place: &str, limit: &Limit) {
    assert!(said.contains(place), "{place}: {said}");
    assert!(said.contains(&format!("= want: {}", limit.want)), "{}: {said}", limit.want);
}

/// So many values, none like another.
fn values(count: u32) -> String {
    let values = (0..count).map(|i| format!("{}us", 450_000 + i));
    values.collect::<Vec<_>>().join(", ")
}

fn swept(count: u32) -> String {
    let sweep = format!("    sweep: {{long: [{}]}}\n    trials: 1\n", values(count));
    with("for: 450ms", "for: long").replace("    trials: 1\n", &sweep)
}

#[test]
fn a_time_that_no_clock_of_the_rig_holds_is_refused_wherever_it_stands() {
    let desk = Desk::new();
    for (from, to, place) in [
        ("for: 450ms", "for: 18446744073709551615ps", "long.yaml:12:39"),
        ("for: 450ms", "for: 86400.000001s", "long.yaml:12:39"),
        ("every: 500us", "every: 90000s", "long.yaml:8:"),
        ("at: 20ms", "at: {of: pfcwd.poll_interval, plus: 100000s}", "long.yaml:12:"),
        ("detection_time: 200ms", "detection_time: 18446744073709551615ps", "long.yaml:7:"),
    ] {
        desk.write("long.yaml", &with(from, to));
        wants(&refused(&desk, "long.yaml"), place, &limits::time());
    }
}

#[test]
fn a_time_of_a_lab_a_profile_a_mutation_and_a_flag_is_bounded_alike() {
    let desk = Desk::new();
    desk.write(
        "lab.yaml",
        "about: \"x\"\ntransport: veth\ncable: 3m\nwire: {speed: 1Gbps, ports: 2, bound: 10us, budget: 18446744s}\n\
         duts: [none.yaml]\n",
    );
    for (arguments, named) in [
        ("check --lab lab.yaml", "lab.yaml:4:"),
        ("run --out out --mutate pfcwd.detection_time=18446744s", "pfcwd.detection_time=18446744s"),
        ("run --out out --mutate pfcwd.detection_time=x1000000", "pfcwd.detection_time=x1000000"),
        ("gen --to out --every 1us --for 18446744s", "--for 18446744s"),
        ("gen --to out --every 1us --for 1ms --start 18446744s", "--start 18446744s"),
    ] {
        let Left { code, stderr, .. } = desk.rigctl(arguments);
        assert_eq!(code, 2, "{arguments}: {stderr}");
        let limit = limits::time().want;
        assert!(stderr.contains(named) && stderr.contains(&limit), "{arguments}: {stderr}");
    }
}

#[test]
fn a_trial_longer_than_any_that_is_simulated_is_refused_and_one_as_long_is_not() {
    let desk = Desk::new();
    // The storm begins at 20 ms.
    desk.write("long.yaml", &with("for: 450ms", "for: 43199.981s"));
    wants(&refused(&desk, "long.yaml"), "long.yaml:12:", &limits::trial());
    // One as long, with so few frames that they can be recorded.
    let lasts = |length: &str| {
        let seldom = with("every: 500us", "every: 5ms");
        seldom.replace("    trials: 1\n", &format!("    length: {length}\n    trials: 1\n"))
    };
    desk.write("long.yaml", &lasts("43200s"));
    assert_eq!(desk.rigctl("check long.yaml").code, 0);
    desk.write("long.yaml", &lasts("43200.001s"));
    wants(&refused(&desk, "long.yaml"), "long.yaml:4:", &limits::trial());
    // Beyond what 64 bits hold.
    let of = "for: {of: pfcwd.detection_time, times: 1000000, plus: 86400s}";
    desk.write("long.yaml", &with("for: 450ms", of));
    wants(&refused(&desk, "long.yaml"), "long.yaml:12:", &limits::trial());
    let pfc = "start: storm, for: 450ms}\n      - {at: 20ms, pfc: {from: p2, classes: [3], quanta: 0q, count: 10000000, every: 86400s}}";
    desk.write("long.yaml", &with("start: storm, for: 450ms}", pfc));
    wants(&refused(&desk, "long.yaml"), "long.yaml:13:", &limits::trial());
}

#[test]
fn a_case_whose_trials_take_longer_together_is_refused() {
    let desk = Desk::new();
    // 865 trials of 100 s are more than a day.
    let long = with("for: 450ms", "for: 99.98s");
    desk.write("long.yaml", &long.replace("trials: 1", "trials: 865"));
    wants(&refused(&desk, "long.yaml"), "long.yaml:4:", &limits::case());
    desk.write("long.yaml", &long.replace("trials: 1", "trials: 800"));
    assert_eq!(desk.rigctl("check long.yaml").code, 0);
}

#[test]
fn more_trials_than_a_run_ends_are_refused() {
    let desk = Desk::new();
    desk.write("many.yaml", &with("trials: 1", "trials: 100001"));
    wants(&refused(&desk, "many.yaml"), "many.yaml:13:13", &limits::trials());
    // At each point of a sweep.
    desk.write("many.yaml", &swept(3).replace("trials: 1\n", "trials: 40000\n"));
    let said = refused(&desk, "many.yaml");
    wants(&said, "many.yaml:4:", &limits::trials());
    assert!(said.contains("120000 trials"), "{said}");
}

/// A load at line rate for so many seconds, and no storm.
fn load(seconds: u64, trials: u32) -> String {
    let measure =
        "    measure:\n      - throughput: {streams: [victim], from: 30ms, until: 40ms}\n";
    let text = suite(&format!("{STORM}{measure}"));
    text.replace("size: 254B, every: 500us", "size: 1024B, rate: 100%")
        .replace(
            "- {at: 0ms, start: victim}",
            &format!("- {{at: 0ms, start: victim, for: {seconds}s}}"),
        )
        .replace("for: 450ms", "for: 1ms")
        .replace("trials: 1", &format!("trials: {trials}"))
}

#[test]
fn more_frames_than_a_simulation_ends_are_refused_at_their_sender_and_as_many_on_real_ports_are_not()
 {
    let desk = Desk::new();
    // A frame of 1024 B every 83.52 ns: 835.2 s of it are the limit.
    for (seconds, trials, found) in [
        (3_590, 1, "one trial that sends "),
        (836, 1, "one trial that sends "),
        (84, 10, "10 trials that send "),
    ] {
        desk.write("busy.yaml", &load(seconds, trials));
        let said = refused(&desk, "busy.yaml");
        wants(&said, "busy.yaml:8:", &limits::frames());
        assert!(said.contains(found) && said.contains("of them from here"), "{said}");
    }
    let veth = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth.yaml");
    let Left { code, stderr, .. } = desk.rigctl(&format!("check busy.yaml --lab {veth}"));
    assert_eq!(code, 0, "{stderr}");
    desk.write("busy.yaml", &load(835, 1));
    let Left { code, stderr, .. } = desk.rigctl("check busy.yaml");
    assert_eq!(code, 0, "{stderr}");
}

#[test]
fn more_frames_than_memory_holds_are_refused_wherever_they_are_sent() {
    let desk = Desk::new();
    let veth = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth.yaml");
    for (seconds, code) in [(1_001, 2), (999, 0)] {
        let text = load(seconds, 1).replace("size: 1024B, rate: 100%", "size: 254B, every: 20us");
        desk.write("probes.yaml", &text);
        for lab in [String::new(), format!(" --lab {veth}")] {
            let Left { code: left, stderr, .. } = desk.rigctl(&format!("check probes.yaml{lab}"));
            assert_eq!(left, code, "{seconds}: {stderr}");
            if code == 2 {
                wants(&stderr, "probes.yaml:8:", &limits::recorded());
            }
        }
    }
}

#[test]
fn a_sweep_of_more_points_than_are_taken_is_refused_at_once_and_one_of_as_many_is_not() {
    let desk = Desk::new();
    for count in [1_001, 40_000] {
        desk.write("wide.yaml", &swept(count));
        let said = refused(&desk, "wide.yaml");
        wants(&said, "wide.yaml:13:", &limits::points());
        assert!(said.contains(&format!("a sweep of {count} points")), "{said}");
    }
    desk.write("wide.yaml", &swept(1_000));
    assert_eq!(desk.rigctl("check wide.yaml").code, 0);
    let both = swept(100)
        .replace("sweep: {", &format!("sweep: {{dut.pfcwd.restoration_time: [{}], ", values(11)));
    desk.write("wide.yaml", &both);
    let said = refused(&desk, "wide.yaml");
    wants(&said, "wide.yaml:13:", &limits::points());
    assert!(said.contains("a sweep of 1100 points"), "{said}");
}

#[test]
fn names_longer_than_any_file_system_takes_are_refused() {
    let desk = Desk::new();
    let (most, more) = ("n".repeat(limits::NAME), "n".repeat(limits::NAME + 1));
    for (from, line) in [("one-case", 4), ("victim", 8), ("storm", 9)] {
        // `storms` and `storm:` of a measure are words of the language.
        let named = |name: &str| match from {
            "storm" => suite(&format!("{STORM}{DETECTION}"))
                .replace("{storm: {from", &format!("{{{name}: {{from"))
                .replace("start: storm", &format!("start: {name}"))
                .replace("storm: storm", &format!("storm: {name}")),
            _ => with(from, name),
        };
        desk.write("named.yaml", &named(&more));
        wants(&refused(&desk, "named.yaml"), &format!("named.yaml:{line}:"), &limits::name());
        desk.write("named.yaml", &named(&most));
        let left = desk.rigctl("check named.yaml");
        assert_eq!(left.code, 0, "{from}: {left:?}");
    }
    let file = format!("{more}.yaml");
    desk.write(&file, &with("trials: 1", "trials: 2"));
    wants(&refused(&desk, &file), &file, &limits::name());
    let lab = format!(
        "about: \"x\"\ntransport: interfaces\ncable: 3m\nwire: {{interfaces: [{more}], bound: 10us, budget: 60s}}\nduts: [none.yaml]\n"
    );
    desk.write("lab.yaml", &lab);
    let Left { code, stderr, .. } = desk.rigctl("check --lab lab.yaml");
    assert_eq!(code, 2, "{stderr}");
    wants(&stderr, "lab.yaml:4:", &limits::name());
}

#[test]
fn a_lab_of_more_devices_than_anybody_has_is_refused_before_they_are_read() {
    let desk = Desk::new();
    desk.write("one.yaml", &with("trials: 1", "trials: 2"));
    let profile = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/duts/broadcom.yaml");
    let line = format!("  - {profile}\n");
    let head = "about: \"x\"\ntransport: virtual\ncable: 3m\nduts:\n";
    desk.write("lab.yaml", &format!("{head}{}", line.repeat(8_000)));
    let Left { code, stderr, .. } = desk.rigctl("check one.yaml --lab lab.yaml");
    assert_eq!(code, 2, "{stderr}");
    wants(&stderr, "lab.yaml:69:", &limits::devices());
    assert!(stderr.contains("a lab of 8000 devices") && stderr.contains("1 fault"), "{stderr}");
}

#[test]
fn a_stretch_that_ends_before_it_begins_or_after_the_trial_is_refused() {
    let desk = Desk::new();
    let load = "kind: rocev2-write, size: 1024B, rate: 50%}}";
    for (from, until, want) in [
        (
            "{of: pfcwd.detection_time, times: 2}",
            "{of: pfcwd.detection_time}",
            "an end after the beginning",
        ),
        ("30ms", "43200s", "an end within the trial"),
    ] {
        let measure = format!(
            "    measure:\n      - throughput: {{streams: [victim], from: {from}, until: {until}}}\n"
        );
        let text = suite(&format!("{STORM}{measure}"));
        desk.write(
            "window.yaml",
            &text.replace("kind: rocev2-write, size: 254B, every: 500us}}", load),
        );
        let said = refused(&desk, "window.yaml");
        assert!(said.contains("window.yaml:14:") && said.contains(want), "{said}");
    }
}

#[test]
fn the_page_of_limits_says_what_the_program_does() {
    let rows: Vec<&str> = DOCS.lines().filter(|line| line.starts_with("| ")).skip(2).collect();
    let want: Vec<String> = limits::all().iter().map(Limit::row).collect();
    assert_eq!(rows, want, "docs/limits.md");
}

#[test]
fn the_catalogue_stays_well_inside() {
    let desk = Desk::new();
    let Left { code, stdout, stderr } = desk.rigctl("list");
    assert_eq!(code, 0, "{stderr}");
    let ids = stdout.lines().filter_map(|line| line.split_whitespace().next());
    let longest = ids.filter_map(|id| id.split("::").nth(1)).map(str::len).max();
    assert!(longest.is_some_and(|longest| longest * 10 <= limits::NAME * 9), "{longest:?}");
}

#[test]
fn of_a_file_that_is_nothing_but_faults_a_hundred_are_told_and_at_once() {
    let desk = Desk::new();
    // On one line, of which each message shows a part.
    let keys = (0..24_000).map(|number| format!("k{number}: 1")).collect::<Vec<_>>().join(", ");
    let text = format!("about: \"x\"\ndevice: switch\ncases:\n  c: {{{keys}}}\n");
    desk.write("suite.yaml", &text);
    // It took most of a minute.
    let left = desk.shell("timeout 10 $RIGCTL check suite.yaml");
    assert_eq!(left.code, 2, "{}", left.stderr);
    let told = left.stderr.matches("unknown key").count();
    assert!((90..=100).contains(&told), "{told}: {}", left.stderr);
    assert!(left.stderr.contains(" more faults, which are not told"), "{}", left.stderr);
}
