//! What a case says of NICs: what they send by themselves, and what of their behaviour is measured.

use crate::Window;
use rig_units::{Bytes, Dur, Ppm};

/// What a NIC sends by itself, as written: messages of one reliable connection, one right after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flow {
    /// The rig port behind which the NIC is that sends.
    pub nic: String,
    /// The rig port that it is addressed to, or behind which the NIC is that receives.
    pub to: String,
    /// Traffic class.
    pub class: u8,
    /// What its messages are.
    pub verb: Verb,
    /// Payload of a message.
    pub message: Bytes,
    /// Payload of a packet (path MTU).
    pub mtu: Bytes,
    /// After how many messages it ends by itself; absent: when it is stopped.
    pub count: Option<u32>,
    /// Packet sequence number of its first packet.
    pub psn: u32,
    /// Which of the addresses of the rig's port it goes to; 0 is the usual one.
    pub address: u8,
}

/// The same, worked out for one device. Ports are indices of the script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlowSpec {
    /// Its name in the case.
    pub name: String,
    /// The rig port behind which the NIC is that sends.
    pub nic: u16,
    /// The rig port that it is addressed to, or behind which the NIC is that receives.
    pub to: u16,
    /// Its traffic class, 0 to 7.
    pub class: u8,
    /// The DSCP of its packets.
    pub dscp: u8,
    /// What its messages are.
    pub verb: Verb,
    /// Payload of a message, in bytes.
    pub message: u32,
    /// Payload of a packet, in bytes.
    pub mtu: u32,
    /// After how many messages it ends by itself; `None`: when it is stopped.
    pub count: Option<u32>,
    /// Packet sequence number of its first packet.
    pub psn: u32,
    /// Which of the addresses of the rig's port it goes to; 0 is the usual one.
    pub address: u8,
}

/// What the messages of a reliable connection are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verb {
    /// SEND.
    Send,
    /// RDMA WRITE.
    Write,
    /// RDMA READ: the other end sends the data.
    Read,
}

impl Verb {
    /// Their names in YAML.
    pub const NAMES: [(&str, Verb); 3] =
        [("send", Verb::Send), ("write", Verb::Write), ("read", Verb::Read)];
}

/// What is measured of a NIC.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NicMeasure {
    /// `cnp.answers`: each mark is answered with one CNP, or not, as interval and scope have it.
    Answers {
        /// The rig port in front of the NIC.
        port: String,
    },
    /// `cnp.latency`: from the last bit of a marked frame to the first bit of its CNP.
    Latency {
        /// The rig port in front of the NIC.
        port: String,
    },
    /// `cnp.interval`: the least time between two marks of one scope that are answered.
    Interval {
        /// The rig port in front of the NIC.
        port: String,
    },
    /// `cnp.format`: every CNP is well formed: opcode, BECN, reserved bytes, DSCP, ECN field.
    Format {
        /// The rig port in front of the NIC.
        port: String,
    },
    /// `nic.counters`: the NIC's counters against the wire.
    Counters {
        /// The rig port in front of the NIC.
        port: String,
    },
    /// `rate.follows`: each packet of a flow leaves as early as its rate allows and no earlier, by the CNPs that it got.
    Follows {
        /// The flow.
        flow: String,
    },
    /// `rate.cut`: the factor by which the first CNP of a trial cuts the rate.
    Cut {
        /// The flow.
        flow: String,
    },
    /// `rate.reaction`: from the last bit of the first CNP of a trial to the first packet that the new rate holds back.
    Reaction {
        /// The flow.
        flow: String,
    },
    /// `rate.least`: the least rate between two packets of a flow.
    Least {
        /// The flow.
        flow: String,
    },
    /// `rate.final`: the rate at the trial's end.
    Final {
        /// The flow.
        flow: String,
    },
    /// `rate.bursts`: how many packets leave back to back while the flow is held back.
    Bursts {
        /// The flow.
        flow: String,
    },
    /// `rate.goodput`: what of a flow is acknowledged on average from some instant on, payload alone; of a READ what is brought,
    /// and to the rig, which acknowledges nothing, what reaches it.
    Goodput {
        /// The flow.
        flow: String,
        /// The least and the greatest that the case wants, in bits a second.
        wanted: (u64, u64),
        /// From when on, since the trial's start.
        from: Dur,
    },
    /// `rate.shares`: flows through one bottleneck get the same, in the long run.
    Shares {
        /// The flows, and when.
        window: Window,
        /// How far a share may be off an equal one, as a part of that.
        within: Ppm,
    },
    /// `rate.fixed_point`: more flows through one bottleneck are marked more, and get more CNPs; beside the fluid model.
    FixedPoint {
        /// The flows, and when: each of more than the one before.
        windows: Vec<Window>,
    },
    /// `rc.completion`: every message of a flow is acknowledged, and by when; of a READ, brought.
    Completion {
        /// The flow.
        flow: String,
        /// When the last one has to be, since the trial's start; absent: at its end.
        by: Option<Dur>,
        /// How many messages never are, where the case is about that.
        unfinished: u32,
    },
    /// `rc.sender`: what a NIC sends after a NAK or none (go-back-N).
    Sender {
        /// The flow.
        flow: String,
    },
    /// `rc.receiver`: what a NIC acknowledges, and how it asks for what is missing.
    Receiver {
        /// The stream or flow.
        of: String,
    },
}

