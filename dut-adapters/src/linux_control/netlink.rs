//! Route netlink of a Linux that is reached by a shell: what is asked of its kernel, and what that answers. Messages go there in hex, and
//! perl there hands them on: a line each, and no program's output is read.

use core::num::NonZeroI32;
use netlink_packet_core::{
    DecodeError, DefaultNla, DoneBuffer, Emitable as _, ErrorBuffer, NLA_F_NESTED, NLM_F_ACK,
    NLM_F_DUMP, NLM_F_DUMP_INTR, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR, NetlinkBuffer,
    NetlinkHeader, NlaBuffer, NlasIterator,
};
use nix::errno::Errno;

/// `RTM_NEWQDISC` and `RTM_GETQDISC` of linux/rtnetlink.h.
const NEW: u16 = 36;
const GET: u16 = 38;
/// Bytes of `struct tcmsg`, behind the header of each message: family, interface, handle, parent, and one that means nothing.
const OWN: usize = 20;
/// `TCA_KIND`, `TCA_OPTIONS` and `TCA_STAB`.
const KIND: u16 = 1;
const OPTIONS: u16 = 2;
const SIZES: u16 = 8;
/// `NLMSGERR_ATTR_MSG`.
const WORDS: u16 = 1;

/// What a shell runs: the program, and behind it messages in hex. Sockets of netlink by their numbers (`AF_NETLINK` 16, `SOL_NETLINK` 270, of which
/// 10 is `NETLINK_CAP_ACK` and 11 `NETLINK_EXT_ACK`), so that it needs no library of perl's.
const PROGRAM: &str = include_str!("netlink.pl");
/// A serial line that is read slowly loses what does not fit a terminal's buffer of 4096.
const LONGEST: usize = 3_000;

/// One queueing discipline as the kernel states it: where it is, what it is, and its options as they came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stated {
    pub(super) interface: u32,
    pub(super) handle: u32,
    pub(super) parent: u32,
    pub(super) kind: String,
    pub(super) options: Vec<u8>,
    /// What it takes frames for that are of another size (`stab`), where it has that. The kernel tells how it was made, and not the table.
    pub(super) sizes: Option<Vec<u8>>,
}

/// A message that came.
type Message<'a> = NetlinkBuffer<&'a [u8]>;

/// The lines that have the kernel answer these messages, as few as hold them.
pub(super) fn lines(messages: &[Vec<u8>]) -> Vec<String> {
    let begins = format!("/usr/bin/perl -e '{}'", PROGRAM.trim());
    let mut lines: Vec<String> = Vec::new();
    for message in messages {
        let hex: String = message.iter().map(|byte| format!("{byte:02x}")).collect();
        match lines.last_mut().filter(|line| line.len() + hex.len() < LONGEST) {
            Some(line) => {
                line.push(' ');
                line.push_str(&hex);
            }
            None => lines.push(format!("{begins} {hex}")),
        }
    }
    lines
}

/// The bytes of one line of answer.
///
/// # Errors
/// It is no hex.
pub(super) fn bytes(line: &str) -> Result<Vec<u8>, String> {
    let odd = || {
        let begins: String = line.trim().chars().take(60).collect();
        format!("no answer of netlink: `{}`", begins.escape_debug())
    };
    let (pairs, []) = line.trim().as_bytes().as_chunks::<2>() else { return Err(odd()) };
    let digit = |digit: u8| char::from(digit).to_digit(16);
    let byte = |&[high, low]: &[u8; 2]| u8::try_from(digit(high)? * 16 + digit(low)?).ok();
    let all: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    all.filter(|all| !all.is_empty()).ok_or_else(odd)
}

/// The request for every queueing discipline.
pub(super) fn get_all() -> Vec<u8> {
    message(GET, NLM_F_DUMP, [0; 3], &[])
}

/// The request to change one that is there: its kind stands by, so that another one that is there now is not taken for it.
pub(super) fn change(of: &Stated) -> Vec<u8> {
    let kind = [of.kind.as_bytes(), &[0]].concat();
    let is_nested = of.kind != "bfifo";
    let options = if is_nested { NLA_F_NESTED | OPTIONS } else { OPTIONS };
    let attributes = [DefaultNla::new(KIND, kind), DefaultNla::new(options, of.options.clone())];
    message(NEW, NLM_F_ACK, [of.interface, of.handle, of.parent], &attributes)
}

fn message(
    kind: u16,
    flags: u16,
    [interface, handle, parent]: [u32; 3],
    attributes: &[DefaultNla],
) -> Vec<u8> {
    let mut header = NetlinkHeader::default();
    let own = header.buffer_len();
    let length = own + OWN + attributes.buffer_len();
    header.length = u32::try_from(length).unwrap_or(u32::MAX);
    header.message_type = kind;
    header.flags = NLM_F_REQUEST | flags;
    let mut bytes = vec![0; length];
    header.emit(&mut bytes);
    let fields = [0, interface, handle, parent, 0].map(u32::to_ne_bytes);
    bytes[own..own + OWN].copy_from_slice(fields.as_flattened());
    attributes.emit(&mut bytes[own + OWN..]);
    bytes
}

