use super::*;
use crate::{CaseReport, PausedClass, Pausing, RunEvent, fixture};

const PLAIN: Style = Style { colour: Colour::Never, width: None, detail: false };

fn text(style: Style, events: &[RunEvent]) -> String {
    let mut terminal = Terminal::new(style);
    let mut out = Shown::default();
    for event in events {
        out += &terminal.on(event);
    }
    out.as_str().to_owned()
}

fn only(style: Style, case: CaseReport) -> String {
    let case = RunEvent::CaseFinished(Box::new(case));
    text(style, &[RunEvent::Started(Box::new(fixture::started(1))), case])
}

#[test]
fn a_run_with_a_case_of_every_kind() {
    insta::assert_snapshot!(text(PLAIN, &fixture::events()), @r"
    Starting 6 cases, lab emulated (virtual), seed 7307
     Mutated pfcwd.detection_time=x1.5
        PASS [   1.204s] (1/6) pfcwd::detection-latency-broadcom
        FAIL [   0.913s] (2/6) pfcwd::detection-latency-mellanox
             pfcwd.detection: want 200ms to under 300ms, got 341.25ms to 341.75ms, frames #118 and #131 of evidence/pfcwd/detection-latency-mellanox/01.pcapng
             pfcwd.detection: want 200ms to under 300ms, got 342.25ms to 342.75ms, frames #118 and #131 of evidence/pfcwd/detection-latency-mellanox/02.pcapng
             and 8 more like this
             loss: want 0 frames of neighbour, got 3 frames, frames #2011, #2012, #2013 and 6 more of evidence/pfcwd/detection-latency-mellanox/04.pcapng
             1 of 11 trials void: late-send: 4.2us behind the plan in #7
             again: rigctl run testcases/pfcwd.yaml --only pfcwd::detection-latency-mellanox --seed 7307
INCONCLUSIVE [   2.051s] (3/6) pfcwd::restoration-latency: storm-lapse: class 3 of p2 was open for 12.4us at 201.300ms, in 6 of 14 trials; the storm must have no gap
             look at evidence/pfcwd/restoration-latency/01.pcapng
             6 of 14 trials void: storm-lapse: 12.4us at 201.300ms in #2, #3, #4 and 3 more
             again: rigctl run testcases/pfcwd.yaml --only pfcwd::restoration-latency --seed 7307
     SKIPPED [   0.000s] (4/6) pfcwd::detection-idle-barefoot: no device of the lab has rule family barefoot
      BROKEN [  10.350s] (5/6) pfc-format::every-field: p2 lost its link in trial 3 and did not come back within 10s
             look at evidence/pfc-format/every-field/01.pcapng
             again: rigctl run testcases/pfc-format.yaml --only pfc-format::every-field --seed 7307
        PASS [   0.640s] (6/6) pfcwd::trigger-ramp
     Summary [   9.871s] 5 run: 2 passed, 1 failed, 1 inconclusive, 1 broken, 1 skipped (exit 4)
      Report rig-runs/20261121T033712Z-7307/report.html
");
}

#[test]
fn how_ports_took_pauses_stands_above_and_what_was_left_out_below_its_case() {
    let class = PausedClass {
        port: "p1".to_owned(),
        class: 3,
        stops: Some(1_200_000),
        resumes: Some(0),
        others: true,
        honoured: true,
    };
    let pausing = Pausing { from: "wire".to_owned(), bound: 4_000_000_000, classes: vec![class] };
    let mut started = fixture::started(1);
    started.wall.pausing = Some(Box::new(pausing));
    let left_out = vec!["counters: the control `none` reads no counters".to_owned()];
    let case = CaseReport { left_out, ..fixture::pass() };
    let events = [RunEvent::Started(Box::new(started)), RunEvent::CaseFinished(Box::new(case))];
    insta::assert_snapshot!(text(PLAIN, &events));
}

#[test]
fn a_narrow_terminal_breaks_between_words_and_leaves_commands_whole() {
    let style = Style { width: Some(72), ..PLAIN };
    insta::assert_snapshot!(text(style, &fixture::events()), @r"
    Starting 6 cases, lab emulated (virtual), seed 7307
     Mutated pfcwd.detection_time=x1.5
        PASS [   1.204s] (1/6) pfcwd::detection-latency-broadcom
        FAIL [   0.913s] (2/6) pfcwd::detection-latency-mellanox
             pfcwd.detection: want 200ms to under 300ms, got 341.25ms to
               341.75ms, frames #118 and #131 of
               evidence/pfcwd/detection-latency-mellanox/01.pcapng
             pfcwd.detection: want 200ms to under 300ms, got 342.25ms to
               342.75ms, frames #118 and #131 of
               evidence/pfcwd/detection-latency-mellanox/02.pcapng
             and 8 more like this
             loss: want 0 frames of neighbour, got 3 frames, frames
               #2011, #2012, #2013 and 6 more of
               evidence/pfcwd/detection-latency-mellanox/04.pcapng
             1 of 11 trials void: late-send: 4.2us behind the plan in #7
             again: rigctl run testcases/pfcwd.yaml --only pfcwd::detection-latency-mellanox --seed 7307
INCONCLUSIVE [   2.051s] (3/6) pfcwd::restoration-latency: storm-lapse:
             class 3 of p2 was open for 12.4us at 201.300ms, in 6 of 14
             trials; the storm must have no gap
             look at evidence/pfcwd/restoration-latency/01.pcapng
             6 of 14 trials void: storm-lapse: 12.4us at 201.300ms in
               #2, #3, #4 and 3 more
             again: rigctl run testcases/pfcwd.yaml --only pfcwd::restoration-latency --seed 7307
     SKIPPED [   0.000s] (4/6) pfcwd::detection-idle-barefoot: no device
             of the lab has rule family barefoot
      BROKEN [  10.350s] (5/6) pfc-format::every-field: p2 lost its link
             in trial 3 and did not come back within 10s
             look at evidence/pfc-format/every-field/01.pcapng
             again: rigctl run testcases/pfc-format.yaml --only pfc-format::every-field --seed 7307
        PASS [   0.640s] (6/6) pfcwd::trigger-ramp
     Summary [   9.871s] 5 run: 2 passed, 1 failed, 1 inconclusive, 1
             broken, 1 skipped (exit 4)
      Report rig-runs/20261121T033712Z-7307/report.html
");
}

#[test]
fn with_detail_a_passing_case_says_what_was_measured() {
    let style = Style { detail: true, ..PLAIN };
    insta::assert_snapshot!(only(style, fixture::pass()), @r"
Starting 1 case, lab emulated (virtual), seed 7307
 Mutated pfcwd.detection_time=x1.5
    PASS [   1.204s] (1/1) pfcwd::detection-latency-broadcom
         pfcwd.detection storm@p2 class 3, pfcwd.detection_time=200ms: 203.41ms to 298.1ms (spread 94.689ms over 10 trials, each ±500ns), predicted 200ms to under 300ms (F13), 10 storms
           resolution: anything outside of 200ms to 300ms shows; alike: pfcwd.detection_time in (100ms, 200ms]
         pfcwd.detection storm@p2 class 3, pfcwd.detection_time=250ms: 301ms to 397.5ms (spread 96.499ms over 10 trials, each ±500ns), predicted 300ms to under 400ms (F13), 10 storms
           resolution: anything outside of 300ms to 400ms shows; alike: pfcwd.detection_time in (200ms, 300ms]
         pfcwd.detection storm@p2 class 3, pfcwd.detection_time=1000ms: 1001.5ms to 1096ms (spread 94.499ms over 10 trials, each ±500ns), predicted 1000ms to under 1100ms (F13), 10 storms
           resolution: anything outside of 1000ms to 1100ms shows; alike: pfcwd.detection_time in (900ms, 1000ms]
         loss neighbour: 0 frames (spread 0 frames over 10 trials, each exact), predicted 0 frames (F10), 1200 frames
           resolution: exact: anything but 0 shows
");
}

#[test]
fn colours_touch_the_status_and_nothing_else() {
    let coloured = text(Style { colour: Colour::Always, ..PLAIN }, &fixture::events());
    assert!(coloured.contains("\x1b[1;32m        PASS\x1b[0m [   1.204s]"), "{coloured}");
    assert!(coloured.contains("\x1b[1;31m        FAIL\x1b[0m [   0.913s]"), "{coloured}");
    let mut plain = coloured;
    for code in
        ["\x1b[0m", "\x1b[1m", "\x1b[1;31m", "\x1b[1;32m", "\x1b[1;33m", "\x1b[1;34m", "\x1b[1;35m"]
    {
        plain = plain.replace(code, "");
    }
    assert_eq!(plain, text(PLAIN, &fixture::events()));
}

#[test]
fn a_run_that_was_cut_short_says_by_what_and_what_it_left_out() {
    let not_run = (1..=9).map(|i| fixture::id(&format!("pfcwd::case-{i}"))).collect();
    let finished = Finished {
        partial: Some("interrupted by Ctrl-C".to_owned()),
        not_run,
        ..fixture::finished()
    };
    let pass = RunEvent::CaseFinished(Box::new(fixture::pass()));
    let events =
        [RunEvent::Started(Box::new(fixture::started(10))), pass, RunEvent::Finished(finished)];
    insta::assert_snapshot!(text(PLAIN, &events), @r"
Starting 10 cases, lab emulated (virtual), seed 7307
 Mutated pfcwd.detection_time=x1.5
    PASS [   1.204s] ( 1/10) pfcwd::detection-latency-broadcom
 Partial interrupted by Ctrl-C; not run: pfcwd::case-1, pfcwd::case-2, pfcwd::case-3 and 6 more
 Summary [   9.871s] 1 run: 1 passed (exit 4)
  Report rig-runs/20261121T033712Z-7307/report.html
");
}

#[test]
fn a_run_of_nothing_says_so() {
    let events =
        [RunEvent::Started(Box::new(fixture::started(0))), RunEvent::Finished(fixture::finished())];
    insta::assert_snapshot!(text(PLAIN, &events), @r"
Starting 0 cases, lab emulated (virtual), seed 7307
 Mutated pfcwd.detection_time=x1.5
 Summary [   9.871s] nothing ran (exit 5)
  Report rig-runs/20261121T033712Z-7307/report.html
");
}

#[test]
fn what_a_device_says_reaches_the_terminal_without_its_escapes() {
    let hostile = fixture::hostile();
    let mut events = vec![RunEvent::Started(Box::new(hostile.started))];
    events.extend(hostile.cases.into_iter().map(|case| RunEvent::CaseFinished(Box::new(case))));
    events.extend(hostile.finished.map(RunEvent::Finished));
    let coloured = text(Style { detail: true, colour: Colour::Always, ..PLAIN }, &events);
    let text = text(Style { detail: true, ..PLAIN }, &events);
    // Without the styles, which are the terminal's own, the two say the same.
    let codes = ["\x1b[0m", "\x1b[1m"].map(str::to_owned).into_iter();
    let codes = codes.chain((31..=35).map(|colour| format!("\x1b[1;{colour}m")));
    assert_eq!(codes.fold(coloured, |text, code| text.replace(&code, "")), text);
    let acted_upon: Vec<char> = text.chars().filter(|c| c.is_control() && *c != '\n').collect();
    assert_eq!(acted_upon, []);
    assert!(
        text.lines().all(|line| line.starts_with("    ") || line.starts_with("INCONCLUSIVE")),
        "{text}"
    );
}
