//! The 802.1Q tag of a frame (IEEE 802.1Q 9.6), read and changed where it stands, whatever follows behind it.

use rig_frames::ethernet::{self, ethertype};
use rig_frames::vlan;
use rig_units::{FCS, MIN_FRAME};

/// Where the type of what is in the frame begins: the tag stands there.
const AT: usize = ethernet::LEN - 2;

/// The priority in the tag of a frame; `None` where it has none.
pub(super) fn read(frame: &[u8]) -> Option<u8> {
    let tagged = frame.get(AT..ethernet::LEN)? == ethertype::VLAN.to_be_bytes();
    frame.get(ethernet::LEN).filter(|_| tagged).map(|first| first >> 5)
}

/// Gives the tag of a frame this priority, or takes it off. A frame that has none stays as it is.
pub(super) fn set(frame: &mut Vec<u8>, pcp: Option<u8>) {
    if read(frame).is_none() {
        return;
    }
    let Some(pcp) = pcp else {
        frame.drain(AT..AT + vlan::LEN);
        let least = usize::try_from(MIN_FRAME.0 - FCS.0).unwrap_or(0);
        return frame.resize(frame.len().max(least), 0);
    };
    let first = &mut frame[ethernet::LEN];
    *first = *first & 0x1f | pcp << 5;
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of 100 B behind a tag: priority 5, droppable, VLAN 0x123.
    fn tagged() -> Vec<u8> {
        let mut frame = vec![9; 12];
        frame.extend([0x81, 0x00, 0xb1, 0x23, 0x08, 0x00]);
        frame.resize(100, 7);
        frame
    }

    #[test]
    fn the_priority_changes_and_nothing_else() {
        let mut frame = tagged();
        assert_eq!(read(&frame), Some(5));
        set(&mut frame, Some(5));
        assert_eq!(frame, tagged());
        set(&mut frame, Some(2));
        let mut want = tagged();
        want[14] = 0x51;
        assert_eq!((read(&frame), frame), (Some(2), want));
    }

    #[test]
    fn a_tag_that_is_taken_off_leaves_a_whole_frame() {
        let mut frame = tagged();
        set(&mut frame, None);
        let mut want = tagged();
        want.drain(12..16);
        assert_eq!((frame.len(), read(&frame)), (96, None));
        assert_eq!(frame, want);
        let mut short = tagged();
        short.truncate(60);
        set(&mut short, None);
        assert_eq!((short.len(), &short[56..]), (60, &[0; 4][..]));
    }

    #[test]
    fn a_frame_without_a_tag_gets_none() {
        for short in [0, 12, 14, 60] {
            let mut frame = vec![1; short];
            set(&mut frame, Some(3));
            assert_eq!((read(&frame), frame), (None, vec![1; short]));
        }
    }
}
