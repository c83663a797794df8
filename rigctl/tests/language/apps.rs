//! Applications in a case: what one may be made of, in which words it is refused otherwise.

use rig_lab::yaml::Source;
use rig_oracle::measure::Registry;

/// What is wrong with a case of this application that is started so: of `data` and `fill`, WRITEs of either end, of which `fill` has a count, `ask` and
/// `reply`, SENDs of either, an atomic `add`, and `rig`, which goes to the rig.
fn faults(apps: &str, start: &str) -> Vec<String> {
    let of = |nic: &str, verb: &str| format!("nic: {nic}, class: 3, verb: {verb}, mtu: 1024B");
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
