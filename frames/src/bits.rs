//! Whole numbers narrower than a machine type. A value that does not fit cannot be made, so none is cut off in silence.

macro_rules! bits {
    ($(#[$doc:meta])* $name:ident: $bits:literal bits of $ty:ty) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
        pub struct $name($ty);

        impl $name {
            /// The largest value.
            pub const MAX: $name = $name((1 << $bits) - 1);

            /// `value`, if it fits.
            pub const fn new(value: $ty) -> Option<$name> {
                if value <= $name::MAX.0 { Some($name(value)) } else { None }
            }

            /// The number itself.
            pub const fn get(self) -> $ty {
                self.0
            }

            /// The low bits of a field that was read from the wire.
            pub(crate) const fn low(value: $ty) -> $name {
                $name(value & $name::MAX.0)
            }
        }

        impl From<$name> for u64 {
            fn from(value: $name) -> u64 {
                u64::from(value.0)
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Display::fmt(&self.0, f)
            }
        }
    };
}
pub(crate) use bits;
