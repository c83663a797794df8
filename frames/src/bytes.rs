//! Reading and writing big-endian fields of fixed-size headers.

use core::ops::Range;

pub(crate) fn be16<const N: usize>(bytes: &[u8; N], at: Range<usize>) -> u16 {
    u16::from_be_bytes([bytes[at.start], bytes[at.start + 1]])
}

pub(crate) fn be24<const N: usize>(bytes: &[u8; N], at: Range<usize>) -> u32 {
    u32::from_be_bytes([0, bytes[at.start], bytes[at.start + 1], bytes[at.start + 2]])
}

pub(crate) fn be32<const N: usize>(bytes: &[u8; N], at: Range<usize>) -> u32 {
    (u32::from(be16(bytes, at.start..at.start + 2)) << 16)
        | u32::from(be16(bytes, at.start + 2..at.end))
}

pub(crate) fn be64<const N: usize>(bytes: &[u8; N], at: Range<usize>) -> u64 {
    (u64::from(be32(bytes, at.start..at.start + 4)) << 32)
        | u64::from(be32(bytes, at.start + 4..at.end))
}

/// That a format refuses its own bytes cut short, wherever they are cut: under the name of `field`, with how many there were.
#[cfg(test)]
pub(crate) fn refuses_truncations(
    field: &str,
    whole: &[u8],
    refused: impl Fn(&[u8]) -> Option<crate::Malformed>,
) {
    for len in 0..whole.len() {
        let refused = refused(&whole[..len]).expect("it was taken");
        assert_eq!((refused.field, refused.got), (field, len as u64));
    }
}

/// Writes the low bytes of `value`, as many as the field has.
pub(crate) fn put(bytes: &mut [u8], at: Range<usize>, value: impl Into<u64>) {
    let all = value.into().to_be_bytes();
    let skip = all.len() - at.len();
    bytes[at].copy_from_slice(&all[skip..]);
}

/// The unjudging face of a fixed-size header: one setter a field.
macro_rules! raw {
    ($len:expr; $($(#[$doc:meta])* $set:ident: $ty:ty = $at:expr;)*) => {
        /// Writes fields without judging them, for negative tests and fault rules only.
        #[derive(Debug)]
        pub struct Raw<'a>(pub &'a mut [u8; $len]);

        impl Raw<'_> {
            $(
                $(#[$doc])*
                pub fn $set(&mut self, value: $ty) {
                    $crate::bytes::put(self.0, $at, value);
                }
            )*
        }
    };
}
pub(crate) use raw;

/// A header in which every bit of every field has a meaning: any bytes are sense, and `Repr` can set any of them.
macro_rules! plain_header {
    (
        $format:literal, $len:literal bytes:
        $(#[$about:meta])*
        struct Repr { $($(#[$doc:meta])* $field:ident: $ty:ty = $get:ident at $at:expr,)* }
    ) => {
        /// Length of the header, in bytes.
        pub const LEN: usize = $len;

        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct Repr {
            $($(#[$doc])* pub $field: $ty,)*
        }

        impl Repr {
            /// Reads the header and returns it with the bytes behind it.
            ///
            /// # Errors
            /// Only when the bytes end too early: every bit pattern is meaningful, so there is no `Raw`.
            pub fn parse(bytes: &[u8]) -> Result<(Repr, &[u8]), $crate::Malformed> {
                let (header, rest) = $crate::malformed::split::<LEN>($format, bytes)?;
                Ok((Repr { $($field: $crate::bytes::$get(header, $at)),* }, rest))
            }

            /// Writes the header; every byte is written.
            pub fn emit(&self) -> [u8; LEN] {
                let mut bytes = [0; LEN];
                $($crate::bytes::put(&mut bytes, $at, self.$field);)*
                bytes
            }
        }
    };
}
pub(crate) use plain_header;
