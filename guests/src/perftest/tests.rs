//! The exchange against recordings of two perftests that nobody here wrote.

use super::exchange::{BadExchange, DESTINATION, LineKind};
use super::{Destination, GREETINGS, Opening, READY, Rate, TOLD, greet, part, serve};
use proptest::prelude::*;
use rig_frames::psn::Psn;
use rig_frames::roce::Qpn;
use std::io;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const RECORDED: &str = include_str!("recorded.txt");

/// What one side said, message by message.
pub(super) fn messages(program: &str, side: char) -> Vec<Vec<u8>> {
    let from =
        RECORDED.split("= ").find_map(|part| part.strip_prefix(program)).expect("it is recorded");
    let lines = from.lines().filter_map(|line| line.strip_prefix(side)?.strip_prefix(' '));
    lines
        .map(|line| match line.strip_prefix("0x") {
            Some(hex) => (0..hex.len())
                .step_by(2)
                .map(|at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex"))
                .collect(),
            None => [line.as_bytes(), b"\0"].concat(),
        })
        .collect()
}

fn destination(message: &[u8]) -> Option<Destination> {
    Destination::parse(message.try_into().ok()?).ok()
}

/// Serves what a recorded client said; what the server said, whom it met, and how it ended.
fn served(said: &[Vec<u8>], ours: Destination) -> (Vec<u8>, Vec<Destination>, io::Result<Opening>) {
    let (answered, met, _, ended) = served_until(said, ours, false);
    (answered, met, ended)
}

/// What one that is served so heard, whom the server met, how often it was told to begin, and how it ended.
type Served = (Vec<u8>, Vec<Destination>, u32, io::Result<Opening>);

/// The same of a client that says that it is done, or `hangs_up`.
fn served_until(said: &[Vec<u8>], ours: Destination, hangs_up: bool) -> Served {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let (mut client, mut server) = tokio::io::duplex(1 << 16);
        client.write_all(&said.concat()).await.expect("there is room");
        client.shutdown().await.expect("it ends");
        let mut met = Vec::new();
        let meet = |_: &Opening, theirs: &Destination| {
            met.push(*theirs);
            Ok(ours)
        };
        let mut begun = 0;
        let begins = |of: &Destination| {
            assert_eq!(*of, ours);
            begun += 1;
            Ok(())
        };
        let ended = serve(&mut server, meet, (begins, hangs_up)).await;
        drop(server);
        let mut answered = Vec::new();
        client.read_to_end(&mut answered).await.expect("it was said");
        (answered, met, begun, ended)
    })
}

#[test]
fn the_rig_answers_recorded_clients_as_their_servers_did() {
    for program in ["ib_send_bw", "ib_write_bw", "ib_read_bw", "ib_atomic_bw"] {
        let (client, server) = (messages(program, '>'), messages(program, '<'));
        let ours = server.iter().find_map(|said| destination(said)).expect("it said where");
        let theirs = client.iter().find_map(|said| destination(said)).expect("it said where");
        let (answered, met, ended) = served(&client, ours);
        let opening = ended.expect("both were done");
        assert_eq!(
            (opening.cycle_buffer, opening.cache_line, opening.mtu_bytes()),
            (4096, 64, 1024)
        );
        assert_eq!(met, [theirs], "{program}: it is met once");
        let figure = |message: &[u8]| message.len() == 8;
        let mut rest = &answered[..];
        for want in &server {
            let (got, behind) = rest.split_at(want.len());
            // A server's figures are its own.
            assert!(figure(want) || got == want, "{program}: {got:x?}, recorded {want:x?}");
            rest = behind;
        }
        assert_eq!(rest, b"", "{program}");
    }
}

/// A line on which all that is heard has been said before.
struct Recorded {
    heard: io::Cursor<Vec<u8>>,
    said: Vec<u8>,
}

impl io::Read for Recorded {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        io::Read::read(&mut self.heard, into)
    }
}

