//! How NICs of blue-rdma depart from the dialect.

use super::table::table;

table! {
    /// What a NIC of blue-rdma, or its driver, does wrong.
    BlueRdmaFaults of BlueRdma

    /// Packets in the middle of a message have no RETH.
    // As those of RoCEv2: out of order nobody knows where they go.
    reth_missing_in_middle;
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
    window_overrun;
    /// A packet is taken only where the one before it has come.
    // As a NIC of RoCEv2 does: the RETH in each packet is of no use.
    out_of_order_dropped;
    /// What is sent again ends with the stride before the newest.
    // What is missing of the newest waits for the next acknowledgement.
    resends_a_stride_less;
    /// The timer never runs out.
    // With the released driver's exponent of 50 it takes 146 years.
    rto_never;
    /// A message is acknowledged when its last packet has come, whatever is missing before.
    // A READ completes before its data is there.
    completes_early;
}
