//! Reading what carries frames to a lab's devices, what that makes of their ports, and which controls it goes with.

use super::server;
use crate::check::CLOCK;
use crate::lab::{
    ControlName, DpdkWire, ExchangeWay, Guests, Interfaces, IpVersion, OtherEnd, Transport, Veth,
};
use crate::walk::{At, Fields};
use crate::yaml::Value;
use crate::{Backend, Kind};
use rig_units::{Dur, Ppm};
use std::path::PathBuf;

/// The words for the transports.
pub(crate) const TRANSPORTS: [(&str, Word); 5] = [
    ("virtual", Word::Virtual),
    ("veth", Word::Veth),
    ("interfaces", Word::Interfaces),
    ("guests", Word::Guests),
    ("server", Word::Server),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    Virtual,
    Veth,
    Interfaces,
    Guests,
    Server,
}

/// What each transport was called when a lab said `adapter:`, which was both transport and control.
const BEFORE: [(&str, &str); 3] =
    [("emulated", "virtual"), ("emulated-wire", "veth"), ("declared", "interfaces")];

/// The keys of `wire:`, by transport.
const VIRTUAL: [&str; 1] = ["bound"];
const VETH: [&str; 5] = ["speed", "ports", "bound", "benches", "budget"];
const INTERFACES: [&str; 8] =
    ["interfaces", "backend", "eal", "shim", "speed", "bound", "clock", "budget"];
const GUESTS: [&str; 10] = [
    "bound",
    "wait",
    "makes_up",
    "trial",
    "budget",
    "prepare",
    "other_end",
    "prepare_other",
    "exchange",
    "over",
];

/// Most ports of an emulated device in real time, and most devices side by side.
const MOST: i64 = 64;

/// Whether the lab is written as labs are now; else it is told with the line to write instead.
pub(super) fn is_of_now(lab: &At<'_>) -> bool {
    let Value::Map(fields) = &lab.node.value else { return true };
    if !fields.iter().any(|(key, _)| key.name == "adapter") {
        return true;
    }
    let at = lab.down("adapter");
    let written = at.node.written();
    let now = BEFORE.iter().find(|(before, _)| *before == written);
    let want = now.map_or_else(
        || "transport: virtual, veth or interfaces".to_owned(),
        |(_, now)| format!("transport: {now}"),
    );
    at.at_key("`adapter` is no key of a lab any more", want);
    false
}

/// Where in a lab a key belongs that is not at its top.
pub(super) fn elsewhere(key: &str) -> Option<String> {
    match key {
        "control" => Some("it with a device: `duts: [{profile: FILE, control: none}]`".to_owned()),
        "redis" => Some(
            "it with a device: `duts: [{profile: FILE, control: sonic, redis: unix:PATH}]`"
                .to_owned(),
        ),
        key if [&VETH[..], &INTERFACES, &GUESTS, &server::KEYS]
            .iter()
            .any(|keys| keys.contains(&key)) =>
        {
            Some(format!("it below `wire:`, of a transport that has one: `wire: {{{key}: ...}}`"))
        }
        _ => None,
    }
}

/// Whether a device at this transport may have that control.
pub(super) fn offers(at: &At<'_>, transport: &Transport, (control, kind): (ControlName, Kind)) {
    let controls = transport.controls(kind);
    if !controls.contains(&control) {
        let names = ControlName::NAMES.iter().filter(|(_, control)| controls.contains(control));
        let names: Vec<&str> = names.map(|&(name, _)| name).collect();
        let word = at.node.written();
        at.fault(
            format!("the control `{word}` does not go with this transport"),
            names.join(" or "),
        );
    }
}

