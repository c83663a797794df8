//! LLDP (IEEE 802.1AB-2016, clause 8): what a station tells its neighbour of itself. Four TLVs: who it is, which of its ports this is, for how
//! long that holds, and its name.
//!
//! Names are the station's own (locally assigned, 8.5.2.2 and 8.5.3.2): a port that no kernel knows has no other. Left out: every optional TLV
//! but the name of the system.

use crate::{MacAddr, ethernet};

/// The group address that no bridge passes on (7.1, nearest bridge).
pub const NEAREST_BRIDGE: MacAddr = MacAddr([0x01, 0x80, 0xc2, 0x00, 0x00, 0x0e]);
/// The longest name of a station, a port or a system (8.5.2.3).
const LONGEST: usize = 255;
/// Subtype of a name that is locally assigned, of a station and of a port.
const LOCAL: u8 = 7;

/// What is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repr {
    /// What the station calls itself.
    pub chassis: String,
    /// What the station calls the port that the frame leaves by.
    pub port: String,
    /// For how many seconds that holds.
    pub ttl: u16,
    /// What the system is called.
    pub name: String,
}

impl Repr {
    /// The whole frame, as long as a frame is at least; of a longer name its first 255 bytes.
    pub fn frame(&self, src: MacAddr) -> Vec<u8> {
        let header =
            ethernet::Repr { dst: NEAREST_BRIDGE, src, ethertype: ethernet::ethertype::LLDP };
        let mut bytes = header.emit().to_vec();
        tlv(&mut bytes, 1, &[&[LOCAL], cut(&self.chassis)]);
        tlv(&mut bytes, 2, &[&[LOCAL], cut(&self.port)]);
        tlv(&mut bytes, 3, &[&self.ttl.to_be_bytes()]);
        tlv(&mut bytes, 5, &[cut(&self.name)]);
        tlv(&mut bytes, 0, &[]);
        bytes.resize(bytes.len().max(ethernet::MIN_FRAME), 0);
        bytes
    }
}

fn cut(name: &str) -> &[u8] {
    &name.as_bytes()[..name.len().min(LONGEST)]
}

/// Seven bits of type, nine of length, and what is said.
fn tlv(bytes: &mut Vec<u8>, kind: u8, parts: &[&[u8]]) {
    let said = parts.concat();
    let length = u16::try_from(said.len()).unwrap_or(u16::MAX);
    bytes.extend((u16::from(kind) << 9 | length & 0x1ff).to_be_bytes());
    bytes.extend(said);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own() -> Repr {
        let text = |text: &str| text.to_owned();
        Repr { chassis: text("rig-1"), port: text("p1"), ttl: 30, name: text("desk") }
    }

    /// Written down by hand from clause 8.
    #[test]
    fn golden_bytes_of_a_frame() {
        let frame = own().frame(MacAddr([2, 0, 0, 1, 0, 0]));
        let golden = [
            &[0x01, 0x80, 0xc2, 0, 0, 0x0e, 2, 0, 0, 1, 0, 0, 0x88, 0xcc][..],
            &[0x02, 6, 7],
            b"rig-1",
            &[0x04, 3, 7],
            b"p1",
            &[0x06, 2, 0, 30],
            &[0x0a, 4],
            b"desk",
            &[0, 0],
        ]
        .concat();
        assert_eq!(frame[..golden.len()], golden);
        assert_eq!((frame.len(), frame[golden.len()..].iter().max()), (60, Some(&0)));
    }

    #[test]
    fn a_name_that_no_tlv_holds_is_cut_and_the_next_one_is_where_it_should_be() {
        let long = Repr { name: "n".repeat(300), chassis: "c".repeat(300), ..own() };
        let frame = long.frame(MacAddr([2, 0, 0, 1, 0, 0]));
        // 256 is beyond eight bits: the ninth stands beside the type.
        assert_eq!(frame[14..17], [0x03, 0x00, 7]);
        assert_eq!(frame[16 + 256..16 + 259], [0x04, 3, 7]);
        let name = 16 + 256 + 5 + 4;
        assert_eq!(frame[name..name + 2], [0x0a, 255]);
        assert_eq!(frame.len(), name + 2 + 255 + 2);
    }
}
