//! What is done to packets of a connection on purpose: as if the network, or a NIC at the other end, did it.

use core::fmt;
use core::str::FromStr;

/// What is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleKind {
    /// A request is lost before it arrives.
    Drop,
    /// A request arrives with a wrong ICRC, and is dropped where that is checked.
    Corrupt,
    /// A request is taken, and its acknowledgement is lost.
    Withhold,
}

/// One rule: what, to which packet, how often.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PacketRule {
    /// What is done.
    pub kind: RuleKind,
    /// The packet, counted from the first sequence number of the connection, which is 0.
    pub packet: u32,
    /// To so many of its copies, the first ones.
    pub copies: u32,
}

/// How the rig's end of a connection behaves.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Conduct {
    /// What is done to packets.
    pub rules: Vec<PacketRule>,
    /// It acknowledges one in so many packets, and the last of each message; `None`: those that ask for it.
    pub ack_every: Option<u16>,
}

const WORDS: [(&str, RuleKind); 3] =
    [("drop", RuleKind::Drop), ("corrupt", RuleKind::Corrupt), ("withhold", RuleKind::Withhold)];

impl FromStr for PacketRule {
    type Err = String;

    /// `drop:12`, or `drop:12:3` for its first three copies.
    fn from_str(text: &str) -> Result<PacketRule, String> {
        let bad = || {
            format!(
                "`{text}`: want drop:N, corrupt:N or withhold:N, with :COPIES behind it for more than the first, such as drop:12:3"
            )
        };
        let (word, rest) = text.split_once(':').ok_or_else(bad)?;
        let (_, kind) = WORDS.into_iter().find(|(known, _)| *known == word).ok_or_else(bad)?;
        let (packet, copies) = rest.split_once(':').unwrap_or((rest, "1"));
        let packet = packet.parse().ok().filter(|&packet| packet < 1 << 23).ok_or_else(bad)?;
        let copies = copies.parse().ok().filter(|&copies| copies > 0).ok_or_else(bad)?;
        Ok(PacketRule { kind, packet, copies })
    }
}

impl fmt::Display for PacketRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word =
            WORDS.into_iter().find(|(_, kind)| *kind == self.kind).map_or("", |(word, _)| word);
        write!(f, "{word}:{}:{}", self.packet, self.copies)
    }
}

impl PacketRule {
    /// Whether it is done to copy `copy` of packet `packet`, the first copy being 1.
    pub const fn applies(&self, kind: RuleKind, packet: u32, copy: u32) -> bool {
        let same = matches!(
            (self.kind, kind),
            (RuleKind::Drop, RuleKind::Drop)
                | (RuleKind::Corrupt, RuleKind::Corrupt)
                | (RuleKind::Withhold, RuleKind::Withhold)
        );
        same && self.packet == packet && copy <= self.copies
    }
}