/// What carries frames to the devices of a lab.
pub(super) fn read(lab: &At<'_>, fields: &Fields<'_>) -> Option<Transport> {
    let word = fields.need("transport", "virtual, veth, interfaces, guests or server");
    let word = word.and_then(|at| at.choice(&TRANSPORTS))?;
    let wire = fields.get("wire");
    match (word, wire) {
        (Word::Virtual, None) => Some(Transport::Virtual(Dur::ZERO)),
        (Word::Virtual, Some(wire)) => {
            let fields = wire.fields(&VIRTUAL)?;
            length(&fields, "bound", "20us").map(Transport::Virtual)
        }
        (_, None) => {
            let want = "wire: with what the transport needs, as in lab-configs/veth.yaml";
            lab.fault("the lab says nothing of its wire", want);
            None
        }
        (Word::Veth, Some(wire)) => veth(&wire).map(Transport::Veth),
        (Word::Interfaces, Some(wire)) => interfaces(&wire).map(Transport::Interfaces),
        (Word::Guests, Some(wire)) => guests(&wire).map(Transport::Guests),
        (Word::Server, Some(wire)) => server::read(&wire).map(Transport::Server),
    }
}

fn veth(at: &At<'_>) -> Option<Veth> {
    let fields = at.fields(&VETH)?;
    let speed = fields.need("speed", "a port speed such as 1Gbps").and_then(|at| at.quantity());
    let ports = fields.need("ports", "how many ports each device has");
    let ports = ports.and_then(|at| at.whole(1..=MOST, "a number of ports"));
    let bound = length(&fields, "bound", "1ms");
    let benches =
        fields.or("benches", 1, |at| at.whole(1..=MOST, "a number of devices side by side"));
    let budget = length(&fields, "budget", "240s");
    Some(Veth { speed: speed?, ports: ports?, bound: bound?, benches: benches?, budget: budget? })
}

fn guests(at: &At<'_>) -> Option<Guests> {
    let fields = at.fields(&GUESTS)?;
    let [bound, budget] = [("bound", "1ms"), ("budget", "600s")]
        .map(|(name, example)| length(&fields, name, example));
    let trial = fields.or("trial", Dur::s(2), |_| length(&fields, "trial", "2s"));
    // A frame stands at the tap for as long as the guest has no processor: without a word as long as its stamp may be off.
    let wait = fields.or("wait", bound.unwrap_or_default(), |_| length(&fields, "wait", "20ms"));
    let makes_up = fields.or("makes_up", Dur::ZERO, |_| length(&fields, "makes_up", "16ms"));
    const LINES: &str = "a list of lines for the guest's shell";
    let [prepare, prepare_other] = ["prepare", "prepare_other"].map(|key| {
        fields.or(key, Vec::new(), |at| {
            let lines = at.list(LINES)?;
            let read: Vec<String> =
                lines.iter().filter_map(|line| Some(line.text(LINES)?.to_owned())).collect();
            (read.len() == lines.len()).then_some(read)
        })
    });
    let other_end = fields.or("other_end", OtherEnd::Rig, |at| at.choice(&OtherEnd::NAMES));
    let exchange = fields.or("exchange", ExchangeWay::Through, |at| at.choice(&ExchangeWay::NAMES));
    let over = fields.or("over", IpVersion::V4, |at| at.choice(&IpVersion::NAMES));
    let of_rig = |key| fields.get(key).filter(|_| other_end == Some(OtherEnd::Rig));
    if let Some(at) = of_rig("prepare_other") {
        let want = "no `prepare_other`, or other_end: guest";
        at.at_key("the rig is at the other end, and not a guest", want);
    }
    if let Some(at) = of_rig("exchange").filter(|_| exchange == Some(ExchangeWay::Beside)) {
        at.at_key(
            "the rig is at the other end, and agrees on the connections itself",
            "exchange: through, or other_end: guest",
        );
    }
    Some(Guests {
        bound: bound?,
        wait: wait?,
        makes_up: makes_up?,
        trial: trial?,
        budget: budget?,
        prepare: prepare?,
        other_end: other_end?,
        prepare_other: prepare_other?,
        exchange: exchange?,
        over: over?,
    })
}

