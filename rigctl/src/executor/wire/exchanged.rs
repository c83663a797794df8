//! Frames between the rig and a device that tells how many it took in and sent: what one end counted and the other did not was lost, or
//! waits, on a machine that carries both. The device is told off for none of it.

use rig_dut::control::Health;

/// What the rig's ports counted, all of them together, since the device was last asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Exchanged {
    /// Handed over to the device.
    pub(super) sent: u64,
    /// Taken in, some of it maybe sent before that.
    pub(super) came: u64,
}

impl Exchanged {
    /// That frames of the rig's have not reached the device.
    pub(super) fn short_of_device(self, health: &Health) -> Option<String> {
        let missing = self.sent.checked_sub(health.received).filter(|missing| *missing > 0)?;
        let sent = self.sent;
        Some(format!(
            "{missing} of {sent} frames that the rig sent had not reached the served device by the time it was asked"
        ))
    }

    /// That frames of the device's have not reached the rig.
    pub(super) fn short_of_rig(self, health: &Health) -> Option<String> {
        let missing = health.sent.checked_sub(self.came).filter(|missing| *missing > 0)?;
        let sent = health.sent;
        Some(format!(
            "{missing} of {sent} frames that the served device sent had not reached the rig by the time it was asked"
        ))
    }

    /// That both ends counted the same: then nothing between them is missing, whatever did not arrive.
    pub(super) fn agrees(self, health: &Health) -> bool {
        self == Exchanged { sent: health.received, came: health.sent }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_frame_that_only_one_end_counted_is_missing() {
        let exchanged = Exchanged { sent: 7, came: 9 };
        let health = |received, sent| Health { received, sent, ..Health::default() };
        assert_eq!(exchanged.short_of_device(&health(7, 0)), None);
        // What came from before, or from elsewhere, is none too many.
        assert_eq!(exchanged.short_of_device(&health(8, 0)), None);
        let short = exchanged.short_of_device(&health(6, 0)).expect("one");
        insta::assert_snapshot!(short, @"1 of 7 frames that the rig sent had not reached the served device by the time it was asked");
        assert_eq!(exchanged.short_of_rig(&health(0, 9)), None);
        // One too many at one port may hide one that is missing at another.
        let alike = |received, sent| exchanged.agrees(&health(received, sent));
        assert_eq!(
            [alike(7, 9), alike(8, 9), alike(7, 8), alike(6, 9)],
            [true, false, false, false]
        );
        let short = exchanged.short_of_rig(&health(0, 11)).expect("two");
        insta::assert_snapshot!(short, @"2 of 11 frames that the served device sent had not reached the rig by the time it was asked");
    }
}
