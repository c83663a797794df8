//! Kinds of change that the rig makes outside itself, and how each is undone.

use crate::host::written;
use crate::sonic::write::{self, Back};
use core::fmt;
use rig_generator::port::{Fault, Link};
use rig_lab::RedisAt;
use serde::{Deserialize, Serialize};

/// One change: what, and how it was before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Change {
    /// An interface is set down, or up.
    Link {
        /// Its name.
        interface: String,
        /// Whether it was up.
        up: bool,
    },
    /// A field in CONFIG_DB of a switch is written.
    Sonic {
        /// Where the redis of the switch listens.
        redis: String,
        /// The table and key, such as `PFC_WD|Ethernet0`.
        key: String,
        /// The field.
        field: String,
        /// What it was; none where it was not there.
        before: Option<String>,
        /// What is written; none where it is taken away.
        written: Option<String>,
    },
    /// A setting of a host's NIC is written.
    Host {
        /// The host, as `ssh` knows it; none where it is this machine.
        host: Option<String>,
        /// The file in `/sys`, or `dcb pfc` and an interface.
        place: String,
        /// What it was.
        before: String,
        /// What is written.
        written: String,
        /// Whether it was read back: before that a driver may have made another value of it.
        #[serde(default)]
        read_back: bool,
    },
}

/// What came of undoing a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undone {
    /// It is as it was.
    Now,
    /// It was as before already.
    Already,
    /// There is nothing left that it could be done to.
    Gone,
}

impl Change {
    /// The interface of that name is about to be set up or down.
    ///
    /// # Errors
    /// There is none.
    pub fn link(interface: &str) -> Result<Change, String> {
        let up = Link::named(interface).map_err(|error| error.to_string())?.up;
        Ok(Change::Link { interface: interface.to_owned(), up })
    }

    /// Makes it as it was before. To do so twice does no harm.
    ///
    /// # Errors
    /// Why not, and what mends it.
    pub fn undo(&self) -> Result<Undone, String> {
        let (interface, up) = match self {
            Change::Link { interface, up } => (interface, up),
            Change::Sonic { redis, key, field, before, written } => {
                let values = (before.as_deref(), written.as_deref());
                return Ok(match write::undo(redis, (key, field), values)? {
                    Back::Already => Undone::Already,
                    Back::Now | Back::Other(_) => Undone::Now,
                });
            }
            Change::Host { host, place, before, written, read_back } => {
                let written = read_back.then_some(&**written);
                let was = written::undo(host.as_deref(), place, before, written)?;
                return Ok(if was { Undone::Now } else { Undone::Already });
            }
        };
        match Link::named(interface) {
            Err(error) if error.fault == Fault::NoInterface => return Ok(Undone::Gone),
            Err(error) => return Err(error.to_string()),
            Ok(link) if link.up == *up => return Ok(Undone::Already),
            Ok(_) => {}
        }
        let set = if *up { Link::raise(interface) } else { Link::down(interface) };
        set.map(|()| Undone::Now).map_err(|error| error.to_string())
    }

    /// It was read back as it was written.
    pub(super) const fn stands(&mut self) {
        match self {
            Change::Host { read_back, .. } => *read_back = true,
            Change::Link { .. } | Change::Sonic { .. } => {}
        }
    }

    /// Whether it lasts when the machine starts anew.
    pub const fn outlives_the_system(&self) -> bool {
        match self {
            // Another host has not been started anew with this one.
            Change::Link { .. } | Change::Host { host: None, .. } => false,
            Change::Sonic { .. } | Change::Host { host: Some(_), .. } => true,
        }
    }

    /// Whether it can be undone in the network namespace alone that it was made in.
    pub fn is_of_its_namespace(&self) -> bool {
        match self {
            Change::Link { .. } => true,
            Change::Host { host, .. } => host.is_none(),
            // A socket in the file system is the same in all of them.
            Change::Sonic { redis, .. } => !redis.starts_with("unix:"),
        }
    }

    /// Whether it was made to the switch whose redis listens there.
    pub fn is_to_redis(&self, at: &RedisAt) -> bool {
        matches!(self, Change::Sonic { redis, .. } if *redis == at.to_string())
    }

    /// Whether it was made to a NIC of that server, as `ssh` knows it; of this machine where there is no name.
    pub fn is_to_host(&self, name: Option<&str>) -> bool {
        matches!(self, Change::Host { host, .. } if host.as_deref() == name)
    }

    /// Whether it was made to this interface of the rig.
    pub fn is_to_interface(&self, name: &str) -> bool {
        match self {
            Change::Link { interface, .. } => interface == name,
            Change::Sonic { .. } | Change::Host { .. } => false,
        }
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Change::Link { interface, up } => {
                write!(
                    f,
                    "link {}, which was {}",
                    interface.escape_debug(),
                    if *up { "up" } else { "down" }
                )
            }
            Change::Sonic { redis, key, field, before, .. } => {
                let was = before.as_ref().map_or_else(
                    || "not there".to_owned(),
                    |before| format!("`{}`", before.escape_debug()),
                );
                let (redis, key, field) =
                    (redis.escape_debug(), key.escape_debug(), field.escape_debug());
                write!(f, "{key}|{field} of {redis}, which was {was}")
            }
            Change::Host { host, place, before, .. } => {
                let host = host.as_deref().unwrap_or("this machine").escape_debug();
                write!(f, "{} of {host}, which was {}", place.escape_debug(), before.escape_debug())
            }
        }
    }
}
