//! Switches with several packet memories: a device is right as it is declared, and one that has others than it declares is found and told.

use super::given::{Ran, Said, Word, is_told};
use rig_capture::Span;
use rig_lab::{Mutation, Profile, Setting};
use serde_json::{Value, json};

/// Two hogs of a held queue, one after the other, by the first and the last of eight ports.
const HOGS: &str = "    dut: {pfcwd: {detection_time: 5000ms}, buffer: {pool: 1000000B, lossy_pool: 1000000B}}
    streams:
      near: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 10us, count: searched}
      far:  {from: p8, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 10us, count: searched}
    storms: {hold: {from: p2, classes: [3]}}
    endpoints: {p1: {obeys: none}, p8: {obeys: none}}
    steps:
      - {at: 0ms, start: hold}
      - {at: 1ms, start: near}
      - {at: {of: near, plus: 10ms}, start: far}
      - {at: {of: near, times: 2, plus: 20ms}, stop: hold}
    length: {of: near, times: 4, plus: 50ms}
    measure: [{buffer.xoff: {streams: [near, far]}}]
";

const PATHS: [&str; 2] = ["buffer.ingress_memories", "buffer.egress_memories"];

/// The hogs on a device that declares so many memories by ingress and by egress, and has others where something is said of it.
fn ran(declared: &[Value; 2], does: Option<[&str; 2]>) -> Said {
    Ran::with("broadcom", HOGS, |device: &mut Profile| {
        for (path, value) in PATHS.into_iter().zip(declared) {
            let setting = Setting { path: path.to_owned(), value: value.clone() };
            device.declared = device.declared.with(&setting).expect("memories");
        }
        for (path, value) in PATHS.into_iter().zip(does.into_iter().flatten()) {
            let always = Mutation::Override { path: path.to_owned(), value: value.to_owned() };
            device.mutate(&always).expect("memories");
        }
    })
    .as_seen()
}

/// A lone group has a ninth of its pool, the second one a ninth of what that leaves, and 1248 B each; a frame takes 1040 B. Of 1 MB that are 109 and 97 frames,
/// of a half of it 55 and 49, of a quarter 28 and 26.
fn layouts() -> [([Value; 2], [u64; 2]); 6] {
    [
        ([json!(null), json!(null)], [109, 97]),
        ([json!(2), json!(null)], [55, 55]),
        ([json!(null), json!(2)], [55, 49]),
        ([json!([0, 1, 0, 1, 1, 0, 1, 0]), json!(null)], [55, 49]),
        ([json!([0, 1, 1, 0]), json!([0, 0, 1, 1])], [28, 26]),
        ([json!(2), json!(2)], [28, 28]),
    ]
}

#[test]
fn a_hog_leaves_those_of_other_memories_as_they_are_and_not_those_of_its_own() {
    for (declared, found) in layouts() {
        let said = ran(&declared, None);
        assert_eq!(said.wrong(), "", "{declared:?}");
        for (stream, found) in ["near", "far"].into_iter().zip(found) {
            let (read, want, _) = said.about("buffer.xoff", stream);
            assert_eq!((read, want), (Span::exactly(found), Span::exactly(found)), "{declared:?}");
        }
    }
}

#[test]
fn a_device_with_other_memories_than_it_declares_is_found() {
    for does in [["1", "1"], ["2", "1"]] {
        let real = does.map(|count| json!(count.parse::<u16>().expect("a number")));
        let found = ran(&real, None);
        let found = ["near", "far"].map(|one| found.about("buffer.xoff", one).0);
        for (declared, other) in layouts() {
            let other = other.map(Span::exactly);
            assert_eq!(ran(&declared, Some(does)).fails("buffer.xoff"), other != found, "{does:?}");
        }
    }
}

#[test]
fn how_many_memories_it_would_have_is_told() {
    let [(one, _), (two, _), ..] = layouts();
    let Word::Fail(why) = ran(&one, Some(["2", "1"])).word("buffer.xoff") else {
        panic!("two memories where one is declared")
    };
    assert!(!why.contains("memories"), "it may have a smaller pool, or alpha: {why}");
    is_told(
        ran(&two, Some(["1", "1"])).word("buffer.xoff"),
        "109, as of one packet memory, and 2 are declared (buffer.ingress_memories, buffer.egress_memories)",
    );
    is_told(
        ran(&two, Some(["3", "1"])).word("buffer.xoff"),
        "as of one of 3 packet memories, and 2 are declared (buffer.ingress_memories, buffer.egress_memories)",
    );
}

/// By which port a frame leaves is nothing to a device whose memories are those of the ports that it comes in by.
#[test]
fn a_frame_that_takes_the_memory_of_the_port_that_it_leaves_by_is_told() {
    let wrong = Ran::with("broadcom", HOGS, |device: &mut Profile| {
        let setting = Setting { path: PATHS[0].to_owned(), value: json!(2) };
        device.declared = device.declared.with(&setting).expect("memories");
        let deviation = "deviation=memory_of_egress".parse().expect("a deviation");
        device.mutate(&deviation).expect("a deviation");
    });
    let (read, want, _) = wrong.as_seen().about("buffer.xoff", "far");
    assert_eq!((read, want), (Span::exactly(49), Span::exactly(55)));
}
