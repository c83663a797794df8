//! Building a RoCEv2 frame with its ICRC, and giving one that was built its next packet sequence number, beside copying
//! one of the same size; and the ICRC alone.

use super::rounds::{FORMAT, Rounds, SHARED, timed};
use core::fmt;
use rig_frames::ip::{Dscp, Ecn};
use rig_frames::packet::{Path, RoceFrame};
use rig_frames::psn::Psn;
use rig_frames::roce::{Ext, Opcode, Qpn, bth, reth};
use rig_frames::{MacAddr, ethernet, icrc, ipv4};
use rig_units::{Bytes, Dur};
use serde::Serialize;
use std::hint::black_box;
use std::net::Ipv4Addr;

const ROUNDS: usize = 9;
/// Frames in a round.
const FRAMES: u32 = 50_000;
const SIZES: [u64; 2] = [1_024, 4_096];
const RATIO: u64 = 100;
/// Where the sequence number of an untagged frame over IPv4 stands.
const PSN: std::ops::Range<usize> = 51..54;

/// What was measured.
#[derive(Debug, Serialize)]
pub(super) struct Frames {
    format: &'static str,
    bench: &'static str,
    rounds: usize,
    frames_a_round: u32,
    sizes: Vec<Measured>,
}

/// One size. Times are picoseconds a frame.
#[derive(Debug, Serialize)]
struct Measured {
    /// FCS counted.
    bytes: u64,
    build_ps: Rounds,
    /// A new sequence number in a frame that exists, its ICRC kept right: what sending costs.
    renumber_ps: Rounds,
    copy_ps: Rounds,
    icrc_ps: Rounds,
    /// Time to build against time to copy within one round, in hundredths.
    build_to_copy_percent: Rounds,
    /// Time to renumber against time to copy within one round, in hundredths.
    renumber_to_copy_percent: Rounds,
}

pub(super) fn run() -> Frames {
    Frames {
        format: FORMAT,
        bench: "frames",
        rounds: ROUNDS,
        frames_a_round: FRAMES,
        sizes: SIZES.into_iter().map(measure).collect(),
    }
}

fn measure(size: u64) -> Measured {
    let frame = frame(Bytes(size));
    let bytes = frame.emit();
    let packet = &bytes[ethernet::LEN..bytes.len() - icrc::LEN];
    let mut out = Vec::with_capacity(bytes.len());
    let psn = icrc::Field::new(&bytes, PSN).expect("a frame with an ICRC");
    let mut sent = bytes.clone();
    let mut rounds: [Vec<u64>; 6] = [const { Vec::new() }; 6];
    for _ in 0..ROUNDS {
        let ((), build) = timed(|| {
            for psn in 0..FRAMES {
                out.clear();
                let bth = bth::Repr { psn: Psn::new(psn), ..frame.bth };
                RoceFrame { bth, ..frame }.emit_into(&mut out);
                black_box(&out);
            }
        });
        let ((), renumber) = timed(|| {
            for number in 0..FRAMES {
                psn.set(&mut sent, &number.to_be_bytes()[1..]);
                black_box(&sent);
            }
        });
        let ((), copy) = timed(|| {
            for _ in 0..FRAMES {
                out.clear();
                out.extend_from_slice(black_box(&bytes));
                black_box(&out);
            }
        });
        let ((), crc) = timed(|| {
            for _ in 0..FRAMES {
                let _crc = black_box(icrc::of(black_box(packet)));
            }
        });
        let each = |took: Dur| took.0 / u64::from(FRAMES);
        let to_copy = |took: Dur| took.0.saturating_mul(RATIO) / copy.0.max(1);
        let times = [build, renumber, copy, crc].map(each);
        let ratios = [build, renumber].map(to_copy);
        for (all, one) in rounds.iter_mut().zip(times.into_iter().chain(ratios)) {
            all.push(one);
        }
    }
    assert_eq!(icrc::holds(&sent), Ok(true), "the ICRC follows the sequence number");
    let [build_ps, renumber_ps, copy_ps, icrc_ps, build_to_copy_percent, renumber_to_copy_percent] =
        rounds.map(Rounds::of);
    Measured {
        bytes: size,
        build_ps,
        renumber_ps,
        copy_ps,
        icrc_ps,
        build_to_copy_percent,
        renumber_to_copy_percent,
    }
}

/// An RDMA WRITE of that size.
fn frame(size: Bytes) -> RoceFrame {
    let host = |n: u8| (MacAddr([2, 0, 0, 1, 0, n]), Ipv4Addr::new(10, 0, n, 1));
    let ((src, from), (dst, to)) = (host(1), host(2));
    let dscp = Dscp::new(3).expect("a DSCP has six bits");
    let ip = ipv4::Repr { ecn: Ecn::Ect0, ..ipv4::Repr::udp(from, to, dscp) };
    let qpn = Qpn::new(0x100).expect("a queue pair has 24 bits");
    let bth = bth::Repr::new(Opcode::RcWriteOnly, qpn, Psn::new(0));
    let write = reth::Repr { virtual_address: 0x1000, rkey: 0x100, dma_len: 0 };
    let frame = RoceFrame::new(Path::v4(src, dst, ip), bth, Ext::Reth(write));
    frame.sized(size).expect("a size that IP can have")
}

impl fmt::Display for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:>12} CPU time a frame, {ROUNDS} rounds of {FRAMES} frames: median (least to greatest)",
            "Bench"
        )?;
        for of in &self.sizes {
            let size = format!("{}B", of.bytes);
            writeln!(
                f,
                "{size:>12} build {}, renumber {}, copy {}, ICRC alone {}",
                time(&of.build_ps),
                time(&of.renumber_ps),
                time(&of.copy_ps),
                time(&of.icrc_ps)
            )?;
            for (what, ratio) in [
                ("building", &of.build_to_copy_percent),
                ("renumbering", &of.renumber_to_copy_percent),
            ] {
                let Rounds { median, min, max } = *ratio;
                writeln!(
                    f,
                    "{:>12} {what} takes {} ({} to {}) times as long as copying within one round",
                    "",
                    times(median),
                    times(min),
                    times(max)
                )?;
            }
        }
        writeln!(f, "{:>12} {SHARED}", "Note")
    }
}

fn time(Rounds { median, min, max }: &Rounds) -> String {
    format!("{}ns ({} to {})", median / 1_000, min / 1_000, max / 1_000)
}

fn times(percent: u64) -> String {
    format!("{}.{:02}", percent / RATIO, percent % RATIO)
}
