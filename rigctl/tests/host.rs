//! A server with a NIC, asked and set by `rigctl dut nic` and `dut set`: the script that asks runs in a namespace whose `/sys` is a folder
//! made of what such a host says, with an `ethtool` that answers from there and a program that stands for the kernel's DCB.

#[path = "common/bounded.rs"]
mod bounded;
#[path = "common/recorded.rs"]
mod recorded;

use bounded::Bounded;
use recorded::{MLX5, program, spread, wait_for};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

const IRDMA: &str = include_str!("../../dut-adapters/testdata/host/irdma.txt");
const BNXT: &str = include_str!("../../dut-adapters/testdata/host/bnxt.txt");

/// `ssh` that leads to the shell of the host. Its last argument is what the other end is to run. Where there is a file `lost`, the line breaks
/// once 40 is written, of which the driver makes 39. Where there is a file `slow`, what writes 10 is on its way until there is a file `go`.
const SSH: &str = r#"#!/bin/sh
for last; do :; done
echo "Welcome to server7"
cd DESK/host && PATH="$PWD/bin:$PATH" && export PATH || exit
[ ! -s lost ] || exit 255
[ -e lost ] || [ -e slow ] || exec $last
while IFS= read -r line; do
  case "$line" in
  *"echo 40 >"*)
    echo 39 >/sys/class/net/ens1f0np0/ecn/roce_rp/rpg_ai_rate
    echo broken >lost
    exit ;;
  *"echo 10 >"*)
    : >way
    while [ ! -e go ]; do sleep 0.1; done ;;
  esac
  printf '%s\n' "$line"
done | $last
[ ! -e way ] || : >over
[ ! -s lost ] || exit 255
"#;
/// rigctl where the host's folder is `/sys`: it may not make a namespace itself any more.
const INSIDE: &str = r#"mount --bind "$1/host/sys" /sys && shift && exec "$@""#;
const RDMA: &str = r#"#!/bin/sh
case "$*" in
"-j statistic mode supported") exec cat rdma/supported ;;
"-j statistic show") exec cat rdma/statistic ;;
"-j statistic qp show") exec cat rdma/qp ;;
*) exit 1 ;;
esac
"#;

/// What the driver made of the last message that set something, part by part.
fn shown(desk: &Path, part: &str) -> String {
    let text = fs::read_to_string(desk.join("host/dcb/ens1f0np0/shown")).expect("it was set");
    let all: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    all[part].to_string()
}

/// Whether namespaces can be made.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn root() -> bool {
    let is_root = nix::unistd::geteuid().is_root();
    let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
    assert!(is_root || !required, "root alone has another /sys, and RIG_REQUIRE_ALL=1");
    if !is_root {
        eprintln!("skipped: root alone has another /sys; run with sudo");
    }
    is_root
}

/// A host with a ConnectX, spread into files.
fn host(desk: &Path) {
    host_of(desk, MLX5);
}

/// One that says this.
fn host_of(desk: &Path, text: &str) {
    let folder = desk.join("host");
    spread(desk, text);
    program(&folder.join("bin/rdma"), RDMA);
    program(&desk.join("bin/ssh"), &SSH.replace("DESK", &desk.display().to_string()));
}

