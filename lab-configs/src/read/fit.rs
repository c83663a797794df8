//! Making of a lab's devices what its transport reaches of them: their first ports, at the speed of the wire.

use crate::lab::{Guests, Interfaces, IpVersion, OtherEnd, Transport, Veth};
use crate::ports::scaled;
use crate::walk::At;
use crate::{Declared, Kind, Ports, Profile, System};
use rig_units::PortSpeed;

/// Makes of the devices what can be reached: of each its first ports, at the speed of the wire. One device only hangs at
/// the interfaces of the rig.
pub(super) fn fit(
    transport: &Transport,
    duts: &mut Vec<Profile>,
    listed: &mut Vec<At<'_>>,
    cable_cm: u64,
) {
    if !transport.is_virtual() {
        // At a wire a system is what it is as a whole; where the rig makes it, what is behind it, too.
        let made = matches!(transport, Transport::Veth(_));
        let is_there = |dut: &Profile| {
            let alone = dut.system.as_deref().is_some_and(|system| system.alone.is_some());
            !alone || (made && dut.kind == Kind::Nic)
        };
        let mut there = duts.iter().map(is_there).collect::<Vec<_>>().into_iter();
        listed.retain(|_| there.next().unwrap_or(true));
        duts.retain(is_there);
    }
    for (dut, at) in duts.iter_mut().zip(&*listed) {
        if let Some(system) = &dut.system
            && !transport.is_virtual()
        {
            // Real ones have connections and routes that somebody has to make.
            let other = system.devices.iter().find(|device| device.kind != Kind::Switch);
            match (transport, other) {
                (Transport::Virtual(_), _) => {}
                (Transport::Guests(_), _) => at.fault(
                    format!("the system `{}` in a guest", dut.name),
                    "one switch, or a pair of NICs",
                ),
                (Transport::Server(_), _) => {
                    at.fault(format!("the system `{}` on a server", dut.name), NIC_AND_RIG);
                }
                (Transport::Interfaces(_), Some(other)) => {
                    let (kind, device) = (other.kind.called(), &other.name);
                    at.fault(
                        format!("`{}` with {kind}, `{device}`, on interfaces of the rig", dut.name),
                        "a system of switches: of others nobody there has a connection or a route",
                    );
                }
                (Transport::Veth(_), _) if system.sides().len() > 1 => at.fault(
                    format!("the pair of NICs `{}` in a lab with a wire", dut.name),
                    "one NIC behind them, or the pair by itself: behind others two are under test in virtual time alone",
                ),
                (Transport::Veth(wire), _) => {
                    dut.put_at_wire(wire.ports, Some(wire.speed), cable_cm);
                }
                (Transport::Interfaces(wire), None) => {
                    dut.put_at_wire(reached(wire), wire.speed, cable_cm);
                }
            }
            continue;
        }
        if dut.kind != Kind::Switch && matches!(transport, Transport::Interfaces(_)) {
            let found = format!("{}, `{}`, on interfaces of the rig", dut.kind.called(), dut.name);
            at.fault(found, "a switch: of others nobody there has a connection or a route");
            continue;
        }
        let pair = dut.declared.nics().is_some_and(|nics| nics.peer.is_some());
        if let Transport::Guests(wire) = transport {
            let Guests { other_end, over, .. } = wire;
            if dut.kind == Kind::Switch && (*other_end, *over) != (OtherEnd::Rig, IpVersion::V4) {
                let found = format!("`{}`, which has no connections of its own", dut.name);
                at.fault(found, "a pair of NICs, or a wire without `other_end` and `over`");
            }
            if *other_end == OtherEnd::Nic && dut.name.ends_with(RIGS_OWN) {
                let found =
                    format!("`{}`, of which the second is the rig's own responder", dut.name);
                at.fault(found, "a second NIC that runs in a guest, such as duts/soft-roce.yaml, or other_end: rig");
            }
            if pair && dut.name.starts_with(RIGS_FIRST) {
                let found =
                    format!("`{}`, of which the first is the rig's own responder", dut.name);
                at.fault(found, NIC_FIRST);
            }
            if !pair && dut.kind != Kind::Switch {
                let found = format!("`{}` in a guest", dut.name);
                let want = "a switch, or a pair of NICs: the guest's, and the rig's own at its other end, such as {pair: \
                    [duts/soft-roce.yaml, duts/rig-peer.yaml]}";
                at.fault(found, want);
            }
            continue;
        }
        if let Transport::Server(wire) = transport {
            let of_rig = dut.name.ends_with(RIGS_OWN);
            match wire.other_end() {
                _ if dut.name.starts_with(RIGS_FIRST) => {
                    let found =
                        format!("`{}`, of which the first is the rig's own responder", dut.name);
                    at.fault(found, NIC_FIRST);
                }
                OtherEnd::Rig if dut.kind != Kind::Nic || !of_rig => {
                    at.fault(format!("`{}` on a server", dut.name), NIC_AND_RIG);
                }
                OtherEnd::Nic if !pair || of_rig => {
                    at.fault(format!("`{}` on two servers", dut.name), TWO_NICS);
                }
                OtherEnd::Rig | OtherEnd::Nic => {}
            }
            continue;
        }
        if let Transport::Veth(Veth { ports, .. }) = transport
            && pair
            && *ports != 2
        {
            let found = format!("the pair of NICs `{}` in a lab with `ports: {ports}`", dut.name);
            at.fault(
                found,
                "`ports: 2`, one for each of them, and a lab of its own for NICs alone",
            );
            continue;
        }
        match transport {
            Transport::Virtual(_) | Transport::Guests(_) | Transport::Server(_) => {}
            Transport::Veth(wire) => *dut.declared.ports_mut() = made_ports(&dut.declared, wire),
            Transport::Interfaces(wire) => {
                *dut.declared.ports_mut() = cabled_ports(&dut.declared, wire);
            }
        }
    }
    // Of hardware of which nothing is said no clock is right.
    if let Transport::Interfaces(Interfaces { speed: None, .. }) | Transport::Server(_) = transport
    {
        for dut in duts.iter_mut() {
            let system = dut.system.iter_mut().flat_map(|system| &mut system.devices);
            system.for_each(|device| device.declared.clock_or(Interfaces::CLOCK));
            dut.declared.clock_or(Interfaces::CLOCK);
            // What goes through all of a system goes by the worst of its clocks, and one that is known makes no other one better.
            if let Some(greatest) = dut.system.as_deref().and_then(System::greatest_clock) {
                dut.declared.clock_at_least(greatest);
            }
        }
    }
    if let (Transport::Guests(_), [_, second, ..]) = (transport, &listed[..]) {
        let found = format!("{} devices in one guest", listed.len());
        second.fault(found, "one switch or pair of NICs, and a lab of its own for each other one");
    }
    if let (Transport::Server(_), [_, second, ..]) = (transport, &listed[..]) {
        let found = format!("{} devices at one NIC of a server", listed.len());
        second.fault(found, "one pair of NICs, and a lab of its own for each other one");
    }
    if let (Transport::Interfaces(_), [_, second, ..]) = (transport, &listed[..]) {
        let found = format!("{} devices at one set of interfaces", listed.len());
        second.fault(found, "one device, and a lab of its own for each other one");
    }
}

