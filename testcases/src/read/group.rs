//! Streams and storms by name: those of the setup with the case's own over them, lists of ports made into groups.

use super::places::Places;
use super::traffic::Named;
use indexmap::IndexMap;
use rig_lab::is_name;
use rig_lab::walk::{At, Fields};
use rig_lab::yaml::Key;
use std::collections::BTreeSet;

/// Streams or storms of a case, and which of them belong together.
#[derive(Debug)]
pub(super) struct Group<T> {
    /// All of them.
    pub(super) all: IndexMap<String, T>,
    /// Names as written, and what each stands for.
    pub(super) groups: IndexMap<String, Vec<String>>,
    /// Whether each of them could be read.
    pub(super) whole: bool,
}

/// One kind of sender: the key of its block, the keys of its fields, and how one is read.
pub(super) struct GroupKeys<T> {
    pub(super) part: &'static str,
    pub(super) keys: &'static [&'static str],
    pub(super) read: fn(&str, &Fields<'_>) -> Option<Named<T>>,
}

/// Reads the block of the setup and that of the case; the case's keys stand over the setup's of the same name.
pub(super) fn group<'w, T>(
    kind: &GroupKeys<T>,
    setup: Option<&At<'w>>,
    own: Option<&At<'w>>,
    places: &mut Places,
) -> Group<T> {
    let entries = |at: Option<&At<'w>>| -> Entries<'w> {
        at.and_then(|at| at.entries("a mapping by name")).unwrap_or_default()
    };
    let (setup, own) = (entries(setup), entries(own));
    let mut group = Group { all: IndexMap::new(), groups: IndexMap::new(), whole: true };
    let mut seen = BTreeSet::new();
    for (key, at) in setup.iter().chain(&own).filter(|(key, _)| seen.insert(key.name.as_str())) {
        let name = key.name.as_str();
        if !is_name(name) {
            let want = "a name in lower case with dashes, such as victim";
            at.at_key(format!("`{name}` cannot be a name"), want);
            continue;
        }
        // A name stays known whatever its fields say, or one typo would look like many.
        group.groups.insert(name.to_owned(), vec![name.to_owned()]);
        if !at.is_short(name) {
            continue;
        }
        let (under, over) = (named(&setup, name), named(&own, name));
        let place = over.or(under).map(At::spot);
        let under = under.and_then(|at| at.fields(kind.keys));
        let fields = match over {
            Some(at) => at.fields(kind.keys).map(|fields| fields.over(under)),
            None => under,
        };
        let Some(members) = fields.as_ref().and_then(|fields| (kind.read)(name, fields)) else {
            group.whole = false;
            continue;
        };
        let list = members.iter().map(|(member, _)| member.clone()).collect();
        group.groups.insert(name.to_owned(), list);
        for (member, value) in members {
            if let Some(place) = &place {
                places.insert(format!("{}.{member}", kind.part), place.clone());
            }
            for (key, at) in
                kind.keys.iter().filter_map(|key| Some((key, fields.as_ref()?.get(key)?)))
            {
                places.insert(format!("{}.{member}.{key}", kind.part), at.spot());
            }
            group.all.insert(member, value);
        }
    }
    group
}

type Entries<'w> = Vec<(&'w Key, At<'w>)>;

fn named<'a, 'w>(list: &'a Entries<'w>, name: &str) -> Option<&'a At<'w>> {
    list.iter().find(|(key, _)| key.name == name).map(|(_, at)| at)
}
