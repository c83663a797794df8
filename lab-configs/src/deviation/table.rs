//! A part's table of deviations: from its rows come the list of them, the flags that the model asks, and the way from one to
//! the other.

/// `table! { /// doc  FLAGS of PART  /// sentence  name;  /// sentence  name ("meaning", RANGE, default VALUE); ... }`
///
/// Each row is a [`Deviation`](super::row::Deviation) of `FLAGS::ROWS` and a field of `FLAGS`: a `bool`, or where it takes a value that
/// value, the default filled in. `or "words"` instead of `default VALUE` leaves it to the model what the default comes to.
macro_rules! table {
    (
        $(#[doc = $whole:literal])+
        $flags:ident of $part:ident
        $($(#[doc = $about:literal])+ $name:ident $(($($value:tt)+))?;)+
    ) => {
        $(#[doc = $whole])+
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $flags {
            $($(#[doc = $about])+ pub $name: table!(@type $(($($value)+))?),)+
        }

        impl $flags {
            /// Nothing wrong.
            pub const NONE: $flags = $flags { $($name: table!(@off $(($($value)+))?),)+ };

            /// The deviations of the part.
            pub const ROWS: &[$crate::deviation::row::Deviation] = &[
                $($crate::deviation::row::Deviation {
                    name: stringify!($name),
                    about: concat!($($about),+),
                    part: $crate::Part::$part,
                    value: table!(@value $(($($value)+))?),
                },)+
            ];

            /// Switches on the row of this name.
            pub(super) fn switch_on(&mut self, name: &str, value: Option<u32>) {
                $(if name == stringify!($name) {
                    self.$name = table!(@on value, $(($($value)+))?);
                })+
            }
        }
    };

    (@type) => { bool };
    (@type ($means:literal, $range:expr, default $default:literal)) => { Option<u32> };
    (@type ($means:literal, $range:expr, or $default:literal)) => { Option<Option<u32>> };

    (@off) => { false };
    (@off $value:tt) => { None };

    (@value) => { None };
    (@value ($means:literal, $range:expr, $how:ident $default:literal)) => {
        Some($crate::deviation::row::Value {
            means: $means,
            accepted: $range,
            default: table!(@words $how $default),
        })
    };
    (@words default $default:literal) => { stringify!($default) };
    (@words or $default:literal) => { $default };

    (@on $given:ident,) => { { _ = $given; true } };
    (@on $given:ident, ($means:literal, $range:expr, default $default:literal)) => {
        Some($given.unwrap_or($default))
    };
    (@on $given:ident, ($means:literal, $range:expr, or $default:literal)) => { Some($given) };
}
pub(super) use table;
