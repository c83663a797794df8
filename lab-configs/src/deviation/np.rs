//! How a NIC's notification point departs from its rule.

use super::table::table;

table! {
    /// What a notification point does wrong.
    NpFaults of Np

    /// Every mark is answered, whatever the interval.
    // A CNP for every mark, however close.
    cnp_per_packet;
    /// Two answered marks are never closer than a time that nobody configured.
    // Marks that should be answered are not.
    cnp_hidden_interval ("microseconds", 1..=1_000_000, default 50);
    /// A mark on a CNP is answered with a CNP.
    // CNPs that arrive marked bring others forth.
    cnp_on_cnp;
    /// A CNP names the queue pair after the one that it is for.
    // The sender of another queue pair slows down.
    cnp_wrong_qp;
    /// A CNP goes to the usual address of the port that the mark came from, whichever address that was.
    cnp_wrong_address;
    /// The reserved bytes of a CNP are not zero.
    cnp_reserved_set;
    /// A CNP lacks the bit that says what it is (BECN).
    cnp_without_becn;
    /// A CNP has the priority of the connection that it is about in its tag, whatever is declared of CNPs.
    // It waits in the queue whose congestion it tells of.
    cnp_pcp_of_data;
    /// CNPs that are sent do not count.
    // Counter and CNPs on the wire disagree.
    cnp_not_counted;
    /// Marks on what a READ brings are not answered.
    // Marked READ responses bring no CNP.
    cnp_missed_on_read;
    /// Marks on what comes over IPv6 are not answered.
    // ECN is looked for in the header of IPv4 alone: who sends over IPv6 never slows down.
    cnp_missed_on_ipv6;
    /// A CNP for a connection over IPv6 goes over IPv4.
    // It names a connection that its receiver does not know by that address.
    cnp_over_ipv4;
    /// Packets that are ECN-capable and not marked are answered as if they were marked.
    cnp_without_mark;
    /// Marks on packets of unreliable connections and on datagrams are not answered.
    // Whoever sends so is never told of the queue that it fills.
    unreliable_marks_unanswered;
    /// The state of a connection is fetched for each of its packets, however few connections there are.
    // With ten connections it is as slow as with hundreds.
    connection_state_forgotten;
}
