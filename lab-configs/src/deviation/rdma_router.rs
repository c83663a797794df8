//! How a software RDMA router departs from what it declares. Those with a file are what FreeFlow's released code does
//! (github.com/microsoft/Freeflow, ffrouter/).

use super::table::table;

table! {
    /// What a software RDMA router does wrong.
    RdmaRouterFaults of RdmaRouter

    /// The bucket counts the time of a byte in whole fifths of a nanosecond: 6, 7 and 9 Gb/s become 6.67, 8 and 10, and all above 20
    /// becomes 40.
    // tokenbucket.h: timePerToken = 5e9 / rate, of whole numbers.
    bucket_quantised;
    /// No bucket is asked: there are no caps.
    // ffrouter.cpp: in the fast path the loop around consume() is commented out; the socket path alone has it.
    bucket_bypassed;
    /// With each request the core looks into the mailbox of every queue pair that asks for nothing, which takes it so long.
    // ffrouter.cpp, CtrlChannelLoop: one vector of all queue pairs, and another of all completion queues. Who is idle slows down who is not.
    scan_grows_with_queues ("nanoseconds", 1..=100_000, default 100);
    /// After each request the core begins again at the first mailbox.
    // Whoever came first gets everything, and who came later waits.
    turns_not_kept;
}
