//! tshark reads an evidence file: whole frames, the right interfaces, instants, directions and comments; and a capture to
//! disk with frames that are cut.
//!
//! Without tshark the tests say so and pass; with `RIG_REQUIRE_ALL=1` they fail.

use rig_capture::deep::{Capture, Interface, Limit, Only, Pool, Settings};
use rig_capture::pcapng::Evidence;
use rig_capture::{Dir, Integrity, Observation, Record, What};
use rig_testcases::{
    CipherSuite, Form, Keys, Protection, Script, Secret, Secured, StormSpec, StreamKind, StreamSpec,
};
use rig_units::{Bytes, Dur, PortSpeed, Quanta, Time};
use std::path::Path;
use std::process::Command;

/// tshark's answer for `file`, one line a frame, the fields apart by tabs; `None` when there is no tshark.
fn tshark(file: &Path, more: &[&str]) -> Option<Vec<String>> {
    let run = Command::new("tshark").arg("-r").arg(file).args(more).output();
    let output = match run {
        Ok(output) => output,
        Err(error) if std::env::var_os("RIG_REQUIRE_ALL").is_none_or(|all| all != "1") => {
            #[expect(clippy::print_stderr, reason = "a skipped test says why")]
            {
                eprintln!("skipped, tshark does not run here: {error} (apt-get install tshark)");
            }
            return None;
        }
        Err(error) => panic!("tshark: {error} (apt-get install tshark)"),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("tshark writes UTF-8");
    Some(text.lines().map(str::to_owned).collect())
}

/// A stream of each kind, PFC both ways and something else, over three ports.
fn trial() -> (Observation, Script) {
    let kinds = [StreamKind::RoceWrite, StreamKind::RoceSend, StreamKind::Udp];
    let stream = |(n, kind): (u16, StreamKind)| StreamSpec {
        name: format!("s{n}"),
        kind,
        size: Bytes(1024),
        ..StreamSpec::probe(n, (n + 1) % 3)
    };
    let storm = StormSpec { name: "storm".to_owned(), ..StormSpec::steady(1) };
    let script = Script {
        streams: (0..).zip(kinds).map(stream).collect(),
        storms: vec![storm],
        length: Dur::ms(1_500),
        ..Script::idle(3)
    };
    let mut quanta = [Quanta(0); 8];
    quanta[3] = Quanta::MAX;
    let mut records = Vec::new();
    for n in 0..300_u32 {
        let sent = Time(5_000_123_456 * u64::from(n));
        let stream = u16::try_from(n % 3).expect("small");
        let least = if stream < 2 { 78 } else { 64 };
        let size = least + u16::try_from(n / 3).expect("small") * [1, 90][usize::from(n > 200)];
        let what = What::Data { stream, seq: n + (1 << 24) - 150, size, ce: n % 7 == 0 };
        let (from, to) = (stream, (stream + 1) % 3);
        records.push(Record {
            secured: None,
            vlan: None,
            at: sent,
            port: from,
            dir: Dir::Tx,
            what,
        });
        records.push(Record {
            secured: None,
            vlan: None,
            at: sent + Dur::us(2),
            port: to,
            dir: Dir::Rx,
            what,
        });
        let xoff = What::Pfc { enable: 8, quanta };
        records.push(Record {
            secured: None,
            vlan: None,
            at: sent + Dur::us(3),
            port: 1,
            dir: Dir::Tx,
            what: xoff,
        });
        let what = if n % 2 == 0 { xoff } else { What::Other { size: Bytes(200) } };
        records.push(Record {
            secured: None,
            vlan: None,
            at: sent + Dur::us(4),
            port: 0,
            dir: Dir::Rx,
            what,
        });
    }
    let integrity = Integrity { unrecorded: 5, ..Integrity::default() };
    let observation = Observation { records, integrity, ..Observation::quiet(&script) };
    (observation, script)
}

#[test]
fn tshark_sees_what_was_recorded() {
    let (observation, script) = trial();
    let comments = [(4, "pfcwd.action: want none, got this".to_owned()), (4, "again".to_owned())];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("trial.pcapng");
    let file = std::fs::File::create(&path).expect("a new file");
    let evidence = Evidence::of(&observation, &script, &[4]);
    let written = evidence.write(&comments, file).expect("room on the disk");
    assert_eq!(written.bytes, std::fs::metadata(&path).expect("there").len());

    let Some(broken) = tshark(&path, &["-Y", "_ws.malformed || _ws.expert.severity >= 0x600000"])
    else {
        return;
    };
    assert_eq!(broken, [""; 0], "tshark finds malformed frames");
    let fields = [
        "frame.time_epoch",
        "frame.interface_name",
        "frame.packet_flags_direction",
        "frame.len",
        "frame.cap_len",
        "infiniband.bth.psn",
        "macc.cbfc.enbv",
        "frame.comment",
    ];
    let names: Vec<&str> =
        ["-T", "fields"].into_iter().chain(fields.iter().flat_map(|field| ["-e", field])).collect();
    let lines = tshark(&path, &names).unwrap_or_default();
    assert_eq!(lines.len(), observation.records.len());
    for (index, (line, record)) in lines.iter().zip(&observation.records).enumerate() {
        let line: Vec<&str> = line.split('\t').collect();
        let ns = record.at.0 / 1_000;
        assert_eq!(line[0], format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000));
        assert_eq!(line[1], script.ports[usize::from(record.port)]);
        let direction = if record.dir == Dir::Rx { 1 } else { 2 };
        assert!(line[2].ends_with(&direction.to_string()), "{line:?}");
        assert_eq!(line[3], (record.what.size().0 - 4).to_string());
        let [whole, kept] = [line[3], line[4]].map(|size| size.parse::<u64>().expect("a number"));
        // Payload without sense is cut; what says something is there to its last byte.
        assert!(kept <= whole && kept >= 54, "{line:?}");
        assert!(kept == whole || matches!(record.what, What::Data { .. }), "{line:?}");
        match record.what {
            What::Data { stream, seq, .. } if stream < 2 => {
                assert_eq!(line[5], (seq & 0xff_ffff).to_string(), "{line:?}");
            }
            What::Pfc { .. } => assert_eq!(line[6], "0x0008", "{line:?}"),
            _ => assert_eq!((line[5], line[6]), ("", "")),
        }
        assert_eq!(line[7].contains("pfcwd.action"), index == 4, "{line:?}");
    }
}

