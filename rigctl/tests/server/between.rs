//! Two servers, each in a network namespace of its own with a `/sys` of its own, and the rig in the cable between their NICs.

use super::recorded::{MLX5, program, spread};
use super::{Bounded, NIC, PATIENCE, PERFTEST, RECOVERY, can, verdicts};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// Two cables, each with a server's end in a namespace. A NIC of hardware has sums of TCP done when its frames are on the cable; virtual interfaces leave them out
/// unless they are told.
const INSIDE: &str = r#"
desk=$1
shift
cable() {
    ip link add "rig$1" type veth peer name "n$1" || exit 9
    unshare --net sleep 600 &
    until [ "$(readlink /proc/$!/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.05; done
    ip link set "n$1" netns $! && ip link set "rig$1" up
    nsenter -t $! -n sh -c "ip link set lo up && ip link set n$1 name nic0 && ip addr add 192.168.7.$2/24 dev nic0 && ip link set nic0 up" || exit 9
    nsenter -t $! -n python3 -c 'import array, fcntl, socket, struct
off = array.array("B", struct.pack("II", 0x17, 0))
fcntl.ioctl(socket.socket(), 0x8946, struct.pack("16sP", b"nic0", off.buffer_info()[0]))' || exit 9
    touch "$3/net" && mount --bind "/proc/$!/ns/net" "$3/net"
}
cable 7 2 "$desk"
first=$!
cable 8 3 "$desk/other"
trap "kill $first $!" EXIT
mount --bind "$desk/host/sys" /sys
"$@"
"#;
const SSH: &str = r#"#!/bin/sh
for last; do :; done
there=DESK
case " $* " in *" server8 "*) there=DESK/other ;; esac
exec nsenter --net="$there/net" unshare --mount sh -c 'mount --bind "$0/host/sys" /sys && cd "$0/host" && PATH="$PWD/bin:$PATH" && export PATH && exec $1' "$there" "$last"
"#;
const HERE: &str = "#!/bin/sh\nPROGRAM=${0##*/} exec python3 bin/perftest.py \"$@\"\n";

/// What its NIC is told for the time of a case, and another one that asks for nothing.
const SET: &str = r#"
about: "a setting of the NIC that answers"
device: nic
cases:
  rare-cnps:
    why: "what a case asks of the second NIC is set there"
    source: ["a test"]
    dut: {peer: {np: {interval: 50us}, pfc: {priorities: [3]}}, nic: {rc: {timeout: 0}}}
    between: {delay: 500ns}
    flows: {sender: {nic: p1, to: p2, class: 3, verb: write, message: 4KiB, mtu: 1024B, count: 12}}
    steps: [{at: 0us, start: sender}]
    length: 500us
    trials: 1
    measure: [{rc.sender: {flow: sender}}, {rc.completion: {flow: sender}}]
"#;

fn servers(desk: &Path) {
    let other = desk.join("other");
    for (at, last) in [(desk, "02"), (&*other, "03")] {
        spread(at, MLX5);
        let host = at.join("host");
        program(&host.join("bin/perftest.py"), PERFTEST);
        for name in ["ib_write_bw", "ib_send_bw"] {
            program(&host.join("bin").join(name), HERE);
        }
        let gid = format!("0000:0000:0000:0000:0000:ffff:c0a8:07{last}\n");
        fs::write(host.join("sys/class/infiniband/mlx5_0/ports/1/gids/3"), gid).expect("writable");
    }
    fs::write(other.join("host/far"), "").expect("writable");
    program(&desk.join("bin/ssh"), &SSH.replace("DESK", &desk.display().to_string()));
    let wire = "interface: rig7, address: 192.168.7.2, ssh: server7, device: mlx5_0, gid: 3, bound: 20ms, trial: 10s, budget: 600s, \
        other: {interface: rig8, address: 192.168.7.3, ssh: server8, device: mlx5_0, gid: 3}";
    let lab = format!(
        "about: NICs of two servers\ntransport: server\ncable: 1m\nwire: {{{wire}}}\nduts: [{{pair: [nic.yaml, nic.yaml]}}]\n"
    );
    fs::write(desk.join("lab.yaml"), lab).expect("writable");
    fs::write(desk.join("nic.yaml"), NIC).expect("writable");
    fs::write(desk.join("set.yaml"), SET).expect("writable");
}

