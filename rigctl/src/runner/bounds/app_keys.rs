//! Whether keys of an application's messages are those that are named and revoked, and what is said to who names another: one byte and one answer off.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, What};
use rig_testcases::{Roce, RoceKind};

/// Three requests, each with a key, a WRITE of two packets to what it stands for, and a word that revokes it, two at a time.
fn played() -> Ran {
    Ran::of(
        "gen2-to-gen2",
        "    dut: {nic: {generation: gen2, rc: {ack_every: 1, timeout: 0}}, peer: {generation: gen2, rc: {ack_every: 1, timeout: 0}}}
    between: {delay: 1us}
    flows:
      register: {nic: p1, to: p2, class: 3, verb: send-registered, message: 64B, mtu: 1024B}
      fill: {nic: p2, to: p1, class: 3, verb: write, message: 2KiB, mtu: 1024B}
      revoke: {nic: p2, to: p1, class: 3, verb: send-invalidate, message: 64B, mtu: 1024B}
    apps: {disk-read: {steps: [register, fill, revoke], rounds: 3, credits: 2}}
    steps: [{at: 0us, start: disk-read}]
    length: 100us
    trials: 1
    measure: [{app.keys: {flow: disk-read}}]
",
    )
}

/// What is made of it when something of the n-th frame of a kind of a flow (`register` is 0, `fill` 1, `revoke` 2) at a port is another.
fn changed(
    (flow, port, dir): (u16, u16, Dir),
    is: impl Fn(RoceKind) -> bool,
    nth: usize,
    to: impl Fn(&mut Roce),
) -> String {
    let said = played().changed(|seen: &mut Seen<'_>| {
        let all = seen.all(|one| match one.what {
            What::Roce(roce) => {
                (one.port, one.dir, roce.connection) == (port, dir, flow) && is(roce.kind)
            }
            _ => false,
        });
        if let What::Roce(roce) = &mut seen.observation.records[all[nth]].what {
            to(roce);
        }
    });
    let Word::Fail(got) = said.word("app.keys") else { panic!("{}", said.wrong()) };
    got
}

fn is_data(kind: RoceKind) -> bool {
    matches!(kind, RoceKind::Data { .. })
}

#[test]
fn keys_that_are_kept_to_pass() {
    let said = played().as_seen();
    assert_eq!((said.wrong().as_str(), said.of("app.keys").count()), ("", 3));
}

#[test]
fn another_key_than_that_of_the_round_is_told_of_whoever_says_it() {
    let got = changed((1, 1, Dir::Rx), is_data, 2, |roce| roce.key += 1);
    assert_eq!(got, "fill of round 2 names key 3, and register of round 2 told of key 2");
    let got = changed((2, 1, Dir::Rx), is_data, 2, |roce| roce.key = 2);
    assert_eq!(got, "revoke of round 3 names key 2, and register of round 3 told of key 3");
    let got = changed((0, 0, Dir::Rx), is_data, 1, |roce| roce.key = 1);
    assert!(got.contains("register of round 2 tells of key 1, by which register of round 1 had registered memory that was not revoked"), "{got}");
    let got = changed((0, 0, Dir::Rx), is_data, 0, |roce| roce.key = 0);
    assert!(got.contains("register of round 1 tells of no key"), "{got}");
}

#[test]
fn who_is_refused_what_is_registered_is_told_so() {
    let got = changed(
        (1, 0, Dir::Rx),
        |kind| kind == RoceKind::Ack,
        0,
        |roce| {
            roce.kind = RoceKind::Denied;
        },
    );
    assert_eq!(
        got,
        "fill of round 1 named key 1, which was registered and not revoked, and was refused: NAK, remote access error"
    );
}

#[test]
fn what_is_taken_with_a_key_of_which_nobody_was_told_is_told() {
    // As it comes to the NIC whose memory it is.
    let got = changed((1, 0, Dir::Tx), is_data, 0, |roce| roce.key = 77);
    assert_eq!(got, "fill of round 1 named key 77, of which nobody was told, and was taken");
}
