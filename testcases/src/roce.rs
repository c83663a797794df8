//! A frame of a connection of a NIC, or a datagram, as a small value.

use rig_frames::ip::Ecn;
use rig_frames::roce::aeth::RnrTimer;
use rig_lab::IpVersion;

/// A frame of a reliable connection between the rig and a NIC, or between two NICs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Roce {
    /// The connection: streams of the script first, then its flows; one that the script does not have is no one's.
    pub connection: u16,
    /// What it is.
    pub kind: RoceKind,
    /// Packet sequence number, 24 bits.
    pub psn: u32,
    /// Size, FCS counted.
    pub size: u16,
    /// What it says of congestion.
    pub ecn: Ecn,
    /// DSCP of its IP header.
    pub dscp: u8,
    /// Whether its ICRC is wrong.
    pub corrupt: bool,
    /// What it goes over.
    pub over: IpVersion,
    /// At which of the rig's addresses the other end is; 0 is the usual one.
    pub address: u8,
    /// At which of the NIC's own addresses it is, of its GIDs; 0 is the usual one.
    pub gid: u8,
    /// The UDP port that it comes from.
    pub udp_src: u16,
    /// MigReq of its BTH: the connection is in its migrated state. Of a CNP nothing is said of it: always true.
    pub mig_req: bool,
    /// Whether immediate data, or a key to revoke, comes with it.
    pub tail: bool,
    /// Of a datagram: whether its Q_Key is another than that of the queue that it goes to.
    pub other_key: bool,
    /// The last byte of the R_Key of memory that it works on, that it revokes, or that it tells of; 0: of the one that never changes, or of none. What it tells of
    /// is payload, of which a file has nothing.
    pub key: u8,
    /// Of an acknowledgement of an atomic operation: what was there before it, the lower half.
    pub found: Option<u32>,
}

impl Roce {
    /// A frame of a connection as a NIC sends it, of a size in bytes, FCS counted: no mark, no DSCP, nothing wrong.
    pub const fn of(connection: u16, kind: RoceKind, psn: u32, size: u16) -> Roce {
        Roce {
            connection,
            kind,
            psn,
            size,
            ecn: Ecn::NotEct,
            dscp: 0,
            corrupt: false,
            over: IpVersion::V4,
            address: 0,
            gid: 0,
            udp_src: crate::wire::udp_port(connection),
            mig_req: true,
            tail: false,
            other_key: false,
            key: 0,
            found: None,
        }
    }
}

/// What a frame of a reliable connection is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RoceKind {
    /// Payload of a message of more packets, or of one; an atomic operation is a message of one.
    Data {
        /// The message begins with it.
        first: bool,
        /// The message ends with it.
        last: bool,
        /// It answers a READ.
        response: bool,
    },
    /// Everything up to its number has arrived.
    Ack,
    /// Its number is missing (PSN sequence error).
    Nak,
    /// The receiver has no buffer for the message that begins with its number: to be sent again after this time (RNR NAK).
    NotReady(RnrTimer),
    /// The memory that the request of its number names may not be touched: the connection is over (NAK, remote access error).
    Denied,
    /// The receiver met congestion.
    Cnp {
        /// The first thing that is wrong with it.
        fault: Option<CnpFault>,
    },
    /// Asks for data.
    ReadRequest,
}

/// What is wrong with a CNP (RoCEv2, IBTA Annex A17.9.3), in the order of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CnpFault {
    /// BECN is clear.
    Becn,
    /// FECN is set.
    Fecn,
    /// Its packet sequence number is not zero.
    Psn,
    /// Its reserved bytes are not zero.
    Reserved,
}

impl CnpFault {
    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            CnpFault::Becn => "BECN is clear",
            CnpFault::Fecn => "FECN is set",
            CnpFault::Psn => "its PSN is not 0",
            CnpFault::Reserved => "its reserved bytes are not zero",
        }
    }
}
