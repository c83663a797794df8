use super::*;
use crate::analyse::{coverage, fired, restored};
use crate::sample::{CABLE, CLASS, FORWARDING, Sample, TRANSIT, protection, view};
use crate::{Dir, Observation, Provenance, Record};
use proptest::prelude::*;
use rig_testcases::{
    Backlog, CipherSuite, Script, Secured, StreamKind, StreamRate, WatchdogAction,
};
use rig_units::{Bytes, Dur, PortSpeed, Quanta, Rate, Time};
use std::io::{self, Write};

const ASSUME: Assume<'_> = Assume { class_of: &|dscp| dscp, speed: PortSpeed::G100, cable: CABLE };

/// A whole trial: held probes, an action at 223 ms, a restoration at 650 ms.
fn trial() -> (Observation, Script) {
    let (start, acts, restores) = (Dur::ms(20), Dur::ms(223), Dur::ms(650));
    let mut sample = Sample::new();
    sample.storm(start, Dur::ms(420));
    sample.probes(Dur::ZERO, Dur::ms(800), |sent| {
        if sent < start || sent >= restores {
            Some(sent + TRANSIT)
        } else if sent < acts {
            let before = (sent - start).0 / Dur::us(500).0;
            Some(acts + TRANSIT - CABLE - FORWARDING + PortSpeed::G100.slot(Bytes(1024)) * before)
        } else {
            None
        }
    });
    sample.done(Dur::ms(801))
}

fn written(observation: &Observation, script: &Script, comments: &[(usize, String)]) -> Vec<u8> {
    let cited: Vec<usize> = comments.iter().map(|(record, _)| *record).collect();
    let mut bytes = Vec::new();
    let written = Evidence::of(observation, script, &cited).write(comments, &mut bytes);
    let written = written.expect("memory has room");
    assert_eq!(written.bytes, u64::try_from(bytes.len()).expect("small"));
    bytes
}

fn to_the_nanosecond(records: &[Record]) -> Vec<Record> {
    let mut records: Vec<Record> = records
        .iter()
        .map(|record| Record { at: Time(record.at.0 / 1_000 * 1_000), ..*record })
        .collect();
    records.sort_by_key(|record| (record.at, record.port, record.dir));
    records
}

#[test]
fn evidence_read_back_is_the_same_to_the_nanosecond() {
    let (observation, script) = trial();
    let bytes = written(&observation, &script, &[]);
    let capture = parse("trial.pcapng", &bytes, ASSUME).expect("reads");
    let mut read = capture.observation.records;
    read.sort_by_key(|record| (record.at, record.port, record.dir));
    assert_eq!(read, to_the_nanosecond(&observation.records));
    let ports = &capture.observation.ports;
    assert_eq!(ports[1].name, "p2");
    assert_eq!((ports[1].dut_port.as_str(), ports[1].speed), ("Ethernet4", PortSpeed::G100));
    let stream = &capture.script.streams[0];
    assert_eq!((stream.from, stream.to, stream.class), (0, 1, CLASS));
    assert_eq!((stream.kind, stream.size), (StreamKind::RoceWrite, Bytes(1024)));
    assert_eq!(capture.observation.integrity, crate::Integrity::default());
    assert_eq!(capture.notes, [""; 0]);
}

#[test]
fn protected_frames_stand_in_the_file_protected_and_a_reader_without_keys_says_so() {
    let (mut observation, mut script) = trial();
    script.macsec = Some(protection(CipherSuite::GcmAes128));
    for (pn, record) in (1..).zip(&mut observation.records) {
        record.secured = Some(Secured { an: 0, pn, encrypted: true, sci: true, tamper: None });
    }
    let bytes = written(&observation, &script, &[]);
    let capture = parse("secured.pcapng", &bytes, ASSUME).expect("reads");
    let read = &capture.observation;
    let all = observation.records.len();
    assert_eq!(
        capture.notes,
        [format!(
            "{all} frames are protected by MACsec (IEEE 802.1AE) and there are no keys here: what they carried is \
             unknown, and nothing is said of streams, PFC and loss among them"
        )]
    );
    let lengths = |records: &[Record]| records.iter().map(Record::on_wire).collect::<Vec<_>>();
    assert_eq!(lengths(&read.records), lengths(&observation.records));
    let found = read.records.iter().filter(|r| !matches!(r.what, crate::What::Other { .. }));
    assert_eq!(
        (found.count(), capture.script.streams.len(), capture.script.storms.len()),
        (0, 0, 0)
    );
}

