//! A device that speaks MACsec, and what the rig's ends of its cables see of it.

use super::bench::{Bench, Seen, pause, probe};
use crate::control::{Keyring, Order};
use crate::protocol::{Answer, Ask};
use nix::sys::prctl;
use rig_lab::{Keys, Macsec, Secret, Setting};
use rig_testcases::wire::macsec::{Cable, End, Heard};
use rig_testcases::{Protection, Secured, Tamper};
use rig_units::Dur;
use serde_json::{Value, json};

fn set(path: &str, value: Value) -> Setting {
    Setting { path: format!("macsec.{path}"), value }
}

/// Keys that are in no lab.
fn keys() -> Keys {
    let secret = |byte: &str, len| Secret::from_hex(&byte.repeat(len)).expect("hexadecimal digits");
    Keys { saks: ["01", "02", "03", "04"].map(|sak| secret(sak, 32)), salt: secret("05", 12) }
}

/// A device that was booted with MACsec, and a cable of it.
fn secured(more: &[Setting]) -> (Bench, [Cable; 2]) {
    let mut bench = Bench::new();
    let mut settings = vec![set("enable", json!(true))];
    settings.extend_from_slice(more);
    let Answer::Booted { declared, .. } = bench.ask(Ask::Boot { seed: 1, settings }) else {
        panic!("it boots")
    };
    assert_eq!(bench.ask(Ask::Do(Order::Key { keys: Keyring(keys()) })), Answer::Done);
    let protection = Protection::of(&declared.switch().expect("a switch").macsec, Some(&keys()))
        .expect("it speaks MACsec");
    let cables = [0, 1].map(|port| Cable::of(&protection, port).expect("keys long enough"));
    (bench, cables)
}

/// How a frame is sealed in these tests.
fn sound(an: u8, pn: u64) -> Secured {
    Secured { an, pn, encrypted: true, sci: true, tamper: None }
}

/// What came out of the device, in clear.
fn opened(cable: &Cable, heard: &mut Heard, seen: &[Seen]) -> Vec<(Vec<u8>, Secured)> {
    let one = |seen: &Seen| {
        let opened = cable.open(End::Dut, heard, &seen.bytes).expect("it is protected");
        heard.saw(&opened.1);
        opened
    };
    seen.iter().map(one).collect()
}

#[test]
fn a_frame_goes_in_behind_one_tag_and_comes_out_behind_another() {
    let (mut bench, [at, to]) = secured(&[]);
    for pn in 1..=3 {
        bench.send(0, &at.seal(End::Rig, &sound(0, pn), &probe(0, 1, 7)));
        bench.run(Dur::ms(1));
    }
    let seen = bench.seen();
    assert!(seen.iter().all(|seen| seen.port == 1 && seen.bytes.len() == 250 + 32), "{seen:?}");
    let want = [1, 2, 3].map(|pn| (probe(0, 1, 7), sound(0, pn)));
    assert_eq!(opened(&to, &mut Heard::default(), &seen), want);
    assert_eq!(bench.health().doubt(Dur::ns(1)), None);
}

#[test]
fn what_is_wrong_with_a_frame_arrives_as_what_it_is_and_does_not_come_through() {
    for (tamper, counter) in [
        (Tamper::Forged, "IN_PKTS_NOT_VALID"),
        (Tamper::WrongKey, "IN_PKTS_NOT_VALID"),
        (Tamper::WrongSci, "IN_PKTS_NO_SCI"),
        (Tamper::Truncated, "IN_PKTS_BAD_TAG"),
    ] {
        let (mut bench, [at, _]) = secured(&[]);
        let corrupt = Secured { tamper: Some(tamper), ..sound(0, 1) };
        bench.send(0, &at.seal(End::Rig, &corrupt, &probe(0, 1, 7)));
        bench.run(Dur::ms(1));
        assert_eq!(bench.seen(), [], "{tamper:?}");
        let Answer::Counters { values } = bench.ask(Ask::Counters { names: Vec::new() }) else {
            panic!("no counters")
        };
        let found: Vec<_> =
            values.iter().filter(|(name, value)| name.contains("MACSEC") && **value > 0).collect();
        assert!(found.len() == 1 && found[0].0.ends_with(counter), "{tamper:?}: {found:?}");
        let health = bench.health();
        assert_eq!((health.foreign, health.malformed), (0, 0), "{tamper:?}");
    }
}

#[test]
fn a_pause_behind_a_tag_holds_its_class() {
    let (mut bench, [at, to]) = secured(&[set("pfc_encryption_mode", json!("strict_encrypt"))]);
    let data = |pn| at.seal(End::Rig, &sound(0, pn), &probe(0, 1, 7));
    // One in clear is ignored.
    bench.send(1, &pause(1, 1 << 3, 0xffff));
    bench.run(Dur::us(100));
    bench.send(0, &data(1));
    bench.run(Dur::ms(1));
    assert_eq!(bench.seen().len(), 1);
    bench.send(1, &to.seal(End::Rig, &sound(0, 1), &pause(1, 1 << 3, 0xffff)));
    bench.run(Dur::us(100));
    bench.send(0, &data(2));
    bench.run(Dur::ms(10));
    assert_eq!(bench.seen(), []);
    bench.run(Dur::ms(40));
    assert_eq!(bench.seen().len(), 1, "65535 quanta last 33.6 ms");
}

