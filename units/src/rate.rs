//! Speeds and rates. The nominal speed of a port, a stream's rate on the wire (layer 1: preamble and gap counted) and
//! its rate in frames (layer 2: FCS counted, preamble and gap not) are different kinds: a mistaken one is 2 % at 1024 B.

use crate::parse::{BadQuantity, Scale, decimal, print, string_forms};
use crate::{Bytes, Dur, L1_OVERHEAD, Quanta, Time};
use core::cmp::Ordering;
use core::fmt;
use core::str::FromStr;

const PS_PER_S: u64 = 1_000_000_000_000;
const BITS: u64 = 8;

const UNITS: &[Scale] = &[
    Scale { suffix: "bps", factor: 1 },
    Scale { suffix: "Kbps", factor: 1_000 },
    Scale { suffix: "Mbps", factor: 1_000_000 },
    Scale { suffix: "Gbps", factor: 1_000_000_000 },
    Scale { suffix: "Tbps", factor: 1_000_000_000_000 },
];

/// The nominal MAC rate of a port. Only rates at which a byte lasts a whole number of picoseconds exist. Ordered by
/// rate, not by the time a byte lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PortSpeed {
    ps_per_byte: u64,
}

impl Ord for PortSpeed {
    fn cmp(&self, other: &PortSpeed) -> Ordering {
        other.ps_per_byte.cmp(&self.ps_per_byte)
    }
}

impl PartialOrd for PortSpeed {
    fn partial_cmp(&self, other: &PortSpeed) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PortSpeed {
    /// 10 Gb/s.
    pub const G10: PortSpeed = PortSpeed { ps_per_byte: 800 };
    /// 100 Gb/s.
    pub const G100: PortSpeed = PortSpeed { ps_per_byte: 80 };
    /// 400 Gb/s.
    pub const G400: PortSpeed = PortSpeed { ps_per_byte: 20 };

    /// The slowest that exists, in bits a second: at it the longest pause and a gigabyte still last a countable time.
    const LEAST_BPS: u64 = 1_000;

    /// The speed of so many bits a second, if a byte lasts a whole number of picoseconds at it, from 1 Kb/s on.
    pub const fn from_bps(bps: u64) -> Option<PortSpeed> {
        let byte = PS_PER_S * BITS;
        if bps < PortSpeed::LEAST_BPS || !byte.is_multiple_of(bps) {
            return None;
        }
        Some(PortSpeed { ps_per_byte: byte / bps })
    }

    /// Bits a second.
    pub const fn bps(self) -> u64 {
        PS_PER_S * BITS / self.ps_per_byte
    }

    /// How long one byte lasts.
    pub const fn byte(self) -> Dur {
        Dur(self.ps_per_byte)
    }

    /// How long `bytes` last, nothing added.
    pub const fn serialise(self, bytes: Bytes) -> Dur {
        Dur(bytes.0 * self.ps_per_byte)
    }

    /// How long a frame (FCS counted) occupies the wire, preamble and gap included.
    pub const fn slot(self, frame: Bytes) -> Dur {
        self.serialise(Bytes(frame.0 + L1_OVERHEAD.0))
    }

    /// How long `quanta` last: 512 bit times each (formula F1).
    pub const fn pause(self, quanta: Quanta) -> Dur {
        const BYTES_PER_QUANTUM: u64 = 512 / BITS;
        self.serialise(Bytes(quanta.0 as u64 * BYTES_PER_QUANTUM))
    }

    /// The whole of the port as a rate on the wire.
    pub const fn line(self) -> L1Rate {
        L1Rate { bps: self.bps() }
    }
}

impl FromStr for PortSpeed {
    type Err = BadQuantity;
    fn from_str(text: &str) -> Result<PortSpeed, BadQuantity> {
        const WANT: &str =
            "a number and Mbps or Gbps at which a byte lasts whole picoseconds, such as 100Gbps";
        let bps = decimal("a port speed", WANT, UNITS, text)?;
        PortSpeed::from_bps(bps).ok_or_else(|| BadQuantity::new("a port speed", WANT, text))
    }
}
impl fmt::Display for PortSpeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, UNITS, "bps", self.bps())
    }
}
string_forms!(
    PortSpeed,
    "port speed",
    r"^[0-9]+(\.[0-9]+)?[KMGT]?bps$",
    "a port speed such as 100Gbps"
);

/// Bits a second on the wire: preamble and inter-frame gap are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct L1Rate {
    /// Bits a second.
    pub bps: u64,
}

/// Bits a second in frames: FCS counted, preamble and gap not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct L2Rate {
    /// Bits a second.
    pub bps: u64,
}

impl L2Rate {
    /// How long frames of so many bytes last, rounded up; for ever at no rate.
    pub fn serialise(self, frames: Bytes) -> Dur {
        let bits = u128::from(frames.0) * u128::from(BITS) * u128::from(PS_PER_S);
        let time = bits.div_ceil(u128::from(self.bps.max(1)));
        Dur(u64::try_from(time).unwrap_or(u64::MAX))
    }
}

impl FromStr for L2Rate {
    type Err = BadQuantity;
    fn from_str(text: &str) -> Result<L2Rate, BadQuantity> {
        const WHAT: &str = "a rate";
        const WANT: &str = "a number and Mbps-L2 or Gbps-L2, such as 40Mbps-L2";
        let bad = || BadQuantity::new(WHAT, WANT, text);
        let number = text.strip_suffix("-L2").ok_or_else(bad)?;
        decimal(WHAT, WANT, UNITS, number).map(|bps| L2Rate { bps }).map_err(|_| bad())
    }
}
impl fmt::Display for L2Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print(f, UNITS, "bps", self.bps)?;
        f.write_str("-L2")
    }
}
string_forms!(
    L2Rate,
    "rate in frames",
    r"^[0-9]+(\.[0-9]+)?[KMGT]?bps-L2$",
    "a rate in frames such as 40Mbps-L2"
);

