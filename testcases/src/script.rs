//! One trial with every quantity worked out: what the rig's ports do, and when. Times count from the trial's start.

use crate::app;
use crate::send_order;
use crate::{DeviceVerb, FlowSpec, MacsecMode, Middlebox, Protection, SendOrder, Takes};
use core::fmt;
use rig_frames::ip::Ecn;
use rig_frames::psn::Psn;
use rig_frames::vlan;
use rig_lab::{IpVersion, Setting};
use rig_units::{Bytes, Dur, MIN_FRAME, Pace, PortSpeed, Quanta, Rate};

/// One trial. Indices point into `ports`, `streams` and `storms`.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// Names of the rig ports in use; `p1` is index 0 and cabled to the device's port `dut_ports[0]`.
    pub ports: Vec<String>,
    /// The device's port behind each rig port.
    pub dut_ports: Vec<u16>,
    /// How each rig port behaves as the device's peer; one that is not listed behaves as usual.
    pub endpoints: Vec<EndpointSpec>,
    /// How frames are protected where the device speaks MACsec; `None`: it does not, or the lab has no keys.
    pub macsec: Option<Protection>,
    /// What is recorded at each rig port; at one that is not listed what usually is.
    pub taps: Vec<Tap>,
    /// Data streams, in the order of the case.
    pub streams: Vec<StreamSpec>,
    /// What the device sends by itself, in the order of the case.
    pub flows: Vec<FlowSpec>,
    /// The rig between the NICs behind two of its ports, which passes on what one sends to the other; `None`: it does not.
    pub between: Option<(u16, u16, Middlebox<u16>)>,
    /// Pause storms, in the order of the case.
    pub storms: Vec<StormSpec>,
    /// What happens, ordered by time; steps of one instant happen in the order of the case.
    pub steps: Vec<Step>,
    /// How long the trial lasts; everything started is stopped at its end.
    pub length: Dur,
}

impl Script {
    /// A trial between so many rig ports, each cabled to the device's port of its number, in which nothing happens: what does is
    /// said beside it.
    pub fn idle(ports: u16) -> Script {
        Script {
            ports: (1..=ports).map(|number| format!("p{number}")).collect(),
            dut_ports: (0..ports).collect(),
            endpoints: Vec::new(),
            macsec: None,
            taps: Vec::new(),
            streams: Vec::new(),
            flows: Vec::new(),
            between: None,
            storms: Vec::new(),
            steps: Vec::new(),
            length: Dur::ZERO,
        }
    }

    /// The number of a flow's connection: those of streams come first. That of an application with one queue pair is its first step's.
    pub fn connection(&self, flow: u16) -> u16 {
        let before = u16::try_from(self.streams.len()).unwrap_or(u16::MAX);
        before.saturating_add(send_order::lead(&self.flows, flow))
    }

    /// The flow that a packet with this number is of: where several steps share a connection the ends count from numbers so far apart that one tells.
    pub fn flow_at(&self, connection: u16, psn: u32) -> Option<(u16, &FlowSpec)> {
        let lead @ (_, spec) = self.flow_of(connection)?;
        let ends = [spec.nic, spec.to];
        let orders = ends.map(|nic| Some((nic, SendOrder::of(self, connection, nic)?)));
        if orders.iter().all(Option::is_none) {
            return Some(lead);
        }
        let app = |flow: &FlowSpec| flow.app.map(|step| step.app);
        orders.iter().flatten().find_map(|(nic, order)| {
            let own = |flow: &&FlowSpec| flow.nic == *nic && app(flow) == app(spec);
            let first = Psn::new(self.flows.iter().find(own)?.psn);
            let ahead = Psn::new(psn).ahead_of(first).filter(|ahead| *ahead < app::MOST_PACKETS)?;
            let index = order.packet_at(ahead)?.flow;
            Some((index, self.flows.get(usize::from(index))?))
        })
    }

    /// The flow of a connection, if it is one's; the first step's, where it is an application's.
    pub fn flow_of(&self, connection: u16) -> Option<(u16, &FlowSpec)> {
        let flow = usize::from(connection).checked_sub(self.streams.len())?;
        Some((u16::try_from(flow).ok()?, self.flows.get(flow)?))
    }

    /// How a rig port behaves as the device's peer.
    pub fn endpoint(&self, port: u16) -> EndpointSpec {
        self.endpoints.get(usize::from(port)).copied().unwrap_or_default()
    }

    /// What is recorded at a rig port.
    pub fn tap(&self, port: u16) -> Tap {
        self.taps.get(usize::from(port)).copied().unwrap_or_default()
    }
}

