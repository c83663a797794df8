//! What tshark does not show: the ICRC recomputed by other code, congestion marks, MAC Control as Scapy reads it.

use super::{compare, corpus, read};
use rig_frames::packet::{Packet, RoceFrame};
use rig_frames::roce::{Opcode, bth};
use rig_frames::{icrc, pause};
use rig_units::Quanta;

/// Prints one line a frame.
const READER: &str = r#"
import sys
from scapy.packet import Padding
from scapy.utils import rdpcap
from scapy.layers.l2 import ARP, Ether
from scapy.contrib.mac_control import MACControlClassBasedFlowControl as PFC, MACControlPause as Pause
from scapy.contrib.roce import AETH, BTH, CNPPadding

for frame in rdpcap(sys.argv[1]):
    if BTH in frame:
        bth = frame[BTH]
        if Padding in frame:  # Scapy would take Ethernet's padding into the ICRC
            frame[Padding].underlayer.remove_payload()
        icrc, bth.icrc = bth.icrc, None
        again = Ether(frame.build())[BTH].icrc
        line = f"bth {bth.opcode:#x} {bth.dqpn} {bth.psn} {bth.fecn} {bth.becn} {bth.padcount} {icrc:08x} {again:08x}"
        if AETH in frame and bth.opcode == 0x11:
            line += f" aeth {frame[AETH].syndrome} {frame[AETH].msn}"
        if CNPPadding in frame:
            line += f" cnp {frame[CNPPadding].reserved1} {frame[CNPPadding].reserved2}"
    elif PFC in frame:
        pfc = frame[PFC]
        line = "pfc"
        for c in range(8):
            line += f" {int(pfc.getfieldval(f'c{c}_enabled'))}:{pfc.getfieldval(f'c{c}_pause_time')}"
    elif Pause in frame:
        line = f"pause {frame[Pause].pause_time}"
    elif ARP in frame:
        line = f"arp {frame[ARP].op} {frame[ARP].psrc} {frame[ARP].pdst}"
    else:
        line = frame.summary()
    print(line)
"#;

fn scapy(frames: &[Vec<u8>]) -> Option<Vec<String>> {
    read(frames, "python3", |file| ["-c", READER, file].map(str::to_owned).to_vec())
}

fn meant(packet: &Packet, bytes: &[u8]) -> String {
    match packet {
        Packet::Roce { frame, .. } => meant_roce(frame, bytes),
        Packet::Pfc { repr, .. } => {
            let class = |quanta: &Option<Quanta>| {
                format!(" {}:{}", u8::from(quanta.is_some()), quanta.map_or(0, |q| q.0))
            };
            format!("pfc{}", repr.quanta.iter().map(class).collect::<String>())
        }
        Packet::Pause { repr: pause::Repr { quanta: Quanta(quanta) }, .. } => {
            format!("pause {quanta}")
        }
        Packet::Arp { repr, .. } => format!("arp 1 {} {}", repr.sender_ip, repr.target_ip),
        Packet::Other { .. } => unreachable!("the corpus has none"),
    }
}

fn meant_roce(frame: &RoceFrame, bytes: &[u8]) -> String {
    let bth = &frame.bth;
    let (fecn, becn) = (u8::from(bth.fecn), u8::from(bth.becn));
    let icrc = icrc_in(frame, bytes);
    let pad = bth::pad(frame.payload_len);
    let code = bth.opcode.code();
    let mut line = format!(
        "bth {code:#x} {} {} {fecn} {becn} {pad} {icrc:08x} {icrc:08x}",
        bth.dest_qp, bth.psn
    );
    if let (Opcode::RcAcknowledge, Some(aeth)) = (bth.opcode, frame.ext.aeth()) {
        line += &format!(" aeth {} {}", aeth.syndrome.bits(), aeth.msn);
    }
    if bth.opcode == Opcode::Cnp {
        line += " cnp 0 0";
    }
    line
}

/// The ICRC field, found by counting from the front.
fn icrc_in(frame: &RoceFrame, bytes: &[u8]) -> u32 {
    let tag = if frame.path.vlan.is_some() { 4 } else { 0 };
    let ahead = 14 + tag + frame.path.ip.header_len() + 8 + bth::LEN + frame.ext.layout().len();
    let at = ahead + usize::from(frame.payload_len).next_multiple_of(4);
    u32::from_be_bytes(bytes[at..at + icrc::LEN].try_into().unwrap())
}

#[test]
fn scapy_reads_what_was_meant_and_computes_the_same_icrc() {
    let packets = corpus::corpus();
    let frames: Vec<Vec<u8>> = packets.iter().filter_map(Packet::emit).collect();
    let Some(got) = scapy(&frames) else { return };
    let want: Vec<String> =
        packets.iter().zip(&frames).map(|(packet, frame)| meant(packet, frame)).collect();
    compare(&want, &got);
}

#[test]
fn scapy_notices_a_changed_payload() {
    let Packet::Roce { frame, .. } = corpus::corpus()[4] else { panic!("RoCE comes first") };
    let mut bytes = frame.emit();
    bytes[60] ^= 1;
    let Some(got) = scapy(&[bytes.clone()]) else { return };
    let icrc = format!(" {:08x}", icrc_in(&frame, &bytes));
    assert_eq!(got[0].matches(&icrc).count(), 1, "{}", got[0]);
}
