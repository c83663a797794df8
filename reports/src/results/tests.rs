use super::*;
use crate::{Finished, fixture};
use rig_units::Dur;

#[test]
fn a_run_with_a_case_of_every_kind() {
    insta::assert_snapshot!(Results::of(&fixture::run()).to_json());
}

#[test]
fn what_was_written_is_read_back_whole() {
    for run in [fixture::run(), fixture::hostile()] {
        let results = Results::of(&run);
        assert_eq!(Results::read("results.json", &results.to_json()), Ok(results));
    }
}

#[test]
fn wall_clock_facts_sit_under_one_key() {
    let mut again = fixture::run();
    again.started.wall.out = "/elsewhere".to_owned();
    again.started.wall.jobs = 8;
    again.cases[0].wall = Dur::s(60);
    again.finished = Some(Finished { wall: Dur::s(99), ..fixture::finished() });
    let (one, two) = (Results::of(&fixture::run()), Results::of(&again));
    assert_ne!(one.to_json(), two.to_json());
    assert_eq!(Results { wall: one.wall.clone(), ..two }.to_json(), one.to_json());
}

#[test]
fn a_run_that_has_not_ended_is_partial() {
    let mut run = fixture::run();
    run.finished = None;
    let results = Results::of(&run);
    assert_eq!(results.partial.as_deref(), Some("the run has not ended"));
    assert_eq!(results.summary.exit, 4);
}

fn refusal(text: &str) -> String {
    Results::read("old.json", text).expect_err("not results").to_string()
}

#[test]
fn what_is_not_results_is_refused_with_its_place() {
    insta::assert_snapshot!(refusal("{\n  \"format\": \"rig-results/1\",\n  \"seed\": oops\n}"), @"old.json:3:11: expected value");
    insta::assert_snapshot!(refusal(r#"{"format": "rig-results/3"}"#), @"old.json: the format is `rig-results/3`; this rigctl reads `rig-results/2` and `rig-results/1`: compare with the rigctl that wrote the file");
    insta::assert_snapshot!(refusal(r#"{"cases": []}"#), @"old.json: no key `format`: want the results.json of a run (`rig-results/2`)");
    insta::assert_snapshot!(refusal("[]"), @"old.json:1:2: invalid length 0, expected the results.json of a run");
    insta::assert_snapshot!(refusal("<testsuites/>"), @"old.json: this is no JSON: want the results.json of a run (`rig-results/2`)");
    let events = "{\"event\":\"started\",\"seed\":7}\n{\"event\":\"case\"}\n";
    insta::assert_snapshot!(refusal(events), @"old.json: these are the events of a run (events.jsonl): want its results.json (`rig-results/2`), which lies beside them");
    let text = Results::of(&fixture::run()).to_json();
    insta::assert_snapshot!(refusal(&text.replace("\"verdict\": \"fail\"", "\"verdict\": \"meh\"")), @"old.json:365:22: unknown variant `meh`, expected one of `pass`, `fail`, `inconclusive`, `skipped`, `broken`");
    insta::assert_snapshot!(refusal(&text.replace("\"seed\": 7307,", "")), @"old.json:1144:1: missing field `seed`");
    insta::assert_snapshot!(refusal(&text[..200]), @"old.json:11:12: EOF while parsing a value");
}

#[test]
fn a_case_that_is_there_twice_is_refused() {
    let mut results = Results::of(&fixture::run());
    results.cases.push(results.cases[1].clone());
    insta::assert_snapshot!(refusal(&results.to_json()), @"old.json: cases[1] and cases[6] are both `pfcwd::detection-latency-mellanox`: want each case once");
}

#[test]
fn keys_of_a_later_rig_are_passed_over() {
    let text = Results::of(&fixture::run()).to_json();
    let later = text.replacen("\"seed\"", "\"colour\": \"blue\",\n  \"seed\"", 1);
    assert_eq!(Results::read("new.json", &later), Ok(Results::of(&fixture::run())));
}

#[test]
fn what_never_happened_and_what_has_no_limit_are_null_with_a_word() {
    let mut run = fixture::run();
    run.started.seed = u64::MAX;
    let judgement = &mut run.cases[0].judgements[0];
    judgement.reading.span = rig_capture::Span::exactly(u64::MAX);
    judgement.taken.clear();
    judgement.prediction.span.hi = u64::MAX;
    let results = Results::of(&run);
    let json: serde_json::Value = serde_json::from_str(&results.to_json()).expect("JSON");
    assert_eq!(json["seed"], u64::MAX.to_string());
    let measured = &json["cases"][0]["measurements"][0];
    for (key, word) in
        [("value", "never"), ("lo", "never"), ("hi", "never"), ("predicted_hi", "unbounded")]
    {
        assert_eq!(
            (&measured[key], &measured["words"][key]),
            (&serde_json::Value::Null, &word.into())
        );
    }
    assert_eq!(Results::read("results.json", &results.to_json()), Ok(results));
}

#[test]
fn the_spread_of_the_trials_is_not_the_uncertainty_of_a_reading() {
    let results = Results::of(&fixture::run());
    let one = &results.cases[0].measurements[0];
    assert_eq!((one.lo, one.hi), (203_410_000_000, 298_100_000_000));
    assert_eq!((one.spread, one.uncertainty), (Some(94_689_000_000), Some(500_000)));
    assert_eq!((one.readings.len(), one.readings[0].trial), (10, 1));
    assert!(one.readings.iter().any(|reading| (reading.lo..=reading.hi).contains(&one.value)));
}

#[test]
fn the_format_before_is_read_too() {
    let old = r#"{"format": "rig-results/1", "version": "0.1.0", "seed": 18446744073709551615, "lab": "emulated",
        "executor": "virtual", "mutations": [], "partial": null, "not_run": [],
        "summary": {"run": 1, "passed": 1, "failed": 0, "inconclusive": 0, "broken": 0, "skipped": 0, "exit": 0},
        "cases": [{"id": "a::b", "verdict": "pass", "reason": null, "detail": null, "dut": "d", "why": "", "source": [],
            "trials": {"planned": 1, "run": 1, "void": []}, "findings": [], "curves": [],
            "evidence": [{"path": "evidence/a/b/0001.pcapng", "trial": 1, "frames": 3}],
            "measurements": [{"name": "loss", "subject": "s", "point": "", "unit": "frames", "value": 3, "lo": 3, "hi": 3,
                "predicted_lo": 0, "predicted_hi": 18446744073709551615, "formula": "", "formula_text": "",
                "formula_source": "", "trials": 1, "resolution": ""}]}],
        "wall": {"started": "", "command": "", "out": "", "host": "", "jobs": 1, "took_ms": 0, "cases_ms": {}}}"#;
    let results = Results::read("old.json", old).expect("it is read");
    assert_eq!(results.seed, u64::MAX);
    assert_eq!(results.cases[0].measurements[0].predicted_hi, u64::MAX);
    assert_eq!(results.cases[0].measurements[0].readings, []);
}

#[test]
fn the_schema_names_the_format_and_every_key_of_a_measurement() {
    let schema = schema();
    assert_eq!(schema["properties"]["format"]["const"], FORMAT);
    let text = Results::of(&fixture::run()).to_json();
    let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let known = &schema["$defs"]["Measurement"]["properties"];
    for key in json["cases"][0]["measurements"][0].as_object().expect("an object").keys() {
        assert!(known.get(key).is_some(), "{key} is not in the schema");
    }
}
