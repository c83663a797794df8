//! What each took in a trial, and who took what was a tenant's: by the turns of the port, by the port while it stood idle, or by the host at the other end.

use super::load::{Tenants, words};
use super::{pauses, slot};
use crate::measure::nic::Passage;
use crate::measure::nic::ahead::is_answer;
use crate::spec::nic::neighbours::Round;
use crate::trials::trial::Trial;
use rig_capture::analyse::nic;
use rig_testcases::RoceKind;
use rig_units::{Dur, Time, Within};
use std::collections::BTreeMap;

/// What was sent and what passed between two instants.
pub(super) struct Taken {
    /// Packets of the tenant that left, and those that reached the other NIC.
    left: u64,
    reached: u64,
    /// What all frames but the tenant's took of the port, and those of them that go ahead of data.
    pub(super) others: Dur,
    pub(super) answers: Dur,
    /// What the tenant's took.
    own: Dur,
    /// Packets of each other connection.
    turns: BTreeMap<u16, u64>,
    /// How often the receiver asked for a pause, and for how long in all.
    pub(super) pauses: (u64, Dur),
    /// The two packets of the tenant that left furthest apart.
    pub(super) longest_wait: Vec<usize>,
}

impl Taken {
    /// As the wire shows it.
    pub(super) fn of(
        trial: &Trial,
        tenants: &Tenants<'_>,
        seen: &Passage<'_>,
        (from, until): (Time, Time),
    ) -> Taken {
        let connection = trial.script.connection(tenants.index);
        let mut taken = Taken {
            left: 0,
            reached: 0,
            others: Dur::ZERO,
            answers: Dur::ZERO,
            own: Dur::ZERO,
            turns: BTreeMap::new(),
            pauses: pauses(trial, tenants, (from, until)),
            longest_wait: Vec::new(),
        };
        let (mut before, mut longest) = (None, Dur::ZERO);
        for one in seen.left.iter().filter(|one| (from..until).contains(&one.at)) {
            let takes = slot(trial, tenants, one.roce.size);
            if one.roce.connection == connection && matches!(one.roce.kind, RoceKind::Data { .. }) {
                taken.left += 1;
                taken.own += takes;
                let since = before.and_then(|(_, at)| one.at.since(at));
                if let (Some(since), Some((record, _))) = (since, before)
                    && since > longest
                {
                    (longest, taken.longest_wait) = (since, vec![record, one.record]);
                }
                before = Some((one.record, one.at));
                continue;
            }
            taken.others += takes;
            if is_answer(one.roce.kind) {
                taken.answers += takes;
            } else {
                *taken.turns.entry(one.roce.connection).or_default() += 1;
            }
        }
        let came = nic::reached(&trial.observation, tenants.spec.to, &trial.script.streams);
        let came = came.iter().filter(|one| {
            one.connection == connection
                && matches!(one.kind, RoceKind::Data { .. })
                && (from..until).contains(&one.at)
        });
        taken.reached = u64::try_from(came.count()).unwrap_or(u64::MAX);
        taken
    }

    /// Packets of the tenant that count: where its host may be slow those that reached it.
    pub(super) fn packets(&self, tenants: &Tenants<'_>) -> u64 {
        if tenants.receiver.host.pcie.is_some() { self.reached } else { self.left }
    }
}

/// Who took what the tenant should have had, and of what.
pub(super) fn blame(tenants: &Tenants<'_>, round: &Round, taken: &Taken, lasts: Within) -> String {
    let name = &tenants.spec.name;
    let beside = words(tenants);
    let most = taken.turns.iter().max_by_key(|(_, packets)| **packets);
    if let Some((connection, packets)) = most.filter(|(_, packets)| **packets > taken.left * 2) {
        let of = tenants.name_of(*connection);
        return format!(
            "{of} alone sent {packets} in the {} turns of {name}: the turns of the port, shared with {beside}",
            taken.left
        );
    }
    let waits = taken.left.saturating_sub(taken.reached);
    if tenants.receiver.host.pcie.is_some() && waits > taken.left / 20 {
        let each = Dur(lasts.least().0 / taken.reached.max(1));
        let by = resource(tenants);
        return format!(
            "{waits} of the {} that left wait for the host at the other end, which takes {each} for a packet of each and not {}: {by}, shared with {beside}",
            taken.left,
            round.lasts()
        );
    }
    let idle = lasts.least().saturating_sub(taken.own + taken.others);
    if idle < round.lasts() {
        return format!(
            "the port was never idle, and took turns: it cannot be told who of {beside} had what was {name}'s"
        );
    }
    format!(
        "the port stood idle for {idle} of {} while {name} had packets to send: its send queues, held by {beside}, or its NIC sends no more messages a second, which no profile says",
        lasts.least()
    )
}

/// What of the host at the other end is shared: of what its NIC has at hand that of which its neighbours need more, and its bus.
fn resource(tenants: &Tenants<'_>) -> String {
    let host = &tenants.receiver.host;
    let connections = tenants.connections();
    let pages = host.region.zip(host.page).map(|(region, page)| region.0.div_ceil(page.0.max(1)));
    let pages = connections * pages.unwrap_or(0);
    match (host.contexts, host.mtt) {
        (Some(places), _) if connections > places.into() => {
            format!("contexts of {places} connections at hand, for {connections}")
        }
        (_, Some(places)) if pages > places.into() => {
            format!("addresses of {places} pages at hand, for {pages}")
        }
        _ => "the bus to its memory".to_owned(),
    }
}
