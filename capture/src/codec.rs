//! From a record to the bytes of its frame: what a file shows. The way back is [`crate::decode`].
//!
//! A protected frame is sealed with the script's keys, so that a file shows what passed the cable; without them it is
//! written in clear.

use crate::{Dir, PfcFault, Record, What};
use rig_frames::{MacAddr, ethernet, pfc};
use rig_testcases::wire::macsec::{Cable, End};
use rig_testcases::{Script, StreamSpec, Verb, wire};
use rig_units::Bytes;

/// Ethernet type of frames that stand for anything else: local experimental (IEEE 802 clause 9.2.4).
const OTHER: u16 = 0x88b5;
/// Offset of a PFC frame's opcode, and of its class-enable vector's reserved byte.
const OPCODE: usize = ethernet::LEN;
const RESERVED: usize = OPCODE + 2;

/// Writes the frames of one script as they passed the cables.
#[derive(Debug, Clone)]
pub struct Encoder<'a> {
    script: &'a Script,
    /// Of each port; none when nothing can be sealed.
    cables: Vec<Cable>,
}

impl<'a> Encoder<'a> {
    /// Of a script, with its keys.
    pub fn of(script: &'a Script) -> Encoder<'a> {
        Encoder { script, cables: Cable::all(script).unwrap_or_default() }
    }

    /// The trial whose frames these are.
    pub(crate) const fn script(&self) -> &'a Script {
        self.script
    }

    /// The bytes of a record's frame.
    ///
    /// # Panics
    /// As [`encode`].
    pub fn frame(&self, record: &Record) -> Vec<u8> {
        let clear = encode(record, self.script);
        let end = match record.dir {
            Dir::Tx => End::Rig,
            Dir::Rx => End::Dut,
        };
        match (&record.secured, self.cables.get(usize::from(record.port))) {
            (Some(secured), Some(cable)) => cable.seal(end, secured, &clear),
            _ => clear,
        }
    }
}

/// The bytes of a record's frame in clear, whether it was protected or not.
///
/// # Panics
/// On a stream that the script does not have, or a connection of 16384 or more.
pub fn encode(record: &Record, script: &Script) -> Vec<u8> {
    let from = match record.dir {
        Dir::Tx => wire::rig_mac(record.port),
        Dir::Rx => wire::dut_mac(record.port),
    };
    match record.what {
        What::Data { stream, seq, size, ce } => {
            let spec = &script.streams[usize::from(stream)];
            let other = || StreamSpec { vlan: record.vlan, ..spec.clone() };
            let other = (record.vlan != spec.vlan).then(other);
            wire::data(other.as_ref().unwrap_or(spec), stream, seq, Bytes(size.into()), ce)
        }
        What::Roce(roce) => {
            let verb = script
                .flow_at(roce.connection, roce.psn)
                .map_or(Verb::Write, |(_, flow)| flow.verb);
            let place = (record.port, record.dir == Dir::Tx);
            wire::nic::frame_behind(record.vlan, verb, place, &roce)
        }
        What::BlueRdma(frame) => frame.bytes(record.port, record.dir == Dir::Tx),
        What::Pfc { enable, quanta } => wire::pfc(from, enable, quanta),
        What::BadPfc { fault, enable, quanta } => bad_pfc(wire::pfc(from, enable, quanta), fault),
        What::Other { size } => {
            let header =
                ethernet::Repr { dst: wire::rig_mac(record.port), src: from, ethertype: OTHER };
            wire::filled(header.emit().to_vec(), size)
        }
    }
}

/// The PFC frame `frame` with one fault.
pub fn bad_pfc(mut frame: Vec<u8>, fault: PfcFault) -> Vec<u8> {
    match fault {
        PfcFault::Destination => frame[..6].copy_from_slice(&MacAddr::BROADCAST.0),
        PfcFault::Source => frame[6..12].fill(0),
        PfcFault::Tagged => {
            let untagged = frame.split_off(12);
            frame.extend_from_slice(&[0x81, 0x00, 0x60, 0x00]);
            frame.extend_from_slice(&untagged[..untagged.len() - 4]);
        }
        PfcFault::Reserved => frame[RESERVED] = 1,
        PfcFault::Padding => frame[OPCODE + pfc::LEN] = 1,
        PfcFault::Size => frame.push(0),
    }
    frame
}
