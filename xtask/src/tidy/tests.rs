//! Each rule is seen to fire on a planted breach, and to be silent over the repository.

use super::breach::Breach;
use super::tree::Source;
use super::{breaches, check};

fn planted(path: &str, text: &str) -> Vec<Breach> {
    breaches(&[Source { path: path.to_owned(), text: text.to_owned() }])
}

fn fires(path: &str, text: &str, why: &str) {
    let found = planted(path, &format!("//! One job.\n{text}\n"));
    assert!(found.iter().any(|breach| breach.why.contains(why)), "{path}: {text:?} gave {found:?}");
}

#[test]
fn the_repository_is_tidy() {
    let found = check(&crate::root()).expect("a readable repository");
    assert!(found.is_empty(), "{}", found.iter().map(|b| format!("{b}\n")).collect::<String>());
}

#[test]
fn an_arrow_against_the_flow_is_named_with_what_is_allowed() {
    let found = planted("capture/Cargo.toml", "[dependencies]\nrig-oracle.workspace = true\n");
    let [breach] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        breach.to_string(),
        "capture/Cargo.toml:2: `capture` must not use `rig-oracle`: it may use rig-units, rig-frames, rig-testcases"
    );
}

/// A room of these files, each with its imports.
fn room(files: &[(&str, &str)]) -> Vec<Breach> {
    let source = |(path, uses): &(&str, &str)| Source {
        path: format!("rigctl/src/{path}"),
        text: format!("//! One job.\n{uses}\n"),
    };
    breaches(&files.iter().map(source).collect::<Vec<_>>())
}

#[test]
fn a_circle_of_more_than_three_files_is_told_once_with_all_of_them() {
    let three = [
        ("a.rs", "use crate::b::{c::X, Y};"),
        ("b.rs", "pub(in crate::a) fn f() {}"),
        ("b/c.rs", "use super::super::d;\n#[cfg(test)]\nmod tests {\n    use crate::e::X;\n}"),
        ("d.rs", "fn f() { crate::a::g(); }"),
        ("e.rs", "use crate::{a, b::c};"),
    ];
    assert_eq!(room(&three), [], "what only sees or tests it is in none");
    let mut four = three;
    four[1].1 = "use super::\n    {a, d};";
    let found = room(&four);
    let [breach] = &found[..] else { panic!("{found:?}") };
    assert_eq!(
        breach.to_string(),
        "rigctl/src/a.rs:1: 4 files import each other in a circle, 3 at most do: a, b, b::c, d"
    );
}

#[test]
fn a_file_uses_what_it_names_below_itself_and_not_what_it_only_hands_on() {
    let handed = [
        ("lib.rs", "pub mod a;\npub use a::Made;"),
        ("a.rs", "mod b;\nmod c;\nmod d;\npub(crate) use b::{Own, make as Made};\nstruct Shared;"),
        ("a/b.rs", "use super::Shared;"),
        ("a/c.rs", "use crate::Made;"),
        ("a/d.rs", "use super::{Shared, c::X};"),
    ];
    assert_eq!(room(&handed), [], "`a` needs none of its own");
    let circle = "1: 4 files import each other in a circle, 3 at most do: a, a::b, a::c, a::d";
    for used in ["fn f() { d::run(&c::X) }", "fn f(own: Own) { d::run() }"] {
        let mut used_too = handed;
        let text = format!("{}\n{used}", handed[1].1);
        used_too[1].1 = &text;
        let found = room(&used_too);
        let [breach] = &found[..] else { panic!("{found:?}") };
        assert!(breach.to_string().ends_with(circle), "{breach}");
    }
}

