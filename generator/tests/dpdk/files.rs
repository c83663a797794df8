//! DPDK's capture files in place of a wire: what was sent is in one, and what another holds arrives.

use crate::alone::{alone, config};
use crate::lab::{numbered, pfc, receive, send};
use rig_generator::port::Port;
use std::fs;
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}.pcap", std::process::id()))
}

fn open(device: &str, longest: usize) -> Port {
    Port::open(&config("net_pcap0", &[device], longest)).unwrap_or_else(|error| panic!("{error}"))
}

/// The frames in a capture file that was written on a machine like this one.
fn frames(pcap: &[u8]) -> Vec<Vec<u8>> {
    let word = |at: usize| u32::from_ne_bytes(pcap[at..at + 4].try_into().expect("4 B")) as usize;
    let (mut at, mut all) = (24, Vec::new());
    while at < pcap.len() {
        let (kept, len) = (word(at + 8), word(at + 12));
        assert_eq!(kept, len, "nothing is cut off");
        all.push(pcap[at + 16..at + 16 + len].to_vec());
        at += 16 + len;
    }
    all
}

/// A capture file of `frames`, a microsecond apart.
fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut pcap = Vec::new();
    let words = |pcap: &mut Vec<u8>, all: &[u32]| {
        all.iter().for_each(|word| pcap.extend(word.to_ne_bytes()));
    };
    words(&mut pcap, &[0xa1b2_c3d4, 0x0004_0002, 0, 0, 65_535, 1]);
    for (us, frame) in (0..).zip(frames) {
        let len = u32::try_from(frame.len()).expect("a frame");
        words(&mut pcap, &[0, us, len, len]);
        pcap.extend(frame);
    }
    pcap
}

fn some() -> Vec<Vec<u8>> {
    let lengths = [60, 64, 1_082, 2_106, 4_170, 9_014];
    core::iter::once(pfc()).chain(lengths.map(|len| numbered(len, 7))).collect()
}

#[test]
fn what_is_sent_is_in_the_file() {
    if !alone("files::what_is_sent_is_in_the_file") {
        return;
    }
    let path = file("sent");
    let mut port = open(&format!("--vdev=net_pcap0,tx_pcap={}", path.display()), 9_014);
    assert_eq!(send(&mut *port.tx, some().iter().map(Vec::as_slice)), 0);
    drop(port);
    let written = fs::read(&path).expect("a file");
    fs::remove_file(&path).expect("its file");
    assert_eq!(frames(&written), some());
}

#[test]
fn a_frame_longer_than_its_buffers_arrives_in_one_piece() {
    if !alone("files::a_frame_longer_than_its_buffers_arrives_in_one_piece") {
        return;
    }
    let path = file("received");
    fs::write(&path, pcap(&some())).expect("a file");
    // Buffers of 2 KiB: the longer ones of these frames take several each.
    let mut port = open(&format!("--vdev=net_pcap0,rx_pcap={}", path.display()), 1_514);
    let got = receive(&mut *port.rx, some().len());
    fs::remove_file(&path).expect("its file");
    assert!(got.iter().map(|(bytes, _)| bytes).eq(&some()));
}
