//! What the rig writes, read by programs that nobody here wrote: tshark and Scapy.
//!
//! Where one of them is missing its tests say so and pass; with `RIG_REQUIRE_ALL=1`, as in CI, they fail.

mod blue_rdma;
mod corpus;
mod macsec;
mod scapy;
mod tshark;

use std::process::Command;

/// What a program prints of a capture of `frames`, one line a frame; `None` when the program is missing here.
fn read(
    frames: &[Vec<u8>],
    program: &str,
    args: impl FnOnce(&str) -> Vec<String>,
) -> Option<Vec<String>> {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), pcap(frames)).unwrap();
    let args = args(file.path().to_str().unwrap());
    let output = Command::new(program).args(args).output();
    let missing = match output {
        Ok(output) if output.status.success() => {
            return Some(
                String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect(),
            );
        }
        Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
        Err(missing) => missing.to_string(),
    };
    let absent = missing.contains("No such file") || missing.contains("No module named");
    let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
    assert!(absent && !required, "{program}: {missing}");
    #[expect(clippy::print_stderr, reason = "a skipped test says why")]
    {
        eprintln!("skipped, {program} does not run here: {missing}");
    }
    None
}

/// A capture file: nanosecond magic, version 2.4, link type Ethernet.
fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let header: [u32; 6] = [0xa1b2_3c4d, 0x0004_0002, 0, 0, 0x0004_0000, 1];
    let mut file: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    for (at, frame) in (0_u32..).zip(frames) {
        let len = u32::try_from(frame.len()).unwrap();
        file.extend([0, at, len, len].iter().flat_map(|word| word.to_le_bytes()));
        file.extend(frame);
    }
    file
}

/// Fails on the first frames that were read otherwise than they were meant, and shows them.
fn compare(want: &[String], got: &[String]) {
    let wrong = want.iter().zip(got).filter(|(want, got)| want != got);
    let shown: Vec<String> =
        wrong.take(3).map(|(want, got)| format!("meant {want}\n read {got}")).collect();
    assert!(shown.is_empty(), "{}", shown.join("\n"));
    assert_eq!(want.len(), got.len(), "frames meant and frames read");
}
