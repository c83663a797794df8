//! The dissector in Lua that users of Wireshark get: it shows what was meant, and leaves RoCEv2 as it was.

use super::{compare, corpus, read};
use rig_frames::blue_rdma::{Author, Ext, Header, ack, bth, rreth};
use rig_frames::ethernet::{self, ethertype};
use rig_frames::ip::Dscp;
use rig_frames::packet::Packet;
use rig_frames::psn::Psn;
use rig_frames::roce::{Opcode, Qpn, ieth, imm_dt, reth};
use rig_frames::{MacAddr, ipv4, udp};

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/wireshark/blue_rdma.lua");

const FIELDS: [&str; 23] = [
    "_ws.malformed",
    "blue_rdma.opcode",
    "blue_rdma.solicited",
    "blue_rdma.is_retry",
    "blue_rdma.msn",
    "blue_rdma.dest_qp",
    "blue_rdma.ack_req",
    "blue_rdma.psn",
    "blue_rdma.reth.va",
    "blue_rdma.reth.rkey",
    "blue_rdma.reth.dma_len",
    "blue_rdma.rreth.va",
    "blue_rdma.rreth.lkey",
    "blue_rdma.imm",
    "blue_rdma.ieth",
    "blue_rdma.ack.before",
    "blue_rdma.ack.now",
    "blue_rdma.ack.lost",
    "blue_rdma.ack.moved",
    "blue_rdma.ack.by_driver",
    "blue_rdma.ack.before_psn",
    "blue_rdma.ack.missing",
    "blue_rdma.payload",
];

/// What tshark with the script shows of each frame: the fields apart by semicolons.
fn shown(frames: &[Vec<u8>]) -> Option<Vec<String>> {
    read(frames, "tshark", |file| {
        let script = format!("lua_script:{SCRIPT}");
        // A queue pair's number may be the port of another protocol: 7 is that of echo.
        let fixed =
            ["-r", file, "-X", &script, "-o", "udp.try_heuristic_first:TRUE", "-T", "fields"];
        let fixed = fixed.into_iter().chain(["-E", "separator=;"]);
        let fields = FIELDS.iter().flat_map(|field| ["-e", field]);
        fixed.chain(fields).map(str::to_owned).collect()
    })
}

fn frame(header: &Header, payload: &[u8]) -> Vec<u8> {
    let mut bytes = header.emit();
    if !payload.is_empty() {
        bytes.resize(bytes.len() + header.shift(), 0);
        bytes.extend(payload);
    }
    let link =
        ethernet::Repr { dst: MacAddr([2; 6]), src: MacAddr([4; 6]), ethertype: ethertype::IPV4 };
    let ip = ipv4::Repr::udp([10, 0, 0, 1].into(), [10, 0, 0, 2].into(), Dscp::default());
    let udp = udp::Repr { src_port: 7, dst_port: udp::ROCE_PORT, checksum: udp::Checksum::Zero };
    let mut frame = link.emit().to_vec();
    frame.extend(ip.emit(udp::LEN + bytes.len()));
    frame.extend(udp.emit(bytes.len()));
    frame.extend(bytes);
    frame
}

/// One of each opcode, with its payload and what is missing by its bitmaps.
fn headers() -> Vec<(Header, Vec<u8>, &'static str)> {
    let mut all = Vec::new();
    for (nth, &opcode) in (0_u16..).zip(Opcode::ALL) {
        let bth = bth::Repr {
            opcode,
            solicited: nth % 2 == 0,
            is_retry: nth % 3 == 0,
            msn: 0xff00 + nth,
            dest_qp: Qpn::new(0x12_3400 + u32::from(nth)).unwrap(),
            ack_req: nth % 5 == 0,
            psn: Psn::new(128),
        };
        // The first packet of a message ends at a multiple of four, the others anywhere.
        let first = [Opcode::RcSendFirst, Opcode::RcWriteFirst, Opcode::RcReadResponseFirst];
        let (at, len) = if first.contains(&opcode) { (3, 253) } else { (u64::from(nth % 4), 9) };
        let dma_len = if first.contains(&opcode) { 0x1_0000 } else { 9 };
        let reth = reth::Repr { virtual_address: 0x7f00_1000 + at, rkey: 0xab, dma_len };
        let ack = ack::Repr {
            before: u128::MAX ^ (1 << 5) ^ (1 << 15),
            now: (u128::MAX >> 16 ^ (1 << 111)) | (1 << 112),
            lost: true,
            moved: true,
            by_driver: false,
            before_psn: Psn::new(112),
        };
        let (ext, missing) = match opcode.code() {
            0x00..=0x02 | 0x04 | 0x06..=0x08 | 0x0a | 0x0d..=0x10 => (Ext::Reth(reth), ""),
            0x03 | 0x05 | 0x09 | 0x0b => {
                (Ext::RethImm(reth, imm_dt::Repr { data: 0xdead_beef }), "")
            }
            0x16 | 0x17 => (Ext::RethIeth(reth, ieth::Repr { rkey: 0xbeef }), ""),
            0x0c => (Ext::RethRreth(reth, rreth::Repr { virtual_address: 0x99, lkey: 0x77 }), ""),
            0x11 => (Ext::Ack(ack), "5 15 127"),
            0x81 => (Ext::None, ""),
            _ => continue,
        };
        let payload = if ext.placed().is_some() { vec![0xc5; len] } else { Vec::new() };
        all.push((Header { bth, ext, author: Author::Hardware }, payload, missing));
        if let Ext::Ack(_) = ext {
            let before_psn = Psn::new(0);
            let (lost, moved) = (false, false);
            let ack =
                ack::Repr { before: 0, now: u128::MAX, lost, moved, by_driver: true, before_psn };
            all.push((Header { bth, ext: Ext::Ack(ack), author: Author::Driver }, Vec::new(), ""));
        }
    }
    all
}

