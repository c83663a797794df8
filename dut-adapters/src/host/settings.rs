//! What of a NIC can be set: what DCB netlink has (PFC, ETS, limits, buffers, DSCPs), what it trusts, the traffic class of RoCE, and the knobs of
//! congestion control: of mlx5 by the files that MLNX_OFED and Linux have for them, of irdma by Intel's configfs, of bnxt_re by Linux's debugfs. Each is
//! read before and after, by the same reader.
//!
//! Left out on purpose: irdma's parameters of DCQCN, which its module takes as it is loaded; Broadcom's own configfs, which wants another word in another file
//! before anything holds; `tx_queue` of bnxt_re, which Linux refuses to read.

use super::dcb_value::{DcbKnob, NONE};
use super::exchange;
use super::nic::Nic;
use super::port::At;
use super::said::{Entry, Said};
use crate::dcb::Owner;
use serde_json::Value;

/// What may be said of one setting.
#[derive(Debug, Clone, Copy)]
pub(super) enum Accepted {
    /// What that part of DCB takes.
    Dcb(DcbKnob),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A whole number up to this one.
    Number(u64),
}

/// A setting.
#[derive(Debug)]
pub(super) struct Knob {
    pub(super) name: &'static str,
    pub(super) kind: Accepted,
    /// Where it may be: the first that is there. `{net}` is the interface, `{pci}` its address, `{ib}` the RDMA device,
    /// `{port}` its port.
    at: &'static [&'static str],
}

