//! Captures to disk: what is refused, and what is in the file of a stream by hand.

use crate::generate::{frames, lab, over};
use crate::support::{Desk, STORM, suite};

const VETH: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../lab-configs/veth.yaml");

#[test]
fn what_cannot_be_captured_is_refused_with_what_would_be_accepted() {
    let desk = Desk::new();
    desk.write("taken", "a file");
    let measure = "    measure:\n      - pfcwd.detection: {storm: storm, stream: victim}\n";
    desk.write("one.yaml", &suite(&format!("{STORM}{measure}")));
    for (arguments, wants) in [
        (
            "run one.yaml --capture DIR --out out".to_owned(),
            ["virtual time", "want: `--evidence all`"],
        ),
        (
            format!("run one.yaml --lab {VETH} --capture taken --out out"),
            ["`--capture taken` is there, and no folder", "want: "],
        ),
        ("run --capture-snap 128B --out out".to_owned(), ["required", "--capture <DIR>"]),
        ("run --capture DIR --capture-snap 13B --out out".to_owned(), ["13B", "want 14B"]),
        ("run --capture DIR --capture-limit 2 --out out".to_owned(), ["`2` is not a size", "GB"]),
        (
            "run one.yaml --capture DIR --capture-only rdma --out out".to_owned(),
            ["rdma", "pfc, data, other"],
        ),
        (
            "gen --to a.pcapng --capture b.pcapng --every 1us --count 1".to_owned(),
            ["--to", "cannot"],
        ),
        (
            "gen --port lo --speed 1Gbps --every 1ms --count 1 --capture no/such.pcapng".to_owned(),
            ["no/such.pcapng`: No such file", "want: "],
        ),
    ] {
        let left = desk.rigctl(&arguments);
        assert_eq!((left.code, left.stdout.as_str()), (2, ""), "{arguments}: {}", left.stderr);
        for want in wants {
            assert!(left.stderr.contains(want), "{arguments}: {}", left.stderr);
        }
        assert_eq!(desk.files(".").len(), 2, "{arguments}: something was written");
    }
}

#[test]
fn a_capture_of_a_stream_by_hand_has_every_frame_both_ways() {
    let Some(lab) = lab() else { return };
    let desk = Desk::new();
    let file = desk.path("wire.pcapng");
    let flags = format!(
        "--speed 10Gbps --every 100us --count 300 --stamp --capture {} --capture-snap 100B",
        file.display()
    );
    let (code, report) = over(&lab, &flags, |far, got| {
        for _ in 0..got {
            let Some(mut slot) = far.tx.alloc() else { break };
            far.tx.bytes(&mut slot)[..60].fill(0x22);
            far.tx.stage(slot, 60);
        }
        far.tx.publish();
        far.tx.kick().expect("up");
    });
    assert_eq!(code, 0, "{report}");
    let of = |key: &str| report["capture"][key].as_u64().expect("a number");
    assert_eq!(of("sent"), report["streams"][0]["sent"].as_u64().expect("a number"));
    assert_eq!(of("received"), report["wire"]["received"].as_u64().expect("a number"));
    assert!(of("sent") > 0 && of("received") > 0, "{report}");
    assert_eq!(of("recorded") + of("dropped"), of("sent") + of("received"), "{report}");
    assert_eq!(
        report["capture"]["lacks"].as_array().is_some_and(Vec::is_empty),
        of("dropped") + of("missed") == 0
    );
    let all = frames(&desk, "wire.pcapng");
    assert_eq!(all.len() as u64, of("recorded"));
    // 1020 bytes without FCS, cut; and what came back.
    let long = all.iter().filter(|(_, bytes)| bytes.len() == 100).count();
    assert_eq!((long as u64, of("cut_short")), (of("sent"), of("sent")));
    let back = all.iter().filter(|(_, bytes)| bytes[..] == [0x22; 60]).count();
    assert!(back > 0, "{report}");
    let gaps: Vec<u128> = all
        .iter()
        .filter(|(_, bytes)| bytes.len() == 100)
        .map(|&(at, _)| at)
        .collect::<Vec<_>>()
        .windows(2)
        .map(|pair| pair[1] - pair[0])
        .collect();
    let mean = gaps.iter().sum::<u128>() / gaps.len() as u128;
    // 100 us, more where some were skipped, and less by how late the first one was.
    assert!(mean >= 80_000, "{mean}");
}
