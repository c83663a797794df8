//! Applications in a case: what one may be made of, in which words it is refused otherwise.

use rig_lab::yaml::Source;
use rig_oracle::measure::Registry;

/// What is wrong with a case of this application that is started so: of `data` and `fill`, WRITEs of either end, of which `fill` has a count, `ask` and
/// `reply`, SENDs of either, an atomic `add`, and `rig`, which goes to the rig; `word` and `near` begin at other numbers than what their ends send beside, and
/// `high` is of another class.
fn faults(apps: &str, start: &str) -> Vec<String> {
    let of = |nic: &str, verb: &str| {
        let psn = if nic == "p2" { ", psn: 1048576" } else { "" };
        format!("nic: {nic}, class: 3, verb: {verb}, mtu: 1024B{psn}")
    };
    let text = format!(
        "about: x
device: nic
setup:
  flows:
    data: {{{}, to: p2, message: 4KiB}}
    fill: {{{}, to: p1, message: 4KiB, count: 3}}
    ask: {{{}, to: p2, message: 64B}}
    reply: {{{}, to: p1, message: 64B}}
    add: {{{}, to: p2, message: 8B}}
    word: {{nic: p1, to: p2, class: 3, verb: send, mtu: 1024B, message: 64B, psn: 7}}
    high: {{nic: p1, to: p2, class: 4, verb: send, mtu: 1024B, message: 64B}}
    near: {{nic: p2, to: p1, class: 3, verb: send, mtu: 1024B, message: 64B, psn: 9}}
    rig: {{{}, message: 64B}}
cases:
  a:
    why: x
    source: [x]
    apps: {{one: {apps}}}
    steps: [{{at: 0us, start: {start}}}]
    length: 1ms
    measure: [{{app.protocol: {{flow: one}}}}]
",
        of("p1", "write"),
        of("p2", "write"),
        of("p1", "send"),
        of("p2", "send"),
        of("p1", "fetch-add"),
        of("p1", "send"),
    );
    let read = rig_testcases::read::suite(&Source::new("t.yaml", &text), &Registry);
    read.err().into_iter().flatten().map(|fault| fault.found.clone()).collect()
}

#[test]
fn an_application_whose_ends_learn_what_they_wait_for_is_read() {
    for steps in ["[ask, reply]", "[data, ask, {flow: reply, think: 10us}]", "[ask]"] {
        let app = format!("{{steps: {steps}, rounds: 10, credits: 2}}");
        assert_eq!(faults(&app, "one"), Vec::<String>::new(), "{steps}");
    }
}

#[test]
fn one_that_waits_for_what_nobody_tells_it_is_refused() {
    let of = |steps: &str| faults(&format!("{{steps: {steps}, rounds: 10}}"), "one").join("; ");
    for (steps, found) in [
        ("[data, reply]", "`reply` waits for `data`, of which the other end learns nothing"),
        ("[ask, fill]", "has a `count` of its own"),
        ("[ask, ask]", "`ask` is a step twice"),
        ("[add]", "nobody learns when its messages are complete"),
        ("[ask, rig]", "not all between the same two NICs"),
        ("[ask, nobody]", "a step `nobody`, and there is no such flow"),
        ("[]", "0 steps"),
    ] {
        assert!(of(steps).contains(found), "{steps}: {}", of(steps));
    }
}

#[test]
fn one_queue_pair_is_one_class_one_row_of_numbers_for_each_end_and_one_order() {
    let of = |steps: &str| {
        let app = format!("{{steps: {steps}, rounds: 10, queue_pairs: one}}");
        faults(&app, "one").join("; ")
    };
    for steps in
        ["[data, ask, reply]", "[{flow: data, think: 3us}, ask, {flow: reply, think: 3us}]"]
    {
        assert_eq!(of(steps), "", "{steps}");
    }
    for (steps, found) in [
        ("[data, high, reply]", "`high` in another class than `data`"),
        ("[data, word, reply]", "`word` begins at another `psn` than `data`"),
        ("[data, ask, near]", "`data` and `near` begin at numbers that are near each other"),
        (
            "[data, {flow: ask, think: 3us}, reply]",
            "`think` before `ask`, which is right behind `data`",
        ),
    ] {
        assert!(of(steps).contains(found), "{steps}: {}", of(steps));
    }
}

