//! One trial with every quantity worked out: what the rig's ports do, and when. Times count from the trial's start.

use rig_lab::Setting;
use rig_units::{Bytes, Dur, Quanta, Rate};

/// One trial. Indices point into `ports`, `streams` and `storms`.
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// Names of the rig ports in use; `p1` is index 0 and cabled to the device's port `dut_ports[0]`.
    pub ports: Vec<String>,
    /// The device's port behind each rig port.
    pub dut_ports: Vec<u16>,
    /// Data streams, in the order of the case.
    pub streams: Vec<StreamSpec>,
    /// Pause storms, in the order of the case.
    pub storms: Vec<StormSpec>,
    /// What happens, ordered by time; steps of one instant happen in the order of the case.
    pub steps: Vec<Step>,
    /// How long the trial lasts; everything started is stopped at its end.
    pub length: Dur,
}

/// One thing that happens at one instant.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// When, from the start of the trial.
    pub at: Dur,
    /// What.
    pub action: Action,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// A stream starts to send.
    StartStream(u16),
    /// A stream stops sending.
    StopStream(u16),
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
    /// How many.
    pub count: u32,
    /// Time between two.
    pub every: Dur,
}

/// A data stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StreamSpec {
    /// Its name in the case.
    pub name: String,
    /// The rig port it leaves by.
    pub from: u16,
    /// The rig port it is addressed to.
    pub to: u16,
    /// Its traffic class, 0 to 7.
    pub class: u8,
    /// The DSCP that the device maps to that class.
    pub dscp: u8,
    /// What its frames are.
    pub kind: StreamKind,
    /// Frame size, FCS counted.
    pub size: Bytes,
    /// How fast.
    pub rate: StreamRate,
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
}

/// How fast a stream sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreamRate {
    /// One frame per interval: a probe. Every frame is recorded.
    Every(Dur),
    /// A load. Frames are counted, and recorded in windows around events only.
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
}
