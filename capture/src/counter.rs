//! What a device counts, and what SONiC's COUNTERS_DB calls it. A name of SAI's stands in no other code of the product.

/// A counter of a device under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DutCounter {
    /// Frames of data that a port received, whatever became of them.
    PortReceived,
    /// Frames of data that a port sent.
    PortSent,
    /// Frames that a port received and that are no data. PFC is MAC control and counts nowhere but in counters of its own.
    PortReceivedOther,
    /// Frames that a port received and takes for an error.
    PortErrors,
    /// Frames that a port was to send and did not: what its queues dropped. `TX_DRP` of `show interfaces counters`.
    PortDiscarded,
    /// PFC frames of a class that a port received.
    PfcReceived,
    /// PFC frames of a class that a port sent.
    PfcSent,
    /// Pauses of a class that ended, by XON or by themselves.
    PfcEnded,
    /// Time that a class was paused, in whole microseconds.
    PfcPaused,
    /// Frames that left by a queue.
    QueueSent,
    /// Their bytes, FCS counted.
    QueueSentBytes,
    /// Frames dropped on their way into a queue, or out of it unsent.
    QueueDropped,
    /// Frames that left a queue marked: those that came marked counted.
    QueueMarked,
    /// Their bytes, FCS counted.
    QueueMarkedBytes,
    /// Frames that early detection dropped; they count among all dropped ones, too.
    QueueDroppedEarly,
    /// Their bytes, FCS counted.
    QueueDroppedEarlyBytes,
    /// Bytes in a queue now.
    QueueHeld,
    /// The most bytes that were in a queue.
    QueueMost,
    /// 1 while PFC pauses a queue, obeyed or not.
    QueueIsPaused,
    /// Frames received into a priority group, those dropped included.
    GroupReceived,
    /// Their bytes, FCS counted.
    GroupReceivedBytes,
    /// Frames dropped on their way into a priority group.
    GroupDropped,
    /// Bytes that a priority group holds now.
    GroupHeld,
    /// The most bytes that a priority group held of what is shared.
    GroupMost,
    /// The most bytes that a priority group held in its headroom.
    GroupMostHeadroom,
    /// The most bytes that the ingress pool held.
    IngressPoolMost,
    /// The most bytes that all headroom held. It is no pool of SONiC's: it is a part of the ingress pool (`xoff`).
    HeadroomPoolMost,
    /// The most bytes that the lossless egress pool held.
    EgressPoolMost,
    /// The most bytes that the lossy egress pool held.
    LossyPoolMost,
    /// Frames that were valid and not late.
    MacsecOk,
    /// Frames dropped because they were too old.
    MacsecLate,
    /// Frames that were too old and came through, without replay protection.
    MacsecDelayed,
    /// Frames whose ICV was wrong.
    MacsecNotValid,
    /// Frames of an association that is not in use.
    MacsecNotUsingSa,
    /// Frames sent encrypted.
    MacsecEncrypted,
    /// Frames sent protected and not encrypted.
    MacsecProtected,
    /// Bytes of data in the frames sent encrypted: without MAC addresses, tag, ICV and FCS.
    MacsecEncryptedOctets,
    /// The same of the frames sent protected.
    MacsecProtectedOctets,
    /// Frames in clear that were dropped.
    MacsecNoTag,
    /// Frames whose tag made no sense.
    MacsecBadTag,
    /// Frames of a channel that the port does not know.
    MacsecNoSci,
}

impl DutCounter {
    /// What the names of a port's PFC counters begin with, before the class.
    pub const PFC: &str = "SAI_PORT_STAT_PFC_";
    /// Where the counters of PFC come from, for reports.
    pub const PFC_SOURCE: &str = "SAI_PORT_STAT_PFC; the wire is the count";
    /// Where the counters of early detection come from, for reports.
    pub const ECN_SOURCE: &str = "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS; the wire is the count";
    /// Where watermarks come from, for reports.
    pub const WATERMARK_SOURCE: &str =
        "SAI_INGRESS_PRIORITY_GROUP_STAT, SAI_QUEUE_STAT, SAI_BUFFER_POOL_STAT";

