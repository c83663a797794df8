//! Linux's own RoCE NIC in a guest, with unmodified perftest as the application and the rig as its peer. One boot for all.

#[path = "linux/bandwidth.rs"]
mod bandwidth;
#[path = "linux/latency.rs"]
mod latency;
#[path = "linux/macsec.rs"]
mod macsec;

use rig_capture::connection::{Connection, Finder, Operation};
use rig_frames::ip::{Dscp, Ip};
use rig_frames::packet::{self, Packet, Path as Way, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::aeth::Syndrome;
use rig_frames::roce::{Ext, Opcode, bth, reth};
use rig_frames::{ipv4, ipv6};
use rig_generator::netlab::Namespace;
use rig_generator::port::Mono;
use rig_guests::guest::{GUEST, GUEST_V6, RIG, RIG_V6};
use rig_guests::peer::{Conduct, FrameTap, OpenWay, TimedFrame};
use rig_guests::{
    Came, FlowsOver, Guest, GuestFault, GuestRole, HwCounters, Image, PATIENCE, Perftest, Sink,
    Toward, side_by_side, stream_of, toward,
};
use rig_units::Dur;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

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
    Some(
        Guest::boot(
            &image,
            GuestRole::Nic,
            &folder.join(if std::env::var_os(CHILD).is_some() {
                "console-of-child"
            } else {
                "console"
            }),
            Arc::new(rig_guests::NeverAsked),
        )
        .expect("a guest"),
    )
}

/// Set for a child of this test, which boots a guest and waits to be killed.
const CHILD: &str = "RIG_TEST_GUEST_CHILD";

/// Nothing, but in a child: there it boots a guest.
#[test]
fn a_child_of_the_test_below_boots_a_guest() {
    if std::env::var_os(CHILD).is_some()
        && let Some(mut guest) = guest()
    {
        let _until_killed = guest.run("sleep 3600", Duration::from_secs(3_600));
    }
}

/// The number of the QEMU that process `parent` has started, and whether it still runs.
fn qemu_of(parent: u32) -> Option<u32> {
    let all = std::fs::read_dir("/proc").expect("every Linux has it").flatten();
    let mut numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers.find(|&number| {
        let (name, started_by) = (field(number, "Name"), field(number, "PPid"));
        name.is_some_and(|name| name.starts_with("qemu"))
            && started_by.and_then(|by| by.parse().ok()) == Some(parent)
    })
}

/// A field of what the kernel says of a process.
fn field(process: u32, name: &str) -> Option<String> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(field, _)| *field == name).map(|(_, value)| value.trim().to_owned())
}

/// Kills a process that has booted a guest, and sees the guest end with it.
fn a_guest_ends_with_a_rig_that_is_killed() {
    let test = std::env::current_exe().expect("it runs");
    let mut command = Command::new(test);
    command.args(["--exact", "a_child_of_the_test_below_boots_a_guest"]).env(CHILD, "1");
    let mut child = command.stdout(Stdio::null()).spawn().expect("it starts");
    let qemu = loop {
        if let Some(qemu) = qemu_of(child.id()) {
            break qemu;
        }
        assert_eq!(child.try_wait().expect("it is ours"), None, "no guest was started");
        std::thread::yield_now();
    };
    child.kill().expect("it runs");
    child.wait().expect("it ended");
    // Gone, or dead until somebody asks how it ended.
    let killed = Mono::now();
    while field(qemu, "State").is_some_and(|state| !state.starts_with('Z')) {
        assert!(Mono::now().since(killed) < Some(Dur::s(60)), "QEMU {qemu} goes on by itself");
        std::thread::yield_now();
    }
}

/// Runs a program; what came of it, and what the frames show.
fn run(
    guest: &mut Guest,
    over: FlowsOver,
    (program, flags): (&str, &str),
    rules: &[&str],
) -> (Came, Vec<Connection>) {
    let session = session(over, (program, flags), rules);
    recorded(|record| session.run(guest, record))
}

/// An unmodified program with these flags, and what the rig does to it.
fn session(over: FlowsOver, (program, flags): (&str, &str), rules: &[&str]) -> Perftest {
    Perftest {
        program: program.to_owned(),
        flags: flags.split_whitespace().map(str::to_owned).collect(),
        conduct: Conduct {
            rules: rules.iter().map(|rule| rule.parse().expect("a rule")).collect(),
            ack_every: None,
        },
        over,
        patience: PATIENCE,
    }
}

