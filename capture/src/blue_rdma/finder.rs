//! Sorts packets by queue pair, and tells those of the dialect from RoCEv2's.

use super::books::Books;
use super::seen::{Seen, posted};
use super::{Dialogue, Placed, Reported};
use core::cmp::Reverse;
use core::net::Ipv4Addr;
use indexmap::IndexMap;
use rig_frames::blue_rdma::{Datagram, Header, bth};
use rig_frames::roce::Qpn;
use rig_frames::{Malformed, icrc};
use rig_units::Time;

/// Takes the frames of a capture in order of time.
#[derive(Debug, Default)]
pub struct Finder {
    lanes: IndexMap<Lane, Passed>,
}

/// The rig's port, both addresses, and the queue pair that it goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Lane {
    port: u16,
    src: Ipv4Addr,
    dst: Ipv4Addr,
    to: Qpn,
}

impl Lane {
    /// Whether the other one goes from this one's destination to its source.
    fn is_answered_by(&self, other: &Lane) -> bool {
        (self.port, self.src, self.dst) == (other.port, other.dst, other.src)
    }
}

/// All that goes one way to one queue pair: what it is to place, and what it is told of what it sent itself.
#[derive(Debug, Default)]
struct Passed {
    data: Vec<Seen>,
    reports: Vec<Seen>,
    /// Whether one of them is of the dialect without a doubt.
    told: bool,
    malformed_data: u64,
    malformed_reports: u64,
    first_malformed: Option<Malformed>,
}

impl Finder {
    /// A frame that passed port `port` at `at`, from its destination address on; of one that is cut what is missing is zeros.
    pub fn take(&mut self, port: u16, at: Time, frame: &[u8]) {
        let Some((datagram, lane, bth)) = read(port, frame) else { return };
        let passed = self.lanes.entry(lane).or_default();
        match Header::parse(datagram.bytes) {
            Ok((header, payload)) => {
                let seen = Seen::of(at, &datagram, header, payload);
                let unlike = seen.is_unlike_roce() || seen.says_its_length();
                passed.told |= unlike && !is_roce(frame);
                let all =
                    if seen.posted().is_some() { &mut passed.data } else { &mut passed.reports };
                all.push(seen);
            }
            Err(bad) => {
                let count = match posted(bth.opcode) {
                    Some(_) => &mut passed.malformed_data,
                    None => &mut passed.malformed_reports,
                };
                *count += 1;
                passed.first_malformed.get_or_insert(bad);
            }
        }
    }

    /// Whether a frame that was taken is of the dialect.
    pub fn has(&self, port: u16, frame: &[u8]) -> bool {
        let lane = read(port, frame).and_then(|(_, lane, _)| self.lanes.get(&lane));
        lane.is_some_and(|passed| passed.told)
    }

    /// The ways between queue pairs, by the first packet of each.
    pub fn dialogues(&self) -> Vec<Dialogue> {
        let told: Vec<(&Lane, &Passed)> =
            self.lanes.iter().filter(|(_, passed)| passed.told).collect();
        let mut sending: Vec<usize> = (0..told.len()).filter(|&at| told[at].1.has_data()).collect();
        sending.sort_by_key(|&at| Reverse(told[at].1.data.len()));
        // A queue pair sends to one other: where several would be told the same, it is the one that got most.
        let mut heard = vec![false; told.len()];
        let mut own = vec![None; told.len()];
        for at in sending {
            own[at] = answers(&told, told[at]).filter(|&answer| !heard[answer]);
            own[at].into_iter().for_each(|answer| heard[answer] = true);
        }
        let mut all = Vec::new();
        for ((lane, passed), own) in told.iter().zip(own).filter(|((_, of), _)| of.has_data()) {
            let answer = own.map(|at| told[at]);
            let to = answer.map(|(lane, _)| lane.to.get());
            all.push(dialogue(
                lane,
                Some(lane.to.get()),
                to,
                (Some(passed), answer.map(|of| of.1)),
            ));
        }
        let alone = told.iter().zip(heard).filter(|((_, of), heard)| of.has_reports() && !heard);
        all.extend(alone.map(|((lane, passed), _)| {
            let back = Lane { src: lane.dst, dst: lane.src, ..**lane };
            dialogue(&back, None, Some(lane.to.get()), (None, Some(passed)))
        }));
        all
    }
}

impl Passed {
    fn has_data(&self) -> bool {
        !self.data.is_empty() || self.malformed_data > 0
    }

    fn has_reports(&self) -> bool {
        !self.reports.is_empty() || self.malformed_reports > 0
    }
}

/// A datagram, where it goes, and its first header: none where it cannot be of the dialect.
fn read(port: u16, frame: &[u8]) -> Option<(Datagram<'_>, Lane, bth::Repr)> {
    let datagram = Datagram::of(frame)?;
    let (bth, _) = bth::Repr::parse(datagram.bytes).ok()?;
    let lane = Lane { port, src: datagram.src, dst: datagram.dst, to: bth.dest_qp };
    Some((datagram, lane, bth))
}

/// Whether a frame ends with an ICRC that is right.
fn is_roce(frame: &[u8]) -> bool {
    icrc::holds(frame) == Ok(true)
}

/// Which of the ways back is told of what goes this one: that of the queue pair whose number the UDP port is made of, or the only one
/// there is where nothing else goes this way.
fn answers(told: &[(&Lane, &Passed)], (lane, passed): (&Lane, &Passed)) -> Option<usize> {
    let back = told.iter().enumerate();
    let back = back.filter(|(_, (other, of))| lane.is_answered_by(other) && of.has_reports());
    let back: Vec<(usize, u32)> = back.map(|(at, (other, _))| (at, other.to.get())).collect();
    let port = passed.data.first().map(|seen| u32::from(seen.src_port));
    let mut by_port = back.iter().filter(|(_, to)| port == Some(to & 0xffff));
    if let (Some((only, _)), None) = (by_port.next(), by_port.next()) {
        return Some(*only);
    }
    let beside = |(other, of): &&(&Lane, &Passed)| {
        (other.port, other.src, other.dst) == (lane.port, lane.src, lane.dst) && of.has_data()
    };
    match back[..] {
        [(only, _)] if told.iter().filter(beside).count() == 1 => Some(only),
        _ => None,
    }
}

fn dialogue(
    Lane { port, src, dst, .. }: &Lane,
    receiver_qp: Option<u32>,
    sender_qp: Option<u32>,
    (data, reports): (Option<&Passed>, Option<&Passed>),
) -> Dialogue {
    let sent = data.map_or(&[][..], |of| &of.data);
    let said = reports.map_or(&[][..], |of| &of.reports);
    let (placed, reported) = Books::of(sent, said);
    Dialogue {
        port: *port,
        sender: *src,
        receiver: *dst,
        receiver_qp,
        sender_qp,
        data: Placed {
            malformed: data.map_or(0, |of| of.malformed_data),
            first_malformed: data.and_then(|of| of.first_malformed).map(|bad| bad.to_string()),
            ..placed
        },
        reports: Reported { malformed: reports.map_or(0, |of| of.malformed_reports), ..reported },
    }
}
