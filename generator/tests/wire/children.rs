//! Ports in processes of their own: one without rights, and one that is killed.
//!
//! Each test starts itself again as the child, in the namespace of the lab.

use crate::lab::{Lab, open};
use rig_generator::port::{Backend, Config, Port};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

const CHILD: &str = "RIG_WIRE_CHILD";

/// This test binary, to run `test` of this file as a child with `job`.
fn child(test: &str, job: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--exact", &format!("children::{test}"), "--nocapture"]).env(CHILD, job);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

#[expect(clippy::print_stderr, reason = "the child speaks to its parent")]
fn say(what: &str) {
    eprintln!("{what}");
}

#[test]
fn a_process_without_rights_is_told_which_it_needs() {
    if let Some(backend) = std::env::var_os(CHILD) {
        let mut config = Config::new("v1");
        config.backend = if backend == "packet" { Backend::AfPacket } else { Backend::AfXdp };
        nix::unistd::setuid(65_534.into()).expect("a user who may nothing");
        say(&Port::open(&config).expect_err("no rights").to_string());
        return;
    }
    let Some(lab) = Lab::new(1_500) else { return };
    let test = "a_process_without_rights_is_told_which_it_needs";
    for (backend, tried) in
        [("xdp", "make an AF_XDP socket"), ("packet", "make an AF_PACKET socket")]
    {
        let run = lab.one.run(|| child(test, backend).output()).expect("a namespace");
        let said = String::from_utf8(run.expect("a child").stderr).expect("text");
        let want = format!(
            "port v1: not permitted to {tried} (EPERM: Operation not permitted): needs CAP_NET_RAW, CAP_NET_ADMIN \
             and CAP_BPF; run with sudo\n"
        );
        assert_eq!(said, want);
    }
}

#[test]
fn a_killed_process_leaves_no_program_behind() {
    if std::env::var_os(CHILD).is_some() {
        let port = Port::open(&Config::new("v1"));
        say(if port.is_ok() { "open" } else { "failed" });
        // Until it is killed; the parent never writes, and closes when it is gone itself.
        let _ = std::io::stdin().read(&mut [0]);
        return;
    }
    let Some(lab) = Lab::new(1_500) else { return };
    let test = "a_killed_process_leaves_no_program_behind";
    let mut held = lab
        .one
        .run(|| child(test, "hold").stdin(Stdio::piped()).spawn())
        .expect("a namespace")
        .expect("a child");
    let mut line = String::new();
    let stderr = held.stderr.take().expect("a pipe");
    BufReader::new(stderr).read_line(&mut line).expect("a word");
    assert_eq!(line, "open\n");
    let occupied = open(&lab.one, "v1", |_| {}).expect_err("the child holds it");
    assert!(occupied.to_string().contains("of someone else is attached"), "{occupied}");
    held.kill().expect("killed");
    held.wait().expect("dead");
    open(&lab.one, "v1", |_| {}).unwrap_or_else(|error| panic!("{error}"));
}
