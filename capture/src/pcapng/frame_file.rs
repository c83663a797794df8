//! Frames as a capture file, one after the other as they come, without an observation around them.

use super::evidence::{Counted, NANOSECONDS, direction, io_error, put};
use crate::Dir;
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness};
use rig_units::{PortSpeed, Time};
use std::io::{self, BufWriter, Write};
use std::time::Duration;

/// A file that is being written, of one interface. Timestamps are cut to the nanosecond.
pub struct FrameFile<W: Write> {
    file: PcapNgWriter<Counted<W>>,
    frames: u64,
}

impl<W: Write> core::fmt::Debug for FrameFile<W> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("FrameFile").field("frames", &self.frames).finish_non_exhaustive()
    }
}

impl<W: Write> FrameFile<W> {
    /// Begins a file; `about` is for a reader who has nothing else.
    ///
    /// # Errors
    /// What the writer says.
    pub fn begin(
        to: W,
        about: &str,
        interface: &str,
        speed: PortSpeed,
    ) -> io::Result<FrameFile<W>> {
        let header = SectionHeaderBlock {
            endianness: Endianness::Little,
            options: vec![
                SectionHeaderOption::Comment(about.to_owned().into()),
                SectionHeaderOption::UserApplication("rigctl".into()),
            ],
            ..SectionHeaderBlock::default()
        };
        let to = Counted { to: BufWriter::new(to), bytes: 0 };
        let mut file = PcapNgWriter::with_section_header(to, header).map_err(io_error)?;
        let options = vec![
            InterfaceDescriptionOption::IfName(interface.into()),
            InterfaceDescriptionOption::IfSpeed(speed.bps()),
            InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
        ];
        let block = InterfaceDescriptionBlock { linktype: DataLink::ETHERNET, snaplen: 0, options };
        put(&mut file, block)?;
        Ok(FrameFile { file, frames: 0 })
    }

    /// Adds a frame, from the destination MAC on, without FCS.
    ///
    /// # Errors
    /// What the writer says: disk full. What was written until then is no valid file.
    pub fn frame(&mut self, at: Time, dir: Dir, bytes: &[u8]) -> io::Result<()> {
        let block = EnhancedPacketBlock {
            interface_id: 0,
            timestamp: Duration::from_nanos(at.0 / 1_000),
            original_len: u32::try_from(bytes.len()).expect("a frame is short"),
            data: bytes.into(),
            options: vec![EnhancedPacketOption::Flags(direction(dir))],
        };
        put(&mut self.file, block)?;
        self.frames += 1;
        Ok(())
    }

    /// Ends the file; how many frames it has.
    ///
    /// # Errors
    /// What the writer says.
    pub fn finish(self) -> io::Result<u64> {
        self.file.into_inner().flush()?;
        Ok(self.frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pcapng::{Assume, parse};
    use rig_frames::mac_control::frame_pfc;
    use rig_frames::pfc;
    use rig_testcases::wire;
    use rig_units::{Dur, Quanta};

    #[test]
    fn what_was_written_is_read_back() {
        let mut bytes = Vec::new();
        let speed = PortSpeed::G100;
        let mut file = FrameFile::begin(&mut bytes, "a test", "p1", speed).expect("memory");
        let frame = frame_pfc(wire::rig_mac(0), &pfc::Repr::all(8, Quanta(7)));
        for us in [1, 3] {
            let at = Time::ZERO + Dur::us(us);
            file.frame(at, Dir::Tx, &frame).expect("memory");
        }
        assert_eq!(file.finish().expect("memory"), 2);
        let assume = Assume { class_of: &|dscp| dscp, speed: PortSpeed::G10, cable: Dur::ZERO };
        let capture = parse("a.pcapng", &bytes, assume).expect("a capture").observation;
        assert_eq!((capture.ports[0].name.as_str(), capture.ports[0].speed), ("p1", speed));
        assert_eq!(capture.records.len(), 2);
        let gap = capture.records[1].at.since(capture.records[0].at);
        assert_eq!((gap, capture.records[0].dir), (Some(Dur::us(2)), Dir::Tx));
    }
}
