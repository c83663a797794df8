//! Settings by path: what is found, what is refused, and what a relative value comes to.

use super::*;
use crate::{Action, Color, Kind, Mutation, Profile, RuleFamily, Switch};
use rig_units::{Bytes, Dur, Ppm};
use serde_json::json;

fn profile() -> Profile {
    let lab = crate::read::lab(None).unwrap_or_else(|faults| panic!("{}", faults[0]));
    lab.duts.into_iter().next().expect("the default lab has devices")
}

fn set(path: &str, value: impl Into<Value>) -> Setting {
    Setting { path: path.to_owned(), value: value.into() }
}

fn switch(declared: Declared) -> Switch {
    match declared {
        Declared::Switch(switch) => *switch,
        other => panic!("no switch: {other:?}"),
    }
}

/// What the device does when it was configured to what it declares and overrides one value.
fn overridden(path: &str, value: &str) -> Result<Declared, String> {
    let mut profile = profile();
    let mutation = Mutation::Override { path: path.to_owned(), value: value.to_owned() };
    profile.mutate(&mutation).map_err(|bad| bad.to_string())?;
    profile.actual().applied(&profile.declared).map_err(|bad| bad.to_string())
}

#[test]
fn every_path_can_be_read_and_set_to_what_it_holds() {
    for (_, kind) in Kind::NAMES {
        let declared = crate::sample(kind).expect("rows that fit");
        let own = |path: &String| declared.kind().has(part(path));
        for path in fields::paths().into_iter().filter(own) {
            let value = declared.get(&path);
            assert!(value.is_some() || fields::is_optional(&path), "{path}");
            let value = value.unwrap_or_default();
            assert_eq!(declared.with(&set(&path, value)).as_ref(), Ok(&declared), "{path}");
        }
    }
}

#[test]
fn one_field_becomes_what_it_becomes_where_all_of_the_device_is_read_anew() {
    let whole = |declared: &Declared, path: &str, value: &Value| {
        let mut tree = serde_json::to_value(declared).expect("a tree");
        let (parent, key) = path.rsplit_once('.').map_or(("", path), |both| both);
        let parent = parent.split('.').filter(|key| !key.is_empty());
        let at = parent.fold(&mut tree, |at, key| &mut at[key]);
        at[key] = value.clone();
        serde_json::from_value::<Declared>(tree).ok()
    };
    for (_, kind) in Kind::NAMES {
        let declared = crate::sample(kind).expect("rows that fit");
        let own =
            |path: &String| declared.kind().has(part(path)) && declared.get(part(path)).is_some();
        for path in fields::paths().into_iter().filter(own) {
            let held = declared.get(&path).unwrap_or_default();
            let others = [
                json!(null),
                json!(0),
                json!(1),
                json!("0B"),
                json!("1us"),
                json!("0s"),
                json!("x"),
                json!(true),
                json!([3]),
            ];
            for value in others.into_iter().chain([held]) {
                let became = declared.with(&set(&path, value.clone())).ok();
                assert_eq!(became, whole(&declared, &path, &value), "{path} = {value}");
            }
        }
    }
}

#[test]
fn an_optional_value_keeps_its_path_while_it_is_unset() {
    let path = "pfcwd.restoration_time";
    let declared = profile().declared;
    let never = declared.with(&set(path, Value::Null)).unwrap();
    assert_eq!(never.get(path), None);
    assert_eq!(never.with(&set(path, "200ms")), Ok(declared));
}

#[test]
fn an_unknown_path_is_answered_with_the_nearest() {
    let bad = profile().declared.with(&set("pfcwd.detction_time", "1s")).unwrap_err();
    let said = "there is no setting `pfcwd.detction_time`; near it: pfcwd.detection_time, \
                pfcwd.restoration_time, pfcwd.action";
    assert_eq!(bad.to_string(), said);
    for path in ["", ".", "pfcwd", "pfcwd.", "pfcwd.action.x", "qos.dscp_to_tc.77"] {
        assert!(profile().declared.with(&set(path, 1)).is_err(), "{path}");
    }
}

#[test]
fn a_value_that_does_not_fit_says_what_would() {
    let bad = profile().declared.with(&set("pfcwd.action", "dorp")).unwrap_err();
    let said = "`pfcwd.action`: unknown variant `dorp`, expected one of `drop`, `forward`, `alert`";
    assert_eq!(bad.to_string(), said);
}

