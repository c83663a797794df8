//! What DCB of an interface is set to, part by part, and the bytes of each part: the structures of linux/dcbnl.h.
//!
//! Numbers are in the byte order of this machine, as netlink has them; a server's is taken to be the same.

/// Priorities of a frame, and the most traffic classes.
pub(crate) const CLASSES: usize = 8;

/// Something for each priority, or for each traffic class.
pub(crate) type Each<T> = [T; CLASSES];

/// `IEEE_8021QAZ_APP_SEL_DSCP`: the selector of an entry whose protocol is a DSCP.
const DSCP: u8 = 5;

/// What an interface is set to. What its driver does not offer is missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Dcb {
    pub(crate) ets: Option<Ets>,
    pub(crate) pfc: Option<Pfc>,
    /// The most that each traffic class sends, in kb/s; 0 is no limit.
    pub(crate) max_rate: Option<Each<u64>>,
    pub(crate) buffer: Option<Buffer>,
    /// Which priority what arrives has; none where there is no table.
    pub(crate) app: Vec<App>,
    pub(crate) owner: Option<Owner>,
}

/// A part that is set by one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Part {
    Ets(Ets),
    Pfc(Pfc),
    MaxRate(Each<u64>),
    Buffer(Buffer),
    /// Entries that are added to the table.
    App(Vec<App>),
}

/// How a traffic class is selected (the TSA table).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Selection {
    Strict,
    CreditShaped,
    Ets,
    Vendor,
    /// A number that has no name.
    Other(u8),
}

/// `struct ieee_ets`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ets {
    /// Whether a neighbour may set it.
    pub(crate) willing: u8,
    /// How many traffic classes there may be.
    pub(crate) most: u8,
    pub(crate) credit_shaper: u8,
    /// Hundredths of the bandwidth, by traffic class, of what is sent and of what is received.
    pub(crate) sent: Each<u8>,
    pub(crate) received: Each<u8>,
    pub(crate) selection: Each<Selection>,
    /// The traffic class of each priority.
    pub(crate) classes: Each<u8>,
    /// What is recommended to the neighbour: bandwidth, selection, classes.
    pub(crate) recommended: [Each<u8>; 3],
}

/// `struct ieee_pfc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pfc {
    /// How many priorities may have it.
    pub(crate) most: u8,
    /// A bit for each priority that has it.
    pub(crate) on: u8,
    pub(crate) macsec_bypass: u8,
    /// Bits that are still on their way when a pause is said.
    pub(crate) delay: u16,
    /// Pauses sent and received, by priority.
    pub(crate) requests: Each<u64>,
    pub(crate) indications: Each<u64>,
}

/// `struct dcbnl_buffer`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Buffer {
    /// The buffer of each priority.
    pub(crate) of: Each<u8>,
    /// Bytes of each buffer.
    pub(crate) bytes: Each<u32>,
    /// Bytes of all that there may be.
    pub(crate) total: u32,
}

/// `struct dcb_app`: the priority of frames of a protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct App {
    pub(crate) selector: u8,
    pub(crate) protocol: u16,
    pub(crate) priority: u8,
}

/// Who agrees with the neighbour what is set: the bits of `DCB_ATTR_DCBX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owner(pub(crate) u8);

impl Owner {
    const BITS: [(u8, &str); 5] =
        [(1, "host"), (2, "lld-managed"), (4, "cee"), (8, "ieee"), (16, "static")];

    /// Whether the host has it. Drivers say that their firmware has it in one of two ways: `lld-managed` (Intel, Broadcom), or not `host` (mlx5).
    pub(crate) const fn is_host(self) -> bool {
        self.0 & 1 != 0 && self.0 & 2 == 0
    }

    /// Its bits by the words that `dcb dcbx` has for them.
    pub(crate) fn words(self) -> String {
        let words = Owner::BITS.iter().filter(|(bit, _)| self.0 & bit != 0);
        let words: Vec<&str> = words.map(|(_, word)| *word).collect();
        if words.is_empty() { "none".to_owned() } else { words.join(" ") }
    }
}

impl App {
    /// The entry of a DSCP.
    pub(crate) const fn of_dscp(dscp: u8, priority: u8) -> App {
        App { selector: DSCP, protocol: dscp as u16, priority }
    }

