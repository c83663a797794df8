//! The fields of a configuration by path: the parts of every kind of device, and the rows of each.
//!
//! Invariant, held by a test against the types themselves: every path below `declared:` has exactly one row, and every row a path.

use crate::declared::{BlueRdma, RdmaRouter};
use crate::field::{Absent, Field, Holds};
use crate::{
    Buffer, Declared, DynamicBuffer, Estats, Ets, FlexCounter, Kind, Macsec, Nic, NicHost, NicPfc,
    Np, Pfc, Pfcwd, Qos, Rc, Reboot, Receive, Rp, Scheduler,
};
use crate::{Switch, Watermark, Wred};

/// The fields of one part, or of one part of a part.
#[derive(Debug, Clone, Copy)]
pub struct Fieldset {
    /// Its path below `declared:`; nothing for the fields that stand there themselves.
    pub path: &'static str,
    /// The kinds of devices that have it; all where none is named.
    pub kinds: &'static [Kind],
    /// Whether a device need not have it: what is absent is off.
    pub may_be_off: bool,
    /// Its rows.
    pub fields: &'static [Field],
}

/// Every part of every kind of device, in the order of a file.
pub const SECTIONS: &[Fieldset] = &[
    Fieldset { path: "", kinds: &[], may_be_off: false, fields: Declared::OF_ALL },
    Fieldset { kinds: Kind::FORWARDING, ..switch("", Switch::OF_FORWARDING) },
    switch("", Switch::OF_SWITCHING),
    switch("", Switch::OF_PORTS),
    switched("qos", Qos::FIELDS),
    switched("scheduler", Scheduler::FIELDS),
    switched("buffer", Buffer::FIELDS),
    switch("dynamic_buffer", DynamicBuffer::FIELDS),
    switched("wred", Wred::FIELDS),
    switched("pfc", Pfc::FIELDS),
    switch("pfcwd", Pfcwd::FIELDS),
    switch("watermark", Watermark::FIELDS),
    switch("flex_counter", FlexCounter::FIELDS),
    switch("reboot", Reboot::FIELDS),
    Fieldset { may_be_off: true, ..switch("macsec", Macsec::FIELDS) },
    shared("nic", Nic::FIELDS),
    shared("nic.np", Np::FIELDS),
    shared("nic.rp", Rp::FIELDS),
    shared("nic.rc", Rc::FIELDS),
    shared("nic.receive", Receive::FIELDS),
    shared("nic.pfc", NicPfc::FIELDS),
    shared("nic.host", NicHost::FIELDS),
    shared("nic.ets", Ets::FIELDS),
    shared("nic.estats", Estats::FIELDS),
    Fieldset { may_be_off: true, ..nic("peer", Nic::FIELDS) },
    nic("peer.np", Np::FIELDS),
    nic("peer.rp", Rp::FIELDS),
    nic("peer.rc", Rc::FIELDS),
    nic("peer.receive", Receive::FIELDS),
    nic("peer.pfc", NicPfc::FIELDS),
    nic("peer.host", NicHost::FIELDS),
    nic("peer.ets", Ets::FIELDS),
    nic("peer.estats", Estats::FIELDS),
    Fieldset { kinds: &[Kind::RdmaRouter], ..nic("rdma_router", RdmaRouter::FIELDS) },
    Fieldset { kinds: &[Kind::BlueRdma], ..nic("blue_rdma", BlueRdma::FIELDS) },
];

const fn switch(path: &'static str, fields: &'static [Field]) -> Fieldset {
    Fieldset { path, kinds: &[Kind::Switch], may_be_off: false, fields }
}

/// What is set alike on every switch of a system, too.
const fn switched(path: &'static str, fields: &'static [Field]) -> Fieldset {
    Fieldset { kinds: &[Kind::Switch, Kind::System], ..switch(path, fields) }
}

const fn nic(path: &'static str, fields: &'static [Field]) -> Fieldset {
    Fieldset { path, kinds: &[Kind::Nic], may_be_off: false, fields }
}

/// What a NIC that a router shares has, too.
const fn shared(path: &'static str, fields: &'static [Field]) -> Fieldset {
    Fieldset { kinds: &[Kind::Nic, Kind::RdmaRouter], ..nic(path, fields) }
}

impl Fieldset {
    /// The path of one of its fields.
    fn of(&self, field: &Field) -> String {
        join(self.path, field.name)
    }

