//! How much of a frame a file keeps: what follows the headers of a frame of data says nothing.

use crate::{Record, What};
use rig_testcases::{Roce, RoceKind};

/// Ethernet, IPv4, UDP, BTH and RETH are 70 bytes; a plain frame's number ends at byte 52. Whole words.
const HEADERS: usize = 72;

/// What a SecTAG with an SCI adds in front of them, in whole words.
const SECTAG: usize = 16;

/// How many bytes of a record's frame are kept, at most. A frame that was harmed is kept whole: what is wrong with it may be
/// at its end.
pub(super) fn kept(record: &Record) -> usize {
    let (tag, harmed) = match record.secured {
        Some(secured) => (SECTAG, secured.harm.is_some()),
        None => (0, false),
    };
    match record.what {
        _ if harmed => usize::MAX,
        What::Data { .. } | What::Roce(Roce { kind: RoceKind::Data { .. }, harmed: false, .. }) => {
            HEADERS + tag
        }
        What::Other { .. } | What::Pfc { .. } | What::BadPfc { .. } | What::Roce(_) => usize::MAX,
    }
}