fn done(desk: &Path, line: &str) -> Output {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("unshare");
    command.args(["--mount", "--net", "sh", "-c", INSIDE, "sh"]).arg(desk);
    command.arg(env!("CARGO_BIN_EXE_rigctl")).args(line.split_whitespace());
    command.env("RIGCTL_STATE", desk.join("state"));
    command.env("PATH", format!("{}:{path}", desk.join("bin").display()));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Bounded::start(&mut command).end(PATIENCE, Child::wait_with_output)
}

fn run(desk: &Path, suite: &str, only: &str, out: &str) -> Vec<(String, String)> {
    verdicts((desk, done), suite, only, out)
}

#[test]
fn the_rig_between_two_servers_loses_what_a_case_says_and_judges_both_nics() {
    if !can() {
        return;
    }
    let desk = tempfile::tempdir().expect("a folder");
    let desk = desk.path();
    servers(desk);
    let ready = done(desk, &format!("doctor --lab {}", desk.join("lab.yaml").display()));
    let said = String::from_utf8_lossy(&ready.stdout).into_owned();
    for (server, address) in [("server7", "192.168.7.2"), ("server8", "192.168.7.3")] {
        assert!(said.contains(&format!("server {server}")), "{said}");
        assert!(said.contains(&format!("mlx5_0, GID 3 is {address}")), "{said}");
    }

    let cases = "recovery::{nothing-lost,first-and-middle-and-last-of-a-message}";
    for (verdict, report) in run(desk, RECOVERY, cases, "right") {
        assert_eq!(verdict, "pass", "{report}");
    }
    for (at, fault, why) in [
        ("host/still", "still", "packet_seq_err (hw_counters/packet_seq_err) grown by 3"),
        ("other/host/twice", "twice", "a second NAK for one hole"),
    ] {
        fs::write(desk.join(at), "").expect("writable");
        let case = "recovery::first-and-middle-and-last-of-a-message";
        let told = run(desk, RECOVERY, case, fault);
        fs::remove_file(desk.join(at)).expect("it was there");
        assert_eq!(told[0].0, "fail", "{fault}: {}", told[0].1);
        assert!(told[0].1.contains(why), "{fault}: {}", told[0].1);
    }
    let left = fs::read_dir("/tmp").expect("a folder").flatten();
    let left = left.filter(|one| one.file_name().to_string_lossy().starts_with("rig-served-"));
    assert_eq!(left.count(), 0, "nothing stays where a server listened");

    // Programs that find each other beside the rig: it has a connection, of which nothing was heard.
    let both = ["host/beside", "other/host/beside"].map(|at| desk.join(at));
    both.iter().for_each(|at| fs::write(at, "").expect("writable"));
    let told = run(desk, RECOVERY, "recovery::nothing-lost", "beside");
    both.iter().for_each(|at| fs::remove_file(at).expect("it was there"));
    assert_eq!(told[0].0, "broken", "{}", told[0].1);
    let why = "its two programs did not find each other through the rig";
    assert!(told[0].1.contains(why), "{}", told[0].1);

    // A server that listened in vain is ended, with the program that it waited in: the next run finds the NIC free.
    let lab = fs::read_to_string(desk.join("lab.yaml")).expect("a lab");
    fs::write(desk.join("lab.yaml"), lab.replace("rig8", "rig9")).expect("writable");
    let told = run(desk, RECOVERY, "recovery::nothing-lost", "mistyped");
    assert!(told[0].0 == "broken" && told[0].1.contains("rig9"), "{}", told[0].1);
    fs::write(desk.join("lab.yaml"), lab).expect("writable");
    let told = run(desk, RECOVERY, "recovery::nothing-lost", "again");
    assert_eq!(told[0].0, "pass", "{}", told[0].1);

    // What the second NIC is told, it alone is told.
    let suite = desk.join("set.yaml").display().to_string();
    let told = run(desk, &suite, "*", "set");
    assert_eq!(told[0].0, "pass", "{}", told[0].1);
    let seen = |at: &str| fs::read_to_string(desk.join(at).join("host/seen")).expect("it ran");
    let (first, second) = (seen("."), seen("other"));
    assert_eq!(second.split_whitespace().last(), Some("50"), "{second}");
    assert_ne!(first.split_whitespace().last(), Some("50"), "{first}");
    let knob = "other/host/sys/class/net/ens1f0np0/ecn/roce_np/min_time_between_cnps";
    let after = fs::read_to_string(desk.join(knob)).expect("a file");
    assert_ne!(after.trim(), "50", "put back by the run");
}
