//! Unreliable connections: IBTA volume 1, 9.8.2. Each packet is sent once and nothing is said about it; of a message of which a packet is missing nothing is
//! delivered, and the next that begins is a new one.

use rig_frames::psn::Psn;

/// Where the rules come from, for reports.
pub const SOURCE: &str = "IBTA volume 1, 9.8.2: nothing is acknowledged or sent again, and a message with a hole is dropped";

/// A packet of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Its number.
    pub psn: Psn,
    /// Whether its message begins with it.
    pub first: bool,
    /// Whether its message ends with it.
    pub last: bool,
}

/// The places in `sent` of packets that do not have the number after those before; the first of all is to have `first`.
pub fn out_of_turn(first: Psn, sent: &[Psn]) -> Vec<usize> {
    let mut next = first;
    let mut all = Vec::new();
    for (place, psn) in sent.iter().enumerate() {
        match psn.ahead_of(next) {
            Some(0) => next = next.advance(1),
            ahead => {
                all.push(place);
                next = ahead.map_or(next, |_| psn.advance(1));
            }
        }
    }
    all
}

/// How many messages came whole: from their first packet to their last, each number after the one before.
pub fn whole_messages(came: &[Piece]) -> usize {
    let begins = (0..came.len()).filter(|&at| came[at].first);
    let is_whole = |at: &usize| {
        let ends = came[*at..].iter().position(|piece| piece.last);
        ends.is_some_and(|ends| {
            let message = &came[*at..=*at + ends];
            message.windows(2).all(|two| !two[1].first && two[1].psn == two[0].psn.advance(1))
        })
    };
    begins.filter(is_whole).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of three packets.
    fn came(numbers: &[u32]) -> Vec<Piece> {
        let piece =
            |&psn: &u32| Piece { psn: Psn::new(psn), first: psn % 3 == 0, last: psn % 3 == 2 };
        numbers.iter().map(piece).collect()
    }

    #[test]
    fn a_packet_that_is_not_the_next_is_told_once() {
        let of = |sent: &[u32]| {
            let sent: Vec<Psn> = sent.iter().copied().map(Psn::new).collect();
            out_of_turn(Psn::new(5), &sent)
        };
        assert_eq!(of(&[5, 6, 7]), [0_usize; 0]);
        assert_eq!(of(&[5, 6, 6, 7]), [2]);
        assert_eq!(of(&[5, 7, 8]), [1]);
        assert_eq!(of(&[6, 7, 8]), [0]);
        let sent = [0xff_ffff, 0, 1].map(Psn::new);
        assert_eq!(out_of_turn(Psn::new(0xff_ffff), &sent), [0_usize; 0]);
    }

    #[test]
    fn a_message_is_whole_from_its_first_packet_to_its_last_and_no_other() {
        let of = |numbers: &[u32]| whole_messages(&came(numbers));
        assert_eq!(of(&[0, 1, 2, 3, 4, 5, 6, 7, 8]), 3);
        // Without a middle, a first, a last packet.
        for lost in [4, 3, 5] {
            let rest: Vec<u32> = (0..9).filter(|psn| *psn != lost).collect();
            assert_eq!(of(&rest), 2, "{lost}");
        }
        // Two that changed places.
        assert_eq!(of(&[0, 2, 1, 3, 4, 5]), 1);
        // All that is missing is whole messages: nobody sees that.
        assert_eq!(of(&[0, 1, 2, 6, 7, 8]), 2);
        assert_eq!(of(&[0, 1]), 0);
    }
}
