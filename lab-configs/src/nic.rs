//! An RDMA NIC: what it makes of congestion marks as a receiver, and of congestion notifications as a sender (DCQCN: Zhu et al.,
//! SIGCOMM'15), and how its reliable connections recover (IBTA volume 1, chapter 9).
//!
//! The rules that go with these values are written down once, in `docs/nic.md`, and built twice: in the oracle's closed forms
//! and in its model.
//!
//! Left out on purpose: connection management, memory registration; and every transport but RC.

use crate::field::Holds::{Chance, Count, List, Name, Range, Rate, Size, Switch, Time, Word};
use crate::field::{Field, needed, optional};
use crate::{AckTimeout, Adaptive, Estats, Ets, NicHost, NicPfc, Recovery};
use rig_units::{Bytes, Dur, L2Rate, Ppm, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A NIC with one port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nic {
    /// The generation, as its operator calls it: `gen1`. A case that asks for one selects a device.
    pub generation: String,
    /// The notification point: from marks to CNPs.
    pub np: Np,
    /// The reaction point: from CNPs to a rate.
    pub rp: Rp,
    /// Reliable connections.
    pub rc: Rc,
    /// What a frame goes through on its way in.
    pub receive: Receive,
    /// How its port obeys PFC, and when it sends some.
    pub pfc: NicPfc,
    /// The host behind it, as far as it can be slow.
    #[serde(default)]
    pub host: NicHost,
    /// How traffic classes share its port.
    #[serde(default)]
    pub ets: Ets,
    /// What its host keeps of the requests that it posts.
    #[serde(default)]
    pub estats: Estats,
}

/// The notification point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Np {
    /// Whether marks are answered at all.
    pub enable: bool,
    /// Least time between two marks that are answered, within one scope (NVIDIA `min_time_between_cnps`). 0s: each is.
    pub interval: Dur,
    /// What the interval is kept for.
    pub scope: Scope,
    /// From the last bit of a marked frame to the first bit of its CNP, at an idle port; of each anew.
    pub latency: Within,
    /// DSCP of a CNP (NVIDIA `cnp_dscp`).
    pub dscp: u8,
    /// Priority in the 802.1Q tag of a CNP, where its connection's frames have one (NVIDIA `cnp_802p_prio`). Unset: nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pcp: Option<u8>,
    /// ECN field of a CNP. No rule of the IBTA is known for it.
    pub ecn: EcnField,
    /// Whether a mark on an acknowledgement is answered as one on data is.
    pub ack_earns: bool,
    /// Whether a NAK comes with a CNP, within the same interval.
    pub nak_earns: bool,
}

/// Within what something is kept apart from its like.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// One queue pair.
    Qp,
    /// All queue pairs to one address at the far end.
    DestIp,
    /// The whole port.
    Port,
}

impl Scope {
    /// What it is called in a sentence: `per queue pair`.
    pub const fn words(self) -> &'static str {
        match self {
            Scope::Qp => "queue pair",
            Scope::DestIp => "address at the far end",
            Scope::Port => "port",
        }
    }
}

/// The ECN field of an IP header (RFC 3168).
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum EcnField {
    /// 00
    NotEct,
    /// 01
    Ect1,
    /// 10
    Ect0,
    /// 11
    Ce,
}

impl EcnField {
    /// What RFC 3168 calls it.
    pub const fn words(self) -> &'static str {
        match self {
            EcnField::NotEct => "Not-ECT",
            EcnField::Ect1 => "ECT(1)",
            EcnField::Ect0 => "ECT(0)",
            EcnField::Ce => "CE",
        }
    }
}