/// What came of a session, and what its frames show.
fn recorded(session: impl FnOnce(FrameTap) -> Result<Came, GuestFault>) -> (Came, Vec<Connection>) {
    let finder = Arc::new(Mutex::new(Finder::default()));
    let into = Arc::clone(&finder);
    let record = Box::new(move |at, _, bytes: &[u8]| {
        if let Ok(Packet::Roce { frame, icrc_ok }) = packet::parse(bytes) {
            into.lock().expect("nobody panics").take(0, at, &frame, icrc_ok);
        }
    });
    let came = session(record).expect("a session");
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
    completes_over(guest, FlowsOver::V4, (program, flags), rules)
}

/// The same over one of the two.
fn completes_over(
    guest: &mut Guest,
    over: FlowsOver,
    (program, flags): (&str, &str),
    rules: &[&str],
) -> (Came, Vec<Connection>) {
    let (came, connections) = run(guest, over, (program, flags), rules);
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
    let grown = came.counters.grown();
    let counters = ["sent_pkts", "rcvd_pkts", "rcvd_seq_err"].map(|name| grown[name]);
    assert_eq!(counters, frames, "{told}");
    (came, connections)
}

const FLAGS: &str = "-n 40 -s 8192 -m 1024";

#[test]
fn an_unmodified_perftest_completes_against_the_rig_and_recovers_from_what_is_lost() {
    let Some(mut guest) = guest() else { return };
    a_guest_ends_with_a_rig_that_is_killed();
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

    bandwidth::its_servers_take_what_the_rig_asks(guest);
    latency::one_message_behind_the_other_from_either_end(guest);

    // A packet is lost on each of two queue pairs: one NAK each, and the sequence goes back to it (go-back-N).
    let (came, connections) =
        completes(guest, "ib_send_bw", &format!("{FLAGS} -q 2"), &["drop:21"]);
    assert_eq!(came.counters.grown()["rcvd_seq_err"], 2, "{came:#?}");
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
    let grown = came.counters.grown();
    assert_eq!((grown["completer_retry_err"], grown["retry_exceeded_err"]), (20, 0), "{came:#?}");

    // Over IPv6, where the ICRC covers other fields: a packet is lost, and comes again.
    let (came, connections) =
        completes_over(guest, FlowsOver::V6, ("ib_write_bw", FLAGS), &["drop:21"]);
    let [one] = &connections[..] else { panic!("{connections:#?}") };
    assert_eq!((one.requester, one.responder), (GUEST_V6.into(), RIG_V6.into()), "{one:#?}");
    assert_eq!(one.requests.messages.get(&Operation::Write), Some(&40), "{one:#?}");
    assert_eq!((one.answers.sequence_naks, one.requests.back_after_nak), (1, 1), "{one:#?}");
    assert_eq!(came.passed.connections[0].wrong_icrc, 0, "{came:#?}");

    its_server_takes_streams_of_the_rig(guest);

    its_clients_send_side_by_side(guest);

    macsec::each_suite_and_what_it_refuses(guest);
}

/// Two clients that send until they are ended, of SENDs and of WRITEs: each with the DSCP that it was asked for, and neither is done before.
fn its_clients_send_side_by_side(guest: &mut Guest) {
    let clients = [("ib_write_bw", 3), ("ib_send_bw", 26)].map(|(program, dscp)| {
        let tclass = dscp << 2;
        let flags = format!("-D 60 -s 65536 -m 1024 -u 0 -S 3 --tclass {tclass} -t 128 -Q 1");
        Perftest {
            program: program.to_owned(),
            flags: flags.split(' ').map(str::to_owned).collect(),
            conduct: Conduct { rules: Vec::new(), ack_every: None },
            over: FlowsOver::V4,
            patience: Duration::from_secs(60),
        }
    });
    let sent: Arc<Mutex<BTreeMap<(u16, u8), u32>>> = Arc::default();
    let counts = Arc::clone(&sent);
    let record = move |_, by_rig: bool, bytes: &[u8]| {
        let Ok(Packet::Roce { frame, icrc_ok: true }) = packet::parse(bytes) else { return };
        let Ip::V4(ip) = frame.path.ip else { return };
        if let Some(place) = stream_of(frame.bth.dest_qp).filter(|_| !by_rig) {
            *counts.lock().expect("ours").entry((place, ip.dscp.get())).or_default() += 1;
        }
    };
    let goes_on = || sent.lock().expect("ours").values().filter(|count| **count > 500).count() < 2;
    let came = side_by_side(guest, &clients, (Box::new(record), Box::new(OpenWay)), &goes_on);
    let came = came.expect("both are there");
    assert_eq!(came.ended, None, "{came:?}");
    let sent = sent.lock().expect("ours");
    assert_eq!(sent.keys().copied().collect::<Vec<_>>(), [(0, 3), (1, 26)]);
    let grown = came.counters.grown();
    assert!(grown["sent_pkts"] > 1_000, "{grown:?}");
}

