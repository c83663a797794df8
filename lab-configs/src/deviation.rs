//! Named ways in which an emulated device departs from what it declares. The model matches the enum exhaustively, so
//! that none can be listed and not built.

use crate::Wred;
use core::fmt;
use core::ops::RangeInclusive;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

mod switched;
pub use switched::Switched;

/// One named misbehaviour. Where a value makes sense its meaning and default are given; elsewhere none is accepted.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Deviation {
    /// Never detects a storm on one class (value: the class; default the highest guarded one).
    DetectionIgnoresClass,
    /// A poll without the condition leaves the time left as it is.
    TimerNotResetByGap,
    /// An XON frame is taken for a pause by the detection rule.
    XonCountsAsStorm,
    /// The detection rule takes an empty queue for one in which data waits.
    IdleQueueFires,
    /// The detection rule takes a queue that was paused at all since the last poll for one that was stuck since then.
    AnyPauseIsStorm,
    /// Restores one poll too early.
    RestoresTooEarly,
    /// Restores when the restoration time has passed, storm or not.
    RestoresDuringStorm,
    /// A late frame within the restoration time does not restart it.
    LateFrameDoesNotRestart,
    /// An XON frame within the restoration time does not restart it.
    XonDoesNotRestart,
    /// The drop action lets the first frames through (value: how many; default 1).
    DropLeaks,
    /// The drop action also takes the next guarded queue of the same port.
    DropSpreadsToQueue,
    /// The drop action also takes the same queue of the next port.
    DropSpreadsToPort,
    /// The forward action drops.
    ForwardDrops,
    /// The alert action drops.
    AlertActs,
    /// No poll is evaluated after the first storm has been restored.
    PollStopsAfterStorm,
    /// The watchdog's packet counters are off (value: by how many; default 1).
    CountersOff,
    /// The senders that fed the queue stay paused after the drop action has begun.
    PfcContinuesAfterDrop,
    /// Big red switch misses the highest guarded queue of the last port.
    BigRedSwitchMissesQueue,
    /// Values outside the documented ranges are accepted.
    AcceptsOutOfRange,
    /// Values at either end of the documented ranges are refused.
    RefusesLimits,
    /// A buffer change while a queue is stormed resets the queue to operational.
    BufferChangeEndsStorm,
    /// A link that goes down and up counts as a storm.
    LinkToggleFires,
    /// PFC frames that the switch itself sends count as received ones.
    OwnPfcCountsAsStorm,
    /// Of the ports stormed at one time only the first is detected.
    OnePortAtATime,
    /// The PFC frames that the switch sends break their format (value: 0 another destination, 1 a source of zero, 2 a tag,
    /// 3 a reserved bit of the class-enable vector, 4 padding that is not zero, 5 a byte too many; default 0).
    MalformedPfc,
    /// XOFF is repeated only after the pause that it asked for has run out by half of its length.
    RefreshLate,
    /// The weighted queues of a port share it equally, whatever their weights.
    WeightsIgnored,
    /// Ports send at less than their rate (value: at how many percent of it; default 95).
    EgressRateLow,
    /// The headroom of a group, and the shared headroom pool, are a cell smaller than declared.
    HeadroomOneCellShort,
    /// No XON is sent: the last pause has to run out by itself.
    XonNever,
    /// XON is sent too late, and XOFF goes on until then (value: microseconds; default 500).
    XonLate,
    /// What a group took from the shared headroom pool is never given back.
    SharedHeadroomNotReleased,
    /// One group may take all of the shared headroom pool.
    HeadroomCapIgnored,
    /// A class that is paused also pauses the class above it (class 0 above class 7).
    PfcHonouredForOtherClass,
    /// A PFC frame that arrives while its class is paused does not restart the pause.
    PauseTimeNotRestarted,
    /// Groups have no reserve: everything is charged to the pool.
    ReservedNotCounted,
    /// Frames are charged without their descriptors.
    DescriptorNotCounted,
    /// Watermarks stay as they are when they are cleared.
    WatermarkNotCleared,
    /// A watermark of a queue or group that is cleared begins at zero, whatever is still held.
    WatermarkForgetsLevel,
    /// Each lossless frame that is dropped leaves its cells charged to the pool for good.
    DropLeaksBuffer,
    /// Received PFC frames count among the non-unicast frames of their port.
    CounterCountsPfcAsData,
    /// A lossy frame that finds its queue at its limit goes into headroom space, up to `xoff` for each queue.
    LossyUsesHeadroom,
    /// The pool behaves as if it were twice as large as declared.
    PoolOversubscribedTwice,
    /// XOFF frames name the class above the congested one (class 0 above class 7).
    XoffWrongClass,
    /// An XON ends no pause: it has to run out by itself.
    XonIgnored,
    /// PFC holds back lossy classes, too.
    LossyObeysPfc,
    /// One lossy class obeys PFC (value: which; default 6).
    LossyClassObeysPfc,
    /// A PFC frame that enables no class pauses all of them.
    EmptyVectorPauses,
    /// Of the classes that a PFC frame names only the lowest is paused, or told to go on.
    OneClassOfTwoObeyed,
    /// An XOFF that asks for less than is left of a pause does not shorten it.
    LongPauseStays,
    /// An XON that names more than one class is ignored.
    XonOfTwoIgnored,
    /// PFC frames are passed on to every other port.
    PfcForwarded,
    /// XON frames, and PFC frames that name no class, are passed on to every other port.
    XonForwarded,
    /// PFC frames that name lossy classes only are passed on to every other port.
    LossyPfcForwarded,
    /// Counters of dropped frames are off as soon as a frame was dropped (value: by how many; default 1).
    DropCounterOff,
    /// Now and then two frames of one flow that wait in a queue leave it in the other order (value: after how many; default 64).
    FlowReordered,
    /// A lossy queue at its limit sends XOFF for its class to the port that the frame came from.
    LossyPauses,
    /// A lossless frame that does not go to the pool is dropped at once.
    HeadroomUnused,
    /// Frames are marked when they are taken in where they should be when they start to leave, and the other way round.
    MarksAtOtherPoint,
    /// Marks and drops go by the moving average of the depth (value: its weight is 2^-n; default 9).
    DepthAveraged,
    /// Frames that are not ECN-capable are marked where they should be dropped.
    MarksNonEct,
    /// A frame that arrives marked leaves without its mark, unless it is marked anew.
    ClearsCe,
    /// ECN-capable frames are dropped where they should be marked.
    DropsEct,
    /// From kmax on the chance stays what it grew to just below.
    NoJumpAtKmax,
    /// Marks and drops go by what all queues of the port hold.
    DepthOfPort,
    /// Marks and drops go by what the same queue of every port holds.
    DepthOfClass,
    /// The chance is too high wherever it is above zero (value: by how many percentage points; default 2).
    MarksTooOften,
    /// Frames one after the other share a draw (value: how many; default 8).
    DrawsCorrelated,
    /// Frames that arrive marked do not count as marked.
    CeNotCounted,
    /// Early detection looks at every queue, whatever it is bound to.
    WredOnEveryQueue,
    /// A switch of virtual output queues counts by the port that a frame came in by.
    VoqPerSource,
    /// A sender that one virtual output queue paused is told to go on as soon as a frame of its leaves another one.
    XonOfAnyQueue,
    /// A request to clear the user or the persistent copy of the watermarks clears both.
    WatermarkClearClearsAll,
    /// The persistent copy of the watermarks is cleared whenever the periodic one is.
    WatermarkPersistentForgets,
    /// PFC frames that arrive protected are dropped where they should be obeyed.
    MacsecEncryptedPfcDropped,
    /// PFC frames that arrive in clear are obeyed where they should be refused.
    MacsecClearPfcAccepted,
    /// Frames that are older than the replay window come through.
    MacsecReplayWindowIgnored,
    /// Frames whose ICV is wrong come through, if they can be read.
    MacsecIcvNotChecked,
    /// Frames that are dropped because they are too old count as valid.
    MacsecLateCountedAsOk,
    /// PFC frames are sent in clear where they should be protected.
    MacsecPfcSentClear,
    /// After a rekey the device goes on sending with the association before.
    MacsecAnNotSwitched,
    /// Frames of secure channels that it does not know come through.
    MacsecSciNotChecked,
    /// A PFC frame that is refused, for whatever reason, pauses all the same.
    MacsecBadFramePauses,
    /// Packet numbers begin again at 0 when they are used up.
    MacsecPnWraps,
    /// PFC frames that arrive protected count twice among the valid frames.
    MacsecOkCountsPfcTwice,
    /// At a rekey the association before is forgotten at once, with the frames under way.
    MacsecRekeyForgetsOldSa,
    /// The headroom was sized without MACsec: it is smaller by what its latency takes both ways, and the longer PFC frame.
    MacsecHeadroomTooSmall,
    /// A PFC frame that is sent in clear takes a packet number all the same.
    MacsecClearPfcTakesNumber,
    /// Every mark is answered, whatever the interval.
    CnpPerPacket,
    /// Two answered marks are never closer than a time that nobody configured (value: microseconds; default 50).
    CnpHiddenInterval,
    /// A mark on a CNP is answered with a CNP.
    CnpOnCnp,
    /// A CNP names the queue pair after the one that it is for.
    CnpWrongQp,
    /// A CNP goes to the usual address of the port that the mark came from, whichever address that was.
    CnpWrongAddress,
    /// The reserved bytes of a CNP are not zero.
    CnpReservedSet,
    /// A CNP lacks the bit that says what it is (BECN).
    CnpWithoutBecn,
    /// CNPs that are sent do not count.
    CnpNotCounted,
    /// Marks on what a READ brings are not answered.
    CnpMissedOnRead,
    /// Alpha stays as it is while no CNP comes.
    AlphaNotDecayed,
    /// A cut leaves alpha as it is.
    AlphaNotRaised,
    /// The first alpha timer after a cut cuts again.
    CutWithoutCnp,
    /// The second CNP within a window cuts, too.
    CutTwicePerWindow,
    /// A cut takes the queue pair after its own, too.
    CutSpreads,
    /// The target stays at the speed of the port when the rate is cut.
    TargetNotSaved,
    /// The rate is cut below its minimum.
    MinRateIgnored,
    /// A cut does not restart the timer of increases.
    TimerNotRestarted,
    /// A cut does not restart the byte counter.
    BytesNotReset,
    /// A cut does not start fast recovery anew.
    StagesNotReset,
    /// Increases are hyper where they should be additive.
    HyperBeforeAdditive,
    /// Every packet after a hole is answered with a NAK.
    NakRepeated,
    /// After a NAK the sender goes on one packet after the one that is missing.
    RestartsOnePsnLate,
    /// Packet sequence numbers are compared as if they did not wrap.
    PsnWithoutWrap,
    /// A frame whose ICRC is wrong is counted as such, and taken all the same.
    BadIcrcAccepted,
    /// A packet that comes again is taken as if it were new: it counts towards the next acknowledgement, and not as a duplicate.
    DuplicateTaken,
    /// A packet that comes again is acknowledged with its own number, which goes back.
    DuplicateAckedAsItself,
    /// An acknowledgement counts for the packet that it names alone: one that is lost is never made up for.
    AckCountsForOne,
    /// Progress does not restart the timeout: it runs out while acknowledgements come.
    TimeoutNotRestarted,
    /// Progress does not begin a new count of tries: one that times out now and then gives up.
    TriesNotReset,
    /// The reaction point takes its port for half as fast as it is.
    LineRateHalved,
    /// Where a READ has a hole the requester asks from one packet after the one that is missing.
    ReadAsksOnePsnLate,
    /// Packets that are ECN-capable and not marked are answered as if they were marked.
    CnpWithoutMark,
    /// Holes found in what a READ brings do not count.
    ImpliedNakNotCounted,
    /// Timeouts do not count.
    TimeoutNotCounted,
    /// An acknowledgement whose ICRC is wrong is counted as such, and acted on all the same.
    SpoiltAckTaken,
    /// What a READ brings is counted as spoilt if its ICRC is wrong, and taken all the same.
    SpoiltResponseTaken,
    /// A NAK holds back every queue pair of the NIC for as long as its own.
    NakHoldsAll,
}