#[test]
fn a_relative_value_starts_from_what_was_configured() {
    let detection = |value: &str| {
        overridden("pfcwd.detection_time", value).map(|d| switch(d).pfcwd.detection_time)
    };
    assert_eq!(detection("x1.1"), Ok(Dur::ms(220)));
    assert_eq!(detection("x0.000001"), Ok(Dur::ns(200)));
    assert_eq!(detection("+10ms"), Ok(Dur::ms(210)));
    assert_eq!(detection("-10ms"), Ok(Dur::ms(190)));
    assert_eq!(detection("223ms"), Ok(Dur::ms(223)));
    let pool = overridden("buffer.pool", "x2").map(|declared| switch(declared).buffer.pool);
    assert_eq!(pool, Ok(Bytes(2 * 10_875_072)));
    let samples =
        overridden("pfcwd.min_samples", "+1").map(|declared| switch(declared).pfcwd.min_samples);
    assert_eq!(samples, Ok(2));
}

#[test]
fn a_relative_value_of_a_range_leaves_it_and_an_absolute_one_is_what_it_says() {
    let of = |range: Value, text: &str| {
        let declared = profile().declared.with(&set("pfc.response", range)).expect("a range");
        let running = declared.overridden("pfc.response", text).map_err(|bad| bad.to_string())?;
        Ok::<String, String>(switch(running).pfc.response.to_string())
    };
    let limit = || serde_json::json!({"max": "2us"});
    for (range, text, want) in [
        ("1us..2us".into(), "x1.1", "2.2us"),
        ("1us..2us".into(), "x0.9", "900ns"),
        ("1us..2us".into(), "+1ns", "2.001us"),
        ("1us..2us".into(), "-1ns", "999ns"),
        ("1us..2us".into(), "1500ns", "1.5us"),
        ("1us..2us".into(), "3us..4us", "3us..4us"),
        ("2us".into(), "x1.1", "2.2us"),
        (limit(), "x1.1", "2.2us"),
        (limit(), "x0.9", "0ms"),
    ] {
        assert_eq!(of(range, text).as_deref(), Ok(want), "{text}");
    }
    assert!(of(limit(), "-1ns").is_err());
}

#[test]
fn a_range_is_declared_in_words_and_met_by_what_it_means() {
    let limit = serde_json::json!({"max": "2us"});
    let declared = profile().declared.with(&set("pfc.response", limit.clone())).expect("a range");
    assert_eq!(declared.get("pfc.response"), Some(limit));
    assert_eq!(
        declared.range("pfc.response").map(|r| r.to_string()).as_deref(),
        Some("{max: 2us}")
    );
    assert_eq!(declared.satisfies(&set("pfc.response", "0us..2us")), Ok(true));
    assert_eq!(declared.satisfies(&set("pfc.response", "2us")), Ok(false));
    assert_eq!(declared.range("pfcwd.detection_time"), None);
}

#[test]
fn an_override_comes_after_the_cases_own_settings() {
    let mut profile = profile();
    let twice =
        Mutation::Override { path: "pfcwd.detection_time".to_owned(), value: "x2".to_owned() };
    profile.mutate(&twice).unwrap();
    let configured = profile.declared.with(&set("pfcwd.detection_time", "1s")).unwrap();
    let applied = profile.actual().applied(&configured).unwrap();
    assert_eq!(switch(applied).pfcwd.detection_time, Dur::s(2));
}

#[test]
fn words_booleans_and_never_are_taken_as_such() {
    assert_eq!(
        overridden("pfcwd.action", "alert").map(|d| switch(d).pfcwd.action),
        Ok(Action::Alert)
    );
    assert_eq!(
        overridden("pfcwd.big_red_switch", "true").map(|d| switch(d).pfcwd.big_red_switch),
        Ok(true)
    );
    let never =
        overridden("pfcwd.restoration_time", "never").map(|d| switch(d).pfcwd.restoration_time);
    assert_eq!(never, Ok(None));
}

#[test]
fn a_relative_value_that_makes_no_sense_is_refused() {
    for (path, value) in [
        ("pfcwd.action", "x2"),
        ("pfcwd.detection_time", "-1s"),
        ("pfcwd.detection_time", "+10KB"),
        ("pfcwd.detection_time", "x1.0000001"),
        ("pfcwd.detection_time", "x"),
        ("pfcwd.detection", "x2"),
        ("pfcwd.poll_interval", "never"),
    ] {
        assert!(overridden(path, value).is_err(), "{path}={value}");
    }
}

