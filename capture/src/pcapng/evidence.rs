//! An observation as a capture file.

use super::select::{LIMIT, select};
use super::spool::Spooled;
use super::{loads, snap};
use crate::codec::Encoder;
use crate::{Dir, FrameRef, Observation, PortTrace, Touched};
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::pcapng::{PcapNgBlock, PcapNgWriter};
use pcap_file::{DataLink, Endianness, PcapError};
use rig_testcases::{Script, StreamKind, wire};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

/// Timestamps count nanoseconds.
pub(crate) const NANOSECONDS: u8 = 9;
const PS_PER_NS: u64 = 1_000;
/// Direction in `epb_flags` (pcapng section 4.3.1).
const INBOUND: u32 = 1;
const OUTBOUND: u32 = 2;

/// How the comment of an interface ends that does not show all frames; the reader looks for it.
pub(crate) const LEFT_OUT: &str = "were left out of this file";
/// What the comment of the section says of a stream to a NIC, or of a flow of one.
pub(super) const NIC_BEHIND: &str = "the NIC behind";
/// The same where frames were never recorded.
pub(super) const NOT_RECORDED: &str = "were counted and not recorded";

/// What of an observation goes into its evidence file, and as which frame.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    observation: &'a Observation,
    script: &'a Script,
    kept: Vec<usize>,
    windows: u64,
    /// Every frame, recorded or not.
    all: Option<&'a Spooled>,
}

/// What a file came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Its size.
    pub bytes: u64,
    /// How many frames it has.
    pub frames: u64,
    /// How many stretches of the trial it shows without a gap: 1 when it shows all of it.
    pub windows: u64,
}

