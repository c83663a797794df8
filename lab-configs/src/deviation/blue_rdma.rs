//! How NICs of blue-rdma depart from the dialect.

use super::table::table;

table! {
    /// What a NIC of blue-rdma, or its driver, does wrong.
    BlueRdmaFaults of BlueRdma

    /// Packets in the middle of a message have no RETH.
    // As those of RoCEv2: out of order nobody knows where they go.
    reth_missing_in_middle;
    /// No packet of a SEND has a RETH.
    // As in the older files of the RTL: the receiver's driver would have to say where each goes.
    send_without_reth;
    /// Packets in the middle of a READ response have no RETH.
    // Where they overtake each other nobody knows which of them is what was read.
    reth_missing_in_response;
    /// The second RETH of a READ request is zero.
    // Nothing says where the answer goes.
    second_reth_missing;
    /// A READ is answered to the address that was read.
    // As where the first RETH is taken for the second: another memory of the requester's is written over.
    answer_where_it_was_read;
    /// What is sent again is not marked as such.
    // The receiver's driver says nothing of what is still missing.
    retry_not_marked;
    /// Bitmaps stand one bit too high: each bit is that of the packet before.
    // The sender takes what is missing for what has come.
    bitmap_off_by_one;
    /// The window moves by 32 packets at once instead of 16.
    // The bits of an acknowledgement are those of other packets.
    stride_wrong;
    /// Bits of a window that is left behind whole stay where they are.
    // What was lost in a row longer than the window has come, by the bitmap.
    window_not_cleared;
    /// The driver posts messages whatever is outstanding.
    // Numbers that are under way twice: an acknowledgement of the one is taken for one of the other.
    window_overrun;
    /// Answers to READs fill the windows of whoever answers, and nothing empties them.
    // As in the released driver: no answer is signalled, and none is acknowledged. What is asked for beyond is never answered.
    answers_fill_window;
    /// The last packet of a message leaves without its immediate data.
    // The receiver gets no completion: nobody tells it that a WRITE has come.
    immediate_missing;
    /// Immediate data leaves as it lies in the sender's memory, the lowest byte first.
    // The two ends take the same four bytes for different numbers.
    immediate_swapped;
    /// A packet is taken only where the one before it has come.
    // As a NIC of RoCEv2 does: the RETH in each packet is of no use.
    out_of_order_dropped;
    /// What is sent again ends with the stride before the newest.
    // What is missing of the newest waits for the next acknowledgement.
    resends_a_stride_less;
    /// The timer never runs out.
    // With the released driver's exponent of 50 it takes 146 years.
    rto_never;
    /// A packet of RoCEv2 with the number of one of its own counts as that one.
    // Its payload stands where the key should: whoever does not look places nothing, and says that it came.
    takes_rocev2;
    /// Packets of RoCEv2 are acknowledged as a NIC of RoCEv2 does.
    // The other end takes that for a loss of its own, or for nothing: no queue pair of RoCEv2 is open here.
    answers_rocev2;
    /// No CNP for a marked packet.
    cnp_never;
    /// A CNP for each marked packet, however soon after the last.
    cnp_each;
    /// A CNP that arrives ends the driver's thread.
    // The released driver: nothing is sent again from then on, and nothing acknowledged.
    cnp_panics;
    /// The driver sends again as often as its timer runs out.
    // Whoever waits for a completion with an error waits for ever.
    never_gives_up;
    /// The driver writes a descriptor for each packet.
    // About 3 million a second at 100G: what chunks of 64 KiB are for.
    descriptor_a_packet;
    /// A READ completes when its request is acknowledged.
    // Whoever looks at the memory then finds what was there before.
    read_completes_early;
    /// A message is acknowledged when its last packet has come, whatever is missing before.
    // A READ completes before its data is there.
    completes_early;
}
