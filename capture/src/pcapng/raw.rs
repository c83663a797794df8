//! Frames and interfaces as they stand in a capture file.

use super::evidence::{LEFT_OUT, NOT_RECORDED};
use pcap_file::pcap::PcapParser;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::interface_statistics::InterfaceStatisticsOption;
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{Block, PcapNgParser};
use pcap_file::{DataLink, PcapError, TsResolution};
use std::borrow::Cow;

/// Frames and interfaces as they stand in a file.
#[derive(Debug, Default)]
pub(super) struct Raw<'a> {
    pub(super) interfaces: Vec<Interface>,
    pub(super) frames: Vec<RawFrame<'a>>,
    /// Frames that whoever captured knows to have lost.
    pub(super) lost: u64,
    /// Where it ends early.
    pub(super) cut: Option<String>,
    /// What its comments say of frames that are not in it, each sentence once.
    pub(super) holes: Vec<String>,
    /// The lines of its sections' comments.
    pub(super) about: Vec<String>,
    /// Whether the rig wrote it.
    pub(super) own: bool,
    /// What its comments say of loads, with the interface that says it.
    pub(super) loads: Vec<(usize, String)>,
}

impl<'a> Raw<'a> {
    /// One frame more, from the block at byte `at`.
    fn take(&mut self, at: usize, frame: RawFrame<'a>) -> Result<(), Located> {
        let room = self.frames.try_reserve(1);
        room.map_err(|_| (at, "the frames up to here do not fit into memory".to_owned()))?;
        self.frames.push(frame);
        Ok(())
    }
}

#[derive(Debug)]
pub(super) struct Interface {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) bps: Option<u64>,
    /// Picoseconds in a unit of its timestamps, rounded up.
    pub(super) resolution: u64,
    ticks: Ticks,
    statistics: u64,
}

#[derive(Debug)]
pub(super) struct RawFrame<'a> {
    pub(super) interface: usize,
    /// Picoseconds since whatever the capture counts from.
    pub(super) at: u128,
    /// `epb_flags`: 1 inbound, 2 outbound, 0 when it does not say.
    pub(super) direction: u32,
    pub(super) bytes: Cow<'a, [u8]>,
    pub(super) len: usize,
}

/// Unit of an interface's timestamps (pcapng section 4.2, if_tsresol).
#[derive(Debug, Clone, Copy)]
enum Ticks {
    /// 10^-n seconds.
    Decimal(u8),
    /// 2^-n seconds.
    Binary(u8),
}

impl Ticks {
    const PS_PER_S: u128 = 1_000_000_000_000;

    fn ps(self, ticks: u128) -> u128 {
        match self {
            Ticks::Decimal(n @ 0..=12) => ticks * 10_u128.pow(12 - u32::from(n)),
            Ticks::Decimal(n) => {
                ticks / 10_u128.checked_pow(u32::from(n) - 12).unwrap_or(u128::MAX)
            }
            Ticks::Binary(n) => (ticks * Ticks::PS_PER_S) >> n.min(127),
        }
    }

    fn resolution(self) -> u64 {
        u64::try_from(self.ps(1)).unwrap_or(u64::MAX).max(1)
    }
}

/// What is wrong, and where.
pub(super) type Located = (usize, String);

