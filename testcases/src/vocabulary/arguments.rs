//! What a file tells a measure.

use crate::{Amount, Wanted, Window};
use rig_units::{Dur, Ppm};

/// What stands behind a key.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    /// Streams, storms, flows or ports.
    Names(Vec<String>),
    Class(u8),
    Dur(Dur),
    Amount(Amount),
    /// In bits a second.
    Rate(u64),
    Share(Ppm),
    Whole(u32),
    Word(&'static str),
    Wanted(Wanted),
    Windows(Vec<Window>),
}

/// What a measure was told, by key.
#[derive(Debug, Clone, Default)]
pub struct Arguments(Vec<(&'static str, Value)>);

macro_rules! getters {
    ($($name:ident: $variant:ident, $of:ty;)*) => {$(
        pub(crate) fn $name(&self, key: &str) -> Option<$of> {
            match self.get(key) {
                Some(Value::$variant(value)) => Some(value.clone()),
                _ => None,
            }
        }
    )*};
}

impl Arguments {
    getters! {
        names: Names, Vec<String>;
        class: Class, u8;
        dur: Dur, Dur;
        amount: Amount, Amount;
        rate: Rate, u64;
        share: Share, Ppm;
        whole: Whole, u32;
        word: Word, &'static str;
        wanted: Wanted, Wanted;
        windows: Windows, Vec<Window>;
    }

    pub(crate) fn set(&mut self, key: &'static str, value: Value) {
        self.0.retain(|(other, _)| *other != key);
        self.0.push((key, value));
    }

    fn get(&self, key: &str) -> Option<&Value> {
        self.0.iter().find(|(other, _)| *other == key).map(|(_, value)| value)
    }

    /// The one name, or the first.
    pub(crate) fn name(&self, key: &str) -> Option<String> {
        self.names(key)?.into_iter().next()
    }
}
