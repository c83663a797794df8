//! What the rig's port sees of a served NIC.

use super::bench::{Bench, Seen, nic, pause, stream};
use crate::control::{Does, FlowOrder, Order, Over};
use crate::protocol::{Answer, Ask};
use rig_capture::decode::Decoder;
use rig_capture::{Dir, What};
use rig_frames::ip::Ecn;
use rig_lab::Mutation;
use rig_testcases::{CnpFault, IpVersion, Roce, RoceKind, StreamKind, StreamSpec, Verb, wire};
use rig_units::{Bytes, Dur, PortSpeed, Time};

fn speed() -> PortSpeed {
    PortSpeed::from_bps(1_000_000_000).expect("whole picoseconds")
}

/// A frame of the rig's stream 0 to the NIC behind its port 0, marked.
fn marked(seq: u32) -> Vec<u8> {
    let spec = StreamSpec { ecn: Ecn::Ce, ..stream(0, 0, 254) };
    wire::data(&spec, 0, seq, Bytes(254), true)
}

/// A CNP of the rig for the sender of a connection.
fn cnp(connection: u16) -> Vec<u8> {
    let spec = StreamSpec { kind: StreamKind::Cnp, of: Some(connection), ..stream(0, 0, 78) };
    wire::sent(&spec, 1, 0, Bytes(78))
}

/// What the NIC sent, with when its last bit was due.
fn heard(bench: &mut Bench) -> Vec<(Time, Roce)> {
    let read = |seen: Seen| {
        // It knows no stream of the rig: whatever comes is the NIC's.
        let what = Decoder::default().read(0, Dir::Rx, &seen.bytes, seen.bytes.len()).0;
        let What::Roce(roce) = what else { panic!("{what:?}") };
        (seen.at, roce)
    };
    bench.seen().into_iter().map(read).collect()
}

fn order(connection: u16) -> FlowOrder {
    FlowOrder {
        connection,
        verb: Does::Write,
        message: 4_096,
        mtu: 1_024,
        count: None,
        psn: 7,
        class: 3,
        dscp: 26,
        address: 0,
        vlan: None,
        over: Over::Ipv4,
        gid: 0,
        to: None,
        container: None,
    }
}

fn set(bench: &mut Bench, path: &str, value: &str) {
    let settings = vec![rig_lab::Setting { path: path.to_owned(), value: value.into() }];
    let answer = bench.ask(Ask::Configure { settings });
    assert!(matches!(answer, Answer::Configured { .. }), "{answer:?}");
}

#[test]
fn a_mark_is_answered_with_a_cnp_whose_last_bit_is_due_when_the_rule_says() {
    let mut bench = Bench::of(nic("gen1"), 1);
    bench.run(Dur::us(10));
    bench.send(0, &marked(0));
    bench.run(Dur::us(20));
    bench.send(0, &marked(1));
    bench.run(Dur::ms(1));
    let cnps = heard(&mut bench).into_iter();
    let [(at, cnp)] = cnps.filter(|(_, one)| one.size == 78).collect::<Vec<_>>()[..] else {
        panic!("one CNP within the interval")
    };
    // The first packet of a connection holds the pipeline; then the NIC takes its time for a CNP.
    let after = Dur::ns(500) + Dur::us(3) + speed().serialise(Bytes(8 + 78));
    assert_eq!(at, Time::ZERO + Dur::us(10) + after);
    assert_eq!((cnp.kind, cnp.connection), (RoceKind::Cnp { fault: None }, 0));
    assert_eq!((cnp.dscp, cnp.ecn), (48, Ecn::NotEct));
    assert_eq!(bench.counter("nic np_cnp_sent"), 1);
    assert_eq!(bench.counter("nic np_ecn_marked_roce_packets"), 2);
}

