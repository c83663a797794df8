//! The local ACK timeout of a queue pair: the code that a NIC is set to, or a time of a device that takes one.

use core::fmt;
use rig_units::{BadQuantity, Dur};
use serde::de::{Error, Visitor};

/// How long a sender waits at least for an acknowledgement before it sends again: a code of 5 bits (IBTA volume 1, 9.7.6.1.3; `timeout`
/// of `ibv_modify_qp`), or a time. What one code says is no time as well: 65.536us is read as 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AckTimeout {
    /// 4.096 us x 2^code; 0: for ever.
    Code(u8),
    /// A time that no code says.
    Time(Dur),
}

/// What the code says twice, four times, ... of.
const UNIT: Dur = Dur::ns(4_096);

impl AckTimeout {
    /// It waits for ever.
    pub const NEVER: AckTimeout = AckTimeout::Code(0);
    const WANT: &str = "the code of a local ACK timeout, 0 to 31: 14 is 4.096us x 2^14, 0 waits for ever; or a duration such as 60us";

    /// How long it waits at least; `None`: for ever.
    pub(crate) fn least(self) -> Option<Dur> {
        match self {
            AckTimeout::NEVER => None,
            AckTimeout::Code(code) => Some(UNIT * (1 << code)),
            AckTimeout::Time(time) => Some(time),
        }
    }

    /// So much longer or shorter; for ever it stays.
    pub(crate) fn scaled(self, num: u64, den: u64) -> AckTimeout {
        self.least().map_or(self, |time| AckTimeout::Time(time.scaled(num, den)))
    }

    fn of_code(code: u64) -> Option<AckTimeout> {
        u8::try_from(code).ok().filter(|&code| code < 32).map(AckTimeout::Code)
    }

    fn of_time(time: Dur) -> AckTimeout {
        if time == Dur::ZERO {
            return AckTimeout::NEVER;
        }
        let code = (1..32).find(|&code| UNIT * (1 << code) == time);
        code.map_or(AckTimeout::Time(time), AckTimeout::Code)
    }
}

/// As it would stand in a file.
impl fmt::Display for AckTimeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AckTimeout::Code(code) => fmt::Display::fmt(code, f),
            AckTimeout::Time(time) => fmt::Display::fmt(time, f),
        }
    }
}

impl serde::Serialize for AckTimeout {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            AckTimeout::Code(code) => s.serialize_u8(*code),
            AckTimeout::Time(time) => s.collect_str(time),
        }
    }
}

impl<'de> serde::Deserialize<'de> for AckTimeout {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<AckTimeout, D::Error> {
        d.deserialize_any(Form)
    }
}

/// Either form of a timeout.
struct Form;

impl Visitor<'_> for Form {
    type Value = AckTimeout;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(AckTimeout::WANT)
    }

    fn visit_u64<E: Error>(self, code: u64) -> Result<AckTimeout, E> {
        let wrong =
            || E::custom(format!("`{code}` has more than 5 bits: want {}", AckTimeout::WANT));
        AckTimeout::of_code(code).ok_or_else(wrong)
    }

    fn visit_i64<E: Error>(self, code: i64) -> Result<AckTimeout, E> {
        let wrong = |_| E::custom(format!("`{code}` is below 0: want {}", AckTimeout::WANT));
        self.visit_u64(u64::try_from(code).map_err(wrong)?)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<AckTimeout, E> {
        let wrong = |_: BadQuantity| {
            E::custom(format!("`{text}` is not a timeout: want {}", AckTimeout::WANT))
        };
        text.parse().map(AckTimeout::of_time).map_err(wrong)
    }
}

impl schemars::JsonSchema for AckTimeout {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "AckTimeout".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "the code of a local ACK timeout: 4.096 us x 2^code, 0 waits for ever; or a duration such as 60us",
            "anyOf": [
                { "type": "integer", "minimum": 0, "maximum": 31 },
                { "type": "string", "pattern": r"^[0-9]+(\.[0-9]+)?(ps|ns|us|ms|s)$" },
            ],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<AckTimeout, String> {
        serde_json::from_str(text).map_err(|e| e.to_string())
    }

    #[test]
    fn a_code_has_five_bits() {
        assert_eq!([read("0"), read("31")], [Ok(AckTimeout::NEVER), Ok(AckTimeout::Code(31))]);
        for wrong in ["32", "-1", "256"] {
            assert!(
                read(wrong).unwrap_err().contains("want the code of a local ACK timeout, 0 to 31")
            );
        }
    }

    #[test]
    fn a_time_that_a_code_says_is_that_code() {
        let read = |text: &str| read(&format!("\"{text}\"")).unwrap();
        assert_eq!(read("8.192us"), AckTimeout::Code(1));
        assert_eq!(read("8796.093022208s"), AckTimeout::Code(31));
        assert_eq!(
            [read("0s"), read("4.096us")],
            [AckTimeout::NEVER, AckTimeout::Time(Dur::ns(4_096))]
        );
        assert_eq!(read("60us"), AckTimeout::Time(Dur::us(60)));
    }

    #[test]
    fn what_is_written_reads_back_as_the_same() {
        for timeout in [AckTimeout::NEVER, AckTimeout::Code(14), AckTimeout::Time(Dur::us(60))] {
            let written = serde_json::to_string(&timeout).unwrap();
            assert_eq!(read(&written), Ok(timeout));
            assert_eq!(written.trim_matches('"'), timeout.to_string());
        }
    }
}
