//! The flags that describe a stream by hand.

use clap::Args;

/// The streams of `gen`. Values are read together, so that all that is wrong with them is told at once.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Stream")]
pub struct StreamFlags {
    /// roce-write, roce-send, cnp or udp; roce-write without it.
    #[arg(long)]
    pub kind: Option<String>,
    /// PFC frames: classes and pause time, such as 3:65535q. Without --every refreshed twice per pause time.
    #[arg(long, value_name = "CLASSES:QUANTA")]
    pub pfc: Option<String>,
    /// Congestion notifications.
    #[arg(long, num_args = 0, default_missing_value = "on")]
    pub cnp: Option<String>,
    /// Frame size, FCS counted; 1024B without it.
    #[arg(long)]
    pub size: Option<String>,
    /// 10Gbps-L1 (preamble and gap counted), 10Gbps-L2 (frames only) or 45% of the port.
    #[arg(long)]
    pub rate: Option<String>,
    /// Time from one frame to the next.
    #[arg(long, value_name = "TIME")]
    pub every: Option<String>,
    /// even, burst:FRAMES,WITHIN,EVERY, ramp:FROM,TO,FRAMES or poisson:SEED (around the rate).
    #[arg(long)]
    pub rhythm: Option<String>,
    /// DSCP; 3 without it, 48 for congestion notifications.
    #[arg(long, value_name = "LIST")]
    pub dscp: Option<String>,
    /// not-ect, ect0, ect1 or ce; ect0 without it.
    #[arg(long, value_name = "LIST")]
    pub ecn: Option<String>,
    /// The class whose pause stops it; without it the DSCP if that is below 8, else an eighth of it.
    #[arg(long)]
    pub class: Option<String>,
    /// Destination queue pair.
    #[arg(long, value_name = "LIST")]
    pub qpn: Option<String>,
    /// The first packet sequence number.
    #[arg(long)]
    pub psn: Option<String>,
    /// UDP source port.
    #[arg(long, value_name = "LIST")]
    pub udp_port: Option<String>,
    /// Each frame carries its number and its time, eight bytes each, at the beginning of its payload.
    #[arg(long, num_args = 0, default_missing_value = "on")]
    pub stamp: Option<String>,
    /// Ethernet addresses: SOURCE-DESTINATION.
    #[arg(long, value_name = "FROM-TO")]
    pub mac: Option<String>,
    /// IPv4 addresses: SOURCE-DESTINATION.
    #[arg(long, value_name = "FROM-TO")]
    pub ip: Option<String>,
    /// When it starts, from the beginning on.
    #[arg(long, value_name = "TIME")]
    pub start: Option<String>,
    /// How many frames.
    #[arg(long, value_name = "N")]
    pub count: Option<String>,
    /// For how long by the clock on the wall, paused or not.
    #[arg(long = "for", value_name = "TIME")]
    pub length: Option<String>,
    /// A whole stream: KEY=VALUE,... with the flags of this section as keys, and `name`.
    #[arg(long, value_name = "KEY=VALUE,...")]
    pub stream: Vec<String>,
}

impl StreamFlags {
    /// The stream that the single flags make, as keys and values; empty without any.
    pub fn pairs(&self) -> Vec<(&'static str, &str)> {
        let all = [
            ("kind", &self.kind),
            ("pfc", &self.pfc),
            ("cnp", &self.cnp),
            ("size", &self.size),
            ("rate", &self.rate),
            ("every", &self.every),
            ("rhythm", &self.rhythm),
            ("dscp", &self.dscp),
            ("ecn", &self.ecn),
            ("class", &self.class),
            ("qpn", &self.qpn),
            ("psn", &self.psn),
            ("udp-port", &self.udp_port),
            ("stamp", &self.stamp),
            ("mac", &self.mac),
            ("ip", &self.ip),
            ("start", &self.start),
            ("count", &self.count),
            ("for", &self.length),
        ];
        all.into_iter().filter_map(|(key, value)| Some((key, value.as_deref()?))).collect()
    }
}
