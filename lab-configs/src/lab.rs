//! A lab: which devices there are, what carries frames to them, and through what each is steered.

use crate::{Keys, Kind, Profile, RedisAt};
use core::net::{Ipv4Addr, Ipv6Addr};
use rig_units::{Dur, PortSpeed, Ppm};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// What carries frames between the rig and the devices of a lab.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Transport {
    /// Nothing: the devices are the model, in virtual time, in this process. Its stamps are exact; they are taken to be off by as much as this
    /// at most, as in the lab that is rehearsed.
    Virtual(Dur),
    /// Virtual interfaces that the rig makes. At their far ends is the model in real time, a process of its own.
    Veth(Veth),
    /// The rig's own interfaces, and whatever is cabled to them.
    Interfaces(Interfaces),
    /// Taps to Linux in a virtual machine, which is the device: its own RoCE NIC, with perftest as the application, or its bridge.
    Guests(Guests),
    /// Interfaces of the rig that are cabled to a NIC of a server, or to one of each of two, with perftest there as the application.
    Server(Server),
}

impl Transport {
    /// Whether it is the model in this process, in virtual time.
    pub const fn is_virtual(&self) -> bool {
        matches!(self, Transport::Virtual(_))
    }

    /// How far off a timestamp may be.
    pub const fn bound(&self) -> Dur {
        match self {
            Transport::Virtual(bound) => *bound,
            Transport::Veth(wire) => wire.bound,
            Transport::Interfaces(wire) => wire.bound,
            Transport::Guests(wire) => wire.bound,
            Transport::Server(wire) => wire.bound,
        }
    }

    /// How long a run may take; `None` in virtual time.
    pub const fn budget(&self) -> Option<Dur> {
        match self {
            Transport::Virtual(_) => None,
            Transport::Veth(wire) => Some(wire.budget),
            Transport::Interfaces(wire) => Some(wire.budget),
            Transport::Guests(wire) => Some(wire.budget),
            Transport::Server(wire) => Some(wire.budget),
        }
    }

    /// How far off the rig's own clock may be, either way. Not at all where the device goes by the same one: in virtual time, and on one machine.
    pub const fn clock(&self) -> Ppm {
        match self {
            Transport::Virtual(_) | Transport::Veth(_) | Transport::Guests(_) => Ppm(0),
            Transport::Interfaces(wire) => wire.clock,
            Transport::Server(_) => Interfaces::CLOCK,
        }
    }

    /// The controls that a device of a kind may have there; the first one where the lab does not say.
    pub fn controls(&self, kind: Kind) -> &'static [ControlName] {
        match self {
            // The model can be taken as it is, too, as a device is to which nobody has a way.
            Transport::Virtual(_) => &[ControlName::Served, ControlName::None],
            // By the databases of a stand-in, too, which the rig starts.
            Transport::Veth(_) if kind == Kind::Switch => {
                &[ControlName::Served, ControlName::Sonic]
            }
            Transport::Veth(_) => &[ControlName::Served],
            Transport::Interfaces(_) if kind == Kind::Switch => {
                &[ControlName::None, ControlName::Dummy, ControlName::Sonic]
            }
            Transport::Interfaces(_) => &[ControlName::None, ControlName::Dummy],
            Transport::Guests(_) if kind == Kind::Switch => &[ControlName::Linux],
            Transport::Guests(_) => &[ControlName::Perftest],
            Transport::Server(_) => &[ControlName::Server],
        }
    }
}

/// Through what a device is steered, read and heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ControlName {
    /// Nothing: what the profile declares is trusted, nothing is configured, and there are no counters and no events.
    None,
    /// The model itself, or the process that serves it.
    Served,
    /// One that says that it is well, and refuses everything else.
    Dummy,
    /// The application on the device: what it asks of a connection can be set, and nothing else.
    Perftest,
    /// The shell of a Linux that passes frames on.
    Linux,
    /// The databases of a switch that runs SONiC, in its redis.
    Sonic,
    /// The shell of a server: the settings of its NIC, what that counts, and what its application asks of a connection.
    Server,
}