impl io::Write for Recorded {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        io::Write::write(&mut self.said, from)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_rig_asks_recorded_servers_as_their_clients_did() {
    // All up to where both queue pairs are ready, and of SENDs up to where the server has posted what they go to.
    for (program, times) in
        [("ib_write_bw", TOLD), ("ib_read_bw", READY), ("ib_send_bw", GREETINGS)]
    {
        greets(program, times);
    }
}

fn greets(program: &str, times: u8) {
    let all = 4 + usize::from(times);
    let (client, server) = (messages(program, '>'), messages(program, '<'));
    let ours = client.iter().find_map(|said| destination(said)).expect("it said where");
    let theirs = server.iter().find_map(|said| destination(said)).expect("it said where");
    let version = client[0].clone().try_into().expect("16 bytes");
    let opening = Opening { version, cycle_buffer: 4_096, cache_line: 64, mtu: 3 };
    let greeted = |said: &[Vec<u8>], opening: &Opening| {
        let mut line = Recorded { heard: io::Cursor::new(said.concat()), said: Vec::new() };
        let met = greet(&mut line, opening, (&[ours], times), |_, _| Ok(()));
        (met.map(|(_, met)| met).map_err(|error| error.to_string()), line.said)
    };
    let (met, said) = greeted(&server, &opening);
    assert_eq!((met, said), (Ok(vec![theirs]), client[..all].concat()), "{program}");
    let (short, _) = greeted(&server, &Opening { mtu: 4, ..opening });
    assert!(short.is_err_and(|why| why.contains("path MTU is 1024 bytes")));
    for count in 0..all {
        assert!(greeted(&server[..count], &opening).0.is_err(), "{program} {count}");
    }
}

#[test]
fn a_client_that_goes_away_or_speaks_otherwise_is_told() {
    let client = messages("ib_write_bw", '>');
    let ours = destination(&messages("ib_write_bw", '<')[4]).expect("a destination");
    for cut in 0..client.len() - 1 {
        let (_, _, ended) = served(&client[..cut], ours);
        assert_eq!(ended.map_err(|error| error.kind()), Err(io::ErrorKind::UnexpectedEof), "{cut}");
    }
    let mut odd = client.clone();
    odd[3] = b"9\0".to_vec();
    let (_, _, ended) = served(&odd, ours);
    assert_eq!(ended.expect_err("no such MTU").to_string(), "path MTU at byte 0: got 9\\0");
}

#[test]
fn a_client_that_hangs_up_is_done_once_it_has_greeted_four_times_and_then_messages_begin() {
    let client = messages("ib_send_bw", '>');
    let ours = destination(&messages("ib_send_bw", '<')[4]).expect("a destination");
    for (said, begins) in [(4, 0), (5, 0), (7, 0), (8, 1), (9, 1)] {
        let (_, _, begun, ended) = served_until(&client[..said], ours, true);
        assert_eq!((begun, ended.is_ok()), (begins, begins > 0), "{said}");
        // In the middle of a message nobody is done.
        let cut = [client[..said].concat(), client[said][..3].to_vec()];
        let (_, _, _, ended) = served_until(&cut, ours, true);
        assert_eq!(
            ended.map_err(|error| error.kind()),
            Err(io::ErrorKind::UnexpectedEof),
            "{said}"
        );
    }
}

#[test]
fn the_rig_parts_from_a_recorded_server_as_its_client_did() {
    let (client, server) = (messages("ib_send_bw", '>'), messages("ib_send_bw", '<'));
    let ours = client.iter().find_map(|said| destination(said)).expect("it said where");
    let last = |said: &[Vec<u8>]| said[said.len() - 2..].concat();
    let mut line = Recorded { heard: io::Cursor::new(last(&server)), said: Vec::new() };
    part(&mut line, &ours, None).expect("it answers");
    assert_eq!(line.said, last(&client));
    let mut line = Recorded { heard: io::Cursor::new(server[4].clone()), said: Vec::new() };
    assert!(part(&mut line, &ours, None).is_err(), "it goes away before that");
}

#[test]
fn the_rig_tells_a_recorded_server_what_came_at_it_as_its_client_did() {
    for program in ["ib_write_bw", "ib_read_bw", "ib_atomic_bw"] {
        let (client, server) = (messages(program, '>'), messages(program, '<'));
        let ours = client.iter().find_map(|said| destination(said)).expect("it said where");
        // From where the server waits for the client to be done.
        let [heard, want] = [&server, &client].map(|said| said[7..].concat());
        let mut line = Recorded { heard: io::Cursor::new(heard), said: Vec::new() };
        let [size, count, best, mean, rate_of_messages] = client[8..13]
            .iter()
            .map(|bytes| <[u8; 8]>::try_from(&bytes[..]).expect("a figure"))
            .collect::<Vec<_>>()[..]
        else {
            panic!("five figures");
        };
        let [size, messages] = [size, count].map(u64::from_be_bytes);
        let [best, rate, rate_of_messages] = [best, mean, rate_of_messages].map(f64::from_be_bytes);
        assert!(messages == 40 && best >= rate, "{program}");
        part(&mut line, &ours, Some(Rate { size, messages, rate, rate_of_messages }))
            .expect("it answers");
        // The rig has no highest of several.
        let at = client[7].len() + 2 * 8;
        let mut want = want;
        want[at..at + 8].copy_from_slice(&rate.to_be_bytes());
        assert_eq!(line.said, want, "{program}");
    }
}

/// A client of two queue pairs: each is told by itself, twice, as its server wants it, and then the first stands for both.
#[test]
fn each_queue_pair_is_met_and_then_the_first_stands_for_all() {
    let server = messages("ib_write_bw", '<');
    let theirs = server.iter().find_map(|said| destination(said)).expect("it said where");
    let of = |qpn| Destination { qpn: Qpn::new(qpn).expect("24 bits"), ..theirs };
    let heard =
        [server[..4].concat(), [of(7), of(8), of(7), of(8), of(7)].map(|of| of.emit()).concat()];
    let mut line = Recorded { heard: io::Cursor::new(heard.concat()), said: Vec::new() };
    let version = server[0].clone().try_into().expect("16 bytes");
    let opening = Opening { version, cycle_buffer: 4_096, cache_line: 64, mtu: 3 };
    let mut met = Vec::new();
    let meet = |own: &Destination, theirs: &Destination| {
        met.push((own.qpn.get(), theirs.qpn.get()));
        Ok(())
    };
    let all = greet(&mut line, &opening, (&[of(1), of(2)], READY), meet).expect("it answers").1;
    assert_eq!((all, met), (vec![of(7), of(8)], vec![(1, 7), (2, 8)]));
    let said = [of(1), of(2), of(1), of(2), of(1)].map(|own| own.emit()).concat();
    assert_eq!(line.said[26..], said[..]);
}

#[test]
fn golden_bytes_of_a_destination_both_ways() {
    let golden = &messages("ib_write_bw", '>')[4];
    let of = Destination {
        lid: 0,
        out_reads: 1,
        qpn: Qpn::new(0x12).expect("24 bits"),
        psn: Psn::new(0x43_7dbf),
        rkey: 0x3a0,
        virtual_address: 0x559e_744b_d000,
        gid: [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0x0a, 0x4d, 0, 3],
        srqn: 0,
    };
    assert_eq!(destination(golden), Some(of));
    assert_eq!(of.emit()[..], golden[..]);
}

#[test]
fn a_field_that_is_no_number_is_named_with_its_place() {
    let mut line: [u8; DESTINATION] =
        messages("ib_read_bw", '>')[4][..].try_into().expect("a line");
    line[12] = b'z';
    let bad = Destination::parse(&line).expect_err("z is no digit");
    assert_eq!(bad, BadExchange { field: "QPN", offset: 10, found: "00z013:".to_owned() });
}

proptest! {
    #[test]
    fn any_line_is_refused_or_is_what_it_was(at in 0..DESTINATION, byte: u8) {
        let mut line: [u8; DESTINATION] = messages("ib_write_bw", '>')[4][..].try_into().expect("a line");
        line[at] = byte;
        if let Ok(of) = Destination::parse(&line) {
            prop_assert_eq!(of.emit()[..].to_vec(), line.to_ascii_lowercase());
        }
    }

    #[test]
    fn any_client_is_served_to_an_end(said in prop::collection::vec(any::<u8>(), 0..600)) {
        let opening = messages("ib_send_bw", '>');
        let ours = destination(&messages("ib_send_bw", '<')[4]).expect("a destination");
        let (_, _, _) = served(&[opening[..4].concat(), said.clone()], ours);
        let (_, _, _) = served(&[said], ours);
    }

    #[test]
    fn no_figure_that_is_reported_looks_like_another_message(value in 0.0_f64..1e12, count in 0_u64..1 << 48) {
        for bytes in [value.to_be_bytes(), count.to_be_bytes()] {
            let begin: [u8; 5] = bytes[..5].try_into().expect("five");
            prop_assert_eq!(LineKind::of(begin), LineKind::Figure);
        }
    }
}
