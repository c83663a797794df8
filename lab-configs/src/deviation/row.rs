//! A deviation as its part's table has it: what it is called, what it does, and the value that it takes.

use crate::Part;
use core::fmt;
use core::ops::RangeInclusive;

/// One named misbehaviour: a row of its part's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deviation {
    pub(super) name: &'static str,
    pub(super) about: &'static str,
    pub(super) part: Part,
    pub(super) value: Option<Value>,
}

/// The value that a deviation takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Value {
    pub(super) means: &'static str,
    pub(super) accepted: RangeInclusive<u32>,
    /// For people.
    pub(super) default: &'static str,
}

impl Deviation {
    /// Its name, as in `drop_leaks`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The part of the device that misbehaves.
    pub const fn part(&self) -> Part {
        self.part
    }

    /// What the device does wrong, and what the value means where there is one: a sentence for people.
    pub fn about(&self) -> String {
        let about = self.about.trim();
        match &self.value {
            None => about.to_owned(),
            Some(Value { means, default, .. }) => {
                format!("{} (value: {means}; default {default}).", about.trim_end_matches('.'))
            }
        }
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
