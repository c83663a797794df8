use super::*;
use crate::{CaseReport, Finished, Run, TableFile, fixture};
use rig_units::Dur;
use roxmltree::{Document, Node, ParsingOptions};

fn parse(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(page, options).expect("well-formed")
}

/// Thirty cases and all that a page has to bear: long names, big numbers, every verdict.
fn big() -> Run {
    let mut cases: Vec<CaseReport> = fixture::cases();
    for i in 0..24_u64 {
        let name = format!(
            "pfcwd::detection-of-a-storm-on-every-port-at-once-with-a-name-that-goes-on-{i:02}"
        );
        let mut case = fixture::case(&name, "emulated-shallow-buffer-32x100g-broadcom");
        case.judgements = vec![
            fixture::detection(200 + 100 * i, (200 + 100 * i) * 1_000, (290 + 100 * i) * 1_000),
            fixture::loss(0),
        ];
        cases.push(case);
    }
    cases[8].judgements.push(fixture::loss(18_446_744_073_709_551_614));
    fixture::run_of(cases)
}

fn texts<'a>(node: Node<'a, 'a>) -> String {
    node.descendants().filter(Node::is_text).filter_map(|node| node.text()).collect()
}

#[test]
fn the_page_asks_the_network_for_nothing() {
    for run in [big(), fixture::hostile()] {
        let page = page(&run);
        let document = parse(&page);
        for node in document.descendants() {
            let tag = node.tag_name().name();
            assert!(!["script", "link", "img", "iframe", "object", "base"].contains(&tag), "{tag}");
            for attribute in node.attributes() {
                assert!(
                    !["src", "srcset", "action", "style"].contains(&attribute.name()),
                    "{attribute:?}"
                );
                if attribute.name() == "href" {
                    assert!(
                        attribute.value().starts_with("./evidence/")
                            || attribute.value().starts_with("./readings/")
                            || attribute.value().starts_with('#')
                            || attribute.value().starts_with("./%3C"),
                        "{attribute:?}"
                    );
                }
            }
        }
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
        assert!(!page.contains("http://") && !page.contains("https://"));
    }
}

#[test]
fn a_measured_value_has_its_spread_beside_it_and_a_pooled_one_its_tables() {
    let mut case = fixture::pass();
    let mut pooled = fixture::detection(500, 510_000, 590_000);
    pooled.taken.clear();
    case.judgements.push(pooled);
    let path = "readings/pfcwd/detection/pfcwd.detection.csv.gz".to_owned();
    case.tables = vec![TableFile { measure: "pfcwd.detection".to_owned(), path, rows: 40 }];
    let page = page(&fixture::run_of(vec![case]));
    let document = parse(&page);
    let known = document.descendants().filter(|node| node.attribute("class") == Some("known"));
    let known: Vec<String> = known.map(texts).collect();
    assert_eq!(
        known.first().map(String::as_str),
        Some("spread 94.689ms over 10 trials, each \u{b1}500ns")
    );
    assert!(known.iter().any(|known| known == "\u{b1}40ms from 10 trials together"), "{known:?}");
    let table = document
        .descendants()
        .find_map(|node| node.attribute("href").filter(|href| href.starts_with("./readings/")));
    assert_eq!(table, Some("./readings/pfcwd/detection/pfcwd.detection.csv.gz"));
    assert!(texts(document.root()).contains("40 rows"));
}

#[test]
fn every_link_inside_the_page_has_its_target() {
    let page = page(&big());
    let document = parse(&page);
    let links: Vec<&str> = document
        .descendants()
        .filter_map(|node| node.attribute("href")?.strip_prefix('#'))
        .collect();
    assert_eq!(links.len(), 30);
    for link in links {
        let targets = document.descendants().filter(|node| node.attribute("id") == Some(link));
        assert_eq!(targets.count(), 1, "{link}");
    }
}

#[test]
fn whatever_a_device_says_is_text() {
    let page = page(&fixture::hostile());
    let document = parse(&page);
    let shown = "</script><script>alert(1)</script> & \"'`]]> \\x1b[31m\\x00\\u{202e}\\u{ffff} <b>";
    let said = document
        .descendants()
        .filter(|node| node.is_text() && node.text().is_some_and(|text| text.contains(shown)));
    // why, source, stimulus, subject, point, formula, resolution, void, evidence, repeat, marks, ...
    assert!(said.count() >= 5 * 12);
    assert!(!page.chars().any(|c| c.is_control() && c != '\n'));
}

#[test]
fn two_equal_runs_differ_inside_time_only() {
    let strip = |page: &str| {
        let mut rest = String::new();
        for (i, piece) in page.split("<time>").enumerate() {
            rest += if i == 0 { piece } else { piece.split_once("</time>").expect("closed").1 };
        }
        rest
    };
    let mut again = fixture::run();
    again.started.wall = crate::Wall {
        started: "2027-01-01T00:00:00Z".to_owned(),
        out: "/elsewhere".to_owned(),
        jobs: 8,
        ..again.started.wall
    };
    again.cases[0].wall = Dur::s(60);
    again.finished = Some(Finished { wall: Dur::s(99), ..fixture::finished() });
    let (one, two) = (page(&fixture::run()), page(&again));
    assert_ne!(one, two);
    assert_eq!(strip(&one), strip(&two));
}

