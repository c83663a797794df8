//! How many frames the senders of a script send in one trial, worked out beforehand. A device that sends by itself is taken
//! to do so at the speed of its port from start to stop, as it does where nothing slows it down.

use crate::{PacedStream, Program};
use rig_testcases::{Action, FlowSpec, Script};
use rig_units::{Bytes, Dur, MIN_FRAME, Pace, PortSpeed};

/// What a packet of a flow carries beside its payload: Ethernet with FCS, IPv4, UDP, BTH, ICRC.
const AROUND: Bytes = Bytes(18 + 20 + 8 + 12 + 4);

/// What one sender sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tally {
    /// Its key in the case: `streams.victim`.
    pub key: String,
    /// Frames in one trial.
    pub frames: u64,
    /// Whether each of them is recorded where the taps are as usual: probes and PFC. Of loads and flows they take samples.
    pub recorded: bool,
}

impl Tally {
    /// Every sender of a script, on ports of these speeds. Frames that the device sends of its own accord, such as its PFC,
    /// are not among them.
    pub fn of(script: &Script, program: &Program) -> Vec<Tally> {
        let ports = || program.ports.iter();
        let streams = ports().flat_map(|port| &port.streams).map(|paced| {
            let spec = &script.streams[usize::from(paced.index)];
            let (start, stop) = (Action::StartStream(paced.index), Action::StopStream(paced.index));
            let sends = |length| stream(paced, spec.count, length);
            Tally {
                key: format!("streams.{}", spec.name),
                frames: total(script, &start, &stop, sends),
                recorded: paced.recorded,
            }
        });
        let storms = ports().flat_map(|port| &port.storms).map(|paced| {
            let spec = &script.storms[usize::from(paced.index)];
            let (start, stop) = (Action::StartStorm(paced.index), Action::StopStorm(paced.index));
            let sends = |length| Pace::every(paced.every).within(length);
            Tally {
                key: format!("storms.{}", spec.name),
                frames: total(script, &start, &stop, sends),
                recorded: true,
            }
        });
        let flows = (0_u16..).zip(&script.flows).map(|(index, spec)| {
            let (start, stop) = (Action::StartFlow(index), Action::StopFlow(index));
            let speed = program.ports.get(usize::from(spec.nic)).map(|port| port.speed);
            let sends = |length| speed.map_or(0, |speed| flow(spec, speed, length));
            Tally {
                key: format!("flows.{}", spec.name),
                frames: total(script, &start, &stop, sends),
                recorded: false,
            }
        });
        let by_hand = script.steps.iter().map(|step| match &step.action {
            Action::Pfc(frames) => u64::from(frames.count),
            _ => 0,
        });
        let by_hand = Tally { key: "steps".to_owned(), frames: by_hand.sum(), recorded: true };
        streams.chain(storms).chain(flows).chain([by_hand]).collect()
    }
}

/// What is sent from each start to the stop after it, or to the end.
fn total(script: &Script, start: &Action, stop: &Action, sends: impl Fn(Dur) -> u64) -> u64 {
    let mut since = None;
    let mut frames = 0_u64;
    for step in &script.steps {
        if step.action == *start {
            since = since.or(Some(step.at));
        } else if step.action == *stop {
            let began = since.take();
            frames += began.map_or(0, |began| sends(step.at.saturating_sub(began)));
        }
    }
    frames + since.map_or(0, |began| sends(script.length.saturating_sub(began)))
}

fn stream(paced: &PacedStream, count: Option<u64>, length: Dur) -> u64 {
    paced.pace.within(length).min(count.unwrap_or(u64::MAX))
}

