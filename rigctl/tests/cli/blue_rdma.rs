//! A capture of NICs of blue-rdma, with faults that are known, told exactly; and the same headers as a user sees them.

use crate::support::Desk;
use rig_frames::blue_rdma::{Author, Ext, Header, ack, bth, rreth};
use rig_frames::ethernet::{self, ethertype};
use rig_frames::ip::Dscp;
use rig_frames::psn::Psn;
use rig_frames::roce::{Opcode, Qpn, reth};
use rig_frames::{MacAddr, ipv4, udp};
use serde_json::{Value, json};

/// The packets of a WRITE of 1 KiB each, and a request for a READ behind them.
const PACKETS: u32 = 130;

/// A frame from host 1 to host 2, or back, with so many bytes of payload.
fn frame(back: bool, header: &Header, payload: usize) -> Vec<u8> {
    let (src, dst) = if back { (2, 1) } else { (1, 2) };
    let mut bytes = header.emit();
    bytes.resize(bytes.len() + payload, 0);
    let link = ethernet::Repr {
        dst: MacAddr([2, 0, 0, 0, 0, dst]),
        src: MacAddr([2, 0, 0, 0, 0, src]),
        ethertype: ethertype::IPV4,
    };
    let ip = ipv4::Repr::udp([10, 0, 0, src].into(), [10, 0, 0, dst].into(), Dscp::default());
    let src_port = if back { 4791 } else { 0x301 };
    let udp = udp::Repr { src_port, dst_port: udp::ROCE_PORT, checksum: udp::Checksum::Zero };
    let mut frame = link.emit().to_vec();
    frame.extend(ip.emit(udp::LEN + bytes.len()));
    frame.extend(udp.emit(bytes.len()));
    frame.extend(bytes);
    frame
}

fn header(opcode: Opcode, to: u32, psn: u32, ext: Ext) -> Header {
    let bth = bth::Repr {
        opcode,
        solicited: false,
        is_retry: false,
        msn: 1,
        dest_qp: Qpn::new(to).expect("24 bits"),
        ack_req: false,
        psn: Psn::new(psn),
    };
    Header { bth, ext, author: Author::Hardware }
}

/// Packet `psn` of the message, sent again or not.
fn write(psn: u32, is_retry: bool) -> Vec<u8> {
    let (opcode, dma_len) = match psn {
        0 => (Opcode::RcWriteFirst, PACKETS * 1024),
        last if last == PACKETS - 1 => (Opcode::RcWriteLast, 1024),
        _ => (Opcode::RcWriteMiddle, 1024),
    };
    let virtual_address = 0x7000_0000 + u64::from(psn) * 1024;
    let reth = reth::Repr { virtual_address, rkey: 0x11, dma_len };
    let Header { bth, ext, author } = header(opcode, 0x402, psn, Ext::Reth(reth));
    let bth = bth::Repr { is_retry, ack_req: psn == PACKETS - 1, ..bth };
    frame(false, &Header { bth, ext, author }, 1024)
}

fn said(psn: u32, author: Author, ack: ack::Repr) -> Vec<u8> {
    let header = header(Opcode::RcAcknowledge, 0x301, psn, Ext::Ack(ack));
    frame(true, &Header { author, ..header }, 0)
}

/// Packet 5 is lost, 9 comes behind 10, 40 comes twice; hardware tells of 5 when 128 moves the window, and of `also` as if it had not come. All is
/// sent again, the driver acknowledges, one packet was marked on its way, and a READ of 64 bytes is asked for.
fn capture(also: Option<u32>) -> Vec<Vec<u8>> {
    let (lost, moved, by_driver) = (true, true, false);
    let before = also.map_or(u128::MAX, |also| u128::MAX ^ (1 << also)) ^ (1 << 5);
    let now = (before >> 16) | (1 << 112);
    let told = ack::Repr { before, now, lost, moved, by_driver, before_psn: Psn::new(112) };
    let done = ack::Repr {
        before: 0,
        now: u128::MAX,
        lost: false,
        moved: false,
        by_driver: true,
        before_psn: Psn::new(0),
    };
    let mut all: Vec<Vec<u8>> =
        (0..=128).filter(|&psn| psn != 5).map(|psn| write(psn, false)).collect();
    all.swap(8, 9);
    all.insert(39, write(40, false));
    all.push(said(128, Author::Hardware, told));
    all.push(write(129, false));
    all.push(frame(true, &header(Opcode::Cnp, 0x301, 0, Ext::None), 0));
    all.extend((0..PACKETS).map(|psn| write(psn, true)));
    // The driver leaves the checksum of IPv4 as it is: zero.
    let mut acknowledged = said(PACKETS, Author::Driver, done);
    acknowledged[24..26].fill(0);
    all.push(acknowledged);
    let reth = reth::Repr { virtual_address: 0x7000_0000, rkey: 0x11, dma_len: 64 };
    let rreth = rreth::Repr { virtual_address: 0x100, lkey: 0x12 };
    all.push(frame(
        false,
        &header(Opcode::RcReadRequest, 0x402, PACKETS, Ext::RethRreth(reth, rreth)),
        0,
    ));
    all
}

