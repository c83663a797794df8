//! Pauses that lapse, classes that nothing is in, and frames that do not fit the next device.

use super::rule::{Check, Flaw, Lint, Linted};
use crate::spec::pause::pause_time;
use rig_lab::System;

pub(super) const PAUSE_LAPSES: Lint = Lint {
    name: "pause-lapses",
    about: "XOFF that waits for a frame of the MTU takes effect at a sender that stops as late as this device after the pause before it has run out: the sender goes on in between",
    source: "IEEE 802.3 Annex 31B: a quantum is 512 bit times; F1",
    check: Check::Switch(pause_lapses),
};

fn pause_lapses(linted: &Linted<'_>) -> Option<Flaw> {
    let pfc = &linted.declared.pfc;
    // Both grow as a port gets slower, the pause faster than the wait; the response is the same at each.
    let speed = linted.declared.ports.iter().map(|group| group.speed).max()?;
    let (pause, wait) = (pause_time(pfc.quanta, speed), speed.slot(linted.declared.mtu));
    let response = linted.demand().response;
    let is_used = !linted.declared.qos.pfc_enable.is_empty();
    let refresh = pfc.refresh.most();
    (is_used && refresh + wait + response > pause).then(|| Flaw {
        path: "pfc.refresh",
        found: format!("XOFF of {} every {} at {speed}", pfc.quanta, pfc.refresh),
        want: format!("a refresh of at most {}", pause.saturating_sub(wait + response)),
        numbers: format!(
            "F1: {refresh} + {wait} of a frame ahead + {response} of response = {} against a pause of {pause}",
            refresh + wait + response
        ),
    })
}

pub(super) const UNUSED_CLASS: Lint = Lint {
    name: "class-without-dscp",
    about: "no code point leads to a lossless class: what was meant for it is in another, lossy or paused with that",
    source: "SONiC DSCP_TO_TC_MAP, PORT_QOS_MAP pfc_enable",
    check: Check::Switch(unused_class),
};

fn unused_class(linted: &Linted<'_>) -> Option<Flaw> {
    let qos = &linted.declared.qos;
    let leads =
        |class: u8| qos.default_tc == class || qos.dscp_to_tc.values().any(|&to| to == class);
    let unused: Vec<u8> = qos.pfc_enable.iter().copied().filter(|&class| !leads(class)).collect();
    let named = unused.iter().map(u8::to_string).collect::<Vec<_>>().join(", ");
    (!unused.is_empty()).then(|| Flaw {
        path: "qos.dscp_to_tc",
        found: format!("no code point of class {named}, which has PFC"),
        want: format!("an entry such as {}: {}", unused[0], unused[0]),
        numbers: format!(
            "{} of 64 code points are mapped, all others are of class {}",
            qos.dscp_to_tc.len(),
            qos.default_tc
        ),
    })
}

pub(super) const MTU_OF_LINKS: Lint = Lint {
    name: "mtu-mismatch",
    about: "two devices that are cabled to each other take frames of different sizes: what the one passes on the other discards",
    source: "RFC 1191 section 2: a link has one MTU; a switch sends no word of what it discards",
    check: Check::Links(mtu_of_links),
};

fn mtu_of_links(system: &System) -> Vec<(usize, Flaw)> {
    let of = |(index, link): (usize, &rig_lab::SystemLink)| {
        // At a NIC frames end: a host that takes and sends smaller ones than its switch is no mistake.
        let [one, other] = link.ends.map(|end| {
            let device = system.devices.get(usize::from(end.device));
            device.filter(|device| device.kind.is_passing()).map(|device| device.declared.mtu())
        });
        let (one, other) = (one?, other?);
        let [near, far] = link.ends.map(|end| system.port_name(end));
        (one != other).then(|| {
            let numbers = format!("{near}: {one}, {far}: {other}");
            let found = format!("a link between an MTU of {one} and one of {other}");
            (index, Flaw { path: "", found, want: "one MTU at both ends".to_owned(), numbers })
        })
    };
    system.links.iter().enumerate().filter_map(of).collect()
}
