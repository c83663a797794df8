//! Copies of counters that are made now and then, and when one of them has been made of what is there now and stands still.
//!
//! Each bears a stamp of the clock of whoever copies (`<group>_time_stamp`: the FlexCounter of syncd, where it reads in bulk), which
//! is taken once all has been read and before anything is written, one copy after the other. So the first that is new to whoever
//! looks may be of before the look, and the second is not. No instant follows from a stamp: its clock is nobody else's.

use std::collections::{BTreeMap, BTreeSet};

/// An object, and the group of counters that copies a part of what it counts.
type Key = (String, &'static str);

/// What was seen of one part.
#[derive(Debug, Default)]
struct Part {
    stamp: Option<u64>,
    /// How many newer copies were seen since the first look.
    newer: u32,
    values: BTreeMap<String, Value>,
}

/// What was seen of one counter. Each rests by itself: what frames of others move beside it (LLDP) says nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Value {
    is: u64,
    rests: bool,
}

/// All that was seen.
#[derive(Debug, Default)]
pub(super) struct CounterCopies(BTreeMap<Key, Part>);

impl CounterCopies {
    /// A part as it stands there, with the stamp of its copy. A counter of it rests once so many newer copies were seen, of which the
    /// last two are the same.
    pub(super) fn see(
        &mut self,
        (object, group): (&str, &'static str),
        values: BTreeMap<String, u64>,
        (stamp, copies): (Option<u64>, u32),
    ) {
        let part = self.0.entry((object.to_owned(), group));
        let part = part.or_insert_with(|| Part { stamp, ..Part::default() });
        let is_newer = stamp > part.stamp;
        if part.stamp.is_none() || stamp < part.stamp {
            // Without a stamp, or begun anew.
            part.newer = 0;
        } else if is_newer {
            part.newer += 1;
        }
        let before = core::mem::take(&mut part.values);
        let seen = |(name, is): (String, u64)| {
            let before = before.get(&name).filter(|before| before.is == is);
            let same = before.is_some_and(|before| before.rests || is_newer);
            (name, Value { is, rests: same && part.newer >= copies })
        };
        part.values = values.into_iter().map(seen).collect();
        part.stamp = stamp;
    }

    /// A part that is no copy, and of which somebody tells whether it rests.
    pub(super) fn told(
        &mut self,
        (object, group): (&str, &'static str),
        values: BTreeMap<String, u64>,
        rests: bool,
    ) {
        let values = values.into_iter().map(|(name, is)| (name, Value { is, rests })).collect();
        // The stamp: it is worth waiting for.
        let part = Part { stamp: Some(0), newer: 0, values };
        self.0.insert((object.to_owned(), group), part);
    }

    /// The groups of the parts that may come to rest yet.
    pub(super) fn awaited(&self) -> impl Iterator<Item = &'static str> {
        let moves = |part: &Part| part.values.values().any(|value| !value.rests);
        let parts = self.0.iter().filter(move |(_, part)| part.stamp.is_some() && moves(part));
        parts.map(|((_, group), _)| *group)
    }

    /// The values of what rests, and the names of what does not.
    pub(super) fn read(self) -> (BTreeMap<String, u64>, BTreeSet<String>) {
        let (mut values, mut moving) = (BTreeMap::new(), BTreeSet::new());
        for (name, Value { is, rests }) in self.0.into_values().flat_map(|part| part.values) {
            if rests {
                values.insert(name, is);
            } else {
                moving.insert(name);
            }
        }
        (values, moving)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUP: &str = "PORT_STAT_COUNTER";

    /// Whether a part rests after each look at it: its stamp, and its value.
    fn rests(copies: u32, looks: &[(Option<u64>, u64)]) -> Vec<bool> {
        let mut all = CounterCopies::default();
        let mut rests = Vec::new();
        for &(stamp, value) in looks {
            let values = BTreeMap::from([("a".to_owned(), value)]);
            all.see(("Ethernet0", GROUP), values, (stamp, copies));
            rests.push(all.0.values().all(|part| part.values["a"].rests));
        }
        rests
    }

    #[test]
    fn a_counter_that_frames_of_others_move_withholds_none_beside_it() {
        let mut all = CounterCopies::default();
        for stamp in 1..5 {
            let values = [("PFC_3_RX_PKTS", 7), ("NON_UCAST_PKTS", stamp)];
            let values = values.map(|(name, value)| (name.to_owned(), value));
            all.see(("Ethernet0", GROUP), values.into(), (Some(stamp), 2));
        }
        assert_eq!(all.awaited().collect::<Vec<_>>(), [GROUP], "it may come to rest yet");
        let (values, moving) = all.read();
        assert_eq!(values, BTreeMap::from([("PFC_3_RX_PKTS".to_owned(), 7)]));
        assert_eq!(moving, BTreeSet::from(["NON_UCAST_PKTS".to_owned()]));
    }

    #[test]
    fn a_copy_that_stands_there_still_is_no_copy_that_stands_still() {
        let same = [(Some(1), 7); 5];
        assert_eq!(rests(2, &same), [false; 5], "it is late, and one and the same");
        assert_eq!(rests(2, &[(None, 7); 5]), [false; 5], "nothing tells it from the one before");
        // The first that is new may have been read before it was asked for: 713 of 1600.
        let late =
            [(Some(1), 5), (Some(4), 713), (Some(4), 713), (Some(8), 1_600), (Some(8), 1_600)];
        assert_eq!(rests(2, &late), [false; 5]);
        let more = [late.as_slice(), &[(Some(12), 1_600), (Some(12), 1_600)]].concat();
        assert_eq!(rests(2, &more), [false, false, false, false, false, true, true]);
        let quick = [(Some(1), 5), (Some(2), 5), (Some(3), 5)];
        assert_eq!(rests(2, &quick), [false, false, true]);
        assert_eq!(rests(3, &quick), [false; 3], "in parts");
        // Whoever copies has begun anew.
        assert_eq!(rests(2, &[(Some(8), 5), (Some(9), 5), (Some(1), 5), (Some(2), 5)]), [false; 4]);
        assert!(!rests(2, &[quick.as_slice(), &[(Some(4), 6)]].concat())[3], "it moves");
    }
}
