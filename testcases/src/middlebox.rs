//! The rig between two NICs: what it passes on, and what it does to single frames on the way.

use crate::nic::{Flow, Verb};
use core::fmt;
use rig_frames::roce::aeth::RnrTimer;
use rig_lab::{Curve, IpVersion};
use rig_units::{Bytes, Dur, PortSpeed, Ppm};

/// The rig between the NICs behind two of its ports, as written and as it is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Middlebox<Name> {
    /// From the last bit of a frame that arrives at one port to its first bit at the other, where that is free.
    pub delay: Dur,
    /// What is done to single frames, in the order of the case.
    pub inject: Vec<Injection<Name>>,
    /// What the frames to one of the NICs have to pass.
    pub bottleneck: Option<Bottleneck<Name>>,
}

/// A queue on the way to a NIC that is slower than its port. `Port`: the port's name as written, its index as it is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bottleneck<Port> {
    /// The rig port that they leave by.
    pub to: Port,
    /// How fast they leave, as if on a wire of this speed.
    pub speed: PortSpeed,
    /// At which depth data is marked that is ECN-capable: by what waits before it, when it comes.
    pub curve: Curve,
    /// What may wait; the rest is lost.
    pub buffer: Bytes,
}

/// One thing that is done to frames of one connection. `Name`: the flow's as written, its connection's number as it is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Injection<Name> {
    /// The connection.
    pub on: Name,
    /// Which frames of it.
    pub frames: Target,
    /// Which of those.
    pub which: Which,
    /// In which round: 1 is the first time that a packet sequence number passes, 2 its first repetition, and so on. `None`: any.
    pub iteration: Option<u32>,
    /// What is done to them.
    pub tamper: Injected,
}

impl Injection<String> {
    /// Whether it can be done to its flow, of a NIC of the dialect or not; else what is wrong, and what would be accepted. A receiver is not ready for a message,
    /// which a SEND brings and of which the first packet tells. A first packet of RoCEv2 has its RETH where this dialect has it, and whether it is taken for one
    /// of its own hangs on its key and its length.
    pub(crate) fn fits(&self, flow: &Flow, is_blue: bool) -> Result<(), (String, String)> {
        let packets = flow.message.0.div_ceil(flow.mtu.0.max(1)).max(1);
        let on = &self.on;
        let shares = flow.app.is_some_and(|step| step.one_pair);
        match (self.tamper, self.which) {
            (Injected::NotReady(_), _) if shares => {
                let found =
                    format!("a receiver that is not ready for {on}, which shares its queue pair");
                return Err((found, "another `do`".to_owned()));
            }
            (_, which) if shares && !matches!(which, Which::Psn(_)) => {
                let found = format!(
                    "frames of {on} by how many have passed, and other steps share its queue pair"
                );
                return Err((found, "`psn`, counted from the first packet of its end".to_owned()));
            }
            (Injected::NotReady(_), _) => {}
            (Injected::Rocev2, _) if !is_blue => {
                let found = format!("a packet of {on} as one of RoCEv2, which it is");
                return Err((found, "a flow between NICs of blue-rdma".to_owned()));
            }
            (Injected::BlueRdma, _) if is_blue => {
                let found = format!("a packet of {on} as one of blue-rdma, which it is");
                return Err((found, "a flow between NICs of RoCEv2".to_owned()));
            }
            (Injected::BlueRdma, _) if flow.over == IpVersion::V6 => {
                let found = format!("a packet of {on} as one of blue-rdma, which knows no IPv6");
                return Err((found, "a flow with `over: ipv4`".to_owned()));
            }
            (Injected::BlueRdma, _) if !matches!(flow.verb, Verb::Write | Verb::Send) => {
                let found = format!("a packet of {on} as one of blue-rdma");
                return Err((found, "a flow with `verb: write` or `send`".to_owned()));
            }
            (Injected::Rocev2 | Injected::BlueRdma, Which::Psn(psn))
                if u64::from(psn) % packets == 0 =>
            {
                let of = if is_blue { "RoCEv2" } else { "blue-rdma" };
                let found = format!("packet {psn} of {on} as one of {of}: it begins a message");
                let want = format!("one that begins no message ({packets} packets each)");
                return Err((found, want));
            }
            (Injected::OtherKey, _) if flow.verb != Verb::Datagram => {
                let found = format!("another Q_Key in packets of {on}, which have none");
                return Err((found, "a flow with `verb: ud-send`".to_owned()));
            }
            _ => return Ok(()),
        }
        let found = match self.which {
            _ if !flow.verb.takes_buffer() || flow.verb.is_unreliable() => {
                format!("a receiver that is not ready, and {on} needs none")
            }
            Which::Psn(psn) if u64::from(psn) % packets != 0 => {
                format!("packet {psn} of {on} begins no message")
            }
            _ => return Ok(()),
        };
        let want = "the first packet of a message of a flow with `verb: send`";
        Err((found, format!("rnr on {want} ({packets} packets each)")))
    }
}