impl NicMeasure {
    /// Its name in YAML, in reports and in `results.json`.
    pub const fn name(&self) -> &'static str {
        match self {
            NicMeasure::Answers { .. } => "cnp.answers",
            NicMeasure::Latency { .. } => "cnp.latency",
            NicMeasure::Interval { .. } => "cnp.interval",
            NicMeasure::Format { .. } => "cnp.format",
            NicMeasure::Counters { .. } => "nic.counters",
            NicMeasure::Follows { .. } => "rate.follows",
            NicMeasure::Cut { .. } => "rate.cut",
            NicMeasure::Reaction { .. } => "rate.reaction",
            NicMeasure::Least { .. } => "rate.least",
            NicMeasure::Final { .. } => "rate.final",
            NicMeasure::Bursts { .. } => "rate.bursts",
            NicMeasure::Goodput { .. } => "rate.goodput",
            NicMeasure::Shares { .. } => "rate.shares",
            NicMeasure::FixedPoint { .. } => "rate.fixed_point",
            NicMeasure::Completion { .. } => "rc.completion",
            NicMeasure::Sender { .. } => "rc.sender",
            NicMeasure::Receiver { .. } => "rc.receiver",
        }
    }

    /// The rig port, stream or flows that it looks at.
    pub fn subjects(&self) -> Vec<&str> {
        match self {
            NicMeasure::Answers { port }
            | NicMeasure::Latency { port }
            | NicMeasure::Interval { port }
            | NicMeasure::Format { port }
            | NicMeasure::Counters { port } => vec![port],
            NicMeasure::Follows { flow }
            | NicMeasure::Cut { flow }
            | NicMeasure::Reaction { flow }
            | NicMeasure::Least { flow }
            | NicMeasure::Final { flow }
            | NicMeasure::Bursts { flow }
            | NicMeasure::Goodput { flow, .. }
            | NicMeasure::Completion { flow, .. }
            | NicMeasure::Sender { flow } => vec![flow],
            NicMeasure::Receiver { of } => vec![of],
            NicMeasure::Shares { window, .. } => Window::flows_of(core::slice::from_ref(window)),
            NicMeasure::FixedPoint { windows } => Window::flows_of(windows),
        }
    }

    /// The rig port that it looks at, if it is one.
    pub fn port(&self) -> Option<&str> {
        match self {
            NicMeasure::Answers { port }
            | NicMeasure::Latency { port }
            | NicMeasure::Interval { port }
            | NicMeasure::Format { port }
            | NicMeasure::Counters { port } => Some(port),
            _ => None,
        }
    }
}
