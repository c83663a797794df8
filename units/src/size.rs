//! Numbers of bytes. `KB` is 1000 bytes, `KiB` 1024; frame sizes count the FCS.

use crate::parse::{BadQuantity, Scale, decimal, string_forms};
use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Mul, Sub, SubAssign};
use core::str::FromStr;

/// A number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

impl Add for Bytes {
    type Output = Bytes;
    fn add(self, rhs: Bytes) -> Bytes {
        Bytes(self.0 + rhs.0)
    }
}
impl Sub for Bytes {
    type Output = Bytes;
    fn sub(self, rhs: Bytes) -> Bytes {
        Bytes(self.0 - rhs.0)
    }
}
impl AddAssign for Bytes {
    fn add_assign(&mut self, rhs: Bytes) {
        self.0 += rhs.0;
    }
}
impl SubAssign for Bytes {
    fn sub_assign(&mut self, rhs: Bytes) {
        self.0 -= rhs.0;
    }
}
impl Mul<u64> for Bytes {
    type Output = Bytes;
    fn mul(self, n: u64) -> Bytes {
        Bytes(self.0 * n)
    }
}
impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(all: I) -> Bytes {
        all.fold(Bytes(0), Add::add)
    }
}

const UNITS: &[Scale] = &[
    Scale { suffix: "B", factor: 1 },
    Scale { suffix: "KB", factor: 1_000 },
    Scale { suffix: "KiB", factor: 1 << 10 },
    Scale { suffix: "MB", factor: 1_000_000 },
    Scale { suffix: "MiB", factor: 1 << 20 },
    Scale { suffix: "GB", factor: 1_000_000_000 },
    Scale { suffix: "GiB", factor: 1 << 30 },
];

impl FromStr for Bytes {
    type Err = BadQuantity;
    fn from_str(text: &str) -> Result<Bytes, BadQuantity> {
        decimal("a size", "a number and B, KB, KiB, MB, MiB, GB or GiB, such as 1024B", UNITS, text)
            .map(Bytes)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Frame sizes are written in bytes: 1024B, not 1KiB; larger ones in a unit that divides them: 400KB, 400KiB.
        let whole = |unit: &&Scale| self.0 >= 10_000 && self.0.is_multiple_of(unit.factor);
        let unit = UNITS.iter().filter(whole).max_by_key(|unit| unit.factor).unwrap_or(&UNITS[0]);
        f.pad(&format!("{}{}", self.0 / unit.factor, unit.suffix))
    }
}

string_forms!(
    Bytes,
    "size",
    r"^[0-9]+(\.[0-9]+)?(B|KB|KiB|MB|MiB|GB|GiB)$",
    "a size such as 1024B or 400KiB"
);