/// rigctl where the host's folder is `/sys`, with a state of its own as on a machine of its own.
fn command(desk: &Path, state: &str, line: &str) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", INSIDE, "sh"]).arg(desk);
    command
        .arg(env!("CARGO_BIN_EXE_rigctl"))
        .args(line.split_whitespace())
        .env("RIGCTL_STATE", desk.join(state));
    command.env("PATH", format!("{}:{path}", desk.join("bin").display()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Exit code, standard output, standard error.
fn told(done: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code().unwrap_or(-1), text(&done.stdout), text(&done.stderr))
}

/// How long a rig may take, on a machine that does much else.
const PATIENCE: Duration = Duration::from_secs(120);

/// The end of such a command.
fn done(desk: &Path, state: &str, line: &str) -> Output {
    Bounded::start(&mut command(desk, state, line)).end(PATIENCE, Child::wait_with_output)
}

fn rigctl(desk: &Path, line: &str) -> (i32, String, String) {
    told(&done(desk, "state", line))
}

#[expect(clippy::disallowed_methods, reason = "what is waited for is another process")]
fn pause(length: Duration) {
    thread::sleep(length);
}

#[test]
fn a_host_behind_ssh_says_what_it_counts_and_what_it_has_said_says_the_same() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    host(desk);
    let (code, asked, said) = rigctl(desk, "dut nic --ssh server7");
    assert_eq!((code, said.as_str()), (0, ""), "{asked}");
    for line in [
        "mlx5_0 port 1: mlx5_ib, firmware 22.39.1002, ACTIVE, 100 Gb/sec (4X EDR)",
        "  interface ens1f0np0 (mlx5_core)",
        "  counters of 32 bits wrap",
        "    rpg_ai_rate=5 (/sys/class/net/ens1f0np0/ecn/roce_rp/rpg_ai_rate)",
        "    pfc=3 (dcb pfc ens1f0np0)",
        "    cc_rx_ce_pkts          88020  packets received marked CE",
        "    cc_rx_cnp_pkts: switched off",
        "  queue pairs 178, 179 of ib_write_bw, process 812 (counter 4):",
        "    packet_seq_err             17  (packet_seq_err)",
        "    2 others are 0 (--format json names them)",
    ] {
        assert!(asked.lines().any(|found| found == line), "{line}\n{asked}");
    }
    let (_, raw, _) = rigctl(desk, "dut nic --ssh server7 --raw");
    let file = desk.join("server7.txt");
    fs::write(&file, raw).expect("writable");
    let (code, kept, said) = rigctl(desk, &format!("dut nic --sysroot {}", file.display()));
    assert_eq!((code, kept, said.as_str()), (0, asked, ""));
    let (code, json, _) =
        rigctl(desk, &format!("dut nic --format json --sysroot {}", desk.join("host").display()));
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let counters = json["nics"][0]["counters"].as_array().expect("a list");
    let of = |term: &str| {
        counters.iter().find(|one| one["term"] == term).map(|one| one["value"].as_u64())
    };
    assert_eq!(
        (code, of("np_cnp_sent"), of("rx_prio3_pause")),
        (0, Some(Some(2_210)), Some(Some(370)))
    );
    let of = &json["nics"][0]["of_queue_pairs"][0];
    assert_eq!((&of["queue_pairs"][0], &of["counters"][1]["value"]), (&178.into(), &3.into()));
    assert_eq!(json["nics"][0]["optional_counters"][1]["value"], serde_json::Value::Null);
    let (code, _, said) =
        rigctl(desk, &format!("dut nic --device mlx5_9 --sysroot {}", file.display()));
    assert!(
        code == 2
            && said.contains("/sys/class/infiniband/mlx5_9: there is none\n   = want: mlx5_0"),
        "{said}"
    );
}

#[test]
fn what_is_set_is_read_back_and_put_back_and_what_another_hand_has_set_since_is_left_alone() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    host(desk);
    let rate = desk.join("host/sys/class/net/ens1f0np0/ecn/roce_rp/rpg_ai_rate");
    let is = || fs::read_to_string(&rate).expect("a file").trim().to_owned();
    let pfc = || shown(desk, "prio_pfc");
    let set = |asked: &str| rigctl(desk, &format!("dut set --ssh server7 --device mlx5_0 {asked}"));

    let (code, told, said) = set("rpg_ai_rate=10 pfc=3,4 cnp_dscp=48");
    assert_eq!(code, 0, "{told}{said}");
    assert!(
        told.contains("mlx5_0 rpg_ai_rate=10, was 5 (/sys/class/net/")
            && told.contains("cnp_dscp=48, as it was"),
        "{told}"
    );
    assert!(is() == "10" && pfc() == "[0,0,0,1,1,0,0,0]", "{}", pfc());
    // Class 7 becomes another one there: nothing of what was asked for stays.
    let (code, _, said) = set("rpg_ai_rate=20 pfc=7");
    assert!(
        code == 4 && said.contains("pfc was not set to 7: dcb pfc ens1f0np0 reads back as 6"),
        "{said}"
    );
    assert!(is() == "10" && pfc() == "[0,0,0,1,1,0,0,0]", "{}", pfc());
    let (code, told, _) = rigctl(desk, "restore");
    assert!(code == 0 && told.contains("of server7, which was 5: restored"), "{told}");
    assert!(is() == "5" && pfc() == "[0,0,0,1,0,0,0,0]", "{}", pfc());
    // Tried one after the other, and by hand put back to what it was at first: the last is undone first.
    for last in ["20", "5"] {
        assert_eq!(set("rpg_ai_rate=10").0, 0);
        assert_eq!(set(&format!("rpg_ai_rate={last}")).0, 0);
        let (code, told, _) = rigctl(desk, "restore");
        assert!(code == 0 && is() == "5", "{}: {told}", is());
    }
    // The line is lost between the writing and the reading back, and what the driver made of the value is nobody else's.
    fs::write(desk.join("host/lost"), "").expect("writable");
    let (code, _, said) = set("rpg_ai_rate=40");
    assert!(code == 4 && is() == "39", "{}: {said}", is());
    fs::remove_file(desk.join("host/lost")).expect("it was there");
    let (code, told, _) = rigctl(desk, "restore");
    assert!(code == 0 && is() == "5", "{}: {told}", is());
    // Another hand.
    assert_eq!(set("rpg_ai_rate=10").0, 0);
    fs::write(&rate, "77\n").expect("writable");
    let (code, told, _) = rigctl(desk, "restore");
    assert!(
        code == 4 && told.contains("it is 77, neither what it was (5) nor what the rig wrote (10)"),
        "{told}"
    );
    assert_eq!(is(), "77");
    let (code, _, said) = set("pfc=8 rpg_gd=16 rpg=1 trust=on rpg_ai_rate");
    assert_eq!(code, 2, "{said}");
    for (asked, want) in [
        ("pfc=8", "want: classes, 0 to 7"),
        ("rpg_gd=16", "want: a whole number, 0 to 15"),
        ("rpg=1", "nothing is set by that name\n   = want: pfc, ets, maxrate"),
        ("trust=on", "want: dscp or pcp"),
        ("rpg_ai_rate", "want: NAME=VALUE"),
    ] {
        assert!(said.contains(&format!("`{asked}`")) && said.contains(want), "{asked}: {said}");
    }
    // Who else sets PFC is not fought with.
    program(&desk.join("host/bin/pidof"), "#!/bin/sh\necho 812\n");
    let (code, _, said) = set("pfc=3,4");
    assert!(code == 4 && said.contains("lldpad runs there (process 812)"), "{said}");
}

