//! The one list of deviations: what each of them changes in the device.

use super::guard::Guard;
use super::handler::Effect;
use super::{Acted, Event, watermarks};
use crate::model::classify::mask;
use crate::model::packet::bit;
use crate::model::pfc_gen::Xon;
use crate::model::{mac, nic, pfcwd, switch};
use parts::{BufferFaults, MacsecFaults, WredFaults};
use rig_capture::PfcFault;
use rig_lab::{Action, Declared, Deviation, Scheduling, Switched};
use rig_units::{Dur, Ppm};

mod parts;

/// The deviations that are switched on, as the parts of the device ask for them.
#[derive(Debug, Clone, Default)]
pub(super) struct Faults {
    /// Those within one watchdog.
    pub(super) rule: pfcwd::Faults,
    blind_class: Option<u8>,
    /// Frames that a drop lets through first.
    pub(super) leak: u32,
    drop_takes_next_queue: bool,
    drop_takes_next_port: bool,
    forward_drops: bool,
    alert_drops: bool,
    polls_once: bool,
    /// Added to each packet counter of a watchdog at every storm.
    pub(super) miscount: u64,
    /// Senders that are paused when a drop begins stay so.
    pub(super) holds_senders: bool,
    /// The last guarded queue is left out.
    pub(super) big_red_switch_misses_one: bool,
    pub(super) accepts_out_of_range: bool,
    pub(super) refuses_limits: bool,
    pub(super) buffer_change_ends_storm: bool,
    pub(super) link_toggle_fires: bool,
    pub(super) own_pfc_counts: bool,
    one_port_at_a_time: bool,
    pfc_fault: Option<PfcFault>,
    refresh_late: bool,
    weights_ignored: bool,
    egress_rate: Option<Ppm>,
    /// What the packet buffer is made of otherwise than declared.
    buffer: BufferFaults,
    /// What early detection does otherwise than declared.
    wred: WredFaults,
    /// What the switch and its parts do wrong by themselves.
    switch: switch::Faults,
    mac: mac::Faults,
    xon: Option<Xon>,
    xoff_wrong_class: bool,
    /// Classes that obey beside those that should.
    lossy_obeys: u8,
    /// What goes wrong with the copies of watermarks.
    pub(super) watermarks: watermarks::Faults,
    /// What MACsec does otherwise than declared.
    macsec: MacsecFaults,
    /// What NICs do wrong.
    pub(super) nic: nic::Faults,
}

