use super::*;
use crate::pcapng::{Assume, Capture as Read, parse};
use crate::{Dir, What};
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_statistics::InterfaceStatisticsOption;
use pcap_file::pcapng::{Block, PcapNgParser};
use rig_frames::ethernet::ethertype;
use rig_frames::{mac_control, pfc};
use rig_testcases::wire;
use rig_units::{Dur, Quanta, Time};
use std::io::{self, Write};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

const BURST: usize = 64;

fn at(us: u64) -> Time {
    Time::ZERO + Dur::us(us)
}

fn settings() -> Settings {
    let port = |name: &str| Interface {
        name: name.to_owned(),
        description: String::new(),
        speed: PortSpeed::G10,
        clock: "a clock in a test".to_owned(),
    };
    Settings {
        about: "a test".to_owned(),
        interfaces: vec![port("p1"), port("p2")],
        only: Only::ALL,
        snap: None,
        limit: Limit::NONE,
        burst: BURST,
        chunks: 4,
        pool: Pool::default(),
    }
}

/// A file that can be read while it is being written.
#[derive(Debug, Clone, Default)]
struct Disk(Arc<Mutex<Vec<u8>>>);

impl Disk {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().expect("nobody panicked").clone()
    }
}

impl Write for Disk {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("nobody panicked").extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn xoff() -> Vec<u8> {
    mac_control::frame_pfc(wire::rig_mac(0), &pfc::Repr::all(8, Quanta::MAX))
}

/// Something else than PFC or RoCEv2, its number in front.
fn other(number: u32, len: usize) -> Vec<u8> {
    let mut frame = vec![0x5a; len];
    frame[..4].copy_from_slice(&number.to_be_bytes());
    frame[12..14].copy_from_slice(&0x88b5_u16.to_be_bytes());
    frame
}

fn roce(tags: &[u16], v6: bool) -> Vec<u8> {
    let mut frame = vec![0; 12];
    for tag in tags {
        frame.extend(tag.to_be_bytes());
        frame.extend([0x60, 5]);
    }
    if v6 {
        frame.extend(ethertype::IPV6.to_be_bytes());
        frame.extend([0x60, 0, 0, 0, 0, 20, 17, 64]);
        frame.extend([0; 32]);
    } else {
        frame.extend(ethertype::IPV4.to_be_bytes());
        frame.extend([0x45, 0, 0, 40, 0, 0, 0x40, 0, 64, 17, 0, 0]);
        frame.extend([0; 8]);
    }
    frame.extend([0xc0, 0, 0x12, 0xb7]);
    frame.extend([0; 16]);
    frame
}

fn read(bytes: &[u8]) -> Read {
    let assume = Assume { class_of: &|dscp| dscp, speed: PortSpeed::G100, cable: Dur::ZERO };
    parse("deep.pcapng", bytes, assume).expect("a capture")
}

/// Every frame as it stands in the file, and the statistics of each interface.
fn blocks(bytes: &[u8]) -> (Vec<EnhancedPacketBlock<'static>>, Vec<Vec<u64>>) {
    let (mut rest, mut parser) = PcapNgParser::new(bytes).expect("a capture");
    let (mut frames, mut statistics) = (Vec::new(), Vec::new());
    while !rest.is_empty() {
        let (behind, block) = parser.next_block(rest).expect("whole blocks");
        match block.into_owned() {
            Block::EnhancedPacket(frame) => frames.push(frame),
            Block::InterfaceStatistics(block) => {
                assert_eq!(block.interface_id as usize, statistics.len());
                let value = |option: &InterfaceStatisticsOption<'_>| match option {
                    InterfaceStatisticsOption::IsbIfRecv(n)
                    | InterfaceStatisticsOption::IsbFilterAccept(n)
                    | InterfaceStatisticsOption::IsbIfDrop(n)
                    | InterfaceStatisticsOption::IsbOsDrop(n)
                    | InterfaceStatisticsOption::IsbUsrDeliv(n) => *n,
                    option => panic!("{option:?}"),
                };
                statistics.push(block.options.iter().map(value).collect());
            }
            _ => {}
        }
        rest = behind;
    }
    (frames, statistics)
}

