//! What a device may hold of a size that it is set to, where its register counts steps of so many bytes.
//!
//! No sheet says which way it rounds. Of a size it keeps the whole steps, or one more where something is over: 50000 B in steps of 208 B are 240.4, so 240
//! or 241 of them, 49920 B or 50128 B. Where nothing is over, nothing is open.

use rig_units::Bytes;

/// The least and the greatest that a device may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Rounded down.
    pub least: Bytes,
    /// Rounded up.
    pub most: Bytes,
}

impl Kept {
    /// What becomes of `size`; without a step it is what was set.
    pub fn of(size: Bytes, step: Option<Bytes>) -> Kept {
        let Some(Bytes(step)) = step.filter(|step| step.0 > 0) else { return Kept::exactly(size) };
        let whole = size.0 / step * step;
        let most = if whole == size.0 { whole } else { whole.saturating_add(step) };
        Kept { least: Bytes(whole), most: Bytes(most) }
    }

    /// One that is held to the byte.
    pub const fn exactly(size: Bytes) -> Kept {
        Kept { least: size, most: size }
    }

    /// How much of it is open.
    pub const fn width(self) -> Bytes {
        Bytes(self.most.0.saturating_sub(self.least.0))
    }

    /// It, in words.
    pub fn shown(self) -> String {
        match self.width() {
            Bytes(0) => self.least.to_string(),
            _ => format!("{} or {} as it rounds", self.least, self.most),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(size: u64, step: u64) -> (u64, u64) {
        let Kept { least, most } = Kept::of(Bytes(size), Some(Bytes(step)));
        (least.0, most.0)
    }

    #[test]
    fn a_size_is_its_whole_steps_or_one_more_where_something_is_over() {
        assert_eq!(kept(50_000, 208), (49_920, 50_128));
        assert_eq!((kept(104_000, 208), kept(0, 208)), ((104_000, 104_000), (0, 0)));
        assert_eq!(
            (kept(1, 208), kept(208, 208), kept(209, 208)),
            ((0, 208), (208, 208), (208, 416))
        );
        assert_eq!((kept(77, 1), kept(77, 0)), ((77, 77), (77, 77)));
        assert_eq!(Kept::of(Bytes(77), None), Kept::exactly(Bytes(77)));
    }

    #[test]
    fn what_is_open_is_told_and_what_is_not_is_told_as_one() {
        assert_eq!(Kept::of(Bytes(416), Some(Bytes(208))).shown(), "416B");
        assert_eq!(Kept::of(Bytes(300), Some(Bytes(208))).shown(), "208B or 416B as it rounds");
    }
}