#[test]
fn a_failing_case_shows_want_got_where_to_look_and_how_to_repeat_it() {
    let page = page(&fixture::run());
    let document = parse(&page);
    let section = document
        .descendants()
        .find(|node| node.attribute("id") == Some("pfcwd::detection-latency-mellanox"));
    let text = texts(section.expect("its section"));
    for part in [
        "200ms to under 300ms",
        "341.25ms to 341.75ms",
        "frames #118 and #131 of evidence/pfcwd/detection-latency-mellanox/01.pcapng",
        "and 8 more like this",
        "nP <= T < (n+1)P, n = ceil(200ms / 100ms) = 2",
        "SONiC pfc_detect_broadcom.lua, recorded; sonic.md section 6",
        "pfcwd.detection_time in (100ms, 200ms]",
        "#7 late-send: 4.2us behind the plan",
        "rigctl run testcases/pfcwd.yaml --only pfcwd::detection-latency-mellanox --seed 7307",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[test]
fn the_measured_bar_lies_where_the_axis_says() {
    let judgement = fixture::detection(200, 200_000, 250_000);
    let axis = axis::Axis::new(rig_capture::Unit::Ps, 100_000_000_000, 300_000_000_000);
    insta::assert_snapshot!(intervals::bar(&axis, &judgement, 28, false), @r#"<svg class="bar" height="28" aria-hidden="true"><rect class="predicted" x="50%" y="3" width="49.999%" height="22"/><line class="predicted" x1="50%" x2="50%" y1="3" y2="25"/><line class="predicted" x1="99.999%" x2="99.999%" y1="3" y2="25"/><rect class="met" x="50%" y="10" width="25%" height="8"/><line class="met" x1="50%" x2="50%" y1="10" y2="18"/><line class="met" x1="75%" x2="75%" y1="10" y2="18"/></svg>"#);
}

#[test]
fn a_timeline_draws_each_lane() {
    let page = page(&fixture::run());
    let document = parse(&page);
    let lanes: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("path"))
        .filter_map(|node| node.attribute("class"))
        .collect();
    for lane in ["paused", "gap", "steps", "instants", "line", "met"] {
        assert!(lanes.contains(&lane), "{lane}");
    }
    let said: Vec<String> = document
        .descendants()
        .filter(|node| node.attribute("class") == Some("label"))
        .map(texts)
        .collect();
    for label in [
        "SAI_PORT_STAT_PFC_3_RX_PKTSEthernet4, 1000120 to 1003660",
        "PFC_WD_QUEUE_STATS_DEADLOCK_DETECTEDEthernet4:3, 0 to 1",
    ] {
        assert!(said.iter().any(|said| said == label), "{label}: {said:?}");
    }
}

#[test]
fn a_cut_short_run_says_so_at_the_top() {
    let mut run = fixture::run_of(vec![fixture::pass()]);
    run.finished = Some(Finished {
        partial: Some("interrupted by Ctrl-C".to_owned()),
        not_run: vec![fixture::id("pfcwd::trigger-ramp")],
        ..fixture::finished()
    });
    let page = page(&run);
    let document = parse(&page);
    let header = document.descendants().find(|node| node.has_tag_name("header")).expect("a header");
    let text = texts(header);
    assert!(text.contains("Cut short after 1 case"), "{text}");
    assert!(
        text.contains("interrupted by Ctrl-C") && text.contains("pfcwd::trigger-ramp"),
        "{text}"
    );
}

/// `RIG_PAGE=/tmp/pages cargo test -p rig-reports the_pages` writes the pages for a look at them.
#[test]
fn the_pages_can_be_written_for_a_look() {
    let Ok(folder) = std::env::var("RIG_PAGE") else { return };
    for (name, run) in [("big", big()), ("hostile", fixture::hostile()), ("small", fixture::run())]
    {
        std::fs::write(format!("{folder}/{name}.html"), page(&run)).expect("RIG_PAGE is a folder");
    }
}

#[test]
fn a_plot_in_a_file_of_its_own_is_an_svg_that_asks_for_nothing_and_is_as_high_as_its_rows() {
    for run in [big(), fixture::hostile()] {
        for case in run.cases {
            for figure in figures(&case.judgements, &case.curves) {
                let document = parse(&figure.svg);
                let all = document.descendants().filter(Node::is_element);
                let drawings: Vec<Node<'_, '_>> =
                    all.filter(|node| node.tag_name().name() == "svg").collect();
                let svg = Some("http://www.w3.org/2000/svg");
                assert!(drawings.iter().all(|node| node.tag_name().namespace() == svg));
                let none = ["script", "link", "img", "iframe", "object", "base", "use", "image"];
                let asks = |node: Node<'_, '_>| {
                    none.contains(&node.tag_name().name()) || node.has_attribute("href")
                };
                assert!(!document.descendants().any(asks), "{}", figure.of);
                let rows = drawings.iter().filter(|node| node.attribute("class") == Some("bar"));
                let height: usize = drawings[0].attribute("height").unwrap().parse().unwrap();
                let lines = rows.count();
                assert_eq!(height, if lines > 0 { (lines + 2) * 44 } else { 230 } + 24);
            }
        }
    }
    let shown = fixture::curve();
    assert_eq!(figures(&shown.judgements, &shown.curves).len(), 1, "{:?}", shown.curves);
}
