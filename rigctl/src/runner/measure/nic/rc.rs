//! Reliable connections: what a receiver answers, and how a sender goes back.

use super::super::{Done, Judged, Read};
use super::Seen;
use crate::runner::trial::Trial;
use rig_capture::{Span, Unit};
use rig_frames::psn::Psn;
use rig_oracle::Prediction;
use rig_oracle::judge::nic::rc::{self, Answer, Event, Fault, Sent, Sight};
use rig_oracle::spec::nic::rc::{Data, Packet, SOURCE, Says};
use rig_oracle::verdict::Doubt;
use rig_testcases::RoceKind;
use rig_units::Time;

/// One end of a connection.
struct End {
    /// The rig port in front of it.
    port: u16,
    connection: u16,
    /// The number of the connection's first packet.
    first: Psn,
}

impl End {
    /// The end that receives what a stream or flow sends.
    fn receiver(trial: &Trial, name: &str) -> Result<End, Doubt> {
        if let Ok((index, spec)) = trial.stream(name) {
            return Ok(End { port: spec.to, connection: index, first: Psn::new(spec.psn) });
        }
        let (index, spec) = trial.flow(name)?;
        let connection = trial.script.connection(index);
        Ok(End { port: spec.to, connection, first: Psn::new(spec.psn) })
    }

    /// The NIC that sends a flow.
    fn sender(trial: &Trial, name: &str) -> Result<End, Doubt> {
        let (index, spec) = trial.flow(name)?;
        let connection = trial.script.connection(index);
        Ok(End { port: spec.nic, connection, first: Psn::new(spec.psn) })
    }
}

/// What an acknowledgement or a NAK says.
const fn says(kind: RoceKind) -> Option<Says> {
    match kind {
        RoceKind::Ack => Some(Says::Ack),
        RoceKind::Nak => Some(Says::Nak),
        RoceKind::Data { .. } | RoceKind::Cnp { .. } | RoceKind::ReadRequest => None,
    }
}

fn sight(trial: &Trial, seen: &Seen<'_>) -> Sight {
    Sight {
        bound: trial.observation.bound(),
        busy: seen.busy,
        allowance: Some(seen.busy),
        until: Time::ZERO + trial.script.length,
    }
}

/// Judges what a NIC says to the packets that reach it.
pub(super) fn receiver(done: &Done<'_>, name: &str, judged: &mut Judged) {
    done.each("rc.receiver", name, judged, |trial| {
        let end = End::receiver(trial, name)?;
        let seen = Seen::of(done, trial, end.port);
        let own = |connection: u16| connection == end.connection;
        let (records, packets): (Vec<usize>, Vec<Packet>) = seen
            .reached
            .iter()
            .filter(|one| own(one.connection))
            .filter_map(|one| match one.kind {
                RoceKind::Data { last, .. } => {
                    let packet = Packet { at: one.at, psn: Psn::new(one.psn), last };
                    Some((one.record, packet))
                }
                _ => None,
            })
            .unzip();
        let replies = seen.left.iter().filter(|one| own(one.roce.connection));
        let (replied, answers): (Vec<usize>, Vec<Answer>) = replies
            .filter_map(|one| {
                let says = says(one.roce.kind)?;
                Some((one.record, Answer { at: one.at, says, psn: Psn::new(one.roce.psn) }))
            })
            .unzip();
        if packets.is_empty() {
            return Err(trial.doubt(&format!("nothing of {name} reached the NIC")));
        }
        let data = (Data::Requests, end.first);
        let sight = sight(trial, &seen);
        let answered = rc::receiver(&seen.nic.rc, data, &packets, &answers, &sight);
        let text = format!(
            "one in {} of {} packets acknowledged and the last of each message, one NAK for each hole",
            seen.nic.rc.ack_every,
            packets.len()
        );
        Ok(Some(read(&answered.faults, text, &records, &replied)))
    });
}

/// Judges the order in which a NIC sends the packets of a flow.
pub(super) fn sender(done: &Done<'_>, name: &str, judged: &mut Judged) {
    done.each("rc.sender", name, judged, |trial| {
        let end = End::sender(trial, name)?;
        let seen = Seen::of(done, trial, end.port);
        let own = |connection: u16| connection == end.connection;
        let data = seen.left.iter().filter(|one| own(one.roce.connection));
        let data = data.filter(|one| matches!(one.roce.kind, RoceKind::Data { .. }));
        let (records, sent): (Vec<usize>, Vec<Sent>) =
            data.map(|one| (one.record, Sent { at: one.at, psn: Psn::new(one.roce.psn) })).unzip();
        let (came_by, came): (Vec<usize>, Vec<Event>) = seen
            .reached
            .iter()
            .filter(|one| own(one.connection))
            .filter_map(|one| {
                let says = says(one.kind)?;
                Some((one.record, Event { at: one.at, says, psn: Psn::new(one.psn) }))
            })
            .unzip();
        if sent.is_empty() {
            return Err(trial.doubt(&format!("{name} sent nothing")));
        }
        // A flow that is held back goes back when its rate allows it.
        let slowed = seen.reached.iter().any(|one| matches!(one.kind, RoceKind::Cnp { .. }));
        let sight = sight(trial, &seen);
        let sight = Sight { allowance: sight.allowance.filter(|_| !slowed), ..sight };
        let resent = rc::sender(&seen.nic.rc, end.first, &sent, &came, &sight);
        let naks = came.iter().filter(|one| one.says == Says::Nak).count();
        let text = format!(
            "{} packets in order, and after each of {naks} NAKs on from the one that it names",
            sent.len()
        );
        Ok(Some(read(&resent.faults, text, &records, &came_by)))
    });
}

/// What is wrong, with the frames that show the first of it.
fn read(faults: &[Fault], text: String, packets: &[usize], replies: &[usize]) -> Read {
    let got = faults.first().map(|first| match faults.len() {
        1 => first.told().to_owned(),
        all => format!("{}, and {} faults more", first.told(), all - 1),
    });
    let shown = faults.first().map(|first| first.shown_by());
    let (packet, reply) = shown.unwrap_or((None, None));
    let packet = packet.and_then(|packet| packets.get(packet));
    let reply = reply.and_then(|reply| replies.get(reply));
    let want = Prediction {
        unit: Unit::Count,
        span: Span::exactly(0),
        formula: "go-back-N, numbers modulo 2^24",
        text,
        source: SOURCE,
    };
    let span = Span::exactly(u64::try_from(faults.len()).unwrap_or(u64::MAX));
    Read { span, want, got, records: packet.into_iter().chain(reply).copied().collect() }
}