impl Deviation {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Deviation; 125] = [
        Deviation::DetectionIgnoresClass,
        Deviation::TimerNotResetByGap,
        Deviation::XonCountsAsStorm,
        Deviation::IdleQueueFires,
        Deviation::AnyPauseIsStorm,
        Deviation::RestoresTooEarly,
        Deviation::RestoresDuringStorm,
        Deviation::LateFrameDoesNotRestart,
        Deviation::XonDoesNotRestart,
        Deviation::DropLeaks,
        Deviation::DropSpreadsToQueue,
        Deviation::DropSpreadsToPort,
        Deviation::ForwardDrops,
        Deviation::AlertActs,
        Deviation::PollStopsAfterStorm,
        Deviation::CountersOff,
        Deviation::PfcContinuesAfterDrop,
        Deviation::BigRedSwitchMissesQueue,
        Deviation::AcceptsOutOfRange,
        Deviation::RefusesLimits,
        Deviation::BufferChangeEndsStorm,
        Deviation::LinkToggleFires,
        Deviation::OwnPfcCountsAsStorm,
        Deviation::OnePortAtATime,
        Deviation::MalformedPfc,
        Deviation::RefreshLate,
        Deviation::WeightsIgnored,
        Deviation::EgressRateLow,
        Deviation::HeadroomOneCellShort,
        Deviation::XonNever,
        Deviation::XonLate,
        Deviation::SharedHeadroomNotReleased,
        Deviation::HeadroomCapIgnored,
        Deviation::PfcHonouredForOtherClass,
        Deviation::PauseTimeNotRestarted,
        Deviation::ReservedNotCounted,
        Deviation::DescriptorNotCounted,
        Deviation::WatermarkNotCleared,
        Deviation::WatermarkForgetsLevel,
        Deviation::DropLeaksBuffer,
        Deviation::CounterCountsPfcAsData,
        Deviation::LossyUsesHeadroom,
        Deviation::PoolOversubscribedTwice,
        Deviation::XoffWrongClass,
        Deviation::XonIgnored,
        Deviation::LossyObeysPfc,
        Deviation::LossyClassObeysPfc,
        Deviation::EmptyVectorPauses,
        Deviation::OneClassOfTwoObeyed,
        Deviation::LongPauseStays,
        Deviation::XonOfTwoIgnored,
        Deviation::PfcForwarded,
        Deviation::XonForwarded,
        Deviation::LossyPfcForwarded,
        Deviation::DropCounterOff,
        Deviation::FlowReordered,
        Deviation::LossyPauses,
        Deviation::HeadroomUnused,
        Deviation::MarksAtOtherPoint,
        Deviation::DepthAveraged,
        Deviation::MarksNonEct,
        Deviation::ClearsCe,
        Deviation::DropsEct,
        Deviation::NoJumpAtKmax,
        Deviation::DepthOfPort,
        Deviation::DepthOfClass,
        Deviation::MarksTooOften,
        Deviation::DrawsCorrelated,
        Deviation::CeNotCounted,
        Deviation::WredOnEveryQueue,
        Deviation::VoqPerSource,
        Deviation::XonOfAnyQueue,
        Deviation::WatermarkClearClearsAll,
        Deviation::WatermarkPersistentForgets,
        Deviation::MacsecEncryptedPfcDropped,
        Deviation::MacsecClearPfcAccepted,
        Deviation::MacsecReplayWindowIgnored,
        Deviation::MacsecIcvNotChecked,
        Deviation::MacsecLateCountedAsOk,
        Deviation::MacsecPfcSentClear,
        Deviation::MacsecAnNotSwitched,
        Deviation::MacsecSciNotChecked,
        Deviation::MacsecBadFramePauses,
        Deviation::MacsecPnWraps,
        Deviation::MacsecOkCountsPfcTwice,
        Deviation::MacsecRekeyForgetsOldSa,
        Deviation::MacsecHeadroomTooSmall,
        Deviation::MacsecClearPfcTakesNumber,
        Deviation::CnpPerPacket,
        Deviation::CnpHiddenInterval,
        Deviation::CnpOnCnp,
        Deviation::CnpWrongQp,
        Deviation::CnpWrongAddress,
        Deviation::CnpReservedSet,
        Deviation::CnpWithoutBecn,
        Deviation::CnpNotCounted,
        Deviation::CnpMissedOnRead,
        Deviation::AlphaNotDecayed,
        Deviation::AlphaNotRaised,
        Deviation::CutWithoutCnp,
        Deviation::CutTwicePerWindow,
        Deviation::CutSpreads,
        Deviation::TargetNotSaved,
        Deviation::MinRateIgnored,
        Deviation::TimerNotRestarted,
        Deviation::BytesNotReset,
        Deviation::StagesNotReset,
        Deviation::HyperBeforeAdditive,
        Deviation::NakRepeated,
        Deviation::RestartsOnePsnLate,
        Deviation::PsnWithoutWrap,
        Deviation::BadIcrcAccepted,
        Deviation::DuplicateTaken,
        Deviation::DuplicateAckedAsItself,
        Deviation::AckCountsForOne,
        Deviation::TimeoutNotRestarted,
        Deviation::TriesNotReset,
        Deviation::LineRateHalved,
        Deviation::ReadAsksOnePsnLate,
        Deviation::CnpWithoutMark,
        Deviation::ImpliedNakNotCounted,
        Deviation::TimeoutNotCounted,
        Deviation::SpoiltAckTaken,
        Deviation::SpoiltResponseTaken,
        Deviation::NakHoldsAll,
    ];

    /// The sentence of its row above, for people.
    pub fn about(self) -> String {
        let schema = schemars::schema_for!(Deviation);
        let name = self.to_string();
        let rows = schema.get("oneOf").and_then(serde_json::Value::as_array).into_iter().flatten();
        let mut rows = rows.filter(|row| row["const"] == name.as_str());
        let said = rows.next().and_then(|row| row["description"].as_str()).unwrap_or_default();
        said.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// The values that may follow the name; `None` when none may.
    pub const fn values(self) -> Option<RangeInclusive<u64>> {
        match self {
            Deviation::DetectionIgnoresClass | Deviation::LossyClassObeysPfc => Some(0..=7),
            Deviation::DropLeaks | Deviation::CountersOff | Deviation::DropCounterOff => {
                Some(0..=u32::MAX as u64)
            }
            Deviation::MalformedPfc => Some(0..=5),
            Deviation::EgressRateLow => Some(1..=99),
            Deviation::XonLate | Deviation::CnpHiddenInterval => Some(1..=1_000_000),
            Deviation::DepthAveraged => Some(1..=Wred::MOST_WEIGHT as u64),
            Deviation::MarksTooOften => Some(1..=100),
            Deviation::DrawsCorrelated | Deviation::FlowReordered => Some(2..=1_000),
            _ => None,
        }
    }

    /// This deviation with the value in `text`, if any.
    ///
    /// # Errors
    /// Why it cannot have that value, and what would be accepted.
    pub fn switched(self, text: Option<&str>) -> Result<Switched, String> {
        let value = match (text, self.values()) {
            (None, _) => None,
            (Some(_), None) => return Err(format!("`{self}` takes no value: want `{self}`")),
            (Some(text), Some(accepted)) => {
                let value = text.parse().ok().filter(|value| accepted.contains(value));
                let (least, most) = (accepted.start(), accepted.end());
                Some(value.ok_or_else(|| {
                    format!(
                        "`{text}` is no value for `{self}`: want a whole number, {least} to {most}"
                    )
                })?)
            }
        };
        Ok(Switched { name: self, value })
    }
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