#[test]
fn no_more_chunks_are_under_way_than_there_are() {
    let of = |step: &str| faults(&format!("{{steps: [{{flow: ask, {step}}}], rounds: 1}}"), "one");
    assert_eq!(of("chunks: 4, at_once: 4"), Vec::<String>::new());
    for (step, found) in [("chunks: 4, at_once: 5", "5"), ("at_once: 2", "2")] {
        assert!(of(step).first().is_some_and(|first| first.contains(found)), "{:?}", of(step));
    }
}

#[test]
fn a_checksum_is_looked_at_or_not() {
    let of = |checksum: &str| {
        let app = format!("{{steps: [reply, {{flow: data, checksum: {checksum}}}], rounds: 1}}");
        faults(&app, "one").join("; ")
    };
    assert_eq!([of("true"), of("false")], ["", ""]);
    let found = of("crc32");
    assert!(found.contains("is not what belongs here"), "{found}");
}

#[test]
fn a_round_that_gives_nothing_back_may_end_unheard_but_for_a_buffer_that_waits_for_its_end() {
    let of =
        |steps: &str, rest: &str| faults(&format!("{{steps: {steps}, {rest}}}"), "one").join("; ");
    let steps = "[reply, data]";
    assert_eq!(of(steps, "rounds: 2, credits: 2"), "");
    let found = of(steps, "rounds: 3, credits: 2");
    assert!(
        found.contains("`reply` waits for `data`, of which the other end learns nothing"),
        "{found}"
    );
    let pooled = |buffers: u32| {
        of(&format!("[{{flow: reply, buffers: {buffers}}}, data]"), "rounds: 2, credits: 2")
    };
    assert_eq!(pooled(2), "");
    let found = pooled(1);
    assert!(found.contains("`buffers` of `reply`, whose end does not learn"), "{found}");
}

#[test]
fn what_takes_a_connection_for_one_flow_is_refused_beside_one_queue_pair() {
    let text = "about: x
device: nic
setup:
  flows:
    ask: {nic: p1, to: p2, class: 3, verb: send, message: 64B, mtu: 1024B}
    reply: {nic: p2, to: p1, class: 3, verb: send, message: 64B, mtu: 1024B, psn: 1048576}
cases:
  a:
    why: x
    source: [x]
    apps: {one: {steps: [ask, reply], rounds: 10, queue_pairs: one}}
    steps: [{at: 0us, start: one}]
    length: 1ms
    measure: [{app.protocol: {flow: one}}, {rc.completion: {flow: ask, or: declared}}]
";
    let read = rig_testcases::read::suite(&Source::new("t.yaml", text), &Registry);
    let found: Vec<String> =
        read.err().into_iter().flatten().map(|fault| fault.found.clone()).collect();
    let wanted = "`rc.completion` beside `ask`, which shares its queue pair with other steps";
    assert!(found.iter().any(|found| found == wanted), "{found:?}");
}

#[test]
fn an_application_starts_as_a_whole_and_one_that_nobody_starts_is_told() {
    let app = "{steps: [ask, reply], rounds: 10}";
    let some = faults(app, "[one, data]");
    assert_eq!(some, Vec::<String>::new());
    let alone = faults(app, "ask");
    assert!(alone.iter().any(|found| found.contains("one")), "{alone:?}");
}

#[test]
fn a_step_of_more_packets_than_anybody_waits_for_is_refused() {
    let of = |rounds: u32| {
        let app = format!("{{steps: [{{flow: data, chunks: 2}}, ask, reply], rounds: {rounds}}}");
        faults(&app, "one")
    };
    assert_eq!(of(16_384), Vec::<String>::new());
    let found = "`data` is 131080 packets: 16385 rounds of 2 messages of 4";
    assert_eq!(of(16_385), [found]);
}
