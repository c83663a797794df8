//! The parts of a device that a suite of cases looks at: what breaks in another part is another suite's business.

use crate::Deviation;
use core::fmt;

/// One part; named as its key below `declared:`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// The PFC watchdog.
    Pfcwd,
    /// The packet buffer, its watermarks and drop counters.
    Buffer,
    /// Sending and obeying of PFC.
    Pfc,
    /// Scheduling of the ports.
    Scheduler,
    /// Early marking and dropping.
    Wred,
    /// MACsec on the ports.
    Macsec,
    /// A NIC's notification point, and its receive pipeline.
    Np,
    /// A NIC's reaction point.
    Rp,
    /// A NIC's reliable connections.
    Rc,
}

impl Part {
    /// Their names in YAML.
    pub const NAMES: [(&str, Part); 9] = [
        ("pfcwd", Part::Pfcwd),
        ("buffer", Part::Buffer),
        ("pfc", Part::Pfc),
        ("scheduler", Part::Scheduler),
        ("wred", Part::Wred),
        ("macsec", Part::Macsec),
        ("nic.np", Part::Np),
        ("nic.rp", Part::Rp),
        ("nic.rc", Part::Rc),
    ];

    /// The part that a setting belongs to; `None` for what no part is asked about: ports, maps, delays.
    pub fn of_path(path: &str) -> Option<Part> {
        let key = path.split('.').next()?;
        if key == "nic" || key == "peer" {
            return match path.split('.').nth(1)? {
                "np" | "receive" => Some(Part::Np),
                "rp" => Some(Part::Rp),
                "rc" => Some(Part::Rc),
                _ => None,
            };
        }
        if key == "watermark" {
            return Some(Part::Buffer);
        }
        Part::NAMES.into_iter().find(|(name, _)| *name == key).map(|(_, part)| part)
    }
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = Part::NAMES.into_iter().find(|(_, part)| part == self);
        f.write_str(name.map_or("", |(name, _)| name))
    }
}