#[test]
fn the_analysers_say_the_same_of_a_file_as_of_the_trial() {
    let (observation, script) = trial();
    let bytes = written(&observation, &script, &[]);
    let capture = parse("trial.pcapng", &bytes, ASSUME).expect("reads");
    let view = view(WatchdogAction::Drop, Backlog::Drains);
    let both = [(&observation, &script), (&capture.observation, &capture.script)];
    let [live, file] = both.map(|(observation, script)| {
        let storm = coverage(observation, script, 0, CLASS).expect("stormed");
        let acted = fired(observation, script, 0, 0, &view).span().expect("acted");
        let after = Time(storm.pause_end.hi);
        let ended = restored(observation, script, 0, 0, &view, (acted, after)).span();
        (storm.first_xoff, acted, ended.expect("restored"))
    });
    for (live, file) in [(live.0, file.0), (live.1, file.1), (live.2, file.2)] {
        assert!(file.lo <= live.lo && live.hi <= file.hi, "{live:?} {file:?}");
        assert!(file.hi - file.lo <= live.hi - live.lo + 5_000, "{live:?} {file:?}");
    }
}

#[test]
fn a_finding_can_name_its_frame_before_the_file_is_written() {
    let (observation, script) = trial();
    let evidence = Evidence::of(&observation, &script, &[40]);
    assert_eq!(evidence.frame(40), Some(crate::FrameRef(41)));
    assert_eq!(evidence.frame(observation.records.len()), None);
}

#[test]
fn a_file_that_ends_too_early_keeps_what_it_has_and_says_so() {
    let (observation, script) = trial();
    let bytes = written(&observation, &script, &[]);
    let capture = parse("cut.pcapng", &bytes[..bytes.len() / 2], ASSUME).expect("reads");
    let seen = capture.observation.records.len();
    assert!(seen > 100 && seen < observation.records.len());
    let cut = capture.observation.integrity.cut.expect("it was cut");
    assert!(cut.starts_with("the file ends in the middle of the block at byte "), "{cut}");
}

#[test]
fn a_file_that_leaves_frames_out_says_so_to_its_reader() {
    let (mut observation, script) = trial();
    observation.integrity.unrecorded = 7;
    let bytes = written(&observation, &script, &[]);
    let capture = parse("loads.pcapng", &bytes, ASSUME).expect("reads");
    let cut = capture.observation.integrity.cut.expect("it says so");
    assert_eq!(cut, "7 frames were counted and not recorded");

    // 40 000 frames of a load.
    let mut sample = Sample::new();
    sample.storm(Dur::ms(100), Dur::ms(200));
    sample.script.streams[0].rate = StreamRate::Load("1Gbps-L2".parse::<Rate>().expect("a rate"));
    for seq in 0..20_000 {
        let what = crate::What::Data { stream: 0, seq, size: 9022, ce: false };
        let at = Dur::us(20) * u64::from(seq);
        sample.push(at, 0, Dir::Tx, what);
        sample.push(at + Dur::us(2), 1, Dir::Rx, what);
    }
    let (mut observation, script) = sample.done(Dur::ms(400));
    for record in &observation.records.clone() {
        if let crate::What::Data { stream, .. } = record.what {
            observation.loads.saw(record, stream);
        }
    }
    let cited = 1_600;
    let evidence = Evidence::of(&observation, &script, &[cited]);
    let mut bytes = Vec::new();
    let comment = [(cited, "here".to_owned())];
    let written = evidence.write(&comment, &mut bytes).expect("memory has room");
    assert!(written.bytes < 1_500_000 && written.bytes > 400_000, "{written:?}");
    assert!(written.windows > 1 && evidence.frame(cited).is_some());
    let capture = parse("windows.pcapng", &bytes, ASSUME).expect("reads");
    let cut = capture.observation.integrity.cut.expect("it says so");
    assert!(cut.contains(" windows around events; "), "{cut}");
    let said = String::from_utf8_lossy(&bytes);
    let sums = "dir=received window=0 from=0.000000000 frames=20000 bytes=180440000 first=0.000002000 last=0.399982000";
    assert!(said.contains(sums), "what the load came to is told all the same");
}

