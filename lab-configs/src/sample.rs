//! What a device is configured to of which nothing is known but its kind: everything is such as its row says.

use crate::field::Absent;
use crate::fields::{Fieldset, SECTIONS};
use crate::{Declared, Kind, Nic, Switch};
use serde_json::Value as Json;

/// A complete configuration of a device of `kind`, in which everything is such as its row says.
///
/// # Errors
/// Never, unless a row says what does not fit its field; says how.
pub fn sample(kind: Kind) -> Result<Declared, String> {
    filled(kind, |_| true)
}

/// The same without the parts that a device need not have.
///
/// # Errors
/// As [`sample`].
pub(crate) fn least(kind: Kind) -> Result<Declared, String> {
    filled(kind, |section| {
        !SECTIONS.iter().any(|part| part.may_be_off && section.stands_in(part.path))
    })
}

fn filled(kind: Kind, with: impl Fn(&Fieldset) -> bool) -> Result<Declared, String> {
    // A system is made of switches.
    let kind = if kind == Kind::System { Kind::Switch } else { kind };
    let mut tree = Json::Null;
    for section in SECTIONS.iter().filter(|section| section.is_of(kind) && with(section)) {
        let keys = section.path.split('.').filter(|key| !key.is_empty());
        for field in section.fields {
            if let Absent::Needed(text) = field.absent {
                keys.clone().fold(&mut tree, |at, key| &mut at[key])[field.name] = value(text);
            }
        }
    }
    Declared::read(kind, tree).map_err(|e| e.to_string())
}

/// A value as it stands in a row: JSON, or a text without quotes.
pub(crate) fn value(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|_| Json::String(text.to_owned()))
}

impl Nic {
    /// Such as its rows say.
    ///
    /// # Panics
    /// Never: a test holds every row against its field.
    pub fn usual() -> Nic {
        match sample(Kind::Nic) {
            Ok(Declared::Nic(nics)) => nics.nic,
            other => panic!("the rows of a NIC make no NIC: {other:?}"),
        }
    }
}

impl Switch {
    /// Such as its rows say.
    ///
    /// # Panics
    /// Never: a test holds every row against its field.
    pub fn usual() -> Switch {
        match sample(Kind::Switch) {
            Ok(Declared::Switch(switch)) => *switch,
            other => panic!("the rows of a switch make no switch: {other:?}"),
        }
    }
}
