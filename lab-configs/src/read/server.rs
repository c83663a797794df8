//! Reading of a wire to a NIC of a server, or to one of each of two: the rig's interfaces, where the NICs are, and by which addresses they are found.

use super::transport::length;
use crate::lab::{Server, ServerEnd};
use crate::walk::{At, Fields};
use core::net::{Ipv4Addr, Ipv6Addr};
use rig_units::Dur;

/// The keys of one NIC.
const END_KEYS: [&str; 7] = ["interface", "address", "address_v6", "ssh", "device", "port", "gid"];

/// The keys of `wire:`.
pub(super) const KEYS: [&str; 11] = {
    let [interface, address, address_v6, ssh, device, port, gid] = END_KEYS;
    [interface, address, address_v6, ssh, device, port, gid, "other", "bound", "trial", "budget"]
};

/// What stands there.
pub(super) fn read(at: &At<'_>) -> Option<Server> {
    let fields = at.fields(&KEYS)?;
    let end = end(&fields);
    let other = fields.maybe("other", |at| {
        let other = self::end(&at.fields(&END_KEYS)?)?;
        apart(&at, end.as_ref()?, &other).then_some(other)
    });
    let [bound, budget] = [("bound", "20us"), ("budget", "600s")]
        .map(|(name, example)| length(&fields, name, example));
    let trial = fields.or("trial", Dur::s(1), |_| length(&fields, "trial", "1s"));
    Some(Server { end: end?, other: other?, bound: bound?, trial: trial?, budget: budget? })
}

/// Whether the second of two NICs is another one, which the first can reach.
fn apart(at: &At<'_>, one: &ServerEnd, other: &ServerEnd) -> bool {
    let faults = [
        (
            one.interface == other.interface,
            format!("{} in front of both NICs", one.interface),
            "another interface of the rig in front of the other NIC",
        ),
        (
            one.address == other.address,
            format!("{} twice", one.address),
            "the address of the other NIC, and the NIC's own above: between two the rig has none",
        ),
        (
            one.address_v6.is_some() && one.address_v6 == other.address_v6,
            "one address of IPv6 twice".to_owned(),
            "the address of the other NIC, and the NIC's own above: between two the rig has none",
        ),
        (
            one.address_v6.is_some() != other.address_v6.is_some(),
            "an address of IPv6 at one end".to_owned(),
            "`address_v6` at both ends, or at neither",
        ),
        (
            one.ssh == other.ssh,
            format!("both NICs at {}", one.ssh.as_deref().unwrap_or("this machine")),
            "NICs of two servers: a run holds a server for one NIC of it",
        ),
    ];
    let found = faults.into_iter().find(|(is_so, ..)| *is_so);
    let is_apart = found.is_none();
    if let Some((_, found, want)) = found {
        at.fault(found, want);
    }
    is_apart
}

/// One NIC, and the rig's interface in front of it.
fn end(fields: &Fields<'_>) -> Option<ServerEnd> {
    const NIC: &str = "an RDMA device there, such as mlx5_0";
    // What a shell there is told: a name, and nothing that it would take for more.
    let name = |key: &str, want: &'static str| {
        let at = fields.need(key, want)?;
        let text = at.text(want)?;
        if !text.is_empty()
            && text.chars().all(|one| one.is_ascii_alphanumeric() || "_.-".contains(one))
        {
            return Some(text.to_owned());
        }
        at.wrong(want);
        None
    };
    let interface = name("interface", "the rig's interface, such as enp65s0f0");
    let device = name("device", NIC);
    const ADDRESS: &str = "the IPv4 address of the rig's interface, in one network with the NIC's, such as 192.168.7.1; between two NICs that of the NIC";
    let address = fields.need("address", ADDRESS).and_then(|at| {
        let read = at.text(ADDRESS)?.parse::<Ipv4Addr>();
        let is_one = |ip: &Ipv4Addr| {
            !ip.is_unspecified() && !ip.is_multicast() && !ip.is_broadcast() && !ip.is_loopback()
        };
        read.ok().filter(is_one).or_else(|| {
            at.wrong(ADDRESS);
            None
        })
    });
    const ADDRESS_V6: &str = "an address of IPv6 that the rig's interface has beside, in one network with the NIC's, such as fd00:7::1, or the NIC between two; none of its link alone";
    let address_v6 = fields.maybe("address_v6", |at| {
        let read = at.text(ADDRESS_V6)?.parse::<Ipv6Addr>().ok();
        // What is of a link alone is of no interface without its name, which perftest is not told; a mapped one is of IPv4.
        let is_one = |ip: &Ipv6Addr| {
            !ip.is_unicast_link_local()
                && !ip.is_multicast()
                && !ip.is_unspecified()
                && !ip.is_loopback()
                && ip.to_ipv4_mapped().is_none()
        };
        read.filter(is_one).or_else(|| {
            at.wrong(ADDRESS_V6);
            None
        })
    });
    let ssh = fields.maybe("ssh", |at| {
        const WANT: &str = "a destination of ssh, such as root@server7";
        let text = at.text(WANT)?;
        if text.is_empty() || text.starts_with('-') || text.contains(char::is_whitespace) {
            at.wrong(WANT);
            return None;
        }
        Some(text.to_owned())
    });
    let port = fields.maybe("port", |at| at.whole(1..=255, "a port of the device"));
    const GID: &str = "the index of a GID of RoCE v2, as `rigctl dut nic` lists them";
    let gid = fields.maybe("gid", |at| at.whole(0..=65_535, GID));
    Some(ServerEnd {
        interface: interface?,
        address: address?,
        address_v6: address_v6?,
        ssh: ssh?,
        device: device?,
        port: port?,
        gid: gid?,
    })
}