/// What a lab with a server has.
const NIC_AND_RIG: &str = "a pair of NICs: the server's, and the rig's own at its other end, such as {pair: [duts/connectx-default.yaml, \
    duts/rig-peer.yaml]}";

/// What a lab with two servers has.
const TWO_NICS: &str = "a pair of NICs, one of each server, such as {pair: [duts/connectx-default.yaml, duts/connectx-default.yaml]}";

/// How the name of a pair ends of which the second is the rig's own end of a guest's connections (`duts/rig-peer.yaml`).
const RIGS_OWN: &str = "-to-rig-peer";

/// How it begins where the two stand the wrong way round.
const RIGS_FIRST: &str = "rig-peer-to-";

/// What is wanted then.
const NIC_FIRST: &str = "the NIC under test first and rig-peer behind it, such as {pair: [duts/soft-roce.yaml, duts/rig-peer.yaml]}";

/// The ports that an emulated device has in real time: its first ones, the fastest at the speed of the wire and slower
/// ones at their share of it.
fn made_ports(declared: &Declared, wire: &Veth) -> Ports {
    let speeds = (0..wire.ports).filter_map(|port| declared.port_speed(port));
    let speeds = spread(speeds.collect(), declared, wire.ports);
    scaled(&speeds, speeds.iter().copied().max(), Some(wire.speed))
}