#[test]
fn a_packed_file_is_read_as_it_is_and_equal_captures_are_equal_bytes() {
    let (observation, script) = trial();
    let pack = || {
        let mut packed = Vec::new();
        let mut zip = Zip::new(&mut packed);
        Evidence::of(&observation, &script, &[]).write(&[], &mut zip).expect("memory");
        let size = zip.finish().expect("memory");
        assert_eq!(size, u64::try_from(packed.len()).expect("small"));
        packed
    };
    let packed = pack();
    // RFC 1952: magic, deflate, no name and no comment, no time, no extra flags, an unknown system.
    assert_eq!(packed[..10], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, packed[8], 255]);
    assert_eq!(packed, pack());
    let plain = written(&observation, &script, &[]);
    assert!(packed.len() * 4 < plain.len(), "{} of {}", packed.len(), plain.len());
    let read = |bytes: &[u8]| parse("a.pcapng.gz", bytes, ASSUME).expect("reads").observation;
    assert_eq!(read(&packed).records, read(&plain).records);
    let cut = read(&packed[..packed.len() / 2]).integrity.cut.expect("it was cut");
    assert!(cut.starts_with("the file ends in the middle of"), "{cut}");
    let wrong = parse("a.gz", &[0x1f, 0x8b, 9, 9, 9], ASSUME).expect_err("broken").to_string();
    assert!(wrong.starts_with("a.gz: byte 0: a broken gzip file ("), "{wrong}");
}

#[test]
fn of_a_frame_of_data_the_headers_are_kept_and_its_length() {
    let (observation, script) = trial();
    let bytes = written(&observation, &script, &[]);
    let frames = raw::pcapng(&bytes).expect("reads").frames;
    let data = frames.iter().filter(|frame| frame.len == 1_020);
    assert!(data.clone().count() > 1_000);
    assert!(data.clone().all(|frame| frame.bytes.len() == 72));
    assert!(frames.iter().filter(|frame| frame.len == 60).all(|frame| frame.bytes.len() == 60));
}

#[test]
fn faults_name_their_place() {
    let (observation, script) = trial();
    let bytes = written(&observation, &script, &[]);
    let first_interface =
        usize::try_from(u32::from_le_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]))
            .expect("small");
    let mut broken = bytes.clone();
    broken[first_interface + 4] = 13;
    let mut token_ring = bytes.clone();
    token_ring[first_interface + 8] = 6;
    let of = |bytes: &[u8]| parse("x.pcapng", bytes, ASSUME).expect_err("broken").to_string();
    let texts = [
        of(&[]),
        of(b"hello, this is not a capture file"),
        of(&bytes[..8]),
        of(&broken),
        of(&token_ring),
    ];
    insta::assert_snapshot!(texts.join("\n"), @r"
    x.pcapng: byte 0: the file is empty
    x.pcapng: byte 0: this is neither a pcapng nor a pcap file
    x.pcapng: byte 0: the file ends in the middle of the block at byte 0
    x.pcapng: byte 156: a broken block (Block: (initial_len % 4) != 0)
    x.pcapng: byte 156: link type IEEE802_5: want Ethernet
    ");
    let missing = read(std::path::Path::new("/nonexistent.pcapng"), ASSUME).expect_err("missing");
    assert!(missing.to_string().starts_with("/nonexistent.pcapng: cannot be read: "), "{missing}");
}

