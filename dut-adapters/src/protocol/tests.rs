use super::*;
use rig_lab::WatermarkCopy;
use rig_testcases::DeviceVerb;
use rig_units::Dur;
use serde_json::json;

fn declared() -> Declared {
    rig_lab::read::lab(None).expect("the bundled lab").duts.remove(0).declared
}

fn set() -> Setting {
    Setting { path: "pfcwd.detection_time".to_owned(), value: json!("223ms") }
}

#[test]
fn every_question_reads_back_from_its_line() {
    let lines = [
        (Ask::Boot { seed: u64::MAX, settings: vec![set()] }, "boot"),
        (Ask::Configure { settings: vec![set()] }, "configure"),
        (Ask::Counters { names: vec!["Ethernet0".to_owned()] }, "counters"),
        (Ask::Do(Order::Cable { behind: vec![0, 4] }), "do"),
        (Ask::Do(Order::Link { port: 1, up: false }), "do"),
        (Ask::Do(Order::ClearWatermarks), "do"),
        (Ask::Do(Order::from(DeviceVerb::ClearWatermarks(WatermarkCopy::User))), "do"),
        (Ask::Do(Order::YieldPfcwd), "do"),
        (
            Ask::Do(Order::Decided {
                port: "Ethernet4".to_owned(),
                class: 3,
                what: DutEventKind::Storm,
                due_ns: 5,
            }),
            "do",
        ),
        (Ask::Events, "events"),
        (Ask::Polled { due_ns: 1, next_ns: 2 }, "polled"),
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
        Happened { at_ns: 5, port: "Ethernet4".to_owned(), class: 3, what: DutEventKind::Storm };
    let polled = Polled {
        port: "Ethernet4".to_owned(),
        class: 3,
        pfc_rx_pkts: 1,
        on2off_rx_pkts: 2,
        rx_pause_duration_us: 3,
        packets: 4,
        occupancy: 5,
        paused: true,
    };
    for answer in [
        Answer::Done,
        Answer::Polled { at_ns: 7, queues: vec![polled] },
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
        (r#"{"do":{"link":{"port":0,"up":"yes"}}}"#, "expected a boolean"),
        (r#"{"do":{"link":{"port":0,"up":true,"down":1}}}"#, "unknown field `down`"),
        (r#"{"do":"dance"}"#, "unknown variant `dance`, expected one of `key`, `cable`"),
        (r#"{"configure":{"settings":[{"path":"x"}]}}"#, "missing field `value`"),
        (r#""events" "events""#, "trailing characters"),
    ] {
        let bad = read::<Ask>(QUESTION, text).expect_err(text).to_string();
        assert!(bad.contains(want), "{text}: {bad}");
    }
}
