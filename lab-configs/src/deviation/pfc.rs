//! How sending and obeying of PFC depart from what is declared.

use super::table::table;

table! {
    /// What a port does wrong with PFC.
    PfcFaults of Pfc

    /// The PFC frames that the switch sends break their format.
    // Nobody obeys the frames of a congested port, and a capture shows why.
    malformed_pfc (
        "0 another destination, 1 a source of zero, 2 a tag, 3 a reserved bit of the class-enable vector, 4 padding that is not zero, 5 a byte too many",
        0..=5, default 0
    );
    /// XOFF is repeated only after the pause that it asked for has run out by half of its length.
    // Between two frames of a congested port its sender goes on.
    refresh_late;
    /// No XON is sent: the last pause has to run out by itself.
    // A sender that was paused goes on when its pause runs out, and no frame says so.
    xon_never;
    /// XON is sent too late, and XOFF goes on until then.
    // Between the frame whose leaving relieves the group and XON lies more than it should.
    xon_late ("microseconds", 1..=1_000_000, default 500);
    /// A class that is paused also pauses the class above it (class 0 above class 7).
    // Frames of the class above wait while the class is paused.
    pfc_honoured_for_other_class;
    /// A PFC frame that arrives while its class is paused does not restart the pause.
    // A storm has gaps: frames pass between the end of one pause and the next PFC frame.
    pause_time_not_restarted;
    /// XOFF frames name the class above the congested one (class 0 above class 7).
    // The sender that feeds the congested group is not paused, and another class of it is.
    xoff_wrong_class;
    /// An XON ends no pause: it has to run out by itself.
    // A port sleeps on until the pause that it was let go from would have ended.
    xon_ignored;
    /// PFC holds back lossy classes, too.
    // A lossy queue waits that should be sending.
    lossy_obeys_pfc;
    /// One lossy class obeys PFC.
    // One lossy queue waits that should be sending, and its neighbours send.
    lossy_class_obeys_pfc ("which", 0..=7, default 6);
    /// A PFC frame that enables no class pauses all of them.
    // A frame that asks nothing of anybody stops the port.
    empty_vector_pauses;
    /// Of the classes that a PFC frame names only the lowest is paused, or told to go on.
    // The higher of two paused classes goes on sending.
    one_class_of_two_obeyed;
    /// An XOFF that asks for less than is left of a pause does not shorten it.
    // A port sleeps on until the longer pause ends.
    long_pause_stays;
    /// An XON that names more than one class is ignored.
    // A NIC that lets both its classes go with one frame waits for the pauses to run out.
    xon_of_two_ignored;
    /// A PFC frame whose source is zero, or a group, is passed over.
    // A peer whose PFC has no proper source is overrun.
    pfc_wants_usual_source;
    /// A PFC frame whose source is zero, or a group, is obeyed and does not count.
    // A watchdog, and who reads counters, sees nothing of a pause that holds a queue.
    pfc_without_source_not_counted;
    /// PFC frames are passed on to every other port.
    // Who sends to nobody that is congested is paused all the same.
    pfc_forwarded;
    /// XON frames, and PFC frames that name no class, are passed on to every other port.
    // Senders elsewhere that were paused for a reason are let go.
    xon_forwarded;
    /// A port whose link was down obeys no PFC once it is up again.
    // A peer that asks for a pause after its cable was pulled is sent to all the same.
    link_up_obeys_nothing;
    /// A port whose link was down asks nobody for a pause once it is up again.
    // Whoever sends there is not told to stop, and what is lossless is lost.
    link_up_asks_for_nothing;
    /// A port that was shut obeys no PFC once it is open again.
    // A peer that asks for a pause after its port of the switch was started anew is sent to all the same.
    opened_port_obeys_nothing;
    /// A port that was shut asks nobody for a pause once it is open again.
    // Whoever sends there is not told to stop, and what is lossless is lost.
    opened_port_asks_for_nothing;
    /// PFC frames that name lossy classes only are passed on to every other port.
    // A frame that asks nothing of the switch is no business of anybody's.
    lossy_pfc_forwarded;
}
