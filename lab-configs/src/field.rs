//! One row a field of the configuration: what it holds, what stands for it where a file says nothing, who may change it and when, and how it is
//! broken on purpose. The rows of a part stand beside its type (`Pfcwd::FIELDS`), the list of parts in [`fields`](crate::fields).

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    /// A length of time.
    Time,
    /// A length of time, or a range of which a device has one inside it or another each time.
    Range,
    /// A size or a number of bytes.
    Size,
    /// A probability or a fraction.
    Chance,
    /// A rate.
    Rate,
    /// A pause time in quanta.
    Quanta,
    /// A whole number from 0.
    Count,
    /// The exponent of a power of two, which may be below 0.
    Exponent,
    /// `true` or `false`.
    Switch,
    /// One of a few words.
    Word,
    /// A name that people choose.
    Name,
    /// A list, given as a whole.
    List,
    /// A mapping whose keys are data, or a value of several forms, given as a whole.
    Whole,
}

/// What stands for a field of which a file says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Absent {
    /// Nothing: it must be there, such as this.
    Needed(&'static str),
    /// It is unset, which `never` says, too.
    Unset,
}

/// A field of the configuration: what may stand at its path, who may change it and when, and how it is broken.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    /// Its key in its part.
    pub name: &'static str,
    /// What it holds.
    pub holds: Holds,
    pub(crate) absent: Absent,
    /// Whether an adapter may set it on behalf of a case. What it may not set is part of what a device *is*: a case that asks for it
    /// selects a device.
    pub by_case: bool,
    /// Whether it may be changed while the device runs.
    pub live: bool,
    /// Whether it enters the watchdog's timing rule and nothing else, so that two values are alike when the rule predicts the same.
    pub timing: bool,
    /// Whether what lies inside a range is another each time; if not, a device has one value and keeps it.
    pub varies: bool,
    tried: Option<&'static [&'static str]>,
}

/// A field that every file must give, such as `such_as`.
pub const fn needed(name: &'static str, holds: Holds, such_as: &'static str) -> Field {
    let absent = Absent::Needed(such_as);
    Field { absent, ..optional(name, holds) }
}

/// A field that may be unset.
pub const fn optional(name: &'static str, holds: Holds) -> Field {
    let absent = Absent::Unset;
    let (by_case, live, timing, varies) = (false, false, false, false);
    Field { name, holds, absent, by_case, live, timing, varies, tried: None }
}

impl Field {
    /// Factors by which every quantity is changed.
    const FACTORS: &[&str] = &["x0.9", "x1.1", "x1.5", "x2"];
    /// One step off is a factor of two.
    const STEPS: &[&str] = &["+1", "-1"];

    /// A case may set it.
    #[must_use]
    pub const fn by_case(self) -> Field {
        Field { by_case: true, ..self }
    }

    /// It may be changed while the device runs.
    #[must_use]
    pub const fn live(self) -> Field {
        Field { live: true, ..self }
    }

    /// It enters the watchdog's timing rule and nothing else.
    #[must_use]
    pub const fn timing(self) -> Field {
        Field { timing: true, ..self }
    }

    /// What lies inside its range is another each time.
    #[must_use]
    pub const fn varies(self) -> Field {
        Field { varies: true, ..self }
    }

    /// These mutants of it are tried, and no others.
    #[must_use]
    pub const fn tried(self, values: &'static [&'static str]) -> Field {
        Field { tried: Some(values), ..self }
    }

    /// Whether it may be unset.
    pub const fn is_optional(&self) -> bool {
        matches!(self.absent, Absent::Unset)
    }

    /// The values of its mutants: absolute, or relative to what is configured.
    pub fn mutants(&self) -> Vec<&'static str> {
        if let Some(own) = self.tried {
            return own.to_vec();
        }
        let steps = match self.holds {
            Holds::Exponent => Field::STEPS,
            Holds::Time
            | Holds::Range
            | Holds::Size
            | Holds::Chance
            | Holds::Rate
            | Holds::Quanta => Field::FACTORS,
            Holds::Count => Field::FACTORS,
            Holds::Switch | Holds::Word | Holds::Name | Holds::List | Holds::Whole => &[],
        };
        let never = self.is_optional() && !steps.is_empty();
        steps.iter().copied().chain(never.then_some("never")).collect()
    }
}