#[test]
fn a_public_doc_that_says_no_more_than_the_name_is_found() {
    for text in [
        "/// Which.\npub kind: Kind,",
        "    /// They.\n    pub(crate) keys: Keyring,",
        "/// A switch.\n#[derive(Debug)]\npub struct Switch {",
        "/// The trace.\npub(super) const fn trace(&self) -> &[PortTrace] {",
        "/// The ports.\npub port_of: u8,",
        "/// One case.\npub struct CaseReport {",
    ] {
        fires("capture/src/lib.rs", text, "says nothing");
    }
    for text in [
        "/// One case of a suite.\npub struct Case {",
        "/// Seconds.\npub length: f64,",
        "/// `run`\npub struct RunArgs {",
        "/// The switch.\nswitch: Switch,",
        "/// The switch.\n/// It forwards.\npub switch: Switch,",
    ] {
        let found = planted("capture/src/record.rs", &format!("//! One job.\n{text}\n"));
        let silent = found.iter().all(|breach| !breach.why.contains("says nothing"));
        assert!(silent, "{found:?}");
    }
}

#[test]
fn a_name_of_two_rooms_stands_in_the_glossary_with_what_it_means_in_each() {
    let source = |path: &str, text: &str| Source {
        path: path.to_owned(),
        text: format!("//! One job.\n{text}\n"),
    };
    let found = |glossary: &str| {
        let of = "pub struct Kind;\nfn f() -> Kind {}";
        let all = [
            source("capture/src/a.rs", of),
            source("oracle/src/a.rs", of),
            source("oracle/src/b.rs", of),
            source("reports/src/a.rs", "struct Kind;\n#[cfg(test)]\npub struct Kind;"),
            source("units/src/a/tests.rs", of),
            source("docs/glossary.md", glossary),
        ];
        breaches(&all).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(found("| `Kind` | `capture`: of a frame; `oracle`: of a packet |"), [""; 0]);
    let why = "`Kind` of `oracle` is the name of another thing in another room: choose a word of its own, \
or say what it means here in docs/glossary.md";
    assert_eq!(found("| `Kind` | `capture`: of a frame |"), [format!("oracle/src/a.rs:2: {why}")]);
    assert_eq!(found("").len(), 2, "one for each");
    let more = "| `Kind` | `capture`, `oracle`: of a frame; `reports`: of a case |";
    let why = "`Kind` has no second meaning in `reports` any more: take it out";
    assert_eq!(found(more), [format!("docs/glossary.md:2: {why}")]);
}

/// What is told of `pub fn checked` in `oracle/src/spec/a.rs`, beside another file.
fn checked(path: &str, text: &str) -> Vec<Breach> {
    let source = |path: &str, text: &str| Source {
        path: path.to_owned(),
        text: format!("//! One job.\n{text}\n"),
    };
    let own = "impl A {\n    pub const fn checked(&self) -> bool {\n        true\n    }\n}";
    breaches(&[source("oracle/src/spec/a.rs", own), source(path, text)])
}

#[test]
fn a_public_item_that_only_tests_name_is_theirs() {
    let tests = [
        ("oracle/src/spec/b.rs", "#[cfg(test)]\nmod tests {\n    fn f() { checked() }\n}"),
        ("oracle/src/spec/b.rs", "#[cfg(test)]\nfn f(\n    a: A,\n) -> B {\n    checked()\n}"),
        ("oracle/src/spec/b.rs", "/// As [`checked`].\nfn f() {}"),
        ("oracle/src/spec/a/tests.rs", "fn f() { checked() }"),
        ("oracle/tests/wred.rs", "fn f() { checked() }"),
        ("oracle/src/spec/mod.rs", "#[cfg(test)]\nmod a;"),
        ("oracle/src/spec/mod.rs", "#[cfg(feature = \"fixture\")]\nmod a;"),
    ];
    let last = tests.len() - 2;
    for (path, text) in &tests[..last] {
        let found = checked(path, text);
        let [breach] = &found[..] else { panic!("{path} {text}: {found:?}") };
        assert_eq!(
            breach.to_string(),
            "oracle/src/spec/a.rs:3: `checked` has no caller but tests: make it theirs, or remove it"
        );
    }
    for (path, text) in &tests[last..] {
        assert_eq!(checked(path, text), [], "itself of tests");
    }
    let asks = |above: &str| {
        let text =
            format!("[{above}]\nrig-lab = {{ workspace = true, features = [\"fixture\"] }}\n");
        breaches(&[Source { path: "oracle/Cargo.toml".to_owned(), text }]).len()
    };
    assert_eq!([asks("dependencies"), asks("dev-dependencies")], [1, 0]);
    for call in [
        "a.checked()",
        "A::checked(&a)",
        "A::<u8>::checked",
        "all.map(A::checked)",
        "a\n.checked()",
    ] {
        let own = format!("#[cfg(test)]\nmod tests {{\n}}\nfn f() {{ {call} }}");
        for path in ["oracle/src/spec/b.rs", "rigctl/src/b.rs"] {
            assert_eq!(checked(path, &own), [], "the program calls it: {call}");
        }
    }
    // What is called the same is something else.
    for other in ["checked()", "B::checked(&b)", "let checked = 1;", "B { checked }"] {
        let own = format!("fn f() {{ {other} }}");
        assert_eq!(checked("oracle/src/spec/b.rs", &own).len(), 1, "{other}");
    }
}

#[test]
fn spec_and_model_must_not_name_each_other() {
    fires("oracle/src/spec/pfcwd.rs", "use crate::model::pfcwd::detect;", "closed form");
    fires("oracle/src/judge/grid.rs", "use crate::model::pfcwd::detect;", "closed form");
    fires("oracle/src/model/pfcwd/detect.rs", "use crate::spec::pfcwd::Rule;", "simulate");
}

#[test]
fn a_measure_names_no_model_and_neither_spec_nor_model_a_measure() {
    fires("oracle/src/measure/loss.rs", "use crate::model::buffer::Pools;", "in the observation");
    for below in ["spec/buffer.rs", "judge/grid.rs", "model/buffer.rs"] {
        fires(&format!("oracle/src/{below}"), "use crate::measure::Limit;", "as an argument");
    }
}

/// What is told of these files, by path and text, that has to do with what is shared over the wall.
fn over_the_wall(files: &[(&str, &str)]) -> Vec<String> {
    let source = |(path, text): &(&str, &str)| Source {
        path: (*path).to_owned(),
        text: format!("//! One job.\n{text}\n"),
    };
    let all = breaches(&files.iter().map(source).collect::<Vec<_>>());
    let told = all.iter().map(ToString::to_string);
    told.filter(|told| told.contains("by the model and by what judges it")).collect()
}

#[test]
fn what_both_sides_of_the_wall_call_in_a_third_room_is_found() {
    let third = "impl Wred {\n    pub fn curve(&self, color: Color) -> Curve {\n        self.low(color)\n    }\n\
    const fn low(self, color: Color) -> Curve {\n        X\n    }\n}";
    let lab = ("lab-configs/src/wred.rs", third);
    let model = "oracle/src/model/wred/config.rs";
    let spec = ("oracle/src/spec/wred.rs", "fn a() { wred.curve(color) }");
    let found = over_the_wall(&[lab, spec, (model, "fn b() { declared.wred.curve(f(1, 2)) }")]);
    assert_eq!(found.len(), 2, "and what it calls: {found:?}");
    assert_eq!(
        found[0],
        "lab-configs/src/wred.rs:3: `Wred::curve` is called by the model and by what judges it: let each write down for \
itself what it means"
    );
    for judging in ["oracle/src/judge/grid.rs", "oracle/src/measure/ecn.rs"] {
        let judging = (judging, "fn a() { colors.map(|color| Wred::curve(&wred, color)) }");
        assert_eq!(
            over_the_wall(&[lab, judging, (model, "fn b() { x.map(Wred::curve) }")]).len(),
            2
        );
    }
    for silent in [
        "fn b() { wred.curve(\"a, b)\", 1) }",
        "fn b() { curve(color) }",
        "fn b() { Curve::curve(color) }",
        "impl Own {\n    fn curve(&self, color: usize) {}\n}\nfn b() { self.curve(color) }",
        "#[cfg(test)]\nfn b() { wred.curve(color) }",
    ] {
        assert_eq!(over_the_wall(&[lab, spec, (model, silent)]), [""; 0], "{silent}");
    }
    let unit = (
        "units/src/size.rs",
        "impl Bytes {\n    pub fn curve(self, a: u8) -> u64 {\n        1\n    }\n}",
    );
    let both = [spec, (model, "fn b() { wred.curve(color) }")];
    assert_eq!(over_the_wall(&[unit, both[0], both[1]]), [""; 0], "a conversion");
}

#[test]
fn every_exception_of_the_wall_is_one_that_both_sides_need() {
    let sources = super::tree::read(&crate::root()).expect("a readable repository");
    assert_eq!(super::wall::unneeded(&sources), [""; 0]);
}

#[test]
fn only_the_model_and_the_emulated_adapters_may_see_what_a_device_really_does() {
    for path in [
        "rigctl/src/run.rs",
        "oracle/src/spec/pfcwd.rs",
        "capture/src/lib.rs",
        "dut-adapters/src/sonic.rs",
    ] {
        fires(path, "let hidden = profile.actual();", "declared");
    }
    assert_eq!(
        planted("oracle/src/model/dut/mod.rs", "//! One job.\nlet own = profile.actual();\n"),
        []
    );
}

#[test]
fn names_of_sais_counters_stand_in_one_file_in_adapters_and_in_tests() {
    let named = "let name = \"SAI_QUEUE_STAT_PACKETS\";";
    for path in ["oracle/src/model/counters.rs", "oracle/src/measure/pfc.rs"] {
        fires(path, named, "use `DutCounter`");
        fires(path, "let of = \"SAI_OBJECT_TYPE_WRED\";", "use `DutCounter`");
        let test = format!("//! One job.\n#[cfg(test)]\nmod tests {{\n    {named}\n}}\n");
        assert_eq!(planted(path, &test), []);
        assert_eq!(planted(path, "//! One job.\n// As `SAI_QUEUE_STAT_PACKETS` says.\n"), []);
    }
    for path in ["capture/src/counter.rs", "dut-adapters/src/sonic.rs", "oracle/tests/a.rs"] {
        assert_eq!(planted(path, &format!("//! One job.\n{named}\n")), []);
    }
}

#[test]
fn a_measure_is_known_by_its_name_in_its_own_file_alone() {
    let own = Source {
        path: "oracle/src/measure/pfc.rs".to_owned(),
        text: "//! One job.\nstatic SENT: Known = Known {\n    name: \"pfc.sent\",\n};\nstatic LOSS: Known = Known {\n    name: \"loss\",\n};\n".to_owned(),
    };
    let found = |path: &str, line: &str| {
        let text = format!("//! One job.\nfn f() {{\n    {line}\n}}\n");
        let other = Source { path: path.to_owned(), text };
        let own = Source { path: own.path.clone(), text: own.text.clone() };
        breaches(&[own, other])
    };
    for line in [
        "let sends = name == \"pfc.sent\";",
        "let lost = one.name() == \"loss\";",
        "let of = name.starts_with(\"pfc.\");",
        "let lost = one.measure.name()\n        == \"loss\";",
        "match measure.name() {\n        \"ecn\" => 1,\n        \"loss\" => 2,\n        _ => 3,\n    }",
        "match (name, port) {\n        (\"ecn\", _)\n        | (\"pfc.sent\", 1) => 2,\n        _ => 3,\n    }",
        "match one.and_then(Measure::name) {\n        Some(\"loss\") => 2,\n        _ => 3,\n    }",
        "matches!(\n        measure.name(),\n        \"loss\" | \"pfc.sent\"\n    )",
        "const BY_PFC: [&str; 2] = [\"loss\", \"pfc.sent\"];",
        "const BY_PFC: &[&str] = &[\n        \"loss\",\n        \"pfc.sent\",\n    ];",
    ] {
        let all = found("rigctl/src/runner/classes.rs", line);
        let [breach] = &all[..] else { panic!("{line}: {all:?}") };
        assert!(breach.why.contains("give what is asked here a field"), "{breach}");
        let test = format!("#[cfg(test)]\nmod tests {{\n    {line}\n}}");
        assert_eq!(found("rigctl/src/runner/classes.rs", &test), [], "{line}");
        assert_eq!(found("oracle/src/measure/loss.rs", line), [], "{line}");
    }
    // Words that are no measure's, or say something else.
    for line in [
        "let key = \"loss\";",
        "let of = name.starts_with(\"ecn.\");",
        "match key {\n        \"loss\" => 2,\n        _ => 3,\n    }",
        "match name {\n        \"ecn\" => say(\"loss\"),\n        _ => {\n            \"loss\"\n        }\n    }",
        "match name {\n        \"ecn\" => match key {\n            \"loss\" => 2,\n            _ => 3,\n        },\n        _ => 3,\n    }",
        "const PATH: &str = \"pfc.sent\";\n    const OTHER: &str = \"loss\";",
    ] {
        assert_eq!(found("rigctl/src/runner/classes.rs", line), [], "{line}");
    }
}

#[test]
fn unsafe_code_is_found_outside_the_port_back_ends() {
    for path in ["oracle/src/lib.rs", "generator/src/program.rs", "generator/src/port/pool.rs"] {
        fires(path, "unsafe { x }", "back ends");
        fires(path, "unsafe impl Send for X {}", "back ends");
    }
    let mapping = "generator/src/port/afxdp/mapping.rs";
    assert_eq!(planted(mapping, "//! One job.\nlet x = unsafe { y };\n"), []);
}

#[test]
fn printing_clocks_and_unfinished_code_are_found() {
    fires("capture/src/lib.rs", "println!(\"here\");", "nothing below rigctl prints");
    fires("rigctl/src/run.rs", "let t = std::time::Instant::now();", "time is an argument");
    fires("oracle/src/lib.rs", "todo!()", "defects");
    fires("oracle/src/lib.rs", &"// more\n".repeat(500), "over 500 lines");
    assert_eq!(planted("oracle/src/lib.rs", "fn f() {}\n").len(), 1, "no job stated");
}

#[test]
fn a_file_of_more_than_five_hundred_lines_is_found_and_a_test_is_no_exception() {
    let lines = |count: usize| format!("//! One job.\n{}", "fn f() {}\n".repeat(count - 1));
    for path in
        ["oracle/src/model/wred.rs", "oracle/src/model/wred/tests.rs", "rigctl/tests/wire.rs"]
    {
        assert_eq!(planted(path, &lines(500)), [], "{path}");
        let why = "over 500 lines: split it by responsibility".to_owned();
        assert_eq!(planted(path, &lines(501)), [Breach { file: path.to_owned(), line: 501, why }]);
    }
}

#[test]
fn what_the_page_of_where_things_are_names_is_there() {
    let told = |page: &str| {
        let source =
            |path: &str, text: &str| Source { path: path.to_owned(), text: text.to_owned() };
        let code = source("oracle/src/measure/mod.rs", "//! One job.\nstatic ALL: u8 = 1;\n");
        let found = breaches(&[code, source("docs/architecture.md", page)]);
        found.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let right = "# Where\n`measure/mod.rs` in `oracle/src/`, `ALL`, `some words`, `crosses`, `measure::ALL`\n";
    assert_eq!(told(right), [""; 0]);
    for (was, is) in [("mod.rs", "rows.rs"), ("oracle/src/", "oracle/old/"), ("`ALL`", "`EVERY`")] {
        let gone = is.trim_matches('`');
        let name = if is == "rows.rs" { "measure/rows.rs" } else { gone };
        let why = format!(
            "docs/architecture.md:2: `{name}` is nowhere any more: name what took its place"
        );
        assert_eq!(told(&right.replacen(was, is, 1)), [why]);
    }
}