impl Faults {
    /// What `deviations` do to a device that runs `running`.
    pub(super) fn of(deviations: &[Switched], running: &Declared) -> Faults {
        let mut faults = Faults::default();
        for &switched in deviations {
            let Switched { name, value } = switched;
            match name {
                // A storm on that class pauses its queue for good.
                Deviation::DetectionIgnoresClass => {
                    let highest = running.qos.pfcwd_sw_enable.iter().copied().max();
                    faults.blind_class = value.map_or(highest, |class| u8::try_from(class).ok());
                }
                // Two storms, each too short by itself, add up.
                Deviation::TimerNotResetByGap => faults.rule.timer_not_reset_by_gap = true,
                // XON frames alone, at least one per poll, fire.
                Deviation::XonCountsAsStorm => faults.rule.xon_counts_as_storm = true,
                // A pause of a queue that nobody uses costs the first data that come.
                Deviation::IdleQueueFires => faults.rule.idle_fires = true,
                // A receiver that is merely slow is fired at.
                Deviation::AnyPauseIsStorm => faults.rule.any_pause_counts = true,
                // Every restoration comes one poll early, where it takes more than one.
                Deviation::RestoresTooEarly => faults.rule.restores_too_early = true,
                // A storm that goes on is fired at again and again.
                Deviation::RestoresDuringStorm => faults.rule.restores_during_storm = true,
                // Restoration counts from the last frame before the first quiet poll.
                Deviation::LateFrameDoesNotRestart => {
                    faults.rule.late_frame_does_not_restart = true;
                }
                // The same for XON only; nothing to see where XON is not counted anyway.
                Deviation::XonDoesNotRestart => {
                    faults.rule.xon_does_not_restart = running.pfc.xon_counts;
                }
                // Frames that arrive during the drop come out at the far end.
                Deviation::DropLeaks => {
                    faults.leak =
                        value.map_or(1, |frames| u32::try_from(frames).unwrap_or(u32::MAX));
                }
                // The neighbour's frames are lost while the storm lasts.
                Deviation::DropSpreadsToQueue => faults.drop_takes_next_queue = true,
                Deviation::DropSpreadsToPort => faults.drop_takes_next_port = true,
                Deviation::ForwardDrops => faults.forward_drops = true,
                Deviation::AlertActs => faults.alert_drops = true,
                // A second storm is not noticed.
                Deviation::PollStopsAfterStorm => faults.polls_once = true,
                // Watchdog counters and frames on the wire disagree.
                Deviation::CountersOff => faults.miscount = value.unwrap_or(1),
                // No XON, and XOFF again and again, until the queue is restored.
                Deviation::PfcContinuesAfterDrop => faults.holds_senders = true,
                // One queue still forwards, or still holds.
                Deviation::BigRedSwitchMissesQueue => faults.big_red_switch_misses_one = true,
                Deviation::AcceptsOutOfRange => faults.accepts_out_of_range = true,
                // A value that the documents allow is not taken.
                Deviation::RefusesLimits => faults.refuses_limits = true,
                // The queue obeys the storm again and is fired at a second time.
                Deviation::BufferChangeEndsStorm => faults.buffer_change_ends_storm = true,
                // A storm is published, and acted on, as long after the link came up as detection takes.
                Deviation::LinkToggleFires => faults.link_toggle_fires = true,
                // A port that congestion makes send XOFF is fired at; its restoration waits for the last of them.
                Deviation::OwnPfcCountsAsStorm => faults.own_pfc_counts = true,
                // The queues of every other port stay paused.
                Deviation::OnePortAtATime => faults.one_port_at_a_time = true,
                // Nobody obeys the frames of a congested port, and a capture shows why.
                Deviation::MalformedPfc => {
                    let number = usize::try_from(value.unwrap_or_default()).unwrap_or(usize::MAX);
                    faults.pfc_fault = PfcFault::ALL.get(number).copied();
                }
                // Between two frames of a congested port its sender goes on.
                Deviation::RefreshLate => faults.refresh_late = true,
                // The heavy queue gets no more of a full port than the light one.
                Deviation::WeightsIgnored => faults.weights_ignored = true,
                // A full port carries less than it should, and PFC holds back the rest.
                Deviation::EgressRateLow => {
                    let percent = value.map_or(95, |percent| u32::try_from(percent).unwrap_or(100));
                    faults.egress_rate = Some(Ppm(percent * 10_000));
                }
                // The first frame that is lost is the one before the one that may be.
                Deviation::HeadroomOneCellShort => faults.buffer.headroom_one_cell_short = true,
                // A sender that was paused goes on when its pause runs out, and no frame says so.
                Deviation::XonNever => faults.xon = Some(Xon::Never),
                // Between the frame whose leaving relieves the group and XON lies more than it should.
                Deviation::XonLate => {
                    faults.xon = Some(Xon::After(Dur::us(value.unwrap_or(500))));
                }
                // The second time that groups use their headroom, frames are lost that fitted the first time.
                Deviation::SharedHeadroomNotReleased => faults.buffer.own.headroom_stays = true,
                // A lone group loses its first frame only when the whole headroom pool is full.
                Deviation::HeadroomCapIgnored => faults.buffer.headroom_cap_ignored = true,
                // Frames of the class above wait while the class is paused.
                Deviation::PfcHonouredForOtherClass => faults.mac.takes_class_above = true,
                // A storm has gaps: frames pass between the end of one pause and the next PFC frame.
                Deviation::PauseTimeNotRestarted => faults.mac.never_restarts = true,
                // XOFF comes earlier by the frames that the reserve holds, and the watermark counts them.
                Deviation::ReservedNotCounted => faults.buffer.reserved_not_counted = true,
                // XOFF comes later, and occupancy is lower, at frame sizes where the descriptor costs a cell.
                Deviation::DescriptorNotCounted => faults.buffer.descriptor_not_counted = true,
                // A watermark still shows what was before it was cleared.
                Deviation::WatermarkNotCleared => faults.buffer.own.watermarks_stay = true,
                // The poll after a clear shows nothing of a queue that is full.
                Deviation::WatermarkForgetsLevel => faults.buffer.own.levels_forgotten = true,
                // An empty device sends XOFF earlier than before, and its pool's watermark does not return to zero.
                Deviation::DropLeaksBuffer => faults.buffer.own.drops_stay = true,
                // A counter of data frames moves with every PFC frame that the rig sends.
                Deviation::CounterCountsPfcAsData => faults.switch.pfc_counts_as_data = true,
                // A lossy queue drops later by `xoff`, and the headroom pool's watermark moves.
                Deviation::LossyUsesHeadroom => faults.buffer.own.lossy_headroom = true,
                // XOFF, and lossy drops where the pool is what limits, come at twice the depth.
                Deviation::PoolOversubscribedTwice => faults.buffer.pool_twice = true,
                // The sender that feeds the congested group is not paused, and another class of it is.
                Deviation::XoffWrongClass => faults.xoff_wrong_class = true,
                // A port sleeps on until the pause that it was let go from would have ended.
                Deviation::XonIgnored => faults.mac.xon_ignored = true,
                // A lossy queue waits that should be sending.
                Deviation::LossyObeysPfc => faults.lossy_obeys = u8::MAX,
                // One lossy queue waits that should be sending, and its neighbours send.
                Deviation::LossyClassObeysPfc => {
                    let class = value.map_or(6, |class| u8::try_from(class).unwrap_or(6));
                    faults.lossy_obeys |= bit(class);
                }
                // A frame that asks nothing of anybody stops the port.
                Deviation::EmptyVectorPauses => faults.mac.empty_pauses_all = true,
                // The higher of two paused classes goes on sending.
                Deviation::OneClassOfTwoObeyed => faults.mac.one_class_of_many = true,
                // A port sleeps on until the longer pause ends.
                Deviation::LongPauseStays => faults.mac.long_pause_stays = true,
                // A NIC that lets both its classes go with one frame waits for the pauses to run out.
                Deviation::XonOfTwoIgnored => faults.mac.xon_of_two_ignored = true,
                // Who sends to nobody that is congested is paused all the same.
                Deviation::PfcForwarded => faults.switch.pfc_forwarded = true,
                // Senders elsewhere that were paused for a reason are let go.
                Deviation::XonForwarded => faults.switch.xon_forwarded = true,
                // A frame that asks nothing of the switch is no business of anybody's.
                Deviation::LossyPfcForwarded => {
                    faults.switch.forwarded_but_for = Some(mask(&running.qos.pfc_enable));
                }
                // The counters say that more was lost than is missing.
                Deviation::DropCounterOff => faults.switch.drops_off_by = value.unwrap_or(1),
                // What was sent later arrives sooner; nothing is lost.
                Deviation::FlowReordered => {
                    faults.switch.reorders_after =
                        value.map_or(64, |frames| u32::try_from(frames).unwrap_or(u32::MAX));
                }
                // A sender of lossy traffic sees PFC for its class.
                Deviation::LossyPauses => faults.switch.lossy_pauses = true,
                // Frames are lost as soon as XOFF was sent.
                Deviation::HeadroomUnused => faults.buffer.headroom_unused = true,
                // The frames that follow a burst are marked, not those that lead it, or the other way round.
                Deviation::MarksAtOtherPoint => faults.wred.other_point = true,
                // A burst is over before the average has risen to what it comes to.
                Deviation::DepthAveraged => {
                    faults.wred.weight =
                        Some(value.map_or(9, |weight| u8::try_from(weight).unwrap_or(u8::MAX)));
                }
                // A frame that said that it does not understand marks has one.
                Deviation::MarksNonEct => faults.wred.own.marks_non_ect = true,
                // Marks of switches before this one do not come through.
                Deviation::ClearsCe => faults.wred.own.clears_ce = true,
                // No marks, and holes in the sequence.
                Deviation::DropsEct => faults.wred.own.drops_ect = true,
                // Frames above kmax leave unmarked.
                Deviation::NoJumpAtKmax => faults.wred.own.no_jump = true,
                // A queue that is not congested has marks when its neighbour is.
                Deviation::DepthOfPort => faults.wred.own.depth_of_port = true,
                // A port that is not congested marks when another one is.
                Deviation::DepthOfClass => faults.wred.own.depth_of_class = true,
                // Right above kmin the curve jumps.
                Deviation::MarksTooOften => {
                    let percent = value.map_or(2, |percent| u32::try_from(percent).unwrap_or(100));
                    faults.wred.own.extra = Ppm(percent * 10_000);
                }
                // Marks come in runs, although they are as many as they should be.
                Deviation::DrawsCorrelated => {
                    faults.wred.own.shared_draws =
                        value.map_or(8, |frames| u32::try_from(frames).unwrap_or(u32::MAX));
                }
                // Counter and marks on the wire disagree as soon as frames arrive marked.
                Deviation::CeNotCounted => faults.wred.own.ce_not_counted = true,
                // Queues that nobody asked to be marked are.
                Deviation::WredOnEveryQueue => faults.wred.every_queue = true,
                // Two senders into one queue fill it twice as far as it may be.
                Deviation::VoqPerSource => faults.buffer.voq_per_source = true,
                // XON comes while the queue that the sender was told about is as full as it was.
                Deviation::XonOfAnyQueue => faults.buffer.own.any_queue_resumes = true,
                // After a clear of one copy the other shows 0 as well.
                Deviation::WatermarkClearClearsAll => faults.watermarks.clear_clears_all = true,
                // A peak is gone from the persistent copy an interval later.
                Deviation::WatermarkPersistentForgets => {
                    faults.watermarks.persistent_forgets = true;
                }
                // A sender that is told in the agreed form goes on, and nothing counts it as wrong.
                Deviation::MacsecEncryptedPfcDropped => faults.macsec.drops_encrypted_pfc = true,
                // Anybody on the cable can pause the device.
                Deviation::MacsecClearPfcAccepted => faults.macsec.accepts_clear_pfc = true,
                // A frame that is sent twice arrives twice.
                Deviation::MacsecReplayWindowIgnored => faults.macsec.own.replay_unchecked = true,
                // Forged frames arrive at the far end.
                Deviation::MacsecIcvNotChecked => faults.macsec.own.icv_unchecked = true,
                // The counters say that frames came through that nobody received.
                Deviation::MacsecLateCountedAsOk => faults.macsec.own.late_counts_as_ok = true,
                // A peer that refuses PFC in clear is never paused.
                Deviation::MacsecPfcSentClear => faults.macsec.sends_clear_pfc = true,
                // A peer that has let go of the old association drops everything.
                Deviation::MacsecAnNotSwitched => faults.macsec.own.an_stays = true,
                // Frames of a stranger's channel arrive at the far end.
                Deviation::MacsecSciNotChecked => faults.macsec.own.sci_unchecked = true,
                // Forged, replayed and unwanted PFC frames pause the device.
                Deviation::MacsecBadFramePauses => faults.macsec.own.refused_pauses = true,
                // Frames go on after the last packet number, under numbers that were used before.
                Deviation::MacsecPnWraps => faults.macsec.own.pn_wraps = true,
                // The counter of valid frames and the frames on the wire disagree by those of PFC.
                Deviation::MacsecOkCountsPfcTwice => faults.macsec.own.pfc_counts_twice = true,
                // A rekey costs the frames that were sent just before it.
                Deviation::MacsecRekeyForgetsOldSa => faults.macsec.own.forgets_old_sa = true,
                // Between two protected frames lie the numbers of the PFC frames in clear.
                Deviation::MacsecClearPfcTakesNumber => {
                    faults.macsec.own.clear_takes_number = true;
                }
                Deviation::MacsecHeadroomTooSmall => faults.macsec.headroom_too_small = true,
                // NICs have a list of their own.
                Deviation::CnpPerPacket
                | Deviation::CnpHiddenInterval
                | Deviation::CnpOnCnp
                | Deviation::CnpWrongQp
                | Deviation::CnpWrongAddress
                | Deviation::CnpReservedSet
                | Deviation::CnpWithoutBecn
                | Deviation::CnpNotCounted
                | Deviation::CnpMissedOnRead
                | Deviation::AlphaNotDecayed
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
                | Deviation::NakRepeated
                | Deviation::RestartsOnePsnLate
                | Deviation::PsnWithoutWrap
                | Deviation::BadIcrcAccepted
                | Deviation::DuplicateTaken
                | Deviation::DuplicateAckedAsItself
                | Deviation::AckCountsForOne
                | Deviation::TimeoutNotRestarted
                | Deviation::TriesNotReset
                | Deviation::LineRateHalved
                | Deviation::ReadAsksOnePsnLate
                | Deviation::CnpWithoutMark
                | Deviation::ImpliedNakNotCounted
                | Deviation::TimeoutNotCounted
                | Deviation::SpoiltAckTaken
                | Deviation::SpoiltResponseTaken
                | Deviation::NakHoldsAll => {
                    let built = faults.nic.switch_on(switched);
                    debug_assert!(built, "{name} is in the list of NICs");
                }
            }
        }
        faults
    }

