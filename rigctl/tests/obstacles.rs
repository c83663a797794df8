//! What may be in the way of a run at interfaces that are there: somebody else's XDP program, a port or a queue in use, an
//! MTU that is too small. Each is told with the interface and what mends it, and whoever was there first stays untouched.
//! Root and Linux only.

#![expect(clippy::disallowed_methods, reason = "what is waited for here is another process")]

mod common;

#[path = "common/bench.rs"]
mod bench;

use bench::{Bench, case, said, well};
use common::root;
use rig_generator::netlab::Namespace;
use rig_generator::port::{Attach, Backend, Config, Link, Port};
use rig_units::Dur;
use serde_json::Value;
use std::io::Read;
use std::process::{Child, Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// Cases that the lab can run.
const CASES: &str = "--only pfcwd::{action-drop,detection-latency}-broadcom";

/// A run that could not begin: it says every one of `words`, runs nothing and leaves a report that says so.
fn kept_away((output, results): &(Output, Value), words: &[&str]) {
    let told = said(output);
    assert_eq!(output.status.code(), Some(4), "{told}");
    let partial = results["partial"].as_str().unwrap_or_default();
    for word in words {
        assert!(told.contains(word), "{word}: {told}");
        assert!(partial.contains(word), "{word}: {partial}");
    }
    assert_eq!(results["cases"].as_array().map(Vec::len), Some(0), "{told}");
    assert_eq!(results["not_run"].as_array().map(Vec::len), Some(2), "{told}");
}

/// The namespace of the other ends of the wires, for as long as the device runs.
fn far(bench: &Bench) -> Namespace {
    Namespace::of_process(bench.device.id()).expect("the device runs")
}

/// Whether a frame sent at `its` end of the wire still reaches whoever has opened `port`.
fn receives(bench: &Bench, its: &str, port: &mut Port) -> bool {
    const KIND: [u8; 2] = [0x88, 0xb5];
    let config = Config { backend: Backend::AfPacket, ring: 8, slots: 8, ..Config::new(its) };
    let mut other = far(bench).run(|| Port::open(&config)).expect("inside").expect("it is there");
    let mut frame = other.tx.alloc().expect("a slot");
    let bytes = other.tx.bytes(&mut frame);
    bytes[..60].fill(2);
    bytes[12..14].copy_from_slice(&KIND);
    other.tx.stage(frame, 60);
    other.tx.publish();
    other.tx.kick().expect("the link is up");
    let mut seen = false;
    while !seen && port.rx.wait(Dur::s(5)).expect("the link is up") {
        let mut take = |frame: &[u8], _| seen |= frame.get(12..14) == Some(&KIND);
        port.rx.poll(&mut take).expect("the link is up");
    }
    seen
}

#[test]
fn a_program_of_someone_else_keeps_the_run_away_and_stays_where_it_is() {
    if !root() {
        return;
    }
    let bench = Bench::new("af-xdp");
    // From the last interface to the first, so that each is the first that is in the way.
    let places = [
        ("eth2", "d2", Attach::Native, "in its driver"),
        ("eth1", "d1", Attach::Generic, "in its generic path"),
    ];
    for (own, its, attach, place) in places {
        let config = Config { attach, ring: 64, slots: 8, ..Config::new(own) };
        let mut other = bench.near.run(|| Port::open(&config)).expect("inside").expect("free");
        let ran = bench.run(CASES);
        let port = format!("port {own}: XDP program ");
        let stays = format!("of someone else is attached {place} and stays there");
        kept_away(&ran, &[&port, &stays, "`bpftool prog show id ", "another interface"]);
        assert!(receives(&bench, its, &mut other), "what was there first does not work any more");
    }
}

/// A child that is ended with this value.
struct Beside(Child);

impl Drop for Beside {
    fn drop(&mut self) {
        let _ended = self.0.kill();
        let _reaped = self.0.wait();
    }
}

fn beside(bench: &Bench, command: &mut Command) -> std::io::Result<Beside> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    bench.near.run(|| command.spawn()).expect("inside").map(Beside)
}

/// Frames that `interface` has sent, by the kernel's count.
fn sent(bench: &Bench, interface: &str) -> u64 {
    let table =
        || std::fs::read_to_string("/proc/thread-self/net/dev").expect("the kernel's table");
    let table = bench.near.run(table).expect("inside");
    let line =
        table.lines().find_map(|line| line.trim().strip_prefix(interface)?.strip_prefix(':'));
    let count = line.and_then(|counts| counts.split_whitespace().nth(9));
    count.and_then(|count| count.parse().ok()).expect("a count")
}

