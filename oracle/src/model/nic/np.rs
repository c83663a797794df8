//! The notification point: which marks are answered with a CNP.

use super::{Config, alike};
use crate::model::host::usual;
use crate::model::packet::{CNP_SIZE, Packet, PacketKind};
use rig_lab::{EcnField, Scope};
use rig_units::{Dur, Time};
use std::collections::BTreeMap;

/// When a mark was answered last in one scope, if one was.
pub(super) type Answered = Option<Time>;

/// What the notification point remembers beside each queue pair.
#[derive(Debug, Clone, Default)]
pub(super) struct Np {
    by_address: BTreeMap<u16, Answered>,
    of_port: Answered,
}

impl Np {
    /// Whether a mark that arrived at `now` from `source` is answered; if so that is remembered.
    pub(super) fn answers(
        &mut self,
        config: &Config,
        now: Time,
        source: u16,
        of_pair: &mut Answered,
    ) -> bool {
        if !config.np.enable {
            return false;
        }
        let last = match config.np.scope {
            Scope::Qp => of_pair,
            Scope::DestIp => self.by_address.entry(source).or_default(),
            Scope::Port => &mut self.of_port,
        };
        let is_due = last.is_none_or(|last| now - last >= interval(config));
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

/// Least time between two marks that are answered.
fn interval(config: &Config) -> Dur {
    let faults = &config.faults.np;
    let least = if faults.cnp_per_packet { Dur::ZERO } else { config.np.interval };
    least.max(Dur::us(faults.cnp_hidden_interval.unwrap_or(0).into()))
}

/// The CNP that `from` sends because of a mark on `marked`.
pub(super) fn cnp(config: &Config, from: u16, marked: &Packet) -> Packet {
    let (np, faults) = (&config.np, &config.faults.np);
    let stream = marked.stream.wrapping_add(u16::from(faults.cnp_wrong_qp));
    let asked = marked.sender();
    let to = if faults.cnp_wrong_address { usual(asked) } else { asked };
    let mut cnp = Packet::data(stream, from, to, np.dscp >> 3, np.dscp, CNP_SIZE);
    cnp.kind = PacketKind::Cnp;
    let cnp = match np.ecn {
        EcnField::NotEct => cnp,
        EcnField::Ect0 => cnp.with_ect(true),
        EcnField::Ect1 => cnp.with_ect1(),
        EcnField::Ce => cnp.with_ect(true).with_ce(true),
    };
    let cnp = cnp.with_record(true).with_reserved_set(faults.cnp_reserved_set);
    alike::like(marked, config, cnp.with_becn(!faults.cnp_without_becn))
}