/// The ports of a device that the rig's interfaces are cabled to: its first ones.
fn cabled_ports(declared: &Declared, wire: &Interfaces) -> Ports {
    let speeds = (0..reached(wire)).filter_map(|port| declared.port_speed(port));
    let speeds: Vec<PortSpeed> = speeds.collect();
    scaled(&speeds, speeds.iter().copied().max(), wire.speed)
}

/// Where the first ports all have one speed and others another, one of the others takes the last place: a case may ask
/// for both.
fn spread(mut first: Vec<PortSpeed>, declared: &Declared, ports: u16) -> Vec<PortSpeed> {
    let rest = (ports..declared.port_count()).filter_map(|port| declared.port_speed(port));
    let other = rest.into_iter().find(|speed| first.iter().all(|known| known != speed));
    if let (Some(other), Some(last)) = (other, first.last_mut()) {
        *last = other;
    }
    first
}

/// How many ports the rig has there.
fn reached(wire: &Interfaces) -> u16 {
    u16::try_from(wire.interfaces.len()).unwrap_or(u16::MAX)
}

#[cfg(test)]
mod tests {
    use crate::Profile;
    use crate::read::tests::{faults_of_lab, lab_of};

    const SWITCHES: &str = "{near: duts/broadcom.yaml, far: duts/broadcom-mixed.yaml}";
    const VETH: &str = "transport: veth\nwire: {speed: 1Gbps, ports: 2, bound: 1ms, budget: 9s}";

    fn lab(transport: &str, devices: &str, links: &str, ports: &str) -> String {
        let dut = format!(
            "{{system: row, about: a, devices: {devices}, links: [{links}], ports: {{{ports}}}}}"
        );
        format!("about: a\ncable: 3m\n{transport}\nduts:\n- {dut}\n")
    }

    const LINK: &str = "{from: near/Ethernet4, to: far/Ethernet16}";
    const PORTS: &str = "p1: near/Ethernet0, p2: far/Ethernet0, p3: far/Ethernet4";

    fn row(transport: &str) -> Profile {
        let mut duts = lab_of(&lab(transport, SWITCHES, LINK, PORTS)).duts;
        assert_eq!(duts.len(), 1, "at a wire it is a device as a whole alone");
        duts.remove(0)
    }

    #[test]
    fn a_system_at_a_wire_has_the_first_ports_and_one_share_of_speed() {
        let row = row(VETH);
        let speeds = |profile: &Profile| -> Vec<String> {
            let speeds = (0..).map_while(|port| profile.declared.port_speed(port));
            speeds.map(|speed| speed.to_string()).collect()
        };
        // The far one's first port is the fastest of all; the others are at a quarter of it.
        assert_eq!(speeds(&row), ["250Mbps", "1Gbps"]);
        let system = row.system.as_deref().expect("a system");
        assert_eq!(speeds(&system.devices[0])[..2], ["250Mbps", "250Mbps"]);
        assert_eq!(system.links[0].cable_cm, Some(300), "as long as the lab's cables");
    }

