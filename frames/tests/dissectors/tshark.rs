//! Every field of every format as Wireshark's dissectors see it.

use super::{compare, corpus, read};
use rig_frames::arp::Operation;
use rig_frames::ip::Ip;
use rig_frames::packet::{Packet, Path, RoceFrame};
use rig_frames::roce::{Ext, Opcode, aeth, bth, deth, imm_dt, reth};
use rig_frames::udp::Checksum;
use rig_frames::{MacAddr, pause, pfc};
use rig_units::Quanta;
use std::collections::BTreeMap;

const FIELDS: &[&str] = &[
    "_ws.malformed",
    "_ws.expert.message",
    "eth.dst",
    "eth.src",
    "vlan.priority",
    "vlan.dei",
    "vlan.id",
    "ip.dsfield.dscp",
    "ip.dsfield.ecn",
    "ip.id",
    "ip.ttl",
    "ip.checksum.status",
    "ipv6.tclass.dscp",
    "ipv6.tclass.ecn",
    "ipv6.flow",
    "ipv6.hlim",
    "udp.srcport",
    "udp.length",
    "udp.checksum.status",
    "infiniband.bth.opcode",
    "infiniband.bth.se",
    "infiniband.bth.m",
    "infiniband.bth.padcnt",
    "infiniband.bth.tver",
    "infiniband.bth.p_key",
    "infiniband.bth.destqp",
    "infiniband.bth.a",
    "infiniband.bth.reserved7",
    "infiniband.bth.psn",
    "infiniband.reth.va",
    "infiniband.reth.r_key",
    "infiniband.reth.dmalen",
    "infiniband.aeth.syndrome",
    "infiniband.aeth.msn",
    "infiniband.atomicacketh.origremdt",
    "infiniband.atomiceth.swapdt",
    "infiniband.atomiceth.cmpdt",
    "infiniband.deth.q_key",
    "infiniband.deth.srcqp",
    "infiniband.immdt",
    "infiniband.ieth",
    "infiniband.invariant.crc",
    "macc.opcode",
    "macc.pause_time",
    "macc.cbfc.enbv",
    "macc.cbfc.pause_time.c0",
    "macc.cbfc.pause_time.c1",
    "macc.cbfc.pause_time.c2",
    "macc.cbfc.pause_time.c3",
    "macc.cbfc.pause_time.c4",
    "macc.cbfc.pause_time.c5",
    "macc.cbfc.pause_time.c6",
    "macc.cbfc.pause_time.c7",
    "arp.opcode",
    "arp.src.hw_mac",
    "arp.src.proto_ipv4",
    "arp.dst.hw_mac",
    "arp.dst.proto_ipv4",
];

/// Values by field name.
type Fields = BTreeMap<&'static str, String>;

fn tshark(frames: &[Vec<u8>]) -> Option<Vec<String>> {
    read(frames, "tshark", |file| {
        let checks = ["-o", "ip.check_checksum:TRUE", "-o", "udp.check_checksum:TRUE"];
        // These guess at payloads, and stumble over every one shorter than the header that they look for.
        let no_guesses =
            ["--disable-protocol", "rpcordma", "--disable-protocol", "infiniband.eoib"];
        let output = ["-T", "fields", "-E", "separator=/t", "-E", "occurrence=f"];
        let fields = FIELDS.iter().flat_map(|field| ["-e", field]);
        let args = ["-n", "-r", file]
            .into_iter()
            .chain(checks)
            .chain(no_guesses)
            .chain(output)
            .chain(fields);
        args.map(str::to_owned).collect()
    })
}

/// The present fields of one line of tshark's, by name.
fn present(line: &str) -> Fields {
    let values = FIELDS.iter().copied().zip(line.split('\t').map(str::to_owned));
    values.filter(|(_, value)| !value.is_empty()).collect()
}

fn show(fields: &Fields) -> String {
    fields.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
}