fn interfaces(at: &At<'_>) -> Option<Interfaces> {
    const LISTED: &str = "a list of interfaces, such as [enp65s0f0, enp65s0f1]";
    let fields = at.fields(&INTERFACES)?;
    let listed = fields.need("interfaces", LISTED).and_then(|at| at.list(LISTED))?;
    let mut interfaces: Vec<String> = Vec::new();
    for at in &listed {
        let Some(name) = at.text("the name of an interface") else { continue };
        if !at.is_short(name) {
            continue;
        }
        if interfaces.iter().any(|other| other == name) {
            at.fault(format!("`{name}` is already a port of the rig"), "another interface");
        }
        interfaces.push(name.to_owned());
    }
    if listed.is_empty() {
        at.fault("the rig has no port", LISTED);
    }
    let backend = fields.or("backend", Backend::AfXdp, |at| at.choice(&Backend::NAMES));
    let dpdk = backend.and_then(|backend| dpdk(&fields, backend));
    let speed = fields.maybe("speed", |at| at.quantity());
    // Interfaces without a speed of their own are virtual ones.
    let usual = if speed == Some(None) { Interfaces::CLOCK } else { Ppm(0) };
    let clock = fields.or("clock", usual, |at| clock(&at));
    let (bound, budget) = (length(&fields, "bound", "10us"), length(&fields, "budget", "1200s"));
    let whole = interfaces.len() == listed.len() && !interfaces.is_empty();
    whole.then_some(())?;
    Some(Interfaces {
        interfaces,
        backend: backend?,
        dpdk: dpdk?,
        speed: speed?,
        bound: bound?,
        clock: clock?,
        budget: budget?,
    })
}

/// How far off the rig's clock may be.
fn clock(at: &At<'_>) -> Option<Ppm> {
    let clock: Ppm = at.quantity()?;
    if clock > CLOCK {
        let want = format!("at most {CLOCK}: IEEE 802.3 allows 100ppm");
        at.fault(format!("a clock that may be off by {clock}"), want);
        return None;
    }
    Some(clock)
}

