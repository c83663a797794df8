//! Labs are made, refused and gone again.

use super::*;
use crate::port::{Config, Fault, Port};

/// A namespace, or `None` with a word on stderr where the process may not make one.
pub(crate) fn namespace() -> Option<Namespace> {
    match Namespace::new() {
        Ok(namespace) => Some(namespace),
        Err(error)
            if error.is_permission()
                && std::env::var_os("RIG_REQUIRE_ALL").is_none_or(|all| all != "1") =>
        {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// A pair `v1` and `v2` in one namespace.
pub(crate) fn pair_in(within: &Namespace, mtu: u32) {
    pair(End { within, name: "v1" }, End { within, name: "v2" }, mtu).expect("a pair");
}

#[test]
fn a_name_is_taken_once() {
    let Some(own) = namespace() else { return };
    pair_in(&own, 1_500);
    let ends = ["v1", "v3"].map(|name| End { within: &own, name });
    let error = pair(ends[0], ends[1], 1_500).expect_err("taken");
    assert_eq!(error.to_string(), "cannot make the pair v1 and v3: EEXIST: File exists");
}

#[test]
fn what_is_not_there_cannot_be_changed() {
    let Some(own) = namespace() else { return };
    let faults = [own.set_up("v9", true), own.set_mtu("v9", 1_500), own.remove("v9")];
    let said = faults.map(|fault| fault.expect_err("nothing there").to_string());
    assert_eq!(
        said,
        ["set v9 up", "set the MTU of v9 to 1500", "remove v9"]
            .map(|tried| format!("cannot {tried}: ENODEV: No such device"))
    );
}

#[test]
fn a_namespace_is_apart_and_the_caller_stays_where_it_is() {
    let Some(own) = namespace() else { return };
    pair_in(&own, 1_500);
    let here = || std::fs::read_link("/proc/thread-self/ns/net").expect("a namespace");
    let before = here();
    assert_ne!(own.run(here).expect("inside"), before);
    assert_eq!(here(), before);
    let other = namespace().expect("another");
    let error =
        other.run(|| Port::open(&Config::new("v1"))).expect("inside").expect_err("not here");
    assert_eq!(error.fault, Fault::NoInterface);
}

#[test]
fn a_namespace_is_silent_but_for_what_the_rig_sends() {
    let Some(own) = namespace() else { return };
    pair_in(&own, 1_500);
    let file = "/proc/sys/net/ipv6/conf/v1/disable_ipv6";
    let off = own.run(|| std::fs::read_to_string(file)).expect("inside");
    // Where there is no file there is no IPv6 either.
    assert_eq!(off.unwrap_or_else(|_| "1\n".to_owned()), "1\n");
}