impl Deviation {
    /// The part of the device that misbehaves.
    pub const fn part(self) -> Part {
        match self {
            Deviation::DetectionIgnoresClass
            | Deviation::TimerNotResetByGap
            | Deviation::XonCountsAsStorm
            | Deviation::IdleQueueFires
            | Deviation::AnyPauseIsStorm
            | Deviation::RestoresTooEarly
            | Deviation::RestoresDuringStorm
            | Deviation::LateFrameDoesNotRestart
            | Deviation::XonDoesNotRestart
            | Deviation::DropLeaks
            | Deviation::DropSpreadsToQueue
            | Deviation::DropSpreadsToPort
            | Deviation::ForwardDrops
            | Deviation::AlertActs
            | Deviation::PollStopsAfterStorm
            | Deviation::CountersOff
            | Deviation::PfcContinuesAfterDrop
            | Deviation::BigRedSwitchMissesQueue
            | Deviation::AcceptsOutOfRange
            | Deviation::RefusesLimits
            | Deviation::BufferChangeEndsStorm
            | Deviation::LinkToggleFires
            | Deviation::OwnPfcCountsAsStorm
            | Deviation::OnePortAtATime => Part::Pfcwd,
            Deviation::HeadroomOneCellShort
            | Deviation::SharedHeadroomNotReleased
            | Deviation::HeadroomCapIgnored
            | Deviation::ReservedNotCounted
            | Deviation::DescriptorNotCounted
            | Deviation::WatermarkNotCleared
            | Deviation::WatermarkForgetsLevel
            | Deviation::DropLeaksBuffer
            | Deviation::CounterCountsPfcAsData
            | Deviation::LossyUsesHeadroom
            | Deviation::PoolOversubscribedTwice
            | Deviation::LossyPauses
            | Deviation::DropCounterOff
            | Deviation::HeadroomUnused
            | Deviation::VoqPerSource
            | Deviation::XonOfAnyQueue
            | Deviation::WatermarkClearClearsAll
            | Deviation::WatermarkPersistentForgets => Part::Buffer,
            Deviation::MalformedPfc
            | Deviation::RefreshLate
            | Deviation::XonNever
            | Deviation::XonLate
            | Deviation::PfcHonouredForOtherClass
            | Deviation::PauseTimeNotRestarted
            | Deviation::XoffWrongClass
            | Deviation::XonIgnored
            | Deviation::LossyObeysPfc
            | Deviation::LossyClassObeysPfc
            | Deviation::EmptyVectorPauses
            | Deviation::OneClassOfTwoObeyed
            | Deviation::LongPauseStays
            | Deviation::XonOfTwoIgnored
            | Deviation::PfcForwarded
            | Deviation::XonForwarded
            | Deviation::LossyPfcForwarded => Part::Pfc,
            Deviation::WeightsIgnored | Deviation::EgressRateLow | Deviation::FlowReordered => {
                Part::Scheduler
            }
            Deviation::MarksAtOtherPoint
            | Deviation::DepthAveraged
            | Deviation::MarksNonEct
            | Deviation::ClearsCe
            | Deviation::DropsEct
            | Deviation::NoJumpAtKmax
            | Deviation::DepthOfPort
            | Deviation::DepthOfClass
            | Deviation::MarksTooOften
            | Deviation::DrawsCorrelated
            | Deviation::CeNotCounted
            | Deviation::WredOnEveryQueue => Part::Wred,
            Deviation::MacsecEncryptedPfcDropped
            | Deviation::MacsecClearPfcAccepted
            | Deviation::MacsecReplayWindowIgnored
            | Deviation::MacsecIcvNotChecked
            | Deviation::MacsecLateCountedAsOk
            | Deviation::MacsecPfcSentClear
            | Deviation::MacsecAnNotSwitched
            | Deviation::MacsecSciNotChecked
            | Deviation::MacsecBadFramePauses
            | Deviation::MacsecPnWraps
            | Deviation::MacsecOkCountsPfcTwice
            | Deviation::MacsecRekeyForgetsOldSa
            | Deviation::MacsecHeadroomTooSmall
            | Deviation::MacsecClearPfcTakesNumber => Part::Macsec,
            Deviation::CnpPerPacket
            | Deviation::CnpHiddenInterval
            | Deviation::CnpOnCnp
            | Deviation::CnpWrongQp
            | Deviation::CnpWrongAddress
            | Deviation::CnpReservedSet
            | Deviation::CnpWithoutBecn
            | Deviation::CnpNotCounted
            | Deviation::CnpMissedOnRead
            | Deviation::CnpWithoutMark => Part::Np,
            Deviation::AlphaNotDecayed
            | Deviation::AlphaNotRaised
            | Deviation::CutWithoutCnp
            | Deviation::CutTwicePerWindow
            | Deviation::CutSpreads
            | Deviation::TargetNotSaved
            | Deviation::MinRateIgnored
            | Deviation::TimerNotRestarted
            | Deviation::BytesNotReset
            | Deviation::StagesNotReset
            | Deviation::HyperBeforeAdditive
            | Deviation::LineRateHalved => Part::Rp,
            Deviation::NakRepeated
            | Deviation::RestartsOnePsnLate
            | Deviation::PsnWithoutWrap
            | Deviation::BadIcrcAccepted
            | Deviation::DuplicateTaken
            | Deviation::DuplicateAckedAsItself
            | Deviation::AckCountsForOne
            | Deviation::TimeoutNotRestarted
            | Deviation::TriesNotReset
            | Deviation::ReadAsksOnePsnLate
            | Deviation::ImpliedNakNotCounted
            | Deviation::TimeoutNotCounted
            | Deviation::SpoiltAckTaken
            | Deviation::SpoiltResponseTaken
            | Deviation::NakHoldsAll => Part::Rc,
        }
    }
}
