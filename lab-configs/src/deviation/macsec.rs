//! How ports depart from their MACsec policy.

use super::table::table;

table! {
    /// What a port does wrong with MACsec.
    MacsecFaults of Macsec

    /// PFC frames that arrive protected are dropped where they should be obeyed.
    // A sender that is told in the agreed form goes on, and nothing counts it as wrong.
    macsec_encrypted_pfc_dropped;
    /// PFC frames that arrive in clear are obeyed where they should be refused.
    // Anybody on the cable can pause the device.
    macsec_clear_pfc_accepted;
    /// Frames that are older than the replay window come through.
    // A frame that is sent twice arrives twice.
    macsec_replay_window_ignored;
    /// Frames whose ICV is wrong come through, if they can be read.
    // Forged frames arrive at the far end.
    macsec_icv_not_checked;
    /// Frames that are dropped because they are too old count as valid.
    // The counters say that frames came through that nobody received.
    macsec_late_counted_as_ok;
    /// PFC frames are sent in clear where they should be protected.
    // A peer that refuses PFC in clear is never paused.
    macsec_pfc_sent_clear;
    /// After a rekey the device goes on sending with the association before.
    // A peer that has let go of the old association drops everything.
    macsec_an_not_switched;
    /// Frames of secure channels that it does not know come through.
    // Frames of a stranger's channel arrive at the far end.
    macsec_sci_not_checked;
    /// A PFC frame that is refused, for whatever reason, pauses all the same.
    // Forged, replayed and unwanted PFC frames pause the device.
    macsec_bad_frame_pauses;
    /// Packet numbers begin again at 0 when they are used up.
    // Frames go on after the last packet number, under numbers that were used before.
    macsec_pn_wraps;
    /// PFC frames that arrive protected count twice among the valid frames.
    // The counter of valid frames and the frames on the wire disagree by those of PFC.
    macsec_ok_counts_pfc_twice;
    /// At a rekey the association before is forgotten at once, with the frames under way.
    // A rekey costs the frames that were sent just before it.
    macsec_rekey_forgets_old_sa;
    /// The headroom was sized without MACsec: it is smaller by what its latency takes both ways, and the longer PFC frame.
    macsec_headroom_too_small;
    /// A PFC frame that is sent in clear takes a packet number all the same.
    // Between two protected frames lie the numbers of the PFC frames in clear.
    macsec_clear_pfc_takes_number;
}
