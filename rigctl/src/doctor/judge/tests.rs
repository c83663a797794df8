//! Every state of every check, as it is read.

use super::super::facts::{
    Cable, Dpdk, Floor, Hugepages, Interface, LinkFacts, Machine, PortFacts, ServerAnswers,
    ServerFacts, Way,
};
use super::super::report::Report;
use super::*;
use rig_guests::Greeted;
use rig_units::Dur;

const ALL: u64 = (1 << 41) - 1;

fn machine() -> Machine {
    Machine {
        kernel: "6.18.4".to_owned(),
        capabilities: ALL,
        btf: true,
        memlock: None,
        cpus: 16,
        isolated: "8-15".to_owned(),
        governor: Some("performance".to_owned()),
        clocksource: "tsc".to_owned(),
        steady_tsc: true,
        rt_runtime: None,
        autogroup: false,
        no_real_time: None,
        floor: Floor { sleeps: 1_000, p50: Dur::us(2), p99: Dur::us(6), max: Dur::us(9) },
        hugepages: Hugepages { total: 256, free: 200, kib: 2_048 },
        dpdk: Dpdk {
            version: Some("22.11.11".to_owned()),
            shim: Some("/usr/lib/librig_dpdk.so".to_owned()),
        },
        tshark: Some("/usr/bin/tshark".to_owned()),
        guest_lacks: Vec::new(),
    }
}

fn port() -> PortFacts {
    PortFacts {
        mode: "AF_XDP in the driver",
        native: true,
        zero_copy: true,
        multi_buffer: true,
        refused: Vec::new(),
    }
}

fn interface(name: &str) -> Interface {
    let link = LinkFacts {
        driver: Some("mlx5_core".to_owned()),
        up: true,
        carrier: true,
        mtu: 9_216,
        pair: false,
        speed: Some(100_000),
        queues: Some(1),
        timestamps: Some((true, true)),
        clock: Some(Ok(Dur::ns(812))),
        counts_pauses: true,
    };
    Interface { name: name.to_owned(), link: Ok(link), port: Ok(port()) }
}

fn facts() -> Facts {
    Facts {
        machine: machine(),
        pair: Ok(port()),
        interfaces: Vec::new(),
        cable: None,
        servers: Vec::new(),
    }
}

fn link(interface: &mut Interface) -> &mut LinkFacts {
    interface.link.as_mut().expect("a link")
}

fn none() -> Needs {
    Needs { lab: "emulated".to_owned(), wire: Wire::None, guests: false }
}

fn made() -> Needs {
    Needs { lab: "veth".to_owned(), wire: Wire::Made { bound: Dur::ms(4) }, guests: false }
}

fn booted() -> Needs {
    Needs { lab: "soft-roce".to_owned(), guests: true, ..made() }
}

fn own(names: &[&str]) -> Needs {
    let interfaces = names.iter().map(|name| ((*name).to_owned(), Some(PortSpeed::G100))).collect();
    Needs {
        lab: "rack-7".to_owned(),
        wire: Wire::Own { bound: Dur::us(10), interfaces },
        guests: false,
    }
}

fn told(facts: &Facts, needs: &Needs) -> String {
    let report = Report::new(needs, judge(facts, needs));
    format!("{report}exit {}\n", report.exit().code())
}

#[test]
fn a_machine_that_has_everything() {
    let mut facts = facts();
    facts.interfaces = vec![interface("enp65s0f0")];
    insta::assert_snapshot!(told(&facts, &own(&["enp65s0f0"])));
}

/// A container without any right, on an old kernel.
fn poor() -> Facts {
    let machine = Machine {
        kernel: "5.15.0-91-generic".to_owned(),
        capabilities: 0,
        btf: false,
        memlock: Some(64 << 10),
        cpus: 1,
        isolated: String::new(),
        governor: Some("powersave".to_owned()),
        clocksource: "hpet".to_owned(),
        steady_tsc: false,
        rt_runtime: Some(950_000),
        autogroup: true,
        no_real_time: Some("EPERM: Operation not permitted".to_owned()),
        floor: Floor { sleeps: 1_000, p50: Dur::us(55), p99: Dur::ms(8), max: Dur::ms(12) },
        hugepages: Hugepages::default(),
        dpdk: Dpdk::default(),
        tshark: None,
        guest_lacks: vec![("qemu-system-x86_64", "qemu-system-x86"), ("ib_send_bw", "perftest")],
    };
    Facts {
        machine,
        pair: Err("cannot make a network namespace: EPERM: Operation not permitted".to_owned()),
        ..facts()
    }
}