/// The reaction point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rp {
    /// Whether CNPs are obeyed at all.
    pub enable: bool,
    /// From the last bit of a CNP to its effect, of each anew.
    pub latency: Within,
    /// What one CNP cuts.
    pub scope: Scope,
    /// Least time between two cuts; CNPs within it do nothing (NVIDIA `rate_reduce_monitor_period`). 0s: each CNP cuts.
    pub cut_window: Dur,
    /// Alpha before the first cut (NVIDIA `initial_alpha_value`).
    pub initial_alpha: Ppm,
    /// By how much of alpha a cut goes, as a power of two and 10: C (1 - alpha / 2^(gd - 10)) (NVIDIA `rpg_gd`). Unset: 11, half of alpha, as in
    /// the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gd: Option<u8>,
    /// The least share of the rate before it that one cut leaves (NVIDIA `rpg_min_dec_fac`). Unset: whatever alpha says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_dec_fac: Option<Ppm>,
    /// What the first CNP of a limiter makes its rate and its target before it cuts (NVIDIA `rate_to_set_on_first_cnp`). Unset: they stay at
    /// the speed of the port.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_cnp_rate: Option<L2Rate>,
    /// 1/g: a cut moves alpha towards 1 by one such part, each alpha timer without a cut towards 0.
    pub inverse_g: u32,
    /// The alpha timer (K of the paper; NVIDIA `dce_tcp_rtt`).
    pub alpha_timer: Dur,
    /// From one increase by time to the next (NVIDIA `rpg_time_reset`).
    pub timer: Dur,
    /// From one increase by bytes to the next (NVIDIA `rpg_byte_reset`). 0B: there is no byte counter.
    pub byte_counter: Bytes,
    /// Increases until fast recovery ends (F of the paper; NVIDIA `rpg_threshold`).
    pub threshold: u8,
    /// Step of additive increase (NVIDIA `rpg_ai_rate`).
    pub ai_rate: L2Rate,
    /// Step of hyper increase (NVIDIA `rpg_hai_rate`).
    pub hai_rate: L2Rate,
    /// No cut goes below it (NVIDIA `rpg_min_rate`).
    pub min_rate: L2Rate,
    /// Whether each cut makes the rate before it the target, or only one that follows an increase (NVIDIA `clamp_tgt_rate`).
    pub clamp: bool,
    /// What is held back to keep a rate.
    pub limiting: Limiting,
    /// Bytes of frames that a burst has at least, where bursts are held back.
    pub burst: Bytes,
    /// Rates that it can be set to are multiples of this; the least rate is kept as it is. Unset: any, to a bit a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_step: Option<L2Rate>,
    /// A gap between two packets, or bursts, of one that was slowed down is off by less than this either way: its clock of sending ticks so. Unset:
    /// not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pacer_step: Option<Dur>,
    /// Whether the alpha timer runs on by itself, whatever a cut does. Unset: each cut starts it anew, as in the paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alpha_free: Option<bool>,
    /// Whether it looks at the ends of periods whether there was a CNP: of those of `alpha_timer` to move alpha, of those of `cut_window` to cut. The
    /// first CNP starts both, they run on by themselves, and alpha moves from the second CNP on. So does HPCC's ns-3, and NVIDIA describes alpha so.
    /// Unset: a CNP cuts, and moves alpha, as it takes effect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_period: Option<bool>,
}

/// What a rate limiter holds back.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Limiting {
    /// Each packet.
    Packet,
    /// Bursts of packets, which leave at the speed of the port.
    Burst,
}

impl Limiting {
    /// What it is called in a sentence: `per packet`.
    pub const fn words(self) -> &'static str {
        match self {
            Limiting::Packet => "packet",
            Limiting::Burst => "burst",
        }
    }
}

