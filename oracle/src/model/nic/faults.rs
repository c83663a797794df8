//! The one list of deviations of NICs: what each of them changes.

use crate::model::packet::{Kind, Packet};
use rig_lab::{Deviation, Switched};
use rig_units::Dur;

/// What a NIC does wrong; nothing by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults {
    /// Every mark is answered.
    pub cnp_per_packet: bool,
    /// Answered marks are never closer than this.
    pub hidden_interval: Dur,
    /// A mark on a CNP is answered.
    pub cnp_on_cnp: bool,
    /// A CNP names the queue pair after its own.
    pub cnp_wrong_pair: bool,
    /// A CNP goes to the usual address of a port.
    pub cnp_wrong_address: bool,
    /// The reserved bytes of a CNP are not zero.
    pub cnp_reserved_set: bool,
    /// A CNP has no BECN.
    pub cnp_without_becn: bool,
    /// CNPs that are sent do not count.
    pub cnp_not_counted: bool,
    /// Marks on what a READ brings are not answered.
    pub cnp_missed_on_read: bool,
    /// Alpha does not decay.
    pub alpha_not_decayed: bool,
    /// A cut leaves alpha as it is.
    pub alpha_not_raised: bool,
    /// The first alpha timer after a cut cuts again.
    pub cut_without_cnp: bool,
    /// The second CNP within a window cuts.
    pub cut_twice: bool,
    /// A cut takes the next queue pair too.
    pub cut_spreads: bool,
    /// A cut makes the speed of the port the target.
    pub target_not_saved: bool,
    /// There is no least rate.
    pub min_rate_ignored: bool,
    /// A cut does not restart the timer of increases.
    pub timer_not_restarted: bool,
    /// A cut does not restart the byte counter.
    pub bytes_not_reset: bool,
    /// A cut does not make the counts 0.
    pub stages_not_reset: bool,
    /// Additive increases are hyper.
    pub hyper_before_additive: bool,
    /// Every packet behind a hole is answered with a NAK.
    pub nak_repeated: bool,
    /// After a NAK the sender leaves out the packet that is missing.
    pub restarts_late: bool,
    /// Packet sequence numbers are compared as if they did not wrap.
    pub without_wrap: bool,
    /// A frame whose ICRC is wrong is taken.
    pub bad_icrc_accepted: bool,
    /// A packet that comes again is taken as if it were new.
    pub duplicate_taken: bool,
    /// A packet that comes again is acknowledged with its own number.
    pub duplicate_as_itself: bool,
    /// An acknowledgement counts for the packet that it names alone.
    pub ack_for_one: bool,
    /// Progress does not restart the timeout.
    pub timeout_not_restarted: bool,
    /// Progress does not begin a new count of tries.
    pub tries_not_reset: bool,
    /// The reaction point takes its port for half as fast as it is.
    pub line_halved: bool,
    /// Of a READ with a hole the packet that is missing is not asked for.
    pub read_asks_late: bool,
    /// Packets that are ECN-capable are answered as if they were marked.
    pub cnp_without_mark: bool,
    /// Holes in what a READ brings do not count.
    pub implied_nak_not_counted: bool,
    /// Timeouts do not count.
    pub timeout_not_counted: bool,
    /// An acknowledgement whose ICRC is wrong is taken.
    pub spoilt_ack_taken: bool,
    /// What a READ brings is taken whose ICRC is wrong.
    pub spoilt_response_taken: bool,
    /// A NAK holds back every queue pair.
    pub nak_holds_all: bool,
}

impl Faults {
    /// Nothing wrong.
    pub const NONE: Faults = Faults {
        cnp_per_packet: false,
        hidden_interval: Dur::ZERO,
        cnp_on_cnp: false,
        cnp_wrong_pair: false,
        cnp_wrong_address: false,
        cnp_reserved_set: false,
        cnp_without_becn: false,
        cnp_not_counted: false,
        cnp_missed_on_read: false,
        alpha_not_decayed: false,
        alpha_not_raised: false,
        cut_without_cnp: false,
        cut_twice: false,
        cut_spreads: false,
        target_not_saved: false,
        min_rate_ignored: false,
        timer_not_restarted: false,
        bytes_not_reset: false,
        stages_not_reset: false,
        hyper_before_additive: false,
        nak_repeated: false,
        restarts_late: false,
        without_wrap: false,
        bad_icrc_accepted: false,
        duplicate_taken: false,
        duplicate_as_itself: false,
        ack_for_one: false,
        timeout_not_restarted: false,
        tries_not_reset: false,
        line_halved: false,
        read_asks_late: false,
        cnp_without_mark: false,
        implied_nak_not_counted: false,
        timeout_not_counted: false,
        spoilt_ack_taken: false,
        spoilt_response_taken: false,
        nak_holds_all: false,
    };

