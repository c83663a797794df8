//! The receiving half: the checks of a protected frame, in the order of IEEE 802.1AE 10.6, and the replay window.

use super::{Config, Counters};
use crate::model::packet::Tag;
use rig_testcases::Tamper;

/// The associations that frames are received on.
#[derive(Debug, Clone, Copy)]
pub(super) struct Receiver {
    /// The one before that in use.
    previous: Option<u8>,
    /// Per AN the lowest packet number that is not too old.
    lowest: [u64; 4],
}

/// The first packet number that an association may use.
const FIRST_PN: u64 = 1;
/// The highest bit of the half of a packet number that the tag has.
const HALF: u64 = 1 << 31;

impl Receiver {
    /// Nothing received.
    pub(super) const fn new() -> Receiver {
        Receiver { previous: None, lowest: [FIRST_PN; 4] }
    }

    /// Goes on with the association of `config`, whose packet numbers begin again. The one before, which frames under way were
    /// sent with, stays in use.
    pub(super) fn rekey(&mut self, before: u8, config: &Config) {
        self.previous = (!config.faults.macsec_rekey_forgets_old_sa).then_some(before);
        self.lowest[usize::from(config.an & 3)] = FIRST_PN;
    }

    /// Whether a frame is valid; counted either way.
    pub(super) fn check(
        &mut self,
        tag: Tag,
        is_pfc: bool,
        config: &Config,
        counters: &mut Counters,
    ) -> bool {
        let faults = &config.faults;
        if tag.tamper == Some(Tamper::Truncated) || (tag.pn == 0 && !config.extended) {
            counters.bad_tag += 1;
            return false;
        }
        if tag.tamper == Some(Tamper::WrongSci) && !faults.macsec_sci_not_checked {
            counters.no_sci += 1;
            return false;
        }
        if tag.an != config.an && Some(tag.an) != self.previous {
            counters.not_using_sa += 1;
            return false;
        }
        let lowest = self.lowest[usize::from(tag.an & 3)];
        let pn = if config.extended { recovered(tag.pn, lowest) } else { tag.pn.into() };
        let is_late = pn < lowest && !faults.macsec_replay_window_ignored;
        if is_late && config.replay_protect {
            let counter = if faults.macsec_late_counted_as_ok {
                &mut counters.ok
            } else {
                &mut counters.late
            };
            *counter += 1;
            return false;
        }
        // What was sealed with another key decrypts to noise, whether its ICV is looked at or not.
        let forged = tag.tamper == Some(Tamper::Forged) && !faults.macsec_icv_not_checked;
        if forged || tag.tamper == Some(Tamper::WrongKey) {
            counters.not_valid += 1;
            return false;
        }
        let within = pn.saturating_add(1).saturating_sub(config.replay_window.into());
        self.lowest[usize::from(tag.an & 3)] = lowest.max(within);
        if is_late {
            counters.delayed += 1;
        } else {
            counters.ok += if is_pfc && faults.macsec_ok_counts_pfc_twice { 2 } else { 1 };
        }
        true
    }
}

/// The whole of a packet number of 64 bits: that of the lowest acceptable one, or of the round after it when the halves say
/// that the lower one has begun anew (IEEE 802.1AEbw 10.6.2).
fn recovered(pn: u32, lowest: u64) -> u64 {
    let pn = u64::from(pn);
    let upper = lowest & !u64::from(u32::MAX);
    if lowest & HALF != 0 && pn & HALF == 0 { upper.wrapping_add(1 << 32) | pn } else { upper | pn }
}
