//! What queue pairs of blue-rdma send each other, for people.

use super::connection::said;
use crate::commands::words::count;
use core::net::Ipv4Addr;
use rig_capture::blue_rdma::{Dialogue, Placed, Reported};

/// Most runs of missing packets that are told one by one.
const TOLD: usize = 8;

/// Its lines, each with what stands in the column before it; `port` is the name of where it was seen.
pub(super) fn lines(of: &Dialogue, port: &str) -> Vec<(&'static str, String)> {
    let Dialogue { sender, receiver, receiver_qp, sender_qp, data, reports, .. } = of;
    let end = |address: &Ipv4Addr, qp: Option<u32>| match qp {
        Some(qp) => format!("{address} queue pair {qp:#x}"),
        None => format!("{address} queue pair unknown"),
    };
    let (from, to) = (end(sender, *sender_qp), end(receiver, *receiver_qp));
    let mut lines = vec![("blue-rdma", format!("{from} sends to {to}, seen at {port}"))];
    let mut add = |text: String| lines.push(("", text));
    if data.packets + data.malformed == 0 {
        add("what it sends is not in the file, or cannot be told from that of others".to_owned());
    } else {
        add(posted(data));
        said(&came_again(data)).into_iter().for_each(&mut add);
        said(&unlike(data)).into_iter().for_each(&mut add);
        if let Some(first) = &data.first_malformed {
            add(format!("the first malformed: {first}"));
        }
    }
    if sender_qp.is_none() {
        add("what it is told is not in the file, or cannot be told from what others are".to_owned());
    } else {
        add(reported(reports));
        said(&doubtful(reports)).into_iter().for_each(&mut add);
    }
    lines
}

fn posted(of: &Placed) -> String {
    let messages = of.messages.iter().map(|(posted, n)| (*n, posted.words()));
    let messages = said(&messages.collect::<Vec<_>>());
    let messages = messages.unwrap_or_else(|| "no whole message".to_owned());
    let packets = count(usize::try_from(of.packets).unwrap_or(usize::MAX), "packet");
    let bytes = of.bytes;
    format!("{messages} in {packets}, {bytes}B of payload, all copies counted")
}

fn came_again(of: &Placed) -> [(u64, &'static str); 7] {
    [
        (of.retries, "sent again (isRetry)"),
        (of.retries_of_lost, "of them for the first time here"),
        (of.unmarked_copies, "copies without that mark"),
        (of.out_of_order, "out of order"),
        (of.never_seen, "numbers that never passed"),
        (of.restarts, "times out of reach of the numbers before"),
        (of.ce, "with CE"),
    ]
}

fn unlike(of: &Placed) -> [(u64, &'static str); 2] {
    [(of.malformed, "malformed"), (of.unlike, "with something in what is reserved or unused")]
}

fn reported(of: &Reported) -> String {
    let kinds = [
        (of.driver_acks, "ACK by the driver"),
        (of.driver_naks, "NAK by the driver"),
        (of.hardware_acks, "ACK by hardware, of a loss"),
        (of.cnps, "CNP"),
    ];
    let mut text = said(&kinds).unwrap_or_else(|| "nothing that follows the format".to_owned());
    if of.missing > 0 {
        let number = usize::try_from(of.missing).unwrap_or(usize::MAX);
        let runs = of.missing_runs.iter().take(TOLD).map(|[first, last]| match first == last {
            true => first.to_string(),
            false => format!("{first} to {last}"),
        });
        let runs = runs.collect::<Vec<_>>().join(", ");
        let more = if of.missing_runs.len() > TOLD { " and so on" } else { "" };
        text += &format!("; missing by its bitmaps: {}, {runs}{more}", count(number, "packet"));
    }
    text
}

fn doubtful(of: &Reported) -> [(u64, &'static str); 7] {
    [
        (of.missing_but_passed, "of the missing ones had passed here"),
        (of.come_but_not_passed, "said to have come and not passed here"),
        (of.leaps, "times a window moved by more than it holds"),
        (of.odd_windows, "windows that are none"),
        (of.wrong_ip_checksum, "with a wrong checksum of IPv4"),
        (of.malformed, "malformed"),
        (of.unlike, "with something in what is reserved or unused"),
    ]
}