    /// Changes what the switch is made of.
    pub(super) fn build_into(&self, device: &mut switch::Config) {
        device.pfc.fault = self.pfc_fault;
        if self.refresh_late {
            let pauses = device.ports.iter().map(|&(_, speed)| speed.pause(device.pfc.quanta));
            device.pfc.refresh = pauses.max().map(|longest| longest.scaled(3, 2));
        }
        if self.weights_ignored {
            for how in &mut device.scheduling {
                if let Scheduling::Dwrr(weight) = how {
                    *weight = 1;
                }
            }
        }
        device.egress_rate = self.egress_rate.unwrap_or(device.egress_rate);
        self.buffer.build_into(&mut device.buffer);
        self.wred.build_into(&mut device.wred);
        if let Some(macsec) = &mut device.macsec {
            self.macsec.build_into(macsec);
            let slowest = device.ports.iter().map(|&(_, speed)| speed).min();
            let short = slowest.map_or(0, |speed| self.macsec.short(macsec, speed));
            device.buffer.headroom = device.buffer.headroom.saturating_sub(short);
        }
        device.faults = self.switch;
        if self.switch.lossy_pauses {
            device.pfc.sends = u8::MAX;
        }
        device.mac.faults = self.mac;
        device.mac.obeys |= self.lossy_obeys;
        device.pfc.xon = self.xon.unwrap_or(device.pfc.xon);
        device.pfc.class_off_by = u32::from(self.xoff_wrong_class);
    }

