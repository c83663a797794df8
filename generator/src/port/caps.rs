//! What a port turned out to be able to do, and what it lost.

use super::StampedBy;
use core::fmt;

/// What carries the frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// An AF_XDP socket.
    AfXdp,
    /// An AF_PACKET socket.
    AfPacket,
    /// A driver of DPDK.
    Dpdk,
}

/// Where the XDP program sits, as the kernel reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attached {
    /// In the driver.
    Native,
    /// In the kernel's generic path, behind the driver.
    Generic,
}

/// What a port can do. Every entry was asked back from the kernel, or from the driver, after the port was open. Of launch times nothing is
/// said here: kernels accept and ignore them, so that only a measurement tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caps {
    /// What carries the frames.
    pub backend: Backend,
    /// Where the XDP program sits; `None` without one.
    pub attached: Option<Attached>,
    /// Whether frames go between driver and port without a copy.
    pub zero_copy: bool,
    /// Whether a received frame may span several pieces of 4 KiB. Without, longer frames are lost.
    pub multi_buffer: bool,
    /// Whether a VLAN tag arrives with its frame. Without, the kernel takes it off before the port sees it.
    pub vlan_tags: bool,
    /// The longest frame that the interface sends: its MTU and the Ethernet header. Where nobody knows of an MTU: the
    /// longest frame asked for.
    pub longest: usize,
    /// Who reads the clock for frames received; each frame's stamp says it again, and is right where they differ.
    pub stamped_by: StampedBy,
    /// What was asked for and refused.
    pub refused: Vec<Refusal>,
}

impl fmt::Display for Caps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.backend, self.attached) {
            (Backend::AfXdp, Some(Attached::Native)) => "AF_XDP in the driver",
            (Backend::AfXdp, Some(Attached::Generic) | None) => "AF_XDP in the generic path",
            (Backend::AfPacket, _) => "AF_PACKET",
            (Backend::Dpdk, _) => "DPDK",
        })?;
        f.write_str(if self.zero_copy { ", without a copy" } else { ", with a copy" })
    }
}

/// Something that was asked for and refused, so that the port went on without it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// What was refused.
    pub feature: Feature,
    /// The kernel's reason.
    pub why: String,
}

/// Something that a port can do without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Feature {
    /// An XDP program in the driver.
    NativeXdp,
    /// No copy between driver and port.
    ZeroCopy,
    /// Received frames that span several pieces of memory.
    MultiBuffer,
    /// Frames as long as was asked for, by the driver's own account.
    LongFrames,
    /// A rate that the NIC holds.
    RateLimit,
    /// Stamps that the NIC makes.
    NicStamps,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let feature = match self.feature {
            Feature::NativeXdp => "XDP in the driver",
            Feature::ZeroCopy => "zero copy",
            Feature::MultiBuffer => "frames over several buffers",
            Feature::LongFrames => "frames of that length",
            Feature::RateLimit => "rate held by the NIC",
            Feature::NicStamps => "stamps by the NIC",
        };
        write!(f, "no {feature}: {}", self.why)
    }
}

/// What a port lost, since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stats {
    /// Received frames for which there was no free buffer, or that fit none.
    pub rx_dropped: u64,
    /// Received frames for which the ring had no room.
    pub rx_ring_full: u64,
    /// How often the kernel found no free buffer: the reader was late.
    pub fill_ring_empty: u64,
    /// Buffers that the kernel refused.
    pub rx_invalid: u64,
    /// Frames that the port's program could not stamp, so that the process did.
    pub rx_unstamped: u64,
    /// Frames for sending that the kernel refused.
    pub tx_invalid: u64,
    /// How often the kernel found nothing to send.
    pub tx_ring_empty: u64,
    /// Frames that the kernel took and threw away: longer than the MTU, or the link was down.
    pub tx_lost: u64,
    /// Buffers that the kernel gave back without having been lent them; they were ignored.
    pub strays: u64,
}

impl core::ops::Add for Stats {
    type Output = Stats;

    /// What both lost.
    fn add(self, other: Stats) -> Stats {
        Stats {
            rx_dropped: self.rx_dropped + other.rx_dropped,
            rx_ring_full: self.rx_ring_full + other.rx_ring_full,
            fill_ring_empty: self.fill_ring_empty + other.fill_ring_empty,
            rx_invalid: self.rx_invalid + other.rx_invalid,
            rx_unstamped: self.rx_unstamped + other.rx_unstamped,
            tx_invalid: self.tx_invalid + other.tx_invalid,
            tx_ring_empty: self.tx_ring_empty + other.tx_ring_empty,
            tx_lost: self.tx_lost + other.tx_lost,
            strays: self.strays + other.strays,
        }
    }
}

impl Stats {
    /// Frames that reached the port and not its reader.
    pub fn rx_lost(&self) -> u64 {
        self.rx_dropped + self.rx_ring_full
    }
}
