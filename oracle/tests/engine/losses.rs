//! What a chance of loss leaves of a connection that goes back N, over many seeds, beside the closed form.

use rig_oracle::model::nic::{Config, Flow, Verb};
use rig_oracle::model::queue::Ordered;
use rig_oracle::model::{Cable, Dir, End, Network, Packet, PacketKind, Tap, Topology, host, link};
use rig_oracle::spec::nic::losses::Mending;
use rig_testcases::{Container, Injected, Injection, IpVersion, Target, Which};
use rig_units::{Bytes, Dur, PortSpeed, Ppm, Time, Within};

const SPEED: PortSpeed = PortSpeed::G100;
/// 19.8 m: 100 ns.
const METRES: u64 = 20;
/// What the rig takes.
const DELAY: Dur = Dur::ns(500);
const PAYLOAD: u32 = 4_096;
const PACKETS: u32 = 2_000;
/// Of a flow's last packets nobody asks for those that are lost: it is looked at until this one is acknowledged.
const COUNTED: u32 = 1_900;
const TIMER: Dur = Dur::us(60);

/// What is seen of a flow.
#[derive(Debug, Default)]
struct Seen {
    /// When the rig saw the first acknowledgement, and that of the last packet that counts.
    acks: [Option<Time>; 2],
    size: u16,
    ack: u16,
}

impl Tap for Seen {
    fn frame(&mut self, at: Time, host: u16, dir: Dir, packet: &Packet) {
        if dir != Dir::Rx {
            return;
        }
        match (host, packet.kind) {
            (0, PacketKind::Data) => self.size = self.size.max(packet.size),
            (2, PacketKind::Ack) => {
                self.ack = packet.size;
                self.acks[0] = self.acks[0].or(Some(at));
                if packet.seq + 1 >= COUNTED {
                    self.acks[1] = self.acks[1].or(Some(at));
                }
            }
            _ => {}
        }
    }
}

fn config() -> Config {
    let mut config = Config::declared(&rig_lab::Nic::quiet());
    config.rc.ack_every = 1;
    config.rc.nak_latency = Dur::us(1).into();
    config.rc.resend_latency = Dur::us(2).into();
    config.rc.timeout = rig_lab::AckTimeout::Time(TIMER);
    config.rc.timeout_late = Some(Within::ZERO);
    config.rc.retries = 7;
    config
}

/// Two NICs, each behind a port of the rig.
fn topology() -> Topology {
    let nic = || host::Config::nic(config());
    let hosts = vec![host::Config::quiet(), nic(), host::Config::quiet(), nic()];
    let link = link::Config::ethernet(SPEED, METRES);
    let cable = |rig, nic| Cable { ends: [End::Host(rig), End::Host(nic)], link };
    Topology {
        hosts,
        switches: Vec::new(),
        cables: vec![cable(0, 1), cable(2, 3)],
        passed_on: None,
    }
}

/// From the first acknowledgement to the last that counts, of a path that loses so many.
fn takes(chance: Ppm, seed: u64) -> (Dur, Seen) {
    let mut network: Network<Ordered> = Network::new(&topology(), Time::ZERO);
    network.bridge([0, 2], DELAY);
    let (frames, which, tamper) = (Target::Data, Which::Drawn(chance), Injected::Drop);
    network.inject(Injection { on: 1, frames, which, iteration: None, tamper }, seed);
    let flow = Flow {
        id: 1,
        verb: Verb::Write,
        message: PAYLOAD,
        mtu: PAYLOAD,
        count: Some(PACKETS),
        psn: 0,
        dst: 3,
        class: 3,
        dscp: 3,
        pcp: None,
        over: IpVersion::V4,
        gid: 0,
        ect: true,
        container: Container::USUAL,
    };
    network.start_flow(1, &flow);
    let mut seen = Seen::default();
    network.run_until(Time::ZERO + Dur::ms(50), &mut seen);
    let [Some(first), Some(last)] = seen.acks else { panic!("seed {seed}: {seen:?}") };
    (last - first, seen)
}

#[test]
fn many_seeds_take_as_long_as_the_closed_form_has_it() {
    const SEEDS: u64 = 80;
    for chance in [1_000, 10_000, 50_000].map(Ppm) {
        let all: Vec<u64> = (0..SEEDS).map(|seed| takes(chance, seed).0.0).collect();
        let mean = all.iter().sum::<u64>() / SEEDS;
        let squares = all.iter().map(|one| u128::from(one.abs_diff(mean)).pow(2)).sum::<u128>();
        let error = (squares / u128::from(SEEDS * (SEEDS - 1))).isqrt();
        let off = |mending: &Mending| {
            let each = mending.expected(chance).expect("it has a timer");
            // The first acknowledgement is of the first packet, more often than not.
            let all = each * u64::from(COUNTED - 1);
            println!(
                "{chance}: {mean} ps on average, {all} in the closed form, give or take {error} ps"
            );
            u128::from(mean.abs_diff(all.0))
        };
        let whole = mending(&takes(chance, 0).1);
        assert!(off(&whole) < 4 * error, "{chance}");
        // That it fits is no matter of chance: with half of the way back, or half of the timer where that counts, it does not.
        let half = |of: Within| of.scaled(1, 2);
        let asked = Mending { asked: half(whole.asked), ..whole };
        let timer = Mending { timer: whole.timer.map(half), ..whole };
        assert!(off(&asked) > 4 * error, "{chance}");
        assert!(chance < Ppm(50_000) || off(&timer) > 4 * error, "{chance}");
    }
}

/// What mending takes between these NICs: what is under way ends first, so that the way back is whole packets.
fn mending(seen: &Seen) -> Mending {
    let slot = SPEED.slot(Bytes(seen.size.into()));
    let way = |size: u16| {
        let bits = SPEED.serialise(Bytes(8 + u64::from(size)));
        (bits + link::Config::ethernet(SPEED, METRES).delay) * 2 + DELAY
    };
    let back = slot + way(seen.size) + Dur::us(1) + way(seen.ack) + Dur::us(2);
    let asked = Within::exactly(slot * (back.0.div_ceil(slot.0) - 1));
    let timer = slot * TIMER.0.div_ceil(slot.0).max(1);
    Mending { asked, timer: Some(Within::exactly(timer)), told: Dur::ZERO, busy: Dur::ZERO, slot }
}
