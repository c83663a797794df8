//! How a NIC departs from what PFC asks of it, and from when it should send some.

use super::table::table;

table! {
    /// What a NIC makes wrong of PFC.
    NicPfcFaults of NicPfc

    /// A NIC stops for an XOFF later than it says.
    // Frames of a priority that its peer has no room for go on coming.
    nic_stops_late ("nanoseconds more", 1..=1_000_000, default 2_000);
    /// No XOFF ever stops a NIC.
    nic_never_stops;
    /// An XOFF for one priority stops a NIC in all of them.
    // As PAUSE would.
    nic_stops_all_priorities;
    /// XOFF stops a NIC in priorities for which PFC is not enabled.
    nic_stops_without_pfc;
    /// A PFC frame that enables no priority stops a NIC in all of them.
    nic_stops_for_no_priority;
    /// A PFC frame that enables no priority and asks for no time stops a NIC in all of them for the longest time.
    nic_stops_for_any_frame;
    /// A NIC passes over a PFC frame whose source is zero, or a group.
    // A switch that sends such is overrun.
    nic_wants_usual_source;
    /// A NIC stops for a PFC frame to all.
    // Whoever can send it a frame can stop it, and everybody else.
    nic_stops_for_broadcast;
    /// A NIC takes a pause of no quanta for the longest one.
    nic_stops_for_no_time;
    /// Of the priorities that a PFC frame names a NIC stops in the lowest alone.
    nic_stops_in_one_of_two;
    /// A NIC counts quanta by the speed of another port.
    // Pauses are too long, or too short.
    nic_quanta_of_speed ("Gb/s", 1..=1_600, default 40);
    /// XON lets a NIC go on no sooner than the pause would have.
    nic_ignores_xon;
    /// An XON for more than one priority lets a NIC go on in none.
    nic_ignores_xon_of_two;
    /// XOFF while a NIC is stopped does not prolong the pause.
    nic_pause_not_prolonged;
    /// XOFF while a NIC is stopped adds to what is left of the pause.
    // Who refreshes a pause stops the NIC for good.
    nic_pauses_add_up;
    /// The NIC is held by the longest pause that was asked for, not by the last: one that asks for less does not shorten it.
    nic_pause_not_shortened;
    /// A NIC whose buffer fills sends its XOFF later than it says.
    // What arrives meanwhile finds no room.
    nic_xoff_late ("nanoseconds more", 1..=1_000_000, default 20_000);
    /// A NIC whose buffer fills sends no XOFF at all.
    nic_xoff_missing;
    /// A NIC sends XOFF for the priority above the one that fills its buffer.
    nic_pause_wrong_priority;
    /// A NIC sends XOFF for all priorities that have PFC when one of them fills its buffer.
    nic_pauses_all_priorities;
    /// A NIC's XOFF and XON name the priorities without PFC, too.
    // Whoever obeys stops what nobody protects, or that the two have PFC for other priorities is told as a fault of the link.
    nic_pauses_priorities_without_pfc;
    /// A NIC sends XOFF when its buffer has filled half the way from where XON is due to where XOFF is.
    nic_pauses_without_need;
    /// The context of a connection is read over the bus for each of its frames, however few connections there are.
    // With one connection it is as slow as with thousands.
    nic_contexts_forgotten;
    /// The context of a connection that makes room for another is written back over the bus first.
    // A context that is not at hand costs twice what is declared.
    nic_contexts_written_back;
    /// The address of a page is read over the bus for each frame, however few pages there are.
    nic_pages_forgotten;
    /// What a host sends to itself crosses its bus twice as often as it says.
    nic_loopback_doubled;
    /// A NIC sends no XON: whoever paused for it waits until the pause is over.
    nic_xon_missing;
    /// A NIC sends XON later than it says.
    nic_xon_late ("microseconds more", 1..=1_000_000, default 20);
    /// A NIC sends XON when its buffer has emptied half the way from where XOFF is due to where XON is.
    nic_xon_early;
    /// A NIC sends its XOFF once, however long its buffer stays full.
    // Frames come again when the pause is over.
    nic_refresh_missing;
    /// A NIC asks for half of the pause that it says.
    nic_pause_too_short;
    /// A NIC asks for a pause for as long as its buffer is full, whatever its watchdog says.
    // One server that hangs stops all that is sent to it, and what stands behind that.
    nic_watchdog_missing;
    /// The watchdog of a NIC stops it from asking in half of the time.
    // A host that is slow for a moment loses what it had time to ask for.
    nic_watchdog_early;
    /// A NIC whose watchdog stopped it asks for no pause ever again.
    nic_watchdog_for_good;
    /// The watchdog of a NIC goes by the time since its first XOFF, whatever XON came since.
    // A host that is slow now and then is taken for one that hangs.
    nic_watchdog_ignores_xon;
}
