use super::*;
use rig_lab::WatermarkCopy;
use serde_json::json;

fn declared() -> Declared {
    rig_lab::read::lab(None).expect("the bundled lab").duts.remove(0).declared
}

fn set() -> Set {
    Set { path: "pfcwd.detection_time".to_owned(), value: json!("223ms") }
}

#[test]
fn every_question_reads_back_from_its_line() {
    let lines = [
        (Ask::Boot { seed: u64::MAX, settings: vec![set()] }, "boot"),
        (Ask::Configure { settings: vec![set()] }, "configure"),
        (Ask::Cable { behind: vec![0, 4] }, "cable"),
        (Ask::Link { port: 1, up: false }, "link"),
        (Ask::Counters { names: vec!["Ethernet0".to_owned()] }, "counters"),
        (Ask::ClearWatermarks, "clear-watermarks"),
        (Ask::ClearCopy { copy: WatermarkCopy::User }, "clear-copy"),
        (Ask::Events, "events"),
        (Ask::Status, "status"),
        (Ask::Lateness, "lateness"),
        (Ask::Quit, "quit"),
    ];
    for (ask, word) in lines {
        let text = line(&ask);
        assert!(text.trim_start_matches('{').starts_with(&format!("\"{word}\"")), "{text}");
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        assert_eq!(read::<Ask>(QUESTION, &text), Ok(ask));
    }
}

#[test]
fn answers_read_back_and_their_times_carry_a_unit() {
    let health = Health { send_late: Dur::us(75), received: 3, ..Health::default() };
    let text = line(&Answer::Health(health));
    assert!(
        text.contains(r#""send_late":"75us""#) || text.contains(r#""send_late":"0.075ms""#),
        "{text}"
    );
    assert_eq!(read::<Answer>("an answer", &text), Ok(Answer::Health(health)));
    let happened =
        Happened { at_ns: 5, port: "Ethernet4".to_owned(), class: 3, what: Watchdog::Storm };
    for answer in [
        Answer::Done,
        Answer::Booted { epoch_ns: u64::MAX, declared: Box::new(declared()) },
        Answer::Refused { why: "no".to_owned() },
        Answer::Counters { values: [("x".to_owned(), 1)].into() },
        Answer::Events { events: vec![happened] },
    ] {
        assert_eq!(read::<Answer>("an answer", &line(&answer)), Ok(answer));
    }
}

#[test]
fn what_is_no_question_is_told_what_would_be_one() {
    for (text, want) in [
        (
            "",
            r#"not a question such as "status" or {"boot":{"seed":7}}: EOF while parsing a value"#,
        ),
        ("boot", "expected value"),
        ("{}", "expected value"),
        ("7", "expected value"),
        (r#""reboot""#, "unknown variant `reboot`, expected one of `boot`, `configure`"),
        (r#"{"boot":{}}"#, "missing field `seed`"),
        (r#""boot""#, "expected struct variant"),
        (r#"{"boot":{"seed":-1}}"#, "expected u64"),
        (r#"{"link":{"port":0,"up":"yes"}}"#, "expected a boolean"),
        (r#"{"link":{"port":0,"up":true,"down":1}}"#, "unknown field `down`"),
        (r#"{"configure":{"settings":[{"path":"x"}]}}"#, "missing field `value`"),
        (r#""events" "events""#, "trailing characters"),
    ] {
        let bad = read::<Ask>(QUESTION, text).expect_err(text).to_string();
        assert!(bad.contains(want), "{text}: {bad}");
    }
}

#[test]
fn doubt_names_everything_that_is_beyond_its_bound() {
    let bound = Dur::us(100);
    let fine = Health { send_late: bound, event_late: bound, foreign: 9, ..Health::default() };
    assert_eq!(fine.doubt(bound), None);
    let bad = Health { send_late: bound + Dur(1), evicted: 1, rx_lost: 2, ..fine };
    let doubt = bad.doubt(bound).expect("late");
    for want in ["a frame left", "1 frame had no bytes left", "2 frames never reached the device"] {
        assert!(doubt.contains(want), "{doubt}");
    }
    assert!(!doubt.contains("inside"), "{doubt}");
}
