//! Every row of every table: how it is typed, what is said of it, and the flag that it sets.

use super::*;
use std::collections::BTreeSet;

fn on(text: &str) -> DeviceFaults {
    DeviceFaults::of(&[text.parse().unwrap()])
}

#[test]
fn every_deviation_is_read_by_its_own_name_and_has_it_alone() {
    for name in Deviation::all() {
        assert_eq!(name.to_string().parse(), Ok(Switched { name, value: None }));
        let valued = format!("{name}:3").parse::<Switched>();
        assert_eq!(valued.is_ok(), name.value.is_some(), "{name}");
    }
    let names: BTreeSet<&str> = Deviation::all().map(Deviation::name).collect();
    assert_eq!(names.len(), Deviation::all().count());
}

#[test]
fn a_value_outside_the_range_of_its_row_is_refused() {
    for (text, accepted) in [
        ("malformed_pfc:5", true),
        ("malformed_pfc:6", false),
        ("egress_rate_low:0", false),
        ("drop_leaks:-1", false),
        ("drop_leaks:4294967295", true),
        ("drop_leaks:4294967296", false),
    ] {
        assert_eq!(text.parse::<Switched>().is_ok(), accepted, "{text}");
    }
}

#[test]
fn every_deviation_has_a_sentence_of_its_own() {
    for deviation in Deviation::all() {
        let about = deviation.about();
        assert!(about.ends_with('.') && about.len() > 20, "{deviation}: `{about}`");
    }
    let said: BTreeSet<String> = Deviation::all().map(Deviation::about).collect();
    assert_eq!(said.len(), Deviation::all().count());
    let about = |name| Deviation::named(name).unwrap().about();
    assert_eq!(
        about("drop_leaks"),
        "The drop action lets the first frames through (value: how many; default 1)."
    );
    assert_eq!(
        about("detection_ignores_class"),
        "Never detects a storm on one class (value: the class; default the highest guarded one)."
    );
}

#[test]
fn every_deviation_sets_a_flag_of_its_own() {
    let mut seen = vec![DeviceFaults::NONE];
    for deviation in Deviation::all() {
        let faults = on(deviation.name());
        assert!(!seen.contains(&faults), "{deviation}");
        seen.push(faults);
    }
}

#[test]
fn a_flag_has_the_value_that_was_given_or_the_rows_default() {
    assert_eq!(on("drop_leaks").pfcwd.drop_leaks, Some(1));
    assert_eq!(on("drop_leaks:3").pfcwd.drop_leaks, Some(3));
    assert_eq!(on("alert_acts").pfcwd.drop_leaks, None);
    assert_eq!(on("detection_ignores_class").pfcwd.detection_ignores_class, Some(None));
    assert_eq!(on("detection_ignores_class:2").pfcwd.detection_ignores_class, Some(Some(2)));
    for deviation in Deviation::all() {
        let Some(Value { accepted, default, .. }) = &deviation.value else { continue };
        if let Ok(default) = default.parse() {
            assert!(accepted.contains(&default), "{deviation}");
            assert_eq!(on(deviation.name()), on(&format!("{deviation}:{default}")));
        }
    }
}
