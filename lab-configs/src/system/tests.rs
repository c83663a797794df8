//! The way through a system, and what a setting or a mutation of it changes.

use super::*;
use crate::{Setting, read};

/// Four switches, 0 to 3, with the rig at 0 and at 3; `links` are pairs of devices.
fn system(links: &[(u16, u16)]) -> System {
    let profile = read::lab(None).expect("the bundled lab").duts.remove(0);
    let named = |name: &str| {
        let mut profile = profile.clone();
        name.clone_into(&mut profile.name);
        profile
    };
    let devices = ["a", "b", "c", "d"].map(named);
    let link = |(index, &(a, b)): (u16, &(u16, u16))| {
        let end = |device| DevicePort { device, port: index + 1 };
        SystemLink { ends: [end(a), end(b)], cable_cm: None }
    };
    let at = |device| DevicePort { device, port: 0 };
    System {
        devices: devices.to_vec(),
        links: (0..).zip(links).map(link).collect(),
        ports: vec![at(0), at(3)],
        alone: None,
    }
}

fn devices(way: &[Hop]) -> Vec<u16> {
    way.iter().map(|hop| hop.device).collect()
}

#[test]
fn a_way_goes_over_as_few_links_as_can_be() {
    let ring = system(&[(0, 1), (1, 2), (2, 3), (1, 3)]);
    let way = ring.way(0, 1).expect("a way");
    assert_eq!(devices(&way), [0, 1, 3]);
    let [first, second, last] = way[..] else { panic!("three hops") };
    assert_eq!((first.ingress, first.egress), (0, 1));
    assert_eq!((second.ingress, second.egress), (1, 4));
    assert_eq!((last.ingress, last.egress, last.link), (4, 0, None));
    assert_eq!(devices(&ring.way(1, 0).expect("a way back")), [3, 1, 0]);
}

#[test]
fn where_no_link_leads_there_is_no_way() {
    assert_eq!(system(&[(0, 1), (2, 3)]).way(0, 1), None);
    assert!(system(&[(0, 1)]).onward(0, 3).is_empty());
}

#[test]
fn two_ways_as_short_are_both_told() {
    let square = system(&[(0, 1), (0, 2), (1, 3), (2, 3)]);
    assert_eq!(square.onward(0, 3).len(), 2);
    assert_eq!(square.onward(0, 1).len(), 1);
}

fn delay(to: &str) -> Setting {
    Setting { path: "forwarding_delay".to_owned(), value: to.into() }
}

#[test]
fn a_system_is_configured_device_by_device_and_one_of_them_alone() {
    let system = system(&[(0, 1), (1, 2), (2, 3)]);
    let delays = |profile: &Profile| -> Vec<String> {
        let inner = &profile.system.as_ref().expect("a system").devices;
        inner
            .iter()
            .map(|device| device.declared.get("forwarding_delay").expect("a delay").to_string())
            .collect()
    };
    let alone = system.device(3, "s-d".to_owned()).expect("a device").configured(&[delay("5us")]);
    let alone = alone.expect("a setting");
    assert_eq!(alone.declared.get("forwarding_delay"), Some("5us".into()));
    assert!(!delays(&alone).contains(&"\"5us\"".to_owned()));
    let whole = system.whole("s".to_owned(), "s".to_owned()).expect("a whole");
    let whole = whole.configured(&[delay("5us")]).expect("a setting");
    assert_eq!(delays(&whole), ["\"5us\""; 4]);
}

#[test]
fn a_mutation_may_be_of_one_device() {
    let mut whole = system(&[(0, 1)]).whole("s".to_owned(), "s".to_owned()).expect("a whole");
    let mutation: Mutation = "forwarding_delay=x2".parse().expect("a mutation");
    assert_eq!(whole.mutate_device("b", &mutation), Ok(true));
    assert_eq!(whole.mutate_device("x", &mutation), Ok(false));
    let departs = |device: &Profile| {
        device.actual().applied(&device.declared).as_ref() != Ok(&device.declared)
    };
    let which: Vec<bool> = whole.devices().iter().map(departs).collect();
    assert_eq!(which, [false, true, false, false]);
}
