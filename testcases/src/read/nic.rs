//! What the rig sends to a NIC, and what a NIC sends by itself.

use super::container::{container, queue_pairs};
use super::traffic::{self, Named};
use crate::case::{Count, Stream};
use crate::nic::{Flow, Verb};
use crate::{Memory, StreamKind, wire};
use rig_frames::ip::Ecn;
use rig_lab::walk::{At, Fields};
use rig_lab::yaml::Value;
use rig_units::Bytes;

/// The largest packet sequence number.
const MOST_PSN: i64 = (1 << 24) - 1;
/// Size of a CNP, FCS counted: Ethernet 14, IPv4 20, UDP 8, BTH 12, 16 reserved, ICRC 4, FCS 4.
pub(super) const CNP: Bytes = Bytes(78);

/// Reads a stream to the NIC behind the port that it leaves by; a list of ports makes one for each.
pub(super) fn stream(name: &str, fields: &Fields<'_>) -> Option<Named<Stream>> {
    let from = fields.need("from", "the rig port it leaves by, such as p1");
    let from = from.and_then(|at| traffic::ports(&at));
    let class = fields.need("class", "0 to 7").and_then(|at| traffic::class(&at));
    let kind = fields.need("kind", "rocev2-write, rocev2-send or cnp").and_then(|at| {
        at.choice(&[
            ("rocev2-write", StreamKind::RoceWrite),
            ("rocev2-send", StreamKind::RoceSend),
            ("cnp", StreamKind::Cnp),
        ])
    });
    let usual = if kind == Some(StreamKind::Cnp) { Ecn::NotEct } else { Ecn::Ect0 };
    let ecn = fields.or("ecn", usual, |at| at.choice(&traffic::ECN))?;
    let kind = kind?;
    let over = traffic::over(fields)?;
    let size = match (kind, fields.get("size")) {
        (StreamKind::Cnp, None) => CNP,
        (StreamKind::Cnp, Some(at)) => {
            at.fault("a CNP of another size", "no `size`: a CNP has 78B");
            return None;
        }
        _ => {
            let at = fields.need("size", "the frame size, FCS counted, such as 1024B")?;
            let size = at.quantity::<Bytes>()?;
            traffic::fits(&at, wire::least_size(kind) + wire::longer(over), size);
            size
        }
    };
    let of = match (kind, fields.get("of")) {
        (StreamKind::Cnp, at) => {
            let at = at.or_else(|| fields.need("of", "the flow that it is to slow down"))?;
            Some(at.text("the name of a flow")?.to_owned())
        }
        (_, Some(at)) => {
            at.fault("a stream of data on behalf of a flow", "`of` with `kind: cnp` only");
            return None;
        }
        (_, None) => None,
    };
    let rate = traffic::rate(fields, "`every: 10us`, or `rate: 45%` for a load")?;
    let count = |at: At<'_>| at.whole(1..=100_000_000, "a number of frames").map(Count::Frames);
    let count = fields.maybe("count", count)?;
    let psn = first_psn(fields)?;
    let address = address(fields)?;
    if kind == StreamKind::Cnp && address > 0 {
        fields
            .at
            .at_key("a CNP from an address of its own", "no `address`: it has that of its flow");
        return None;
    }
    let gid = fields.or("gid", 0, |at| number_of_gid(&at))?;
    if let (StreamKind::Cnp, Some(at)) = (kind, fields.get("gid")) {
        at.fault("a CNP to a GID of its own", "no `gid`: it goes to that of its flow");
        return None;
    }
    if let (StreamKind::Cnp, Some(at)) = (kind, fields.get("over")) {
        at.fault("what a CNP goes over", "no `over`: it goes over what its flow does");
        return None;
    }
    let (from, class) = (from?, class?);
    Some(traffic::each_port(name, from, |from| {
        let usual = Stream::usual((from.clone(), from), class, kind, size, rate);
        Stream { ecn, count, psn, of: of.clone(), address, over, gid, ..usual }
    }))
}

fn first_psn(fields: &Fields<'_>) -> Option<u32> {
    fields.or("psn", 0, |at| at.whole(0..=MOST_PSN, "a packet sequence number"))
}

/// Which of the rig's addresses: they are counted from 1.
fn address(fields: &Fields<'_>) -> Option<u8> {
    fields.or("address", 0, |at| {
        let number = at.whole(1..=i64::from(wire::ADDRESSES), "one of the rig's addresses");
        number.map(|number: u8| number - 1)
    })
}

/// At which of the NIC's addresses, of its GIDs: they are counted from 1.
fn number_of_gid(at: &At<'_>) -> Option<u8> {
    at.whole(1..=i64::from(wire::GIDS), "one of the NIC's GIDs").map(|number: u8| number - 1)
}

