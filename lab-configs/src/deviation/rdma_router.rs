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
    /// A request with an R_Key that no host has announced is looked up five times, for so long each, and everybody waits.
    // ffrouter.cpp: the one loop asks the map up to five times, with sleep(0.5) between, of whole seconds.
    bad_rkey_stalls_all ("microseconds", 1..=100_000, default 10);
    /// A request with an R_Key that no host has announced is handed over all the same.
    // ffrouter.cpp: after the fifth look it is posted with the address that the container gave.
    bad_rkey_posted;
    /// A registration waits until each host of the list has answered, one after the other: with one that is gone it never ends.
    // ffrouter.cpp: the mapping goes to each of HOST_LIST in turn, and waits for its answer.
    registration_waits_for_dead_host;
    /// The quota of a container counts the queue pairs of all containers of the host.
    // Who asks for many leaves nothing for others, which is what the quota is for.
    quota_of_host;
    /// After a migration the last message that had left is asked for once more.
    // As where what was not completed yet is posted again, although it left.
    migration_repeats;
    /// The message that is next when a container leaves is lost.
    // As where the mailbox is thrown away with what is in it.
    migration_forgets;
    /// The core looks into so many mailboxes, and into none beyond.
    // As where what was written for a few containers meets a host of many: 256 are what a byte counts.
    mailboxes_out_of_reach ("mailboxes that are looked into", 1..=1_023, default 256);
    /// The cap of the container that came last holds for all.
    // As where one rate is kept for the host.
    cap_of_last;
    /// What comes while nobody asks is kept, whatever the bucket holds.
    // Who was silent for a while sends at the speed of the port for as long.
    bucket_never_full;
    /// So many queue pairs have a bucket, and those behind them none.
    // As where what limits rates is a table with few rows: who comes late sends what it likes.
    buckets_run_out ("queue pairs that have a bucket", 1..=1_023, default 8);
    /// A container that has a cap of its own gets so many percent less.
    // As where headers are counted that the cap does not mean.
    cap_of_container_short ("percent", 1..=99, default 10);
}
