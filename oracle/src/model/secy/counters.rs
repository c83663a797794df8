//! What a port counts of MACsec, and the names under which SAI shows it (IEEE 802.1AE 10.7.9, 10.7.18).
//!
//! SAI keeps the counters of associations apart. Here they are summed over those of a port: one channel each way, and at most
//! two associations of it in use.

use crate::model::packet::Packet;
use rig_capture::DutCounter;

/// What one port counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Frames that were valid and not late.
    pub ok: u64,
    /// Frames dropped because they were too old.
    pub late: u64,
    /// Frames that were too old and came through, without replay protection.
    pub delayed: u64,
    /// Frames whose ICV was wrong.
    pub not_valid: u64,
    /// Frames of an association that is not in use.
    pub not_using_sa: u64,
    /// Frames sent encrypted.
    pub out_encrypted: u64,
    /// Frames sent protected and not encrypted.
    pub out_protected: u64,
    /// Bytes of data in the frames sent encrypted: without MAC addresses, tag, ICV and FCS.
    pub octets_encrypted: u64,
    /// The same of the frames sent protected.
    pub octets_protected: u64,
    /// Frames in clear that were dropped.
    pub no_tag: u64,
    /// Frames whose tag made no sense.
    pub bad_tag: u64,
    /// Frames of a channel that the port does not know.
    pub no_sci: u64,
    /// PFC frames of a form that the port takes for an error.
    pub in_errors: u64,
}

/// MAC addresses and FCS: what protection leaves as it is.
const OUTSIDE: u64 = 12 + 4;

impl Counters {
    /// A frame goes out.
    pub(super) fn sent(&mut self, clear: &Packet, encrypted: bool) {
        let octets = u64::from(clear.size).saturating_sub(OUTSIDE);
        if encrypted {
            self.out_encrypted += 1;
            self.octets_encrypted += octets;
        } else {
            self.out_protected += 1;
            self.octets_protected += octets;
        }
    }

    /// One of it, by what follows the port in its name.
    pub(crate) fn find(&self, counter: &str) -> Option<u64> {
        self.all().iter().find(|(own, _)| own.name() == counter).map(|&(_, value)| value)
    }

    /// All of it.
    pub(crate) const fn all(&self) -> [(DutCounter, u64); 13] {
        [
            (DutCounter::MacsecOk, self.ok),
            (DutCounter::MacsecLate, self.late),
            (DutCounter::MacsecDelayed, self.delayed),
            (DutCounter::MacsecNotValid, self.not_valid),
            (DutCounter::MacsecNotUsingSa, self.not_using_sa),
            (DutCounter::MacsecEncrypted, self.out_encrypted),
            (DutCounter::MacsecProtected, self.out_protected),
            (DutCounter::MacsecEncryptedOctets, self.octets_encrypted),
            (DutCounter::MacsecProtectedOctets, self.octets_protected),
            (DutCounter::MacsecNoTag, self.no_tag),
            (DutCounter::MacsecBadTag, self.bad_tag),
            (DutCounter::MacsecNoSci, self.no_sci),
            (DutCounter::PortErrors, self.in_errors),
        ]
    }
}