impl ControlName {
    /// Every control, by the word for it in a lab.
    pub const NAMES: [(&'static str, ControlName); 7] = [
        ("none", ControlName::None),
        ("served", ControlName::Served),
        ("dummy", ControlName::Dummy),
        ("perftest", ControlName::Perftest),
        ("linux", ControlName::Linux),
        ("sonic", ControlName::Sonic),
        ("server", ControlName::Server),
    ];
}

/// Virtual interfaces to emulated devices in real time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Veth {
    /// At what rate its fastest ports run; slower ones keep their share of it. Slow ports make long pauses, which
    /// survive a machine that looks away.
    pub speed: PortSpeed,
    /// How many of each device's ports there are.
    pub ports: u16,
    /// How far off a timestamp of the rig, or the device itself, may be. A trial in which either was worse is void.
    pub bound: Dur,
    /// How many devices run side by side.
    pub benches: u16,
    /// How long a run may take. Its effort is planned to fit, and the resolution follows from that.
    pub budget: Dur,
}

/// The rig's own interfaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interfaces {
    /// The interface of each rig port: `p1` is the first, cabled to the device's first port, and so on. With DPDK its
    /// name for the port, such as `0000:41:00.0`.
    pub interfaces: Vec<String>,
    /// What carries the frames.
    pub backend: Backend,
    /// With which DPDK: of the back end `dpdk` alone.
    pub dpdk: Option<DpdkWire>,
    /// At what rate the device's fastest ports really run, slower ones keeping their share of it; `None`: as its profile
    /// says. For interfaces without a speed of their own.
    pub speed: Option<PortSpeed>,
    /// How far off a timestamp of the rig may be.
    pub bound: Dur,
    /// How far off the clock is by which the rig stamps, either way. Absent: [`Interfaces::CLOCK`], but 0 where `speed` is said: virtual
    /// interfaces lead to a device that goes by the clock of this machine.
    pub clock: Ppm,
    /// How long a run may take.
    pub budget: Dur,
}

impl Interfaces {
    /// How far off the clock of the rig is taken to be where a lab does not say, and that of a device where its profile does not: as far as IEEE
    /// 802.3 allows the clock of a port.
    pub const CLOCK: Ppm = Ppm(100);
}

/// A guest that the rig boots for a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guests {
    /// How far off a timestamp at the tap may be. A trial in which the rig was worse is void.
    pub bound: Dur,
    /// How long the machine may keep the guest waiting for a processor in one go. A trial in which it did for longer is void.
    pub wait: Dur,
    /// How long a wait the device makes up for, so that it sends no less for it: the burst of its token bucket. A rate that lacks more is void.
    pub makes_up: Dur,
    /// How long a trial with a program in it lasts at least: one takes its time to start there.
    pub trial: Dur,
    /// How long a run may take.
    pub budget: Dur,
    /// What is done in the guest once it is up, before anything else: lines for its shell.
    pub prepare: Vec<String>,
    /// Who is at the other end of the connections of a NIC.
    pub other_end: OtherEnd,
    /// What is done in the guest at the other end once it is up.
    pub prepare_other: Vec<String>,
    /// How the programs of two guests find each other.
    pub exchange: ExchangeWay,
    /// What the flows of a NIC go over.
    pub over: IpVersion,
}

/// A NIC of a server, at the other end of a cable of the rig's; with another one, the rig is in the cable between the two.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Where the NIC is that sends flows. Its addresses are the rig's own there, but those of the NIC where there is another one.
    pub end: ServerEnd,
    /// The NIC at the other end of its flows, with the addresses of that; none where the rig itself is there.
    pub other: Option<ServerEnd>,
    /// How far off a timestamp of the rig may be. A trial in which the rig was worse is void.
    pub bound: Dur,
    /// How long a trial lasts at least: a program takes its time to start.
    pub trial: Dur,
    /// How long a run may take.
    pub budget: Dur,
}

impl Server {
    /// The NICs, the one that sends flows first.
    pub fn ends(&self) -> impl Iterator<Item = &ServerEnd> {
        core::iter::once(&self.end).chain(&self.other)
    }

    /// The interfaces of the rig, one in front of each NIC.
    pub fn interfaces(&self) -> Vec<String> {
        self.ends().map(|end| end.interface.clone()).collect()
    }

    /// Who is at the other end of its flows.
    pub const fn other_end(&self) -> OtherEnd {
        if self.other.is_some() { OtherEnd::Nic } else { OtherEnd::Rig }
    }
}

/// A NIC of a server, and the interface of the rig in front of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerEnd {
    /// The rig's interface.
    pub interface: String,
    /// In one network with the other end: programs of perftest find each other by it, and flows go to it.
    pub address: Ipv4Addr,
    /// Its address of IPv6, to which flows go where it is said; else they go over IPv4.
    pub address_v6: Option<Ipv6Addr>,
    /// The server, as `ssh` knows it; none where the NIC is this machine's own.
    pub ssh: Option<String>,
    /// The RDMA device: `mlx5_0`.
    pub device: String,
    /// Its port; none where it has but one.
    pub port: Option<u32>,
    /// The index of the GID of RoCE v2 that its flows go by; none: that which has most in common with the address at their other end.
    pub gid: Option<u32>,
}

