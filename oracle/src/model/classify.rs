//! From a frame's code point to its queue and priority group. A traffic class uses the queue and the group of its own
//! number. Left out: trusting the 802.1Q priority instead, which the lab language does not offer.

use super::packet::bit;
use rig_lab::Qos;

/// Traffic class of every DSCP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classifier {
    class: [u8; 64],
}

impl Classifier {
    /// The map that an operator configured.
    pub fn new(qos: &Qos) -> Classifier {
        let mut class = [qos.default_tc & 7; 64];
        for (&dscp, &tc) in &qos.dscp_to_tc {
            class[usize::from(dscp & 63)] = tc & 7;
        }
        Classifier { class }
    }

    /// Traffic class `c` for DSCP `c`, and 0 for every other.
    pub fn plain() -> Classifier {
        let mut class = [0; 64];
        for (class, tc) in class.iter_mut().zip(0..8) {
            *class = tc;
        }
        Classifier { class }
    }

    /// The traffic class of a DSCP: its queue and its priority group.
    #[inline]
    pub const fn class(&self, dscp: u8) -> u8 {
        self.class[(dscp & 63) as usize]
    }
}

/// The classes in `list` as a mask.
pub fn mask(list: &[u8]) -> u8 {
    list.iter().fold(0, |mask, &class| mask | bit(class))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_listed_dscp_gets_its_class_and_the_others_the_default() {
        let qos = Qos {
            dscp_to_tc: [(3, 3), (8, 0), (48, 6)].into(),
            default_tc: 1,
            pfc_enable: vec![3, 4],
            pfcwd_sw_enable: vec![3, 4],
            dscp_to_color: None,
        };
        let classifier = Classifier::new(&qos);
        let classes = [0, 3, 8, 48, 63].map(|dscp| classifier.class(dscp));
        assert_eq!(classes, [1, 3, 0, 6, 1]);
        assert_eq!(mask(&qos.pfc_enable), 0b1_1000);
    }
}