#[test]
fn a_machine_that_lacks_everything_and_a_lab_that_needs_none_of_it() {
    insta::assert_snapshot!(told(&poor(), &none()));
}

#[test]
fn a_machine_that_lacks_everything_and_a_lab_that_needs_it() {
    insta::assert_snapshot!(told(&poor(), &made()));
}

#[test]
fn a_lab_of_guests_needs_what_they_are_made_of() {
    let poor = Facts {
        machine: Machine { guest_lacks: poor().machine.guest_lacks, ..machine() },
        ..facts()
    };
    let told = told(&poor, &booted());
    let line = told.lines().find(|line| line.contains("qemu-system")).expect("it is told");
    assert!(line.contains("NEED") && line.ends_with("the lab's guests need them"), "{told}");
    assert!(!told.contains("has all that it needs"), "{told}");
}

#[test]
fn everything_between() {
    let mut facts = facts();
    facts.machine = Machine {
        kernel: "6.1.0-13-amd64".to_owned(),
        steady_tsc: false,
        rt_runtime: Some(950_000),
        governor: None,
        dpdk: Dpdk { version: Some("22.11.11".to_owned()), shim: None },
        floor: Floor { max: Dur::us(900), ..facts.machine.floor },
        ..facts.machine
    };
    facts.pair = Ok(PortFacts {
        zero_copy: false,
        refused: vec![
            "no zero copy: EOPNOTSUPP: Operation not supported on transport endpoint".to_owned(),
        ],
        ..port()
    });
    insta::assert_snapshot!(told(&facts, &own(&[])));
}

