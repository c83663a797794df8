//! MACsec changed while frames are under way: rekeys, packet numbers that end, policies, and MACsec as a whole.

use super::*;
use crate::model::dut::Refused;

/// Host 0 sends to host 1, and in the middle of it the device, or a host, or both go on with AN 1; frames that arrive.
fn rekeyed(mut rig: Rig, device: bool, peer: bool) -> (Rig, usize) {
    let hundred = Stream { count: Some(100), ..stream(0, 1, MacsecMode::Usual) };
    rig.dut.rig().start_stream(0, &hundred);
    rig.run(Dur::us(50));
    if device {
        rig.configure("macsec.encoding_sa", 1);
    }
    if peer {
        rig.dut.rig().rekey(0, 1);
    }
    rig.run(Dur::us(100));
    let arrived = rig.received(1, PacketKind::Data).len();
    (rig, arrived)
}

#[test]
fn a_rekey_of_both_ends_loses_nothing_and_begins_the_numbers_anew() {
    let (rig, arrived) = rekeyed(Rig::of(case("bypass")), true, true);
    assert_eq!(arrived, 100);
    let tags: Vec<_> = rig.received(1, PacketKind::Data).iter().filter_map(Packet::tag).collect();
    let of = |an| tags.iter().filter(move |tag| tag.an == an).map(|tag| tag.pn);
    assert!(of(0).eq(1..=of(0).max().unwrap()) && of(1).eq(1..=of(1).max().unwrap()));
    assert_eq!(of(0).count() + of(1).count(), 100);
    assert_eq!(rig.counter(0, "MACSEC_SA_STAT_IN_PKTS_NOT_USING_SA"), 0);
}

#[test]
fn a_peer_that_rekeys_alone_is_not_understood_and_one_that_does_not_is() {
    let (rig, arrived) = rekeyed(Rig::of(case("bypass")), false, true);
    let refused = rig.counter(0, "MACSEC_SA_STAT_IN_PKTS_NOT_USING_SA");
    assert!((40..=60).contains(&refused));
    assert_eq!(arrived as u64 + refused, 100);
    assert_eq!(rekeyed(Rig::of(case("bypass")), true, false).1, 100);
}

#[test]
fn numbers_that_end_drop_what_is_to_leave_until_a_rekey_and_pauses_nobody() {
    let mut rig = Rig::of(case("bypass").with("macsec.next_pn", 4_294_967_290_u64));
    rig.send(0, 1, 20, MacsecMode::Usual);
    assert_eq!(rig.received(1, PacketKind::Data).len(), 6);
    assert_eq!(rig.counter(1, "MACSEC_SA_STAT_OUT_PKTS_ENCRYPTED"), 6);
    let network = rig.dut.network();
    assert_eq!(network.switch(0).counters(1, 3).queue_drops, 14);
    assert_eq!(network.queue_view(1, 3).occupancy, 0, "nothing stays");
    rig.configure("macsec.encoding_sa", 1);
    rig.configure("macsec.next_pn", serde_json::Value::Null);
    rig.dut.rig().rekey(0, 1);
    rig.send(0, 1, 3, MacsecMode::Usual);
    assert_eq!(rig.received(1, PacketKind::Data).len(), 9);
}

#[test]
fn senders_that_a_full_queue_paused_go_on_when_the_numbers_end() {
    let case = case("bypass").with("buffer.static_th", "100KB");
    let mut rig = Rig::of(case.with("macsec.next_pn", 4_294_967_295_u64));
    rig.pauses(1, MacsecMode::Clear);
    rig.send(0, 1, 250, MacsecMode::Usual);
    let xon =
        |rig: &Rig| rig.received(0, PacketKind::Pfc).iter().filter(|pfc| pfc.zero != 0).count();
    assert_eq!(xon(&rig), 0);
    rig.run(Dur::us(200));
    assert_eq!(xon(&rig), 1);
    assert_eq!(rig.dut.network().queue_view(1, 3).occupancy, 0);
}

#[test]
fn numbers_of_64_bits_do_not_end() {
    let xpn = case("bypass").with("macsec.cipher_suite", "GCM-AES-XPN-128");
    let mut rig = Rig::of(xpn.with("macsec.next_pn", 4_294_967_290_u64));
    let peer = Security { next_pn: 4_294_967_290, ..PEER };
    rig.dut.rig().secure(0, Some(peer));
    rig.send(0, 1, 20, MacsecMode::Usual);
    let numbers: Vec<u32> =
        rig.received(1, PacketKind::Data).iter().filter_map(|data| Some(data.tag()?.pn)).collect();
    let want: Vec<u32> = (0..20).map(|n| 4_294_967_290_u32.wrapping_add(n)).collect();
    assert_eq!(numbers, want);
    assert_eq!(rig.counter(0, "MACSEC_SA_STAT_IN_PKTS_OK"), 20);
}

