//! Whether the bytes of a stream come to its reader in their order, whatever connections carry them: none missing, none twice.

/// Bytes of a stream, from the first to the one behind the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// The first of them.
    pub from: u64,
    /// The one behind the last.
    pub to: u64,
}

/// What is wrong with a stream as it was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Torn {
    /// Bytes were read before those that come first, which came later.
    OutOfOrder {
        /// Which piece was read too soon.
        nth: usize,
        /// Which has what comes before it.
        missed: usize,
    },
    /// Bytes were read again.
    Twice {
        /// Which piece has them again.
        nth: usize,
        /// Which had them before.
        before: usize,
        /// The bytes.
        bytes: Piece,
    },
    /// Bytes were never read, and what is behind them was.
    Lost {
        /// Which piece is behind them.
        nth: usize,
        /// The bytes.
        bytes: Piece,
    },
}

/// The first that is wrong with the pieces of a stream, in the order in which they were read.
pub fn torn(read: &[Piece]) -> Option<Torn> {
    let mut next = 0;
    for (nth, one) in read.iter().enumerate() {
        if one.from < next {
            let bytes = Piece { from: one.from, to: one.to.min(next) };
            let before = read[..nth].iter().position(|other| other.to > one.from)?;
            return Some(Torn::Twice { nth, before, bytes });
        }
        if one.from > next {
            let later = read[nth..].iter().position(|other| other.from <= next && other.to > next);
            let bytes = Piece { from: next, to: one.from };
            return Some(match later {
                Some(later) => Torn::OutOfOrder { nth, missed: nth + later },
                None => Torn::Lost { nth, bytes },
            });
        }
        next = one.to;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(all: &[(u64, u64)]) -> Option<Torn> {
        let all: Vec<Piece> = all.iter().map(|&(from, to)| Piece { from, to }).collect();
        torn(&all)
    }

    #[test]
    fn a_stream_is_whole_where_each_piece_begins_where_the_one_before_it_ends() {
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(0, 10), (10, 11), (11, 30)]), None);
    }

    #[test]
    fn a_byte_more_or_less_is_told_for_what_it_is() {
        let bytes = |from, to| Piece { from, to };
        let twice = Torn::Twice { nth: 1, before: 0, bytes: bytes(9, 10) };
        assert_eq!(of(&[(0, 10), (9, 20)]), Some(twice));
        let lost = Torn::Lost { nth: 1, bytes: bytes(10, 11) };
        assert_eq!(of(&[(0, 10), (11, 20)]), Some(lost));
        assert_eq!(of(&[(1, 10)]), Some(Torn::Lost { nth: 0, bytes: bytes(0, 1) }));
        let turned = Torn::OutOfOrder { nth: 1, missed: 2 };
        assert_eq!(of(&[(0, 10), (20, 30), (10, 20)]), Some(turned));
    }
}
