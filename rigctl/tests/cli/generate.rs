//! Streams by hand: what they look like in a file, what is refused, and how they behave on a wire.

use crate::support::{Desk, Left, finish, layout};
use pcap_file::pcapng::{Block, PcapNgReader};
use rig_frames::{mac_control, pfc};
use rig_generator::netlab::{End, Namespace, pair};
use rig_generator::port::{Config, Port};
use rig_testcases::wire;
use rig_units::{Dur, Quanta};
use serde_json::Value;
use std::fmt::Write as _;
use std::fs::File;
use std::process::{Command, Stdio};

/// Every frame of a file: its time in nanoseconds, and its bytes.
pub(crate) fn frames(desk: &Desk, name: &str) -> Vec<(u128, Vec<u8>)> {
    let file = File::open(desk.path(name)).expect("a file");
    let mut reader = PcapNgReader::new(file).expect("a pcapng file");
    let mut all = Vec::new();
    while let Some(block) = reader.next_block() {
        if let Block::EnhancedPacket(packet) = block.expect("a whole block") {
            all.push((packet.timestamp.as_nanos(), packet.data.to_vec()));
        }
    }
    all
}

fn dump(frames: &[(u128, Vec<u8>)]) -> String {
    let mut text = String::new();
    for (at, bytes) in frames {
        let _infallible = writeln!(text, "{at} ns, {} bytes", bytes.len());
        for row in bytes.chunks(32) {
            let row: Vec<String> = row.iter().map(|byte| format!("{byte:02x}")).collect();
            let _infallible = writeln!(text, "  {}", row.join(" "));
        }
    }
    text
}

/// Writes a file.
fn write(desk: &Desk, arguments: &str) -> Left {
    let left = desk.rigctl(&format!("gen --to out.pcapng {arguments}"));
    assert_eq!((left.code, left.stderr.as_str()), (0, ""), "{arguments}");
    left
}

#[test]
fn frames_of_every_kind_are_byte_for_byte_what_they_were() {
    let desk = Desk::new();
    let streams = [
        "name=write,kind=roce-write,size=94B,every=1us,count=2,qpn=5,psn=0xffffff,stamp=on",
        "name=send,kind=roce-send,size=64B,every=1us,count=2,start=100ns,dscp=3+4,ecn=ect0+ce",
        "name=plain,kind=udp,size=64B,every=1us,count=2,start=200ns,udp-port=7..8",
        "name=notice,cnp=on,every=1us,count=1,start=300ns,qpn=0x123456",
        "name=storm,pfc=3+4:65535q,count=2,start=400ns,every=1us",
    ];
    let streams: Vec<String> = streams.iter().map(|text| format!("--stream {text}")).collect();
    write(&desk, &format!("--speed 100Gbps {}", streams.join(" ")));
    insta::assert_snapshot!(dump(&frames(&desk, "out.pcapng")));
}

#[test]
fn the_same_flags_give_the_same_file() {
    let desk = Desk::new();
    let flags = "--size 256B --rate 45% --rhythm poisson:7 --count 500 --stamp";
    write(&desk, flags);
    let before = desk.files(".");
    write(&desk, flags);
    assert_eq!(desk.files("."), before);
}

#[test]
fn rates_and_rhythms_are_kept_to_the_nanosecond() {
    let desk = Desk::new();
    let gaps = |arguments: &str| -> Vec<u128> {
        write(&desk, arguments);
        let all = frames(&desk, "out.pcapng");
        all.windows(2).map(|pair| pair[1].0 - pair[0].0).collect()
    };
    // 1044 bytes on the wire at 10 Gb/s are 835.2 ns.
    let even = gaps("--rate 10Gbps-L1 --count 11");
    assert_eq!((even.len(), even.iter().sum::<u128>()), (10, 8_352));
    assert_eq!(gaps("--rate 1024Mbps-L2 --count 3"), [8_000, 8_000]);
    let burst = gaps("--rhythm burst:3,1us,10us --count 6");
    assert_eq!(burst, [1_000, 1_000, 8_000, 1_000, 1_000]);
    assert_eq!(gaps("--rhythm ramp:4us,1us,4 --count 6"), [4_000, 3_000, 2_000, 1_000, 1_000]);
    assert_eq!(gaps("--every 1us --for 4us"), [1_000, 1_000, 1_000]);
    // Half of the pause time: 65535 quanta at 100 Gb/s are 335.539 us.
    assert_eq!(gaps("--pfc 3:65535q --count 2"), [167_769]);
}

#[test]
fn two_streams_share_one_port_and_never_overlap() {
    let desk = Desk::new();
    let stream = "--stream size=1024B,rate=50%,count=100";
    write(&desk, &format!("--speed 10Gbps {stream} {stream}"));
    let all = frames(&desk, "out.pcapng");
    assert_eq!(all.len(), 200);
    // 1024 bytes, preamble and gap at 10 Gb/s, to the nanosecond to which a file is cut.
    assert!(all.windows(2).all(|pair| pair[1].0 - pair[0].0 >= 835), "{all:?}");
}

