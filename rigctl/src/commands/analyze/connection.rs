//! A reliable connection for people.

use super::text::time;
use crate::commands::words::count;
use core::net::IpAddr;
use rig_capture::connection::{Answers, Connection, Requests};
use rig_units::Dur;

/// Its lines, each with what stands in the column before it; `port` is the name of where it was seen.
pub(super) fn lines(of: &Connection, port: &str) -> Vec<(&'static str, String)> {
    let Connection { requester, responder, requester_qp, responder_qp, requests, answers, .. } = of;
    let end = |address: &IpAddr, qp: Option<u32>| match qp {
        Some(qp) => format!("{address} queue pair {qp:#x}"),
        None => format!("{address} queue pair unknown"),
    };
    let (from, to) = (end(requester, *requester_qp), end(responder, *responder_qp));
    let mut lines = vec![("Connection", format!("{from} asks {to}, seen at {port}"))];
    let mut add = |text: String| lines.push(("", text));
    if requests.packets == 0 {
        add("its requests are not in the file, or cannot be told from those of others".to_owned());
    } else {
        add(asked(requests));
        said(&went_wrong(requests)).into_iter().for_each(&mut add);
        said(&came_again(requests)).into_iter().for_each(&mut add);
        if requests.longest_quiet > Dur::ZERO {
            let quiet = time(requests.longest_quiet.0);
            add(format!("before one without a NAK at most {quiet} without a request"));
        }
    }
    if requester_qp.is_none() {
        add("its answers are not in the file, or cannot be told from those of others".to_owned());
    } else {
        add(answered(answers));
    }
    let notified = [
        (of.cnps_to_requester, "CNPs to the requester"),
        (of.cnps_to_responder, "CNPs to the responder"),
        (requests.ce, "requests with CE"),
        (answers.ce, "answers with CE"),
        (requests.wrong_icrc, "requests with a wrong ICRC"),
        (answers.wrong_icrc, "answers with a wrong ICRC"),
    ];
    said(&notified).into_iter().for_each(&mut add);
    lines
}

/// What there is any of, with its number; `None` where there is nothing.
pub(super) fn said(of: &[(u64, &str)]) -> Option<String> {
    let any: Vec<String> =
        of.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    (!any.is_empty()).then(|| any.join(", "))
}

fn asked(of: &Requests) -> String {
    let messages = of.messages.iter().map(|(operation, n)| (*n, operation.words()));
    let messages = said(&messages.collect::<Vec<_>>());
    let messages = messages.unwrap_or_else(|| "no whole message".to_owned());
    let packets = count(usize::try_from(of.packets).unwrap_or(usize::MAX), "packet");
    let payload = match of.bytes {
        0 => String::new(),
        bytes => format!(", {bytes}B of payload"),
    };
    format!("{messages} in {packets}{payload}, all copies counted")
}

/// What a responder that takes packets in order alone would have counted.
fn went_wrong(of: &Requests) -> [(u64, &'static str); 4] {
    [
        (of.out_of_sequence, "holes (packets out of sequence)"),
        (of.behind_hole, "behind one"),
        (of.duplicates, "duplicates"),
        (of.unseen, "acknowledged and not in the file"),
    ]
}

fn came_again(of: &Requests) -> [(u64, &'static str); 3] {
    [
        (of.repeated, "packets seen more than once"),
        (of.back_after_nak, "times back after a NAK"),
        (of.back_unasked, "times back without one (a timer, or packets that changed places)"),
    ]
}

fn answered(of: &Answers) -> String {
    let kinds = [
        (of.acks, "ACK"),
        (of.sequence_naks, "NAK of a sequence error"),
        (of.naks_that_advance, "of them for something new"),
        (of.rnr_naks, "RNR NAK"),
        (of.fatal_naks, "NAK of another error"),
        (of.read_responses, "packets of READ responses"),
        (of.atomic_responses, "atomic responses"),
    ];
    let mut text = said(&kinds).unwrap_or_else(|| "no answer".to_owned());
    match of.packets_per_ack {
        Some((least, most)) if least == most => text += &format!("; {least} packets an ACK"),
        Some((least, most)) => text += &format!("; {least} to {most} packets an ACK"),
        None => {}
    }
    if let Some((shortest, middle, longest)) = of.latency {
        let [shortest, middle, longest] = [shortest, middle, longest].map(|of| time(of.0));
        text += &format!("; after {shortest} to {longest}, half of them within {middle}");
    }
    text
}
