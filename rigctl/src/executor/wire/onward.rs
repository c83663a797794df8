//! The rig between two NICs in real time: what arrives at one of its ports leaves by the other at once, addressed anew. It does nothing else to
//! a frame: what a case does to one on the way is done in virtual time alone.

use rig_frames::ethernet::{self, ethertype};
use rig_frames::ipv4;
use rig_testcases::{Script, wire};
use std::collections::VecDeque;

/// A port of the rig in front of a NIC.
#[derive(Debug, Clone, Copy)]
struct Side {
    port: u16,
    /// The lane of the pacer that it is.
    lane: u16,
}

/// What is passed on between two ports.
#[derive(Debug, Default)]
pub(super) struct Onward {
    /// None where nothing is.
    sides: Option<[Side; 2]>,
    waits: VecDeque<(u16, Vec<u8>)>,
}

impl Onward {
    /// Between the ports of a script that has NICs at both ends of its flows.
    pub(super) fn of(script: &Script) -> Onward {
        let side = |port: u16| Side { port, lane: script.dut_ports[usize::from(port)] };
        let sides = script.between.as_ref().map(|(a, b, _)| [*a, *b].map(side));
        Onward { sides, ..Onward::default() }
    }

    /// A frame arrived at a port of the rig.
    pub(super) fn came(&mut self, port: u16, frame: &[u8]) {
        let Some([a, b]) = self.sides else { return };
        let to = if port == a.port { b } else { a };
        if ![a.port, b.port].contains(&port) {
            return;
        }
        self.waits.extend(addressed(frame, to.port).map(|frame| (to.lane, frame)));
    }

    /// The next that leaves: the lane, and its bytes.
    pub(super) fn next(&mut self) -> Option<(u16, Vec<u8>)> {
        self.waits.pop_front()
    }
}

/// The same frame from a port of the rig to the NIC behind it. `None` of what is not IPv4: it is for the port itself.
fn addressed(frame: &[u8], port: u16) -> Option<Vec<u8>> {
    let (link, rest) = ethernet::Repr::parse(frame).ok()?;
    if link.ethertype != ethertype::IPV4 {
        return None;
    }
    let (ip, payload) = ipv4::Repr::parse(rest).ok()?;
    let link = ethernet::Repr { src: wire::rig_mac(port), dst: wire::dut_mac(port), ..link };
    let ip = ipv4::Repr { src: wire::rig_ip(port), dst: wire::nic_ip(port), ..ip };
    let mut out = link.emit().to_vec();
    out.extend(ip.emit(payload.len()));
    out.extend(payload);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_capture::blue_rdma::{Frame, MEMORY, OVERHEAD, Says};

    #[test]
    fn a_frame_says_the_same_behind_the_rig_and_is_for_the_other_nic() {
        let says = Says::Data { first: false, last: true, address: MEMORY, length: 64 };
        let frame = Frame {
            connection: 2,
            psn: 9,
            msn: 1,
            size: OVERHEAD + 64,
            is_retry: false,
            ce: false,
            is_send: false,
            immediate: None,
            says,
        };
        let passed = addressed(&frame.bytes(0, false), 1).expect("it is IPv4");
        assert_eq!(passed, frame.bytes(1, true));
        assert_eq!(Frame::read(1, true, &passed), Some(frame));
    }

    #[test]
    fn what_is_for_the_port_itself_goes_nowhere() {
        let mut pause = frame_of(0x8808);
        assert_eq!(addressed(&pause, 1), None);
        pause.truncate(10);
        assert_eq!(addressed(&pause, 1), None);
    }

    fn frame_of(kind: u16) -> Vec<u8> {
        let mut frame = vec![0; 60];
        frame[12..14].copy_from_slice(&kind.to_be_bytes());
        frame
    }
}