/// A pcap file of the trial's frames without direction, as one interface would have kept them.
fn pcap(observation: &Observation, script: &Script, nanos: bool, ports: &[u16]) -> Vec<u8> {
    let magic: u32 = if nanos { 0xa1b2_3c4d } else { 0xa1b2_c3d4 };
    let mut bytes = magic.to_be_bytes().to_vec();
    bytes.extend([0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x60, 0, 0, 0, 0, 1]);
    let epoch: u32 = 1_795_000_000;
    for record in observation.records.iter().filter(|record| ports.contains(&record.port)) {
        let frame = crate::codec::encode(record, script);
        let unit = if nanos { 1_000 } else { 1_000_000 };
        let part = u32::try_from(record.at.0 % 1_000_000_000_000 / unit).expect("below a second");
        let len = u32::try_from(frame.len()).expect("short");
        for field in [epoch, part, len.min(128), len] {
            bytes.extend(field.to_be_bytes());
        }
        bytes.extend(&frame[..frame.len().min(128)]);
    }
    bytes
}

#[test]
fn frames_that_are_further_apart_than_any_capture_is_long_are_refused() {
    let (observation, script) = trial();
    let bytes = pcap(&observation, &script, false, &[1]);
    // The seconds of the second frame: a record has 16 bytes before its frame, the file 24.
    let first = u32::from_be_bytes(*bytes[32..].first_chunk().expect("a length"));
    let second = 24 + 16 + usize::try_from(first).expect("short");
    let stamped = |second_at: u32| {
        let mut bytes = bytes.clone();
        bytes[second..second + 4].copy_from_slice(&second_at.to_be_bytes());
        parse("jumps.pcap", &bytes, ASSUME)
    };
    const EPOCH: u32 = 1_795_000_000;
    assert!(stamped(EPOCH + 2_591_999).is_ok());
    let late = stamped(EPOCH + 2_592_001).expect_err("a month and more").to_string();
    let want = "jumps.pcap: frame 2 is stamped 2592001s after the first one: want frames of a capture within 2592000s";
    assert!(late.starts_with(want), "{late}");
    // A clock that was set from the year 1970 on: what it had not told before is after all else.
    let early = stamped(1).expect_err("years").to_string();
    assert!(early.contains("is stamped 1794999999s after the first one"), "{early}");
}

#[test]
fn a_pcap_of_headers_only_is_read_and_its_guesses_are_told() {
    let (observation, script) = trial();
    for nanos in [false, true] {
        let bytes = pcap(&observation, &script, nanos, &[1]);
        let capture = parse("switch.pcap", &bytes, ASSUME).expect("reads");
        let read = &capture.observation;
        assert_eq!(read.records[0].at, Time::ZERO, "it starts with its first frame");
        let unit = if nanos { Dur::ns(1) } else { Dur::us(1) };
        assert_eq!(read.ports[0].provenance, Provenance::Hardware { bound: unit });
        let received = observation.records.iter().filter(|r| r.dir == Dir::Rx).count();
        let data = |r: &&Record| matches!(r.what, crate::What::Data { .. });
        assert_eq!(read.records.iter().filter(data).count(), received);
        assert_eq!(capture.notes.len(), 3, "{:?}", capture.notes);
    }
}

/// Five seconds after its clock began as well as fifty years.
#[test]
fn a_capture_of_somebody_elses_begins_with_its_first_frame_whatever_its_clock_says() {
    let (observation, script) = trial();
    let mut bytes = pcap(&observation, &script, true, &[1]);
    let now = parse("now.pcap", &bytes, ASSUME).expect("reads");
    let mut at = 24;
    while at < bytes.len() {
        let frame = usize::try_from(u32::from_be_bytes(*bytes[at + 8..].first_chunk().unwrap()));
        bytes[at..at + 4].copy_from_slice(&5_u32.to_be_bytes());
        at += 16 + frame.expect("short");
    }
    let then = parse("then.pcap", &bytes, ASSUME).expect("reads");
    assert_eq!(then.observation.records[0].at, Time::ZERO);
    assert_eq!(then.observation.length, now.observation.length);
    assert!(then.observation.length < Dur::ms(801), "{}", then.observation.length);
}