    /// What of `path` comes behind its own path.
    fn below<'p>(&self, path: &'p str) -> Option<&'p str> {
        match self.path {
            "" => Some(path),
            own => path.strip_prefix(own)?.strip_prefix('.'),
        }
    }

    pub(crate) fn is_of(&self, kind: Kind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// Whether it stands at `path` or below it.
    pub(crate) fn stands_in(&self, path: &str) -> bool {
        let behind = self.path.strip_prefix(path);
        behind.is_some_and(|rest| path.is_empty() || rest.is_empty() || rest.starts_with('.'))
    }
}

impl Kind {
    /// Whether a device of this kind has the part called `key` below `declared:`.
    pub fn has(self, key: &str) -> bool {
        SECTIONS.iter().filter(|section| section.is_of(self)).any(|section| match section.path {
            "" => section.fields.iter().any(|field| field.name == key),
            path => path.split('.').next() == Some(key),
        })
    }

    /// Whether it has a watchdog, and so follows a rule.
    pub fn is_guarded(self) -> bool {
        self.has("pfcwd")
    }
}

/// The path of a key below a path.
pub(crate) fn join(path: &str, key: &str) -> String {
    match path {
        "" => key.to_owned(),
        path => format!("{path}.{key}"),
    }
}

/// Every field with its path, in the order of a file.
pub fn all() -> impl Iterator<Item = (String, &'static Field)> {
    let of = |section: &'static Fieldset| section.fields.iter().map(|f| (section.of(f), f));
    SECTIONS.iter().flat_map(of)
}

/// Every path, by name.
pub fn paths() -> Vec<String> {
    let mut paths: Vec<String> = all().map(|(path, _)| path).collect();
    paths.sort();
    paths
}

/// The section and the row that `path` belongs to: its own, or that of the whole value in which it stands.
fn row(path: &str) -> Option<(&'static Fieldset, &'static Field)> {
    let holds = |name: &str, rest: &str| {
        let behind = rest.strip_prefix(name);
        behind.is_some_and(|behind| behind.is_empty() || behind.starts_with('.'))
    };
    SECTIONS.iter().find_map(|section| {
        let rest = section.below(path)?;
        let field = section.fields.iter().find(|field| holds(field.name, rest))?;
        Some((section, field))
    })
}

/// The row that `path` belongs to.
pub fn field(path: &str) -> Option<&'static Field> {
    row(path).map(|(_, field)| field)
}

/// Whether the value or the part at `path` may be unset.
pub fn is_optional(path: &str) -> bool {
    let part = SECTIONS.iter().any(|section| section.may_be_off && section.path == path);
    part || row(path)
        .is_some_and(|(section, field)| field.is_optional() && section.of(field) == path)
}

/// The keys below `path` that a device of `kind` has, or one of any kind. None: a value stands there, or nothing.
pub fn keys(kind: Option<Kind>, path: &str) -> Vec<&'static str> {
    let mut keys = Vec::new();
    for section in SECTIONS.iter().filter(|section| kind.is_none_or(|kind| section.is_of(kind))) {
        let own = section.fields.iter().filter(|_| section.path == path).map(|field| field.name);
        let below = if section.path == path || !section.stands_in(path) {
            None
        } else {
            section.path[path.len()..].trim_start_matches('.').split('.').next()
        };
        keys.extend(own.chain(below));
    }
    let mut first = Vec::new();
    keys.retain(|key| {
        !first.contains(key) && {
            first.push(*key);
            true
        }
    });
    keys
}

/// The name of the list without which the part at `path` needs nothing.
pub(crate) fn list_of(path: &str) -> Option<&'static str> {
    let section = SECTIONS.iter().find(|section| section.path == path && !path.is_empty())?;
    let mut needed = section.fields.iter().filter(|field| !field.is_optional());
    let list = needed.next().filter(|field| field.holds == Holds::List)?;
    needed.next().is_none().then_some(list.name)
}

/// What must stand at `path`, a field or a part of one kind of device, as it would be written; `None` when it may be absent.
pub(crate) fn must_be(path: &str) -> Option<String> {
    let such_as = |field: &Field| match field.absent {
        Absent::Needed(such_as) => Some(such_as),
        Absent::Unset => None,
    };
    if let Some((_, field)) = row(path).filter(|(section, field)| section.of(field) == path) {
        return such_as(field).map(str::to_owned);
    }
    let mut sections = SECTIONS.iter().filter(|section| section.stands_in(path));
    if sections.clone().any(|section| section.path == path && section.may_be_off) {
        return None;
    }
    let key = sections.find_map(|section| section.fields.iter().find(|f| such_as(f).is_some()))?;
    Some(format!("{{{}: ...}}", key.name))
}

#[cfg(test)]
mod tests;