#[test]
fn what_dcb_netlink_has_is_set_read_back_and_put_back() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    host(desk);
    let set = |asked: &str| rigctl(desk, &format!("dut set --ssh server7 --device mlx5_0 {asked}"));
    let (_, asked, _) = rigctl(desk, "dut nic --ssh server7");
    let before = [
        "ets=10234567:vendor,vendor,vendor,vendor,vendor,vendor,vendor,vendor (dcb ets ens1f0np0)",
        "maxrate=none (dcb maxrate ens1f0np0)",
        "buffer=00010000:20016,131072,0,0,0,0,0,0 (dcb buffer ens1f0np0)",
        "dscp_prio=26:3 (dcb app ens1f0np0)",
    ];
    for line in before {
        assert!(asked.lines().any(|found| found.trim() == line), "{line}\n{asked}");
    }
    assert!(asked.contains("  DCBX: host cee ieee\n"), "{asked}");
    let (code, told, said) = set(
        "ets=10001120:30,70,strict maxrate=2:2000000 buffer=00011000:20016,131072 dscp_prio=48:6,26:4",
    );
    assert_eq!(code, 0, "{told}{said}");
    assert!(told.contains("mlx5_0 dscp_prio=26:4,48:6, was 26:3 (dcb app ens1f0np0)"), "{told}");
    let now = [
        ("prio_tc", "[1,0,0,0,1,1,2,0]"),
        ("tc_tsa", "[2,2,0,0,0,0,0,0]"),
        ("tc_bw", "[30,70,0,0,0,0,0,0]"),
        ("tc_maxrate", "[0,0,2000000,0,0,0,0,0]"),
        ("prio_buffer", "[0,0,0,1,1,0,0,0]"),
        ("buffer_size", "[20016,131072,0,0,0,0,0,0]"),
        // Of another selector it is not ours.
        ("app", "[[3,3,4791],[5,4,26],[5,6,48]]"),
    ];
    for (part, want) in now {
        assert_eq!(shown(desk, part), want, "{part}");
    }
    // What the driver rounds is put back, with all that was set before it.
    let (code, _, said) = set("ets=00000000:100 maxrate=2:2050000");
    let want = "maxrate was not set to 2:2050000: dcb maxrate ens1f0np0 reads back as 2:2000000";
    assert!(code == 4 && said.contains(want), "{said}");
    assert_eq!(shown(desk, "prio_tc"), "[1,0,0,0,1,1,2,0]");
    // The driver refuses, and the kernel says that all is well.
    let refuses = desk.join("host/refuses");
    fs::write(&refuses, "").expect("writable");
    let (code, _, said) = set("ets=00000000:100");
    assert!(code == 4 && said.contains("ets was not set to 00000000:100"), "{said}");
    assert!(said.contains("Invalid argument") && said.contains("as it was"), "{said}");
    fs::remove_file(&refuses).expect("it was there");
    let (code, told, said) = rigctl(desk, "restore");
    assert_eq!(code, 0, "{told}{said}");
    assert!(told.contains("dcb ets ens1f0np0"), "{told}");
    let (_, asked, _) = rigctl(desk, "dut nic --ssh server7");
    for line in before {
        assert!(asked.lines().any(|found| found.trim() == line), "{line}\n{asked}");
    }
    let (code, _, said) = set("ets=10001120:30,60,strict");
    assert!(
        code == 2 && said.contains("100 % among the classes that share, and not 90 %"),
        "{said}"
    );
    // The firmware has DCBX: mlx5 says so by not saying that the host has.
    let at = desk.join("host/dcb/ens1f0np0/ieee");
    let text = fs::read_to_string(&at).expect("a file");
    let owned = text.replacen("05000e000d", "05000e000c", 1);
    assert_ne!(owned, text);
    fs::write(&at, owned).expect("writable");
    let (code, _, said) = set("maxrate=2:2000000");
    assert!(
        code == 4
            && said.contains("the firmware of ens1f0np0 has DCBX (`cee ieee`): `dcb dcbx set"),
        "{said}"
    );
    // This machine's own kernel, which the rig asks by itself, has no such interface.
    let (code, _, said) = rigctl(desk, "dut set --device mlx5_0 maxrate=2:2000000");
    let none = ["there is no such interface", "its driver has no DCB"];
    assert!(code == 2 && none.iter().any(|why| said.contains(why)), "{said}");
}