/// A rig port as the device's peer. By default it obeys PFC in every class, at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EndpointSpec {
    /// Bit `c` is set when the port obeys PFC in class `c`.
    pub obeys: u8,
    /// From the last bit of a PFC frame to its effect.
    pub response: Dur,
    /// Which forms of PFC it obeys, where the device speaks MACsec.
    pub pfc: Takes,
    /// Packet number of the first frame that it protects, where the device speaks MACsec.
    pub pn: u32,
}

impl EndpointSpec {
    /// Whether it obeys PFC in `class`.
    pub const fn obeys(&self, class: u8) -> bool {
        self.obeys >> class & 1 == 1
    }
}

impl Default for EndpointSpec {
    fn default() -> EndpointSpec {
        EndpointSpec { obeys: u8::MAX, response: Dur::ZERO, pfc: Takes::Either, pn: 1 }
    }
}

impl fmt::Display for EndpointSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.obeys {
            0 => return f.write_str("ignores PFC"),
            u8::MAX => f.write_str("obeys PFC")?,
            some => {
                let classes = (0..8_u8).filter(|class| some >> class & 1 == 1);
                let classes: Vec<String> = classes.map(|class| class.to_string()).collect();
                write!(f, "obeys PFC in class {} only", classes.join(" and "))?;
            }
        }
        match self.pfc {
            Takes::Either => {}
            Takes::Clear => f.write_str(", in clear alone")?,
            Takes::Encrypted => f.write_str(", behind a SecTAG alone")?,
        }
        match self.response {
            Dur::ZERO => {}
            response => write!(f, ", {response} after it")?,
        }
        if self.pn == 1 { Ok(()) } else { write!(f, "; its packet numbers begin at {}", self.pn) }
    }
}

/// What is recorded at a rig port, from least to most. Frames of streams are counted whatever it says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Tap {
    /// Nothing.
    None,
    /// PFC frames.
    Pfc,
    /// PFC frames and probes; of loads a sample, and windows around events.
    #[default]
    Sampled,
    /// Every frame.
    All,
}

impl Tap {
    /// Their names in YAML, from most to least.
    pub const NAMES: [(&str, Tap); 4] =
        [("all", Tap::All), ("sampled", Tap::Sampled), ("pfc", Tap::Pfc), ("none", Tap::None)];
}

impl fmt::Display for Tap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Tap::None => "none",
            Tap::Pfc => "pfc",
            Tap::Sampled => "sampled",
            Tap::All => "all",
        })
    }
}

/// One thing that happens at one instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// When, from the start of the trial.
    pub at: Dur,
    /// What happens then.
    pub action: Action,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A stream starts to send.
    StartStream(u16),
    /// A stream stops sending.
    StopStream(u16),
    /// The device starts to send a flow.
    StartFlow(u16),
    /// The device stops sending a flow.
    StopFlow(u16),
    /// A storm starts: its first XOFF leaves now.
    StartStorm(u16),
    /// A storm stops: no more frames; the pause runs out by itself.
    StopStorm(u16),
    /// Single PFC frames.
    Pfc(PfcFrames),
    /// The rig takes the link of a port down.
    LinkDown(u16),
    /// The rig brings the link of a port up.
    LinkUp(u16),
    /// A setting of the device is changed while it runs.
    Configure(Setting),
    /// The device does something at once, by request.
    Device(DeviceVerb),
}

/// By which address a PFC frame is odd.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PfcOdd {
    /// By none: from the rig's port to 01:80:c2:00:00:01.
    #[default]
    No,
    /// Its source is zero.
    NoSource,
    /// It goes to all.
    ToAll,
}

impl PfcOdd {
    /// Their names in YAML.
    pub const NAMES: [(&str, PfcOdd); 3] =
        [("no", PfcOdd::No), ("no-source", PfcOdd::NoSource), ("to-all", PfcOdd::ToAll)];
}

/// PFC frames sent by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PfcFrames {
    /// The rig port they leave by.
    pub from: u16,
    /// Class-enable vector: bit `c` is class `c`.
    pub enable: u8,
    /// Pause time of every class, enabled or not.
    pub quanta: Quanta,
    /// How many are sent.
    pub count: u32,
    /// Time between two.
    pub every: Dur,
    /// How they are protected, where the device speaks MACsec.
    pub macsec: MacsecMode,
    /// By which address they are odd.
    pub odd: PfcOdd,
}