/// What a flow to the rig has none of.
const BOTH_ENDS: &str = "a GID of either end of a flow to the rig";

/// At which of its addresses each NIC of a connection has it: as said of both, or of each.
fn gids(fields: &Fields<'_>) -> Option<(u8, u8)> {
    let Some(at) = fields.get("gid") else { return Some((0, 0)) };
    let to_rig = fields.get("to").is_none();
    let Value::Map(_) = &at.node.value else {
        let both = number_of_gid(&at)?;
        return Some((both, if to_rig { 0 } else { both }));
    };
    if to_rig {
        at.fault(BOTH_ENDS, "one number, or `to` a NIC");
        return None;
    }
    let ends = at.fields(&["from", "to"])?;
    let of = |end: &str| ends.or(end, 0, |at| number_of_gid(&at));
    Some((of("from")?, of("to")?))
}

/// Reads a flow; a list of NICs makes one for each.
pub(super) fn flow(name: &str, fields: &Fields<'_>) -> Option<Named<Flow>> {
    let nics = fields.need("nic", "the rig port behind which the NIC is that sends, such as p1");
    let nics = nics.and_then(|at| traffic::ports(&at));
    let to = fields.maybe("to", |at| traffic::port(&at))?;
    let class = fields.need("class", "0 to 7").and_then(|at| traffic::class(&at));
    let verb = fields
        .need("verb", "what it does, such as send, write or read")
        .and_then(|at| at.choice(&Verb::NAMES));
    let message = payload(fields, "message", Bytes(1 << 30));
    let mtu = payload(fields, "mtu", Bytes(4096));
    let count = fields.maybe("count", |at| at.whole(1..=100_000_000, "a number of messages"))?;
    let (psn, of_rig) = (first_psn(fields)?, address(fields)?);
    let vlan = fields.maybe("vlan", |at| traffic::tag(&at))?;
    let (over, (gid, far)) = (traffic::over(fields)?, gids(fields)?);
    let (container, pairs) = (container(fields)?, queue_pairs(fields)?);
    if let (Some(at), Some(_)) = (fields.get("address"), fields.get("to")) {
        at.at_key("an address of the rig for a flow to a NIC", "no `address`, or no `to`");
        return None;
    }
    let (nics, class, verb, message, mtu) = (nics?, class?, verb?, message?, mtu?);
    let own = to.as_ref().is_some_and(|to| nics.contains(to));
    if let Some(at) = fields.get("gid").filter(|at| own && matches!(at.node.value, Value::Map(_))) {
        at.fault(BOTH_ENDS, "one number, or `to` another NIC");
        return None;
    }
    if container.memory == Memory::Unknown && verb.takes_buffer() {
        let want = "a `verb` that names memory at the other end, such as write";
        fields.at.at_key("an R_Key that nobody has announced, of a SEND", want);
        return None;
    }
    if verb.is_atomic() && (message, to.is_some()) != (Verb::ATOMIC, true) {
        let want = format!("`message: {}`, and `to` a NIC, which does it", Verb::ATOMIC);
        fields.at.at_key("an atomic operation on something else", want);
        return None;
    }
    if verb == Verb::Datagram && message > mtu {
        let want = format!("a `message` of at most its mtu, {mtu}");
        fields.at.at_key(format!("a datagram of {message}, which is one packet"), want);
        return None;
    }
    let of_each = |nic: &String| -> Vec<(String, String)> {
        let ending = |pair: u16| match (nics.len(), pairs) {
            (_, 1) => nic.clone(),
            (1, _) => pair.to_string(),
            _ => format!("{nic}-{pair}"),
        };
        (1..=pairs).map(|pair| (ending(pair), nic.clone())).collect()
    };
    let nics = nics.iter().flat_map(of_each).collect();
    Some(traffic::each(name, nics, |nic: String| {
        let to = to.clone().unwrap_or_else(|| nic.clone());
        let container = container.clone();
        let (app, address) = (None, if nic == to { of_rig } else { far });
        Flow {
            nic,
            to,
            class,
            verb,
            message,
            mtu,
            count,
            psn,
            address,
            vlan,
            over,
            gid,
            container,
            app,
        }
    }))
}

/// Bytes of payload.
fn payload(fields: &Fields<'_>, key: &str, most: Bytes) -> Option<Bytes> {
    let at: At<'_> = fields.need(key, "bytes of payload, such as 1024B")?;
    let size = at.quantity::<Bytes>()?;
    if size == Bytes(0) || size > most {
        at.fault(format!("a payload of {size}"), format!("1B to {most}"));
        return None;
    }
    Some(size)
}
