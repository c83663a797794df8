//! Reading and printing `number + unit`, exactly or not at all.

use core::fmt;

/// A quantity that was not understood: what it should have been, and what stood there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadQuantity {
    what: &'static str,
    want: &'static str,
    got: String,
}

impl BadQuantity {
    pub(crate) fn new(what: &'static str, want: &'static str, got: &str) -> BadQuantity {
        BadQuantity { what, want, got: crate::limits::quoted(got) }
    }

    /// What it should have been: `a duration`.
    pub const fn what(&self) -> &'static str {
        self.what
    }

    /// What would be accepted: `a number and ps, ns, us, ms or s, such as 200ms`.
    pub const fn want(&self) -> &'static str {
        self.want
    }
}

impl fmt::Display for BadQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let BadQuantity { what, want, got } = self;
        write!(f, "`{got}` is not {what}: want {want}")
    }
}

impl core::error::Error for BadQuantity {}

/// One unit of a quantity, in terms of its smallest.
pub(crate) struct Scale {
    pub(crate) suffix: &'static str,
    pub(crate) factor: u64,
}

/// Reads `12.5us` as a whole number of the smallest unit; refuses what would have to be rounded.
pub(crate) fn decimal(
    what: &'static str,
    want: &'static str,
    units: &[Scale],
    text: &str,
) -> Result<u64, BadQuantity> {
    let bad = || BadQuantity::new(what, want, text);
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').ok_or_else(bad)?;
    let (number, suffix) = text.split_at(split);
    let unit = units.iter().find(|unit| unit.suffix == suffix).ok_or_else(bad)?;
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || fraction.is_empty() || whole.len() > 20 || fraction.len() > 15 {
        return Err(bad());
    }
    let whole: u128 = whole.parse().map_err(|_| bad())?;
    let digits = u32::try_from(fraction.len()).map_err(|_| bad())?;
    let fraction: u128 = fraction.parse().map_err(|_| bad())?;
    let ten = 10_u128.pow(digits);
    let number = whole.checked_mul(ten).and_then(|whole| whole.checked_add(fraction));
    let scaled =
        number.and_then(|number| number.checked_mul(unit.factor.into())).ok_or_else(bad)?;
    if !scaled.is_multiple_of(ten) {
        return Err(bad());
    }
    u64::try_from(scaled / ten).map_err(|_| bad())
}

/// The largest unit that needs no more than three decimals and is not below one.
pub(crate) fn unit(units: &[Scale], value: u64) -> Option<&Scale> {
    let fits = |unit: &&Scale| {
        value >= unit.factor && (value % unit.factor * 1000).is_multiple_of(unit.factor)
    };
    units.iter().filter(fits).max_by_key(|unit| unit.factor)
}

/// Prints in the largest unit that needs no more than three decimals and is not below one; `zero` is the unit of 0.
pub(crate) fn print(
    f: &mut fmt::Formatter<'_>,
    units: &[Scale],
    zero: &str,
    value: u64,
) -> fmt::Result {
    if value == 0 {
        return f.pad(&format!("0{zero}"));
    }
    let unit = unit(units, value).unwrap_or(&units[0]);
    let thousandths = (value % unit.factor) * 1000 / unit.factor;
    let fraction = format!(".{thousandths:03}");
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    f.pad(&format!("{}{fraction}{}", value / unit.factor, unit.suffix))
}

/// serde and JSON Schema for a quantity that is written as a string.
macro_rules! string_forms {
    ($type:ident, $name:literal, $pattern:expr, $want:literal) => {
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
                s.collect_str(self)
            }
        }
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<$type, D::Error> {
                d.deserialize_str($crate::parse::Text::<$type>::expecting($want))
            }
        }
        impl schemars::JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                $name.into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                $crate::schema::pattern($want, $pattern)
            }
        }
    };
}
pub(crate) use string_forms;

/// Reads a quantity from a YAML or JSON string; a bare number is answered with the form that is wanted.
pub(crate) struct Text<T> {
    want: &'static str,
    of: core::marker::PhantomData<T>,
}

impl<T> Text<T> {
    pub(crate) fn expecting(want: &'static str) -> Text<T> {
        Text { want, of: core::marker::PhantomData }
    }
}

impl<T: core::str::FromStr<Err = BadQuantity>> serde::de::Visitor<'_> for Text<T> {
    type Value = T;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.want)
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }
}
