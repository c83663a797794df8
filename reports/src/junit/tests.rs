use super::*;
use crate::{Finished, fixture};
use roxmltree::Document;

#[test]
fn a_run_with_a_case_of_every_kind() {
    insta::assert_snapshot!(xml(&fixture::run()).expect("memory can be written to"));
}

#[test]
fn whatever_a_device_says_the_file_is_well_formed_and_says_it() {
    let text = xml(&fixture::hostile()).expect("memory can be written to");
    let document = Document::parse(&text).expect("well-formed");
    assert!(document.descendants().all(|node| !node.has_tag_name("script")));
    let failure =
        document.descendants().find(|node| node.has_tag_name("failure")).expect("a failure");
    let message = failure.attribute("message").expect("a message");
    assert!(
        message.contains("</script><script>alert(1)</script> & \"'`]]> \\x1b[31m\\x00"),
        "{message}"
    );
    assert!(failure.text().expect("a description").contains("]]> \\x1b[31m\\x00"));
}

#[test]
fn cases_that_never_ran_are_errors_so_that_no_cut_short_run_looks_green() {
    let mut run = fixture::run_of(vec![fixture::pass()]);
    run.finished = Some(Finished {
        partial: Some("interrupted by Ctrl-C".to_owned()),
        not_run: vec![fixture::id("pfcwd::trigger-ramp"), fixture::id("pfc-format::every-field")],
        ..fixture::finished()
    });
    let text = xml(&run).expect("memory can be written to");
    let document = Document::parse(&text).expect("well-formed");
    let errors = document.descendants().filter(|node| node.has_tag_name("error"));
    let messages: Vec<_> = errors.filter_map(|node| node.attribute("message")).collect();
    assert_eq!(messages, ["never ran: interrupted by Ctrl-C"; 2]);
    assert_eq!(document.root_element().attribute("errors"), Some("2"));
}

#[test]
fn two_equal_runs_differ_in_timestamps_and_durations_only() {
    let mut again = fixture::run();
    again.started.wall = crate::Wall {
        started: "2027-01-01T00:00:00Z".to_owned(),
        command: "rigctl run --jobs 8 testcases".to_owned(),
        out: "/elsewhere".to_owned(),
        host: "lab-8".to_owned(),
        jobs: 8,
        ..Default::default()
    };
    for case in &mut again.cases {
        case.wall = case.wall * 3 + Dur::ms(1);
    }
    again.finished = Some(Finished { wall: Dur::s(60), ..fixture::finished() });
    let strip = |run: &Run| {
        let text = xml(run).expect("memory can be written to");
        let document = Document::parse(&text).expect("well-formed");
        let mut rest = Vec::new();
        for node in document.descendants() {
            let kept = node.attributes().filter(|a| a.name() != "time" && a.name() != "timestamp");
            let kept: Vec<_> = kept.map(|a| format!("{}={}", a.name(), a.value())).collect();
            rest.push(format!("{:?} {kept:?} {:?}", node.tag_name(), node.text()));
        }
        rest
    };
    assert_eq!(strip(&fixture::run()), strip(&again));
    assert_ne!(xml(&fixture::run()).ok(), xml(&again).ok());
}