#[test]
fn times_that_go_backwards_are_told_with_how_far() {
    let (observation, script) = trial();
    let bytes = pcap(&observation, &script, true, &[1]);
    let first = u32::from_be_bytes(*bytes[32..].first_chunk().expect("a length"));
    let second = 24 + 16 + usize::try_from(first).expect("short");
    let third = second + 16 + usize::try_from(first).expect("short");
    let notes = |back: u32| {
        let mut bytes = bytes.clone();
        let own = |at: usize| u32::from_be_bytes(*bytes[at..].first_chunk().unwrap());
        let stamp = own(second + 4) - back;
        bytes[third + 4..third + 8].copy_from_slice(&stamp.to_be_bytes());
        parse("back.pcap", &bytes, ASSUME).expect("reads").notes
    };
    let told =
        |notes: &[String]| notes.iter().find(|note| note.contains("an earlier time")).cloned();
    assert_eq!(told(&notes(0)), None, "at the same time");
    let one = told(&notes(1)).expect("a nanosecond earlier");
    assert!(one.contains("at their interface: 1, by up to 1ns;"), "{one}");
}

#[test]
fn both_sides_in_one_pcapng_without_directions_give_the_streams_direction() {
    let (observation, script) = trial();
    let mut bytes = written(&observation, &script, &[]);
    // Take the direction away: option 2 of length 4 on every frame.
    let flags = [2_u8, 0, 4, 0];
    let mut taken = 0;
    for at in (0..bytes.len() - 12).step_by(4) {
        if bytes[at..].starts_with(&flags)
            && bytes[at + 8..at + 12] == [0; 4]
            && bytes[at + 5..at + 8] == [0; 3]
        {
            bytes[at + 4] = 0;
            taken += 1;
        }
    }
    assert_eq!(taken, observation.records.len());
    let capture = parse("both.pcapng", &bytes, ASSUME).expect("reads");
    let stream = &capture.script.streams[0];
    assert_eq!((stream.from, stream.to), (0, 1));
    assert_eq!(capture.observation.streams[0].sent, observation.streams[0].sent);
    assert_eq!(capture.observation.streams[0].received, observation.streams[0].received);
    assert!(capture.notes[0].contains("do not tell their direction"), "{:?}", capture.notes);
}

#[test]
fn a_row_of_xoffs_is_found_as_a_storm_with_its_lapses() {
    let mut sample = Sample::new();
    let pause = crate::sample::PAUSE;
    for n in 0..10 {
        sample.pfc(Dur::ms(5) + (pause + pause / 2) * n, 1, Dir::Tx, Quanta::MAX);
    }
    sample.pfc(Dur::ms(50), 1, Dir::Tx, Quanta::MAX);
    sample.probes(Dur::ZERO, Dur::ms(60), |sent| Some(sent + TRANSIT));
    let (observation, script) = sample.done(Dur::ms(60));
    let bytes = written(&observation, &script, &[]);
    let capture = parse("lapses.pcapng", &bytes, ASSUME).expect("reads");
    assert_eq!(capture.script.storms.len(), 1, "a single XOFF is no storm");
    let coverage = coverage(&capture.observation, &capture.script, 0, CLASS).expect("stormed");
    assert_eq!(coverage.lapses.len(), 9);
    assert!((666_000..667_000).contains(&coverage.covered), "{}", coverage.covered);
}

#[test]
fn an_error_of_the_disk_comes_back_as_it_is() {
    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0 == 0 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            let taken = bytes.len().min(self.0);
            self.0 -= taken;
            Ok(taken)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (observation, script) = trial();
    for room in [0, 1, 100, 5_000, 100_000] {
        let error = Evidence::of(&observation, &script, &[]).write(&[], Full(room));
        assert_eq!(error.expect_err("full").kind(), io::ErrorKind::StorageFull, "{room}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_broken_file_makes_it_panic(
        at in any::<prop::sample::Index>(), value in any::<u8>(), more in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..8),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut sample = Sample::new();
        sample.storm(Dur::ms(1), Dur::ms(2));
        sample.probes(Dur::ZERO, Dur::ms(3), |sent| Some(sent + TRANSIT));
        let (observation, script) = sample.done(Dur::ms(3));
        let mut bytes = written(&observation, &script, &[(3, "cited".to_owned())]);
        for (at, value) in more.iter().chain([&(at, value)]) {
            let at = at.index(bytes.len());
            bytes[at] = *value;
        }
        let _ = parse("broken.pcapng", &bytes, ASSUME);
        bytes.truncate(cut.index(bytes.len()));
        let _ = parse("broken.pcapng", &bytes, ASSUME);
    }
}