    /// What an action comes to.
    pub(super) const fn effect(&self, action: Action) -> Effect {
        match action {
            Action::Drop => Effect::Drop,
            Action::Forward if self.forward_drops => Effect::Drop,
            Action::Forward => Effect::Forward,
            Action::Alert if self.alert_drops => Effect::Drop,
            Action::Alert => Effect::Nothing,
        }
    }

    /// Whether nothing is polled any more.
    pub(super) fn polls_are_over(&self, events: &[Acted]) -> bool {
        self.polls_once && events.iter().any(|acted| acted.event == Event::Restore)
    }

    /// Whether the watchdog of one guarded queue is left out of this poll.
    pub(super) fn overlooks(&self, index: usize, guards: &[Guard]) -> bool {
        let Guard { port, class, .. } = guards[index];
        let elsewhere = |other: &Guard| other.port != port && other.watchdog.is_stormed();
        self.blind_class == Some(class) || (self.one_port_at_a_time && guards.iter().any(elsewhere))
    }

    /// The queues beside its own that a drop takes.
    pub(super) fn spread(&self, index: usize, guards: &[Guard]) -> Vec<(u16, u8)> {
        let Guard { port, class, .. } = guards[index];
        let queue = |guard: &Guard| (guard.port, guard.class);
        let after = guards[index + 1..].iter().chain(&guards[..index]).map(queue);
        let next_queue =
            after.clone().find(|&(other, _)| other == port).filter(|_| self.drop_takes_next_queue);
        let mut same_class = after.filter(|&(_, other)| other == class);
        let next_port = same_class.next().filter(|_| self.drop_takes_next_port);
        next_queue.into_iter().chain(next_port).collect()
    }
}
