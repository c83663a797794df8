//! A server whose flows go over IPv6, its NIC counting by `rdma statistic` what it has no file for.

use super::recorded::program;
use super::{CNP, ETS, RECOVERY, can, done, notifier, of_ten_megabits, run};
use std::fs;
use std::path::Path;

const RDMA: &str = r#"#!/bin/sh
case "$*" in
"-j statistic mode supported") exec cat rdma/supported ;;
"-j statistic show") exec cat rdma/statistic ;;
"-j statistic qp show") exec cat rdma/qp ;;
*) exit 1 ;;
esac
"#;

/// The lab, with an address of IPv6 at the rig's end, and one of the NIC's, whose GID the lab does not say.
fn over_v6(desk: &Path) {
    notifier(desk);
    let port = desk.join("host/sys/class/infiniband/mlx5_0/ports/1");
    for (file, text) in [
        ("gids/5", "fd00:0007:0000:0000:0000:0000:0000:0002"),
        ("gid_attrs/types/5", "RoCE v2"),
        ("gid_attrs/ndevs/5", "ens1f0np0"),
    ] {
        fs::write(port.join(file), format!("{text}\n")).expect("writable");
    }
    let lab = fs::read_to_string(desk.join("lab.yaml")).expect("a lab");
    let lab = lab.replace("gid: 3, ", "address_v6: \"fd00:7::1\", ");
    fs::write(desk.join("lab.yaml"), lab).expect("writable");
}

#[test]
fn flows_and_streams_go_over_v6_by_the_gid_of_that_family_and_what_is_counted_on_demand_is_judged()
{
    if !can() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    over_v6(desk);
    let line = format!("doctor --lab {}", desk.join("lab.yaml").display());
    let doctor = done(desk, &line);
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(said.contains("mlx5_0, GID 5 is fd00:7::2"), "{said}");
    assert!(said.contains("6.06 answers, packets of 1024 B"), "{said}");

    let cases = "recovery::first-and-middle-and-last-of-a-message";
    let told = run(desk, RECOVERY, cases, "flow");
    assert_eq!(told[0].0, "pass", "{}", told[0].1);

    // Two counters of congestion have no file, as on a function whose firmware does not let it read them.
    let host = desk.join("host");
    program(&host.join("bin/rdma"), RDMA);
    let files = host.join("sys/class/infiniband/mlx5_0/ports/1/hw_counters");
    for name in ["np_cnp_sent", "np_ecn_marked_roce_packets"] {
        fs::remove_file(files.join(name)).expect("it was there");
    }
    let suite = desk.join("marks.yaml").display().to_string();
    let told = run(desk, &suite, "*", "streams");
    assert_eq!(told[0].0, "pass", "{}", told[0].1);
    assert!(!told[0].1.contains("does not count p1 np_cnp_sent"), "{}", told[0].1);
    fs::write(host.join("stuck"), "").expect("writable");
    let told = run(desk, &suite, "*", "stuck");
    assert_eq!(told[0].0, "fail", "{}", told[0].1);
    let why = "np_cnp_sent (rdma statistic cc_tx_cnp_pkts) grown by ";
    assert!(told[0].1.contains(why), "{}", told[0].1);

    let seen = fs::read_to_string(host.join("seen-gid")).expect("programs ran");
    assert!(!seen.is_empty() && seen.lines().all(|gid| gid == "5"), "{seen}");

    // One of the other family is no way to the rig's address.
    let lab = fs::read_to_string(desk.join("lab.yaml")).expect("a lab");
    fs::write(desk.join("lab.yaml"), lab.replace("device: mlx5_0", "device: mlx5_0, gid: 3"))
        .expect("writable");
    let told = run(desk, CNP, "cnp::nothing-without-a-mark", "other");
    assert_ne!(told[0].0, "pass", "{}", told[0].1);
    let why = "GID 3 is 192.168.7.2, and none of IPv6, as fd00:7::1 is";
    assert!(told[0].1.contains(why), "{}", told[0].1);
}

/// Shares are told of packets of IPv6 as of others: each has the DSCP that was asked for, without which nothing is told.
#[test]
fn flows_side_by_side_go_over_v6() {
    if !can() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    over_v6(desk);
    of_ten_megabits(desk);
    let told = run(desk, ETS, "host-ets::hlk-minimum-classes", "right");
    assert_eq!(told[0].0, "pass", "{}", told[0].1);
}
