//! What a file tells a measure.

use crate::{Amount, Window};
use rig_units::{Dur, Ppm};

/// A wish for a number of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Wanted {
    /// What the oracle predicts.
    #[default]
    Predicted,
    /// None.
    None,
    /// At least one.
    Some,
    /// Every frame that was sent.
    All,
}

/// What stands behind a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Argument {
    /// Streams, storms, flows or ports.
    Names(Vec<String>),
    /// A traffic class.
    Class(u8),
    /// A length of time.
    Dur(Dur),
    /// A length of time that may rest on a prediction or be swept.
    Amount(Amount),
    /// In bits a second.
    Rate(u64),
    /// A part of something.
    Share(Ppm),
    /// A whole number.
    Whole(u32),
    /// One of a few words.
    Word(&'static str),
    /// How many frames are wanted.
    Wanted(Wanted),
    /// Stretches of a trial.
    Windows(Vec<Window>),
}

/// What a measure was told, by key.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments(Vec<(&'static str, Argument)>);

macro_rules! getters {
    ($($(#[$doc:meta])* $name:ident: $variant:ident, $of:ty, $value:pat => $given:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self, key: &str) -> Option<$of> {
            match self.get(key) {
                Some(Argument::$variant($value)) => Some($given),
                _ => None,
            }
        }
    )*};
}

impl Arguments {
    getters! {
        /// Names; `None` where none were told.
        names: Names, &[String], names => names;
        /// A traffic class.
        class: Class, u8, class => *class;
        /// A length of time.
        dur: Dur, Dur, dur => *dur;
        /// A length of time that may rest on a prediction or be swept.
        amount: Amount, &Amount, amount => amount;
        /// In bits a second.
        rate: Rate, u64, rate => *rate;
        /// A part of something.
        share: Share, Ppm, share => *share;
        /// A whole number.
        whole: Whole, u32, whole => *whole;
        /// One of a few words.
        word: Word, &'static str, word => word;
        /// How many frames are wanted.
        wanted: Wanted, Wanted, wanted => *wanted;
        /// Stretches of a trial.
        windows: Windows, &[Window], windows => windows;
    }

    /// The one name, or the first.
    pub fn name(&self, key: &str) -> Option<&str> {
        self.names(key)?.first().map(String::as_str)
    }

    /// Flows and a stretch of the trial, as [`WINDOW`](super::WINDOW) asks for them.
    pub fn window(&self) -> Option<Window> {
        let (from, until) = (self.dur("from")?, self.dur("until")?);
        Some(Window { flows: self.names("flows")?.to_vec(), from, until })
    }

    /// Forgets what stands under `key`; whether anything did.
    pub fn forget(&mut self, key: &str) -> bool {
        let told = self.0.len();
        self.0.retain(|(other, _)| *other != key);
        self.0.len() < told
    }

    pub(crate) fn set(&mut self, key: &'static str, value: Argument) {
        match self.0.iter_mut().find(|(other, _)| *other == key) {
            Some((_, told)) => *told = value,
            None => self.0.push((key, value)),
        }
    }

    /// Puts the ends of each stretch of the trial elsewhere.
    pub(crate) fn move_windows(&mut self, to: impl Fn(Dur) -> Dur) {
        for (key, value) in &mut self.0 {
            match value {
                Argument::Dur(end) if ["from", "until"].contains(key) => *end = to(*end),
                Argument::Windows(all) => {
                    for window in all {
                        (window.from, window.until) = (to(window.from), to(window.until));
                    }
                }
                _ => {}
            }
        }
    }

    pub(crate) fn values_mut(&mut self) -> impl Iterator<Item = &mut Argument> {
        self.0.iter_mut().map(|(_, value)| value)
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Argument> {
        self.0.iter().find(|(other, _)| *other == key).map(|(_, value)| value)
    }
}