/// Every queueing discipline of an answer to [`get_all`].
///
/// # Errors
/// The kernel refuses, or breaks off, or it is no such answer.
pub(super) fn read(answer: &[u8]) -> Result<Vec<Stated>, String> {
    let (all, end) = messages(answer)?;
    ended(&end)?;
    if end.message_type() != NLMSG_DONE {
        return Err("an answer of netlink is no list".to_owned());
    }
    // Another hand was at them meanwhile: what was listed before that is not what is there now.
    if all.iter().any(|message| message.flags() & NLM_F_DUMP_INTR != 0) {
        return Err("they changed while they were read".to_owned());
    }
    let stands = all.iter().filter(|message| message.message_type() == NEW);
    stands.map(|message| stated(message.payload())).collect()
}

/// Whether what was asked by [`change`] was done.
///
/// # Errors
/// In the kernel's words, or those of its number, why not; or it is no such answer.
pub(super) fn done(answer: &[u8]) -> Result<(), String> {
    match messages(answer)? {
        (_, end) if end.message_type() == NLMSG_ERROR => ended(&end),
        _ => Err("the kernel does not say whether it was done".to_owned()),
    }
}

fn stated(body: &[u8]) -> Result<Stated, String> {
    let field = |at: usize| {
        let four = body.get(at..at + 4).and_then(|four| four.try_into().ok());
        four.map(u32::from_ne_bytes).ok_or_else(|| "it is shorter than its header".to_owned())
    };
    let (mut kind, mut options, mut sizes) = (String::new(), Vec::new(), None);
    for (is, value) in attributes(body.get(OWN..).unwrap_or_default())? {
        match is {
            KIND => kind = String::from_utf8_lossy(&value).trim_end_matches('\0').to_owned(),
            OPTIONS => options = value,
            SIZES => sizes = Some(value),
            _ => {}
        }
    }
    let [interface, handle, parent] = [field(4)?, field(8)?, field(12)?];
    Ok(Stated { interface, handle, parent, kind, options, sizes })
}

/// Attributes, each by its kind.
///
/// # Errors
/// One is longer than what is there.
pub(super) fn attributes(bytes: &[u8]) -> Result<Vec<(u16, Vec<u8>)>, String> {
    let one = |one: Result<NlaBuffer<&[u8]>, DecodeError>| {
        one.map(|one| (one.kind(), one.value().to_vec()))
    };
    NlasIterator::new(bytes).map(one).collect::<Result<_, _>>().map_err(|odd| odd.to_string())
}

/// How an answer ended: a list breaks off with a number and words as well as a request is refused with them.
fn ended(end: &Message<'_>) -> Result<(), String> {
    let odd = |odd: DecodeError| odd.to_string();
    let (code, words) = if end.message_type() == NLMSG_DONE {
        let done = DoneBuffer::new_checked(end.payload()).map_err(odd)?;
        (done.code(), done.extended_ack())
    } else {
        let status = ErrorBuffer::new_checked(end.payload()).map_err(odd)?;
        // The header of what was asked, and no more of it (`NETLINK_CAP_ACK`), stands between the two.
        let words = status.payload().get(NetlinkHeader::default().buffer_len()..);
        (status.code().map_or(0, NonZeroI32::get), words.unwrap_or_default())
    };
    if code == 0 {
        return Ok(());
    }
    let words = attributes(words).unwrap_or_default();
    let words = words.iter().find(|(kind, _)| *kind == WORDS);
    let own = words.map(|(_, text)| String::from_utf8_lossy(text).trim_matches('\0').to_owned());
    let number = Errno::from_raw(code.saturating_neg()).desc();
    Err(own.map_or_else(|| number.to_owned(), |own| format!("{own} ({number})")))
}

/// The messages of an answer, and the one that ends it.
fn messages(mut answer: &[u8]) -> Result<(Vec<Message<'_>>, Message<'_>), String> {
    let mut all = Vec::new();
    while !answer.is_empty() {
        let message = NetlinkBuffer::new_checked(answer);
        let message = message.map_err(|odd| format!("an answer of netlink is not whole: {odd}"))?;
        let length = usize::try_from(message.length()).unwrap_or(usize::MAX);
        answer = answer.get(length.next_multiple_of(4)..).unwrap_or_default();
        all.push(message);
    }
    match all.pop() {
        Some(end) if [NLMSG_ERROR, NLMSG_DONE].contains(&end.message_type()) => Ok((all, end)),
        _ => Err("an answer of netlink has no end".to_owned()),
    }
}