/// A share of a port in hundredths of a percent: of its line rate on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent {
    /// Parts per million of the line rate.
    pub ppm: u32,
}

impl Percent {
    /// This share of `speed` as a rate on the wire.
    pub fn of(self, speed: PortSpeed) -> L1Rate {
        let bps = u128::from(speed.bps()) * u128::from(self.ppm) / 1_000_000;
        L1Rate { bps: u64::try_from(bps).unwrap_or(u64::MAX) }
    }
}

/// A stream's rate as written: what it counts is part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Rate {
    /// `10Gbps-L1`
    L1(L1Rate),
    /// `10Gbps-L2`
    L2(L2Rate),
    /// `45%` of the port it leaves by.
    Share(Percent),
}

impl Rate {
    /// The pace of frames of size `frame` (FCS counted) that leave by a port of `speed`.
    pub fn pace(self, frame: Bytes, speed: PortSpeed) -> Pace {
        match self {
            Rate::L1(rate) => Pace::of_bits(frame + L1_OVERHEAD, rate.bps),
            Rate::L2(rate) => Pace::of_bits(frame, rate.bps),
            Rate::Share(share) => Pace::of_bits(frame + L1_OVERHEAD, share.of(speed).bps),
        }
    }
}

impl FromStr for Rate {
    type Err = BadQuantity;
    fn from_str(text: &str) -> Result<Rate, BadQuantity> {
        const WHAT: &str = "a stream rate";
        const WANT: &str =
            "10Gbps-L1 (preamble and gap counted), 10Gbps-L2 (frames only) or 45% of the port";
        let bad = || BadQuantity::new(WHAT, WANT, text);
        let positive = |bps: u64| if bps == 0 { Err(bad()) } else { Ok(bps) };
        let bits =
            |number: &str| decimal(WHAT, WANT, UNITS, number).map_err(|_| bad()).and_then(positive);
        if let Some(number) = text.strip_suffix("-L1") {
            Ok(Rate::L1(L1Rate { bps: bits(number)? }))
        } else if let Some(number) = text.strip_suffix("-L2") {
            Ok(Rate::L2(L2Rate { bps: bits(number)? }))
        } else {
            let share = [Scale { suffix: "%", factor: 10_000 }];
            let ppm = decimal(WHAT, WANT, &share, text).and_then(positive)?;
            let over = "a stream rate: it is more than the whole port";
            let over = || BadQuantity::new(over, WANT, text);
            let ppm = u32::try_from(ppm).ok().filter(|&ppm| ppm <= 1_000_000).ok_or_else(over)?;
            Ok(Rate::Share(Percent { ppm }))
        }
    }
}
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rate::L1(rate) => {
                print(f, UNITS, "bps", rate.bps)?;
                f.write_str("-L1")
            }
            Rate::L2(rate) => {
                print(f, UNITS, "bps", rate.bps)?;
                f.write_str("-L2")
            }
            Rate::Share(share) => {
                let (whole, rest) = (share.ppm / 10_000, share.ppm % 10_000);
                let fraction = format!(".{rest:04}");
                write!(f, "{whole}{}%", fraction.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}
string_forms!(
    Rate,
    "rate",
    r"^([0-9]+(\.[0-9]+)?[KMGT]?bps-L[12]|[0-9]+(\.[0-9]+)?%)$",
    "a stream rate: 10Gbps-L1, 10Gbps-L2 or 45% of the port"
);

/// Evenly spaced departures whose gap need not be a whole number of picoseconds: the remainder is carried, so the
/// n-th departure is exact to the picosecond after an hour as after the first frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    whole: u64,
    part: u64,
    parts: u64,
    carried: u64,
}

impl Pace {
    /// One departure every `gap`.
    pub const fn every(gap: Dur) -> Pace {
        Pace { whole: gap.0, part: 0, parts: 1, carried: 0 }
    }

    /// One departure of `bytes` at `bps` after another. A rate of zero has no pace; readers refuse it.
    fn of_bits(bytes: Bytes, bps: u64) -> Pace {
        let bits_ps = u128::from(bytes.0) * u128::from(BITS) * u128::from(PS_PER_S);
        let whole = u64::try_from(bits_ps / u128::from(bps)).unwrap_or(u64::MAX);
        let part = u64::try_from(bits_ps % u128::from(bps)).unwrap_or(0);
        Pace { whole, part, parts: bps, carried: 0 }
    }

    /// The departure after the one at `at`.
    #[inline]
    pub const fn next(&mut self, at: Time) -> Time {
        self.carried += self.part;
        let extra = if self.carried >= self.parts {
            self.carried -= self.parts;
            1
        } else {
            0
        };
        Time(at.0 + self.whole + extra)
    }

    /// The gap, rounded down to whole picoseconds.
    pub const fn gap(&self) -> Dur {
        Dur(self.whole)
    }

    /// How many departures fall into `length`, when the first is at its start.
    pub fn within(&self, length: Dur) -> u64 {
        let parts = u128::from(self.parts);
        let gap = u128::from(self.whole) * parts + u128::from(self.part);
        if gap == 0 {
            return 0;
        }
        u64::try_from((u128::from(length.0) * parts).div_ceil(gap)).unwrap_or(u64::MAX)
    }

    /// How long after the first departure the `n`-th one after it comes.
    pub fn after(&self, n: u64) -> Dur {
        let extra = u128::from(self.part) * u128::from(n) / u128::from(self.parts);
        let after = u128::from(self.whole) * u128::from(n) + extra;
        Dur(u64::try_from(after).unwrap_or(u64::MAX))
    }
}
