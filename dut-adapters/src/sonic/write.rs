//! A field of CONFIG_DB that was written, and how it becomes what it was.

use super::lasting;
use super::link::{Db, Edit, Link, Made};
use crate::control::error::Lost;
use core::fmt;
use rig_lab::RedisAt;
use rig_units::limits::quoted;

/// One field: what it was before and what it became; `None`: it is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Write {
    /// The table and key, such as `PFC_WD|Ethernet0`.
    pub(super) key: String,
    pub(super) field: String,
    pub(super) from: Option<String>,
    pub(super) to: Option<String>,
}

/// What came of undoing one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Back {
    /// It is what it was.
    Now,
    /// It was that already.
    Already,
    /// It is neither what it was nor what was written, but this: another hand has changed it, and it stays so.
    Other(Option<String>),
}

impl Write {
    const fn edit<'e>(&'e self, from: &'e Option<String>, to: &'e Option<String>) -> Edit<'e> {
        let from = match from {
            Some(text) => Some(text.as_str()),
            None => None,
        };
        let to = match to {
            Some(text) => Some(text.as_str()),
            None => None,
        };
        Edit { key: self.key.as_str(), field: self.field.as_str(), from, to }
    }

    /// Makes all of them, or none: then which is not as it was, and what it is instead.
    ///
    /// # Errors
    /// The switch is lost; nobody knows whether they were made.
    pub(super) fn all(link: &mut Link, all: &[Write]) -> Result<Made, Lost> {
        let edits: Vec<Edit<'_>> = all.iter().map(|one| one.edit(&one.from, &one.to)).collect();
        link.edit(Db::Config, &edits)
    }

    /// Makes it what it was, unless another hand has made something else of it.
    ///
    /// # Errors
    /// The switch is lost.
    pub(super) fn undo(&self, link: &mut Link) -> Result<Back, Lost> {
        if self.from.is_none()
            && let Some(rest) = lasting::rest(&self.key, &self.field)
        {
            return self.end(rest, link);
        }
        match link.edit(Db::Config, &[self.edit(&self.to, &self.from)])? {
            Made::All => Ok(Back::Now),
            Made::None(_, found) if found == self.from => Ok(Back::Already),
            Made::None(_, found) => Ok(Back::Other(found)),
        }
    }

    /// Takes away what was not there, once what holds without it is in effect: of what goes nobody hears.
    fn end(&self, rest: &str, link: &mut Link) -> Result<Back, Lost> {
        let rest = Some(rest.to_owned());
        match link.edit(Db::Config, &[self.edit(&self.to, &rest)])? {
            Made::All => {}
            Made::None(_, None) => return Ok(Back::Already),
            // Somebody was killed between the two steps, whose journal this is.
            Made::None(_, found) if found == rest => {}
            Made::None(_, found) => return Ok(Back::Other(found)),
        }
        lasting::rests(link, &self.key, &self.field)?;
        match link.edit(Db::Config, &[self.edit(&rest, &None)])? {
            Made::All => Ok(Back::Now),
            Made::None(_, None) => Ok(Back::Already),
            Made::None(_, found) => Ok(Back::Other(found)),
        }
    }

    /// That another hand has made `found` of it.
    pub(super) fn told(&self, found: &Option<String>) -> String {
        let Write { key, field, .. } = self;
        let (found, from, to) = (shown(found), shown(&self.from), shown(&self.to));
        format!(
            "{key}|{field} is {found}, neither what it was ({from}) nor what the rig wrote ({to}): another hand has changed it, and it stays"
        )
    }
}

impl fmt::Display for Write {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}|{}, which was {}",
            self.key.escape_debug(),
            self.field.escape_debug(),
            shown(&self.from)
        )
    }
}

/// Makes a field of CONFIG_DB what it was `before`, unless another hand has changed it since it was `written`.
///
/// # Errors
/// Nobody answers there, or another hand has: what it is now.
pub(crate) fn undo(
    redis: &str,
    (key, field): (&str, &str),
    (before, written): (Option<&str>, Option<&str>),
) -> Result<Back, String> {
    let at: RedisAt = redis.parse()?;
    let write = Write {
        key: key.to_owned(),
        field: field.to_owned(),
        from: before.map(str::to_owned),
        to: written.map(str::to_owned),
    };
    let mut link = Link::open(&at).map_err(|lost| lost.plainly())?;
    match write.undo(&mut link).map_err(|lost| lost.plainly())? {
        Back::Other(found) => Err(write.told(&found)),
        back => Ok(back),
    }
}

/// A value, or that there is none.
pub(super) fn shown(value: &Option<String>) -> String {
    let text = |text: &String| {
        let text = rig_lab::keys::hidden(quoted(text).as_str());
        format!("`{}`", text.escape_debug())
    };
    value.as_ref().map_or_else(|| "not there".to_owned(), text)
}
