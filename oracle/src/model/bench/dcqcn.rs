//! The benchmark's scenarios with DCQCN: as the packet simulator has it, or as the NICs of profiles do.

use super::scenario::{DCQCN_HOST, Scenario};
use super::{CLASSES, EventQueue, Network};
use crate::model::host::{self, HostKind};
#[cfg(feature = "ns3")]
use crate::model::nic::ns3_dcqcn;
use crate::model::nic::{self, Flow, Verb};
use crate::model::{Topology, wred};
#[cfg(feature = "ns3")]
use rig_lab::Rp;
use rig_lab::{IpVersion, Nic};
use rig_testcases::Container;
#[cfg(feature = "ns3")]
use rig_units::{Bytes, L2Rate};
use rig_units::{Dur, Ppm, Within};

/// Payload of a packet that is 1048 B long, which is the simulator's frame of 1000 B.
const PAYLOAD: u32 = 1_048 - 62;
/// The simulator's frame of 953 B, which takes a whole number of nanoseconds at 100 Gb/s.
const ROUND_PAYLOAD: u32 = 1_001 - 62;

/// How senders react to congestion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// The simulator, with the parameters that its scripts call `dcqcn`.
    #[cfg(feature = "ns3")]
    Dcqcn,
    /// With those that they call `dcqcn_paper`.
    #[cfg(feature = "ns3")]
    Paper,
    /// With five increases of fast recovery, about as in SIGCOMM'15.
    #[cfg(feature = "ns3")]
    F5,
    /// The NICs of this model: a CNP for each 4 us with marks, one cut a 4 us.
    Product,
}

/// Where frames are marked when they leave: kmin and kmax in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Red {
    /// No frame below.
    pub kmin: u64,
    /// Every frame above.
    pub kmax: u64,
    /// What the draws begin with.
    pub seed: u64,
}

impl Red {
    /// By chance between 400 KB and 1600 KB, up to a fifth.
    pub const fn linear(seed: u64) -> Red {
        Red { kmin: 400_000, kmax: 1_600_000, seed }
    }

    /// Nothing by chance.
    pub const fn step() -> Red {
        Red { kmin: 400_000, kmax: 400_000, seed: 0 }
    }

    fn config(self) -> wred::Config {
        let curve = wred::Curve { kmin: self.kmin, kmax: self.kmax, pmax: Ppm(200_000) };
        let queues = CLASSES.iter().map(|class| 1 << class).sum();
        wred::Config { queues, mark: [curve; 3], seed: self.seed, ..wred::Config::off() }
    }
}

impl Reaction {
    /// What the simulator's scripts call it.
    pub const fn name(self) -> &'static str {
        match self {
            #[cfg(feature = "ns3")]
            Reaction::Dcqcn => "dcqcn",
            #[cfg(feature = "ns3")]
            Reaction::Paper => "dcqcn_paper",
            #[cfg(feature = "ns3")]
            Reaction::F5 => "dcqcn_f5",
            Reaction::Product => "nic",
        }
    }

    #[cfg(feature = "ns3")]
    fn rp(self) -> Option<Rp> {
        let mbps = |rate: u64| L2Rate { bps: rate * 1_000_000 };
        let dcqcn = Rp {
            by_period: Some(true),
            initial_alpha: Ppm::ONE,
            inverse_g: 256,
            alpha_timer: Dur::us(1),
            cut_window: Dur::us(4),
            timer: Dur::us(300),
            byte_counter: Bytes(0),
            // The simulator counts increases from 0 on.
            threshold: 1 + 1,
            ai_rate: mbps(20),
            hai_rate: mbps(200),
            min_rate: mbps(1_000),
            clamp: false,
            ..Nic::usual().rp
        };
        let (alpha_timer, cut_window, timer) = (Dur::us(50), Dur::us(50), Dur::us(55));
        let paper = Rp { alpha_timer, cut_window, timer, ..dcqcn };
        let (alpha_timer, threshold) = (Dur::us(55), 5 + 1);
        let (ai_rate, min_rate) = (mbps(40), mbps(100));
        match self {
            Reaction::Dcqcn => Some(dcqcn),
            Reaction::Paper => Some(paper),
            Reaction::F5 => Some(Rp { alpha_timer, threshold, ai_rate, min_rate, ..paper }),
            Reaction::Product => None,
        }
    }

    fn config(self) -> nic::Config {
        let mut config = nic::Config::declared(&Nic::usual());
        let is_product = self == Reaction::Product;
        (config.np.enable, config.rp.enable) = (is_product, is_product);
        (config.np.interval, config.rp.cut_window) = (Dur::us(4), Dur::us(4));
        (config.rc.ack_latency, config.np.latency) = (Within::ZERO, Within::ZERO);
        #[cfg(feature = "ns3")]
        if let Some(rp) = self.rp() {
            config.rp = Rp { enable: false, ..rp };
            config.ns3 = Some(ns3_dcqcn::Config { ack_size: 60, ack_flight: Dur::ns(1_004) });
        }
        config
    }
}

/// The topology of a scenario with NICs that react, and with switches that mark as `red` says.
pub fn topology(mut topology: Topology, reaction: Reaction, red: Red) -> Topology {
    for host in &mut topology.hosts {
        *host = host::Config { kind: HostKind::Nic(reaction.config()), ..DCQCN_HOST };
    }
    for switch in &mut topology.switches {
        switch.wred = red.config();
        #[cfg(feature = "ns3")]
        {
            switch.sends_last = reaction != Reaction::Product;
        }
    }
    topology
}

/// Starts every sender, with so many flows each.
pub fn start<Q: EventQueue>(
    network: &mut Network<Q>,
    scenario: Scenario,
    flows: u16,
    two_classes: bool,
    round: bool,
) {
    let payload = if round { ROUND_PAYLOAD } else { PAYLOAD };
    for id in 0..scenario.senders() * flows {
        let sender = id % scenario.senders();
        let class = CLASSES[usize::from(two_classes && sender % 2 == 1)];
        let flow = Flow {
            id,
            verb: Verb::Send,
            message: payload,
            mtu: payload,
            count: None,
            psn: 0,
            dst: scenario.receiver(sender),
            class,
            dscp: class,
            pcp: None,
            over: IpVersion::V4,
            gid: 0,
            ect: true,
            container: Container::USUAL,
        };
        network.start_flow(sender, &flow);
    }
}
