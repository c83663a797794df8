//! The reserved bytes between the BTH and the ICRC of a CNP (IBTA Annex A17.9.3). They are sent as zero and ignored when
//! read; whoever wants to judge or spoil them finds them at that place of the frame.

use crate::Malformed;
use crate::malformed::short;

/// Their length.
pub const LEN: usize = 16;

/// What lies behind them.
pub(crate) fn skip(bytes: &[u8]) -> Result<&[u8], Malformed> {
    bytes.get(LEN..).ok_or_else(|| short("cnp", LEN, bytes.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_truncation_is_refused() {
        crate::bytes::refuses_truncations("cnp", &[0; LEN], |bytes| skip(bytes).err());
        assert_eq!(skip(&[0; LEN]), Ok(&[][..]));
    }
}