/// The frames of a pcapng file.
pub(super) fn pcapng(bytes: &[u8]) -> Result<Raw<'_>, Located> {
    let mut raw = Raw::default();
    let cut = |at: usize| format!("the file ends in the middle of the block at byte {at}");
    let (mut rest, mut parser) = match PcapNgParser::new(bytes) {
        Ok(begun) => begun,
        Err(PcapError::IncompleteBuffer) => return Err((0, cut(0))),
        Err(error) => return Err((0, said(&error))),
    };
    // The library takes in the first section by itself.
    about(&mut raw, parser.section());
    let mut first_interface = 0;
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        let (behind, block) = match parser.next_block(rest) {
            Ok(next) => next,
            Err(PcapError::IncompleteBuffer) => {
                raw.cut = Some(cut(at));
                break;
            }
            Err(error) => return Err((at, said(&error))),
        };
        rest = behind;
        let base = first_interface;
        let known = |raw: &Raw<'_>, id: usize| {
            let index = base + id;
            if index < raw.interfaces.len() {
                Ok(index)
            } else {
                Err((at, format!("interface {id} has not been described")))
            }
        };
        match block {
            // Interfaces are numbered anew in each section.
            Block::SectionHeader(block) => {
                first_interface = raw.interfaces.len();
                about(&mut raw, &block);
            }
            Block::InterfaceDescription(block) => {
                told(&mut raw, &block);
                raw.interfaces.push(interface(at, &block)?);
            }
            Block::EnhancedPacket(block) => {
                let index = known(&raw, block.interface_id as usize)?;
                raw.lost = raw.lost.saturating_add(drops(&block));
                let frame = frame(index, raw.interfaces[index].ticks, block);
                raw.take(at, frame)?;
            }
            Block::SimplePacket(block) => {
                let index = known(&raw, 0)?;
                let len = block.original_len as usize;
                let bytes = cut_to(block.data, len);
                // It has no timestamp: it passed no earlier than the frame before it.
                let passed = raw.frames.last().map_or(0, |frame| frame.at);
                raw.take(at, RawFrame { interface: index, at: passed, direction: 0, bytes, len })?;
            }
            Block::InterfaceStatistics(block) => {
                let index = known(&raw, block.interface_id as usize)?;
                for option in &block.options {
                    if let InterfaceStatisticsOption::IsbIfDrop(drops) = option {
                        raw.interfaces[index].statistics = *drops;
                    }
                }
            }
            Block::Packet(_)
            | Block::NameResolution(_)
            | Block::SystemdJournalExport(_)
            | Block::Unknown(_) => {}
        }
    }
    // Some tools count drops on each frame, some at the end, some both.
    let told = raw.interfaces.iter().map(|interface| interface.statistics);
    raw.lost = raw.lost.max(told.fold(0, u64::saturating_add));
    Ok(raw)
}

/// What the comments of a section say, line by line, and who wrote it.
fn about(raw: &mut Raw<'_>, section: &SectionHeaderBlock<'_>) {
    for option in &section.options {
        match option {
            SectionHeaderOption::Comment(text) => {
                raw.about.extend(text.lines().map(ToOwned::to_owned));
            }
            SectionHeaderOption::UserApplication(name) => raw.own |= name == "rigctl",
            _ => {}
        }
    }
}

/// What an interface says of frames that are not in the file.
fn told(raw: &mut Raw<'_>, block: &InterfaceDescriptionBlock<'_>) {
    let interface = raw.interfaces.len();
    for option in &block.options {
        let InterfaceDescriptionOption::Comment(text) = option else { continue };
        let hole = text.ends_with(LEFT_OUT) || text.ends_with(NOT_RECORDED);
        if hole && !raw.holes.iter().any(|said| said == text) {
            raw.holes.push(text.to_string());
        }
        if text.starts_with("load stream=") {
            raw.loads.push((interface, text.to_string()));
        }
    }
}

fn interface(at: usize, block: &InterfaceDescriptionBlock<'_>) -> Result<Interface, Located> {
    if block.linktype != DataLink::ETHERNET {
        return Err((at, format!("link type {:?}: want Ethernet", block.linktype)));
    }
    let mut ticks = Ticks::Decimal(6);
    let (mut name, mut description, mut bps) = (None, None, None);
    for option in &block.options {
        match option {
            InterfaceDescriptionOption::IfName(text) => name = Some(text.to_string()),
            InterfaceDescriptionOption::IfDescription(text) => description = Some(text.to_string()),
            InterfaceDescriptionOption::IfSpeed(speed) => bps = Some(*speed),
            InterfaceDescriptionOption::IfTsResol(n) if n & 0x80 != 0 => {
                ticks = Ticks::Binary(n & 0x7f);
            }
            InterfaceDescriptionOption::IfTsResol(n) => ticks = Ticks::Decimal(*n),
            _ => {}
        }
    }
    let resolution = ticks.resolution();
    Ok(Interface { name, description, bps, resolution, ticks, statistics: 0 })
}

