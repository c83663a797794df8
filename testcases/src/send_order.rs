//! What one end of an application sends by a queue pair that serves all its steps, and in which order.

use crate::middlebox::Which;
use crate::nic::FlowSpec;
use crate::script::Script;

/// What one end of an application sends by the queue pair that serves all its steps: round after round the messages of each of its steps. A READ
/// has a number for each packet that it brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SendOrder {
    /// Its steps: the flow of each, messages in a round, and packets of a message.
    steps: Vec<(u16, u32, u32)>,
}

/// A packet among those.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendPlace {
    /// The flow that it is of, by its place in the script.
    pub flow: u16,
    /// Which message of the flow.
    pub message: u32,
    /// Which packet of the message.
    pub packet: u32,
    /// How many the message has.
    pub of: u32,
}

impl SendOrder {
    /// What the NIC behind `nic` sends by a connection, where that is one of several steps.
    pub fn of(script: &Script, connection: u16, nic: u16) -> Option<SendOrder> {
        let (_, lead) = script.flow_of(connection)?;
        let app = lead.app.filter(|step| step.one_pair)?.app;
        let own = |flow: &FlowSpec| flow.nic == nic && flow.app.is_some_and(|of| of.app == app);
        let mut all: Vec<(u8, (u16, u32, u32))> = (0..)
            .zip(&script.flows)
            .filter(|(_, flow)| own(flow))
            .filter_map(|(index, flow)| {
                let step = flow.app?;
                Some((step.nth, (index, step.chunks.max(1), packets(flow))))
            })
            .collect();
        all.sort_by_key(|(nth, _)| *nth);
        Some(SendOrder { steps: all.into_iter().map(|(_, step)| step).collect() })
    }

    /// Packets in a round.
    fn a_round(&self) -> u32 {
        self.steps.iter().map(|(_, messages, packets)| messages * packets).sum()
    }

    /// Packets before a message of a flow, which it has.
    pub fn before(&self, flow: u16, message: u32) -> Option<u32> {
        let at = self.steps.iter().position(|(of, ..)| *of == flow)?;
        let (_, messages, packets) = self.steps[at];
        let ahead: u32 =
            self.steps[..at].iter().map(|(_, messages, packets)| messages * packets).sum();
        Some(message / messages * self.a_round() + ahead + message % messages * packets)
    }

    /// Which packet is the one with so many before it.
    pub fn packet_at(&self, before: u32) -> Option<SendPlace> {
        let (round, mut left) = (before.checked_div(self.a_round())?, before % self.a_round());
        for &(flow, messages, packets) in &self.steps {
            if left < messages * packets {
                let message = round * messages + left / packets;
                return Some(SendPlace { flow, message, packet: left % packets, of: packets });
            }
            left -= messages * packets;
        }
        None
    }
}

/// The flow whose connection a flow has: its own, but where an application has one queue pair.
pub(crate) fn lead(flows: &[FlowSpec], flow: u16) -> u16 {
    let app = |flow: &FlowSpec| flow.app.filter(|step| step.one_pair);
    let Some(own) = flows.get(usize::from(flow)).and_then(app) else { return flow };
    let first = |flow: &FlowSpec| app(flow).is_some_and(|of| (of.app, of.nth) == (own.app, 0));
    let lead = flows.iter().position(first).and_then(|lead| u16::try_from(lead).ok());
    lead.unwrap_or(flow)
}

/// A connection and the frames of it as they are run, of `streams` streams before it: of several steps that share one it is that of the first, from whose number
/// on packets are counted.
pub(crate) fn of_lead(flows: &[FlowSpec], streams: usize, on: u16, which: Which) -> (u16, Which) {
    let before = u16::try_from(streams).unwrap_or(u16::MAX);
    let own = on.saturating_sub(before);
    let lead = lead(flows, own);
    let psn = |flow: u16| flows.get(usize::from(flow)).map_or(0, |flow| flow.psn);
    let which = match which {
        Which::Psn(nth) => {
            Which::Psn(psn(own).wrapping_add(nth).wrapping_sub(psn(lead)) & 0xff_ffff)
        }
        other => other,
    };
    (before.saturating_add(lead), which)
}

/// Packets of a message.
fn packets(flow: &FlowSpec) -> u32 {
    flow.message.div_ceil(flow.mtu.max(1)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_sends_its_steps_in_their_order_round_after_round() {
        let order = SendOrder { steps: vec![(3, 2, 4), (1, 1, 1)] };
        let place = |flow, message, packet, of| Some(SendPlace { flow, message, packet, of });
        assert_eq!(order.packet_at(0), place(3, 0, 0, 4));
        assert_eq!(order.packet_at(7), place(3, 1, 3, 4));
        assert_eq!(order.packet_at(8), place(1, 0, 0, 1));
        assert_eq!(order.packet_at(9), place(3, 2, 0, 4));
        assert_eq!(order.packet_at(35), place(1, 3, 0, 1));
        assert_eq!(
            [order.before(3, 1), order.before(1, 0), order.before(3, 2)],
            [Some(4), Some(8), Some(9)]
        );
        assert_eq!((order.before(1, 3), order.before(2, 0)), (Some(35), None));
        assert_eq!(SendOrder { steps: vec![] }.packet_at(0), None);
    }
}
