//! Pause quanta and probabilities: small numbers that must not be mistaken for one another.

use crate::parse::{BadQuantity, Scale, decimal, print, string_forms};
use core::fmt;
use core::str::FromStr;

/// A pause time in quanta of 512 bit times (IEEE 802.3 Annex 31B). Zero resumes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Quanta(pub u16);

impl Quanta {
    /// The longest pause one frame can ask for.
    pub const MAX: Quanta = Quanta(u16::MAX);
}

/// A probability, or how far off something is, in millionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Ppm(pub u32);

impl Ppm {
    /// Certainty.
    pub const ONE: Ppm = Ppm(1_000_000);
}

const QUANTA: &[Scale] = &[Scale { suffix: "q", factor: 1 }];
const PPM: &[Scale] = &[Scale { suffix: "ppm", factor: 1 }, Scale { suffix: "%", factor: 10_000 }];

impl FromStr for Quanta {
    type Err = BadQuantity;
    fn from_str(text: &str) -> Result<Quanta, BadQuantity> {
        const WANT: &str = "a whole number of quanta from 0q to 65535q";
        let n = decimal("a pause time", WANT, QUANTA, text)?;
        u16::try_from(n).map(Quanta).map_err(|_| BadQuantity::new("a pause time", WANT, text))
    }
}
impl FromStr for Ppm {
    type Err = BadQuantity;
    fn from_str(text: &str) -> Result<Ppm, BadQuantity> {
        const WANT: &str = "a probability from 0% to 100%, or in ppm, such as 5% or 200ppm";
        let n = decimal("a probability", WANT, PPM, text)?;
        let n = u32::try_from(n).ok().filter(|&n| n <= Ppm::ONE.0);
        let over = "a probability: it is more than the whole";
        n.map(Ppm).ok_or_else(|| BadQuantity::new(over, WANT, text))
    }
}
impl fmt::Display for Quanta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, QUANTA, "q", u64::from(self.0))
    }
}
impl fmt::Display for Ppm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, PPM, "%", u64::from(self.0))
    }
}

string_forms!(Quanta, "quanta", r"^[0-9]{1,5}q$", "a pause time such as 65535q");
string_forms!(
    Ppm,
    "probability",
    r"^[0-9]+(\.[0-9]+)?(%|ppm)$",
    "a probability such as 5% or 200ppm"
);
