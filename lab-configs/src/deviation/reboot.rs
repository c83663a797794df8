//! How a switch departs from what it says of its reboots.

use super::table::table;

table! {
    /// What a reboot does wrong.
    RebootFaults of Reboot

    /// Every frame is dropped from a warm reboot on until the software is back.
    // A stream that passes has a hole as long as that.
    warm_reboot_drops;
    /// No port obeys PFC from a warm reboot on until the software is back.
    // A peer that asks for a pause meanwhile is overrun.
    warm_reboot_ignores_pfc;
    /// A warm reboot gives stormed queues back.
    // The queue obeys the storm that goes on, and holds what it is sent.
    warm_reboot_ends_storm;
    /// After a warm reboot each queue is stormed again whose watchdog was stopped while it was: its row of `PFC_WD_TABLE_INSTORM` was left.
    // What is sent to it is dropped, although nobody pauses it.
    warm_reboot_replays_storm;
    /// After a reboot no watchdog polls any more.
    // A storm that comes later is not noticed.
    reboot_forgets_watchdog;
    /// After a fast or a cold reboot no port obeys PFC any more.
    // A peer that asks for a pause then is overrun.
    reboot_leaves_pfc_off;
    /// It takes the order to reboot, and goes on as if there had been none.
    // No reboot is added to those that it says it has come back from, and no stream has a hole.
    reboot_ignored;
    /// In a fast or a cold reboot the chip passes frames for a while, and then stops once more.
    // Each hole is as short as is said; from the first frame that is lost to the last it is longer.
    reboot_stops_twice;
}
