//! What `rdma statistic` says of a port beside the files of `/sys`: optional counters, which the driver counts while somebody has asked it to,
//! and those of queue pairs, while somebody has bound these to counters. As iproute2 prints it (`rdma -j statistic`, `rdma/stat.c`).
//!
//! Left out on purpose: switching either on, which costs the NIC's rules of its own. Neither is kept for a `lifespan`: each reading asks the NIC.

use super::counted::{Counted, Missing, Value as Counter};
use super::names::{Driver, Row, TERMS, Where};
use super::said::{Entry, Said};
use serde_json::{Map, Value};

/// Optional counters that are known, of mlx5: packets that rules of the NIC count, another witness beside its queue counters.
const OPTIONAL: [(&str, &str); 5] = [
    ("cc_rx_ce_pkts", "packets received marked CE"),
    ("cc_rx_cnp_pkts", "CNPs received"),
    ("cc_tx_cnp_pkts", "CNPs sent"),
    ("rdma_tx_packets", "RoCE packets sent"),
    ("rdma_rx_packets", "RoCE packets received"),
];
/// Whose they are.
const OF: &str = "mlx5_ib";
/// The rig's terms that one of these counts just as a file does.
///
/// Left out on purpose: `cc_rx_cnp_pkts`, which is two terms together, and packets, as nobody has seen whether what the hardware sends by itself, as an
/// acknowledgement, is counted by a rule.
const AS_TERMS: [(&str, &str); 2] =
    [("np_cnp_sent", "cc_tx_cnp_pkts"), ("np_ecn_marked_roce_packets", "cc_rx_ce_pkts")];

/// What is counted while somebody has asked for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Optional {
    /// As the driver calls it.
    pub name: String,
    /// What that is, in words; empty where it is not known.
    pub what: &'static str,
    /// How often; none while it is switched off.
    pub value: Option<u64>,
}

/// What a counter of queue pairs has counted of those that are bound to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuePairs {
    /// The kernel's number of it.
    pub counter: u64,
    /// The queue pairs that are bound to it just now. What earlier ones have counted is in it, too.
    pub qpns: Vec<u64>,
    /// Whose they are; none where the kernel does not say.
    pub process: Option<String>,
    /// What was counted.
    pub values: Vec<QueuePairCount>,
}

/// A count of queue pairs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuePairCount {
    /// The rig's term, or the driver's name where there is none.
    pub term: String,
    /// How often.
    pub value: u64,
    /// What the driver calls it.
    pub called: String,
}

/// What there is of a port.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Statistic {
    /// What the driver counts on demand.
    pub optional: Vec<Optional>,
    /// What is counted of queue pairs.
    pub queue_pairs: Vec<QueuePairs>,
    /// Why there is nothing of either, or of one.
    pub missing: Vec<Missing>,
}

impl Statistic {
    /// Reads it.
    ///
    /// # Errors
    /// A counter that is no number, with where it stands.
    pub(super) fn read(
        said: &Said,
        (device, port): (&str, &str),
        driver: Option<&Driver>,
    ) -> Result<Statistic, Vec<String>> {
        let mut all = Statistic::default();
        let mut wrong = Vec::new();
        let of = |path: &str| objects(said, path, device, port);
        match (of("/rdma/supported"), of("/rdma/statistic")) {
            (Ok(supported), Ok(counted)) => {
                let names = supported
                    .iter()
                    .filter_map(|one| one.get("supported optional-counters")?.as_array());
                for name in names.flatten().filter_map(Value::as_str) {
                    let value = counted.iter().find_map(|one| one.get(name));
                    let value = value.map(|value| count(name, Some(value))).transpose();
                    let what = OPTIONAL.iter().find(|(known, _)| *known == name);
                    let what = what.map_or("", |(_, what)| *what);
                    match value {
                        Ok(value) => {
                            all.optional.push(Optional { name: name.to_owned(), what, value });
                        }
                        Err(odd) => wrong.push(format!("{}: {odd}", said.shown("/rdma/statistic"))),
                    }
                }
            }
            (Err(why), _) | (_, Err(why)) => all.lacks("optional counters", why),
        }
        match of("/rdma/qp") {
            Ok(counters) => {
                for one in &counters {
                    match of_queue_pairs(one, driver) {
                        Ok(found) => all.queue_pairs.push(found),
                        Err(odd) => wrong.push(format!("{}: {odd}", said.shown("/rdma/qp"))),
                    }
                }
            }
            Err(why) => all.lacks("counters of queue pairs", why),
        }
        if wrong.is_empty() { Ok(all) } else { Err(wrong) }
    }

