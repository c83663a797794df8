//! A DPDK port that cannot be opened says what is in the way, and DPDK is started once.

use crate::alone::{alone, config, dpdk, say};
use nix::sched::sched_getaffinity;
use nix::unistd::Pid;
use rig_generator::port::{Dpdk, DpdkFault, Fault, Port};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const RINGS: &[&str] = &["--vdev=net_ring0", "--vdev=net_ring1"];

fn refused(config: &rig_generator::port::Config) -> DpdkFault {
    let error = Port::open(config).expect_err("it cannot be opened");
    say(&error.to_string());
    assert_eq!(error.interface, config.interface);
    match error.fault {
        Fault::Dpdk(fault) => *fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn dpdk_starts_once_and_opens_a_port_once() {
    if !alone("refusals::dpdk_starts_once_and_opens_a_port_once") {
        return;
    }
    let own = sched_getaffinity(Pid::from_raw(0));
    let ring0 = config("net_ring0", RINGS, 1_514);
    let one_queue = refused(&rig_generator::port::Config { queue: Some(3), ..ring0.clone() });
    assert_eq!(one_queue, DpdkFault::OneQueue { queue: 3 });
    let known = ["net_ring0", "net_ring1"].map(str::to_owned).to_vec();
    let long = "a-name-that-is-longer-than-any-name-that-dpdk-has-room-for-is";
    for name in ["net_ring2", "", long, "v\0"] {
        match refused(&config(name, RINGS, 1_514)) {
            DpdkFault::NoPort { known: named, .. } => assert_eq!(named, known),
            other => panic!("{other:?}"),
        }
    }
    let port = Port::open(&ring0).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(refused(&ring0), DpdkFault::Again, "while it is open");
    drop(port);
    assert_eq!(refused(&ring0), DpdkFault::Again, "after it was closed");
    let asked = dpdk(&RINGS[..1]).eal;
    let running = ring0.dpdk.eal;
    let otherwise = DpdkFault::StartedOtherwise { running, asked };
    assert_eq!(refused(&config("net_ring1", &RINGS[..1], 1_514)), otherwise);
    Port::open(&config("net_ring1", RINGS, 1_514)).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(sched_getaffinity(Pid::from_raw(0)), own, "DPDK pins a thread of its own");
}

#[test]
fn a_start_that_fails_says_what_dpdk_said_and_stays_failed() {
    if !alone("refusals::a_start_that_fails_says_what_dpdk_said_and_stays_failed") {
        return;
    }
    let wrong = config("net_ring0", &["--vdev=net_ring0", "--no-such-flag"], 1_514);
    for config in [&wrong, &wrong, &config("net_ring0", &["--vdev=net_ring0"], 1_514)] {
        let DpdkFault::NotStarted { eal, said, .. } = refused(config) else {
            panic!("it cannot start")
        };
        assert_eq!(eal, wrong.dpdk.eal);
        assert!(said.contains("EAL: Invalid 'command line' arguments"), "{said}");
    }
}

#[test]
fn a_device_that_dpdk_cannot_make_is_told_with_its_reason() {
    if !alone("refusals::a_device_that_dpdk_cannot_make_is_told_with_its_reason") {
        return;
    }
    let missing = config("net_pcap0", &["--vdev=net_pcap0,iface=nowhere7"], 1_514);
    let DpdkFault::NoPort { known, said } = refused(&missing) else { panic!("no such interface") };
    assert!(known.is_empty(), "{known:?}");
    assert!(said.contains("net_pcap0"), "{said}");
}

/// A port whose shim is looked for at `places`.
fn looking(shim: Option<PathBuf>, places: Vec<PathBuf>) -> rig_generator::port::Config {
    let dpdk = Dpdk { eal: Vec::new(), shim, places };
    rig_generator::port::Config {
        backend: rig_generator::port::Backend::Dpdk,
        dpdk,
        ..rig_generator::port::Config::new("net_ring0")
    }
}

#[test]
fn a_shim_that_is_nowhere_is_told_with_where_it_was_looked_for() {
    let nowhere = PathBuf::from("/nowhere/librig_dpdk.so");
    let DpdkFault::NoShim { tried } = refused(&looking(Some(nowhere.clone()), Vec::new())) else {
        panic!("there is none")
    };
    assert_eq!(tried.len(), 1);
    assert_eq!(tried[0].0, nowhere);
    assert!(tried[0].1.contains("No such file"), "{}", tried[0].1);
    if cfg!(feature = "dpdk") {
        // Without a file of its own the shim that is linked in is used.
        return;
    }
    assert_eq!(refused(&looking(None, Vec::new())), DpdkFault::NoShim { tried: Vec::new() });
    let DpdkFault::NoShim { tried } = refused(&looking(None, vec![nowhere.clone(), nowhere]))
    else {
        panic!("there is none")
    };
    assert_eq!(tried.len(), 2);
}

/// A shared object of this source; `None` with a word on stderr where there is no compiler.
fn object(name: &str, source: &str) -> Option<PathBuf> {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let mut cc = Command::new("cc");
    cc.args(["-shared", "-fPIC", "-x", "c", "-", "-o"]).arg(&out).stdin(Stdio::piped());
    match cc.spawn() {
        Ok(mut child) => {
            child.stdin.take().expect("a pipe").write_all(source.as_bytes()).expect("written");
            assert!(child.wait().expect("it ends").success());
            Some(out)
        }
        Err(error) => {
            let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
            assert!(!required, "cc: {error}");
            say(&format!("skipped: cc: {error}"));
            None
        }
    }
}

#[test]
fn a_shim_of_another_version_is_not_used() {
    let source = "unsigned rig_dpdk_abi(void) { return 7; }";
    let Some(shim) = object("librig_dpdk_7.so", source) else { return };
    let fault = refused(&looking(Some(shim.clone()), Vec::new()));
    assert_eq!(fault, DpdkFault::OtherShim { shim, found: 7, wanted: 1 });
}

#[test]
fn a_library_that_is_no_shim_is_not_used() {
    let sources = ["int nothing;", "unsigned rig_dpdk_abi(void) { return 1; }"]
        .into_iter()
        .zip(["abi", "version"]);
    for (source, lacks) in sources {
        let Some(shim) = object(&format!("librig_dpdk_no_{lacks}.so"), source) else { return };
        let DpdkFault::NoShim { tried } = refused(&looking(Some(shim), Vec::new())) else {
            panic!("it is none")
        };
        assert!(tried[0].1.contains(&format!("rig_dpdk_{lacks}")), "{}", tried[0].1);
    }
}

#[test]
fn the_version_is_told_without_a_start() {
    if !alone("refusals::the_version_is_told_without_a_start") {
        return;
    }
    let version = dpdk(&[]).version().unwrap_or_else(|fault| panic!("{fault}"));
    assert!(version.starts_with("DPDK "), "{version}");
    Port::open(&config("net_ring0", RINGS, 1_514)).unwrap_or_else(|error| panic!("{error}"));
}