#[test]
fn a_stream_by_hand_that_is_under_way_keeps_its_port() {
    if !root() {
        return;
    }
    let bench = Bench::new("af-xdp");
    let mut command = Command::new(env!("CARGO_BIN_EXE_rigctl"));
    command
        .args(["gen", "--port", "eth1", "--speed", "1Gbps", "--every", "1ms", "--format", "json"]);
    let mut stream = beside(&bench, &mut command).expect("rigctl starts");
    let under_way = |enough: u64| {
        for _ in 0..400 {
            if sent(&bench, "eth1") >= enough {
                return;
            }
            sleep(Duration::from_millis(50));
        }
        panic!("no stream was under way within 20 s");
    };
    under_way(10);
    let ran = bench.run(CASES);
    kept_away(&ran, &["port eth1: XDP program ", "stop what attached it"]);
    under_way(sent(&bench, "eth1") + 10);
    let pid = stream.0.id().to_string();
    let asked = Command::new("kill").args(["-INT", &pid]).status().expect("kill");
    assert!(asked.success());
    let mut report = String::new();
    let stdout = stream.0.stdout.as_mut().expect("piped");
    stdout.read_to_string(&mut report).expect("text");
    assert_eq!(stream.0.wait().expect("it ends").code(), Some(0), "{report}");
    let report: Value = serde_json::from_str(&report).expect("JSON");
    assert!(report["streams"][0]["sent"].as_u64() >= Some(20), "{report}");
}

#[test]
fn a_queue_that_another_socket_holds_is_asked_for_and_given_up() {
    if !root() {
        return;
    }
    let bench = Bench::new("af-xdp");
    let mut command = Command::new("python3");
    command.args(["-I", "-c", include_str!("common/holder.py"), "eth3", "0"]);
    let mut holder = match beside(&bench, &mut command) {
        Ok(holder) => holder,
        Err(why) => {
            let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
            assert!(!required, "python3: {why} (RIG_REQUIRE_ALL=1)");
            eprintln!("skipped, python3 does not run here: {why}");
            return;
        }
    };
    let mut held = [0; 5];
    let stdout = holder.0.stdout.as_mut().expect("piped");
    stdout.read_exact(&mut held).expect("the queue is held");
    let ran = bench.run(CASES);
    let words = ["port eth3: queue 0 is held by another AF_XDP socket", "asked for during 2s"];
    kept_away(&ran, &words);
    kept_away(&ran, &["stop the program that holds it (`ss --xdp -ap` names it"]);
    assert!(holder.0.try_wait().is_ok_and(|ended| ended.is_none()), "whoever was first stays");
    drop(holder);
    let (output, _) = bench.run("--only pfcwd::frames-that-enable-no-class-are-no-storm-broadcom");
    assert_ne!(output.status.code(), Some(4), "nobody is in the way: {}", said(&output));
}

#[test]
fn frames_that_do_not_fit_break_their_case_with_the_mtu_needed_and_no_other() {
    if !root() {
        return;
    }
    for backend in ["af-xdp", "af-packet"] {
        let bench = Bench::new(backend);
        bench.near.set_mtu("eth1", 1_500).expect("it is there");
        let only = "--only pfcwd::{drop-at-oversubscription,action-drop}-broadcom";
        let (output, results) = bench.run(only);
        let told = said(&output);
        assert_eq!(output.status.code(), Some(4), "{told}");
        assert!(told.contains("port eth1: MTU 1500 is too small for frames of 9018 B"), "{told}");
        assert!(told.contains("`ip link set eth1 mtu 9004`"), "{told}");
        let long = case(&results, "pfcwd::drop-at-oversubscription-broadcom");
        assert_eq!(long["verdict"], "broken", "{told}");
        let short = case(&results, "pfcwd::action-drop-broadcom");
        assert!(well(short) || bench.late().is_some(), "{short}\n{told}");
    }
}

/// Whether the bench still has an interface of that name.
fn exists(bench: &Bench, name: &str) -> bool {
    bench.near.run(|| Link::named(name).is_ok()).expect("inside")
}

#[test]
fn interfaces_that_are_not_there_break_the_run_and_say_so() {
    if !root() {
        return;
    }
    let bench = Bench::new("af-xdp");
    // The device ends with its port, and the namespace with the device: no interface is left.
    bench.near.remove("eth3").expect("it is there");
    // That takes it a moment, and the kernel another.
    let there = || exists(&bench, "eth1") || exists(&bench, "eth2");
    let gone = (0..1_000).any(|_| {
        let gone = !there();
        if !gone {
            sleep(Duration::from_millis(20));
        }
        gone
    });
    assert!(gone, "the device goes on");
    let ran = bench.run(CASES);
    kept_away(&ran, &[": no such interface in this", "`ip link` lists"]);
}
