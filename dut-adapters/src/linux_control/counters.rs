//! What Linux counts at each queue and each port of a switch that it is, under the names of the product, with its own beside them.
//!
//! Queues are the bands of `ets`, the first of which is served first: of eight the band `2:1` is class 7. What a queueing discipline does
//! not count has no name here: it is missing, and not zero.

use crate::control::Readings;
use rig_capture::DutCounter;
use rig_lab::Declared;
use serde_json::Value;

/// The lines that tell everything, one document of JSON each: queueing disciplines, then links.
pub(super) const LINES: [&str; 2] = ["/usr/bin/tc -s -j qdisc show", "/usr/bin/ip -s -j link show"];

/// Counters of a queue, as `tc` calls them. The bytes are `qdisc_pkt_len`: with the FCS where `stab` says so. Of what is marked and
/// dropped RED counts no bytes, and `drops` holds those that were dropped early.
const OF_QUEUE: [(DutCounter, &str); 6] = [
    (DutCounter::QueueSent, "packets"),
    (DutCounter::QueueSentBytes, "bytes"),
    (DutCounter::QueueDropped, "drops"),
    (DutCounter::QueueHeld, "backlog"),
    (DutCounter::QueueMarked, "marked"),
    (DutCounter::QueueDroppedEarly, "early"),
];

/// Counters of a port, by where they stand below `stats64` of `ip`.
const OF_PORT: [(DutCounter, &str); 3] = [
    (DutCounter::PortReceived, "rx/packets"),
    (DutCounter::PortSent, "tx/packets"),
    (DutCounter::PortErrors, "rx/errors"),
];

/// What both documents say of the ports that are declared.
///
/// # Errors
/// What is not as `tc` or `ip` writes it.
pub(super) fn read(declared: &Declared, [qdiscs, links]: [&str; 2]) -> Result<Readings, String> {
    let (qdiscs, links) = (list(qdiscs)?, list(links)?);
    let mut readings = Readings::default();
    let ports = (0..).take_while(|&port| declared.port_speed(port).is_some());
    for (index, port) in ports.map(|index| (index, declared.name_of(index))) {
        let device = format!("eth{index}");
        let link = links.iter().find(|link| link["ifname"] == device.as_str());
        for (counter, at) in OF_PORT {
            let value = link.and_then(|link| link.pointer(&format!("/stats64/{at}")));
            note(&mut readings, counter.of(&port, 0), (value, &format!("{device} {at}")));
        }
        let of_port: Vec<&Value> =
            qdiscs.iter().filter(|qdisc| qdisc["dev"] == device.as_str()).collect();
        for qdisc in &of_port {
            let Some(class) = class(&of_port, qdisc) else { continue };
            let (kind, parent) = (text(qdisc, "kind"), text(qdisc, "parent"));
            for (counter, name) in OF_QUEUE {
                let called = format!("{device} {parent} {kind} {name}");
                note(&mut readings, counter.of(&port, class), (qdisc.get(name), &called));
            }
        }
    }
    Ok(readings)
}

/// The class of a queue: which band it is of an `ets` at the same port. None of what is no band.
fn class(of_port: &[&Value], qdisc: &Value) -> Option<u8> {
    let (above, band) = text(qdisc, "parent").split_once(':')?;
    let is_above = |other: &&&Value| {
        text(other, "kind") == "ets" && text(other, "handle").trim_end_matches(':') == above
    };
    let bands = of_port.iter().find(is_above)?["options"]["bands"].as_u64()?;
    // `tc` writes both parts of a handle in hexadecimal.
    let band = u64::from_str_radix(band, 16).ok().filter(|&band| band > 0)?;
    u8::try_from(bands.checked_sub(band)?).ok()
}

/// Notes one that is there, and what it is called there.
pub(super) fn note(readings: &mut Readings, name: String, (value, called): (Option<&Value>, &str)) {
    if let Some(value) = value.and_then(Value::as_u64) {
        readings.vendor.insert(name.clone(), called.to_owned());
        readings.values.insert(name, value);
    }
}

fn text<'a>(of: &'a Value, key: &str) -> &'a str {
    of[key].as_str().unwrap_or_default()
}