#[test]
fn what_comes_over_ipv6_is_answered_and_what_is_asked_for_over_ipv6_is_sent_over_it() {
    let mut bench = Bench::of(nic("gen1"), 1);
    let data = RoceKind::Data { first: true, last: true, response: false };
    let (over, address, ecn) = (IpVersion::V6, 3, Ecn::Ce);
    let asked = Roce { over, address, ecn, dscp: 26, ..Roce::of(0, data, 0, 274) };
    bench.send(0, &wire::nic::frame(Verb::Write, 0, true, &asked));
    bench.run(Dur::us(100));
    let answers: Vec<Roce> = heard(&mut bench).into_iter().map(|(_, one)| one).collect();
    let [ack, cnp] = &answers[..] else { panic!("{answers:?}") };
    assert_eq!((ack.kind, ack.size, ack.dscp), (RoceKind::Ack, 86, 26));
    assert_eq!((cnp.kind, cnp.size), (RoceKind::Cnp { fault: None }, 98));
    for one in [ack, cnp] {
        assert_eq!((one.over, one.address, one.gid, one.corrupt), (IpVersion::V6, 3, 0, false));
    }
    let flow = FlowOrder { over: Over::Ipv6, count: Some(1), ..order(4) };
    assert_eq!(bench.ask(Ask::Do(Order::StartFlow { port: 0, flow })), Answer::Done);
    bench.run(Dur::us(200));
    let sent = heard(&mut bench);
    let sizes: Vec<(IpVersion, u16)> = sent.iter().map(|(_, one)| (one.over, one.size)).collect();
    let [first, rest] = [1_024 + 82 + 16, 1_024 + 82].map(|size| (IpVersion::V6, size));
    assert_eq!(sizes, [first, rest, rest, rest]);
}

#[test]
fn a_nic_that_forgets_becn_shows_it_on_the_wire() {
    let mut profile = nic("gen1");
    let wrong: Mutation = "deviation=cnp_without_becn".parse().expect("a deviation");
    profile.mutate(&wrong).expect("of a NIC");
    let mut bench = Bench::of(profile, 1);
    bench.send(0, &marked(0));
    bench.run(Dur::ms(1));
    let kinds: Vec<RoceKind> = heard(&mut bench).into_iter().map(|(_, one)| one.kind).collect();
    let cnp = RoceKind::Cnp { fault: Some(CnpFault::Becn) };
    assert!(kinds.contains(&cnp), "{kinds:?}");
}

#[test]
fn what_is_spoilt_or_for_somebody_else_is_counted_and_not_answered() {
    let mut bench = Bench::of(nic("gen1"), 1);
    let mut spoilt = marked(0);
    *spoilt.last_mut().expect("it has bytes") ^= 1;
    bench.send(0, &spoilt);
    // Behind another port of the rig.
    let elsewhere = StreamSpec { ecn: Ecn::Ce, ..stream(1, 1, 254) };
    bench.send(0, &wire::data(&elsewhere, 0, 0, Bytes(254), true));
    bench.send(0, &[0; 60]);
    bench.run(Dur::ms(1));
    assert_eq!(heard(&mut bench), []);
    assert_eq!(bench.counter("nic rx_icrc_encapsulated"), 1);
    assert_eq!(bench.health().foreign, 2);
}

#[test]
fn a_flow_leaves_at_the_speed_of_the_port_a_cnp_halves_it_and_a_stop_ends_it() {
    let mut bench = Bench::of(nic("gen1"), 1);
    set(&mut bench, "nic.rp.limiting", "packet");
    set(&mut bench, "nic.rp.timer", "1s");
    bench.run(Dur::us(10));
    assert_eq!(bench.ask(Ask::Do(Order::StartFlow { port: 0, flow: order(4) })), Answer::Done);
    bench.run(Dur::us(200));
    let all = heard(&mut bench);
    assert!(all.iter().zip(7..).all(|((_, one), psn)| (one.connection, one.psn) == (4, psn)));
    let first = all[0];
    // The first packet of a message has a header more.
    assert_eq!(first.1.kind, RoceKind::Data { first: true, last: false, response: false });
    assert_eq!((first.1.size, all[1].1.size), (1_024 + 62 + 16, 1_024 + 62));
    assert_eq!(all[2].0 - all[1].0, speed().slot(Bytes(1_086)));
    bench.send(0, &cnp(4));
    bench.run(Dur::us(200));
    let last = heard(&mut bench);
    let [.., (before, _), (after, _)] = last[..] else { panic!("too few") };
    assert!(after - before > Dur::us(17), "{}", after - before);
    assert_eq!(bench.ask(Ask::Do(Order::StopFlow { port: 0, connection: 4 })), Answer::Done);
    bench.run(Dur::us(100));
    bench.seen();
    bench.run(Dur::ms(1));
    assert_eq!(heard(&mut bench), []);
}

