//! Lengths of cables.

use crate::Dur;
use crate::parse::{BadQuantity, Scale, decimal, print, string_forms};
use core::fmt;
use core::str::FromStr;

/// The speed of light in fibre, 1.98e8 m/s (the figure in SONiC's headroom calculation): so many centimetres in so many picoseconds.
const CM_PER_PS: (u64, u64) = (99, 5_000);

/// A length, in centimetres.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Length(pub u64);

impl Length {
    /// The longest link that is taken: a thousand kilometres, 5 ms one way.
    pub const MAX: Length = Length(100_000_000);

    /// How long a signal takes over so much cable, at 1.98e8 m/s; rounded down to whole picoseconds.
    pub const fn travel(self) -> Dur {
        let (cm, ps) = CM_PER_PS;
        Dur(self.0 * ps / cm)
    }

    /// The same, rounded up.
    pub const fn travel_at_most(self) -> Dur {
        let (cm, ps) = CM_PER_PS;
        Dur((self.0 * ps).div_ceil(cm))
    }
}

const UNITS: &[Scale] = &[
    Scale { suffix: "cm", factor: 1 },
    Scale { suffix: "m", factor: 100 },
    Scale { suffix: "km", factor: 100_000 },
];

impl FromStr for Length {
    type Err = BadQuantity;
    fn from_str(text: &str) -> Result<Length, BadQuantity> {
        const WANT: &str = "a number and cm, m or km, up to 1000km, such as 3m";
        let length = Length(decimal("a length", WANT, UNITS, text)?);
        if length > Length::MAX {
            return Err(BadQuantity::new("a length", WANT, text));
        }
        Ok(length)
    }
}

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, UNITS, "m", self.0)
    }
}

string_forms!(Length, "length", r"^[0-9]+(\.[0-9]+)?(cm|m|km)$", "a length such as 3m");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kilometre_takes_as_long_as_1_98e8_metres_a_second_say() {
        // 1e5 cm / 1.98e10 cm/s, worked by hand: 5.0505050505 us.
        let km = Length(100_000);
        assert_eq!((km.travel(), km.travel_at_most()), (Dur(5_050_505), Dur(5_050_506)));
        assert_eq!(Length(99).travel(), Length(99).travel_at_most());
    }
}
