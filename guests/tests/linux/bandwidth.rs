//! Programs of bandwidth whose server is in the guest: the rig asks, many at once and by several queue pairs.

use super::latency::completed;
use super::{recorded, session};
use rig_capture::connection::{Connection, Operation};
use rig_guests::{Came, FlowsOver, Guest};
use std::collections::BTreeMap;

/// A program with its flags; what it does, how often on each of how many queue pairs, and packets of requests on each.
type Asks = (&'static str, &'static str, Operation, (u64, usize, u64));

/// Of each program one.
const PROGRAMS: [Asks; 4] = [
    ("ib_send_bw", "-n 40 -s 1500 -m 1024", Operation::Send, (40, 1, 80)),
    ("ib_write_bw", "-n 40 -s 8192 -m 1024 -q 2", Operation::Write, (40, 2, 320)),
    ("ib_read_bw", "-n 40 -s 8192 -m 1024", Operation::Read, (40, 1, 40)),
    ("ib_atomic_bw", "-n 40 -q 2", Operation::FetchAdd, (40, 2, 40)),
];
/// More: of several queue pairs each; what perftest has by itself; messages larger than what is under way at once, and one READ that is; more SENDs than the server has posted, and more than it
/// has posted at all.
const MORE: [Asks; 12] = [
    ("ib_send_bw", "-n 300 -s 3000 -m 512 -q 3", Operation::Send, (300, 3, 1_800)),
    ("ib_read_bw", "-n 300 -s 3000 -m 256 -q 4", Operation::Read, (300, 4, 300)),
    ("ib_atomic_bw", "-n 300 -q 16", Operation::FetchAdd, (300, 16, 300)),
    ("ib_write_bw", "-n 20 -s 100 -q 16 -t 1", Operation::Write, (20, 16, 20)),
    ("ib_send_bw", "-s 8", Operation::Send, (1_000, 1, 1_000)),
    ("ib_write_bw", "-s 8", Operation::Write, (5_000, 1, 5_000)),
    ("ib_read_bw", "-s 8", Operation::Read, (1_000, 1, 1_000)),
    ("ib_atomic_bw", "", Operation::FetchAdd, (1_000, 1, 1_000)),
    ("ib_write_bw", "-n 5", Operation::Write, (5, 1, 320)),
    ("ib_read_bw", "-n 5", Operation::Read, (5, 1, 5)),
    ("ib_send_bw", "-n 5 -s 1000000 -m 1024", Operation::Send, (5, 1, 4_885)),
    ("ib_atomic_bw", "-n 40 -o 1", Operation::FetchAdd, (40, 1, 40)),
];

/// What it comes to.
pub(super) fn its_servers_take_what_the_rig_asks(guest: &mut Guest) {
    let whole = std::env::var_os("RIG_WHOLE_LINUX").is_some_and(|all| all == "1");
    for asks in PROGRAMS.into_iter().chain(MORE.into_iter().filter(|_| whole)) {
        each_comes_once(guest, FlowsOver::V4, asks);
    }
    let over_ipv6 = if whole { &PROGRAMS[..] } else { &PROGRAMS[2..3] };
    for asks in over_ipv6 {
        each_comes_once(guest, FlowsOver::V6, *asks);
    }
}

fn each_comes_once(
    guest: &mut Guest,
    over: FlowsOver,
    (program, flags, operation, (messages, pairs, packets)): Asks,
) {
    let session = session(over, (program, flags), &[]);
    let (came, connections) = recorded(|record| session.run_as_client(guest, record));
    let told = format!("{program} {flags} {over:?}: {came:#?} {connections:#?}");
    completed(&came, &connections, 0);
    assert_eq!((connections.len(), came.passed.connections.len()), (pairs, pairs), "{told}");
    let each = BTreeMap::from([(operation, messages)]);
    let of =
        |of: &Connection| (of.requests.messages.clone(), of.requests.packets, of.requests.repeated);
    assert!(connections.iter().all(|one| of(one) == (each.clone(), packets, 0)), "{told}");
    for moved in &came.passed.connections {
        let asked = moved.asked;
        let counts = [asked.messages, asked.answered, asked.packets, asked.again, asked.odd];
        assert_eq!(counts, [messages, messages, packets, 0, 0], "{told}");
        let size = session.messages().expect("its flags are right").size;
        let read = if operation == Operation::Read { messages * u64::from(size) } else { 0 };
        assert_eq!((asked.read, moved.taken.messages), (read, 0), "{told}");
    }
    the_server_shows_what_it_was_told(&came, program, messages * pairs as u64);
}

/// Its last line of figures: bytes, messages, and three rates.
fn the_server_shows_what_it_was_told(came: &Came, program: &str, messages: u64) {
    let mut figures = came.ran.lines.iter().filter_map(|line| {
        let each = line.split_whitespace().map(str::parse);
        each.collect::<Result<Vec<f64>, _>>().ok().filter(|figures| figures.len() == 5)
    });
    let last = figures.next_back();
    // Of few bytes at a machine that is busy it shows 0.00 MB/s: messages a second have six places.
    let shown = last.as_ref().map(|figures| (figures[1], figures[4] > 0.0));
    assert_eq!(shown, Some((messages as f64, true)), "{program}: {:#?}", came.ran.lines);
}