#[test]
fn connections_that_begin_anew_have_forgotten_their_numbers_and_send_nothing_any_more() {
    let mut bench = Bench::of(nic("gen1"), 1);
    bench.run(Dur::us(10));
    assert_eq!(bench.ask(Ask::Do(Order::StartFlow { port: 0, flow: order(4) })), Answer::Done);
    bench.send(0, &marked(100));
    bench.run(Dur::us(200));
    bench.seen();
    assert_eq!(bench.ask(Ask::Do(Order::Disconnect)), Answer::Done);
    bench.run(Dur::us(100));
    assert_eq!(heard(&mut bench), []);
    // Number 3 after 100 is no duplicate, and its mark is not within the interval of another.
    bench.send(0, &marked(3));
    bench.run(Dur::us(100));
    let kinds: Vec<RoceKind> = heard(&mut bench).into_iter().map(|(_, one)| one.kind).collect();
    assert_eq!(kinds, [RoceKind::Ack, RoceKind::Cnp { fault: None }]);
    assert_eq!(bench.counter("nic duplicate_request"), 0);
}

#[test]
fn a_flow_stops_when_its_class_is_paused() {
    let mut bench = Bench::of(nic("gen1"), 1);
    bench.run(Dur::us(10));
    assert_eq!(bench.ask(Ask::Do(Order::StartFlow { port: 0, flow: order(4) })), Answer::Done);
    bench.run(Dur::us(100));
    bench.send(0, &pause(0, 1 << 3, 0xffff));
    bench.run(Dur::us(100));
    bench.seen();
    bench.run(Dur::ms(5));
    assert_eq!(heard(&mut bench), []);
}

#[test]
fn a_switch_sends_nothing_by_itself_and_says_so() {
    let mut bench = Bench::new();
    let Answer::Refused { why } = bench.ask(Ask::Do(Order::StartFlow { port: 0, flow: order(4) }))
    else {
        panic!("it took a flow")
    };
    assert_eq!(why, "the device is a switch, which sends nothing by itself: want a NIC");
    let mut bench = Bench::of(nic("gen1"), 1);
    let Answer::Refused { why } = bench.ask(Ask::Do(Order::StopFlow { port: 3, connection: 4 }))
    else {
        panic!("it has no such port")
    };
    assert_eq!(why, "there is no port 3: want 0 to 0");
}

#[test]
fn what_a_flow_does_travels_by_name() {
    for (_, verb) in Verb::NAMES {
        let does = [
            Does::Send,
            Does::SendRegistered,
            Does::Write,
            Does::Read,
            Does::SendImmediate,
            Does::WriteImmediate,
            Does::SendInvalidate,
            Does::FetchAdd,
            Does::CompareSwap,
            Does::SendUnreliable,
            Does::WriteUnreliable,
            Does::Datagram,
        ];
        assert_eq!(does.into_iter().filter(|does| Verb::from(*does) == verb).count(), 1);
    }
    let text = serde_json::to_string(&order(4)).expect("plain values");
    assert_eq!(serde_json::from_str::<FlowOrder>(&text).expect("its own form"), order(4));
    assert!(text.contains(r#""verb":"write""#), "{text}");
}
