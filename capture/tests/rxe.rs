//! What Linux's Soft-RoCE counted itself, counted again from the frames alone. The recordings and how they were made:
//! `rxe/README.md`.

use flate2::read::GzDecoder;
use rig_capture::connection::{Connection, Operation};
use rig_capture::pcapng::{self, Assume};
use rig_units::{Dur, PortSpeed};
use std::io::Read as _;
use std::path::Path;

fn recorded(name: &str) -> Vec<u8> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/rxe").join(name);
    pcapng::bytes(&file).expect("a file")
}

fn read(bytes: &[u8]) -> Vec<Connection> {
    let assume = Assume { class_of: &|_| 0, speed: PortSpeed::G100, cable: Dur::ZERO };
    pcapng::parse("recorded", bytes, assume).expect("a capture").connections
}

fn connections(name: &str) -> Vec<Connection> {
    read(&recorded(name))
}

/// The sum of something over all connections.
fn sum(of: &[Connection], what: impl Fn(&Connection) -> u64) -> u64 {
    of.iter().map(what).sum()
}

const EACH: [Operation; 4] =
    [Operation::Send, Operation::Write, Operation::Read, Operation::FetchAdd];

#[test]
fn four_connections_are_found_and_each_message_is_counted_once() {
    for name in ["plain.pcap.gz", "loss.pcap.gz"] {
        let all = connections(name);
        let found: Vec<_> = all
            .iter()
            .map(|of| (of.requester_qp, of.responder_qp, &of.requests.messages))
            .collect();
        for ((of, operation), qp) in found.iter().zip(EACH).zip(0x11..) {
            assert_eq!((of.0, of.1), (Some(qp), Some(qp)), "{name}");
            assert_eq!(of.2.iter().collect::<Vec<_>>(), [(&operation, &40)], "{name}");
        }
        assert_eq!(found.len(), EACH.len(), "{name}");
        assert_eq!(sum(&all, |of| of.requests.unseen), 0, "{name}");
    }
}

#[test]
fn what_is_not_disturbed_shows_no_disturbance() {
    let all = connections("plain.pcap.gz");
    let packets: Vec<u64> = all.iter().map(|of| of.requests.packets).collect();
    assert_eq!(packets, [320, 320, 40, 40]);
    // 40 messages of 8 KiB; a READ's bytes come with its answers, an atomic has none.
    let bytes: Vec<u64> = all.iter().map(|of| of.requests.bytes + of.answers.bytes).collect();
    assert_eq!(bytes, [327_680, 327_680, 327_680, 0]);
    let wrong = sum(&all, |of| {
        let Connection { requests, answers, .. } = of;
        let requests = requests.out_of_sequence + requests.duplicates + requests.repeated;
        requests + answers.sequence_naks + of.requests.back_unasked + of.requests.wrong_icrc
    });
    assert_eq!(wrong, 0);
    // It acknowledges a message of eight packets at its end.
    assert_eq!(all[0].answers.packets_per_ack, Some((8, 8)));
    let acks: Vec<u64> = all.iter().map(|of| of.answers.acks).collect();
    assert_eq!(acks, [40, 40, 0, 0]);
    assert_eq!((all[2].answers.read_responses, all[3].answers.atomic_responses), (320, 40));
}

#[test]
fn under_loss_the_responders_own_counters_are_met_to_the_packet() {
    let all = connections("loss.pcap.gz");
    assert_eq!(sum(&all, |of| of.answers.sequence_naks), 82);
    assert_eq!(sum(&all, |of| of.answers.acknowledging), 1198);
    assert_eq!(sum(&all, |of| of.requests.out_of_sequence), 82, "out_of_seq_request");
    assert_eq!(sum(&all, |of| of.requests.duplicates), 959, "duplicate_request");
}

/// The requester counts a NAK (`rcvd_seq_err`) that tells it of packets it did not know to be received; one that it gets behind a
/// newer one is none. What it sends again by its timer (`completer_retry_err`) is bounded alone: of a packet that comes again nobody
/// can tell whether it was sent again or overtaken.
#[test]
fn under_loss_the_requesters_naks_are_met_and_its_retries_lie_below_what_went_back() {
    let all = connections("loss.pcap.gz");
    assert_eq!(sum(&all, |of| of.answers.naks_that_advance), 61, "rcvd_seq_err");
    let back = sum(&all, |of| of.requests.back_after_nak + of.requests.back_unasked);
    assert!(back >= 68, "completer_retry_err: {back}");
    let quiet = all.iter().map(|of| of.requests.longest_quiet).max();
    // The application asked for a timeout of 4.096 us x 2^14, 67 ms; netem holds a packet back by 3 ms, or sends it at once.
    assert!(quiet > Some(Dur::ms(60)) && quiet < Some(Dur::ms(71)), "{quiet:?}");
}

/// The frames of a recording that came from one of the two, as a pcap file.
fn sent_by(name: &str, last_byte: u8) -> Vec<u8> {
    let mut pcap = Vec::new();
    GzDecoder::new(&recorded(name)[..]).read_to_end(&mut pcap).expect("a gzip file");
    let (header, mut rest) = pcap.split_at(24);
    let mut of_one = header.to_vec();
    while let Some((record, behind)) = rest.split_at_checked(16) {
        let len = u32::from_le_bytes([record[8], record[9], record[10], record[11]]);
        let (frame, behind) = behind.split_at(usize::try_from(len).expect("a length"));
        // IPv4: the last byte of the source address.
        if frame[12..14] == [8, 0] && frame[29] == last_byte {
            of_one.extend_from_slice(record);
            of_one.extend_from_slice(frame);
        }
        rest = behind;
    }
    of_one
}

#[test]
fn of_one_side_alone_what_it_shows_is_told_and_nothing_else() {
    let both = connections("loss.pcap.gz");
    let requests = read(&sent_by("loss.pcap.gz", 3));
    assert_eq!(requests.len(), 4);
    for (alone, both) in requests.iter().zip(&both) {
        assert_eq!((alone.requester_qp, alone.responder_qp), (None, both.responder_qp));
        assert_eq!(alone.requests.packets, both.requests.packets);
        assert_eq!((alone.answers.acks, alone.answers.latency), (0, None));
    }
    let answers = read(&sent_by("loss.pcap.gz", 2));
    assert_eq!(answers.len(), 4);
    for (alone, both) in answers.iter().zip(&both) {
        assert_eq!((alone.requester_qp, alone.responder_qp), (both.requester_qp, None));
        assert_eq!(alone.answers.sequence_naks, both.answers.sequence_naks);
        assert_eq!((alone.requests.packets, alone.answers.latency), (0, None));
    }
}