/// Frames of a connection, by what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Target {
    /// Packets with payload, those that answer a READ among them.
    Data,
    /// Acknowledgements.
    Ack,
    /// NAKs.
    Nak,
    /// CNPs.
    Cnp,
    /// READ requests.
    ReadRequest,
}

impl Target {
    /// Their names in YAML.
    pub const NAMES: [(&str, Target); 5] = [
        ("data", Target::Data),
        ("ack", Target::Ack),
        ("nak", Target::Nak),
        ("cnp", Target::Cnp),
        ("read-request", Target::ReadRequest),
    ];
}

/// Which of the frames of one kind and connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// `psn: 4`: those of this number, counted from the flow's first packet.
    Psn(u32),
    /// `nth: 3`: the third that passes.
    Nth(u32),
    /// `every: 400, run: 30`: of each four hundred that pass the last thirty.
    Every {
        /// So many.
        every: u32,
        /// How many of them.
        run: u32,
    },
    /// `during: 20us, every: 500us`: those that arrive in the first so much of each so much time, from the trial's start.
    During {
        /// For how long.
        lasting: Dur,
        /// From one beginning to the next.
        every: Dur,
    },
    /// `chance: 1%`: those that are drawn, each for itself, whether it passes for the first time or again.
    Drawn(Ppm),
}

/// Where a frame stands among those of its kind and connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passing {
    /// Its number, as the injection counts.
    pub psn: u32,
    /// How many of them have passed, itself among them.
    pub nth: u32,
    /// Since the trial's start.
    pub since: Dur,
}

impl Which {
    /// Whether a frame is one of them. `draw`: a number below a million, each as likely, asked for where chance decides.
    pub fn hits(self, frame: Passing, draw: impl FnOnce() -> u64) -> bool {
        let Passing { psn, nth, since } = frame;
        match self {
            Which::Psn(wanted) => wanted == psn,
            Which::Nth(wanted) => wanted == nth,
            Which::Every { every, run } => (nth - 1) % every >= every - run,
            Which::During { lasting, every } => since % every < lasting,
            Which::Drawn(chance) => draw() < u64::from(chance.0),
        }
    }
}

/// What the rig does to a frame on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Injected {
    /// It is marked: congestion experienced.
    Ce,
    /// It goes no further.
    Drop,
    /// It leaves so much later; those behind it do not wait.
    Delay(Dur),
    /// It leaves behind so many frames that come after it in the same direction.
    Behind(u32),
    /// It leaves twice.
    Duplicate,
    /// Its ICRC is wrong.
    BadIcrc,
    /// Of a datagram: its Q_Key is another, and its ICRC right.
    OtherKey,
    /// Of a NIC of blue-rdma: it leaves as a NIC of RoCEv2 would have sent it, with an ICRC.
    Rocev2,
    /// Of a NIC of RoCEv2: it leaves as a NIC of blue-rdma would have sent it, without an ICRC.
    BlueRdma,
    /// An RNR NAK with this timer goes back in place of it, as from a receiver that is not ready, and what follows it is lost until it
    /// comes again. What is lost so has not passed, for any `iteration`.
    NotReady(RnrTimer),
}

impl fmt::Display for Injected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Injected::Ce => f.write_str("marked"),
            Injected::Drop => f.write_str("dropped"),
            Injected::Delay(by) => write!(f, "delayed by {by}"),
            Injected::Behind(1) => f.write_str("sent behind the next frame"),
            Injected::Behind(by) => write!(f, "sent behind {by} frames"),
            Injected::Duplicate => f.write_str("sent twice"),
            Injected::BadIcrc => f.write_str("sent with a wrong ICRC"),
            Injected::OtherKey => f.write_str("sent with another Q_Key"),
            Injected::Rocev2 => f.write_str("sent as a packet of RoCEv2"),
            Injected::BlueRdma => f.write_str("sent as a packet of blue-rdma"),
            Injected::NotReady(timer) => write!(f, "answered by an RNR NAK of {}", timer.wait()),
        }
    }
}