#[test]
fn every_frame_is_in_the_file_with_its_port_its_direction_and_its_time() {
    let disk = Disk::default();
    let mut capture = Capture::begin(disk.clone(), &settings()).expect("memory");
    capture.wrote(1, &xoff());
    capture.wrote(1, &other(7, 60));
    capture.sent(at(10));
    capture.sent(at(11));
    capture.received(0, at(12), &xoff());
    let summary = capture.finish();
    let counts = Counts { sent: 2, received: 1, recorded: 3, ..Counts::default() };
    assert_eq!((summary.counts, summary.ended, summary.dropped_from), (counts, None, None));
    let bytes = disk.bytes();
    assert_eq!(summary.bytes, bytes.len() as u64);
    let capture = read(&bytes);
    let seen = &capture.observation;
    let names: Vec<_> = seen.ports.iter().map(|port| (port.name.as_str(), port.speed)).collect();
    assert_eq!(names, [("p1", PortSpeed::G10), ("p2", PortSpeed::G10)]);
    let places: Vec<_> = seen.records.iter().map(|of| (of.port, of.dir, of.at)).collect();
    assert_eq!(places, [(1, Dir::Tx, at(10)), (1, Dir::Tx, at(11)), (0, Dir::Rx, at(12))]);
    assert!(matches!(seen.records[0].what, What::Pfc { enable: 8, .. }));
    assert_eq!((seen.integrity.lost, seen.integrity.cut.as_deref()), (0, None));
    let (frames, _) = blocks(&bytes);
    assert_eq!(frames[1].data, other(7, 60), "byte for byte");
    assert_eq!(frames[0].timestamp.as_nanos(), 10_000);
    assert_eq!(frames[2].options, [EnhancedPacketOption::Flags(1)]);
}

#[test]
fn frames_are_cut_to_the_snap_length_and_keep_their_own() {
    let disk = Disk::default();
    let settings = Settings { snap: Some(Bytes(64)), ..settings() };
    let mut capture = Capture::begin(disk.clone(), &settings).expect("memory");
    for len in [60, 64, 65, 9_000] {
        capture.received(0, at(1), &other(1, len));
    }
    let summary = capture.finish();
    assert_eq!((summary.counts.recorded, summary.counts.cut_short), (4, 2));
    let (frames, _) = blocks(&disk.bytes());
    let lengths: Vec<_> = frames.iter().map(|of| (of.data.len(), of.original_len)).collect();
    assert_eq!(lengths, [(60, 60), (64, 64), (64, 65), (64, 9_000)]);
    assert!(frames.iter().all(|of| other(1, 9_000).starts_with(&of.data)));
}

#[test]
fn kinds_are_told_through_tags_and_cut_frames_are_something_else() {
    for (frame, kind) in [
        (xoff(), FrameKind::Pfc),
        (other(0, 60), FrameKind::Other),
        (roce(&[], false), FrameKind::Data),
        (roce(&[], true), FrameKind::Data),
        (roce(&[ethertype::VLAN], false), FrameKind::Data),
        (roce(&[0x88a8, ethertype::VLAN], true), FrameKind::Data),
        (vec![0; 4], FrameKind::Other),
    ] {
        assert_eq!(FrameKind::of(&frame), kind, "{frame:02x?}");
        // Whatever is cut off: no more than it was, and no panic.
        for len in 0..frame.len() {
            assert!([kind, FrameKind::Other].contains(&FrameKind::of(&frame[..len])));
        }
    }
    let mut tagged = xoff();
    tagged.splice(12..12, [0x81, 0, 0, 5]);
    assert_eq!(FrameKind::of(&tagged), FrameKind::Pfc);
    let mut fragment = roce(&[], false);
    fragment[20..22].copy_from_slice(&[0, 1]);
    assert_eq!(FrameKind::of(&fragment), FrameKind::Other, "its UDP header is in the first one");
    let mut optioned = roce(&[], false);
    optioned[14] = 0x46;
    optioned.splice(34..34, [1; 4]);
    assert_eq!(FrameKind::of(&optioned), FrameKind::Data);
    for (place, byte) in [(23, 6), (37, 0)] {
        let mut frame = roce(&[], false);
        frame[place] = byte;
        assert_eq!(FrameKind::of(&frame), FrameKind::Other, "TCP, and another port");
    }
}