#[test]
fn a_rig_that_is_killed_with_a_write_on_its_way_is_over_before_anything_is_put_back() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    host(desk);
    let at = |name: &str| desk.join("host").join(name);
    let rate = at("sys/class/net/ens1f0np0/ecn/roce_rp/rpg_ai_rate");
    let is = || fs::read_to_string(&rate).expect("a file").trim().to_owned();
    let set = |value: u32| format!("dut set --ssh server7 --device mlx5_0 rpg_ai_rate={value}");
    fs::write(at("slow"), "").expect("writable");
    let mut first = Bounded::start(&mut command(desk, "state", &set(10)));
    wait_for(&at("way"));
    // Another rig of this machine, and one of another machine, are told who is there.
    let own = first.id();
    let (code, _, said) = rigctl(desk, &set(20));
    assert!(
        code == 4 && said.contains(&format!("host server7 is in use by process {own}")),
        "{said}"
    );
    let (code, _, said) = told(&done(desk, "elsewhere", &set(20)));
    let want = format!("error: server7: its NICs are in use by rigctl process {own} at ");
    assert!(code == 4 && said.starts_with(&want), "{said}");
    assert_eq!(is(), "5");
    first.kill().expect("it waits");
    first.end(PATIENCE, |mut first| first.wait());
    let mut restoring = Bounded::start(&mut command(desk, "state", "restore"));
    pause(Duration::from_secs(2));
    assert_eq!(restoring.try_wait().expect("ours"), None, "the write is on its way");
    fs::write(at("go"), "").expect("writable");
    let (code, done, said) = told(&restoring.end(PATIENCE, Child::wait_with_output));
    wait_for(&at("over"));
    assert!(code == 0 && done.contains("which was 5: restored"), "{done}{said}");
    assert_eq!(is(), "5");
    // Nobody holds it any more.
    fs::remove_file(at("slow")).expect("it was there");
    assert_eq!(rigctl(desk, &set(20)).0, 0);
    assert_eq!((rigctl(desk, "restore").0, is()), (0, "5".to_owned()));
}

#[test]
fn what_could_not_be_put_back_is_not_touched_and_of_what_was_not_written_nothing_else_is_said() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    host(desk);
    let at = |name: &str| desk.join("host").join(name);
    let rate = at("sys/class/net/ens1f0np0/ecn/roce_rp/rpg_ai_rate");
    let is = || fs::read_to_string(&rate).expect("a file").trim().to_owned();
    let set = |asked: &str| rigctl(desk, &format!("dut set --ssh server7 --device mlx5_0 {asked}"));
    // Without the rights.
    fs::write(at("denied"), "").expect("writable");
    let (code, _, said) = set("rpg_ai_rate=20 pfc=3,4");
    assert_eq!(
        (code, said.as_str()),
        (
            4,
            "error: pfc was not set to 3,4: Operation not permitted\n\
             error: pfc is 3, as it was: nothing was to be put back\n\
             error: rpg_ai_rate was put back to 5\n"
        )
    );
    assert_eq!(is(), "5");
    assert_eq!(rigctl(desk, "restore"), (0, String::new(), String::new()));
    // A value that no shell would write, and one that is not taken.
    for odd in ["5 (default)", "1000001"] {
        fs::write(&rate, format!("{odd}\n")).expect("writable");
        let (code, _, said) = set("rpg_gd=3 rpg_ai_rate=20");
        let want = format!("`rpg_ai_rate=20`: it is `{odd}` now (/sys/class/net/");
        assert!(code == 2 && said.contains(&want) && is() == odd, "{said}");
    }
    let gd = at("sys/class/net/ens1f0np0/ecn/roce_rp/rpg_gd");
    assert_eq!(fs::read_to_string(gd).expect("a file").trim(), "11");
    fs::write(&rate, "5\n").expect("writable");
    let (code, _, said) = set("rpg_ai_rate=20 --port 2");
    assert!(code == 2 && said.contains("it has no port 2\n   = want: --port 1"), "{said}");
}