impl<'a> Evidence<'a> {
    /// Chooses what the file shows. Records that findings cite are in it whatever its size.
    pub fn of(observation: &'a Observation, script: &'a Script, cited: &[usize]) -> Evidence<'a> {
        let (kept, windows) = select(observation, script, cited, LIMIT);
        Evidence { observation, script, kept, windows, all: None }
    }

    /// A file that shows every record, however many they are.
    pub fn whole(observation: &'a Observation, script: &'a Script) -> Evidence<'a> {
        let kept = (0..observation.records.len()).collect();
        Evidence { observation, script, kept, windows: 1, all: None }
    }

    /// A file that shows every frame, recorded or not.
    pub fn all(observation: &'a Observation, script: &'a Script, all: &'a Spooled) -> Evidence<'a> {
        Evidence { all: Some(all), ..Evidence::whole(observation, script) }
    }

    /// The number of a record's frame in the file; `None` when it is not in it.
    pub fn frame(&self, record: usize) -> Option<FrameRef> {
        if let Some(all) = self.all {
            return all.frame(record);
        }
        let at = self.kept.binary_search(&record).ok()?;
        Some(FrameRef(u64::try_from(at).ok()? + 1))
    }

    /// Writes the file, each of `comments` on the frame of its record.
    ///
    /// # Errors
    /// What the writer says: disk full, no permission. What was written until then is no valid file.
    pub fn write(&self, comments: &[(usize, String)], to: impl Write) -> io::Result<Written> {
        let mut to = Counted { to: BufWriter::new(to), bytes: 0 };
        let header = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: vec![
                SectionHeaderOption::Comment(self.about().into()),
                SectionHeaderOption::UserApplication("rigctl".into()),
            ],
            ..SectionHeaderBlock::default()
        };
        let mut file = PcapNgWriter::with_section_header(&mut to, header).map_err(io_error)?;
        for (index, port) in (0..).zip(&self.observation.ports) {
            put(&mut file, self.interface(index, port))?;
        }
        let touched = self.touched();
        let mut said: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
        for (record, comment) in touched.iter().chain(comments) {
            said.entry(*record).or_default().push(comment);
        }
        let encoder = Encoder::of(self.script);
        let own: &[usize] = if self.all.is_some() { &[] } else { &self.kept };
        for &record in own {
            let comments = said.get(&record).map_or(&[][..], Vec::as_slice);
            put(&mut file, self.packet(&encoder, record, comments))?;
        }
        drop(file);
        if let Some(all) = self.all {
            let numbered = |(record, said)| Some((all.frame(record)?, said));
            all.copy(&mut said.into_iter().filter_map(numbered), &mut to)?;
        }
        to.flush()?;
        let kept = u64::try_from(self.kept.len()).unwrap_or(u64::MAX);
        let frames = self.all.map_or(kept, Spooled::frames);
        Ok(Written { bytes: to.bytes, frames, windows: self.windows })
    }

    /// What the rig did to frames that it passed on, said of each as it arrived.
    fn touched(&self) -> Vec<(usize, String)> {
        let records = &self.observation.records;
        let of = |touched: &Touched| {
            let found = records.iter().position(|record| {
                (record.at, record.port, record.dir) == (touched.at, touched.port, Dir::Rx)
            });
            found.map(|record| (record, format!("injected: {}", touched.what)))
        };
        self.observation.injected.iter().filter_map(of).collect()
    }

    /// The streams, for a reader who has only the file.
    fn about(&self) -> String {
        let mut lines = vec!["timestamps start with the trial".to_owned()];
        for (stream, spec) in (0..).zip(&self.script.streams) {
            let port = |index: u16| &self.script.ports[usize::from(index)];
            let connection = spec.of.unwrap_or(stream);
            let qp = match spec.kind {
                StreamKind::Udp => String::new(),
                StreamKind::RoceWrite | StreamKind::RoceSend | StreamKind::Cnp => {
                    format!(", queue pair {:#x}", wire::qpn(connection))
                }
            };
            let to = match spec.from == spec.to {
                true => format!("{NIC_BEHIND} {}", port(spec.to)),
                false => port(spec.to).clone(),
            };
            lines.push(format!(
                "stream {}: {} to {to}, class {}, UDP source port {}{qp}",
                spec.name,
                port(spec.from),
                spec.class,
                wire::udp_port(connection),
            ));
        }
        for (flow, spec) in (0..).zip(&self.script.flows) {
            let port = |index: u16| &self.script.ports[usize::from(index)];
            let connection = self.script.connection(flow);
            lines.push(format!(
                "flow {}: from {NIC_BEHIND} {}, class {}, UDP source port {}, queue pair {:#x}",
                spec.name,
                port(spec.nic),
                spec.class,
                wire::udp_port(connection),
                wire::qpn(connection),
            ));
        }
        lines.join("\n")
    }

    fn interface(&self, index: u16, port: &'a PortTrace) -> InterfaceDescriptionBlock<'a> {
        let mut options = vec![
            InterfaceDescriptionOption::IfName((&port.name).into()),
            InterfaceDescriptionOption::IfDescription((&port.dut_port).into()),
            InterfaceDescriptionOption::IfSpeed(port.speed.bps()),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ];
        let left_out = self.observation.records.len() - self.kept.len();
        if left_out > 0 {
            let comment = format!(
                "{} windows around events; {left_out} of {} frames {LEFT_OUT}",
                self.windows,
                self.observation.records.len()
            );
            options.push(InterfaceDescriptionOption::Comment(comment.into()));
        }
        let unrecorded = self.all.map_or(self.observation.integrity.unrecorded, Spooled::left_out);
        if unrecorded > 0 {
            let comment = format!("{unrecorded} frames {NOT_RECORDED}");
            options.push(InterfaceDescriptionOption::Comment(comment.into()));
        }
        let loads = loads::lines(self.observation, self.script, index).into_iter();
        options.extend(loads.map(|line| InterfaceDescriptionOption::Comment(line.into())));
        InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen: 0, options }
    }

    fn packet<'b>(
        &self,
        encoder: &Encoder<'_>,
        record: usize,
        comments: &[&'b str],
    ) -> EnhancedPacketBlock<'b> {
        let record = &self.observation.records[record];
        let mut data = encoder.frame(record);
        let original_len = u32::try_from(data.len()).expect("a frame is short");
        data.truncate(snap::kept(record, self.script));
        let comment = |text: &&'b str| EnhancedPacketOption::Comment(Cow::Borrowed(*text));
        let mut options: Vec<EnhancedPacketOption<'b>> = comments.iter().map(comment).collect();
        options.push(EnhancedPacketOption::Flags(direction(record.dir)));
        EnhancedPacketBlock {
            interface_id: record.port.into(),
            timestamp: Duration::from_nanos(record.at.0 / PS_PER_NS),
            original_len,
            data: data.into(),
            options,
        }
    }
}

/// A direction as the file has it.
pub(crate) const fn direction(dir: Dir) -> u32 {
    match dir {
        Dir::Tx => OUTBOUND,
        Dir::Rx => INBOUND,
    }
}

pub(crate) fn put<'a, W: Write>(
    file: &mut PcapNgWriter<W>,
    block: impl PcapNgBlock<'a>,
) -> io::Result<()> {
    file.write_pcapng_block(block).map_err(io_error)?;
    Ok(())
}

pub(crate) fn io_error(error: PcapError) -> io::Error {
    match error {
        PcapError::IoError(error) => error,
        other => io::Error::other(other),
    }
}

/// Counts what goes through.
pub(super) struct Counted<W: Write> {
    pub(super) to: BufWriter<W>,
    pub(super) bytes: u64,
}

impl<W: Write> Write for Counted<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.to.write(bytes)?;
        self.bytes += u64::try_from(written).unwrap_or(0);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