/// Who is at the other end of the connections of a NIC that is not the rig's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum OtherEnd {
    /// The rig's own responder.
    #[default]
    Rig,
    /// Another such NIC, with the rig between the two.
    Nic,
}

impl OtherEnd {
    /// Each with its word in a lab.
    pub const NAMES: [(&str, OtherEnd); 2] = [("rig", OtherEnd::Rig), ("guest", OtherEnd::Nic)];
}

/// How the programs of two guests find each other, and so from what the rig between them knows their connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum ExchangeWay {
    /// Through the rig, which hears what they agree on.
    #[default]
    Through,
    /// By a line of their own: the rig learns the connections from their first packets.
    Beside,
}

impl ExchangeWay {
    /// Each with its word in a lab.
    pub const NAMES: [(&str, ExchangeWay); 2] =
        [("through", ExchangeWay::Through), ("beside", ExchangeWay::Beside)];
}

/// What the flows of a NIC go over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum IpVersion {
    /// RoCEv2 over IPv4.
    #[default]
    V4,
    /// RoCEv2 over IPv6.
    V6,
}

impl IpVersion {
    /// Each with its word in a lab, and in a case.
    pub const NAMES: [(&str, IpVersion); 2] = [("ipv4", IpVersion::V4), ("ipv6", IpVersion::V6)];

    /// For people.
    pub const fn words(self) -> &'static str {
        match self {
            IpVersion::V4 => "IPv4",
            IpVersion::V6 => "IPv6",
        }
    }
}

/// What the back end `dpdk` needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DpdkWire {
    /// The arguments of DPDK's environment (EAL), one each.
    pub eal: Vec<String>,
    /// The shim to use, instead of the one that is found.
    pub shim: Option<PathBuf>,
}

/// What carries frames into and out of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backend {
    /// AF_XDP.
    AfXdp,
    /// AF_PACKET, for what has no XDP.
    AfPacket,
    /// A driver of DPDK.
    Dpdk,
}

impl Backend {
    /// Every back end, by the word for it in a lab.
    pub const NAMES: [(&'static str, Backend); 3] =
        [("af-xdp", Backend::AfXdp), ("af-packet", Backend::AfPacket), ("dpdk", Backend::Dpdk)];
}

/// A lab as it is used: profiles read and resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lab {
    /// Its name: the stem of its file.
    pub name: String,
    /// One line for people.
    pub about: String,
    /// What carries frames to its devices.
    pub transport: Transport,
    /// The control of each device that has another than is usual with the transport, by the device's name.
    pub controls: BTreeMap<String, ControlName>,
    /// Where the redis of each device with the control `sonic` listens, by the device's name.
    pub redis: BTreeMap<String, RedisAt>,
    /// The switches with the control `sonic` whose ports may take storms, by their names.
    pub disposable: BTreeSet<String>,
    /// Length of the cables between the rig's ports and the device, in centimetres.
    pub cable_cm: u64,
    /// What its ports and the device share for MACsec; `None`: nothing, and no case with MACsec can be run.
    pub keys: Option<Keys>,
    /// The devices, in the order of the file. Rig port `p1` is cabled to each device's first port, and so on.
    pub duts: Vec<Profile>,
}

impl Lab {
    /// Through what this device is steered.
    pub fn control(&self, dut: &Profile) -> ControlName {
        let usual = self.transport.controls(dut.kind).first().copied().unwrap_or(ControlName::None);
        self.controls.get(&dut.name).copied().unwrap_or(usual)
    }

    /// Whether the device's ports may take storms: one that the rig has made, one that is steered by nobody and cabled to the rig on
    /// purpose, and a live switch of which the lab says so.
    pub fn is_disposable(&self, dut: &Profile) -> bool {
        let live = matches!(self.transport, Transport::Interfaces(_));
        !live || self.control(dut) != ControlName::Sonic || self.disposable.contains(&dut.name)
    }

    /// The devices of a whole system that can be had where each stands in it.
    pub fn alone<'a>(&'a self, whole: &'a Profile) -> impl Iterator<Item = &'a Profile> {
        self.duts.iter().filter(|dut| dut.is_alone_in(&whole.name))
    }
}
