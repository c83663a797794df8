//! How the packet buffer, its watermarks and its drop counters depart from what is declared.

use super::table::table;

table! {
    /// What a packet buffer does wrong.
    BufferFaults of Buffer

    /// The headroom of a group, and the shared headroom pool, are a cell smaller than declared.
    // The first frame that is lost is the one before the one that may be.
    headroom_one_cell_short;
    /// What a group took from the shared headroom pool is never given back.
    // The second time that groups use their headroom, frames are lost that fitted the first time.
    shared_headroom_not_released;
    /// One group may take all of the shared headroom pool.
    // A lone group loses its first frame only when the whole headroom pool is full.
    headroom_cap_ignored;
    /// Groups have no reserve: everything is charged to the pool.
    // XOFF comes earlier by the frames that the reserve holds, and the watermark counts them.
    reserved_not_counted;
    /// Frames are charged without their descriptors.
    // XOFF comes later, and occupancy is lower, at frame sizes where the descriptor costs a cell.
    descriptor_not_counted;
    /// Watermarks stay as they are when they are cleared.
    // A watermark still shows what was before it was cleared.
    watermark_not_cleared;
    /// A watermark of a queue or group that is cleared begins at zero, whatever is still held.
    // The poll after a clear shows nothing of a queue that is full.
    watermark_forgets_level;
    /// Each lossless frame that is dropped leaves its cells charged to the pool for good.
    // An empty device sends XOFF earlier than before, and its pool's watermark does not return to zero.
    drop_leaks_buffer;
    /// Received PFC frames count among the non-unicast frames of their port.
    // A counter of data frames moves with every PFC frame that the rig sends.
    counter_counts_pfc_as_data;
    /// A lossy frame that finds its queue at its limit goes into headroom space, up to `xoff` for each queue.
    // A lossy queue drops later by `xoff`, and the headroom pool's watermark moves.
    lossy_uses_headroom;
    /// The pool behaves as if it were twice as large as declared.
    // XOFF, and lossy drops where the pool is what limits, come at twice the depth.
    pool_oversubscribed_twice;
    /// Counters of dropped frames are off as soon as a frame was dropped.
    // The counters say that more was lost than is missing.
    drop_counter_off ("by how many", 0..=u32::MAX, default 1);
    /// Frames to a port whose link is down count as dropped by its queue.
    // A counter of drops grows for as long as the link is down.
    dead_link_counted;
    /// Counters of the frames that a port received and sent are off as soon as there was one.
    // The counters of a port say that more passed it than the wire shows.
    port_counters_off ("by how many", 0..=u32::MAX, default 1);
    /// A lossy queue at its limit sends XOFF for its class to the port that the frame came from.
    // A sender of lossy traffic sees PFC for its class.
    lossy_pauses;
    /// A lossless frame that does not go to the pool is dropped at once.
    // Frames are lost as soon as XOFF was sent.
    headroom_unused;
    /// A switch of virtual output queues counts by the port that a frame came in by.
    // Two senders into one queue fill it twice as far as it may be.
    voq_per_source;
    /// A frame takes a packet memory as if it had come in by the port that it leaves by.
    // A sender in one memory is paused for what senders in another one hold.
    memory_of_egress;
    /// A sender that one virtual output queue paused is told to go on as soon as a frame of its leaves another one.
    // XON comes while the queue that the sender was told about is as full as it was.
    xon_of_any_queue;
    /// A request to clear the user or the persistent copy of the watermarks clears both.
    // After a clear of one copy the other shows 0 as well.
    watermark_clear_clears_all;
    /// A request to clear the user or the persistent copy of the watermarks is lost.
    // What the copy showed before the clear it shows after it.
    watermark_clear_lost;
    /// The persistent copy of the watermarks is cleared whenever the periodic one is.
    // A peak is gone from the persistent copy an interval later.
    watermark_persistent_forgets;
    /// Frames of one class are dropped, however empty the buffer is.
    // Whatever the class carries never arrives: as class 6 the CNPs of a NIC behind the switch.
    class_dropped ("which", 0..=7, default 3);
}
