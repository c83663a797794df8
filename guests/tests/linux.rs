//! Linux's own RoCE NIC in a guest, with unmodified perftest as the application and the rig as its peer. One boot for all.

use rig_capture::connection::{Connection, Finder, Operation};
use rig_frames::packet::{self, Packet};
use rig_generator::netlab::Namespace;
use rig_guests::{Came, Guest, GuestFault, Image, Perftest};
use std::path::Path;
use std::sync::{Arc, Mutex};

/// A guest, or `None` with a word on stderr where this machine can have none.
#[expect(clippy::print_stderr, reason = "a skipped test says why")]
fn guest() -> Option<Guest> {
    let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
    let lacks = rig_guests::image::missing();
    let why = match Namespace::new() {
        Err(error) => Some(error.to_string()),
        Ok(_) if !lacks.is_empty() => Some(GuestFault::Missing(lacks).to_string()),
        Ok(_) => None,
    };
    if let Some(why) = why {
        assert!(!required, "{why} (RIG_REQUIRE_ALL=1)");
        eprintln!("skipped: {why}");
        return None;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest");
    let image = match Image::build(&folder) {
        Ok(image) => image,
        Err(fault) => {
            // The kernel is fetched: without a network there is none.
            assert!(!required, "{fault} (RIG_REQUIRE_ALL=1)");
            eprintln!("skipped: {fault}");
            return None;
        }
    };
    Some(Guest::boot(&image, &folder.join("console")).expect("a guest"))
}

/// Runs a program; what came of it, and what the frames show.
fn run(guest: &mut Guest, program: &str, flags: &str, rules: &[&str]) -> (Came, Vec<Connection>) {
    let session = Perftest {
        program: program.to_owned(),
        flags: flags.split_whitespace().map(str::to_owned).collect(),
        rules: rules.iter().map(|rule| rule.parse().expect("a rule")).collect(),
    };
    let finder = Arc::new(Mutex::new(Finder::default()));
    let into = Arc::clone(&finder);
    let record = Box::new(move |at, _, bytes: &[u8]| {
        if let Ok(Packet::Roce { frame, icrc_ok }) = packet::parse(bytes) {
            into.lock().expect("nobody panics").take(0, at, &frame, icrc_ok);
        }
    });
    let came = session.run(guest, record).expect("a session");
    assert_eq!(came.passed.lost, 0, "{came:#?}");
    let connections = finder.lock().expect("nobody panics").connections();
    (came, connections)
}

/// As [`run`]: it completes, and the NIC's own counters are what the frames come to.
fn completes(
    guest: &mut Guest,
    program: &str,
    flags: &str,
    rules: &[&str],
) -> (Came, Vec<Connection>) {
    let (came, connections) = run(guest, program, flags, rules);
    let told = format!("{program} {flags} {rules:?}: {came:#?} {connections:#?}");
    assert_eq!((came.ran.status, &came.unfinished), (0, &None), "{told}");
    let sum = |of: fn(&Connection) -> u64| connections.iter().map(of).sum::<u64>();
    let dropped: u64 = came.passed.connections.iter().map(|moved| moved.dropped).sum();
    let answers = |of: &Connection| {
        of.answers.acks
            + of.answers.sequence_naks
            + of.answers.read_responses
            + of.answers.atomic_responses
    };
    let frames = [
        sum(|of| of.requests.packets) + dropped,
        sum(answers),
        sum(|of| of.answers.naks_that_advance),
    ];
    let counters = ["sent_pkts", "rcvd_pkts", "rcvd_seq_err"].map(|name| came.counters[name]);
    assert_eq!(counters, frames, "{told}");
    (came, connections)
}

const FLAGS: &str = "-n 40 -s 8192 -m 1024";

#[test]
fn an_unmodified_perftest_completes_against_the_rig_and_recovers_from_what_is_lost() {
    let Some(mut guest) = guest() else { return };
    let guest = &mut guest;

    // Nothing is lost: each message once, and nothing comes again.
    for (program, flags, operation, packets) in [
        ("ib_write_bw", FLAGS, Operation::Write, 320),
        ("ib_read_bw", FLAGS, Operation::Read, 40),
        ("ib_atomic_bw", "-n 40", Operation::FetchAdd, 40),
    ] {
        let (_, connections) = completes(guest, program, flags, &[]);
        let [one] = &connections[..] else { panic!("{connections:#?}") };
        assert_eq!(one.requests.messages.get(&operation), Some(&40), "{one:#?}");
        assert_eq!((one.requests.packets, one.requests.repeated), (packets, 0), "{one:#?}");
    }

    // A packet is lost on each of two queue pairs: one NAK each, and the sequence goes back to it (go-back-N).
    let (came, connections) =
        completes(guest, "ib_send_bw", &format!("{FLAGS} -q 2"), &["drop:21"]);
    assert_eq!(came.counters["rcvd_seq_err"], 2, "{came:#?}");
    assert_eq!(connections.len(), 2, "{connections:#?}");
    for (one, moved) in connections.iter().zip(&came.passed.connections) {
        assert_eq!(one.requests.messages.get(&Operation::Send), Some(&40), "{one:#?}");
        assert_eq!((one.requests.out_of_sequence, one.requests.back_after_nak), (1, 1), "{one:#?}");
        assert_eq!(
            (moved.dropped, moved.taken.out_of_sequence, moved.taken.messages),
            (1, 1, 40),
            "{moved:#?}"
        );
    }

    // The last acknowledgement is lost: only the requester's timer brings the last message back.
    let (came, connections) = completes(guest, "ib_write_bw", FLAGS, &["withhold:319"]);
    let [one] = &connections[..] else { panic!("{connections:#?}") };
    assert_eq!(
        (came.passed.connections[0].withheld, one.answers.sequence_naks),
        (1, 0),
        "{one:#?}"
    );
    assert!(one.requests.back_unasked > 0 && one.requests.duplicates > 0, "{one:#?}");

    // Eight losses of one packet are more than a retry count of 7, which perftest sets, allows (IBTA Vol 1, 9.7.6). rxe takes 7
    // to be without end, and goes on. The only NAK acknowledges nothing new, and is not counted.
    let (came, connections) = completes(guest, "ib_write_bw", "-n 5 -s 8 -m 1024", &["drop:0:20"]);
    let [one] = &connections[..] else { panic!("{connections:#?}") };
    assert_eq!(
        (came.passed.connections[0].dropped, one.answers.sequence_naks),
        (20, 1),
        "{one:#?}"
    );
    assert_eq!(
        (came.counters["completer_retry_err"], came.counters["retry_exceeded_err"]),
        (20, 0),
        "{came:#?}"
    );
}
