//! Programs of latency: one message behind the other, with the rig as their server and as their client.

use super::{recorded, run, session};
use rig_capture::connection::{Connection, Operation};
use rig_frames::packet::RoceFrame;
use rig_guests::guest::{GUEST, GUEST_V6, RIG, RIG_V6};
use rig_guests::peer::{Midway, Onward, OpenWay, QpPair, Treatment};
use rig_guests::{Came, FlowsOver, Guest};
use rig_units::Time;
use std::net::IpAddr;

/// Each program with flags of its messages, what it does, and packets of requests at either end that asks.
const PROGRAMS: [(&str, &str, Operation, u64); 5] = [
    ("ib_write_lat", "-n 40", Operation::Write, 40),
    ("ib_write_lat", "-n 40 -s 1500 -m 1024", Operation::Write, 80),
    ("ib_send_lat", "-n 40 -s 1500 -m 1024", Operation::Send, 80),
    ("ib_read_lat", "-n 40 -s 1500 -m 1024", Operation::Read, 40),
    ("ib_atomic_lat", "-n 40", Operation::FetchAdd, 40),
];
/// More of the same: more messages than a byte has numbers, of a path MTU that is not the NIC's.
const MORE: [(&str, &str, Operation, u64); 4] = [
    ("ib_write_lat", "-n 300 -s 3000 -m 512", Operation::Write, 1_800),
    ("ib_send_lat", "-n 300 -s 1", Operation::Send, 300),
    ("ib_read_lat", "-n 300 -s 3000 -m 256", Operation::Read, 300),
    ("ib_atomic_lat", "-n 300 -u 16", Operation::FetchAdd, 300),
];

/// What either end asked.
pub(super) struct Asked<'a> {
    nic: Option<&'a Connection>,
    rig: Option<&'a Connection>,
}

/// It completed, and its NIC has counted what the frames come to.
pub(super) fn completed<'a>(came: &Came, connections: &'a [Connection], lost: u64) -> Asked<'a> {
    let told = format!("{came:#?} {connections:#?}");
    assert_eq!((came.ran.status, &came.unfinished), (0, &None), "{told}");
    let of = |asks: [IpAddr; 2]| connections.iter().filter(move |of| asks.contains(&of.requester));
    let (nic, rig) = ([GUEST.into(), GUEST_V6.into()], [RIG.into(), RIG_V6.into()]);
    let packets = |asks| of(asks).map(|of| of.requests.packets).sum::<u64>();
    let answers = |asks| {
        let of = of(asks).map(|of| &of.answers);
        of.map(|a| a.acks + a.sequence_naks + a.read_responses + a.atomic_responses).sum::<u64>()
    };
    let grown = came.counters.grown();
    assert_eq!(
        (grown["sent_pkts"], grown["rcvd_pkts"]),
        (packets(nic) + lost + answers(rig), packets(rig) + answers(nic)),
        "{told}"
    );
    Asked { nic: of(nic).next(), rig: of(rig).next() }
}

/// One end has asked so much, each once. Of a program that sends when all is acknowledged the NIC of Linux may send some again that
/// nobody asks for, as its timer is never stopped (docs/soft-roce.md): of `nic` that is none of what it asked.
fn asked(
    (of, nic): (Option<&Connection>, bool),
    operation: Operation,
    (messages, packets): (u64, u64),
) {
    let one = of.expect("it asks");
    let requests = &one.requests;
    assert_eq!(requests.messages.get(&operation), Some(&messages), "{one:#?}");
    let unasked = if nic { requests.repeated } else { 0 };
    assert_eq!((requests.packets, requests.repeated), (packets + unasked, unasked), "{one:#?}");
    // Each once more at most: the timer is begun anew with it.
    assert!(unasked <= packets && requests.back_unasked == unasked, "{one:#?}");
    assert_eq!((requests.back_after_nak, requests.unseen), (0, 0), "{one:#?}");
}

pub(super) fn one_message_behind_the_other_from_either_end(guest: &mut Guest) {
    let whole = std::env::var_os("RIG_WHOLE_LINUX").is_some_and(|all| all == "1");
    let more = MORE.into_iter().filter(|_| whole).map(|program| (300, program));
    for (messages, program) in PROGRAMS.map(|program| (40, program)).into_iter().chain(more) {
        from_either_end(guest, FlowsOver::V4, messages, program);
    }
    for program in PROGRAMS.into_iter().filter(|_| whole) {
        from_either_end(guest, FlowsOver::V6, 40, program);
    }
    what_is_lost_comes_again(guest);
}

/// A program, with the rig as its server and as its client.
fn from_either_end(
    guest: &mut Guest,
    over: FlowsOver,
    messages: u64,
    (program, flags, operation, packets): (&str, &str, Operation, u64),
) {
    // Of SENDs and WRITEs both ask in turn, whoever is the server.
    let both = matches!(operation, Operation::Send | Operation::Write);
    let (came, connections) = run(guest, over, (program, flags), &[]);
    let of = completed(&came, &connections, 0);
    asked((of.nic, true), operation, (messages, packets));
    assert_eq!(of.rig.is_some(), both, "{connections:#?}");
    if both {
        asked((of.rig, false), operation, (messages, packets));
    }

    let session = session(over, (program, flags), &[]);
    let (came, connections) = recorded(|record| session.run_as_client(guest, record));
    let of = completed(&came, &connections, 0);
    asked((of.rig, false), operation, (messages, packets));
    assert_eq!(of.nic.is_some(), both, "{connections:#?}");
    if both {
        asked((of.nic, true), operation, (messages, packets));
    }
    let counts = came.passed.connections[0].asked;
    assert_eq!((counts.messages, counts.answered, counts.again), (messages, messages, 0));
}

/// A way on which the first frame of the rig's to the NIC is lost.
struct FirstIsLost(u32);

impl Midway for FirstIsLost {
    fn met(&mut self, _ends: &QpPair) {}

    fn passes(&mut self, at: Time, to: Onward, frame: &RoceFrame) -> Treatment {
        if to != Onward::Nic {
            return OpenWay.passes(at, to, frame);
        }
        self.0 += 1;
        if self.0 == 1 { Treatment::Lost } else { Treatment::Passes }
    }

    fn arrived(&mut self, _at: Time, _frame: &RoceFrame, _spoilt: bool) {}
}

/// A packet of the guest's is lost on the way, and the message that it was of is followed by one of the rig's all the same. And the rig's first WRITE, for which the guest's program
/// waits before it sends anything.
fn what_is_lost_comes_again(guest: &mut Guest) {
    let flags = "-n 40 -s 1500 -m 1024";
    let (came, connections) = run(guest, FlowsOver::V4, ("ib_send_lat", flags), &["drop:3"]);
    let of = completed(&came, &connections, 1);
    let messages = [of.nic, of.rig].map(|of| of.expect("both ask").requests.messages.clone());
    assert_eq!(messages.map(|of| of.get(&Operation::Send).copied()), [Some(40), Some(40)]);
    assert_eq!(of.rig.map(|of| (of.requests.packets, of.requests.repeated)), Some((80, 0)));

    let session = session(FlowsOver::V4, ("ib_write_lat", "-n 40"), &[]);
    let (came, connections) =
        recorded(|record| session.run_through(guest, (record, Box::new(FirstIsLost(0)))));
    let of = completed(&came, &connections, 0);
    asked((of.rig, false), Operation::Write, (40, 40));
    let counts = came.passed.connections[0].asked;
    assert_eq!((counts.packets, counts.again, counts.unheard), (41, 1, 1), "{came:#?}");
}