    /// The DSCP that it is of, where it is of one.
    pub(crate) fn dscp(&self) -> Option<u8> {
        (self.selector == DSCP).then(|| u8::try_from(self.protocol).ok()).flatten()
    }

    pub(super) fn read(bytes: &[u8]) -> Option<App> {
        let [selector, priority, first, second] = bytes.try_into().ok()?;
        Some(App { selector, protocol: u16::from_ne_bytes([first, second]), priority })
    }

    pub(super) fn bytes(self) -> Vec<u8> {
        let App { selector, protocol, priority } = self;
        [&[selector, priority][..], &protocol.to_ne_bytes()].concat()
    }
}

impl Selection {
    fn read(number: u8) -> Selection {
        match number {
            0 => Selection::Strict,
            1 => Selection::CreditShaped,
            2 => Selection::Ets,
            255 => Selection::Vendor,
            other => Selection::Other(other),
        }
    }

    const fn number(self) -> u8 {
        match self {
            Selection::Strict => 0,
            Selection::CreditShaped => 1,
            Selection::Ets => 2,
            Selection::Vendor => 255,
            Selection::Other(number) => number,
        }
    }
}

impl Ets {
    pub(super) fn read(bytes: &[u8]) -> Option<Ets> {
        let (head, tables) = bytes.split_at_checked(3)?;
        let (tables, []) = tables.as_chunks::<CLASSES>() else { return None };
        let [sent, received, selection, classes, recommended @ ..] = tables else { return None };
        Some(Ets {
            willing: head[0],
            most: head[1],
            credit_shaper: head[2],
            sent: *sent,
            received: *received,
            selection: selection.map(Selection::read),
            classes: *classes,
            recommended: recommended.try_into().ok()?,
        })
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let mut bytes = vec![self.willing, self.most, self.credit_shaper];
        let selection = self.selection.map(Selection::number);
        for table in [self.sent, self.received, selection, self.classes] {
            bytes.extend(table);
        }
        bytes.extend(self.recommended.as_flattened());
        bytes
    }
}

/// Its padding is that of C: in front of the delay, and behind it.
impl Pfc {
    pub(super) fn read(bytes: &[u8]) -> Option<Pfc> {
        let (head, counted) = bytes.split_at_checked(8)?;
        let [most, on, macsec_bypass, _, first, second, _, _] = head.try_into().ok()?;
        let counted = numbers::<{ 2 * CLASSES }>(counted)?;
        let (requests, indications) = counted.split_at(CLASSES);
        Some(Pfc {
            most,
            on,
            macsec_bypass,
            delay: u16::from_ne_bytes([first, second]),
            requests: requests.try_into().ok()?,
            indications: indications.try_into().ok()?,
        })
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let Pfc { most, on, macsec_bypass, delay, requests, indications } = self;
        let mut bytes = vec![*most, *on, *macsec_bypass, 0];
        bytes.extend(delay.to_ne_bytes());
        bytes.extend([0, 0]);
        bytes.extend(requests.iter().chain(indications).flat_map(|count| count.to_ne_bytes()));
        bytes
    }
}

impl Buffer {
    pub(super) fn read(bytes: &[u8]) -> Option<Buffer> {
        let (of, sizes) = bytes.split_at_checked(CLASSES)?;
        let (sizes, []) = sizes.as_chunks::<4>() else { return None };
        let (total, sizes) = sizes.split_last()?;
        let bytes: [[u8; 4]; CLASSES] = sizes.try_into().ok()?;
        Some(Buffer {
            of: of.try_into().ok()?,
            bytes: bytes.map(u32::from_ne_bytes),
            total: u32::from_ne_bytes(*total),
        })
    }

    pub(super) fn bytes(&self) -> Vec<u8> {
        let Buffer { of, bytes, total } = self;
        let sizes = bytes.iter().chain([total]).flat_map(|size| size.to_ne_bytes());
        of.iter().copied().chain(sizes).collect()
    }
}

/// So many numbers of 64 bits.
pub(super) fn numbers<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    let (numbers, []) = bytes.as_chunks::<8>() else { return None };
    let numbers: [[u8; 8]; N] = numbers.try_into().ok()?;
    Some(numbers.map(u64::from_ne_bytes))
}
