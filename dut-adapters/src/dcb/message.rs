//! The messages: what is asked of the kernel, and what it answers. Their frame is that of `netlink-packet-core`.

use super::state::{App, Buffer, Dcb, Ets, Owner, Part, Pfc, numbers};
use core::fmt;
use netlink_packet_core::{
    DecodeError, DefaultNla, Emitable as _, NLA_F_NESTED, NLM_F_ACK, NLM_F_REQUEST,
    NetlinkDeserializable, NetlinkHeader, NetlinkMessage, NetlinkPayload, NetlinkSerializable,
    NlaBuffer, NlasIterator,
};
use nix::errno::Errno;

/// `RTM_GETDCB` and `RTM_SETDCB` of linux/rtnetlink.h.
const GETS: u16 = 78;
const SETS: u16 = 79;
/// `DCB_CMD_IEEE_*` of linux/dcbnl.h.
const IEEE_SET: u8 = 20;
const IEEE_GET: u8 = 21;
const IEEE_DELETE: u8 = 27;
/// `DCB_ATTR_*` there.
const NAME: u16 = 1;
const IEEE: u16 = 13;
const DCBX: u16 = 14;
/// `DCB_ATTR_IEEE_*` there, which stand in `IEEE`.
const ETS: u16 = 1;
const PFC: u16 = 2;
const APP_TABLE: u16 = 3;
const MAX_RATE: u16 = 7;
const BUFFER: u16 = 10;
/// `DCB_ATTR_IEEE_APP`, which stands in `APP_TABLE`.
const APP: u16 = 1;
/// Bytes of a message's own header (`struct dcbmsg`): family, command, and two that mean nothing.
const HEADER: usize = 4;

/// Why there is no answer of the kind that was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The kernel, or the driver, refuses.
    Refused(Errno),
    /// It is none: what is odd in it.
    Odd(String),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Refused(Errno::EOPNOTSUPP) => f.write_str("its driver has no DCB"),
            Fault::Refused(Errno::ENODEV) => f.write_str("there is no such interface"),
            Fault::Refused(errno) => f.write_str(errno.desc()),
            Fault::Odd(what) => write!(f, "no answer of DCB netlink: {what}"),
        }
    }
}

impl From<DecodeError> for Fault {
    fn from(odd: DecodeError) -> Fault {
        Fault::Odd(odd.to_string())
    }
}

/// The request for all that an interface is set to.
pub(crate) fn get(net: &str) -> Vec<u8> {
    request(GETS, IEEE_GET, vec![name(net)])
}

/// The request to set a part.
pub(crate) fn set(net: &str, part: &Part) -> Vec<u8> {
    let part = match part {
        Part::Ets(ets) => DefaultNla::new(ETS, ets.bytes()),
        Part::Pfc(pfc) => DefaultNla::new(PFC, pfc.bytes()),
        Part::MaxRate(rates) => {
            DefaultNla::new(MAX_RATE, rates.iter().flat_map(|rate| rate.to_ne_bytes()).collect())
        }
        Part::Buffer(buffer) => DefaultNla::new(BUFFER, buffer.bytes()),
        Part::App(entries) => table(entries),
    };
    request(SETS, IEEE_SET, vec![name(net), nested(IEEE, &[part])])
}

/// The request to take entries out of the table.
pub(crate) fn delete(net: &str, entries: &[App]) -> Vec<u8> {
    request(SETS, IEEE_DELETE, vec![name(net), nested(IEEE, &[table(entries)])])
}

/// What an interface is set to, by all that was answered to [`get`].
///
/// # Errors
/// The kernel refuses, or it is no such answer.
pub(crate) fn read(answer: &[u8]) -> Result<Dcb, Fault> {
    let attributes = answered(answer, GETS)?;
    let mut dcb = Dcb::default();
    for (kind, value) in attributes {
        match kind {
            IEEE => part_by_part(&value, &mut dcb)?,
            DCBX => dcb.owner = value.first().copied().map(Owner),
            _ => {}
        }
    }
    Ok(dcb)
}

/// Whether something was set, by all that was answered to [`set`] or [`delete`]. The driver's own refusal stands in the answer, in front of which the
/// kernel's status says that all is well.
///
/// # Errors
/// The kernel or the driver refuses, or it is no such answer.
pub(crate) fn done(answer: &[u8]) -> Result<(), Fault> {
    let attributes = answered(answer, SETS)?;
    let status = attributes.iter().find(|(kind, _)| *kind == IEEE);
    match status.map(|(_, value)| value.as_slice()) {
        Some([0]) => Ok(()),
        Some([code]) => Err(Fault::Refused(Errno::from_raw(-i32::from(code.cast_signed())))),
        _ => Err(Fault::Odd("it does not say whether it was set".to_owned())),
    }
}