#[test]
fn interfaces_in_every_state() {
    let mut down = interface("down");
    (link(&mut down).up, link(&mut down).carrier) = (false, false);
    down.port = Err("port down: the interface is down: `ip link set down up`".to_owned());
    let mut loose = interface("loose");
    link(&mut loose).carrier = false;
    let mut short = interface("short");
    link(&mut short).mtu = 1_500;
    let mut medium = interface("medium");
    (link(&mut medium).mtu, link(&mut medium).counts_pauses) = (4_200, false);
    let mut spread = interface("spread");
    link(&mut spread).queues = Some(16);
    let mut slow = interface("slow");
    link(&mut slow).speed = Some(25_000);
    let mut odd = interface("odd");
    link(&mut odd).speed = Some(7_777);
    let mut pair = interface("pair");
    (link(&mut pair).pair, link(&mut pair).timestamps) = (true, None);
    let mut closed = interface("closed");
    link(&mut closed).clock = Some(Err("/dev/ptp0: Permission denied (os error 13)".to_owned()));
    let mut generic = interface("generic");
    let refused = vec!["no XDP in the driver: EOPNOTSUPP".to_owned()];
    generic.port = Ok(PortFacts {
        mode: "AF_XDP in the generic path",
        native: false,
        zero_copy: false,
        multi_buffer: false,
        refused,
    });
    let mut packet = interface("packet");
    packet.port = Ok(PortFacts { mode: "AF_PACKET", native: false, zero_copy: false, ..port() });
    let missing = Interface {
        link: Err("port gone: no such interface in this network namespace".to_owned()),
        ..interface("gone")
    };
    let all =
        vec![down, loose, short, medium, spread, slow, odd, pair, closed, generic, packet, missing];
    let names: Vec<String> = all.iter().map(|interface| interface.name.clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let told: String = told(&Facts { interfaces: all.clone(), ..facts() }, &own(&names));
    let from = told.find("interface down").expect("the first");
    insta::assert_snapshot!(&told[from..]);
}

#[test]
fn cables_in_every_state() {
    let way = |ordinary: &str, pfc: &str, pause: &str, counted| Way {
        ordinary: ordinary.to_owned(),
        pfc: pfc.to_owned(),
        pause: pause.to_owned(),
        counted,
    };
    let passes = || way("passes", "passes", "passes", None);
    let cables = [
        Ok([passes(), passes()]),
        Ok([way("passes", "swallowed", "swallowed", Some((200, 198))), passes()]),
        Ok([passes(), way("passes", "swallowed", "passes", None)]),
        Ok([
            way("no cable", "no cable", "no cable", None),
            way("3 of 200 arrive", "swallowed", "swallowed", None),
        ]),
        Err("port eth2: the interface is down: `ip link set eth2 up`".to_owned()),
    ];
    let each = cables.map(|ways| {
        let cable = Cable { ends: ["eth1".to_owned(), "eth2".to_owned()], ways };
        let told = told(&Facts { cable: Some(cable), ..facts() }, &none());
        told[told.find("cable eth1").expect("the cable")..].to_owned()
    });
    insta::assert_snapshot!(each.join("\n"));
}

#[test]
fn scripts_get_the_same() {
    let mut facts = poor();
    facts.machine.kernel = "6.18.4".to_owned();
    let needs = made();
    let json = Report::new(&needs, judge(&facts, &needs)).to_json();
    let value: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_eq!(value["format"], "rig-doctor/1");
    assert_eq!(value["ready"], false);
    let checks = value["sections"][0]["checks"].as_array().expect("checks");
    assert_eq!(checks[1]["name"], "capabilities");
    assert_eq!(checks[1]["state"], "need");
    assert_eq!(checks[1]["mend"], "sudo rigctl ...");
}

#[test]
fn servers_in_every_state() {
    let address = "192.168.7.2".parse().expect("an address");
    let greeted = |version: &str| Greeted { version: version.to_owned(), mtu: 1_024, address };
    let of = |lacks: &[&str], perftest| {
        let lacks = lacks.iter().map(|one| (*one).to_owned()).collect();
        Ok(ServerAnswers { gid: (3, address), meant: None, lacks, perftest: Some(perftest) })
    };
    let told = |asked| {
        let server = ServerFacts { at: "server7".to_owned(), nic: "mlx5_0".to_owned(), asked };
        let all = judge(&Facts { servers: vec![server], ..facts() }, &own(&[]));
        let last = all.last().expect("its section");
        assert_eq!(last.name, "server server7");
        let each = last.checks.iter().map(|one| (one.state, one.name.clone(), one.says.clone()));
        each.collect::<Vec<_>>()
    };
    let is = |state, name: &str, says: &str| (state, name.to_owned(), says.to_owned());
    let nic = is(State::Ok, "NIC", "mlx5_0, GID 3 is 192.168.7.2");
    let held = "server7: its NICs are in use by rigctl process 7 at desk";
    assert_eq!(told(Err(held.to_owned())), [is(State::Need, "NIC", held)]);
    let answers = "6.06 answers, packets of 1024 B";
    let right = is(State::Ok, "perftest", answers);
    assert_eq!(told(of(&[], Ok(greeted("6.06")))), [nic.clone(), right]);
    let lacks = "ib_read_bw, ib_atomic_bw: cases that ask for it are inconclusive";
    let unseen = "6.20 answers, packets of 1024 B: 6.06 alone was seen";
    assert_eq!(
        told(of(&["ib_read_bw", "ib_atomic_bw"], Ok(greeted("6.20")))),
        [nic.clone(), is(State::Lack, "programs", lacks), is(State::Note, "perftest", unseen)]
    );
    let why = "perftest's server at 192.168.7.2:18515: Connection refused (os error 111)";
    let silent = of(&[], Err(why.to_owned()));
    assert_eq!(told(silent), [nic.clone(), is(State::Need, "perftest", why)]);
    let elsewhere = Greeted { address: "10.0.0.1".parse().expect("one"), ..greeted("6.06") };
    let elsewhere = told(of(&[], Ok(elsewhere)));
    let why = "its queue pairs are at 10.0.0.1, and GID 3 is 192.168.7.2";
    assert_eq!(elsewhere, [nic, is(State::Need, "perftest", why)]);
    let meant = "192.168.7.9".parse().ok();
    let other = ServerAnswers { gid: (3, address), meant, lacks: Vec::new(), perftest: None };
    let why = "mlx5_0, GID 3 is 192.168.7.2, and the lab says 192.168.7.9";
    assert_eq!(told(Ok(other)), [is(State::Need, "NIC", why)]);
}
