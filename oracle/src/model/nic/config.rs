//! What a NIC is made of, and how that follows from a profile.

use super::ack_timer;
use super::backpressure::Sends;
use super::port_classes::PortClasses;
use super::rp::Limiter;
use crate::model::chance;
use crate::model::oscillator::Oscillator;
use crate::model::packet::ACK_SIZE;
use rig_lab::declared::RdmaRouter;
use rig_lab::{Estats, NicFaults, NicHost, Np, Rc, Receive, Rp};

/// What is asked of a configuration at each frame, in one place: it is spread over many cache lines.
#[derive(Debug, Clone, Copy)]
pub(super) struct EachFrame {
    /// Whether frames may leave as something that they should not be.
    pub(super) disguises: bool,
    /// Whether requesters have a timer.
    pub(super) is_timed: bool,
    /// Whether waits of their timer differ.
    pub(super) adapts: bool,
    /// Whether one queue pair may keep others from the port for longer than its turn.
    pub(super) hogs: bool,
    /// Whether what is sent again keeps no rate.
    pub(super) bypasses: bool,
}

impl EachFrame {
    pub(super) fn of(config: &Config) -> EachFrame {
        let (rc, faults) = (&config.rc, &config.faults.rc);
        let spoils = faults.icrc_wrong.or(faults.icrc_rarely_wrong).is_some();
        EachFrame {
            disguises: spoils
                || faults.ud_sends_other_key
                || faults.first_packet_pcp_zero
                || faults.ipv6_icrc_wrong
                || config.odd_headers() != (false, false),
            is_timed: ack_timer::runs(rc, faults),
            adapts: rc.adaptive.is_some() || faults.adaptive_hidden,
            hogs: faults.read_answered_in_a_row
                || faults.atomic_holds_port.is_some()
                || config.faults.rp.turn_of_a_message
                || config.faults.rp.request_read_holds_port.is_some(),
            bypasses: config.faults.rp.resent_unlimited,
        }
    }
}

/// What a NIC is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The notification point.
    pub np: Np,
    /// The reaction point.
    pub rp: Rp,
    /// Reliable connections.
    pub rc: Rc,
    /// What a frame goes through on its way in.
    pub receive: Receive,
    /// What its host takes of it.
    pub memory: NicHost,
    /// When it sends PFC, if it does.
    pub sends: Option<Sends>,
    /// How traffic classes share its port, if that is known.
    pub ets: Option<PortClasses>,
    /// What its host keeps of what it posts.
    pub estats: Estats,
    /// The software between it and whoever uses it, where there is some.
    pub router: Option<RdmaRouter>,
    /// Whether it does as a packet simulator does instead.
    #[cfg(feature = "ns3")]
    pub ns3: Option<super::ns3_dcqcn::Config>,
    /// What it does wrong.
    pub faults: NicFaults,
    /// What its draws follow from.
    pub seed: u64,
    /// What times that others ask for are told by; its own are told by it already.
    pub clock: Oscillator,
}

impl Config {
    /// The NIC as a profile declares it.
    pub fn declared(nic: &rig_lab::Nic) -> Config {
        let rig_lab::Nic { generation: _, np, rp, rc, receive, pfc, host, ets, estats } = nic;
        Config {
            np: *np,
            rp: *rp,
            rc: *rc,
            receive: *receive,
            memory: *host,
            sends: Sends::declared(pfc),
            ets: PortClasses::declared(ets),
            estats: *estats,
            router: None,
            #[cfg(feature = "ns3")]
            ns3: None,
            faults: NicFaults::NONE,
            seed: 0,
            clock: Oscillator::EXACT,
        }
    }

    /// Size of its acknowledgements.
    pub(super) const fn ack_size(&self) -> u16 {
        #[cfg(feature = "ns3")]
        if let Some(ns3) = &self.ns3 {
            return ns3.ack_size;
        }
        ACK_SIZE
    }

    /// Whether its acknowledgements carry the mark of their frame back.
    pub(super) const fn acks_echo_marks(&self) -> bool {
        #[cfg(feature = "ns3")]
        return self.ns3.is_some();
        #[cfg(not(feature = "ns3"))]
        false
    }

    /// Whether MigReq is clear in what it sends, and whether all connections have one UDP port.
    pub(super) fn odd_headers(&self) -> (bool, bool) {
        let (rc, faults) = (&self.rc, &self.faults.rc);
        let is_not = |declared: Option<bool>| declared == Some(false);
        (
            is_not(rc.mig_req) || faults.mig_req_clear,
            is_not(rc.own_source_port) || faults.source_port_shared,
        )
    }

    /// A limiter of a port of `line` bits a second that was told nothing yet.
    pub(super) fn fresh(&self, line: u64) -> Limiter {
        let line = if self.faults.rp.line_rate_halved { line / 2 } else { line };
        Limiter::new(&self.rp, line).of_device(&self.rp, self.ways())
    }

    /// How this device rounds its rates and gaps, and when its timers that run by themselves do.
    pub(super) const fn ways(&self) -> u64 {
        chance::draw(chance::stream(self.seed, *b"ratestep"), 0)
    }
}
