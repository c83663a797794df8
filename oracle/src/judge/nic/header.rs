//! What stands in a CNP: BTH opcode 0x81, BECN set, FECN clear, PSN 0, reserved bytes of zero (IBTA volume 1, A17.9.3), DSCP and
//! ECN as they are declared.

use rig_lab::Np;

/// The opcode of a CNP.
const OPCODE: u8 = 0x81;

/// What a CNP says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// BTH opcode.
    pub opcode: u8,
    /// BECN.
    pub becn: bool,
    /// FECN.
    pub fecn: bool,
    /// PSN.
    pub psn: u32,
    /// The bytes behind the BTH.
    pub reserved: [u8; 16],
    /// DSCP.
    pub dscp: u8,
    /// The two bits of the ECN field.
    pub ecn: u8,
}

/// A field that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wrong {
    /// Its name.
    pub field: &'static str,
    /// What it should be.
    pub want: u64,
    /// What it is.
    pub got: u64,
}

/// Every field of a CNP that is wrong. The reserved bytes tell how many of them are not zero.
pub fn header(np: &Np, header: &Header) -> Vec<Wrong> {
    let spoilt = header.reserved.iter().filter(|byte| **byte != 0).count();
    let fields = [
        ("bth.opcode", u64::from(OPCODE), u64::from(header.opcode)),
        ("bth.becn", 1, u64::from(header.becn)),
        ("bth.fecn", 0, u64::from(header.fecn)),
        ("bth.psn", 0, u64::from(header.psn)),
        ("cnp.reserved", 0, spoilt as u64),
        ("ip.dscp", u64::from(np.dscp), u64::from(header.dscp)),
        ("ip.ecn", np.ecn as u64, u64::from(header.ecn)),
    ];
    let wrong = fields.into_iter().filter(|(_, want, got)| want != got);
    wrong.map(|(field, want, got)| Wrong { field, want, got }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::{EcnField, Nic};

    #[test]
    fn each_field_that_is_wrong_is_named() {
        let np = Np { dscp: 48, ecn: EcnField::Ect0, ..Nic::none().np };
        let reserved = [0; 16];
        let good =
            Header { opcode: 0x81, becn: true, fecn: false, psn: 0, reserved, dscp: 48, ecn: 2 };
        assert_eq!(header(&np, &good), []);
        let bad = Header {
            opcode: 0x11,
            becn: false,
            fecn: true,
            psn: 3,
            reserved: [0, 7, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
            dscp: 26,
            ecn: 1,
        };
        let wrong = header(&np, &bad);
        let told: Vec<(&str, u64, u64)> =
            wrong.iter().map(|wrong| (wrong.field, wrong.want, wrong.got)).collect();
        let want = [
            ("bth.opcode", 0x81, 0x11),
            ("bth.becn", 1, 0),
            ("bth.fecn", 0, 1),
            ("bth.psn", 0, 3),
            ("cnp.reserved", 0, 2),
            ("ip.dscp", 48, 26),
            ("ip.ecn", 2, 1),
        ];
        assert_eq!(told, want);
    }
}
