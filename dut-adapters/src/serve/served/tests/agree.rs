//! The served device and the one in virtual time are one device: the same frames in, the same frames out at the same
//! instants, and the same events.

use super::bench::{Bench, PORTS, Seen, profile, stream};
use crate::Emulated;
use crate::control::Control as _;
use crate::protocol::{Answer, Ask, Happened};
use rig_capture::DutEvent;
use rig_generator::clock::Clock as _;
use rig_lab::Profile;
use rig_oracle::model::{Dir, Packet, PacketKind, Storm, Stream};
use rig_testcases::{MacsecMode, StreamSpec, wire};
use rig_units::{Dur, Pace, Quanta, Time};

/// From port 0 a probe, from ports 2 and 3 together more than port 1 can send on.
fn streams() -> [(StreamSpec, Dur); 3] {
    [
        (stream(0, 1, 254), Dur::us(500)),
        (stream(2, 1, 1_024), Dur::us(12)),
        (stream(3, 1, 2_046), Dur::us(31)),
    ]
}

fn bytes(at: Time, port: u16, dir: Dir, packet: &Packet) -> Seen {
    let bytes = match packet.kind {
        PacketKind::Data
        | PacketKind::Ack
        | PacketKind::Nak
        | PacketKind::Cnp
        | PacketKind::ReadRequest
        | PacketKind::NotReady => {
            let (spec, _) = &streams()[usize::from(packet.stream)];
            wire::data(spec, packet.stream, packet.seq, spec.size, packet.ce())
        }
        PacketKind::Pfc => {
            let source = if dir == Dir::Tx { wire::rig_mac(port) } else { wire::dut_mac(port) };
            let asks = |class: usize| (packet.enable & !packet.zero) >> class & 1 == 1;
            let quanta = |class| if asks(class) { packet.quanta } else { Quanta(0) };
            wire::pfc(source, packet.enable, core::array::from_fn(quanta))
        }
    };
    Seen { at, port, bytes }
}

/// What a run in virtual time sent into the device, what came out of it, and what it reported.
struct Virtual {
    sent: Vec<Seen>,
    received: Vec<Seen>,
    events: Vec<DutEvent>,
}

fn in_virtual_time(profile: &Profile, seed: u64) -> Virtual {
    let mut dut = Emulated::boot(profile, &[], 0, seed).expect("it takes its own configuration");
    let (mut sent, mut received) = (Vec::new(), Vec::new());
    let mut tap = |at: Time, port: u16, dir: Dir, packet: &Packet| match dir {
        Dir::Tx => sent.push(bytes(at, port, dir, packet)),
        Dir::Rx => received.push(bytes(at, port, dir, packet)),
    };
    for ((spec, every), id) in streams().into_iter().zip(0..) {
        let size = u16::try_from(spec.size.0).expect("short");
        let pace = Pace::every(every);
        let (class, dscp, dst) = (spec.class, spec.dscp, spec.to);
        let (kind, names) = (PacketKind::Data, id);
        let (count, ect, record) = (None, true, true);
        let macsec_mode = MacsecMode::Usual;
        let stream = Stream {
            address: 0,
            first: 0,
            id,
            kind,
            names,
            class,
            dscp,
            size,
            pace,
            dst,
            count,
            ect,
            ce: false,
            record,
            pcp: None,
            macsec_mode,
        };
        dut.rig().start_stream(spec.from, &stream);
    }
    // A pause lasts 33.6 ms at 1 Gb/s.
    let every = Dur::ms(15);
    let storm = Storm {
        id: 9,
        enable: 1 << 3,
        zero: 0,
        quanta: Quanta::MAX,
        every,
        count: None,
        macsec_mode: MacsecMode::Usual,
    };
    for (until, on) in [(80, None), (500, Some(true)), (600, Some(false)), (601, None)] {
        match on {
            Some(true) => dut.rig().start_storm(1, &storm),
            Some(false) => dut.rig().stop_storm(1, storm.id),
            None => {}
        }
        dut.run_until(Time::ZERO + Dur::ms(until), &mut tap);
    }
    for stream in 0..3 {
        dut.rig().stop_stream([0, 2, 3][usize::from(stream)], stream);
    }
    dut.run_until(END, &mut tap);
    sent.sort();
    received.sort();
    let events = dut.events().expect("an emulated device tells");
    Virtual { sent, received, events }
}