/// The list that a document of JSON is.
///
/// # Errors
/// It is none.
pub(super) fn list(text: &str) -> Result<Vec<Value>, String> {
    serde_json::from_str(text).map_err(|error| {
        let begins: String = text.chars().take(60).collect();
        format!("`{begins}` is no list of JSON: {error}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // As iproute2 6.1 wrote it in a guest, less what nobody reads.
    const QDISCS: &str = r#"[
        {"kind":"tbf","handle":"1:","dev":"eth0","root":true,"options":{"rate":1250000},"bytes":7,"packets":7,"drops":7,"backlog":7},
        {"kind":"ets","handle":"2:","dev":"eth0","parent":"1:1","options":{"bands":8,"strict":2},"bytes":7,"packets":7,"drops":7,"backlog":7},
        {"kind":"red","handle":"13:","dev":"eth0","parent":"2:5","options":{"limit":5000000},"bytes":2048,"packets":2,"drops":9,"backlog":1024,"marked":1,"early":8,"pdrop":1,"other":0},
        {"kind":"red","handle":"113:","dev":"eth0","parent":"13:1","options":{},"bytes":5,"packets":5,"drops":5,"backlog":5,"marked":5,"early":5},
        {"kind":"bfifo","handle":"10:","dev":"eth0","parent":"2:8","options":{},"bytes":64,"packets":1,"drops":0,"backlog":0},
        {"kind":"noqueue","handle":"0:","dev":"br0","root":true,"options":{},"bytes":7,"packets":7,"drops":7,"backlog":7}]"#;
    const LINKS: &str = r#"[
        {"ifname":"eth0","stats64":{"rx":{"bytes":99,"packets":12,"errors":1,"dropped":0},"tx":{"bytes":9,"packets":3,"errors":0}}},
        {"ifname":"br0","stats64":{"rx":{"packets":7,"errors":7},"tx":{"packets":7}}}]"#;

    fn said(qdiscs: &str, links: &str) -> Result<Readings, String> {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        read(&lab.duts[0].declared, [qdiscs, links])
    }

    #[test]
    fn each_band_and_each_port_has_its_counters_and_what_is_not_counted_has_no_name() {
        let read = said(QDISCS, LINKS).expect("both are lists");
        let told: Vec<String> = read
            .values
            .iter()
            .map(|(name, value)| format!("{name}={value} ({})", read.vendor[name]))
            .collect();
        assert_eq!(
            told,
            [
                "Ethernet0 SAI_PORT_STAT_IF_IN_ERRORS=1 (eth0 rx/errors)",
                "Ethernet0 SAI_PORT_STAT_IF_IN_UCAST_PKTS=12 (eth0 rx/packets)",
                "Ethernet0 SAI_PORT_STAT_IF_OUT_UCAST_PKTS=3 (eth0 tx/packets)",
                "Ethernet0:0 SAI_QUEUE_STAT_BYTES=64 (eth0 2:8 bfifo bytes)",
                "Ethernet0:0 SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES=0 (eth0 2:8 bfifo backlog)",
                "Ethernet0:0 SAI_QUEUE_STAT_DROPPED_PACKETS=0 (eth0 2:8 bfifo drops)",
                "Ethernet0:0 SAI_QUEUE_STAT_PACKETS=1 (eth0 2:8 bfifo packets)",
                "Ethernet0:3 SAI_QUEUE_STAT_BYTES=2048 (eth0 2:5 red bytes)",
                "Ethernet0:3 SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES=1024 (eth0 2:5 red backlog)",
                "Ethernet0:3 SAI_QUEUE_STAT_DROPPED_PACKETS=9 (eth0 2:5 red drops)",
                "Ethernet0:3 SAI_QUEUE_STAT_PACKETS=2 (eth0 2:5 red packets)",
                "Ethernet0:3 SAI_QUEUE_STAT_WRED_DROPPED_PACKETS=8 (eth0 2:5 red early)",
                "Ethernet0:3 SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS=1 (eth0 2:5 red marked)",
            ]
        );
    }

    #[test]
    fn a_port_that_is_gone_has_no_counters_and_what_is_no_json_is_told() {
        assert_eq!(said("[]", "[]"), Ok(Readings::default()));
        let fault = said("Cannot open netlink", "[]");
        assert!(fault.is_err_and(|why| why.contains("`Cannot open netlink` is no list of JSON")));
    }
}