/// Reliable connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rc {
    /// A receiver acknowledges one in so many packets, and the last of each message.
    pub ack_every: u16,
    /// From the last bit of a frame to the first bit of its acknowledgement, at an idle port; of each anew.
    pub ack_latency: Within,
    /// How much longer an acknowledgement may wait, each anew: for that long one of a later packet may leave in its place, which says as
    /// much (coalesced acknowledgements). Unset: each leaves, and by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ack_held: Option<Within>,
    /// From the last bit of a frame that shows a hole to the first bit of the NAK, of each anew.
    pub nak_latency: Within,
    /// From the last bit of a NAK to the first frame that is sent again, each time anew.
    pub resend_latency: Within,
    /// How it recovers from a hole, as a sender and as a receiver. Unset: go-back-N.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Recovery>,
    /// How many packets before the one that is missing a sender may send again, too, where it goes back: each time another number, up to
    /// this. Unset: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resend_extra: Option<u16>,
    /// How long a sender waits at least for an acknowledgement before it sends again: the code that `ibv_modify_qp` takes.
    pub timeout: AckTimeout,
    /// How much later than that its timer runs out, each time anew. Unset: as IBTA volume 1, 9.7.6.1.3 limits it, by up to three times
    /// as long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_late: Option<Within>,
    /// How much later still, each time anew, up to this share of what it is set to: of one whose timers are the coarser the longer they are. Unset: not at
    /// all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_late_share: Option<Ppm>,
    /// Whether its timer is left running when everything is acknowledged, and runs out on what was sent since then, however lately: of Linux's rxe, whose
    /// timers are only ever put off. Unset: no, each packet has its whole time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timer_runs_on: Option<bool>,
    /// How long it waits before each try without progress, where that follows a list of its own and not the timeout (adaptive retransmission; NVIDIA
    /// `roce_adp_retrans_en` of `ROCE_ACCL`). Unset: as the timeout says, each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adaptive: Option<Adaptive>,
    /// How often it does so without progress before it gives up.
    pub retries: u8,
    /// How often a sender tries a receiver again that is not ready (RNR NAK) before it gives up: 0 to 6, and 7 for ever (IBTA volume 1,
    /// 9.9.2.4.3). Unset: 7.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rnr_retries: Option<u8>,
    /// How much later than an RNR NAK asks for a sender tries again, each time anew. Unset: nothing is known of it, and nothing too late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rnr_late: Option<Within>,
    /// Whether MigReq is set in what it sends, as IBTA volume 1, 17.2.8 has it of a connection that does not migrate. Unset: nothing is
    /// known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mig_req: Option<bool>,
    /// Whether each connection has a UDP source port of its own, 49152 or more, as annex A17 leaves a NIC free to spread its load, or all
    /// share one. Unset: nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_source_port: Option<bool>,
    /// Whether a fast memory registration waits until all that was asked for before it in its queue is acknowledged, and with it the SEND behind it. Unset:
    /// nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fmr_fence: Option<bool>,
    /// Receives that its application has posted for each connection before anything comes: a SEND that finds none is refused by an RNR NAK. Unset: nothing
    /// is known of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receives: Option<u16>,
    /// How long its application takes for each message of a connection, one after the other and each anew, before it posts its receive again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub receive_again: Option<Within>,
    /// For how long its RNR NAKs ask a sender to wait: the code that `ibv_modify_qp` takes as `min_rnr_timer`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rnr_timer: Option<u8>,
}

/// What a frame goes through on its way in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Receive {
    /// Connections whose state is at hand. 0: all.
    pub cache: u32,
    /// What it takes to fetch the state of another; nothing else is received meanwhile.
    pub miss: Dur,
}

impl Np {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        needed("enable", Switch, "true").by_case().live().tried(&["true", "false"]),
        needed("interval", Time, "50us").by_case().live().tried(&["x0.95", "x1.05", "x2"]),
        needed("scope", Word, "qp").by_case().live().tried(&["qp", "dest_ip", "port"]),
        needed("latency", Range, "1us").by_case().live().varies(),
        needed("dscp", Count, "48").by_case().live().tried(&["0", "46"]),
        optional("pcp", Count).by_case().live().tried(&["5"]),
        needed("ecn", Word, "not-ect").by_case().live().tried(&["not-ect", "ect0", "ect1", "ce"]),
        needed("ack_earns", Switch, "false").by_case().live().tried(&["true"]),
        needed("nak_earns", Switch, "false").by_case().live().tried(&["true"]),
    ];
}