const END: Time = Time(1_000_000_000_000);

/// What the served device did of that.
fn served(profile: &Profile, seed: u64, sent: &[Seen], step: Option<Dur>) -> (Bench, Vec<Seen>) {
    let mut bench = Bench::of(profile.clone(), seed);
    let mut received = Vec::new();
    let mut next_round = Time::ZERO;
    for frame in sent {
        match step {
            None => bench.run_until(frame.at),
            // The process sleeps through whatever happens, and wakes on its own terms.
            Some(step) => {
                bench.clock.advance_to(frame.at);
                if frame.at >= next_round {
                    next_round = frame.at + step;
                    bench.served.round().expect("ports in memory");
                }
            }
        }
        bench.send(frame.port, &frame.bytes);
        received.append(&mut bench.seen());
    }
    bench.run_until(END);
    received.append(&mut bench.seen());
    (bench, received)
}

fn happened(bench: &mut Bench) -> Vec<Happened> {
    let Answer::Events { events } = bench.ask(Ask::Events) else { panic!("no events") };
    events
}

fn expected(events: &[DutEvent]) -> Vec<Happened> {
    let happened = |event: &DutEvent| Happened {
        at_ns: event.at.0 / 1_000,
        port: event.port.clone(),
        class: event.class,
        what: event.kind,
    };
    events.iter().map(happened).collect()
}

#[test]
fn every_frame_leaves_at_the_instant_of_virtual_time_and_every_poll_is_the_same() {
    for (name, seed) in [("broadcom", 1), ("broadcom", 2), ("mellanox", 1), ("interval-counter", 1)]
    {
        let profile = profile(name);
        let truth = in_virtual_time(&profile, seed);
        assert!(truth.received.len() > 10_000 && truth.events.len() >= 2, "{name}");
        let told = truth.received.iter().filter(|seen| seen.bytes[12..14] == [0x88, 0x08]);
        assert!(told.count() > 100, "{name} never asked for a pause");
        let (mut bench, received) = served(&profile, seed, &truth.sent, None);
        let differ = truth.received.iter().zip(&received).find(|(one, other)| one != other);
        assert!(differ.is_none(), "{name} {seed}: {differ:?}");
        assert_eq!(truth.received.len(), received.len(), "{name} {seed}");
        assert_eq!(happened(&mut bench), expected(&truth.events), "{name} {seed}");
        // The nanosecond is the clock's.
        assert_eq!(bench.health().doubt(Dur::ns(1)), None, "{name} {seed}");
        assert_eq!(bench.clock.now(), END);
        assert_eq!(PORTS, 4);
    }
}

#[test]
fn a_process_that_wakes_up_late_sends_the_same_frames_late_and_sees_the_same_events() {
    let profile = profile("broadcom");
    let truth = in_virtual_time(&profile, 3);
    let (mut bench, received) = served(&profile, 3, &truth.sent, Some(Dur::us(700)));
    for port in 0..PORTS {
        let of = |all: &[Seen]| -> Vec<Vec<u8>> {
            let own = all.iter().filter(|seen| seen.port == port);
            own.map(|seen| seen.bytes.clone()).collect()
        };
        assert!(of(&truth.received) == of(&received), "port {port}");
    }
    assert_eq!(happened(&mut bench), expected(&truth.events));
    let health = bench.health();
    assert!(health.send_late >= Dur::us(600) && health.arrival_late >= Dur::us(600), "{health:?}");
    assert_eq!(health.misplaced, Dur::ZERO);
}