#[test]
fn another_association_begins_at_its_first_number_in_both_directions() {
    let (mut bench, [at, to]) = secured(&[]);
    let mut heard = Heard::default();
    let mut through = |bench: &mut Bench, how: Secured| {
        bench.send(0, &at.seal(End::Rig, &how, &probe(0, 1, 7)));
        bench.run(Dur::ms(1));
        let seen = bench.seen();
        opened(&to, &mut heard, &seen).iter().map(|(_, how)| (how.an, how.pn)).collect::<Vec<_>>()
    };
    assert_eq!(through(&mut bench, sound(0, 90)), [(0, 1)]);
    let settings = vec![set("encoding_sa", json!(2))];
    assert!(matches!(bench.ask(Ask::Configure { settings }), Answer::Configured { .. }));
    assert_eq!(through(&mut bench, sound(2, 1)), [(2, 1)]);
    assert_eq!(through(&mut bench, sound(3, 1)), [], "nobody uses it");
    assert_eq!(through(&mut bench, sound(2, 2)), [(2, 2)]);
}

#[test]
fn extended_numbers_are_sealed_whole_past_32_bits() {
    let first = u64::from(u32::MAX);
    let suite = set("cipher_suite", json!("GCM-AES-XPN-128"));
    let (mut bench, [at, to]) = secured(&[suite, set("next_pn", json!(first))]);
    let mut heard = Heard::from(first);
    for pn in 0..3 {
        bench.send(0, &at.seal(End::Rig, &sound(0, first + pn), &probe(0, 1, 7)));
        bench.run(Dur::ms(1));
        let seen = bench.seen();
        let want = [(probe(0, 1, 7), sound(0, first + pn))];
        assert_eq!(opened(&to, &mut heard, &seen), want);
    }
}

#[test]
fn extended_numbers_go_on_where_a_cable_stays_and_begin_again_where_it_is_moved() {
    let suite = set("cipher_suite", json!("GCM-AES-XPN-128"));
    let (mut bench, [at, to]) = secured(&[suite]);
    let mut heard = Heard::default();
    let mut through = |bench: &mut Bench, pn: u64| {
        bench.send(0, &at.seal(End::Rig, &sound(0, pn), &probe(0, 1, 7)));
        bench.run(Dur::ms(1));
        let seen = bench.seen();
        opened(&to, &mut heard, &seen).len()
    };
    let past = 1_u64 << 32;
    assert_eq!([past - 1, past, past + 1].map(|pn| through(&mut bench, pn)), [1, 1, 1]);
    let cable = |behind: &[u16]| Ask::Do(Order::Cable { behind: behind.to_vec() });
    // As before each trial: nothing was moved.
    assert_eq!(bench.ask(cable(&[0, 1])), Answer::Done);
    assert_eq!(through(&mut bench, past + 2), 1);
    assert_eq!(bench.ask(cable(&[1, 0])), Answer::Done);
    assert_eq!(bench.ask(cable(&[0, 1])), Answer::Done);
    assert_eq!(through(&mut bench, past + 3), 0, "a channel that is new begins with one");
}

#[test]
fn without_keys_a_protected_frame_is_for_nobody_and_none_leaves() {
    let mut bench = Bench::new();
    let settings = vec![set("enable", json!(true))];
    assert!(matches!(bench.ask(Ask::Boot { seed: 1, settings }), Answer::Booted { .. }));
    let declared = Macsec { enable: true, ..Macsec::off() };
    let protection = Protection::of(&declared, Some(&keys())).expect("keys");
    let cable = Cable::of(&protection, 0).expect("keys long enough");
    bench.send(0, &cable.seal(End::Rig, &sound(0, 1), &probe(0, 1, 7)));
    bench.run(Dur::ms(1));
    assert_eq!((bench.seen().len(), bench.health().foreign), (0, 1));
}

#[test]
fn a_device_that_has_keys_leaves_no_dump_of_its_memory() {
    let mut bench = Bench::new();
    prctl::set_dumpable(true).expect("a process of ours");
    assert_eq!(bench.ask(Ask::Do(Order::Key { keys: Keyring(keys()) })), Answer::Done);
    assert_eq!(prctl::get_dumpable(), Ok(false));
}

#[test]
fn keys_that_are_too_short_for_the_suite_are_refused() {
    let mut bench = Bench::new();
    let suite = set("cipher_suite", json!("GCM-AES-256"));
    let settings = vec![set("enable", json!(true)), suite];
    assert!(matches!(bench.ask(Ask::Boot { seed: 1, settings }), Answer::Booted { .. }));
    let half = |secret: Secret| {
        let digits: String =
            secret.bytes()[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        Secret::from_hex(&digits).expect("hexadecimal digits")
    };
    let short = Keys { saks: keys().saks.map(half), ..keys() };
    let Answer::Refused { why } = bench.ask(Ask::Do(Order::Key { keys: Keyring(short) })) else {
        panic!("they are refused")
    };
    assert_eq!(why, "a MACsec key: want 32 bytes, got 16");
}
