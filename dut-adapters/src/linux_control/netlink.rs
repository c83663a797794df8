//! Route netlink of a Linux that is reached by a shell: what is asked of its kernel, and what that answers. Messages go there in hex, and
//! perl there hands them on: a line each, and no program's output is read.

use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable as _, NLA_F_NESTED, NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST,
    NlaBuffer, NlasIterator,
};
use nix::errno::Errno;

/// `RTM_NEWQDISC` and `RTM_GETQDISC` of linux/rtnetlink.h.
const NEW: u16 = 36;
const GET: u16 = 38;
/// `NLMSG_ERROR` and `NLMSG_DONE` of linux/netlink.h, one of which ends each answer.
const STATUS: u16 = 2;
const DONE: u16 = 3;
/// `struct nlmsghdr`, and `struct tcmsg` behind it: family, interface, handle, parent.
const HEADER: usize = 16;
const OWN: usize = 20;
/// `TCA_KIND` and `TCA_OPTIONS`.
const KIND: u16 = 1;
const OPTIONS: u16 = 2;
/// `NLMSGERR_ATTR_MSG`, behind the errno and the header of what was asked (`NETLINK_CAP_ACK`).
const WORDS: u16 = 1;
const BEFORE_WORDS: usize = 4 + HEADER;

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
}

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
    let length = HEADER + OWN + attributes.buffer_len();
    let mut bytes = Vec::with_capacity(length);
    bytes.extend(u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    bytes.extend((NLM_F_REQUEST | flags).to_le_bytes());
    bytes.extend([0; 8]);
    for field in [0, interface, handle, parent, 0] {
        bytes.extend(field.to_le_bytes());
    }
    bytes.resize(length, 0);
    attributes.emit(&mut bytes[HEADER + OWN..]);
    bytes
}

/// Every queueing discipline of an answer to [`get_all`].
///
/// # Errors
/// The kernel refuses, or it is no such answer.
pub(super) fn read(answer: &[u8]) -> Result<Vec<Stated>, String> {
    let mut all = Vec::new();
    for (kind, body) in messages(answer)? {
        match kind {
            NEW => all.push(stated(body)?),
            STATUS => refusal(body).map_or(Ok(()), Err)?,
            _ => {}
        }
    }
    Ok(all)
}

/// Whether what was asked by [`change`] was done.
///
/// # Errors
/// In the kernel's words, or those of its number, why not; or it is no such answer.
pub(super) fn done(answer: &[u8]) -> Result<(), String> {
    let all = messages(answer)?;
    let status = all.iter().find(|(kind, _)| *kind == STATUS);
    let (_, body) = status.ok_or("the kernel does not say whether it was done")?;
    refusal(body).map_or(Ok(()), Err)
}

fn stated(body: &[u8]) -> Result<Stated, String> {
    let field = |at: usize| {
        let four = body.get(at..at + 4).and_then(|four| four.try_into().ok());
        four.map(u32::from_le_bytes).ok_or_else(|| "it is shorter than its header".to_owned())
    };
    let (mut kind, mut options) = (String::new(), Vec::new());
    for (is, value) in attributes(body.get(OWN..).unwrap_or_default())? {
        match is {
            KIND => kind = String::from_utf8_lossy(&value).trim_end_matches('\0').to_owned(),
            OPTIONS => options = value,
            _ => {}
        }
    }
    let [interface, handle, parent] = [field(4)?, field(8)?, field(12)?];
    Ok(Stated { interface, handle, parent, kind, options })
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

/// What a kernel says that has not done it; `None` where it has.
fn refusal(body: &[u8]) -> Option<String> {
    let code = body.get(..4).and_then(|four| four.try_into().ok()).map(i32::from_le_bytes);
    let code = code.unwrap_or(-(Errno::EPROTO as i32));
    if code == 0 {
        return None;
    }
    let words = attributes(body.get(BEFORE_WORDS..).unwrap_or_default()).unwrap_or_default();
    let words = words.iter().find(|(kind, _)| *kind == WORDS);
    let own = words.map(|(_, text)| String::from_utf8_lossy(text).trim_matches('\0').to_owned());
    let number = Errno::from_raw(code.saturating_neg()).desc();
    Some(own.map_or_else(|| number.to_owned(), |own| format!("{own} ({number})")))
}

/// The messages of an answer, each by its kind.
fn messages(mut answer: &[u8]) -> Result<Vec<(u16, &[u8])>, String> {
    let mut all = Vec::new();
    while let Some((header, _)) = answer.split_first_chunk::<HEADER>() {
        let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let body = answer.get(HEADER..length).ok_or("an answer of netlink is not whole")?;
        all.push((u16::from_le_bytes([header[4], header[5]]), body));
        answer = answer.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    match all.last() {
        Some((STATUS | DONE, _)) => Ok(all),
        _ => Err("an answer of netlink has no end".to_owned()),
    }
}
