//! Which frames a capture keeps, by what they are.

use rig_frames::ethernet::{self, ethertype};
use rig_frames::{ip, ipv4, ipv6, udp, vlan};
use rig_testcases::wire::macsec::is_protected;

/// What a frame is, as far as a filter tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FrameKind {
    /// MAC Control: PFC, and PAUSE of 802.3x.
    Pfc,
    /// RoCEv2: UDP to port 4791.
    Data,
    /// Everything else.
    Other,
}

/// The kinds that are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Only {
    /// MAC Control.
    pub pfc: bool,
    /// RoCEv2.
    pub data: bool,
    /// Everything else.
    pub other: bool,
}

impl Only {
    /// Every frame.
    pub const ALL: Only = Only { pfc: true, data: true, other: true };

    /// These kinds; all of them when none is named.
    pub fn of(kinds: &[FrameKind]) -> Only {
        let has = |kind| kinds.is_empty() || kinds.contains(&kind);
        Only { pfc: has(FrameKind::Pfc), data: has(FrameKind::Data), other: has(FrameKind::Other) }
    }

    /// Whether a frame is kept. One that MACsec protects is: it may be any of them.
    pub fn keeps(self, frame: &[u8]) -> bool {
        if self == Only::ALL || is_protected(frame) {
            return true;
        }
        match FrameKind::of(frame) {
            FrameKind::Pfc => self.pfc,
            FrameKind::Data => self.data,
            FrameKind::Other => self.other,
        }
    }

    /// The names of what is kept: `pfc or data`; `None` when that is everything.
    pub fn said(self) -> Option<String> {
        let all = [(self.pfc, "pfc"), (self.data, "data"), (self.other, "other")];
        let names: Vec<&str> =
            all.into_iter().filter_map(|(kept, name)| kept.then_some(name)).collect();
        (self != Only::ALL).then(|| names.join(" or "))
    }
}

impl FrameKind {
    /// The kind of a frame, from the destination MAC on. Tags are looked through; of IPv6 only frames without extension
    /// headers are known, and of fragments only the first.
    pub fn of(frame: &[u8]) -> FrameKind {
        FrameKind::known(frame).unwrap_or(FrameKind::Other)
    }

    fn known(frame: &[u8]) -> Option<FrameKind> {
        /// An 802.1ad tag follows.
        const SERVICE_VLAN: u16 = 0x88a8;
        let mut at = ethernet::LEN;
        let mut kind = word(frame, at - 2)?;
        while matches!(kind, ethertype::VLAN | SERVICE_VLAN) {
            at += vlan::LEN;
            kind = word(frame, at - 2)?;
        }
        let (protocol, behind) = match kind {
            ethertype::MAC_CONTROL => return Some(FrameKind::Pfc),
            ethertype::IPV4 => {
                let first = word(frame, at + 6)? & 0x1fff == 0;
                let header = usize::from(frame.get(at)? & 0xf) * 4;
                first.then_some((*frame.get(at + 9)?, at + header.max(ipv4::LEN)))?
            }
            ethertype::IPV6 => (*frame.get(at + 6)?, at + ipv6::LEN),
            _ => return None,
        };
        let roce = protocol == ip::UDP && word(frame, behind + 2)? == udp::ROCE_PORT;
        roce.then_some(FrameKind::Data)
    }
}

fn word(frame: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(frame.get(at..at + 2)?.try_into().ok()?))
}