#[test]
fn what_a_device_is_cannot_be_configured() {
    let paths = fields::paths();
    let mine: Vec<&str> =
        paths.iter().map(String::as_str).filter(|path| configurable(path)).collect();
    assert!(mine.contains(&"pfcwd.detection_time") && mine.contains(&"buffer.dynamic_th"));
    assert!(mine.contains(&"wred.kmin") && mine.contains(&"wred.drop"));
    for path in [
        "pfcwd.charge",
        "pfcwd.jitter",
        "pfcwd.skipped_polls",
        "pfcwd.backlog",
        "pfcwd.drop_by",
        "pfcwd.config_path",
        "wred.marking",
        "wred.unit",
        "ports",
    ] {
        assert!(!configurable(path), "{path}");
    }
}

#[test]
fn every_family_has_its_own_name() {
    for (name, family) in RuleFamily::NAMES {
        assert_eq!(family.to_string(), name);
    }
}

#[test]
fn the_nearest_words_come_first_and_far_ones_not_at_all() {
    let words = ["detection", "restoration", "action"];
    assert_eq!(nearest("detecton", words.into_iter())[0], "detection");
    assert_eq!(nearest("zzzzzz", words.into_iter()), Vec::<String>::new());
}

#[test]
fn the_three_parameters_of_a_curve_are_scaled_and_a_chance_ends_at_certainty() {
    let wred =
        |path: &str, value: &str| overridden(path, value).map(|declared| switch(declared).wred);
    assert_eq!(wred("wred.kmin", "x1.05").map(|wred| wred.kmin), Ok(Bytes(109_200)));
    assert_eq!(wred("wred.kmax", "x0.95").map(|wred| wred.kmax), Ok(Bytes(296_400)));
    assert_eq!(wred("wred.pmax", "x1.1").map(|wred| wred.pmax), Ok(Ppm(55_000)));
    assert_eq!(wred("wred.pmax", "+2%").map(|wred| wred.pmax), Ok(Ppm(70_000)));
    assert_eq!(wred("wred.pmax", "x100").map(|wred| wred.pmax), Ok(Ppm::ONE));
    assert!(wred("wred.pmax", "+2ms").is_err());
}

#[test]
fn colours_go_by_code_point() {
    let declared = profile().declared;
    assert_eq!(switch(declared.clone()).qos.color(3), Color::Green);
    let colors = serde_json::json!({"3": "red", "4": "yellow"});
    let declared = declared.with(&set("qos.dscp_to_color", colors)).unwrap();
    let qos = switch(declared).qos;
    let colors = [3, 4, 5].map(|dscp| qos.color(dscp));
    assert_eq!(colors, [Color::Red, Color::Yellow, Color::Green]);
}

#[test]
fn what_a_device_has_not_is_no_setting_of_it_and_is_not_broken() {
    let [switch, nics] =
        [Kind::Switch, Kind::Nic].map(|kind| crate::sample(kind).expect("rows that fit"));
    let (of_nic, of_switch) = (set("nic.np.interval", "4us"), set("pfcwd.detection_time", "1s"));
    for (declared, setting) in [(&switch, &of_nic), (&nics, &of_switch)] {
        let bad = declared.with(setting).unwrap_err().to_string();
        assert!(bad.starts_with(&format!("there is no setting `{}`", setting.path)), "{bad}");
        assert!(!bad.contains(&format!(": {}", setting.path)), "{bad}");
        assert_eq!(declared.satisfies(setting), Ok(false));
        assert_eq!(declared.overridden(&setting.path, "x2").as_ref(), Ok(declared));
        assert!(declared.overridden(&setting.path, "soon").is_err());
    }
}

#[test]
fn a_nic_without_a_peer_has_no_setting_of_one() {
    let alone = crate::sample::least(Kind::Nic).expect("rows that fit");
    let setting = set("peer.np.interval", "4us");
    assert!(alone.with(&setting).is_err());
    assert_eq!(alone.satisfies(&setting), Ok(false));
    assert_eq!(alone.overridden("peer.np.interval", "x2").as_ref(), Ok(&alone));
    let pair = crate::sample(Kind::Nic).expect("rows that fit");
    assert_eq!(
        pair.with(&setting).map(|pair| pair.get("peer.np.interval")),
        Ok(Some("4us".into()))
    );
    assert_eq!(pair.with(&set("peer", Value::Null)), Ok(alone));
}
