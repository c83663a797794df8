//! The pause timer of one port: three PFC frames at every distance, with every pause time, for every time that the MAC takes to respond.

use rig_lab::PfcFaults;
use rig_oracle::model::Packet;
use rig_oracle::model::mac::{Config, Mac};
use rig_oracle::spec::pause::pause_time;
use rig_units::{Dur, PortSpeed, Quanta, Time};

const SPEED: PortSpeed = PortSpeed::G100;
/// A quarter of a quantum, which is 5.12 ns.
const TICK: Dur = Dur(1_280);
const CLASS: u8 = 3;
/// The longest pause time of a frame.
const QUANTA: u16 = 3;
/// The longest distance between two frames: longer than the longest pause and response.
const APART: u64 = 16;

/// When each frame arrived, in ticks, and the pause it asks for.
type Frames = [(u64, Quanta); 3];

/// Whether the class may not start a frame at a tick: what the last frame that took effect asks for counts from its last bit.
fn predicted(frames: &Frames, response: u64, at: u64) -> bool {
    let last = frames.iter().rfind(|(received, _)| received + response <= at);
    last.is_some_and(|&(received, quanta)| TICK * received + pause_time(quanta, SPEED) > TICK * at)
}

/// The same of a MAC that departs as planted, at every tick until nothing is to come.
fn search(frames: &Frames, response: u64, planted: &Config) -> Result<u64, String> {
    let config = Config { response: planted.response + (TICK * response).into(), ..*planted };
    let mut mac = Mac::new(&config, SPEED);
    let until = frames[2].0 + response + 4 * u64::from(QUANTA) + 2;
    for at in 0..until {
        let now = Time::ZERO + TICK * at;
        for &(_, quanta) in frames.iter().filter(|(received, _)| *received == at) {
            let zero = if quanta == Quanta(0) { 1 << CLASS } else { 0 };
            mac.on_pfc(now, &Packet::pfc(1 << CLASS, zero, quanta, 64));
        }
        if mac.wake_at().is_some_and(|due| due <= now) {
            mac.on_wake(now);
        }
        let (got, want) = (mac.closed() & 1 << CLASS != 0, predicted(frames, response, at));
        if got != want {
            let place = format!("{frames:?}, response {response}, tick {at}");
            return Err(format!("{place}: closed {got}, predicted {want}"));
        }
    }
    Ok(until)
}

fn search_all(planted: &Config) -> Result<u64, String> {
    let mut points = 0;
    for response in [0, 1, 2, 3, 5] {
        for apart in (0..=APART).flat_map(|one| (0..=APART).map(move |other| [one, other])) {
            for all in 0..(QUANTA + 1).pow(3) {
                let quanta = |nth: u32| Quanta(all / (QUANTA + 1).pow(nth) % (QUANTA + 1));
                let [one, other] = apart;
                let frames = [(0, quanta(0)), (one, quanta(1)), (one + other, quanta(2))];
                points += search(&frames, response, planted)?;
            }
        }
    }
    Ok(points)
}

#[test]
fn a_class_is_paused_at_exactly_the_ticks_that_the_last_frame_in_effect_asks_for() {
    let points = search_all(&Config::prompt(1 << CLASS)).unwrap_or_else(|why| panic!("{why}"));
    println!("{points} points");
    assert!(points >= 1_000_000, "{points}");
}

/// The smallest frames at which a planted departure shows, and when.
fn found(planted: &Config) -> String {
    search_all(planted).expect_err("a planted departure is found")
}

#[test]
fn a_response_of_a_picosecond_more_and_a_timer_that_is_not_restarted_are_found() {
    let prompt = Config::prompt(1 << CLASS);
    let frames = |quanta: [u16; 3]| format!("{:?}", quanta.map(|quanta| (0, Quanta(quanta))));
    assert_eq!(
        found(&Config { response: Dur(1).into(), ..prompt }),
        format!("{}, response 0, tick 0: closed false, predicted true", frames([0, 0, 1]))
    );
    let kept = PfcFaults { pause_time_not_restarted: true, ..PfcFaults::NONE };
    let stays = PfcFaults { long_pause_stays: true, ..PfcFaults::NONE };
    for faults in [kept, stays] {
        assert_eq!(
            found(&Config { faults, ..prompt }),
            format!("{}, response 0, tick 4: closed true, predicted false", frames([2, 1, 1]))
        );
    }
}