#[test]
fn a_protected_frame_may_be_of_any_kind_and_is_kept() {
    let mut protected = xoff();
    protected[12..14].copy_from_slice(&ethertype::MACSEC.to_be_bytes());
    for kind in [FrameKind::Pfc, FrameKind::Data, FrameKind::Other] {
        assert!(Only::of(&[kind]).keeps(&protected), "{kind:?}");
    }
}

#[test]
fn only_the_kinds_asked_for_are_kept_and_the_file_says_so() {
    let frames = [xoff(), roce(&[], false), other(0, 60)];
    for (kinds, kept, said) in [
        (vec![], vec![0, 1, 2], None),
        (vec![FrameKind::Pfc], vec![0], Some("frames that are not pfc were left out of this file")),
        (
            vec![FrameKind::Other, FrameKind::Data],
            vec![1, 2],
            Some("frames that are not data or other were left out of this file"),
        ),
    ] {
        let disk = Disk::default();
        let settings = Settings { only: Only::of(&kinds), ..settings() };
        let mut capture = Capture::begin(disk.clone(), &settings).expect("memory");
        for frame in &frames {
            capture.wrote(0, frame);
            capture.sent(at(1));
            capture.received(1, at(2), frame);
        }
        let Summary { counts, .. } = capture.finish();
        let recorded = 2 * kept.len() as u64;
        assert_eq!((counts.recorded, counts.filtered_out), (recorded, 6 - recorded));
        assert_eq!((counts.sent, counts.received, counts.lacking()), (3, 3, 0));
        let bytes = disk.bytes();
        let want: Vec<&[u8]> = kept.iter().flat_map(|&of| [&*frames[of]; 2]).collect();
        let (found, statistics) = blocks(&bytes);
        assert_eq!(found.iter().map(|of| &*of.data).collect::<Vec<_>>(), want);
        assert_eq!(statistics[0], [3, 0, kept.len() as u64, 0, kept.len() as u64]);
        assert_eq!(read(&bytes).observation.integrity.cut.as_deref(), said);
    }
}

/// Takes a page for each go-ahead, and says how much that was.
struct Slow {
    disk: Disk,
    go: Receiver<()>,
    taken: Sender<usize>,
}

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // Without anybody to ask it is as fast as any.
        let _gone = self.go.recv();
        let taken = self.disk.write(bytes)?;
        let _gone = self.taken.send(taken);
        Ok(taken)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_disk_that_stands_still_costs_frames_that_are_counted_and_never_holds_up_who_sends() {
    let disk = Disk::default();
    let ((go, asked), (taken, told)) = (channel(), channel());
    let slow = Slow { disk: disk.clone(), go: asked, taken };
    go.send(()).expect("the writer is there");
    let mut capture = Capture::begin(slow, &settings()).expect("memory");
    told.recv().expect("the header is written");
    // Four chunks of 1 MiB and a frame of 1000 bytes a microsecond: 6 MB do not fit, and nobody takes any.
    for us in 0..6_000_u32 {
        capture.received(0, at(us.into()), &other(us, 1_000));
    }
    let whole = 4 * ((1 << 20) / 1_000);
    // The disk is there again: what was kept is written, and what comes then is kept.
    drop(go);
    // When more than a chunk is written the first has been given back.
    let mut written = 0;
    while written < 1_200_000 {
        written += told.recv().expect("a page is written");
    }
    for us in 6_000..6_100_u32 {
        capture.received(0, at(us.into()), &other(us, 1_000));
    }
    let Summary { counts, dropped_from, ended, .. } = capture.finish();
    assert_eq!((counts.received, ended), (6_100, None));
    assert_eq!(counts.recorded + counts.dropped, counts.received);
    assert!(counts.dropped > 0, "{counts:?}");
    let bytes = disk.bytes();
    let (frames, statistics) = blocks(&bytes);
    let numbers: Vec<u32> = frames
        .iter()
        .map(|of| u32::from_be_bytes(of.data[..4].try_into().expect("four bytes")))
        .collect();
    let first = numbers.iter().zip(0..).find(|&(&number, place)| number != place);
    let (_, missing) = first.expect("some are missing");
    assert_eq!(dropped_from, Some(at(missing.into())), "the first that is not there");
    // A chunk is handed over when a burst of the longest frames does not fit any more.
    assert!(missing > whole / 3 && missing <= whole, "{missing} of {whole}");
    assert!(numbers.is_sorted() && numbers.ends_with(&[6_098, 6_099]), "{:?}", numbers.last());
    assert_eq!(numbers.len() as u64, counts.recorded);
    assert_eq!(statistics[0][..2], [counts.received, counts.dropped]);
    assert_eq!(read(&bytes).observation.integrity.lost, counts.dropped);
}

