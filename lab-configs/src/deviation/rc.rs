//! How a NIC's reliable connections depart from the standard.

use super::table::table;

table! {
    /// What reliable connections do wrong.
    RcFaults of Rc

    /// Every packet after a hole is answered with a NAK.
    nak_repeated;
    /// One in so many holes is answered by no NAK.
    // The timer of its sender mends it, which takes a hundred times as long.
    nak_left_out ("holes", 1..=65_536, default 8);
    /// After a NAK the sender goes on one packet after the one that is missing.
    // The hole stays.
    restarts_one_psn_late;
    /// The sender goes back to a packet before the one that is missing, each time as far.
    // It sends again what was taken already.
    restarts_before ("packets", 1..=1_024, default 1);
    /// Packet sequence numbers are compared as if they did not wrap.
    // A hole across the wrap is taken for duplicates.
    psn_without_wrap;
    /// A frame whose ICRC is wrong is counted as such, and taken all the same.
    bad_icrc_accepted;
    /// A packet of blue-rdma, which has no ICRC, is taken for the one of RoCEv2 with its number.
    // As where no ICRC is looked for in what is not of the length that one leaves. What it brings is shifted by a RETH.
    takes_blue_rdma;
    /// A packet that comes again is taken as if it were new: it counts towards the next acknowledgement, and not as a
    /// duplicate.
    // A message is delivered twice; fewer acknowledgements than packets ask for.
    duplicate_taken;
    /// A packet that comes again is acknowledged with its own number, which goes back.
    duplicate_acked_as_itself;
    /// An acknowledgement counts for the packet that it names alone: one that is lost is never made up for.
    // One that is lost leaves the sender waiting for ever, or for its timeout.
    ack_counts_for_one;
    /// One in 64 acknowledgements waits for so long, and all behind it do, too.
    // On average a message takes as long as it should. Who waits for the slowest of many waits for that.
    acks_stall ("microseconds", 1..=100_000, default 1_000);
    /// The first packet of a message has priority 0 in its tag, the others that of their connection.
    // It leaves by another queue of a switch that goes by tags, and comes behind those that follow it.
    first_packet_pcp_zero;
    /// An acknowledgement leaves without the tag of its connection.
    // It comes in no VLAN of its sender's, which waits for its timer.
    ack_untagged;
    /// A NAK has priority 0 in its tag.
    // What asks for a packet again waits behind best effort, or is lost there.
    nak_pcp_zero;
    /// An acknowledgement comes from another address of its NIC (GID) than the one that was asked.
    // Whoever looks at where it comes from throws it away, and waits for its timer.
    ack_from_other_gid;
    /// What it answers with, CNPs among it, comes from its first address (GID), whichever was asked.
    // Right of every connection that is at the first. Of one at another the answer is from a stranger.
    answers_from_first_gid;
    /// Acknowledgements and NAKs over IPv6 leave with traffic class 0, whatever the connection has.
    // What is set up by the header of IPv4 alone. They wait, and are lost, in the queue of best effort.
    ipv6_answers_in_class_0;
    /// What it sends over IPv6 has an ICRC that does not fit.
    // As where what routers may change is masked in the header of IPv4 alone. Nothing of it is taken, and connections over IPv4 are well.
    ipv6_icrc_wrong;
    /// Progress does not restart the timeout: it runs out while acknowledgements come.
    // A flow longer than the timeout is sent again although nothing was lost.
    timeout_not_restarted;
    /// The timer runs out sooner than its code says.
    // What is on its way in time is sent again.
    timeout_runs_early ("nanoseconds", 1..=4_096, default 1_000);
    /// A sender that declares waits of its own for its tries waits as long as the timeout says each time.
    // What is lost on the last packet of a message takes sixteen times as long to mend.
    adaptive_ignored;
    /// A sender waits a sixteenth of its timeout before the first try, and then an eighth, a quarter and so on, and declares nothing of that.
    // What is on its way in time is sent again.
    adaptive_hidden;
    /// Progress does not begin a new count of tries: one that times out now and then gives up.
    tries_not_reset;
    /// A timeout of 0 is taken for the shortest, and not for none.
    // What is only slow is sent again, and a connection is given up that was to wait.
    timeout_zero_runs;
    /// A connection that is given up does not count.
    // Its application is told, and whoever looks after the host is not.
    given_up_not_counted;
    /// A queue pair has so many READs more under way than it may.
    // What is asked for in small parts comes at once all the same.
    reads_ahead ("READs", 1..=64, default 1);
    /// All that a READ is answered with leaves in one turn of its queue pair.
    // Whoever is read from gets nothing else out while it is.
    read_answered_in_a_row;
    /// Nothing else leaves the port for so long behind an atomic operation.
    atomic_holds_port ("nanoseconds", 1..=1_000_000, default 2_000);
    /// A queue pair that waits for its receiver to be ready holds all others of its NIC.
    rnr_nak_holds_all;
    /// Where a READ has a hole the requester asks from one packet after the one that is missing.
    read_asks_one_psn_late;
    /// A READ request that comes again is counted as such, and not answered again.
    // Who lost an answer never gets it.
    duplicate_read_ignored;
    /// Holes found in what a READ brings do not count.
    implied_nak_not_counted;
    /// One of its counters stands still, whatever happens.
    // Whoever looks for the cause of what is slow is told that there is none.
    counter_stands ("its place in the list of docs/nic.md", 1..=17, default 5);
    /// Timeouts do not count.
    timeout_not_counted;
    /// An acknowledgement whose ICRC is wrong is counted as such, and acted on all the same.
    // What nobody received is taken for received, and never sent again.
    spoilt_ack_taken;
    /// What a READ brings is counted as spoilt if its ICRC is wrong, and taken all the same.
    // Noise is delivered as if it had been read.
    spoilt_response_taken;
    /// Acknowledgements and NAKs leave with DSCP 0, whatever the connection has.
    // They wait, and are lost, in the queue of best effort.
    answers_in_class_0;
    /// Data leaves as not ECN-capable.
    // No switch marks it: it is lost where it would have slowed down.
    data_not_capable;
    /// One in so many frames that it sends has an ICRC that does not fit.
    // Whoever gets it throws it away, and nothing of its sender says why.
    icrc_wrong ("frames", 1..=65_536, default 100);
    /// One in very many acknowledgements, NAKs and CNPs that it sends has an ICRC that does not fit.
    // The next one makes up for it: nothing but the frame itself shows.
    icrc_rarely_wrong ("frames", 1..=1_000_000, default 10_000);
    /// A packet that is more than a thousand numbers behind is taken for one that is ahead, and asked for what is missing.
    // One that was long on its way has everything since then sent again.
    ghost_asks;
    /// A timeout of a greater code than this is one of this code.
    // What is slow, as over a long way or to a busy host, is sent again and again.
    timeout_cut ("code", 1..=30, default 8);
    /// MigReq is clear in all that it sends.
    // A peer that keeps to the state of the path throws it away.
    mig_req_clear;
    /// Every connection sends from one UDP source port.
    // A fabric that spreads load by that puts all of them on one way.
    source_port_shared;
    /// Immediate data, and keys to revoke, do not come with their message.
    // The data arrive, and nobody is told.
    immediate_dropped;
    /// An atomic operation that comes again is executed again.
    // A counter that lost one answer has counted twice.
    atomic_executed_twice;
    /// An RNR NAK is taken for any other: the sender goes back at once.
    // A receiver without buffers is asked again and again, for nothing.
    rnr_not_waited;
    /// Tries of a receiver that is not ready are not counted: there is no end to them.
    rnr_tries_not_counted;
    /// Progress does not begin a new count of tries of a receiver that is not ready: one that is slow now and then is given up.
    rnr_tries_not_reset;
    /// An RNR retry count of 7 is counted down as any other is.
    // A receiver that is slow once is given up.
    rnr_seven_counted;
    /// A sender with selective repeat sends again the packet behind the missing one, too.
    // What was taken already takes as much of the link once more.
    resends_one_too_many;
    /// A receiver with selective repeat forgets that there is a hole behind the first: once that one is filled it acknowledges all that came.
    // What never came is taken for received, and never sent again.
    second_hole_forgotten;
    /// A receiver with selective repeat keeps no more numbers behind a hole than this, and throws away the rest.
    // It has no more room for what comes out of order: one hole costs as much as in go-back-N, and a way back for each packet.
    keeps_behind_a_hole ("packets", 0..=4_096, default 0);
    /// A NAK holds back every queue pair of the NIC for as long as its own.
    // Who lost nothing waits for whoever did.
    nak_holds_all;
    /// A registration waits until all before it is acknowledged, at a NIC that declares no such fence.
    // Who registers memory for each message sends one a round trip, and nothing says why.
    fmr_fence_hidden;
    /// A registration waits for nothing, at a NIC that declares that it does.
    // Memory is given another meaning while what was sent before may have to be sent again.
    fmr_fence_missing;
    /// A NIC that holds registrations back holds back the SENDs of every queue pair in the same way, whatever they register.
    fmr_fence_of_all;
    /// What waited for all before it to be acknowledged goes on later than that.
    fmr_fence_late ("microseconds", 1..=1_000_000, default 5);
    /// An RNR NAK asks for the wait of the next code.
    rnr_timer_of_next_code;
    /// An RNR NAK names the packet behind the first of the message that finds no receive.
    // Its sender takes that one for delivered, and goes on in the middle of a message.
    rnr_names_next;
    /// A SEND that finds no receive is taken and acknowledged all the same.
    // It is delivered nowhere, or over what the application has not read yet.
    rnr_takes_anyway;
    /// A SEND that finds no receive is dropped without a word.
    // Its sender waits until its timer runs out, or for ever.
    rnr_silent;
    /// The last receive that is posted is never used: a SEND that would find it is refused.
    rnr_keeps_one_back;
    /// A WRITE is refused for want of a receive as a SEND is, though it takes none.
    // Storage that writes to memory waits for an application that has nothing to do with it.
    rnr_for_writes;
    /// A sender on an unreliable connection waits for acknowledgements, and sends all of it again as its timer runs out.
    uc_waits_for_acks;
    /// A receiver on an unreliable connection answers as on a reliable one, by acknowledgements and NAKs.
    uc_acknowledges;
    /// A message of an unreliable connection is delivered although packets of it are missing.
    // What an application finds in the hole is what was there before.
    uc_delivers_with_a_hole;
    /// Behind a message with a hole the next one of an unreliable connection is dropped, too.
    uc_drops_the_next;
    /// A message of an unreliable connection is dropped where the last packet of the one before it was lost.
    uc_takes_no_new_message;
    /// A receiver on an unreliable connection waits for the packet that is missing, which never comes: nothing is delivered any more.
    uc_waits_for_the_hole;
    /// A sender of datagrams waits for acknowledgements, and sends all of them again as its timer runs out.
    ud_waits_for_acks;
    /// A receiver of datagrams acknowledges them as on a reliable connection.
    ud_acknowledges;
    /// A datagram leaves as two, each with half of it.
    // An application whose messages are records gets two halves of one.
    ud_splits;
    /// Datagrams leave with another Q_Key than that of the queue that they go to.
    ud_sends_other_key;
    /// A datagram is taken whatever its Q_Key is.
    // Whoever knows the number of a queue pair writes to its application.
    ud_takes_any_key;
    /// A datagram that is dropped for its Q_Key is not counted (`qkey_viol_cntr`).
    qkey_violation_not_counted;
    /// A datagram for which there is no receive is refused by an RNR NAK.
    ud_says_not_ready;
    /// A datagram for which there is no receive is told to the application all the same.
    ud_takes_anyway;
    /// An application begins rounds for which it has no credit.
    // Its peer has no buffer for what comes: under load it is refused, or overwritten.
    app_credits_ignored;
    /// An application loses the credit of every so many rounds.
    // It goes on ever more slowly, and hangs in the end.
    app_credit_lost ("rounds", 1..=1_000_000, default 3);
    /// By one queue pair an application says that data are there, and then writes them.
    // The other end is told of what comes behind, and reads what was there before.
    app_says_done_first;
    /// An application registers memory by the same key for each message.
    // The answer to one revokes what others still need.
    app_key_never_changes;
    /// An application names the key of the round before.
    // Whether that still works is luck: it reads what another request is about.
    app_names_old_key;
    /// Memory is touched whose key has been revoked.
    // Who has answered a request can still write to its memory, whatever that is used for by then.
    revoked_key_accepted;
    /// A key is revoked that is not the one that the message names, where there is another.
    // A request that has nothing to do with it loses its memory.
    another_key_revoked;
    /// An access to memory that may not be touched is answered by a NAK of a packet that is missing.
    // Its sender sends it for ever.
    denial_asks_again;
    /// A SEND is told to its application though a packet of what was written before it by the same queue pair is missing.
    // The order of a queue pair is all that such an application has: it reads what was there before.
    send_overtakes_write;
    /// An application begins a step behind one of its own without waiting for that one to be complete.
    // "Done" overtakes the data: over another queue pair, or where that lost a packet, the reader finds what was there before.
    app_done_too_soon;
    /// An application goes on when the first packet of what it waits for is there.
    // It reads a descriptor of which half has come.
    app_answers_first_packet;
    /// An application takes a registered buffer that is not free.
    // What another request still has in it is overwritten, or read by whoever is not to see it.
    app_buffer_reused;
    /// Of one in so many messages a packet is written wrongly to the memory of the host, behind the check of its ICRC.
    // The wire was right, its counters are, and what the application reads is not.
    payload_moved_wrongly ("messages", 1..=1_000_000, default 4);
    /// An application looks at the checksum of no message of so many.
    // What is wrong in those is passed on as right.
    app_checksum_left_out ("messages", 1..=1_000_000, default 3);
    /// Where a stream goes on by another connection, what was under way by the one before is sent again by it.
    // It comes by both: the other end reads it twice.
    app_under_way_repeated;
    /// Where a stream goes on by another connection, the one before it is closed with what was under way.
    // What had not come by then never does, and nobody misses it.
    app_under_way_dropped;
    /// An application sends all chunks of a step at once.
    // Many senders at once fill the buffer that chunks were to save.
    app_chunks_at_once;
    /// An application forgets the last step of every so many rounds.
    // The other end keeps its buffer for ever.
    app_reply_forgotten ("rounds", 1..=1_000_000, default 4);
    /// An application goes on at once where it has something to do before.
    // It says that it wrote to the disk what it has not written yet.
    app_never_thinks;
    /// A datagram is dropped whose number is not the one after that of the datagram before it.
    // What was lost on the way takes a datagram with it that was not.
    ud_wants_order;
    /// An acknowledgement completes every message that was sent whole, whichever it acknowledges.
    // An application takes for delivered what may be lost.
    completes_all_sent;
    /// The completion of a message is stamped when the host reads it (T5 is T6).
    // What the host is slow to read looks like a slow network.
    completion_stamped_when_polled;
    /// Completions are told by the NIC's own clock: the host sets none of its offset right.
    completion_clock_uncorrected;
    /// Of completions that the host reads at once none but the first is said to have been read (T6).
    // Where a host has much to do its own part of a latency is missing.
    completion_read_untold;
    /// Those of a connection that was given up are told as successful behind the first.
    // An application takes for delivered what never left.
    completion_flushed_as_success;
    /// A histogram of latencies counts each in the bucket above its own.
    completion_bucket_above;
    /// Histograms count no completion with an error.
    // The worst connections of a fleet are those that are not seen.
    completion_errors_uncounted;
    /// A histogram begins with what the one before it has counted.
    completion_window_kept;
}