const fn rp(name: &'static str, most: u64, at: &'static [&'static str]) -> Knob {
    Knob { name, kind: Accepted::Number(most), at }
}

/// Both doors to the same registers: OFED's in sysfs, and Linux's in debugfs (drivers/net/ethernet/mellanox/mlx5, `cong.c`).
macro_rules! doors {
    ($point:literal, $ofed:literal, $linux:literal) => {
        &[
            concat!("/sys/class/net/{net}/ecn/", $point, "/", $ofed),
            concat!("/sys/kernel/debug/mlx5/{pci}/cc_params/", $linux),
        ]
    };
}

/// Congestion control of bnxt_re, which Linux has for each of its functions since 6.15 (drivers/infiniband/hw/bnxt_re/debugfs.c). It reads them
/// from the firmware, and says that a value was taken where the firmware refuses it: what it reads back as tells.
const fn bnxt(name: &'static str, most: u64, at: &'static [&'static str]) -> Knob {
    Knob { name, kind: Accepted::Number(most), at }
}

macro_rules! cc_config {
    ($name:literal) => {
        &[concat!("/sys/kernel/debug/bnxt_re/{pci}/cc_config/", $name)]
    };
}

/// Which congestion control new queue pairs of irdma have. Intel's driver has the file once somebody has made the folder of the
/// device (`mkdir`), which the rig does not: while there is one, the driver cannot be unloaded.
const fn irdma(name: &'static str, at: &'static [&'static str]) -> Knob {
    Knob { name, kind: Accepted::Number(1), at }
}

const fn dcb(name: &'static str, part: DcbKnob, at: &'static [&'static str]) -> Knob {
    Knob { name, kind: Accepted::Dcb(part), at }
}

/// All that are known: of mlx5 by the names that NVIDIA's tools have for them, of others by those of their files.
pub(super) static KNOBS: [Knob; 40] = [
    dcb("pfc", DcbKnob::Pfc, &["dcb pfc {net}"]),
    dcb("ets", DcbKnob::Ets, &["dcb ets {net}"]),
    dcb("maxrate", DcbKnob::MaxRate, &["dcb maxrate {net}"]),
    dcb("buffer", DcbKnob::Buffer, &["dcb buffer {net}"]),
    dcb("dscp_prio", DcbKnob::DscpPrio, &["dcb app {net}"]),
    Knob {
        name: "trust",
        kind: Accepted::Word(&["dscp", "pcp"]),
        at: &["/sys/class/net/{net}/qos/trust"],
    },
    Knob {
        name: "traffic_class",
        kind: Accepted::Number(255),
        at: &["/sys/class/infiniband/{ib}/tc/{port}/traffic_class"],
    },
    rp(
        "min_time_between_cnps",
        4_095,
        doors!("roce_np", "min_time_between_cnps", "np_min_time_between_cnps"),
    ),
    rp("cnp_dscp", 63, doors!("roce_np", "cnp_dscp", "np_cnp_dscp")),
    rp("cnp_802p_prio", 7, doors!("roce_np", "cnp_802p_prio", "np_cnp_prio")),
    rp("clamp_tgt_rate", 1, doors!("roce_rp", "clamp_tgt_rate", "rp_clamp_tgt_rate")),
    rp(
        "clamp_tgt_rate_after_time_inc",
        1,
        doors!("roce_rp", "clamp_tgt_rate_after_time_inc", "rp_clamp_tgt_rate_ati"),
    ),
    rp("rpg_time_reset", 131_071, doors!("roce_rp", "rpg_time_reset", "rp_time_reset")),
    rp("rpg_byte_reset", 32_767, doors!("roce_rp", "rpg_byte_reset", "rp_byte_reset")),
    rp("rpg_threshold", 31, doors!("roce_rp", "rpg_threshold", "rp_threshold")),
    rp("rpg_ai_rate", 1_000_000, doors!("roce_rp", "rpg_ai_rate", "rp_ai_rate")),
    rp("rpg_hai_rate", 1_000_000, doors!("roce_rp", "rpg_hai_rate", "rp_hai_rate")),
    rp("rpg_max_rate", 1_000_000, doors!("roce_rp", "rpg_max_rate", "rp_max_rate")),
    rp("rpg_gd", 15, doors!("roce_rp", "rpg_gd", "rp_gd")),
    rp("rpg_min_dec_fac", 100, doors!("roce_rp", "rpg_min_dec_fac", "rp_min_dec_fac")),
    rp("rpg_min_rate", 1_000_000, doors!("roce_rp", "rpg_min_rate", "rp_min_rate")),
    rp("dce_tcp_g", 1_023, doors!("roce_rp", "dce_tcp_g", "rp_dce_tcp_g")),
    rp(
        "rate_reduce_monitor_period",
        32_767,
        doors!("roce_rp", "rate_reduce_monitor_period", "rp_rate_reduce_monitor_period"),
    ),
    rp(
        "initial_alpha_value",
        1_023,
        doors!("roce_rp", "initial_alpha_value", "rp_initial_alpha_value"),
    ),
    irdma("roce_dcqcn_enable", &["/sys/kernel/config/irdma/{ib}/roce_dcqcn_enable"]),
    irdma("roce_dctcp_enable", &["/sys/kernel/config/irdma/{ib}/roce_dctcp_enable"]),
    irdma("roce_timely_enable", &["/sys/kernel/config/irdma/{ib}/roce_timely_enable"]),
    bnxt("enable_cc", 1, cc_config!("enable_cc")),
    bnxt("run_avg_weight_g", 255, cc_config!("run_avg_weight_g")),
    bnxt("num_phase_per_state", 255, cc_config!("num_phase_per_state")),
    bnxt("init_cr", 65_535, cc_config!("init_cr")),
    bnxt("init_tr", 65_535, cc_config!("init_tr")),
    bnxt("tos_ecn", 3, cc_config!("tos_ecn")),
    bnxt("tos_dscp", 63, cc_config!("tos_dscp")),
    bnxt("alt_vlan_pcp", 7, cc_config!("alt_vlan_pcp")),
    bnxt("alt_vlan_dscp", 63, cc_config!("alt_vlan_dscp")),
    bnxt("rtt", 65_535, cc_config!("rtt")),
    bnxt("cc_mode", 255, cc_config!("cc_mode")),
    bnxt("tcp_cp", 65_535, cc_config!("tcp_cp")),
    bnxt("inactivity_cp", 65_535, cc_config!("inactivity_cp")),
];

/// Where a setting of one NIC is: a file, or a part of DCB of an interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place(String);

/// A setting with what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Set {
    /// What `rigctl dut set` takes before the `=`.
    pub name: &'static str,
    /// Where it is: a file, or `dcb`, what of it, and an interface.
    pub place: String,
    /// What it is.
    pub value: String,
}

/// What begins a place that DCB netlink has: behind it stand the word of the part and the interface, as `dcb` is called.
const DCB: &str = "dcb ";
/// How mlx5 writes a traffic class that was set.
const TRAFFIC_CLASS: &str = "Global tclass=";

impl Place {
    /// One that was written down.
    ///
    /// # Errors
    /// It is none of these.
    pub(super) fn read(text: &str) -> Result<Place, String> {
        let fits = |sign: char| sign.is_ascii_alphanumeric() || "/_.:-".contains(sign);
        let part = text.strip_prefix(DCB).and_then(|rest| rest.split_once(' '));
        let (is_file, name) = match part {
            Some((word, net)) if DcbKnob::of(word).is_some() => (false, net),
            _ => (true, text),
        };
        let is_safe = name.chars().all(fits) && !name.contains("..") && !name.starts_with('-');
        if is_safe
            && !name.is_empty()
            && is_file == name.starts_with("/sys/")
            && (is_file || !name.contains('/'))
        {
            return Ok(Place(text.to_owned()));
        }
        let begins: String = text.chars().take(80).collect();
        Err(format!(
            "`{}` is no place of a setting: want a file in /sys, or such as `dcb pfc` and an interface",
            begins.escape_debug()
        ))
    }

    pub(super) fn text(&self) -> &str {
        &self.0
    }

    /// The part of DCB that it is, and of which interface; `None` where it is a file.
    pub(super) fn dcb(&self) -> Option<(DcbKnob, &str)> {
        let (word, net) = self.0.strip_prefix(DCB)?.split_once(' ')?;
        DcbKnob::of(word).map(|part| (part, net))
    }

    /// What was read of the file, as it is written.
    ///
    /// # Errors
    /// It is not set.
    pub(super) fn value(&self, read: &str) -> Result<String, String> {
        let line = read.lines().next().unwrap_or_default().trim();
        let value = line.strip_prefix(TRAFFIC_CLASS).unwrap_or(line);
        if value.is_empty() {
            return Err(format!("{}: it is not set, and could not be put back", self.0));
        }
        Ok(value.to_owned())
    }

    /// What a host has said of it; `Ok(None)` where it has said nothing.
    ///
    /// # Errors
    /// Why that cannot be read.
    fn said(&self, said: &Said) -> Result<Option<String>, String> {
        let Some((part, net)) = self.dcb() else {
            return match said.entry(&self.0) {
                Some(Entry::Text(text)) => self.value(&text).map(Some),
                Some(Entry::Unread(why)) => Err(format!("{} ({why})", self.0)),
                Some(Entry::Link(_)) | None => Ok(None),
            };
        };
        let of = |why: String| format!("{} ({why})", self.0);
        match said.entry(&answer_of(net)) {
            Some(Entry::Text(answer)) => {
                let dcb = exchange::heard(&answer).map_err(of)?;
                part.text(&dcb).map(Some).ok_or_else(|| of(part.lacks()))
            }
            Some(Entry::Unread(why)) => Err(of(why)),
            Some(Entry::Link(_)) | None if part == DcbKnob::Pfc => {
                // What somebody has brought along.
                let printed = said.entry_text(&format!("/dcb/{net}/pfc"));
                printed.map(|printed| self.printed(&printed)).transpose()
            }
            Some(Entry::Link(_)) | None => Ok(None),
        }
    }

    /// Priorities with PFC, as `dcb -j pfc show` has printed them.
    fn printed(&self, printed: &str) -> Result<String, String> {
        let odd = || {
            let begins: String = printed.trim().chars().take(60).collect();
            format!(
                "{}: `{begins}`\n   = want: what `dcb -j pfc show` prints, with eight of `prio_pfc`",
                self.0
            )
        };
        let said: Value = serde_json::from_str(printed).map_err(|_| odd())?;
        // Some releases put the interfaces into a list.
        let of = said.get(0).unwrap_or(&said);
        let on = of["prio_pfc"].as_array().filter(|on| on.len() == 8).ok_or_else(odd)?;
        let classes = (0..8).filter(|&class| on[class].as_bool() == Some(true));
        let classes: Vec<String> = classes.map(|class: usize| class.to_string()).collect();
        Ok(if classes.is_empty() { NONE.to_owned() } else { classes.join(",") })
    }
}

/// Under what a host says what DCB of an interface is set to: the kernel's answer, in hex.
pub(super) fn answer_of(net: &str) -> String {
    format!("/dcb/{net}/ieee")
}

impl Knob {
    /// A value as it would be read back.
    ///
    /// # Errors
    /// What would be taken.
    pub(super) fn taken(&self, value: &str) -> Result<String, String> {
        let want = |want: String| Err(format!("`{}={value}`\n   = want: {want}", self.name));
        match self.kind {
            Accepted::Dcb(part) => part.taken(value).or_else(want),
            Accepted::Word(words) if words.contains(&value) => Ok(value.to_owned()),
            Accepted::Word(words) => want(words.join(" or ")),
            Accepted::Number(most) => match value.parse::<u64>() {
                Ok(number) if number <= most => Ok(number.to_string()),
                _ => want(format!("a whole number, 0 to {most}")),
            },
        }
    }

    /// Where it is of that port, and what was said of it.
    ///
    /// # Errors
    /// Why it cannot be read there.
    pub(super) fn found(&self, said: &Said, port: &At) -> Result<(Place, String), String> {
        let device = &port.device;
        let pci = port.net().and_then(|net| said.leads(&format!("/sys/class/net/{net}/device")));
        let mut tried = Vec::new();
        for at in self.at {
            let at = at.replace("{ib}", device).replace("{port}", &port.port);
            let at = match (port.net(), &pci) {
                (Some(net), Some(pci)) => at.replace("{net}", net).replace("{pci}", pci),
                (Some(net), None) => at.replace("{net}", net),
                (None, _) => at,
            };
            if at.contains('{') {
                continue;
            }
            let place = Place::read(&at)?;
            match place.said(said) {
                Ok(Some(value)) => return Ok((place, value)),
                Ok(None) => tried.push(at),
                Err(why) => tried.push(why),
            }
        }
        if tried.is_empty() {
            let over = port.nets.join(" and ");
            return Err(format!(
                "{}: {device} lies over {over}: it is set at each of them, which is left to you",
                self.name
            ));
        }
        Err(format!("{}: {device} has none at {}", self.name, tried.join(", nor at ")))
    }
}

/// Who else sets what DCB netlink sets, in words; `None` where nobody does.
pub(super) fn other_hand(said: &Said, net: &str) -> Option<String> {
    if let Some(pid) = said.line("/lldpad") {
        return Some(format!(
            "lldpad runs there (process {pid}) and sets PFC by what the neighbour says"
        ));
    }
    if let Some(owner) = dcbx(said, net).filter(|owner| !owner.is_host()) {
        return Some(format!(
            "the firmware of {net} has DCBX (`{}`): `dcb dcbx set dev {net} host ieee` gives it to the host, where the driver can",
            owner.words()
        ));
    }
    let flags = said.entry_text(&format!("/ethtool/{net}/flags")).unwrap_or_default();
    let agent = flags.lines().find(|line| line.trim_start().starts_with("fw-lldp-agent"))?;
    agent.trim_end().ends_with(": on").then(|| {
        format!(
            "the firmware of {net} has LLDP: `ethtool --set-priv-flags {net} fw-lldp-agent off`"
        )
    })
}

/// Who has DCBX of an interface, where its driver says so.
pub(super) fn dcbx(said: &Said, net: &str) -> Option<Owner> {
    exchange::heard(&said.entry_text(&answer_of(net))?).ok()?.owner
}

/// All settings of a port that can be read there, in the order of their names here.
pub fn settings(said: &Said, nic: &Nic) -> Vec<Set> {
    let port = At::of(said, &nic.device, &nic.port);
    let of = |knob: &'static Knob| {
        let (place, value) = knob.found(said, &port).ok()?;
        Some(Set { name: knob.name, place: place.text().to_owned(), value })
    };
    KNOBS.iter().filter_map(of).collect()
}
