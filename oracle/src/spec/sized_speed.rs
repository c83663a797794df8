//! Which speed a switch's buffer manager sizes the headroom of a port for, where that may negotiate it.
//!
//! It does not wait for what comes of it: a port that negotiates has the headroom of the fastest speed that it advertises, and where
//! nobody says what it advertises, of the fastest that it supports. What its row says of `speed` counts where it does not negotiate.

use rig_lab::{SizedFrom, Switch};
use rig_units::PortSpeed;

/// Where it comes from, for reports.
pub const SOURCE: &str = "sonic-swss cfgmgr/buffermgrdyn.cpp (needRefreshPortDueToEffectiveSpeed), test_port_auto_neg of test_buffer.py";

/// That speed of port `index`, counted from 0; `None` past the last, and where nobody says what it may come to.
pub fn of_port(switch: &Switch, from: &SizedFrom, index: u16) -> Option<PortSpeed> {
    let configured = switch.port_speed(index)?;
    match from.autoneg_port {
        Some(port) if port == index + 1 => from.advertised.or(from.supported),
        _ => Some(configured),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::Setting;
    use serde_json::{Value, json};

    #[test]
    fn what_is_advertised_counts_before_what_is_supported_and_that_before_what_is_configured() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let device = lab.duts.iter().find(|dut| dut.name == "mellanox-dynamic").expect("there");
        let of = |settings: &[(&str, Value)], index| {
            let mut declared = device.declared.clone();
            for (path, value) in settings {
                let path = format!("dynamic_buffer.{path}");
                let setting = Setting { path, value: value.clone() };
                declared = declared.with(&setting).expect("it fits");
            }
            let switch = declared.switch().expect("a switch");
            let from = switch.dynamic_buffer.sized_from().expect("it sizes its buffers");
            of_port(switch, &from, index).map(|speed| speed.bps() / 1_000_000_000)
        };
        let third = ("autoneg_port", json!(3));
        let advertised = ("advertised", json!("25Gbps"));
        let supported = ("supported", json!("200Gbps"));
        let all = [third.clone(), advertised.clone(), supported.clone()];
        assert_eq!([of(&all, 1), of(&all, 2), of(&all, 3)], [Some(100), Some(25), Some(100)]);
        assert_eq!(of(&[third.clone(), supported.clone()], 2), Some(200));
        assert_eq!(of(&[third, ("supported", Value::Null)], 2), None);
        assert_eq!(of(&[("autoneg_port", Value::Null), advertised, supported], 2), Some(100));
        assert_eq!(of(&all, 8), None, "it has eight");
    }
}