    /// Gives terms that have no file the values of optional counters. One that is switched off is none, and says so.
    pub(super) fn complete(&self, counted: &mut Counted, driver: Option<&Driver>) {
        if driver.is_none_or(|driver| driver.name != OF) {
            return;
        }
        for (term, name) in AS_TERMS {
            let one = self.optional.iter().find(|one| one.name == name);
            let place = counted.missing.iter().position(|missing| missing.term == term);
            let (Some(one), Some(place)) = (one, place) else { continue };
            let Some(value) = one.value else {
                let off = format!("; {name} of `rdma statistic` is switched off");
                counted.missing[place].why += &off;
                continue;
            };
            counted.missing.remove(place);
            let called = format!("rdma statistic {name}");
            let (term, what) = (term.to_owned(), one.what);
            counted.values.push(Counter { term, what, value, called, but: "" });
        }
        let order = |one: &Counter| TERMS.iter().position(|(term, _)| *term == one.term);
        counted.values.sort_by_key(|one| order(one).unwrap_or(TERMS.len()));
    }

    fn lacks(&mut self, term: &str, why: String) {
        self.missing.push(Missing { term: term.to_owned(), why });
    }
}

/// What `rdma -j` has printed of a port.
fn objects(
    said: &Said,
    path: &str,
    device: &str,
    port: &str,
) -> Result<Vec<Map<String, Value>>, String> {
    let text = match said.entry(path) {
        Some(Entry::Text(text)) => text,
        Some(Entry::Unread(why)) => return Err(format!("`rdma statistic`: {why}")),
        Some(Entry::Link(_)) | None => return Err("`rdma statistic` was not asked".to_owned()),
    };
    // Of a host where there is none of it some releases print nothing at all.
    if text.trim().is_empty() {
        return Ok(Vec::new());
    }
    let all: Vec<Value> = serde_json::from_str(&text).map_err(|_| {
        let begins: String = text.trim().chars().take(60).collect();
        format!("`rdma statistic`: `{}` is not what `rdma -j` prints", begins.escape_debug())
    })?;
    let is_its = |one: &Map<String, Value>| {
        one.get("ifname").and_then(Value::as_str) == Some(device)
            && one.get("port").and_then(Value::as_u64).map(|port| port.to_string()).as_deref()
                == Some(port)
    };
    let objects = all.into_iter().filter_map(|one| match one {
        Value::Object(one) => Some(one),
        _ => None,
    });
    Ok(objects.filter(is_its).collect())
}

/// A count, which `rdma` prints as a number.
fn count(name: &str, value: Option<&Value>) -> Result<u64, String> {
    let shown = || value.map_or_else(|| "nothing".to_owned(), Value::to_string);
    let want = u64::MAX;
    value.and_then(Value::as_u64).ok_or_else(|| {
        format!("{name}: `{}` is no count\n   = want: a whole number, 0 to {want}", shown())
    })
}

/// Numbers in such an object that are no count.
const ABOUT: [&str; 4] = ["ifindex", "port", "cntn", "pid"];

fn of_queue_pairs(one: &Map<String, Value>, driver: Option<&Driver>) -> Result<QueuePairs, String> {
    let counter = count("cntn", one.get("cntn"))?;
    let qpns = one.get("lqpn").and_then(Value::as_array).into_iter().flatten();
    let qpns = qpns.map(|qpn| count("lqpn", Some(qpn))).collect::<Result<_, _>>()?;
    let comm = one.get("comm").and_then(Value::as_str).map(str::to_owned);
    let process = match (comm, one.get("pid").and_then(Value::as_u64)) {
        (Some(comm), Some(pid)) => Some(format!("{comm}, process {pid}")),
        (Some(comm), None) => Some(comm),
        (None, pid) => pid.map(|pid| format!("process {pid}")),
    };
    let mut values = Vec::new();
    // What is a word or a list is about it, too.
    let counts = one.iter().filter(|(_, value)| value.is_number());
    for (name, value) in counts.filter(|(name, _)| !ABOUT.contains(&name.as_str())) {
        let is_it =
            |row: &&Row| matches!(row.is, Where::Hw(names) if names.contains(&name.as_str()));
        let mut rows = driver.into_iter().flat_map(|driver| driver.rows);
        let term = rows.find(is_it).map_or(name.as_str(), |row| row.term);
        let (term, value) = (term.to_owned(), count(name, Some(value))?);
        values.push(QueuePairCount { term, value, called: name.clone() });
    }
    Ok(QueuePairs { counter, qpns, process, values })
}