impl Rp {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        needed("enable", Switch, "true").by_case().live().tried(&["true", "false"]),
        needed("latency", Range, "1us").by_case().live().varies(),
        needed("scope", Word, "qp").by_case().live().tried(&["qp", "port"]),
        needed("cut_window", Time, "50us").by_case().live(),
        needed("initial_alpha", Chance, "100%").by_case().live(),
        optional("gd", Count).by_case().live().tried(&["10", "never"]),
        optional("min_dec_fac", Chance).by_case().live().tried(&["x1.1", "75%", "never"]),
        optional("first_cnp_rate", Rate).by_case().live().tried(&["x0.9", "10Gbps-L2", "never"]),
        needed("inverse_g", Count, "256").by_case().live(),
        needed("alpha_timer", Time, "55us").by_case().live().tried(&["x0.95", "x1.05", "x2"]),
        needed("timer", Time, "55us").by_case().live().tried(&["x0.95", "x1.05", "x2"]),
        needed("byte_counter", Size, "10MB").by_case().live().tried(&["x0.95", "x1.05", "0B"]),
        needed("threshold", Count, "5").by_case().live(),
        needed("ai_rate", Rate, "40Mbps-L2").by_case().live(),
        needed("hai_rate", Rate, "200Mbps-L2").by_case().live(),
        needed("min_rate", Rate, "100Mbps-L2").by_case().live(),
        needed("clamp", Switch, "true").by_case().live().tried(&["true", "false"]),
        needed("limiting", Word, "packet").by_case().live().tried(&["packet", "burst"]),
        needed("burst", Size, "16KiB").by_case().live(),
        optional("rate_step", Rate).by_case().live().tried(&["7Gbps-L2"]),
        optional("pacer_step", Time).by_case().live().tried(&["1us"]),
        optional("alpha_free", Switch).by_case().live().tried(&["true"]),
        optional("by_period", Switch).by_case().live().tried(&["true"]),
    ];
}

impl Rc {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        needed("ack_every", Count, "1").by_case().live().tried(&["2", "8"]),
        needed("ack_latency", Range, "1us").by_case().live().varies(),
        optional("ack_held", Range).by_case().live().varies().tried(&["1us"]),
        needed("nak_latency", Range, "1us").by_case().live().varies(),
        needed("resend_latency", Range, "2us").by_case().live().varies(),
        optional("recovery", Word).by_case().live().tried(&["selective-repeat", "never"]),
        optional("resend_extra", Count).by_case().live().tried(&["16"]),
        needed("timeout", Count, "0").by_case().live().tried(&["x2", "x0.5"]),
        optional("timeout_late", Range).by_case().live().varies().tried(&["+1us", "never"]),
        optional("timeout_late_share", Chance).tried(&["5%"]),
        optional("timer_runs_on", Switch).tried(&["true"]),
        optional("adaptive", List).by_case().live(),
        needed("retries", Count, "7").by_case().live().tried(&["1"]),
        optional("rnr_retries", Count).by_case().live().tried(&["1", "6"]),
        optional("rnr_late", Range).by_case().live().varies().tried(&["+1us"]),
        optional("mig_req", Switch).tried(&["false"]),
        optional("own_source_port", Switch).tried(&["false"]),
        optional("fmr_fence", Switch).by_case().live().tried(&["true", "false"]),
        optional("receives", Count).by_case().tried(&["x0.5", "x2"]),
        optional("receive_again", Range).by_case().varies().tried(&["x0.5", "x2"]),
        optional("rnr_timer", Count).by_case().tried(&["x2"]),
    ];
}

impl Receive {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        needed("cache", Count, "0").by_case().live().tried(&["1", "3"]),
        needed("miss", Time, "0s").by_case().live(),
    ];
}

impl Nic {
    /// Its own fields beside its parts, a row each.
    pub const FIELDS: &[Field] = &[needed("generation", Name, "gen1").live()];