/// A capture file: nanosecond magic, version 2.4, link type Ethernet, a microsecond from frame to frame.
fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let header: [u32; 6] = [0xa1b2_3c4d, 0x0004_0002, 0, 0, 0x0004_0000, 1];
    let mut file: Vec<u8> = header.iter().flat_map(|word| word.to_le_bytes()).collect();
    for (at, frame) in (0_u32..).zip(frames) {
        let len = u32::try_from(frame.len()).expect("short");
        file.extend([0, at * 1_000, len, len].iter().flat_map(|word| word.to_le_bytes()));
        file.extend(frame);
    }
    file
}

fn analysis(desk: &Desk, frames: &[Vec<u8>]) -> Value {
    std::fs::write(desk.path("blue.pcap"), pcap(frames)).expect("writable");
    let left = desk.rigctl("analyze blue.pcap --format json");
    assert_eq!(left.code, 0, "{left:?}");
    serde_json::from_str(&left.stdout).expect("JSON")
}

#[test]
fn what_nics_of_blue_rdma_send_is_told_with_its_faults() {
    let desk = Desk::new();
    let analysis = analysis(&desk, &capture(None));
    let [told] = &analysis["blue_rdma"].as_array().expect("dialogues")[..] else {
        panic!("{analysis}")
    };
    assert_eq!(
        told["data"],
        json!({
            "packets": 261, "bytes": 260 * 1024, "messages": {"write": 1, "read_request": 1}, "msn_changes": 0,
            "ack_requests": 2, "retries": 130, "retries_of_lost": 1, "unmarked_copies": 1, "out_of_order": 1,
            "never_seen": 0, "restarts": 0, "ce": 0, "unlike": 0, "malformed": 0, "first_malformed": null,
        })
    );
    assert_eq!(
        told["reports"],
        json!({
            "driver_acks": 1, "driver_naks": 0, "hardware_acks": 1, "cnps": 1, "missing": 1, "missing_runs": [[5, 5]],
            "missing_but_passed": 0, "come_but_not_passed": 0, "leaps": 0, "odd_windows": 0, "wrong_ip_checksum": 1,
            "unlike": 0, "malformed": 0,
        })
    );
    // Nothing of it is taken for RoCEv2's.
    assert_eq!((&analysis["connections"], &analysis["streams"]), (&json!([]), &json!([])));
    insta::assert_snapshot!(desk.rigctl("analyze blue.pcap").stdout);
}

#[test]
fn a_bitmap_without_a_packet_that_passed_is_told() {
    let desk = Desk::new();
    let analysis = analysis(&desk, &capture(Some(77)));
    let reports = &analysis["blue_rdma"][0]["reports"];
    assert_eq!(reports["missing_runs"], json!([[5, 5], [77, 77]]));
    assert_eq!(reports["missing_but_passed"], 1);
}

#[test]
fn a_cut_capture_of_it_is_read_as_far_as_its_headers_go() {
    let desk = Desk::new();
    let whole = capture(None);
    let mut file = pcap(&[]);
    for (at, frame) in (0_u32..).zip(&whole) {
        let (len, kept) = (u32::try_from(frame.len()).expect("short"), frame.len().min(96));
        let kept_len = u32::try_from(kept).expect("short");
        file.extend([0, at * 1_000, kept_len, len].iter().flat_map(|word| word.to_le_bytes()));
        file.extend(&frame[..kept]);
    }
    std::fs::write(desk.path("cut.pcap"), file).expect("writable");
    let left = desk.rigctl("analyze cut.pcap --format json");
    let cut: Value = serde_json::from_str(&left.stdout).expect("JSON");
    assert_eq!(cut["blue_rdma"], analysis(&desk, &whole)["blue_rdma"]);
}