    #[test]
    fn what_serves_a_system_reads_it_as_it_was() {
        let mut row = row(VETH);
        let system = row.system.clone().expect("a system");
        let text = row
            .written_as_lab(|place| format!("duts/{}.yaml", ["broadcom", "broadcom-mixed"][place]));
        let mut read = lab_of(&text.expect("a system")).duts.remove(0);
        read.put_at_wire(2, None, 0);
        // The devices themselves are handed over in files of their own.
        let back = read.system.take().expect("a system");
        assert_eq!((&back.links, &back.ports), (&system.links, &system.ports));
        assert_eq!((read.name, read.about), (row.name.clone(), row.about.clone()));
        row.system = None;
        assert!(row.written_as_lab(|_| String::new()).is_none(), "a device by itself");
    }

    #[test]
    fn what_a_second_guest_is_not_for_is_told() {
        let told = |wire: &str, dut: &str| {
            let text = "about: a\ncable: 3m\ntransport: guests\nwire: {bound: 1ms, budget: 9s, ";
            faults_of_lab(&format!("{text}{wire}}}\nduts: [{dut}]\n"))
        };
        let switch = "duts/linux-switch.yaml";
        let pair = "{pair: [duts/soft-roce.yaml, duts/soft-roce.yaml]}";
        let all = [
            told("other_end: guest", switch),
            told("over: ipv6", switch),
            told("prepare_other: [a]", pair),
            told("other_end: none", pair),
            told("exchange: beside", pair),
            told("other_end: guest", "{pair: [duts/soft-roce.yaml, duts/rig-peer.yaml]}"),
        ];
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn a_pair_the_wrong_way_round_is_told() {
        let told = |wire: &str| {
            let text = "about: a\ncable: 3m\n";
            let pair = "{pair: [duts/rig-peer.yaml, duts/soft-roce.yaml]}";
            faults_of_lab(&format!("{text}{wire}\nduts: [{pair}]\n"))
        };
        let all = [
            told("transport: guests\nwire: {bound: 1ms, budget: 9s}"),
            told("transport: guests\nwire: {bound: 1ms, budget: 9s, other_end: guest}"),
            told(
                "transport: server\nwire: {interface: a, address: 192.168.7.1, device: mlx5_0, bound: 1ms, trial: 1s, budget: 9s}",
            ),
        ];
        insta::assert_snapshot!(all.join("\n"));
    }

    #[test]
    fn what_cannot_be_at_a_wire_is_told() {
        let three = |transport: &str, device: &str, port: &str| {
            let devices = format!(
                "{{near: duts/broadcom.yaml, far: duts/broadcom.yaml, other: duts/{device}.yaml}}"
            );
            let links = format!(
                "{{from: near/Ethernet4, to: far/Ethernet4}}, {{from: far/Ethernet8, to: other/{port}}}"
            );
            let ports = "p1: near/Ethernet0, p2: far/Ethernet0";
            lab(transport, &devices, &links, ports)
        };
        let with = |transport: &str, device: &str, port: &str| {
            faults_of_lab(&three(transport, device, port))
        };
        let cabled = "transport: interfaces\nwire: {interfaces: [a, b], bound: 4ms, budget: 60s}";
        insta::assert_snapshot!(with(cabled, "gen2", "nic"));
        insta::assert_snapshot!(with(cabled, "router", "Ethernet0"));
        // What the rig makes itself has whatever it takes: the whole, and the NIC behind it.
        let made = |device, port| lab_of(&three(VETH, device, port)).duts.len();
        assert_eq!((made("router", "Ethernet0"), made("gen2", "nic")), (1, 2));
        let guests = "transport: guests\nwire: {bound: 20ms, budget: 9s}";
        insta::assert_snapshot!(faults_of_lab(&lab(guests, SWITCHES, LINK, PORTS)));
    }
}