    /// Every value that lies outside its range: the path below its own, what stands there, what would be accepted.
    pub fn out_of_range(&self) -> Vec<(&'static str, String, String)> {
        let mut all = Vec::new();
        let mut wrong = |is: bool, path, found: String, want: &str| {
            if is {
                all.push((path, found, want.to_owned()));
            }
        };
        let Nic { generation, np, rp, rc, receive, pfc, host, ets, estats } = self;
        let name = format!("the generation `{generation}`");
        wrong(!crate::is_name(generation), "generation", name, "a name such as gen1");
        wrong(np.dscp > 63, "np.dscp", format!("DSCP {}", np.dscp), "0 to 63");
        let pcp = np.pcp.unwrap_or(0);
        wrong(pcp > 7, "np.pcp", format!("priority {pcp}"), "0 to 7");
        let g = format!("g = 1/{}", rp.inverse_g);
        wrong(!(2..=65_536).contains(&rp.inverse_g), "rp.inverse_g", g, "2 to 65536");
        let gd = rp.gd.unwrap_or(11);
        wrong(!(10..=11).contains(&gd), "rp.gd", gd.to_string(), "10 (all of alpha) or 11 (half)");
        let none = rp.first_cnp_rate.is_some_and(|rate| rate.bps == 0);
        wrong(none, "rp.first_cnp_rate", "no rate".to_owned(), "more than 0bps-L2");
        let none = rp.rate_step.is_some_and(|step| step.bps == 0);
        wrong(none, "rp.rate_step", "no step".to_owned(), "more than 0bps-L2, or never");
        let zero = |dur: Dur| dur == Dur::ZERO;
        let none = rp.pacer_step.is_some_and(zero);
        wrong(none, "rp.pacer_step", "no step".to_owned(), "more than 0s, or never");
        wrong(zero(rp.alpha_timer), "rp.alpha_timer", "no time".to_owned(), "more than 0s");
        wrong(zero(rp.timer), "rp.timer", "no time".to_owned(), "more than 0s");
        let threshold = format!("a threshold of {}", rp.threshold);
        wrong(rp.threshold == 0, "rp.threshold", threshold, "at least 1");
        wrong(rp.min_rate.bps == 0, "rp.min_rate", "no rate".to_owned(), "more than 0bps-L2");
        let bursts = rp.limiting == Limiting::Burst;
        wrong(bursts && rp.burst == Bytes(0), "rp.burst", "0B".to_owned(), "at least a frame");
        wrong(rc.ack_every == 0, "rc.ack_every", "0".to_owned(), "at least 1");
        let retries = format!("{} retries", rc.retries);
        wrong(rc.retries > 7, "rc.retries", retries, "0 to 7: the retry count has 3 bits");
        wrong(
            rc.timeout_late_share.is_some() && rc.timeout_late.is_none(),
            "rc.timeout_late_share",
            "a share beside no timeout_late".to_owned(),
            "timeout_late, too, such as 0s: where it is unset a timer may take up to 4 T",
        );
        let more = rc.rnr_retries.unwrap_or(7);
        let found = format!("{more} RNR retries");
        wrong(
            more > 7,
            "rc.rnr_retries",
            found,
            "0 to 6, or 7 for ever: the RNR retry count has 3 bits",
        );
        let parts = [rc.receives.is_some(), rc.receive_again.is_some(), rc.rnr_timer.is_some()];
        wrong(
            parts.contains(&true) && parts.contains(&false),
            "rc.receives",
            "a part of how receives are posted".to_owned(),
            "all of receives, receive_again and rnr_timer, or none of them",
        );
        let none = rc.receives == Some(0);
        wrong(none, "rc.receives", "no receive".to_owned(), "at least 1");
        let code = rc.rnr_timer.unwrap_or(0);
        wrong(code > 31, "rc.rnr_timer", format!("the code {code}"), "0 to 31: it has 5 bits");
        let free = receive.cache == 0 && receive.miss > Dur::ZERO;
        let found = format!("a miss that takes {} where there is none", receive.miss);
        wrong(free, "receive.miss", found, "0s with a cache of 0");
        let none = pfc.priorities.iter().find(|class| **class > 7);
        let found = none.map_or_else(String::new, |class| format!("priority {class}"));
        wrong(none.is_some(), "pfc.priorities", found, "priorities from 0 to 7");
        all.extend(pfc.sending_out_of_range());
        all.extend(host.out_of_range());
        all.extend(ets.out_of_range());
        all.extend(estats.out_of_range());
        all
    }
}