    /// Its name behind the port and the queue that it is about; of one of PFC what follows [`PFC`](Self::PFC) and the class; of a pool
    /// all of it.
    pub const fn name(self) -> &'static str {
        match self {
            DutCounter::PortReceived => "SAI_PORT_STAT_IF_IN_UCAST_PKTS",
            DutCounter::PortSent => "SAI_PORT_STAT_IF_OUT_UCAST_PKTS",
            DutCounter::PortReceivedOther => "SAI_PORT_STAT_IF_IN_NON_UCAST_PKTS",
            DutCounter::PortErrors => "SAI_PORT_STAT_IF_IN_ERRORS",
            DutCounter::PortDiscarded => "SAI_PORT_STAT_IF_OUT_DISCARDS",
            DutCounter::PfcReceived => "RX_PKTS",
            DutCounter::PfcSent => "TX_PKTS",
            DutCounter::PfcEnded => "ON2OFF_RX_PKTS",
            DutCounter::PfcPaused => "RX_PAUSE_DURATION_US",
            DutCounter::QueueSent => "SAI_QUEUE_STAT_PACKETS",
            DutCounter::QueueSentBytes => "SAI_QUEUE_STAT_BYTES",
            DutCounter::QueueDropped => "SAI_QUEUE_STAT_DROPPED_PACKETS",
            DutCounter::QueueMarked => "SAI_QUEUE_STAT_WRED_ECN_MARKED_PACKETS",
            DutCounter::QueueMarkedBytes => "SAI_QUEUE_STAT_WRED_ECN_MARKED_BYTES",
            DutCounter::QueueDroppedEarly => "SAI_QUEUE_STAT_WRED_DROPPED_PACKETS",
            DutCounter::QueueDroppedEarlyBytes => "SAI_QUEUE_STAT_WRED_DROPPED_BYTES",
            DutCounter::QueueHeld => "SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES",
            DutCounter::QueueMost => "SAI_QUEUE_STAT_SHARED_WATERMARK_BYTES",
            DutCounter::QueueIsPaused => "SAI_QUEUE_ATTR_PAUSE_STATUS",
            DutCounter::GroupReceived => "SAI_INGRESS_PRIORITY_GROUP_STAT_PACKETS",
            DutCounter::GroupReceivedBytes => "SAI_INGRESS_PRIORITY_GROUP_STAT_BYTES",
            DutCounter::GroupDropped => "SAI_INGRESS_PRIORITY_GROUP_STAT_DROPPED_PACKETS",
            DutCounter::GroupHeld => "SAI_INGRESS_PRIORITY_GROUP_STAT_CURR_OCCUPANCY_BYTES",
            DutCounter::GroupMost => "SAI_INGRESS_PRIORITY_GROUP_STAT_SHARED_WATERMARK_BYTES",
            DutCounter::GroupMostHeadroom => {
                "SAI_INGRESS_PRIORITY_GROUP_STAT_XOFF_ROOM_WATERMARK_BYTES"
            }
            DutCounter::IngressPoolMost => {
                "ingress_lossless_pool SAI_BUFFER_POOL_STAT_WATERMARK_BYTES"
            }
            DutCounter::HeadroomPoolMost => {
                "ingress_lossless_pool SAI_BUFFER_POOL_STAT_XOFF_ROOM_WATERMARK_BYTES"
            }
            DutCounter::EgressPoolMost => {
                "egress_lossless_pool SAI_BUFFER_POOL_STAT_WATERMARK_BYTES"
            }
            DutCounter::LossyPoolMost => "egress_lossy_pool SAI_BUFFER_POOL_STAT_WATERMARK_BYTES",
            DutCounter::MacsecOk => "SAI_MACSEC_SA_STAT_IN_PKTS_OK",
            DutCounter::MacsecLate => "SAI_MACSEC_SA_STAT_IN_PKTS_LATE",
            DutCounter::MacsecDelayed => "SAI_MACSEC_SA_STAT_IN_PKTS_DELAYED",
            DutCounter::MacsecNotValid => "SAI_MACSEC_SA_STAT_IN_PKTS_NOT_VALID",
            DutCounter::MacsecNotUsingSa => "SAI_MACSEC_SA_STAT_IN_PKTS_NOT_USING_SA",
            DutCounter::MacsecEncrypted => "SAI_MACSEC_SA_STAT_OUT_PKTS_ENCRYPTED",
            DutCounter::MacsecProtected => "SAI_MACSEC_SA_STAT_OUT_PKTS_PROTECTED",
            DutCounter::MacsecEncryptedOctets => "SAI_MACSEC_SA_STAT_OCTETS_ENCRYPTED",
            DutCounter::MacsecProtectedOctets => "SAI_MACSEC_SA_STAT_OCTETS_PROTECTED",
            DutCounter::MacsecNoTag => "SAI_MACSEC_FLOW_STAT_IN_PKTS_NO_TAG",
            DutCounter::MacsecBadTag => "SAI_MACSEC_FLOW_STAT_IN_PKTS_BAD_TAG",
            DutCounter::MacsecNoSci => "SAI_MACSEC_FLOW_STAT_IN_PKTS_NO_SCI",
        }
    }

    /// Whether it holds the most that something was, until it is cleared.
    pub const fn is_watermark(self) -> bool {
        matches!(
            self,
            DutCounter::QueueMost
                | DutCounter::GroupMost
                | DutCounter::GroupMostHeadroom
                | DutCounter::IngressPoolMost
                | DutCounter::HeadroomPoolMost
                | DutCounter::EgressPoolMost
                | DutCounter::LossyPoolMost
        )
    }

    /// Its full name: `Ethernet4:3 SAI_QUEUE_STAT_PACKETS`, `Ethernet4 SAI_PORT_STAT_PFC_3_RX_PKTS`. A port and a class that it is not
    /// about say nothing.
    pub fn of(self, port: &str, class: u8) -> String {
        let name = self.name();
        match self {
            DutCounter::PfcReceived
            | DutCounter::PfcSent
            | DutCounter::PfcEnded
            | DutCounter::PfcPaused => format!("{port} {}{class}_{name}", Self::PFC),
            DutCounter::IngressPoolMost
            | DutCounter::HeadroomPoolMost
            | DutCounter::EgressPoolMost
            | DutCounter::LossyPoolMost => name.to_owned(),
            DutCounter::PortReceived
            | DutCounter::PortSent
            | DutCounter::PortReceivedOther
            | DutCounter::PortErrors
            | DutCounter::PortDiscarded
            | DutCounter::MacsecOk
            | DutCounter::MacsecLate
            | DutCounter::MacsecDelayed
            | DutCounter::MacsecNotValid
            | DutCounter::MacsecNotUsingSa
            | DutCounter::MacsecEncrypted
            | DutCounter::MacsecProtected
            | DutCounter::MacsecEncryptedOctets
            | DutCounter::MacsecProtectedOctets
            | DutCounter::MacsecNoTag
            | DutCounter::MacsecBadTag
            | DutCounter::MacsecNoSci => format!("{port} {name}"),
            DutCounter::QueueSent
            | DutCounter::QueueSentBytes
            | DutCounter::QueueDropped
            | DutCounter::QueueMarked
            | DutCounter::QueueMarkedBytes
            | DutCounter::QueueDroppedEarly
            | DutCounter::QueueDroppedEarlyBytes
            | DutCounter::QueueHeld
            | DutCounter::QueueMost
            | DutCounter::QueueIsPaused
            | DutCounter::GroupReceived
            | DutCounter::GroupReceivedBytes
            | DutCounter::GroupDropped
            | DutCounter::GroupHeld
            | DutCounter::GroupMost
            | DutCounter::GroupMostHeadroom => format!("{port}:{class} {name}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_has_the_port_and_the_class_that_the_counter_is_about() {
        for (counter, name) in [
            (DutCounter::PfcReceived, "Ethernet4 SAI_PORT_STAT_PFC_3_RX_PKTS"),
            (DutCounter::QueueSent, "Ethernet4:3 SAI_QUEUE_STAT_PACKETS"),
            (
                DutCounter::GroupHeld,
                "Ethernet4:3 SAI_INGRESS_PRIORITY_GROUP_STAT_CURR_OCCUPANCY_BYTES",
            ),
            (DutCounter::LossyPoolMost, "egress_lossy_pool SAI_BUFFER_POOL_STAT_WATERMARK_BYTES"),
            (DutCounter::MacsecNoTag, "Ethernet4 SAI_MACSEC_FLOW_STAT_IN_PKTS_NO_TAG"),
        ] {
            assert_eq!(counter.of("Ethernet4", 3), name);
        }
    }
}