    /// Whether `packet` is taken although its ICRC is wrong.
    pub(crate) const fn takes_spoilt(&self, packet: &Packet) -> bool {
        let spoilt_of_kind = match packet.kind {
            Kind::Ack => self.spoilt_ack_taken,
            Kind::Data => self.spoilt_response_taken && packet.is_response(),
            _ => false,
        };
        self.bad_icrc_accepted || spoilt_of_kind
    }

    /// What `deviations` do to a NIC; those of a switch do nothing to it.
    pub fn of(deviations: &[Switched]) -> Faults {
        let mut faults = Faults::NONE;
        for &switched in deviations {
            faults.switch_on(switched);
        }
        faults
    }

    /// Whether `deviation` is one of a NIC; if so it is built here, and nowhere else.
    pub(crate) fn switch_on(&mut self, Switched { name, value }: Switched) -> bool {
        let flag = match name {
            // A CNP for every mark, however close.
            Deviation::CnpPerPacket => &mut self.cnp_per_packet,
            // Marks that should be answered are not.
            Deviation::CnpHiddenInterval => {
                self.hidden_interval = Dur::us(value.unwrap_or(50));
                return true;
            }
            // CNPs that arrive marked bring others forth.
            Deviation::CnpOnCnp => &mut self.cnp_on_cnp,
            // The sender of another queue pair slows down.
            Deviation::CnpWrongQp => &mut self.cnp_wrong_pair,
            Deviation::CnpWrongAddress => &mut self.cnp_wrong_address,
            Deviation::CnpReservedSet => &mut self.cnp_reserved_set,
            Deviation::CnpWithoutBecn => &mut self.cnp_without_becn,
            // Counter and CNPs on the wire disagree.
            Deviation::CnpNotCounted => &mut self.cnp_not_counted,
            // Marked READ responses bring no CNP.
            Deviation::CnpMissedOnRead => &mut self.cnp_missed_on_read,
            // A cut long after the last one is as deep as one right after it.
            Deviation::AlphaNotDecayed => &mut self.alpha_not_decayed,
            // Cuts that follow one another do not grow deeper.
            Deviation::AlphaNotRaised => &mut self.alpha_not_raised,
            // One CNP, two cuts.
            Deviation::CutWithoutCnp => &mut self.cut_without_cnp,
            Deviation::CutTwicePerWindow => &mut self.cut_twice,
            Deviation::CutSpreads => &mut self.cut_spreads,
            // Recovery goes half of the way to the speed of the port, and so on.
            Deviation::TargetNotSaved => &mut self.target_not_saved,
            Deviation::MinRateIgnored => &mut self.min_rate_ignored,
            // The first increase after a cut comes early.
            Deviation::TimerNotRestarted => &mut self.timer_not_restarted,
            Deviation::BytesNotReset => &mut self.bytes_not_reset,
            // The increases after a cut go on as if there had been none.
            Deviation::StagesNotReset => &mut self.stages_not_reset,
            Deviation::HyperBeforeAdditive => &mut self.hyper_before_additive,
            Deviation::NakRepeated => &mut self.nak_repeated,
            // The hole stays.
            Deviation::RestartsOnePsnLate => &mut self.restarts_late,
            // A hole across the wrap is taken for duplicates.
            Deviation::PsnWithoutWrap => &mut self.without_wrap,
            Deviation::BadIcrcAccepted => &mut self.bad_icrc_accepted,
            // A message is delivered twice; fewer acknowledgements than packets ask for.
            Deviation::DuplicateTaken => &mut self.duplicate_taken,
            Deviation::DuplicateAckedAsItself => &mut self.duplicate_as_itself,
            // One that is lost leaves the sender waiting for ever, or for its timeout.
            Deviation::AckCountsForOne => &mut self.ack_for_one,
            // A flow longer than the timeout is sent again although nothing was lost.
            Deviation::TimeoutNotRestarted => &mut self.timeout_not_restarted,
            Deviation::TriesNotReset => &mut self.tries_not_reset,
            // Who was never told to slow down is slow.
            Deviation::LineRateHalved => &mut self.line_halved,
            Deviation::ReadAsksOnePsnLate => &mut self.read_asks_late,
            Deviation::CnpWithoutMark => &mut self.cnp_without_mark,
            Deviation::ImpliedNakNotCounted => &mut self.implied_nak_not_counted,
            Deviation::TimeoutNotCounted => &mut self.timeout_not_counted,
            // What nobody received is taken for received, and never sent again.
            Deviation::SpoiltAckTaken => &mut self.spoilt_ack_taken,
            // Noise is delivered as if it had been read.
            Deviation::SpoiltResponseTaken => &mut self.spoilt_response_taken,
            // Who lost nothing waits for whoever did.
            Deviation::NakHoldsAll => &mut self.nak_holds_all,
            _ => return false,
        };
        *flag = true;
        true
    }
}