fn meant((header, payload, missing): &(Header, Vec<u8>, &'static str)) -> String {
    let flag = |set: bool| u8::from(set).to_string();
    let bth = &header.bth;
    let code = if bth.opcode == Opcode::Cnp { 0x80 } else { bth.opcode.code() };
    let mut fields = vec![String::new(); FIELDS.len()];
    let mut put = |name: &str, value: String| {
        let at = FIELDS.iter().position(|field| field.ends_with(name)).unwrap();
        fields[at] = value;
    };
    put("blue_rdma.opcode", format!("{code:#04x}"));
    put("solicited", flag(bth.solicited));
    put("is_retry", flag(bth.is_retry));
    put("msn", bth.msn.to_string());
    put("dest_qp", format!("{:#08x}", bth.dest_qp.get()));
    put("ack_req", flag(bth.ack_req));
    put("blue_rdma.psn", bth.psn.to_string());
    let asks = match &header.ext {
        Ext::RethRreth(reth, _) => Some(reth),
        ext => ext.placed(),
    };
    if let Some(reth) = asks {
        put(".reth.va", format!("{:#018x}", reth.virtual_address));
        put("rkey", format!("{:#010x}", reth.rkey));
        put("dma_len", reth.dma_len.to_string());
    }
    match &header.ext {
        Ext::RethRreth(_, rreth) => {
            put("rreth.va", format!("{:#018x}", rreth.virtual_address));
            put("lkey", format!("{:#010x}", rreth.lkey));
        }
        Ext::RethImm(_, imm) => put("imm", format!("{:#010x}", imm.data)),
        Ext::RethIeth(_, ieth) => put("ieth", format!("{:#010x}", ieth.rkey)),
        Ext::Ack(ack) => {
            put("ack.before", format!("{:032x}", ack.before));
            put("ack.now", format!("{:032x}", ack.now));
            put("lost", flag(ack.lost));
            put("moved", flag(ack.moved));
            put("by_driver", flag(ack.by_driver));
            put("before_psn", ack.before_psn.to_string());
            put("missing", (*missing).to_owned());
        }
        Ext::Reth(_) | Ext::None => {}
    }
    put("payload", payload.iter().map(|byte| format!("{byte:02x}")).collect());
    fields.join(";")
}

#[test]
fn the_dissector_for_wireshark_shows_what_was_meant() {
    let headers = headers();
    assert_eq!(headers.len(), 22, "one of each opcode, and the driver's");
    let frames: Vec<Vec<u8>> =
        headers.iter().map(|(header, payload, _)| frame(header, payload)).collect();
    let Some(lines) = shown(&frames) else { return };
    let want: Vec<String> = headers.iter().map(meant).collect();
    compare(&want, &lines);
}

#[test]
fn the_dissector_for_wireshark_leaves_rocev2_as_it_was() {
    let frames: Vec<Vec<u8>> = corpus::corpus().iter().filter_map(Packet::emit).collect();
    let all = |script: &[&str]| {
        read(&frames, "tshark", |file| {
            let fixed = ["-r", file, "-V", "-o", "udp.try_heuristic_first:TRUE"];
            fixed.into_iter().chain(script.iter().copied()).map(str::to_owned).collect()
        })
    };
    let script = format!("lua_script:{SCRIPT}");
    let (Some(without), Some(with)) = (all(&[]), all(&["-X", &script])) else { return };
    assert!(without.iter().filter(|line| line.contains("InfiniBand")).count() > 100);
    compare(&without, &with);
}