#[test]
fn what_goes_on_at_a_host_holds_it_and_is_named() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    host(desk);
    let lingers = desk.join("host/lingers");
    fs::write(&lingers, "").expect("writable");
    let set = |asked: &str| rigctl(desk, &format!("dut set --ssh server7 --device mlx5_0 {asked}"));
    assert_eq!(set("pfc=3,4").0, 0);
    let pid = fs::read_to_string(&lingers).expect("a file").trim().to_owned();
    let (code, _, said) = set("rpg_ai_rate=20");
    let ended = Command::new("kill").arg(&pid).status().expect("it starts");
    let want = format!("error: server7: its NICs are in use by process {pid} there (sleep 300)\n");
    fs::remove_file(&lingers).expect("it was there");
    assert_eq!((code, said, ended.success()), (4, want, true));
    assert_eq!(rigctl(desk, "restore").0, 0);
}

#[test]
fn all_gids_are_told_however_many_there_are() {
    if !root() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    host(desk);
    let port = desk.join("host/sys/class/infiniband/mlx5_0/ports/1");
    for (place, gid) in [(16, "fe80::16"), (254, "fe80::254")] {
        for (folder, text) in
            [("gids", gid), ("gid_attrs/types", "RoCE v2"), ("gid_attrs/ndevs", "ens1f0np0")]
        {
            fs::write(port.join(folder).join(place.to_string()), format!("{text}\n"))
                .expect("writable");
        }
    }
    // A place without one.
    fs::write(port.join("gid_attrs/types/17"), "").expect("writable");
    let (code, asked, _) = rigctl(desk, "dut nic --ssh server7");
    let gids: Vec<&str> = asked.lines().filter(|line| line.starts_with("  GID")).collect();
    let count = gids.len();
    assert_eq!((code, count), (0, 4), "{asked}");
    assert_eq!(gids[count - 2..], ["  GID 16: RoCE v2, fe80::16", "  GID 254: RoCE v2, fe80::254"]);
}

#[test]
fn knobs_of_other_drivers_are_set_and_put_back_too() {
    if !root() {
        return;
    }
    let hosts = [
        (IRDMA, "rocep24s0f0", "kernel/config/irdma/rocep24s0f0/roce_dcqcn_enable", ["1", "0"]),
        (BNXT, "bnxt_re0", "kernel/debug/bnxt_re/0000:5e:00.0/cc_config/tos_dscp", ["26", "30"]),
    ];
    for (text, device, file, [before, now]) in hosts {
        let desk = tempfile::tempdir().expect("a folder");
        let desk = desk.path();
        host_of(desk, text);
        // Where it is on its bus says the link.
        let on_bus = desk.join("host/sys/class/net/ens3f0np0/device");
        if on_bus.exists() {
            fs::rename(&on_bus, desk.join("host/sys/0000:5e:00.0")).expect("a folder");
            symlink("../../../0000:5e:00.0", &on_bus).expect("a link");
        }
        let at = desk.join("host/sys").join(file);
        let is = || fs::read_to_string(&at).expect("a file").trim().to_owned();
        assert_eq!(is(), before);
        let (_, name) = file.rsplit_once('/').expect("a folder");
        let (code, told, said) =
            rigctl(desk, &format!("dut set --ssh server7 --device {device} {name}={now}"));
        assert_eq!((code, is().as_str()), (0, now), "{told}{said}");
        assert!(
            told.contains(&format!("{device} {name}={now}, was {before} (/sys/{file})")),
            "{told}"
        );
        let (code, told, said) = rigctl(desk, "restore");
        assert_eq!((code, is().as_str()), (0, before), "{told}{said}");
        // Of another driver's knobs it has none.
        let (code, _, said) =
            rigctl(desk, &format!("dut set --ssh server7 --device {device} rpg_ai_rate=10"));
        assert!(
            code != 0 && said.contains(&format!("rpg_ai_rate: {device} has none at")),
            "{said}"
        );
    }
}
