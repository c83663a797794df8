//! Which knob of a server's NIC a field of the configuration is. The knobs are mlx5's, by the names that [`set`](fn@super::set) takes.
//!
//! Left out on purpose: what has no knob there (`nic.np.enable`, whose files are one for each priority), and what another driver's knob would say
//! in units of its own.

use core::iter;
use rig_lab::{Declared, Ets, Nic, Nics, Selection};
use rig_units::{Dur, L2Rate};

/// Every field of a NIC that is a knob.
const FIELDS: [&str; 15] = [
    "pfc.priorities",
    "ets.priorities",
    "ets.classes",
    "ets.limits",
    "np.interval",
    "np.dscp",
    "np.pcp",
    "rp.cut_window",
    "rp.timer",
    "rp.byte_counter",
    "rp.threshold",
    "rp.ai_rate",
    "rp.hai_rate",
    "rp.min_rate",
    "rp.clamp",
];

/// What the knobs of the NIC behind port `port` say that is as `declared`, as far as they are of a part that is on.
pub fn knobs_of(declared: &Declared, port: u16) -> Vec<String> {
    let nic = declared.nics().and_then(|nics| nics.behind(port));
    let is_on = |path: &&&str| match path.split('.').next() {
        Some("np") => nic.is_some_and(|nic| nic.np.enable),
        Some("rp") => nic.is_some_and(|nic| nic.rp.enable),
        _ => true,
    };
    let of = Nics::port_name(port);
    let knob = |path: &&str| knob_of(declared, &format!("{of}.{path}")).ok();
    each_once(FIELDS.iter().filter(is_on).filter_map(knob))
}

/// The knobs that make a NIC what `declared` says at these paths, each once, whoever of them it is.
///
/// # Errors
/// As [`knob_of`], of the first that has none.
pub fn knobs_at(declared: &Declared, paths: &[&str]) -> Result<Vec<String>, String> {
    let all: Vec<String> =
        paths.iter().map(|path| knob_of(declared, path)).collect::<Result<_, _>>()?;
    Ok(each_once(all))
}

fn each_once(all: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut each = Vec::new();
    for knob in all {
        if !each.contains(&knob) {
            each.push(knob);
        }
    }
    each
}

/// The knob that makes a NIC what `declared` says at `path`, as `NAME=VALUE`.
///
/// # Errors
/// There is none, or it does not take that value: in words.
pub fn knob_of(declared: &Declared, path: &str) -> Result<String, String> {
    let none = || format!("{path}: no knob of a server's NIC is known for it");
    let (of, field) = path.split_once('.').ok_or_else(none)?;
    let mut nics = declared.nics().into_iter().flat_map(Nics::all);
    let (_, nic) = nics.find(|(key, _)| *key == of).ok_or_else(none)?;
    let Nic { np, rp, pfc, ets, .. } = nic;
    let (name, value) = match field {
        "pfc.priorities" => {
            let classes: Vec<String> = pfc.priorities.iter().map(ToString::to_string).collect();
            let none = || "none".to_owned();
            ("pfc", if classes.is_empty() { none() } else { classes.join(",") })
        }
        "ets.priorities" | "ets.classes" => ("ets", shares(path, ets)?),
        "ets.limits" => ("maxrate", limits(path, ets)?),
        "np.interval" => ("min_time_between_cnps", us(path, np.interval)?),
        "np.dscp" => ("cnp_dscp", np.dscp.to_string()),
        "np.pcp" => ("cnp_802p_prio", np.pcp.ok_or_else(none)?.to_string()),
        "rp.cut_window" => ("rate_reduce_monitor_period", us(path, rp.cut_window)?),
        "rp.timer" => ("rpg_time_reset", us(path, rp.timer)?),
        "rp.byte_counter" => ("rpg_byte_reset", rp.byte_counter.0.to_string()),
        "rp.threshold" => ("rpg_threshold", rp.threshold.to_string()),
        "rp.ai_rate" => ("rpg_ai_rate", mbps(path, rp.ai_rate)?),
        "rp.hai_rate" => ("rpg_hai_rate", mbps(path, rp.hai_rate)?),
        "rp.min_rate" => ("rpg_min_rate", mbps(path, rp.min_rate)?),
        "rp.clamp" => ("clamp_tgt_rate", u8::from(rp.clamp).to_string()),
        _ => return Err(none()),
    };
    Ok(format!("{name}={value}"))
}

/// The class of each priority, and how each class is selected.
fn shares(path: &str, ets: &Ets) -> Result<String, String> {
    let (Some(of), Some(classes)) = (&ets.priorities, &ets.classes) else {
        return Err(format!("{path}: nothing is declared of how classes share"));
    };
    let of: String = of.iter().map(ToString::to_string).collect();
    let each = classes.iter().map(|class| match class {
        Selection::Strict => "strict".to_owned(),
        Selection::Percent(percent) => percent.to_string(),
    });
    // All eight are set: those that no priority is in are strict, and have nothing to send.
    let each = each.chain(iter::repeat_with(|| "strict".to_owned()));
    Ok(format!("{of}:{}", each.take(8).collect::<Vec<_>>().join(",")))
}