#[test]
fn a_mode_and_a_window_hold_from_when_they_are_set() {
    let mut rig = Rig::of(case("strict_encrypt"));
    assert!(!rig.pauses(0, MacsecMode::Clear));
    rig.configure("macsec.pfc_clear", "honour");
    assert!(rig.pauses(0, MacsecMode::Clear));
    rig.send(2, 1, 1, MacsecMode::Usual);
    rig.send(2, 1, 3, MacsecMode::Late(1));
    rig.configure("macsec.replay_window", 1);
    rig.send(2, 1, 3, MacsecMode::Usual);
    rig.send(2, 1, 3, MacsecMode::Late(1));
    assert_eq!(rig.received(1, PacketKind::Data).len(), 1 + 3 + 3);
    rig.configure("macsec.enable_replay_protect", false);
    rig.configure("macsec.replay_window", 0);
    rig.send(2, 1, 2, MacsecMode::Usual);
    rig.send(2, 1, 2, MacsecMode::Late(1));
    assert_eq!(rig.counter(2, "MACSEC_SA_STAT_IN_PKTS_DELAYED"), 2);
}

/// The pipeline gets shorter, and nothing overtakes what is in it.
#[test]
fn macsec_goes_on_and_off_under_way_and_frames_stay_in_order() {
    let mut rig = Rig::of(case("bypass").with("macsec.latency", "3us"));
    let flood = Stream { pace: Pace::every(Dur::ns(90)), ..stream(0, 1, MacsecMode::Usual) };
    rig.dut.rig().start_stream(0, &flood);
    for on in [false, true, false, true] {
        rig.run(Dur::us(20));
        rig.configure("macsec.enable", on);
        rig.dut.rig().secure(0, on.then_some(PEER));
    }
    rig.run(Dur::us(20));
    rig.dut.rig().stop_stream(0, 0);
    rig.run(Dur::us(20));
    let numbers: Vec<u32> = rig.received(1, PacketKind::Data).iter().map(|data| data.seq).collect();
    assert!(numbers.is_sorted());
    // Lost is what was on the cable in the form of before: 1.5 us each time.
    assert!(numbers.len() > 1_000, "{}", numbers.len());
    assert_eq!(rig.dut.network().queue_view(1, 3).occupancy, 0);
    let clear = rig.received(1, PacketKind::Data).iter().filter(|data| !data.is_secured()).count();
    assert!((400..500).contains(&clear), "{clear}");
}

#[test]
fn what_belongs_to_the_keys_or_lies_out_of_range_is_refused() {
    let mut rig = Rig::of(case("bypass"));
    let mut refuse = |path: &str, value: serde_json::Value| {
        rig.dut.configure(&[set(path, value)]).expect_err(path)
    };
    for (path, value) in [
        ("macsec.cipher_suite", "GCM-AES-256".into()),
        ("macsec.policy", "integrity_only".into()),
        ("macsec.send_sci", false.into()),
        ("macsec.latency", "1us".into()),
    ] {
        let why = refuse(path, value);
        assert!(matches!(why, Refused::NotWhileRunning { .. }), "{why}");
    }
    let why = refuse("macsec.encoding_sa", 4.into());
    assert_eq!(why.to_string(), "`macsec.encoding_sa`: the association 4: want 0 to 3");
    let why = refuse("macsec.next_pn", 4_294_967_296_u64.into());
    assert!(matches!(why, Refused::Unreadable(_)), "{why}");
    assert_eq!(rig.dut.configured().get("macsec.encoding_sa"), Some(0.into()));
}

#[test]
fn a_device_does_not_boot_with_what_it_would_refuse() {
    use crate::model::{dut, host};
    let case = case("bypass").with("macsec.next_pn", 0);
    let rig = dut::Rig { ports: 2, cable_cm: 300, host: host::Config::quiet() };
    let why = Dut::new(&case.profile(), &case.declared, &rig, 1).expect_err("refused");
    assert!(why.to_string().starts_with("`macsec.next_pn`: a packet number of 0: want 1 to "));
}