fn frame<'a>(index: usize, ticks: Ticks, block: EnhancedPacketBlock<'a>) -> RawFrame<'a> {
    let direction = block.options.iter().find_map(|option| match option {
        EnhancedPacketOption::Flags(flags) => Some(flags & 3),
        _ => None,
    });
    RawFrame {
        interface: index,
        // The reader calls every unit a nanosecond; the interface says what it is.
        at: ticks.ps(block.timestamp.as_nanos()),
        direction: direction.unwrap_or(0),
        len: block.original_len as usize,
        bytes: block.data,
    }
}

fn drops(block: &EnhancedPacketBlock<'_>) -> u64 {
    let dropped = |option: &EnhancedPacketOption<'_>| match option {
        EnhancedPacketOption::DropCount(count) => Some(*count),
        _ => None,
    };
    block.options.iter().filter_map(dropped).fold(0, u64::saturating_add)
}

/// A simple packet's block is padded; its frame is not.
fn cut_to(bytes: Cow<'_, [u8]>, len: usize) -> Cow<'_, [u8]> {
    match bytes {
        Cow::Borrowed(bytes) => Cow::Borrowed(&bytes[..bytes.len().min(len)]),
        Cow::Owned(mut bytes) => {
            bytes.truncate(len);
            Cow::Owned(bytes)
        }
    }
}

/// The frames of a pcap file.
pub(super) fn pcap(bytes: &[u8]) -> Result<Raw<'_>, Located> {
    let (mut rest, parser) = match PcapParser::new(bytes) {
        Ok(begun) => begun,
        Err(PcapError::IncompleteBuffer) if bytes.is_empty() => {
            return Err((0, "the file is empty".to_owned()));
        }
        Err(_) => return Err((0, "this is neither a pcapng nor a pcap file".to_owned())),
    };
    let header = parser.header();
    if header.datalink != DataLink::ETHERNET {
        return Err((20, format!("link type {:?}: want Ethernet", header.datalink)));
    }
    let ticks = match header.ts_resolution {
        TsResolution::MicroSecond => Ticks::Decimal(6),
        TsResolution::NanoSecond => Ticks::Decimal(9),
    };
    let only = Interface {
        name: None,
        description: None,
        bps: None,
        resolution: ticks.resolution(),
        ticks,
        statistics: 0,
    };
    let mut raw = Raw { interfaces: vec![only], ..Raw::default() };
    while !rest.is_empty() {
        let at = bytes.len() - rest.len();
        // Not the library's own reading of a packet: it refuses frames longer than the snap length, which are what a
        // snap length makes.
        let (behind, packet) = match parser.next_raw_packet(rest) {
            Ok(next) => next,
            Err(PcapError::IncompleteBuffer) => {
                raw.cut = Some(format!("the file ends in the middle of the frame at byte {at}"));
                break;
            }
            Err(error) => return Err((at, said(&error))),
        };
        rest = behind;
        let second = u128::from(packet.ts_sec) * Ticks::PS_PER_S;
        let frame = RawFrame {
            interface: 0,
            at: second + ticks.ps(packet.ts_frac.into()),
            direction: 0,
            len: packet.orig_len as usize,
            bytes: packet.data,
        };
        raw.take(at, frame)?;
    }
    Ok(raw)
}

/// The library's words for a fault.
fn said(error: &PcapError) -> String {
    match error {
        PcapError::InvalidField(what) => format!("a broken block ({what})"),
        PcapError::Utf8Error(_) | PcapError::FromUtf8Error(_) => {
            "a text option is not UTF-8".to_owned()
        }
        PcapError::IncompleteBuffer | PcapError::IoError(_) | PcapError::InvalidInterfaceId(_) => {
            error.to_string()
        }
    }
}
