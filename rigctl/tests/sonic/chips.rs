//! A stand-in with several chips, each with a redis of its own, over a real `sshd`: the rig is told of the host's alone.

use super::ssh::{Lab, desk, write};
use super::{STALLS, SUITE, soon, verdict};
use std::fs;

#[test]
fn of_a_switch_with_several_chips_the_one_that_has_the_ports_is_found_and_judged_over_ssh() {
    let Some(desk) = desk() else { return };
    let desk = desk.path();
    write(desk, "one.yaml", SUITE);
    fs::create_dir(desk.join("tmp")).expect("a folder");
    let lab = Lab::serving(desk, "", "--chips 2");
    let typed = |line: &str| {
        let output = lab.run("ssh", &["leaf-1", line]);
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // Said last as it is filled.
    let role =
        "sonic-db-cli -n asic1 CONFIG_DB HMGET 'DEVICE_METADATA|localhost' asic_name sub_role";
    assert!(soon(&mut || typed(role) == "asic1\nFrontEnd\n"), "{}", typed(role));
    let before = lab.config();
    assert!(before.contains("detection_time"), "{before}");
    let at = format!("ssh:leaf-1:{}", desk.join("own/redis.sock").display());
    let which = lab.rigctl(&format!("profile from-dut --redis {at}"));
    let said = String::from_utf8_lossy(&which.stderr).into_owned();
    let want = "want: --namespace with one of asic0, asic1";
    assert!(!which.status.success() && said.contains(want), "{said}");
    // The lab names the host's redis, and the rig finds the chip.
    lab.described_by(&at, "--namespace asic1");
    let other = "sonic-db-cli -n asic0 CONFIG_DB HGETALL 'PFC_WD|Ethernet512'";
    let found = typed(other);
    assert_eq!(found, "{'action': 'drop', 'detection_time': '200'}\n");
    let line = "run one.yaml --lab lab.yaml --seed 7 --overwrite --out out";
    let output = lab.rigctl(line);
    for id in ["one::one", "one::told"] {
        let results = lab.results();
        let (word, reason) = verdict(&results, id);
        let stalled = word == "inconclusive" && STALLS.contains(&reason);
        assert!(word == "pass" || stalled, "{id}: {word} {reason}\n{output:?}");
    }
    assert_eq!(lab.config(), before, "{output:?}");
    assert_eq!(typed(other), found);
    drop(lab);
    for folder in ["own", "redis0", "redis1"] {
        assert!(soon(&mut || !desk.join(folder).exists()), "{folder} is left behind");
    }
}

#[test]
fn a_chip_of_a_switch_that_forwards_no_socket_is_asked_by_its_namespace() {
    let Some(desk) = desk() else { return };
    let desk = desk.path();
    fs::create_dir(desk.join("tmp")).expect("a folder");
    let no = "AllowStreamLocalForwarding no\nAllowTcpForwarding no\n";
    let lab = Lab::serving(desk, no, "--chips 2");
    assert!(soon(&mut || lab.config().contains("detection_time")), "it is filled");
    let at = format!("ssh:leaf-1:{}", desk.join("own/redis.sock").display());
    let mut read = || {
        let read = lab.rigctl(&format!("profile from-dut --redis {at} --namespace asic1"));
        read.status.success() && String::from_utf8_lossy(&read.stdout).contains("Ethernet0")
    };
    assert!(soon(&mut read), "it reads the chip, and not the host");
}
