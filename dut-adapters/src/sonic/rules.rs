//! What is wrong between the tables of a file, and no profile can say: rules of their own, beside those over profiles.

use super::alike::PortSet;
use super::stated::ports;
use super::tables::Tables;
use rig_lab::Place;

/// A rule over a file of SONiC's.
#[derive(Debug)]
pub struct FileRule {
    /// Its name: lower case with dashes.
    pub name: &'static str,
    /// What is wrong where it fires, as a sentence without a full stop.
    pub about: &'static str,
    /// Who says so.
    pub source: &'static str,
}

/// What is wrong, and where.
#[derive(Debug)]
pub struct FileFlaw {
    /// One of [`FILE_RULES`].
    pub rule: &'static FileRule,
    /// The row that is to blame.
    pub place: Place,
    /// What is there.
    pub found: String,
    /// What would be right.
    pub want: String,
    /// What it was compared with.
    pub numbers: String,
}

const NO_PROFILE: FileRule = FileRule {
    name: "lossless-group-without-profile",
    about: "a class has PFC and its priority group has no headroom: what arrives after XOFF is lost",
    source: "SONiC PORT_QOS_MAP pfc_enable, BUFFER_PG, BUFFER_PROFILE xoff; DEVICE_METADATA buffer_model",
};

/// Every rule over files of SONiC's.
pub static FILE_RULES: &[FileRule] = &[NO_PROFILE];

/// Rules over profiles whose numbers rest on more settings than the one that they blame.
const ALSO: &[(&str, &[&str])] = &[
    ("ecn-after-pfc", &["buffer.pool"]),
    ("memory-overcommitted", &["buffer.xoff"]),
    ("static-limits-overcommitted", &["buffer.pool"]),
    ("watchdog-on-congestion", &["buffer.pool"]),
];

/// Whether what a rule over profiles blames, and what its numbers rest on, is of the file: otherwise it would speak of the bundled profile.
pub fn is_of_file(set: &PortSet, rule: &str, path: &str) -> bool {
    let also = ALSO.iter().find(|(name, _)| *name == rule).map_or(&[][..], |(_, also)| also);
    set.place(path).is_some() && also.iter().all(|path| set.place(path).is_some())
}

/// What the rules have to say of a file.
pub fn flaws(tables: &Tables) -> Vec<FileFlaw> {
    let dynamic = tables.metadata("buffer_model").is_some_and(|said| said.text == "dynamic");
    let mut all = Vec::new();
    for port in ports(tables) {
        let of = |key| tables.field("PORT_QOS_MAP", key, "pfc_enable");
        let Some(said) = of(port).or_else(|| of("global")) else { continue };
        for class in said.classes().unwrap_or_default() {
            let Some((place, found)) = without(tables, port, class, dynamic)
                .map(|(place, found)| (place.unwrap_or_else(|| said.place()), found))
            else {
                continue;
            };
            let numbers = format!("{} is `{}`", said.path(), said.text);
            let want = format!("a row BUFFER_PG|{port}|{class} with a profile that has xoff");
            all.push(FileFlaw { rule: &FILE_RULES[0], place, found, want, numbers });
        }
    }
    all
}

/// Why the group of this class has no headroom, and the row that says so.
fn without(
    tables: &Tables,
    port: &str,
    class: u8,
    dynamic: bool,
) -> Option<(Option<Place>, String)> {
    let Some(key) = tables.bound("BUFFER_PG", port, class) else {
        return Some((None, format!("class {class} of {port} has PFC and no row of BUFFER_PG")));
    };
    let place = tables.row_place("BUFFER_PG", key);
    let said = tables.field("BUFFER_PG", key, "profile").filter(|said| said.text != "NULL");
    let Some(said) = said else {
        // The dynamic model works headroom out and keeps it in APPL_DB.
        let found = format!("class {class} of {port} has PFC and its group no profile");
        return (!dynamic).then_some((place, found));
    };
    let name = super::ports::referred(said.text);
    let of = |field| tables.field("BUFFER_PROFILE", name, field);
    let has = of("xoff").is_some() || dynamic && of("dynamic_th").is_some() && of("size").is_none();
    let found =
        format!("class {class} of {port} has PFC and its group `{name}`, which has no xoff");
    (!has).then_some((Some(said.place()), found))
}
