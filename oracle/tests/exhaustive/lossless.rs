//! Lossless or not: a sender that fills its wire, a device that tells it to stop, every phase of the frame that the XOFF may have to
//! wait for and every size of frame. With the headroom of F3 no frame is ever lost; with a byte less one is lost at some phase.

use rig_capture::Span;
use rig_lab::{Buffer as Declared, SwitchingMode};
use rig_oracle::model::buffer::{Crossing, Limit};
use rig_oracle::model::{Network, NoTap, Packet, PacketKind, Stream, Topology, host, link, switch};
use rig_oracle::spec::in_flight::InFlight;
use rig_testcases::MacsecMode;
use rig_units::{Apart, Bytes, Dur, Length, MIN_FRAME, Pace, PortSpeed, Quanta, Time};

const SPEED: PortSpeed = PortSpeed::G100;
const CLASS: u8 = 3;
const OTHER: u8 = 0;
const DROPPED: &str = "Ethernet0:3 SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS";
/// Frames that the group takes before the next one crosses.
const WITHIN: u64 = 10;
/// The port that sends, and the one that holds it back.
const SENDER: u16 = 0;
const HELD: u16 = 1;

/// One sender and the way to it.
#[derive(Debug, Clone, Copy)]
struct World {
    /// Frames of the lossless class.
    size: u16,
    /// The frame that may be under way to the sender.
    ahead: u16,
    metres: u64,
    /// What the sender's MAC takes to stop, in byte times.
    response: u64,
    /// Whether the device counts a frame with its last bit or with its first.
    mode: SwitchingMode,
}

/// From the first bit of the preamble to the last bit of a frame.
fn arrival(size: u16) -> Dur {
    SPEED.serialise(Bytes(u64::from(size) + 8))
}

impl World {
    fn link(&self) -> link::Config {
        link::Config::ethernet(SPEED, self.metres)
    }

    fn slot(&self) -> Dur {
        SPEED.slot(Bytes(self.size.into()))
    }

    fn response(&self) -> Dur {
        SPEED.byte() * self.response
    }

    /// F3: what the headroom has to hold.
    fn headroom(&self) -> u32 {
        let in_flight = InFlight {
            speed: SPEED,
            frame: Bytes(self.size.into()),
            overhead: Bytes(0),
            pfc: MIN_FRAME,
            mode: self.mode,
            ahead: Bytes(self.ahead.into()),
            cable: Length(self.metres * 100),
            delays: Span::exactly(self.response().0),
            apart: Apart::NOT,
        };
        u32::try_from(in_flight.stored(&Declared::plain(0, 0)).hi).expect("few")
    }

    fn network(&self, headroom: u32) -> Network {
        let mut device = switch::Config::plain(2, SPEED);
        device.cut_through = self.mode == SwitchingMode::CutThrough;
        device.buffer.reserved = 0;
        device.buffer.group = Limit::Static(WITHIN * u64::from(self.size));
        device.buffer.crossing = Crossing::Shared;
        device.buffer.headroom = headroom;
        let mut host = host::Config::quiet();
        host.mac.response = self.response().into();
        Network::new(&Topology::star(device, host, self.link()), Time::ZERO)
    }

    /// Frames lost with so much headroom, when the frame ahead of the XOFF began `before` the group crossed.
    fn lost(&self, headroom: u32, before: Dur) -> u64 {
        let mut network = self.network(headroom);
        let travel = self.link().delay;
        network.send(HELD, Packet::pfc(1 << CLASS, 0, Quanta::MAX, 64));
        let begin = Time::ZERO + Dur::us(10);
        // The frame that crosses has come, and so has the one for the way back.
        let [own, other] = [self.size, self.ahead].map(|size| match self.mode {
            SwitchingMode::StoreAndForward => arrival(size),
            SwitchingMode::CutThrough => arrival(0),
        });
        let crosses = begin + self.slot() * WITHIN + own + travel;
        let ahead = crosses - before - other - travel;
        network.run_until(begin, &mut NoTap);
        network.start_stream(SENDER, &self.load());
        network.run_until(ahead, &mut NoTap);
        network.send(HELD, Packet::data(9, HELD, SENDER, OTHER, OTHER, self.ahead));
        network.run_until(crosses + Dur::us(10), &mut NoTap);
        network.counter(0, DROPPED).expect("a counter of the device")
    }

    fn load(&self) -> Stream {
        Stream {
            id: 1,
            kind: PacketKind::Data,
            names: 1,
            first: 0,
            class: CLASS,
            dscp: CLASS,
            size: self.size,
            pace: Pace::every(self.slot()),
            dst: HELD,
            count: None,
            ect: false,
            ce: false,
            record: false,
            pcp: None,
            macsec_mode: MacsecMode::Usual,
            address: 0,
        }
    }

    /// When the frame ahead of the XOFF may have begun before the group crossed: from just then to a slot ago, in byte times.
    fn phases(&self) -> impl Iterator<Item = Dur> {
        let bytes = 1..=u64::from(self.ahead) + 20;
        core::iter::once(Dur(1)).chain(bytes.map(|bytes| SPEED.byte() * bytes))
    }

    /// The first phase at which a frame is lost.
    fn loses(&self, headroom: u32) -> Option<Dur> {
        self.phases().find(|&phase| self.lost(headroom, phase) > 0)
    }
}

/// Every size up to where one frame is all that comes, and some beyond; near, and far away where many are under way.
fn worlds() -> impl Iterator<Item = World> {
    let sizes = 64..=256;
    let near = sizes.flat_map(|size| [0, 9, 40].map(|response| (size, response)));
    let mode = SwitchingMode::StoreAndForward;
    let near =
        near.map(move |(size, response)| World { size, ahead: 64, metres: 0, response, mode });
    let far = [64, 65, 100, 512, 1_024, 1_518, 9_216];
    let far = far.map(|size| World { size, ahead: 300, metres: 99, response: 3_000, mode });
    let all = near.chain(far);
    all.clone().chain(all.map(|world| World { mode: SwitchingMode::CutThrough, ..world }))
}

#[test]
fn no_frame_is_lost_at_any_phase_exactly_from_the_headroom_of_f3_on() {
    let (mut phases, mut smallest) = (0, None);
    for world in worlds() {
        let enough = world.headroom();
        assert_eq!(world.loses(enough), None, "{world:?} loses a frame with {enough} B");
        // A frame that is so long that the sender has stopped before the next is all that comes.
        let Some(less) = enough.checked_sub(1) else { continue };
        let Some(phase) = world.loses(less) else {
            panic!("{world:?} loses nothing with {less} B either")
        };
        smallest.get_or_insert_with(|| {
            format!("{world:?} loses a frame with {less} B, {phase} after the one ahead began")
        });
        phases += world.phases().count();
    }
    let smallest = smallest.expect("some");
    println!("{phases} phases; {smallest}");
    assert_eq!(
        smallest,
        "World { size: 64, ahead: 64, metres: 0, response: 0, mode: StoreAndForward } loses a frame with 127 B, 1ps after the one ahead began"
    );
}