#[test]
fn a_burst_that_waits_for_its_departure_always_has_room() {
    let disk = Disk::default();
    let settings = Settings { chunks: 24, ..settings() };
    let mut capture = Capture::begin(disk.clone(), &settings).expect("memory");
    let bursts = 20_u32;
    let burst = u32::try_from(BURST).expect("small");
    for number in 0..bursts * burst {
        capture.wrote(0, &other(number, 9_000));
        if number % burst == burst - 1 {
            (0..BURST).for_each(|_| capture.sent(at(number.into())));
        }
    }
    let summary = capture.finish();
    assert_eq!(summary.counts.recorded, u64::from(bursts * burst), "{summary:?}");
    let (frames, _) = blocks(&disk.bytes());
    for (number, frame) in (0..).zip(&frames) {
        let last = u128::from(number / burst * burst + burst - 1);
        assert_eq!(frame.timestamp.as_micros(), last);
        assert_eq!(frame.data[..4], number.to_be_bytes());
    }
}

#[test]
fn a_frame_that_was_written_and_never_left_is_not_in_the_file() {
    let disk = Disk::default();
    let mut capture = Capture::begin(disk.clone(), &settings()).expect("memory");
    for number in 0..3 {
        capture.wrote(0, &other(number, 100));
    }
    capture.sent(at(1));
    let Summary { counts, .. } = capture.finish();
    assert_eq!((counts.sent, counts.recorded), (1, 1));
    let (frames, statistics) = blocks(&disk.bytes());
    assert_eq!((frames.len(), frames[0].data[..4].to_vec()), (1, vec![0; 4]));
    assert_eq!(statistics[0], [1, 0, 1, 0, 1]);
}

#[test]
fn captures_one_after_the_other_use_the_same_memory() {
    let settings = settings();
    for _ in 0..3 {
        let mut capture = Capture::begin(Disk::default(), &settings).expect("memory");
        capture.received(0, at(1), &xoff());
        assert_eq!(settings.pool.waiting(), 0);
        assert_eq!(capture.finish().counts.recorded, 1);
        assert_eq!(settings.pool.waiting(), 4);
    }
}

#[test]
fn a_file_ends_at_its_limit_and_what_comes_then_is_counted() {
    let (disk, begun) = (Disk::default(), Disk::default());
    drop(Capture::begin(begun.clone(), &settings()).expect("memory"));
    // A frame of 1000 bytes is a block of 1044.
    let settings = Settings { limit: Limit::of(Bytes(10_500)), chunks: 32, ..settings() };
    let mut capture = Capture::begin(disk.clone(), &settings).expect("memory");
    for number in 0..5_000 {
        capture.received(1, at(number.into()), &other(number, 1_000));
    }
    let Summary { counts, ended, dropped_from, .. } = capture.finish();
    assert_eq!(ended, Some(Ended { at: at(10), why: Why::Limit }));
    assert_eq!((counts.recorded, dropped_from), (10, None));
    assert_eq!((counts.unwritten, counts.lacking()), (4_990, 4_990));
    let bytes = disk.bytes();
    let (frames, statistics) = blocks(&bytes);
    assert_eq!(frames.len(), 10);
    assert_eq!(statistics, [vec![0; 5], vec![5_000, 4_990, 5_000, 0, 10]]);
    let around = begun.bytes().len() + 2 * 88;
    assert_eq!(bytes.len(), around + 10 * 1_044, "but for its ends it keeps to the limit");
    assert_eq!(read(&bytes).observation.integrity.lost, 4_990);
}

