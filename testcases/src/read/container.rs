//! Of which container a flow is.

use crate::Flow;
use crate::container::{Container, Memory};
use indexmap::IndexMap;
use rig_lab::walk::{At, Fields};
use rig_units::L2Rate;

/// The most queue pairs that do the same.
pub(crate) const MOST: u16 = 4_096;

const KEYS: [&str; 4] = ["number", "memory", "cap", "takes_over"];

/// Reads what a flow says of it.
pub(super) fn container(fields: &Fields<'_>) -> Option<Container<String>> {
    fields.or("container", Container::USUAL, |at| {
        let fields = at.fields(&KEYS)?;
        let number = |at: At<'_>| at.whole(1..=255, "a container's number");
        let usual = Container::<String>::USUAL;
        let number = fields.or("number", usual.number, number)?;
        let memory = fields.or("memory", usual.memory, |at| at.choice(&Memory::NAMES))?;
        let cap = fields.maybe("cap", |at| cap(&at))?;
        let other = |at: At<'_>| at.text("the name of a flow").map(str::to_owned);
        let takes_over = fields.maybe("takes_over", other)?;
        Some(Container { number, memory, cap, takes_over, ..usual })
    })
}

fn cap(at: &At<'_>) -> Option<L2Rate> {
    let cap = at.quantity::<L2Rate>()?;
    if cap.bps == 0 {
        at.fault("no rate", "more than 0bps-L2");
        return None;
    }
    Some(cap)
}

/// How many queue pairs do the same, each a flow of its own.
pub(super) fn queue_pairs(fields: &Fields<'_>) -> Option<u16> {
    fields.or("queue_pairs", 1, |at| at.whole(1..=MOST.into(), "a number of queue pairs"))
}

/// Notes what a flow cannot go on with: only what comes to an end can be left over, and who takes it over counts no messages of its own.
pub(super) fn taken_over(flows: &IndexMap<String, Flow>, used: &dyn Fn(&str) -> bool, at: &At<'_>) {
    for (name, flow) in flows.iter().filter(|(name, _)| used(name)) {
        let Some(other) = &flow.container.takes_over else { continue };
        let before = flows.get(other).filter(|_| used(other));
        let alike = |before: &Flow| {
            let asks = |of: &Flow| (of.nic.clone(), of.to.clone(), of.verb, of.message, of.mtu);
            asks(before) == asks(flow) && before.container.takes_over.is_none()
        };
        let fits = before.is_some_and(|before| before.count.is_some() && alike(before));
        if !fits || flow.count.is_some() || other == name {
            let found = format!("`{name}` cannot go on with what is left of `{other}`");
            let want =
                "a flow with a `count` that is started before, and the same messages without one";
            at.at_key(found, want);
        }
    }
}

/// What a case may say of flows of containers beside what it may of others.
pub(super) const FLOW: &[&str] = &[
    "nic",
    "to",
    "class",
    "verb",
    "message",
    "mtu",
    "count",
    "psn",
    "address",
    "vlan",
    "over",
    "gid",
    "container",
    "queue_pairs",
];