#[test]
fn tshark_sees_the_tags_of_protected_frames() {
    let (mut observation, mut script) = trial();
    let secret = |byte: &str, len| Secret::from_hex(&byte.repeat(len)).expect("hexadecimal digits");
    let keys =
        Keys { saks: ["01", "02", "03", "04"].map(|sak| secret(sak, 16)), salt: secret("05", 12) };
    let suite = CipherSuite::GcmAes128;
    let (encrypt, sci, an, next_pn, pfc) = (true, true, 2, 1, Form::Encrypted);
    script.macsec = Some(Protection { suite, encrypt, sci, an, next_pn, pfc, keys });
    for (pn, record) in (1..).zip(&mut observation.records) {
        let sci = pn % 3 > 0;
        record.secured = Some(Secured { an: 2, pn, encrypted: true, sci, tamper: None });
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("secured.pcapng");
    let file = std::fs::File::create(&path).expect("a new file");
    Evidence::of(&observation, &script, &[]).write(&[], file).expect("room on the disk");
    let Some(broken) = tshark(&path, &["-Y", "_ws.malformed || _ws.expert.severity >= 0x600000"])
    else {
        return;
    };
    assert_eq!(broken, [""; 0], "tshark finds malformed frames");
    let fields =
        ["macsec.AN", "macsec.PN", "macsec.TCI.E", "macsec.SCI.system_identifier", "frame.len"];
    let names: Vec<&str> =
        ["-T", "fields"].into_iter().chain(fields.iter().flat_map(|field| ["-e", field])).collect();
    let lines = tshark(&path, &names).unwrap_or_default();
    assert_eq!(lines.len(), observation.records.len());
    for (line, record) in lines.iter().zip(&observation.records) {
        let line: Vec<&str> = line.split('\t').collect();
        let secured = record.secured.expect("all are protected");
        let mac = match record.dir {
            Dir::Tx => rig_testcases::wire::rig_mac(record.port),
            Dir::Rx => rig_testcases::wire::dut_mac(record.port),
        };
        let mac = if secured.sci { mac.to_string() } else { String::new() };
        assert_eq!(
            line[1..],
            [secured.pn.to_string(), "1".into(), mac, (record.on_wire().0 - 4).to_string()]
        );
        assert!(["2", "0x02"].contains(&line[0]), "{line:?}");
    }
}

#[test]
fn tshark_sees_the_frames_of_a_capture_to_disk_and_how_long_they_were() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("deep.pcapng");
    let port = |name: &str| Interface {
        name: name.to_owned(),
        description: "Ethernet0".to_owned(),
        speed: PortSpeed::G10,
        clock: "a clock in a test".to_owned(),
    };
    let settings = Settings {
        about: "a test".to_owned(),
        interfaces: vec![port("p1"), port("p2")],
        only: Only::ALL,
        snap: Some(Bytes(64)),
        limit: Limit::NONE,
        burst: 64,
        chunks: 2,
        pool: Pool::default(),
    };
    let file = std::fs::File::create(&path).expect("a new file");
    let mut capture = Capture::begin(file, &settings).expect("room on the disk");
    let (_, script) = trial();
    let frame = rig_testcases::wire::data(&script.streams[0], 0, 77, Bytes(1024), false);
    capture.wrote(1, &frame);
    capture.sent(Time::ZERO + Dur::ns(6_000_000_123));
    let mut quanta = [Quanta(0); 8];
    quanta[3] = Quanta::MAX;
    let pfc = rig_testcases::wire::pfc(rig_testcases::wire::dut_mac(0), 8, quanta);
    capture.received(0, Time::ZERO + Dur::ns(6_000_002_123), &pfc);
    capture.missed(0, 4);
    let summary = capture.finish();
    assert_eq!((summary.counts.recorded, summary.ended), (2, None));

    let fields = [
        "frame.time_epoch",
        "frame.interface_name",
        "frame.packet_flags_direction",
        "frame.len",
        "frame.cap_len",
        "infiniband.bth.psn",
    ];
    let names = fields.iter().flat_map(|field| ["-e", field]);
    let names: Vec<&str> = ["-T", "fields"].into_iter().chain(names).collect();
    let Some(lines) = tshark(&path, &names) else { return };
    let lines: Vec<Vec<&str>> = lines.iter().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0][..2], ["6.000000123", "p2"]);
    assert_eq!(
        lines[0][3..],
        ["1020", "64", "77"],
        "the transport header is within the snap length"
    );
    assert_eq!(lines[1][..2], ["6.000002123", "p1"]);
    assert_eq!(lines[1][3..5], ["60", "60"]);
    let directions = [lines[0][2], lines[1][2]].map(|direction| direction.chars().last());
    assert_eq!(directions, [Some('2'), Some('1')]);
}