/// Two streams of WRITEs to the memory of two servers of perftest, and one of SENDs to the queue of a third: each message is acknowledged, the first in the
/// middle of numbers and the second across their end; then one to a key that the server has not told, which is refused.
fn its_server_takes_streams_of_the_rig(guest: &mut Guest) {
    let (write, send) = (Opcode::RcWriteOnly, Opcode::RcSendOnly);
    let streams = [(write, 946, 7), (write, 200, 0xff_fffe), (send, 512, 3)];
    let streams =
        streams.map(|(opcode, payload, psn)| Toward { opcode, payload, psn: Psn::new(psn) });
    let to = |sink: &Sink, stream: &Toward, seq: u32, key: u32| {
        let (own, mac, _) = sink.own;
        assert_eq!(own.get() & 0xff, own.get() - 0x100);
        let dscp = Dscp::new(0).expect("six bits");
        let ip = match (sink.own.2, sink.nic.1) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => Ip::V4(ipv4::Repr::udp(src, dst, dscp)),
            (IpAddr::V6(src), IpAddr::V6(dst)) => Ip::V6(ipv6::Repr::udp(src, dst, dscp)),
            mixed => panic!("{mixed:?}"),
        };
        let reth = reth::Repr {
            virtual_address: sink.theirs.virtual_address,
            rkey: key,
            dma_len: stream.payload.into(),
        };
        let ext = if stream.opcode == send { Ext::Plain } else { Ext::Reth(reth) };
        let psn = stream.psn.advance(seq);
        let bth =
            bth::Repr { ack_req: true, ..bth::Repr::new(stream.opcode, sink.theirs.qpn, psn) };
        let none = ipv4::Repr::udp(RIG, GUEST, dscp);
        let way = Way { ip, ..Way::v4(mac, sink.nic.0, none) };
        let frame = RoceFrame::new(way, bth, ext);
        RoceFrame { payload_len: stream.payload, ..frame }.emit()
    };
    // The second time over IPv6, where a GID of the guest is another one.
    for (over, spoil, naks) in [(FlowsOver::V4, 0, 0), (FlowsOver::V6, 1, 1)] {
        let (rig, own) = match over {
            FlowsOver::V4 => (IpAddr::V4(RIG), IpAddr::V4(GUEST)),
            FlowsOver::V6 => (IpAddr::V6(RIG_V6), IpAddr::V6(GUEST_V6)),
        };
        let mut answers: Vec<(Option<u16>, u32, bool)> = Vec::new();
        let mut record = |_, of: Option<(u16, u32)>, bytes: &[u8]| {
            let Ok(Packet::Roce { frame, icrc_ok: true }) = packet::parse(bytes) else { return };
            if let (None, Some(aeth)) = (of, frame.ext.aeth()) {
                let is_ack = matches!(aeth.syndrome, Syndrome::Ack(_));
                answers.push((stream_of(frame.bth.dest_qp), frame.bth.psn.get(), is_ack));
            }
        };
        let plan = |sinks: &[Sink]| {
            assert!(sinks.iter().all(|sink| (sink.own.2, sink.nic.1) == (rig, own)), "{sinks:?}");
            let each = (0..10_u32).flat_map(|seq| {
                (0_u16..).zip(sinks.iter().zip(&streams)).map(move |(of, (sink, stream))| {
                    let key = sink.theirs.rkey ^ if seq == 9 && of == 0 { spoil } else { 0 };
                    TimedFrame {
                        at: Dur::ms(20) * seq.into(),
                        of: (of, seq),
                        bytes: to(sink, stream, seq, key),
                    }
                })
            });
            each.collect()
        };
        let before = guest.counters().expect("counters");
        let passed = toward((guest, over), &streams, (plan, Dur::s(2)), (&mut record, &|_| true));
        let passed = passed.expect("both servers are there");
        assert_eq!(passed.lost, 0, "{passed:?}");
        let after = guest.counters().expect("counters");
        let grown = HwCounters { before, after }.grown();
        assert_eq!(grown["rcvd_pkts"], 30, "{grown:?}");
        let of = |stream: u16| {
            let of = answers.iter().filter(move |(of, ..)| *of == Some(stream));
            of.map(|(_, psn, is_ack)| (*psn, *is_ack)).collect::<Vec<_>>()
        };
        let mut first: Vec<(u32, bool)> = (7..17).map(|psn| (psn, true)).collect();
        first[9].1 = naks == 0;
        assert_eq!(of(0), first);
        assert_eq!(of(1).len(), 10, "{answers:?}");
        assert_eq!(of(1)[9], (7, true), "{answers:?}");
        assert_eq!(of(2), (3..13).map(|psn| (psn, true)).collect::<Vec<_>>());
    }
}