/// Spelt as Wireshark spells it.
fn meant(packet: &Packet, frame: &[u8]) -> Fields {
    let mut fields = Fields::new();
    let mut put = |name, value: String| assert_eq!(fields.insert(name, value), None, "{name}");
    match packet {
        Packet::Roce { frame: roce, .. } => roce_fields(&mut put, roce, frame),
        Packet::Pfc { src, repr } => {
            link(&mut put, *src, MacAddr::MAC_CONTROL);
            pfc_fields(&mut put, repr);
        }
        Packet::Pause { src, repr: pause::Repr { quanta: Quanta(quanta) } } => {
            link(&mut put, *src, MacAddr::MAC_CONTROL);
            put("macc.opcode", "0x0001".to_owned());
            put("macc.pause_time", quanta.to_string());
        }
        Packet::Arp { src, dst, vlan: _, repr } => {
            link(&mut put, *src, *dst);
            put(
                "arp.opcode",
                if repr.operation == Operation::Request { "1" } else { "2" }.to_owned(),
            );
            put("arp.src.hw_mac", repr.sender_mac.to_string());
            put("arp.src.proto_ipv4", repr.sender_ip.to_string());
            put("arp.dst.hw_mac", repr.target_mac.to_string());
            put("arp.dst.proto_ipv4", repr.target_ip.to_string());
        }
        Packet::Other { .. } => {}
    }
    fields
}