#[test]
fn captures_that_share_a_limit_write_no_more_than_it_together() {
    let limit = Limit::of(Bytes(15_000));
    let mut recorded = 0;
    for _ in 0..3 {
        let settings = Settings { limit: limit.clone(), ..settings() };
        assert_eq!(limit.is_reached(), recorded == 14);
        let mut capture = Capture::begin(Disk::default(), &settings).expect("memory");
        (0..9).for_each(|number| capture.received(0, at(1), &other(number, 1_000)));
        recorded += capture.finish().counts.recorded;
    }
    assert_eq!(recorded, 14);
}

/// A disk that has room for so many bytes.
struct Small(Disk, usize);

impl Write for Small {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.1);
        if taken == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.1 -= taken;
        self.0.write(&bytes[..taken])
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_disk_that_fills_up_ends_the_file_and_it_is_known_what_is_in_it() {
    let disk = Disk::default();
    let small = Small(disk.clone(), 2_500_000);
    let mut capture = Capture::begin(small, &Settings { chunks: 32, ..settings() }).expect("room");
    for number in 0..9_000 {
        capture.received(0, at(number.into()), &other(number, 1_000));
    }
    let Summary { counts, ended, bytes, .. } = capture.finish();
    let Some(Ended { at: from, why: Why::Refused(said) }) = ended else { panic!("{ended:?}") };
    assert!(said.contains("no storage space"), "{said}");
    // All that there is room for, but for a page.
    assert!((2_330..=2_395).contains(&counts.recorded), "{counts:?}");
    assert_eq!(counts.recorded + counts.unwritten, 9_000);
    assert_eq!(from, at(counts.recorded));
    let written = disk.bytes();
    assert_eq!(written.len(), 2_500_000, "half a block stands at its end");
    let whole = usize::try_from(bytes).expect("small");
    assert_eq!(blocks(&written[..whole]).0.len() as u64, counts.recorded);
}

#[test]
fn a_disk_without_any_room_is_told_at_once() {
    let error = Capture::begin(Small(Disk::default(), 10), &settings()).expect_err("full");
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
}

#[test]
fn statistics_count_what_came_what_was_lost_before_and_say_when() {
    let disk = Disk::default();
    let mut capture = Capture::begin(disk.clone(), &settings()).expect("memory");
    // Above 2^32 ns: the format has the upper half first.
    capture.received(0, Time::ZERO + Dur::s(6), &other(0, 60));
    capture.missed(0, 5);
    let Summary { counts, .. } = capture.finish();
    assert_eq!((counts.missed, counts.lacking(), counts.received), (5, 5, 1));
    let bytes = disk.bytes();
    let (_, statistics) = blocks(&bytes);
    assert_eq!(statistics, [vec![1, 5, 1, 5, 1], vec![0; 5]]);
    let block = &bytes[bytes.len() - 2 * 88..];
    let word = |at: usize| u32::from_le_bytes(block[at..at + 4].try_into().expect("four bytes"));
    assert_eq!([0, 4, 8].map(word), [5, 88, 0], "type, length, interface");
    assert_eq!([12, 16].map(word), [1, 1_705_032_704], "6 000 000 000 ns");
}

#[test]
fn a_writer_that_goes_away_is_no_silence() {
    struct Broken(bool);
    impl Write for Broken {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            assert!(!core::mem::replace(&mut self.0, true), "a bug in a writer");
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut capture = Capture::begin(Broken(false), &settings()).expect("the header");
    (0..5_000).for_each(|number| capture.received(0, at(1), &other(number, 1_000)));
    let Summary { counts, ended, .. } = capture.finish();
    assert!(matches!(ended, Some(Ended { why: Why::Refused(_), .. })), "{ended:?}");
    assert_eq!(counts.recorded + counts.lacking(), 5_000, "{counts:?}");
}