#[test]
fn the_summary_is_told_to_people_and_to_scripts() {
    let desk = Desk::new();
    let flags = "--every 1us --count 3 --stream cnp=on,every=2us,count=1,name=notice";
    let left = write(&desk, flags);
    insta::assert_snapshot!(left.stdout, @r"
         Sent to out.pcapng for 2us
          Stream 1: roce-write 1024B, class 3: 3 sent, 0 of them more than 10us late, 0 skipped
          Stream notice: cnp 78B, class 6: 1 sent, 0 of them more than 10us late, 0 skipped
    ");
    let left = write(&desk, &format!("{flags} --format json"));
    let report: Value = serde_json::from_str(&left.stdout).expect("JSON");
    assert_eq!(
        (&report["format"], &report["streams"][0]["sent"]),
        (&"rig-gen/1".into(), &3.into())
    );
}

/// Everything that is said of input that is refused.
fn refused(arguments: &str) -> String {
    let desk = Desk::new();
    let left = desk.rigctl(&format!("gen {arguments}"));
    assert_eq!((left.code, left.stdout.as_str()), (2, ""), "{arguments}: {}", left.stderr);
    assert_eq!(desk.files(".").len(), 0, "{arguments}: something was written");
    left.stderr
}

#[test]
fn every_fault_is_told_at_once_with_what_would_be_accepted() {
    let said = refused(
        "--to out.pcapng --kind roce-wirte --size 20KB --rate 10Gbps --dscp 64 --count 0 \
         --stream kind=udp,sise=64B,every=1us,count=1 --stream every=1us,rhythm=saw,count=1",
    );
    insta::assert_snapshot!(said);
}

#[test]
fn what_no_port_can_send_is_refused() {
    for (arguments, want) in [
        ("--to x.pcapng", "no stream"),
        ("--to x.pcapng --every 1us", "want `count` or `for`"),
        ("--to x.pcapng --count 3", "how fast?"),
        ("--to x.pcapng --every 1us --rate 5% --count 3", "want one of them"),
        ("--to x.pcapng --every 10ns --count 3", "more than 100Gbps carries"),
        ("--to x.pcapng --kind udp --pfc 3:1q --count 3", "want one of `kind`, `pfc`"),
        ("--to x.pcapng --cnp --size 64B --every 1us --count 1", "leave `size` out"),
        ("--to x.pcapng --stamp --size 80B --every 1us --count 1", "94B to 9234B"),
        ("--to x.pcapng --rhythm burst:2,1us,9us --every 1us --count 1", "its own gaps"),
        ("--to x.pcapng --stream rate=60%,count=1 --stream rate=60%,count=1", "ask for 120.00%"),
        ("--port no-such-port --every 1us", "want `--speed`"),
        ("--every 1us", "--port <IF>|--to <FILE>"),
    ] {
        let said = refused(arguments);
        assert!(said.contains(want), "{arguments}: {said}");
    }
}

#[test]
fn a_file_that_cannot_be_written_is_told() {
    let desk = Desk::new();
    let left = desk.rigctl("gen --to no/such/folder.pcapng --every 1us --count 1");
    assert_eq!((left.code, left.stdout.as_str()), (4, ""));
    assert!(left.stderr.contains("no/such/folder.pcapng: No such file"), "{}", left.stderr);
}

#[test]
fn tshark_reads_what_was_written() {
    let desk = Desk::new();
    write(&desk, "--every 1us --count 3 --dscp 3+4 --qpn 5..7 --udp-port 50000 --psn 0xfffffe");
    let fields = [
        "ip.dsfield.dscp",
        "udp.srcport",
        "infiniband.bth.destqp",
        "infiniband.bth.psn",
        "frame.len",
    ];
    let mut tshark = Command::new("tshark");
    tshark.arg("-r").arg(desk.path("out.pcapng")).args(["-T", "fields"]);
    tshark.args(fields.iter().flat_map(|field| ["-e", field]));
    let output = match tshark.stdin(Stdio::null()).output() {
        Ok(output) => output,
        Err(error) if std::env::var_os("RIG_REQUIRE_ALL").is_none_or(|all| all != "1") => {
            eprintln!("skipped, tshark does not run here: {error} (apt-get install tshark)");
            return;
        }
        Err(error) => panic!("tshark: {error} (apt-get install tshark)"),
    };
    insta::assert_snapshot!(String::from_utf8_lossy(&output.stdout).replace('\t', " "), @r"
    3 50000 0x000005 16777214 1020
    4 50000 0x000006 16777215 1020
    3 50000 0x000007 0 1020
    ");
}

/// Two namespaces with a pair between them, or `None` with a word on stderr.
pub(crate) fn lab() -> Option<[Namespace; 2]> {
    let made = Namespace::new().and_then(|one| Ok([one, Namespace::new()?]));
    let lab = match made {
        Ok(lab) => lab,
        Err(error)
            if error.is_permission()
                && std::env::var_os("RIG_REQUIRE_ALL").is_none_or(|all| all != "1") =>
        {
            #[expect(clippy::print_stderr, reason = "a skipped test says why")]
            {
                eprintln!("skipped: {error}");
            }
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    let [one, other] =
        [(&lab[0], "v1"), (&lab[1], "v2")].map(|(within, name)| End { within, name });
    pair(one, other, 1_500).expect("a pair");
    Some(lab)
}

/// `rigctl gen --port v1` inside the first namespace, and what it says as JSON; whatever arrives at the far end is handed
/// to `meet`, together with that end.
pub(crate) fn over(
    [near, far]: &[Namespace; 2],
    arguments: &str,
    mut meet: impl FnMut(&mut Port, usize),
) -> (i32, Value) {
    let mut far = far.run(|| Port::open(&Config::new("v2"))).expect("inside").expect("a port");
    let desk = Desk::new();
    let mut command = desk.command(env!("CARGO_BIN_EXE_rigctl"));
    command.args(["gen", "--port", "v1", "--format", "json"]).args(arguments.split_whitespace());
    let mut child = near.run(|| command.spawn()).expect("inside").expect("rigctl starts");
    while child.try_wait().expect("a child").is_none() {
        far.rx.wait(Dur::ms(5)).expect("up");
        let got = far.rx.poll(&mut |_, _| {}).expect("up");
        meet(&mut far, got);
    }
    let left = finish(child);
    let report = serde_json::from_str(&left.stdout);
    (left.code, report.unwrap_or_else(|why| panic!("{why}: {left:?}")))
}

#[test]
fn what_is_sent_arrives_and_is_accounted_for() {
    let Some(lab) = lab() else { return };
    let mut arrived = 0;
    let flags = "--speed 10Gbps --every 100us --count 300 --stamp";
    let (code, report) = over(&lab, flags, |_, got| arrived += got);
    assert_eq!(code, 0, "{report}");
    let stream = &report["streams"][0];
    let of = |key: &str| stream[key].as_u64().expect("a number");
    assert_eq!((of("sent") + of("skipped"), report["wire"]["lost"].as_u64()), (300, Some(0)));
    assert_eq!(arrived as u64, of("sent"));
    assert!(report["wire"]["floor_error"]["max"].as_u64() > Some(0));
}

#[test]
fn a_paused_stream_stands_still_and_ends_on_the_wall_clock_all_the_same() {
    let Some(lab) = lab() else { return };
    let mut paused = false;
    let flags = "--speed 100Mbps --every 1ms --for 300ms";
    let (code, report) = over(&lab, flags, |far, got| {
        if got > 0 && !paused {
            // 336 ms at this speed.
            let pfc = pfc::Repr::all(1 << 3, Quanta::MAX);
            let frame = mac_control::frame_pfc(wire::dut_mac(0), &pfc);
            let mut slot = far.tx.alloc().expect("a slot");
            far.tx.bytes(&mut slot)[..frame.len()].copy_from_slice(&frame);
            far.tx.stage(slot, frame.len());
            far.tx.publish();
            far.tx.kick().expect("up");
            paused = true;
        }
    });
    assert_eq!(code, 0, "{report}");
    assert_eq!(report["paused"][0]["class"], 3, "{report}");
    let ms = |ns: &Value| ns.as_u64().expect("a time") / 1_000_000;
    let (held, took) = (ms(&report["paused"][0]["ns"]), ms(&report["took_ns"]));
    let sent = report["streams"][0]["sent"].as_u64().expect("a number");
    // From the first frame on, give or take how late either process looked.
    assert!(held > 100 && held <= took && sent < 200, "{report}");
    assert!((300..2_000).contains(&took), "{report}");
}

#[test]
fn an_endless_stream_ends_with_ctrl_c_and_its_summary() {
    let Some(lab) = lab() else { return };
    let desk = Desk::new();
    let mut command = desk.command(env!("CARGO_BIN_EXE_rigctl"));
    command.args(["gen", "--port", "v1", "--speed", "10Gbps", "--every", "1ms"]);
    let mut far = lab[1].run(|| Port::open(&Config::new("v2"))).expect("inside").expect("a port");
    let child = lab[0].run(|| command.spawn()).expect("inside").expect("rigctl starts");
    assert!(far.rx.wait(Dur::s(20)).expect("up"), "it sends");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill").success());
    let left = finish(child);
    assert_eq!(left.code, 0, "{left:?}");
    assert!(left.stdout.contains("then interrupted"), "{}", layout(&left.stdout));
}