/// A data stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamSpec {
    /// Its name in the case.
    pub name: String,
    /// The rig port it leaves by.
    pub from: u16,
    /// The rig port it is addressed to; the same one stands for the NIC behind it.
    pub to: u16,
    /// Its traffic class, 0 to 7.
    pub class: u8,
    /// A DSCP that the device maps to that class, and to the colour asked for.
    pub dscp: u8,
    /// What its frames are.
    pub kind: StreamKind,
    /// What its frames say of congestion when they are sent.
    pub ecn: Ecn,
    /// Frame size, tag and FCS counted.
    pub size: Bytes,
    /// The 802.1Q tag of its frames; `None`: they have none. What pauses the stream is its class, whatever the tag says.
    pub vlan: Option<vlan::Repr>,
    /// What its frames go over.
    pub over: IpVersion,
    /// To which of the addresses of a NIC they go, of its GIDs; 0 is the usual one.
    pub gid: u8,
    /// How fast.
    pub rate: StreamRate,
    /// After how many frames it ends by itself; `None`: when it is stopped.
    pub count: Option<u64>,
    /// How its frames are protected, where the device speaks MACsec.
    pub macsec: MacsecMode,
    /// What MACsec adds to each of its frames on the wire.
    pub overhead: Bytes,
    /// Packet sequence number of its first frame.
    pub psn: u32,
    /// Of CNPs the connection whose sender they are to slow down.
    pub of: Option<u16>,
    /// Which of the addresses of its port it comes from; 0 is the usual one.
    pub address: u8,
}

impl StreamSpec {
    /// A probe of class 3 from one rig port to another: RDMA WRITEs of 254 bytes, one each 500 us, until it is stopped. Whatever is
    /// otherwise is said beside it.
    pub fn probe(from: u16, to: u16) -> StreamSpec {
        StreamSpec {
            name: "probe".to_owned(),
            from,
            to,
            class: 3,
            dscp: 3,
            kind: StreamKind::RoceWrite,
            ecn: Ecn::Ect0,
            size: Bytes(254),
            vlan: None,
            over: IpVersion::V4,
            gid: 0,
            rate: StreamRate::Every(Dur::us(500)),
            count: None,
            macsec: MacsecMode::Usual,
            overhead: Bytes(0),
            psn: 0,
            of: None,
            address: 0,
        }
    }

    /// Whether it goes to the NIC behind the port that it leaves by.
    pub const fn is_to_nic(&self) -> bool {
        self.from == self.to
    }

    /// Size of a frame as it travels, FCS counted.
    pub fn on_wire(&self) -> Bytes {
        self.size + self.overhead
    }

    /// How its frames leave a port of `speed`, nothing in their way.
    pub fn pace(&self, speed: PortSpeed) -> Pace {
        match self.rate {
            StreamRate::Every(gap) => Pace::every(gap),
            StreamRate::Load(rate) => rate.pace(self.on_wire(), speed),
        }
    }

    /// How long it takes to send from a port of `speed`, nothing in its way; `None` for one that does not end by itself.
    pub fn length(&self, speed: PortSpeed) -> Option<Dur> {
        self.count.map(|frames| self.pace(speed).after(frames))
    }
}

/// What the frames of a stream are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum StreamKind {
    /// RDMA WRITE Only over RoCEv2 (UDP port 4791), the PSN counting frames.
    RoceWrite,
    /// RDMA SEND Only over RoCEv2.
    RoceSend,
    /// Plain UDP with a sequence number in the payload.
    Udp,
    /// Congestion notifications (RoCEv2 opcode 0x81), all alike.
    Cnp,
}

/// How fast a stream sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamRate {
    /// One frame per interval: a probe. Every frame is recorded where the tap is as usual.
    Every(Dur),
    /// A load. Frames are counted, and recorded in windows around events only where the tap is as usual.
    Load(Rate),
}

/// A pause storm: XOFF frames for some classes, repeated before the pause runs out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StormSpec {
    /// Its name in the case.
    pub name: String,
    /// The rig port it leaves by.
    pub from: u16,
    /// Class-enable vector: bit `c` is class `c`.
    pub classes: u8,
    /// Pause time asked for.
    pub quanta: Quanta,
    /// Time between two frames. At most the pause time, or the storm has gaps.
    pub every: Dur,
    /// How its frames are protected, where the device speaks MACsec.
    pub macsec: MacsecMode,
    /// What MACsec adds to each of its frames on the wire.
    pub overhead: Bytes,
}

impl StormSpec {
    /// A storm of class 3 out of a rig port: the longest pause, asked for again each 100 us. Whatever is otherwise is said beside
    /// it.
    pub fn steady(from: u16) -> StormSpec {
        StormSpec {
            name: "storm".to_owned(),
            from,
            classes: 1 << 3,
            quanta: Quanta::MAX,
            every: Dur::us(100),
            macsec: MacsecMode::Usual,
            overhead: Bytes(0),
        }
    }

    /// Size of a frame as it travels, FCS counted.
    pub fn on_wire(&self) -> Bytes {
        MIN_FRAME + self.overhead
    }
}