fn part_by_part(parts: &[u8], dcb: &mut Dcb) -> Result<(), Fault> {
    for part in NlasIterator::new(parts) {
        let part = part?;
        let (kind, value) = (part.kind(), part.value());
        let known = match kind {
            ETS => into(&mut dcb.ets, Ets::read(value)),
            PFC => into(&mut dcb.pfc, Pfc::read(value)),
            MAX_RATE => into(&mut dcb.max_rate, numbers(value)),
            BUFFER => into(&mut dcb.buffer, Buffer::read(value)),
            APP_TABLE => {
                for entry in NlasIterator::new(value) {
                    let entry = entry?;
                    if entry.kind() == APP {
                        dcb.app.extend(App::read(entry.value()));
                    }
                }
                true
            }
            _ => true,
        };
        if !known {
            return Err(Fault::Odd(format!("part {kind} has {} bytes", value.len())));
        }
    }
    dcb.app.sort_unstable();
    Ok(())
}

fn into<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    *place = value;
    place.is_some()
}

/// A message in its own right.
struct Message {
    kind: u16,
    command: u8,
    attributes: Vec<DefaultNla>,
}

impl NetlinkSerializable for Message {
    fn message_type(&self) -> u16 {
        self.kind
    }

    fn buffer_len(&self) -> usize {
        HEADER + self.attributes.as_slice().buffer_len()
    }

    fn serialize(&self, buffer: &mut [u8]) {
        buffer[..HEADER].copy_from_slice(&[0, self.command, 0, 0]);
        self.attributes.as_slice().emit(&mut buffer[HEADER..]);
    }
}

/// A message that came: its kind, and its attributes.
struct Came(u16, Vec<(u16, Vec<u8>)>);

impl NetlinkDeserializable for Came {
    type Error = DecodeError;

    fn deserialize(header: &NetlinkHeader, payload: &[u8]) -> Result<Came, DecodeError> {
        let attributes = payload.get(HEADER..).unwrap_or_default();
        let one = |one: Result<NlaBuffer<&[u8]>, DecodeError>| {
            one.map(|one| (one.kind(), one.value().to_vec()))
        };
        let attributes = NlasIterator::new(attributes).map(one).collect::<Result<_, _>>()?;
        Ok(Came(header.message_type, attributes))
    }
}

fn request(kind: u16, command: u8, attributes: Vec<DefaultNla>) -> Vec<u8> {
    let payload = NetlinkPayload::InnerMessage(Message { kind, command, attributes });
    let mut message = NetlinkMessage::new(NetlinkHeader::default(), payload);
    message.header.flags = NLM_F_REQUEST | NLM_F_ACK;
    message.finalize();
    let mut bytes = vec![0; message.buffer_len()];
    message.serialize(&mut bytes);
    bytes
}

fn name(net: &str) -> DefaultNla {
    DefaultNla::new(NAME, [net.as_bytes(), &[0]].concat())
}

fn nested(kind: u16, inside: &[DefaultNla]) -> DefaultNla {
    let mut bytes = vec![0; inside.buffer_len()];
    inside.emit(&mut bytes);
    DefaultNla::new(NLA_F_NESTED | kind, bytes)
}

fn table(entries: &[App]) -> DefaultNla {
    let entries: Vec<DefaultNla> =
        entries.iter().map(|entry| DefaultNla::new(APP, entry.bytes())).collect();
    nested(APP_TABLE, &entries)
}

/// The attributes of the message of that kind among those that were answered, one behind the other; the last one is the kernel's status.
fn answered(mut answer: &[u8], kind: u16) -> Result<Vec<(u16, Vec<u8>)>, Fault> {
    let mut found = None;
    while !answer.is_empty() {
        let message = NetlinkMessage::<Came>::deserialize(answer)?;
        match message.payload {
            NetlinkPayload::InnerMessage(Came(is, attributes)) if is == kind => {
                found = Some(attributes);
            }
            NetlinkPayload::Error(status) => {
                if let Some(code) = status.code {
                    // A driver's refusal tells more than the kernel's, and is the same number where both say one.
                    return Err(Fault::Refused(Errno::from_raw(-code.get())));
                }
            }
            _ => {}
        }
        let length = usize::try_from(message.header.length).unwrap_or(usize::MAX);
        answer = answer.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    found.ok_or_else(|| Fault::Odd(format!("no message of kind {kind} is in it")))
}