#[cfg(test)]
mod tests {
    use crate::read::tests::{faults_of_lab, lab_of};
    use crate::{ControlName, Transport};

    #[test]
    fn a_server_is_reached_by_an_interface_and_an_address_and_has_one_pair_of_nics() {
        let lab = |wire: &str, dut: &str| {
            format!("about: a\ntransport: virtual\ncable: 3m\nduts: [{dut}]\n").replace(
                "transport: virtual",
                &format!("transport: server\nwire: {{bound: 20us, budget: 9s, {wire}}}"),
            )
        };
        const WIRE: &str =
            "interface: eth1, address: 192.168.7.1, ssh: root@server7, device: mlx5_0, gid: 3";
        const PAIR: &str = "{pair: [duts/soft-roce.yaml, duts/rig-peer.yaml]}";
        let read = lab_of(&lab(WIRE, PAIR));
        let Transport::Server(server) = &read.transport else { panic!("{:?}", read.transport) };
        assert_eq!(
            (server.end.ssh.as_deref(), server.end.port, server.end.gid),
            (Some("root@server7"), None, Some(3))
        );
        assert_eq!((server.end.address_v6, server.other.as_ref()), (None, None));
        let over_v6 =
            "interface: eth1, address: 192.168.7.1, address_v6: \"fd00:7::1\", device: mlx5_0";
        let Transport::Server(server) = lab_of(&lab(over_v6, PAIR)).transport else {
            panic!("{over_v6}")
        };
        assert_eq!((server.end.address_v6, server.end.gid), ("fd00:7::1".parse().ok(), None));
        for odd in
            ["fe80::1", "ff02::1", "::", "::1", "::ffff:192.168.7.1", "192.168.7.1", "fd00::7::1"]
        {
            let told = faults_of_lab(&lab(&over_v6.replace("fd00:7::1", odd), PAIR));
            assert!(told.contains("in: wire.address_v6"), "{odd}: {told}");
        }
        for odd in ["0.0.0.0", "224.0.0.1", "255.255.255.255", "127.0.0.1", "192.168.7"] {
            let told = faults_of_lab(&lab(&WIRE.replace("192.168.7.1", odd), PAIR));
            assert!(told.contains("in: wire.address"), "{odd}: {told}");
        }
        assert_eq!(read.control(&read.duts[0]), ControlName::Server);
        insta::assert_snapshot!(faults_of_lab(&lab(WIRE, "duts/broadcom.yaml, duts/gen2.yaml")));
        insta::assert_snapshot!(faults_of_lab(&lab(
            "interface: eth 1, address: server7, ssh: -oProxyCommand=x, device: \"a;b\", port: 0, gid: -1",
            PAIR
        )));
    }

    #[test]
    fn between_two_servers_are_two_interfaces_two_nics_and_the_address_of_each() {
        let lab = |other: &str, dut: &str| {
            format!(
                "about: a\ntransport: server\ncable: 3m\nwire: {{interface: eth1, address: 192.168.7.2, ssh: root@server7, \
                 device: mlx5_0, bound: 20us, budget: 9s, other: {{{other}}}}}\nduts: [{dut}]\n"
            )
        };
        const PAIR: &str = "{pair: [duts/soft-roce.yaml, duts/soft-roce.yaml]}";
        const OTHER: &str =
            "interface: eth2, address: 192.168.7.3, ssh: root@server8, device: mlx5_0, gid: 5";
        let Transport::Server(server) = lab_of(&lab(OTHER, PAIR)).transport else {
            panic!("{OTHER}")
        };
        assert_eq!(server.interfaces(), ["eth1", "eth2"]);
        let other = server.other.expect("there is one");
        assert_eq!((other.ssh.as_deref(), other.gid), (Some("root@server8"), Some(5)));
        let told = [
            (OTHER.replace("eth2", "eth1"), PAIR),
            (OTHER.replace("7.3", "7.2"), PAIR),
            (OTHER.replace("server8", "server7"), PAIR),
            (format!("{OTHER}, address_v6: \"fd00:7::3\""), PAIR),
            (format!("{OTHER}, bound: 3us"), PAIR),
            (OTHER.to_owned(), "{pair: [duts/soft-roce.yaml, duts/rig-peer.yaml]}"),
        ]
        .map(|(other, pair)| faults_of_lab(&lab(&other, pair)));
        insta::assert_snapshot!(told.join("\n"));
    }
}