fn link(put: &mut impl FnMut(&'static str, String), src: MacAddr, dst: MacAddr) {
    put("eth.src", src.to_string());
    put("eth.dst", dst.to_string());
}

fn pfc_fields(put: &mut impl FnMut(&'static str, String), repr: &pfc::Repr) {
    const TIMES: [&str; 8] = [
        "macc.cbfc.pause_time.c0",
        "macc.cbfc.pause_time.c1",
        "macc.cbfc.pause_time.c2",
        "macc.cbfc.pause_time.c3",
        "macc.cbfc.pause_time.c4",
        "macc.cbfc.pause_time.c5",
        "macc.cbfc.pause_time.c6",
        "macc.cbfc.pause_time.c7",
    ];
    let mut enable = 0;
    for (class, quanta) in repr.quanta.iter().enumerate() {
        enable |= u16::from(quanta.is_some()) << class;
        put(TIMES[class], quanta.map_or(0, |quanta| quanta.0).to_string());
    }
    put("macc.opcode", "0x0101".to_owned());
    put("macc.cbfc.enbv", format!("{enable:#06x}"));
}

fn roce_fields(put: &mut impl FnMut(&'static str, String), roce: &RoceFrame, frame: &[u8]) {
    let flag = |set: bool| u8::from(set).to_string();
    let Path { src, dst, vlan, ip, udp_src, checksum } = roce.path;
    link(put, src, dst);
    if let Some(tag) = vlan {
        put("vlan.priority", tag.pcp.to_string());
        put("vlan.dei", flag(tag.dei));
        put("vlan.id", tag.vid.to_string());
    }
    let pad = bth::pad(roce.payload_len);
    let after_ip = 8 + bth::LEN + roce.ext.layout().len() + usize::from(roce.payload_len) + pad + 4;
    match ip {
        Ip::V4(ip) => {
            put("ip.dsfield.dscp", ip.dscp.to_string());
            put("ip.dsfield.ecn", ip.ecn.bits().to_string());
            put("ip.id", format!("{:#06x}", ip.identification));
            put("ip.ttl", ip.ttl.to_string());
            put("ip.checksum.status", GOOD.to_owned());
        }
        Ip::V6(ip) => {
            put("ipv6.tclass.dscp", ip.dscp.to_string());
            put("ipv6.tclass.ecn", ip.ecn.bits().to_string());
            put("ipv6.flow", format!("{:#08x}", ip.flow_label.get()));
            put("ipv6.hlim", ip.hop_limit.to_string());
        }
    }
    put("udp.srcport", udp_src.to_string());
    put("udp.length", after_ip.to_string());
    put(
        "udp.checksum.status",
        if checksum == Checksum::Filled { GOOD } else { NOT_PRESENT }.to_owned(),
    );

    let bth = &roce.bth;
    put("infiniband.bth.opcode", bth.opcode.code().to_string());
    put("infiniband.bth.se", flag(bth.solicited));
    put("infiniband.bth.m", flag(bth.mig_req));
    put("infiniband.bth.padcnt", pad.to_string());
    put("infiniband.bth.tver", "0".to_owned());
    put("infiniband.bth.p_key", bth.pkey.to_string());
    put("infiniband.bth.destqp", format!("{:#08x}", bth.dest_qp.get()));
    put("infiniband.bth.a", flag(bth.ack_req));
    put("infiniband.bth.reserved7", "0".to_owned());
    put("infiniband.bth.psn", bth.psn.to_string());
    ext_fields(put, &roce.ext);
    // Wireshark 4.0 knows the opcode of a CNP and takes the rest for payload.
    if bth.opcode != Opcode::Cnp {
        let (tag, ip_len) = (if vlan.is_some() { 4 } else { 0 }, ip.header_len());
        let end = 14 + tag + ip_len + after_ip;
        let icrc = u32::from_be_bytes(frame[end - 4..end].try_into().unwrap());
        put("infiniband.invariant.crc", format!("{icrc:#010x}"));
    }
}

fn ext_fields(put: &mut impl FnMut(&'static str, String), ext: &Ext) {
    let reth = |put: &mut dyn FnMut(&'static str, String), reth: &reth::Repr| {
        put("infiniband.reth.va", format!("{:#018x}", reth.virtual_address));
        put("infiniband.reth.r_key", format!("{:#010x}", reth.rkey));
        put("infiniband.reth.dmalen", reth.dma_len.to_string());
    };
    let imm = |put: &mut dyn FnMut(&'static str, String), imm: &imm_dt::Repr| {
        put("infiniband.immdt", format!("{:08x}", imm.data));
    };
    let aeth = |put: &mut dyn FnMut(&'static str, String), aeth: &aeth::Repr| {
        put("infiniband.aeth.syndrome", aeth.syndrome.bits().to_string());
        put("infiniband.aeth.msn", aeth.msn.to_string());
    };
    let deth = |put: &mut dyn FnMut(&'static str, String), deth: &deth::Repr| {
        put("infiniband.deth.q_key", format!("{:#018x}", deth.qkey));
        put("infiniband.deth.srcqp", format!("{:#010x}", deth.src_qp.get()));
    };
    match ext {
        Ext::Plain | Ext::Cnp => {}
        Ext::Imm(it) => imm(put, it),
        Ext::Ieth(it) => put("infiniband.ieth", format!("{:08x}", it.rkey)),
        Ext::Reth(it) => reth(put, it),
        Ext::RethImm(it, data) => {
            reth(put, it);
            imm(put, data);
        }
        Ext::Aeth(it) => aeth(put, it),
        Ext::AethAtomicAck(it, atomic) => {
            aeth(put, it);
            put("infiniband.atomicacketh.origremdt", atomic.original.to_string());
        }
        Ext::Atomic(it) => {
            put("infiniband.reth.va", format!("{:#018x}", it.virtual_address));
            put("infiniband.reth.r_key", format!("{:#010x}", it.rkey));
            put("infiniband.atomiceth.swapdt", it.swap_or_add.to_string());
            put("infiniband.atomiceth.cmpdt", it.compare.to_string());
        }
        Ext::Deth(it) => deth(put, it),
        Ext::DethImm(it, data) => {
            deth(put, it);
            imm(put, data);
        }
    }
}

/// Wireshark's states of a checksum.
const GOOD: &str = "1";
const NOT_PRESENT: &str = "3";

#[test]
fn tshark_reads_what_was_meant() {
    let packets = corpus::corpus();
    let frames: Vec<Vec<u8>> = packets.iter().filter_map(Packet::emit).collect();
    let Some(lines) = tshark(&frames) else { return };
    let want: Vec<String> =
        packets.iter().zip(&frames).map(|(packet, frame)| show(&meant(packet, frame))).collect();
    let got: Vec<String> = lines.iter().map(|line| show(&present(line))).collect();
    compare(&want, &got);
}

#[test]
fn tshark_notices_a_frame_cut_short_and_a_wrong_checksum() {
    let packets = corpus::corpus();
    let whole = packets[0].emit().unwrap();
    let mut wrong = whole.clone();
    wrong[24] ^= 1;
    let Some(lines) = tshark(&[whole[..45].to_vec(), wrong]) else { return };
    let (cut, wrong) = (present(&lines[0]), present(&lines[1]));
    assert!(cut.contains_key("_ws.malformed") || cut.contains_key("_ws.expert.message"), "{cut:?}");
    assert_eq!(wrong["ip.checksum.status"], "0", "{wrong:?}");
}
