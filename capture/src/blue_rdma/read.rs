//! A frame of the dialect from the bytes that passed a port of the rig: [`Frame::bytes`] the other way round.

use super::frame::{Frame, Says};
use rig_frames::blue_rdma::{Datagram, Ext, Header};
use rig_frames::ip::Ecn;
use rig_frames::roce::Opcode;
use rig_testcases::wire;

/// Bytes of the check sequence, which is counted and not there.
const FCS: usize = 4;

impl Frame {
    /// What `bytes` say, FCS not among them, which passed a rig port towards the NIC behind it or from there; `None` where they are no
    /// frame of the dialect between the rig and that NIC. Whether a frame of RoCEv2 is meant its ICRC says, which is not looked at here.
    pub fn read(port: u16, to_nic: bool, bytes: &[u8]) -> Option<Frame> {
        let datagram = Datagram::of(bytes)?;
        let (rig, nic) = (wire::rig_ip(port), wire::nic_ip(port));
        let ends = if to_nic { (rig, nic) } else { (nic, rig) };
        if (datagram.src, datagram.dst) != ends {
            return None;
        }
        let (Header { bth, ext, .. }, _) = Header::parse(datagram.bytes).ok()?;
        let immediate = match ext {
            Ext::RethImm(_, immediate) => Some(immediate.data),
            _ => None,
        };
        let connection = bth.dest_qp.get().checked_sub(wire::FIRST_QPN)?;
        Some(Frame {
            connection: u16::try_from(connection).ok()?,
            psn: bth.psn.get(),
            msn: bth.msn,
            size: u16::try_from(bytes.len() + FCS).ok()?,
            is_retry: bth.is_retry,
            ce: datagram.ecn == Ecn::Ce,
            is_send: is_send(bth.opcode),
            immediate,
            says: says(bth.opcode, ext)?,
        })
    }
}

const fn is_send(opcode: Opcode) -> bool {
    use Opcode::{RcSendFirst, RcSendLast, RcSendLastImm, RcSendMiddle, RcSendOnly, RcSendOnlyImm};
    let without = matches!(opcode, RcSendFirst | RcSendMiddle | RcSendLast | RcSendOnly);
    without || matches!(opcode, RcSendLastImm | RcSendOnlyImm)
}

/// What a packet of this opcode says; `None` of what no emulated NIC sends.
fn says(opcode: Opcode, ext: Ext) -> Option<Says> {
    let (address, length) = match ext {
        Ext::Reth(reth) | Ext::RethImm(reth, _) => (reth.virtual_address, reth.dma_len),
        Ext::RethRreth(reth, answer) => {
            let (address, length) = (reth.virtual_address, reth.dma_len);
            return Some(Says::Request { address, length, answer: answer.virtual_address });
        }
        Ext::Ack(ack) => {
            let (before, now) = (ack.before.into(), ack.now.into());
            let (lost, moved, before_psn) = (ack.lost, ack.moved, ack.before_psn.get());
            let by_driver = ack.by_driver;
            return Some(Says::Report { by_driver, lost, moved, before, now, before_psn });
        }
        Ext::None => return (opcode == Opcode::Cnp).then_some(Says::Cnp),
        Ext::RethIeth(..) => return None,
    };
    let (first, last) = match opcode {
        Opcode::RcSendFirst | Opcode::RcWriteFirst | Opcode::RcReadResponseFirst => (true, false),
        Opcode::RcSendLast
        | Opcode::RcSendLastImm
        | Opcode::RcWriteLast
        | Opcode::RcWriteLastImm
        | Opcode::RcReadResponseLast => (false, true),
        Opcode::RcSendOnly
        | Opcode::RcSendOnlyImm
        | Opcode::RcWriteOnly
        | Opcode::RcWriteOnlyImm
        | Opcode::RcReadResponseOnly => (true, true),
        _ => (false, false),
    };
    Some(match opcode {
        Opcode::RcReadResponseFirst
        | Opcode::RcReadResponseMiddle
        | Opcode::RcReadResponseLast
        | Opcode::RcReadResponseOnly => Says::Response { first, last, address, length },
        _ => Says::Data { first, last, address, length },
    })
}

#[cfg(test)]
mod tests {
    use super::super::frame::{ANSWERS, Bitmap, DRIVER_REPORT_SIZE, MEMORY, OVERHEAD, REPORT_SIZE};
    use super::*;

    fn all() -> Vec<Frame> {
        let (before, now) = (Bitmap::from(u128::MAX ^ 1), Bitmap::from(7 << 100));
        let report = |by_driver| {
            let (lost, moved, before_psn) = (true, true, 112);
            Says::Report { by_driver, lost, moved, before, now, before_psn }
        };
        let request = Says::Request { address: MEMORY, length: 5_000, answer: ANSWERS };
        let mut all = vec![
            (REPORT_SIZE, report(false)),
            (DRIVER_REPORT_SIZE, report(true)),
            (REPORT_SIZE, Says::Cnp),
            (REPORT_SIZE, request),
        ];
        for (first, last) in [(true, false), (false, false), (false, true), (true, true)] {
            // A payload begins as far behind a multiple of four as its address is: the frame is longer by that.
            for behind in 0..4_u16 {
                let address = MEMORY + 4_096 + u64::from(behind);
                let length = if first && !last { 5_000 } else { 1_024 };
                let size = OVERHEAD + behind + 1_024;
                all.push((size, Says::Data { first, last, address, length }));
                all.push((size, Says::Response { first, last, address, length }));
            }
        }
        let frame = |(size, says)| {
            let (connection, psn, msn, is_retry, ce) = (3, 0x1_2345, 7, true, true);
            let (is_send, immediate) = (false, None);
            Frame { connection, psn, msn, size, is_retry, ce, is_send, immediate, says }
        };
        all.into_iter().map(frame).collect()
    }

    #[test]
    fn what_was_written_is_read_at_the_same_port_and_the_same_way_alone() {
        for frame in all() {
            for to_nic in [false, true] {
                let bytes = frame.bytes(1, to_nic);
                assert_eq!(Frame::read(1, to_nic, &bytes), Some(frame));
                assert_eq!(
                    (Frame::read(0, to_nic, &bytes), Frame::read(1, !to_nic, &bytes)),
                    (None, None)
                );
            }
        }
    }

    #[test]
    fn a_packet_of_a_send_is_one_and_keeps_its_immediate_data() {
        for (is_send, first, last) in
            [(true, false, false), (true, false, true), (true, true, true)]
        {
            let says = Says::Data { first, last, address: MEMORY, length: 1_024 };
            let frame = Frame { is_send, size: OVERHEAD + 1_024, says, ..all()[0] };
            let with = Frame { immediate: last.then_some(0x0102_0304), ..frame };
            for frame in [frame, with, Frame { is_send: false, ..with }] {
                assert_eq!(Frame::read(1, true, &frame.bytes(1, true)), Some(frame));
            }
        }
    }
}
