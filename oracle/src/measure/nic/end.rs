//! One end of a connection, and what comes to it says.

use crate::judge::nic::rc::Reading;
use crate::spec::nic::rc::Says;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;

use rig_frames::psn::Psn;
use rig_testcases::{FlowSpec, RoceKind, Verb};

/// One end of a connection.
pub(super) struct End {
    /// The rig port in front of it.
    pub(super) port: u16,
    pub(super) connection: u16,
    /// The number of the connection's first packet.
    pub(super) first: Psn,
    /// Of a READ what is read: its requester receives, and its responder sends.
    pub(super) reads: Option<Reading>,
}

impl End {
    /// The end that receives what a stream or flow sends.
    pub(super) fn receiver(trial: &Trial, name: &str) -> Result<End, Doubt> {
        if let Ok((index, spec)) = trial.stream(name) {
            let (port, first) = (spec.to, Psn::new(spec.psn));
            return Ok(End { port, connection: index, first, reads: None });
        }
        End::of_flow(trial, name, |spec, reads| if reads { spec.nic } else { spec.to })
    }

    /// The end that sends the data of a flow.
    pub(super) fn sender(trial: &Trial, name: &str) -> Result<End, Doubt> {
        End::of_flow(trial, name, |spec, reads| if reads { spec.to } else { spec.nic })
    }

    fn of_flow(
        trial: &Trial,
        name: &str,
        port: impl Fn(&FlowSpec, bool) -> u16,
    ) -> Result<End, Doubt> {
        let (index, spec) = trial.flow(name)?;
        let connection = trial.script.connection(index);
        let (first, packets) = (Psn::new(spec.psn), spec.message.div_ceil(spec.mtu));
        let total = spec.count.map(|count| count.saturating_mul(packets));
        let reads = (spec.verb == Verb::Read).then_some(Reading { first, packets, total });
        let port = port(spec, reads.is_some());
        Ok(End { port, connection, first, reads })
    }

    /// Tells READ requests anew from those that begin a message, in their order; where nothing is read, nothing.
    pub(super) fn again(&self) -> impl FnMut(RoceKind, u32) -> Option<Says> + use<> {
        let (first, reads) = (self.first, self.reads);
        let mut begun = 0;
        move |kind, psn| {
            let packets = reads.filter(|_| kind == RoceKind::ReadRequest)?.packets;
            let fresh = first.advance(begun * packets).get() == psn;
            begun += u32::from(fresh);
            (!fresh).then_some(Says::Nak)
        }
    }
}

/// What an acknowledgement or a NAK says.
pub(super) const fn says(kind: RoceKind) -> Option<Says> {
    match kind {
        RoceKind::Ack => Some(Says::Ack),
        RoceKind::Nak => Some(Says::Nak),
        RoceKind::Data { .. }
        | RoceKind::Cnp { .. }
        | RoceKind::ReadRequest
        | RoceKind::Denied
        | RoceKind::NotReady(_) => None,
    }
}