/// What the back end needs beside its interfaces, which only `dpdk` does.
fn dpdk(fields: &Fields<'_>, backend: Backend) -> Option<Option<DpdkWire>> {
    const EAL: &str = "a list of DPDK's arguments, such as [\"-l\", \"0\", --in-memory]";
    if backend != Backend::Dpdk {
        let alien: Vec<(&str, At<'_>)> =
            ["eal", "shim"].into_iter().filter_map(|key| Some((key, fields.get(key)?))).collect();
        for (key, at) in &alien {
            let want = format!("`backend: dpdk`, or no `{key}`");
            at.at_key(format!("`{key}` is of the back end dpdk"), want);
        }
        return alien.is_empty().then_some(None);
    }
    let eal = fields.need("eal", EAL).and_then(|at| at.list(EAL)).and_then(|listed| {
        let eal: Vec<String> = listed.iter().filter_map(argument).collect();
        (eal.len() == listed.len()).then_some(eal)
    });
    let shim = fields.maybe("shim", |at| at.text("the file of the shim").map(PathBuf::from));
    Some(Some(DpdkWire { eal: eal?, shim: shim? }))
}

/// One argument of DPDK. A number is one, too.
fn argument(at: &At<'_>) -> Option<String> {
    const WANT: &str = "one argument, such as `--vdev=net_ring0`";
    let text = match at.node.value {
        Value::Whole(n) => n.to_string(),
        _ => at.text(WANT)?.to_owned(),
    };
    if text.contains(char::is_whitespace) {
        at.fault(
            format!("`{text}` is more than one argument"),
            format!("{WANT}; each is an element"),
        );
        return None;
    }
    Some(text)
}

/// A length of time that is not zero.
pub(super) fn length(fields: &Fields<'_>, name: &str, example: &str) -> Option<Dur> {
    let want = format!("a length of time such as {example}");
    let at = fields.need(name, &want)?;
    let dur: Dur = at.quantity()?;
    if dur == Dur::ZERO {
        at.fault("no time at all", want);
        return None;
    }
    Some(dur)
}

#[cfg(test)]
mod tests {
    use crate::read::tests::{faults_of_lab, lab_of};
    use crate::{Backend, ControlName, DpdkWire, Transport};

    const VETH: &str = "about: a\ntransport: veth\ncable: 3m\nduts: [duts/broadcom-mixed.yaml]\n";

    fn wire(text: &str) -> String {
        format!("{VETH}wire: {text}\n")
    }

    #[test]
    fn ports_run_at_the_speed_of_the_wire_and_keep_their_shares() {
        let lab = lab_of(&wire("{speed: 1Gbps, ports: 4, bound: 1ms, budget: 240s}"));
        let ports = &lab.duts[0].declared;
        assert_eq!(ports.port_count(), 4);
        let speeds: Vec<String> =
            (0..4).filter_map(|port| ports.port_speed(port)).map(|s| s.to_string()).collect();
        assert!(speeds.contains(&"1Gbps".to_owned()), "{speeds:?}");
        assert!(speeds.iter().any(|speed| speed != "1Gbps"), "{speeds:?}");
    }

    fn declared(wire: &str) -> String {
        let lab = VETH.replace("veth", "interfaces");
        format!("{lab}wire: {{interfaces: [net_pcap0], bound: 1ms, budget: 9s, {wire}}}\n")
    }

    #[test]
    fn dpdk_has_its_arguments_and_may_have_a_shim() {
        let dpdk = |wire: &str| match lab_of(&declared(wire)).transport {
            Transport::Interfaces(wire) => (wire.backend, wire.dpdk),
            other => panic!("{other:?}"),
        };
        let args = "eal: [-m, 512, \"--vdev=net_pcap0,iface=eth1\"]";
        let eal = ["-m", "512", "--vdev=net_pcap0,iface=eth1"].map(str::to_owned).to_vec();
        let found = |shim| (Backend::Dpdk, Some(DpdkWire { eal: eal.clone(), shim }));
        assert_eq!(dpdk(&format!("backend: dpdk, {args}")), found(None));
        let shim = format!("backend: dpdk, {args}, shim: /opt/librig_dpdk.so");
        assert_eq!(dpdk(&shim), found(Some("/opt/librig_dpdk.so".into())));
        assert_eq!(dpdk("backend: af-packet"), (Backend::AfPacket, None));
    }

    #[test]
    fn what_is_wrong_with_dpdk_is_told_in_its_place() {
        insta::assert_snapshot!(faults_of_lab(&declared("backend: dpdk, shim: 3")));
        insta::assert_snapshot!(faults_of_lab(&declared(
            "backend: dpdk, eal: [--vdev net_ring0, [-l, 0], \"\"], shim: 3"
        )));
        insta::assert_snapshot!(faults_of_lab(&declared("eal: [], shim: librig_dpdk.so")));
    }

    #[test]
    fn a_device_at_the_rigs_interfaces_has_the_ports_that_are_cabled() {
        let lab = |speed: &str| {
            let text = VETH.replace("veth", "interfaces");
            let wire = format!("wire: {{interfaces: [a, b, c]{speed}, bound: 1ms, budget: 9s}}");
            lab_of(&format!("{text}{wire}\n")).duts[0].declared.ports().clone()
        };
        let own = lab("");
        assert_eq!((own.len(), own[0].count, own[0].speed.to_string()), (1, 3, "400Gbps".into()));
        let slow = lab(", speed: 1Gbps");
        assert_eq!((slow[0].count, slow[0].speed.to_string()), (3, "1Gbps".into()));
    }

    #[test]
    fn two_clocks_are_as_far_apart_as_two_ports_may_be_where_nobody_says_more() {
        let clocks = |wire: &str, device: &str| {
            let text = VETH.replace("veth", "interfaces");
            let wire = format!("wire: {{interfaces: [a, b, c], {wire}bound: 1ms, budget: 9s}}");
            let lab = lab_of(&format!("{text}{wire}\n").replace("broadcom-mixed", device));
            (lab.transport.clock().0, lab.duts[0].declared.clock().0)
        };
        assert_eq!(clocks("", "broadcom-mixed"), (100, 100));
        assert_eq!(clocks("", "broadcom-by-standard"), (100, 100));
        assert_eq!(clocks("clock: 2ppm, ", "broadcom-mixed"), (2, 100));
        // At virtual interfaces both go by the clock of one machine.
        assert_eq!(clocks("speed: 1Gbps, ", "broadcom-mixed"), (0, 0));
        let off = declared("backend: af-packet, clock: 2%");
        insta::assert_snapshot!(faults_of_lab(&off));
    }

    #[test]
    fn that_one_clock_of_a_row_is_known_makes_no_other_one_better() {
        let row = concat!(
            "{system: row, about: a, devices: {near: duts/broadcom.yaml, far: duts/known.yaml}, ",
            "links: [{from: near/Ethernet28, to: far/Ethernet28, length: 1m}], ports: {p1: near/Ethernet0, p2: far/Ethernet0}}"
        );
        let clocks = |known: &str| {
            let folder = tempfile::tempdir().expect("a temporary folder");
            std::fs::create_dir(folder.path().join("duts")).expect("writable");
            let profile = |name: &str, clock: &str| {
                let text =
                    format!("name: {name}\nabout: a\nextends: broadcom\ndeclared: {{{clock}}}\n");
                std::fs::write(folder.path().join(format!("duts/{name}.yaml")), text)
                    .expect("writable");
            };
            profile("broadcom-0", "");
            profile("known", known);
            let wire = "wire: {interfaces: [a, b], bound: 1ms, budget: 9s}";
            let row = row.replace("duts/broadcom.yaml", "duts/broadcom-0.yaml");
            let text =
                format!("about: a\ntransport: interfaces\ncable: 1m\nduts: [{row}]\n{wire}\n");
            std::fs::write(folder.path().join("lab.yaml"), text).expect("writable");
            let lab = super::super::lab(Some(&folder.path().join("lab.yaml")));
            let lab = lab.unwrap_or_else(|faults| panic!("{faults:?}"));
            let system = lab.duts[0].system.as_deref().expect("a system");
            let each = system.devices.iter().map(|device| device.declared.clock().0);
            (lab.duts[0].declared.clock().0, each.collect::<Vec<_>>())
        };
        assert_eq!(clocks("clock: 20ppm"), (100, vec![100, 20]));
        assert_eq!(clocks("clock: 150ppm"), (150, vec![100, 150]));
    }

    #[test]
    fn one_device_hangs_at_the_rigs_interfaces() {
        let declared = VETH
            .replace("veth", "interfaces")
            .replace("[duts/broadcom-mixed.yaml]", "[duts/broadcom.yaml, duts/mellanox.yaml]");
        insta::assert_snapshot!(faults_of_lab(&format!(
            "{declared}wire: {{interfaces: [eth1, eth2], bound: 10us, budget: 60s}}\n"
        )));
    }

    #[test]
    fn what_a_wire_lacks_is_told_at_once() {
        insta::assert_snapshot!(faults_of_lab(&wire(
            "{speed: 1furlong, ports: 0, benches: 0, pots: 3}"
        )));
        insta::assert_snapshot!(faults_of_lab(VETH));
        let declared = VETH.replace("veth", "interfaces");
        insta::assert_snapshot!(faults_of_lab(&format!(
            "{declared}wire: {{interfaces: [eth1, eth1, 3], backend: af_xdp, bound: 0us}}\n"
        )));
        let desk = VETH.replace("veth", "virtual");
        insta::assert_snapshot!(faults_of_lab(&format!("{desk}wire: {{ports: 3}}\n")));
    }

    fn virtual_lab(duts: &str) -> String {
        format!("about: a\ntransport: virtual\ncable: 3m\nduts: {duts}\n")
    }

    #[test]
    fn a_lab_of_before_is_refused_with_the_line_to_write_instead() {
        for (before, now) in super::BEFORE {
            let faults =
                faults_of_lab(&VETH.replace("transport: veth", &format!("adapter: {before}")));
            assert!(
                faults.starts_with("lab.yaml:2:1: `adapter` is no key of a lab any more"),
                "{faults}"
            );
            assert!(faults.trim_end().ends_with(&format!("want: transport: {now}")), "{faults}");
            assert_eq!(faults.matches("want:").count(), 1, "{faults}");
        }
        insta::assert_snapshot!(faults_of_lab(
            &VETH.replace("transport: veth", "adapter: emulatd")
        ));
    }

    #[test]
    fn a_guest_is_one_pair_of_nics() {
        let lab = |duts: &str| {
            virtual_lab(duts).replace(
                "transport: virtual",
                "transport: guests\nwire: {bound: 1ms, trial: 2s, budget: 9s}",
            )
        };
        let pair = "{pair: [duts/gen1.yaml, duts/gen2.yaml]}";
        let read = lab_of(&lab(&format!("[{pair}]")));
        let Transport::Guests(guests) = &read.transport else { panic!("{:?}", read.transport) };
        assert_eq!(guests.trial, rig_units::Dur::s(2));
        assert_eq!(read.control(&read.duts[0]), ControlName::Perftest);
        insta::assert_snapshot!(faults_of_lab(&lab(&format!(
            "[duts/gen1.yaml, {pair}, duts/broadcom.yaml]"
        ))));
        insta::assert_snapshot!(faults_of_lab(
            &lab(&format!("[{pair}]")).replace("trial", "lasts")
        ));
    }

    #[test]
    fn a_guest_is_a_switch_with_the_control_of_its_own() {
        let guests = "transport: guests\nwire: {bound: 20ms, budget: 9s}";
        let lab = |dut: &str| virtual_lab(dut).replace("transport: virtual", guests);
        let read = lab_of(&lab("[duts/linux-switch.yaml]"));
        assert_eq!(read.control(&read.duts[0]), ControlName::Linux);
        assert_eq!(read.duts[0].rule, None);
        let other = lab("[{profile: duts/linux-switch.yaml, control: perftest}]");
        insta::assert_snapshot!(faults_of_lab(&other));
    }

    #[test]
    fn each_device_has_the_control_that_the_lab_gives_it_or_the_usual_one() {
        let served = lab_of(&virtual_lab(
            "[{profile: duts/broadcom.yaml, control: served}, duts/gen1.yaml]",
        ));
        let controls: Vec<ControlName> =
            served.duts.iter().map(|dut| served.control(dut)).collect();
        assert_eq!(controls, [ControlName::Served; 2]);
        let lab = VETH.replace("veth", "interfaces");
        let none = lab_of(&format!("{lab}wire: {{interfaces: [eth1], bound: 1ms, budget: 9s}}\n"));
        assert_eq!(none.control(&none.duts[0]), ControlName::None);
    }

    #[test]
    fn a_control_that_is_not_there_or_does_not_go_with_the_transport_is_told() {
        insta::assert_snapshot!(faults_of_lab(&virtual_lab(
            "[{profile: duts/broadcom.yaml, control: sonic}]"
        )));
        insta::assert_snapshot!(faults_of_lab(&virtual_lab(
            "[{profile: duts/broadcom.yaml, control: dummy}, {pair: [duts/gen1.yaml, duts/gen2.yaml], control: serve}]"
        )));
        insta::assert_snapshot!(faults_of_lab(&virtual_lab(
            "[{control: served}, {profile: duts/broadcom.yaml, pair: [duts/gen1.yaml, duts/gen2.yaml]}]"
        )));
    }
}
