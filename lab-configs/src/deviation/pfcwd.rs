//! How the PFC watchdog departs from its rule, its actions and its ranges.

use super::table::table;

table! {
    /// What a PFC watchdog does wrong.
    PfcwdFaults of Pfcwd

    /// Never detects a storm on one class.
    // A storm on that class pauses its queue for good.
    detection_ignores_class ("the class", 0..=7, or "the highest guarded one");
    /// A poll without the condition leaves the time left as it is.
    // Two storms, each too short by itself, add up.
    timer_not_reset_by_gap;
    /// An XON frame is taken for a pause by the detection rule.
    // XON frames alone, at least one per poll, fire.
    xon_counts_as_storm;
    /// The detection rule takes an empty queue for one in which data waits.
    // A pause of a queue that nobody uses costs the first data that come.
    idle_queue_fires;
    /// The detection rule takes a queue that was paused at all since the last poll for one that was stuck since then.
    // A receiver that is merely slow is fired at.
    any_pause_is_storm;
    /// Restores one poll too early.
    // Every restoration comes one poll early, where it takes more than one.
    restores_too_early;
    /// Restores when the restoration time has passed, storm or not.
    // A storm that goes on is fired at again and again.
    restores_during_storm;
    /// A recovery in hardware begins anew when its time has passed and the class is still paused.
    // It lasts as long as the storm, in whole recovery times.
    recovery_waits_for_quiet;
    /// A late frame within the restoration time does not restart it.
    // Restoration counts from the last frame before the first quiet poll.
    late_frame_does_not_restart;
    /// An XON frame within the restoration time does not restart it.
    // The same for XON only; nothing to see where XON is not counted anyway.
    xon_does_not_restart;
    /// The drop action lets the first frames through.
    // Frames that arrive during the drop come out at the far end.
    drop_leaks ("how many", 0..=u32::MAX, default 1);
    /// The drop action also takes the next guarded queue of the same port.
    // The neighbour's frames are lost while the storm lasts.
    drop_spreads_to_queue;
    /// The drop action also takes the same queue of the next port.
    drop_spreads_to_port;
    /// The forward action drops.
    forward_drops;
    /// The alert action drops.
    alert_acts;
    /// Acts on a storm and tells nobody.
    // The wire shows an action of which no event tells.
    storm_untold;
    /// Leaves the same number of polls out each time.
    // Detection and restoration take so many more intervals.
    skips_polls ("how many", 0..=1_000, default 1);
    /// No poll is evaluated after the first storm has been restored.
    // A second storm is not noticed.
    poll_stops_after_storm;
    /// The watchdog's packet counters are off.
    // Watchdog counters and frames on the wire disagree.
    counters_off ("by how many", 0..=u32::MAX, default 1);
    /// The senders that fed the queue stay paused after the drop action has begun.
    // No XON, and XOFF again and again, until the queue is restored.
    pfc_continues_after_drop;
    /// Big red switch misses the highest guarded queue of the last port.
    // One queue still forwards, or still holds.
    big_red_switch_misses_queue;
    /// Values outside the documented ranges are accepted.
    accepts_out_of_range;
    /// Values at either end of the documented ranges are refused.
    // A value that the documents allow is not taken.
    refuses_limits;
    /// A buffer change while a queue is stormed resets the queue to operational.
    // The queue obeys the storm again and is fired at a second time.
    buffer_change_ends_storm;
    /// A link that goes down and up counts as a storm.
    // A storm is published, and acted on, as long after the link came up as detection takes.
    link_toggle_fires;
    /// PFC frames that the switch itself sends count as received ones.
    // A port that congestion makes send XOFF is fired at; its restoration waits for the last of them.
    own_pfc_counts_as_storm;
    /// Of the ports stormed at one time only the first is detected.
    // The queues of every other port stay paused.
    one_port_at_a_time;
    /// A watchdog that is restarted goes on with what it had seen.
    // Half a storm before a restart and half after it make a whole one.
    restart_forgets_nothing;
    /// Whoever clears counters takes from the watchdogs what they have seen of a storm.
    // A storm that was under way is detected as if it had begun then.
    clear_forgets_storm;
    /// No poll is evaluated after the watchdog has been restarted.
    // A storm that comes after a restart is not noticed.
    poll_stops_after_restart;
}
