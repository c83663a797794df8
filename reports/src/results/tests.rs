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
    insta::assert_snapshot!(refusal(r#"{"format": "rig-results/2"}"#), @"old.json: the format is `rig-results/2`; this rigctl reads `rig-results/1`: compare with the rigctl that wrote the file");
    insta::assert_snapshot!(refusal(r#"{"cases": []}"#), @"old.json: no key `format`: want the results.json of a run (`rig-results/1`)");
    insta::assert_snapshot!(refusal("[]"), @"old.json:1:2: invalid length 0, expected the results.json of a run");
    let events = "{\"event\":\"started\",\"seed\":7}\n{\"event\":\"case\"}\n";
    insta::assert_snapshot!(refusal(events), @"old.json: these are the events of a run (events.jsonl): want its results.json (`rig-results/1`), which lies beside them");
    let text = Results::of(&fixture::run()).to_json();
    insta::assert_snapshot!(refusal(&text.replace("\"verdict\": \"fail\"", "\"verdict\": \"meh\"")), @"old.json:140:22: unknown variant `meh`, expected one of `pass`, `fail`, `inconclusive`, `skipped`, `broken`");
    insta::assert_snapshot!(refusal(&text.replace("\"seed\": 7307,", "")), @"old.json:794:1: missing field `seed`");
    insta::assert_snapshot!(refusal(&text[..200]), @"old.json:11:12: EOF while parsing a value");
}

#[test]
fn keys_of_a_later_rig_are_passed_over() {
    let text = Results::of(&fixture::run()).to_json();
    let later = text.replacen("\"seed\"", "\"colour\": \"blue\",\n  \"seed\"", 1);
    assert_eq!(Results::read("new.json", &later), Ok(Results::of(&fixture::run())));
}