/// Limits of classes, in kb/s.
fn limits(path: &str, ets: &Ets) -> Result<String, String> {
    const KBPS: u64 = 1_000;
    if ets.classes.is_none() {
        return Err(format!("{path}: nothing is declared of how classes share"));
    }
    let mut each = Vec::new();
    for (class, rate) in ets.limits.iter().flatten() {
        if !rate.bps.is_multiple_of(KBPS) {
            return Err(format!("{path}={rate}: its knob counts whole kb/s"));
        }
        each.push(format!("{class}:{}", rate.bps / KBPS));
    }
    Ok(if each.is_empty() { "none".to_owned() } else { each.join(",") })
}

/// Whole microseconds.
fn us(path: &str, dur: Dur) -> Result<String, String> {
    let whole = dur.0.is_multiple_of(Dur::us(1).0);
    let of = || format!("{path}={dur}: its knob counts whole microseconds");
    whole.then(|| (dur / Dur::us(1)).to_string()).ok_or_else(of)
}

/// Whole megabits a second.
fn mbps(path: &str, rate: L2Rate) -> Result<String, String> {
    const MBPS: u64 = 1_000_000;
    let whole = rate.bps.is_multiple_of(MBPS);
    let of = || format!("{path}={rate}: its knob counts whole Mb/s");
    whole.then(|| (rate.bps / MBPS).to_string()).ok_or_else(of)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::{Kind, Profile, Setting};

    #[test]
    fn a_field_is_a_knob_in_its_units_or_it_is_told_why_not() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let has_peer = |dut: &&Profile| dut.declared.nics().is_some_and(|nics| nics.peer.is_some());
        let pair = lab.duts.iter().find(has_peer).expect("a pair of NICs").declared.clone();
        let nic = lab.duts.into_iter().find(|dut| dut.kind == Kind::Nic).expect("a NIC").declared;
        let told = |path: &str, value: serde_json::Value| {
            let setting = Setting { path: path.to_owned(), value };
            knob_of(&nic.with(&setting).expect("it fits"), path)
        };
        let is = |text: &str| Ok(text.to_owned());
        assert_eq!(told("nic.pfc.priorities", [3, 4].as_slice().into()), is("pfc=3,4"));
        assert_eq!(told("nic.pfc.priorities", serde_json::json!([])), is("pfc=none"));
        assert_eq!(told("nic.np.interval", "50us".into()), is("min_time_between_cnps=50"));
        let ets = [
            ("nic.ets.priorities", serde_json::json!([1, 0, 0, 0, 1, 1, 2, 0])),
            ("nic.ets.classes", serde_json::json!([{"percent": 30}, {"percent": 70}, "strict"])),
            ("nic.ets.limits", serde_json::json!({"2": "2Gbps-L2"})),
        ];
        let shared = ets.iter().fold(nic.clone(), |nic, (path, value)| {
            let setting = Setting { path: (*path).to_owned(), value: value.clone() };
            nic.with(&setting).expect("it fits")
        });
        let all = "ets=10001120:30,70,strict,strict,strict,strict,strict,strict";
        let knobs = ets.map(|(path, _)| knob_of(&shared, path));
        assert_eq!(knobs, [is(all), is(all), is("maxrate=2:2000000")]);
        assert_eq!(knobs_of(&shared, 0).iter().filter(|knob| *knob == all).count(), 1);
        assert!(knob_of(&nic, "nic.ets.classes").is_err());
        assert!(
            knobs_of(&nic, 0)
                .iter()
                .all(|knob| !knob.starts_with("ets") && !knob.starts_with("max"))
        );
        assert_eq!(told("nic.np.dscp", 46.into()), is("cnp_dscp=46"));
        assert_eq!(told("nic.rp.timer", "300us".into()), is("rpg_time_reset=300"));
        assert_eq!(told("nic.rp.ai_rate", "5Mbps-L2".into()), is("rpg_ai_rate=5"));
        assert_eq!(told("nic.rp.clamp", true.into()), is("clamp_tgt_rate=1"));
        let odd = told("nic.np.interval", "1500ns".into());
        assert!(odd.is_err_and(|why| why.ends_with("its knob counts whole microseconds")));
        // Each of the list is one, and of what is off none is asked for.
        let off = |path: &str| {
            let setting = Setting { path: path.to_owned(), value: false.into() };
            knobs_of(&nic.with(&setting).expect("it fits"), 0)
        };
        let has = |all: &[String], name: &str| all.iter().any(|one| one.starts_with(name));
        for (path, name) in [("nic.np.enable", "cnp_dscp"), ("nic.rp.enable", "rpg_ai_rate")] {
            let all = off(path);
            assert!(has(&all, "pfc=") && !has(&all, name), "{path}: {all:?}");
        }
        // Of two NICs each has its own.
        let path = "peer.np.interval".to_owned();
        let rare = pair.with(&Setting { path, value: "7us".into() }).expect("there is a peer");
        assert_eq!(knob_of(&rare, "peer.np.interval"), is("min_time_between_cnps=7"));
        let has_rare = |port| has(&knobs_of(&rare, port), "min_time_between_cnps=7");
        assert_eq!([0, 1].map(has_rare), [false, true]);
        let none = told("nic.np.enable", false.into());
        assert!(none.is_err_and(|why| why.starts_with("nic.np.enable: no knob of a server's NIC")));
    }
}
