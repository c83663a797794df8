//! The capture file: blocks are made in memory and written a page at a time, so that it is known of each frame whether it
//! is in the file.

use super::chunk::{Chunk, Head};
use super::summary::{Counts, Ended, Why};
use super::{Interface, Limit, Settings};
use crate::pcapng::{LEFT_OUT, NANOSECONDS, direction, io_error, put};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::interface_statistics::{
    InterfaceStatisticsBlock, InterfaceStatisticsOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness};
use rig_units::Time;
use std::io::{self, Write};
use std::time::Duration;

const PS_PER_NS: u64 = 1_000;
/// Bytes that are written with one call: as many are lost of a file on a disk that fills up.
const PAGE: usize = 1 << 16;

/// A capture file that is being written.
pub(super) struct File<W: Write> {
    blocks: PcapNgWriter<Page<W>>,
    limit: Limit,
    /// Of each port: frames in the file, and those of them that are cut.
    written: Vec<Counts>,
    /// The same with those of the page.
    made: Vec<Counts>,
    /// The times of the first frame of the page, and of the last one of all.
    first: Option<Time>,
    last: Time,
    ended: Option<Ended>,
}

/// Whole blocks that are not written yet.
struct Page<W: Write> {
    to: W,
    blocks: Vec<u8>,
    /// Bytes of whole blocks that were written.
    whole: u64,
}

impl<W: Write> Write for Page<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.blocks.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let done = self.to.write_all(&self.blocks).and_then(|()| self.to.flush());
        if done.is_ok() {
            self.whole += length(self.blocks.len());
        }
        self.blocks.clear();
        done
    }
}

impl<W: Write> File<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// What the writer says.
    pub(super) fn begin(to: W, settings: &Settings) -> io::Result<File<W>> {
        let header = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: vec![
                SectionHeaderOption::Comment(settings.about.clone().into()),
                SectionHeaderOption::UserApplication("rigctl".into()),
            ],
            ..SectionHeaderBlock::default()
        };
        let page = Page { to, blocks: Vec::new(), whole: 0 };
        let mut blocks = PcapNgWriter::with_section_header(page, header).map_err(io_error)?;
        for interface in &settings.interfaces {
            put(&mut blocks, describe(interface, settings))?;
        }
        // What says what a file is does not count against its limit.
        blocks.get_mut().flush()?;
        Ok(File {
            blocks,
            limit: settings.limit.clone(),
            written: vec![Counts::default(); settings.interfaces.len()],
            made: vec![Counts::default(); settings.interfaces.len()],
            first: None,
            last: Time::ZERO,
            ended: None,
        })
    }

    /// Writes the frames of a chunk, as far as the file goes on.
    pub(super) fn add(&mut self, chunk: &Chunk) {
        for (head, frame) in chunk.frames() {
            if self.ended.is_some() {
                return;
            }
            if !self.packet(head, frame) {
                self.turn_page();
                self.ended.get_or_insert(Ended { at: head.at, why: Why::Limit });
                return;
            }
            self.first.get_or_insert(head.at);
            self.last = self.last.max(head.at);
            if let Some(port) = self.made.get_mut(usize::from(head.port)) {
                port.recorded += 1;
                port.cut_short += u64::from(head.is_cut());
            }
            if self.blocks.get_ref().blocks.len() >= PAGE {
                self.turn_page();
            }
        }
        self.turn_page();
    }

    /// Writes the page: only then its frames are in the file.
    fn turn_page(&mut self) {
        let first = self.first.take().unwrap_or(self.last);
        match self.blocks.get_mut().flush() {
            Ok(()) => self.written.clone_from(&self.made),
            Err(error) => {
                self.made.clone_from(&self.written);
                let why = Why::Refused(error.to_string());
                self.ended.get_or_insert(Ended { at: first, why });
            }
        }
    }

    /// Puts a frame into the page; `false` when the limit has no room for it.
    fn packet(&mut self, head: &Head, frame: &[u8]) -> bool {
        let before = self.blocks.get_ref().blocks.len();
        let block = EnhancedPacketBlock {
            interface_id: head.port.into(),
            timestamp: Duration::from_nanos(head.at.0 / PS_PER_NS),
            original_len: head.len,
            data: frame.into(),
            options: vec![EnhancedPacketOption::Flags(direction(head.dir))],
        };
        let made = put(&mut self.blocks, block).is_ok();
        let page = &mut self.blocks.get_mut().blocks;
        if made && self.limit.take(length(page.len() - before)) {
            return true;
        }
        page.truncate(before);
        self.limit.exhaust();
        false
    }

    /// Ends the file with what is known of each port; what became of the frames of each, and of the file.
    pub(super) fn finish(mut self, offered: &[Counts]) -> (Vec<Counts>, Option<Ended>, u64) {
        let counts: Vec<Counts> =
            offered.iter().zip(&self.written).map(|(port, written)| of(port, written)).collect();
        // A disk that has refused frames is not asked again: behind half a block nothing can be read.
        if !matches!(self.ended, Some(Ended { why: Why::Refused(_), .. })) {
            let last = self.last;
            let mut put_one = |(id, port)| put(&mut self.blocks, statistics(id, port, last));
            let all = (0..).zip(&counts).try_for_each(&mut put_one);
            let done = all.and_then(|()| self.blocks.get_mut().flush());
            if let Err(error) = done {
                let why = Why::Refused(error.to_string());
                self.ended.get_or_insert(Ended { at: self.last, why });
            }
        }
        (counts, self.ended, self.blocks.get_ref().whole)
    }
}

/// What became of the frames of a port.
fn of(offered: &Counts, written: &Counts) -> Counts {
    let accounted = offered.filtered_out + offered.dropped + written.recorded;
    Counts {
        recorded: written.recorded,
        cut_short: written.cut_short,
        unwritten: offered.offered().saturating_sub(accounted),
        ..*offered
    }
}

fn describe<'a>(interface: &'a Interface, settings: &Settings) -> InterfaceDescriptionBlock<'a> {
    let Interface { name, description, speed, clock } = interface;
    let mut options = vec![
        InterfaceDescriptionOption::IfName(name.into()),
        InterfaceDescriptionOption::IfSpeed(speed.bps()),
        InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
    ];
    if !description.is_empty() {
        options.push(InterfaceDescriptionOption::IfDescription(description.into()));
    }
    options.push(InterfaceDescriptionOption::Comment(clock.into()));
    // The reader looks for the end of this sentence: without these frames nothing can be told from their absence.
    if let Some(kept) = settings.only.said() {
        let comment = format!("frames that are not {kept} {LEFT_OUT}");
        options.push(InterfaceDescriptionOption::Comment(comment.into()));
    }
    // Zero is no limit.
    let snaplen = settings.snap.map_or(0, |snap| u32::try_from(snap.0).unwrap_or(0));
    InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen, options }
}

fn statistics(interface: u32, port: &Counts, at: Time) -> InterfaceStatisticsBlock<'static> {
    InterfaceStatisticsBlock {
        interface_id: interface,
        // The format has the upper half first, each half in the order of the file; the library writes one number.
        timestamp: (at.0 / PS_PER_NS).rotate_left(32),
        options: vec![
            InterfaceStatisticsOption::IsbIfRecv(port.offered()),
            InterfaceStatisticsOption::IsbIfDrop(port.lacking()),
            InterfaceStatisticsOption::IsbFilterAccept(port.offered() - port.filtered_out),
            InterfaceStatisticsOption::IsbOsDrop(port.missed),
            InterfaceStatisticsOption::IsbUsrDeliv(port.recorded),
        ],
    }
}

fn length(bytes: usize) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
