//! ACK extended transport header (IBTA Vol 1, 9.3; what responders say with it, 9.7.5).

use crate::Malformed;
use crate::bits::bits;
use crate::bytes::{be24, put, raw};
use crate::malformed::{not_one_of, split};
use rig_units::Dur;

mod field {
    use core::ops::Range;

    pub(super) const SYNDROME: Range<usize> = 0..1;
    pub(super) const MSN: Range<usize> = 1..4;
}

/// Length of the header, in bytes.
pub const LEN: usize = field::MSN.end;
const _: () = assert!(LEN == 4);

bits!(
    /// End-to-end credit, encoded. RoCE NICs send 31, "no credits are counted".
    Credit: 5 bits of u8
);
bits!(
    /// How long a requester waits before it tries a receiver that was not ready again, encoded.
    RnrTimer: 5 bits of u8
);
bits!(
    /// Message sequence number: messages completed at the responder, modulo 2^24.
    Msn: 24 bits of u32
);

impl RnrTimer {
    /// The time it stands for (IBTA Vol 1, 9.7.5.2.8): hundredths of a millisecond, doubling every second step from
    /// 0.02 ms and 0.03 ms on; zero is the longest.
    pub const fn wait(self) -> Dur {
        let hundredths = match self.get() {
            0 => 65_536,
            1 => 1,
            even if even.is_multiple_of(2) => 1 << (even / 2),
            odd => 3 << ((odd - 3) / 2),
        };
        Dur::us(10 * hundredths)
    }
}

/// Why a request was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Nak {
    /// A packet is missing before this one. 0.
    PsnSequenceError,
    /// The request makes no sense. 1.
    InvalidRequest,
    /// The memory may not be touched. 2.
    RemoteAccessError,
    /// The responder failed. 3.
    RemoteOperationalError,
    /// Reliable datagram only. 4.
    InvalidRdRequest,
}

/// What an acknowledgement says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Syndrome {
    /// All is well.
    Ack(Credit),
    /// No receive buffer: try again after this time.
    RnrNak(RnrTimer),
    /// Refused.
    Nak(Nak),
}

const RNR_NAK: u8 = 0x20;
const NAK: u8 = 0x60;

impl Syndrome {
    /// An acknowledgement without end-to-end credits, as RoCE NICs send.
    pub const ACK: Syndrome = Syndrome::Ack(Credit::MAX);

    /// The byte on the wire.
    pub const fn bits(self) -> u8 {
        match self {
            Syndrome::Ack(credit) => credit.get(),
            Syndrome::RnrNak(timer) => RNR_NAK | timer.get(),
            Syndrome::Nak(Nak::PsnSequenceError) => NAK,
            Syndrome::Nak(Nak::InvalidRequest) => NAK | 1,
            Syndrome::Nak(Nak::RemoteAccessError) => NAK | 2,
            Syndrome::Nak(Nak::RemoteOperationalError) => NAK | 3,
            Syndrome::Nak(Nak::InvalidRdRequest) => NAK | 4,
        }
    }

    /// The meaning of the byte on the wire; `None` for reserved ones.
    pub const fn from_bits(bits: u8) -> Option<Syndrome> {
        Some(match (bits & 0xe0, bits & 0x1f) {
            (0, credit) => Syndrome::Ack(Credit::low(credit)),
            (RNR_NAK, timer) => Syndrome::RnrNak(RnrTimer::low(timer)),
            (NAK, 0) => Syndrome::Nak(Nak::PsnSequenceError),
            (NAK, 1) => Syndrome::Nak(Nak::InvalidRequest),
            (NAK, 2) => Syndrome::Nak(Nak::RemoteAccessError),
            (NAK, 3) => Syndrome::Nak(Nak::RemoteOperationalError),
            (NAK, 4) => Syndrome::Nak(Nak::InvalidRdRequest),
            _ => return None,
        })
    }
}

/// An acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Repr {
    /// What it says.
    pub syndrome: Syndrome,
    /// Messages completed.
    pub msn: Msn,
}

impl Repr {
    /// Reads the header and returns it with the bytes behind it.
    ///
    /// # Errors
    /// When the bytes end too early; on a reserved syndrome.
    pub fn parse(bytes: &[u8]) -> Result<(Repr, &[u8]), Malformed> {
        let (header, rest) = split::<LEN>("aeth", bytes)?;
        let byte = header[field::SYNDROME.start];
        let syndrome = Syndrome::from_bits(byte).ok_or_else(|| {
            not_one_of(
                "aeth.syndrome",
                field::SYNDROME.start,
                "ACK (0x00), RNR NAK (0x20) or NAK (0x60 to 0x64)",
                byte,
            )
        })?;
        Ok((Repr { syndrome, msn: Msn::low(be24(header, field::MSN)) }, rest))
    }

    /// Writes the header; every byte is written.
    pub fn emit(&self) -> [u8; LEN] {
        let mut bytes = [0; LEN];
        put(&mut bytes, field::SYNDROME, self.syndrome.bits());
        put(&mut bytes, field::MSN, self.msn);
        bytes
    }
}

raw! { LEN;
    /// Sets the syndrome.
    set_syndrome: u8 = field::SYNDROME;
    /// Sets the message sequence number: the low 24 bits.
    set_msn: u32 = field::MSN;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aeth(syndrome: Syndrome) -> Repr {
        Repr { syndrome, msn: Msn::new(0x01_0203).unwrap() }
    }

    #[test]
    fn golden_bytes_both_ways() {
        let nak = Syndrome::Nak(Nak::PsnSequenceError);
        let timer = RnrTimer::new(14).unwrap();
        for (syndrome, byte) in
            [(Syndrome::ACK, 0x1f), (Syndrome::RnrNak(timer), 0x2e), (nak, 0x60)]
        {
            let golden = [byte, 1, 2, 3];
            assert_eq!(Repr::parse(&golden), Ok((aeth(syndrome), &[][..])));
            assert_eq!(aeth(syndrome).emit(), golden);
        }
    }

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("aeth", &[0; LEN], |bytes| Repr::parse(bytes).err());
    }

    #[test]
    fn all_syndromes_round_trip_and_the_rest_is_refused() {
        let mut known = 0;
        for byte in 0..=u8::MAX {
            let mut bytes = [0; LEN];
            Raw(&mut bytes).set_syndrome(byte);
            match Repr::parse(&bytes) {
                Ok((repr, _)) => {
                    known += 1;
                    assert_eq!(repr.emit(), bytes);
                }
                Err(refused) => {
                    assert_eq!(refused.field, "aeth.syndrome");
                    assert_eq!(refused.got, u64::from(byte));
                }
            }
        }
        assert_eq!(known, 32 + 32 + 5);
    }

    #[test]
    fn rnr_timers_follow_the_table_of_the_standard() {
        // In hundredths of a millisecond, typed in by hand.
        let table = [
            65_536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768,
            1_024, 1_536, 2_048, 3_072, 4_096, 6_144, 8_192, 12_288, 16_384, 24_576, 32_768,
            49_152,
        ];
        for (code, hundredths) in (0..).zip(table) {
            assert_eq!(
                RnrTimer::new(code).unwrap().wait(),
                Dur::us(10 * hundredths),
                "code {code}"
            );
        }
    }
}