fn flow(spec: &FlowSpec, speed: PortSpeed, length: Dur) -> u64 {
    let packets = u64::from(spec.message.div_ceil(spec.mtu.max(1)).max(1));
    let message = Bytes(u64::from(spec.message) + packets * AROUND.0);
    let gap = speed.slot(Bytes(message.0.div_ceil(packets)).max(MIN_FRAME));
    let most = spec.count.map_or(u64::MAX, |messages| u64::from(messages) * packets);
    Pace::every(gap).within(length).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_testcases::{Container, IpVersion};
    use rig_testcases::{MacsecMode, PfcFrames, Step, StormSpec, StreamRate, StreamSpec, Verb};
    use rig_units::Quanta;

    const SPEED: PortSpeed = PortSpeed::G100;

    fn stream(name: &str, from: u16, rate: &str, count: Option<u64>) -> StreamSpec {
        StreamSpec {
            name: name.into(),
            size: Bytes(1024),
            rate: StreamRate::Load(rate.parse().expect("a rate")),
            count,
            ..StreamSpec::probe(from, 1)
        }
    }

    fn script(steps: &[(u64, Action)]) -> Script {
        let storm = StormSpec { name: "storm".into(), ..StormSpec::steady(1) };
        let flow = FlowSpec {
            name: "flow".into(),
            nic: 1,
            to: 0,
            class: 3,
            dscp: 3,
            verb: Verb::Write,
            message: 4096,
            mtu: 1024,
            count: Some(10),
            psn: 0,
            address: 0,
            vlan: None,
            over: IpVersion::V4,
            gid: 0,
            container: Container::USUAL,
            app: None,
        };
        let mut spec = flow.clone();
        (spec.name, spec.count) = ("endless".into(), None);
        let steps =
            steps.iter().map(|(ms, action)| Step { at: Dur::ms(*ms), action: action.clone() });
        Script {
            flows: vec![flow, spec],
            streams: vec![stream("load", 0, "50%", None), stream("few", 1, "1%", Some(7))],
            storms: vec![storm],
            steps: steps.collect(),
            length: Dur::ms(10),
            ..Script::idle(2)
        }
    }

    fn tallies(steps: &[(u64, Action)]) -> Vec<(String, u64)> {
        let script = script(steps);
        let program = Program::of(&script, &[SPEED; 2]).expect("it can be sent");
        let all = Tally::of(&script, &program).into_iter();
        all.filter(|tally| tally.frames > 0).map(|tally| (tally.key, tally.frames)).collect()
    }

    #[test]
    fn a_sender_counts_from_each_start_to_its_stop_or_to_the_end() {
        assert_eq!(tallies(&[]), []);
        // A frame of 1024 B with preamble and gap every 167.04 ns.
        let load = |ms: u64| ("streams.load".to_owned(), (Dur::ms(ms).0).div_ceil(167_040));
        assert_eq!(tallies(&[(0, Action::StartStream(0))]), [load(10)]);
        let twice =
            [(1, Action::StartStream(0)), (2, Action::StopStream(0)), (7, Action::StartStream(0))];
        assert_eq!(tallies(&twice), [("streams.load".to_owned(), load(1).1 + load(3).1)]);
        let storm = [(2, Action::StartStorm(0)), (3, Action::StopStorm(0))];
        assert_eq!(tallies(&storm), [("storms.storm".to_owned(), 10)]);
    }

    #[test]
    fn one_that_ends_by_itself_counts_no_further() {
        let few = [(0, Action::StartStream(1)), (1, Action::StartFlow(0))];
        // Ten messages of four packets.
        assert_eq!(tallies(&few), [("streams.few".to_owned(), 7), ("flows.flow".to_owned(), 40)]);
    }

    #[test]
    fn a_flow_is_as_fast_as_its_port() {
        // 1024 B of payload with all that is around take 1106 B of the line: 88.48 ns.
        let frames = Dur::ms(9).0.div_ceil(88_480);
        assert_eq!(tallies(&[(1, Action::StartFlow(1))]), [("flows.endless".to_owned(), frames)]);
    }

    #[test]
    fn pfc_by_hand_counts_where_it_stands() {
        let pfc = PfcFrames {
            odd: rig_testcases::PfcOdd::No,
            from: 0,
            enable: 8,
            quanta: Quanta(0),
            count: 5,
            every: Dur::us(1),
            macsec: MacsecMode::Usual,
        };
        let twice = [(0, Action::Pfc(pfc.clone())), (1, Action::Pfc(pfc))];
        assert_eq!(tallies(&twice), [("steps".to_owned(), 10)]);
    }
}
