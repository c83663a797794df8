//! What a case sends, in words, for pages and for `rigctl explain`.

use super::steps;
use rig_frames::vlan;
use rig_lab::Curve;
use rig_testcases::case::Count;
use rig_testcases::{
    AppStep, Case, Container, EndpointSpec, FlowSpec, Injection, IpVersion, Memory, Middlebox,
    Script, Verb, Which,
};
use rig_units::{Bytes, Dur};

/// What is sent, a line for each sender, which ports are unusual peers, and what is done at single instants.
pub(super) fn stimulus(case: &Case, script: &Script) -> Vec<String> {
    let port = |index: u16| script.ports[usize::from(index)].as_str();
    let streams = script.streams.iter().map(|s| {
        let rate = match s.rate {
            rig_testcases::StreamRate::Every(gap) => format!("one frame every {gap}"),
            rig_testcases::StreamRate::Load(rate) => format!("{rate}"),
        };
        let rate = match case.streams.get(&s.name).and_then(|stream| stream.count) {
            None => rate,
            Some(Count::Frames(frames)) => format!("{rate}, {frames} of them"),
            Some(Count::Searched) => format!("{rate}, their number searched"),
        };
        format!(
            "{}: {} to {}, class {}{}{}{}, {} frames, {rate}",
            s.name,
            port(s.from),
            if s.from == s.to { "the NIC behind it" } else { port(s.to) },
            s.class,
            tag_text(s.vlan),
            over_text(s.over),
            gid_text(s.gid),
            s.size
        )
    });
    let flows = script.flows.iter().map(|flow| flow_text(script, flow));
    let between = script.between.iter().flat_map(|between| between_text(script, between));
    let storms = script.storms.iter().map(|s| {
        let classes: Vec<String> = (0..8)
            .filter(|class| s.classes >> class & 1 == 1)
            .map(|class: u8| class.to_string())
            .collect();
        let classes = classes.join(", ");
        format!(
            "{}: PFC from {}, class {classes}, {} every {}",
            s.name,
            port(s.from),
            s.quanta,
            s.every
        )
    });
    let peers = (0..).zip(&script.ports).map(|(index, port)| (port, script.endpoint(index)));
    let unusual = peers.filter(|(_, peer)| *peer != EndpointSpec::default());
    let peers = unusual.map(|(port, peer)| format!("{port}: {peer}"));
    let asked = steps::instants(script);
    streams.chain(flows).chain(between).chain(storms).chain(peers).chain(asked).collect()
}

/// The 802.1Q tag that the frames of a stream bear, if they do, behind what else they are.
pub fn tag_text(tag: Option<vlan::Repr>) -> String {
    let text = |tag: vlan::Repr| format!(", tagged VLAN {}, PCP {}", tag.vid.get(), tag.pcp.get());
    tag.map(text).unwrap_or_default()
}

/// What the frames of a connection go over, where that is IPv6.
pub fn over_text(over: IpVersion) -> &'static str {
    match over {
        IpVersion::V4 => "",
        IpVersion::V6 => ", over IPv6",
    }
}

/// To which GID of a NIC frames go, where that is not the usual one.
pub fn gid_text(gid: u8) -> String {
    if gid == 0 { String::new() } else { format!(", to its GID {}", u16::from(gid) + 1) }
}

/// At which of its addresses each NIC has a connection, where one is not the usual one.
fn gids_text(flow: &FlowSpec) -> String {
    let number = |gid: u8| u16::from(gid) + 1;
    match (flow.gid, flow.address, flow.nic == flow.to) {
        (0, _, true) | (0, 0, false) => String::new(),
        (own, _, true) => format!(", from GID {}", number(own)),
        (own, far, false) => format!(", from GID {} to GID {}", number(own), number(far)),
    }
}

/// What a NIC sends by itself.
pub fn flow_text(script: &Script, flow: &FlowSpec) -> String {
    let port = |index: u16| script.ports[usize::from(index)].as_str();
    let verb = match flow.verb {
        Verb::Send => "SEND",
        Verb::SendRegistered => "SEND behind a registration",
        Verb::Write => "WRITE",
        Verb::Read => "READ",
        Verb::SendImmediate => "SEND with immediate",
        Verb::WriteImmediate => "WRITE with immediate",
        Verb::SendInvalidate => "SEND with invalidate",
        Verb::FetchAdd => "fetch and add",
        Verb::CompareSwap => "compare and swap",
        Verb::SendUnreliable => "unreliable SEND",
        Verb::WriteUnreliable => "unreliable WRITE",
        Verb::Datagram => "datagram",
    };
    let (message, mtu) = (Bytes(flow.message.into()), Bytes(flow.mtu.into()));
    let to = match flow.nic == flow.to {
        true => "the rig".to_owned(),
        false => format!("that behind {}", port(flow.to)),
    };
    // How many an application sends follows from its rounds.
    let count = flow.count.filter(|_| flow.app.is_none());
    let count = count.map_or(String::new(), |count| format!(", {count} of them"));
    format!(
        "{}: the NIC behind {} to {to}, class {}, {verb} of {message} in packets of {mtu}{count}{}{}{}{}{}",
        flow.name,
        port(flow.nic),
        flow.class,
        tag_text(flow.vlan),
        over_text(flow.over),
        gids_text(flow),
        container_text(script, &flow.container),
        flow.app.as_ref().map_or(String::new(), step_text)
    )
}

/// Which step of an application its messages are.
fn step_text(step: &AppStep) -> String {
    let AppStep {
        nth,
        of,
        rounds,
        credits,
        chunks,
        at_once,
        think,
        one_pair,
        buffers,
        checksum,
        ..
    } = *step;
    let pooled = buffers.map(|all| format!(", {all} buffers"));
    let checked = if checksum { ", checksum" } else { "" };
    // Told once: the lines are long.
    let shared = if one_pair && nth == 0 { ", one QP" } else { "" };
    let thinks = (think > Dur::ZERO).then(|| format!(", {think} later"));
    let several = if at_once > 1 { format!(", {at_once} at once") } else { String::new() };
    let chunked = (chunks > 1).then(|| format!(", in {chunks} chunks{several}"));
    format!(
        "; step {} of {of}, {rounds} rounds, {credits} at a time{shared}{}{}{}{checked}",
        nth + 1,
        thinks.unwrap_or_default(),
        chunked.unwrap_or_default(),
        pooled.unwrap_or_default()
    )
}

/// What a flow's container has to do with it, where that is not what is usual.
fn container_text(script: &Script, container: &Container<u16>) -> String {
    let Container { number, memory, cap, takes_over, .. } = *container;
    let usual = Container::<u16>::USUAL;
    let number = (number != usual.number).then(|| format!(", of container {number}"));
    let memory = match memory {
        Memory::Registered => None,
        Memory::New => Some(", registers its memory first".to_owned()),
        Memory::Unknown => Some(", with an R_Key that no host has announced".to_owned()),
    };
    let cap = cap.map(|cap| format!(", {cap} at most"));
    let other = takes_over.and_then(|of| script.flows.get(usize::from(of)));
    let other = other.map(|other| format!(", those that {} leaves", other.name));
    [number, memory, cap, other].into_iter().flatten().collect()
}

/// What the rig does between two NICs, a line for each thing.
pub fn between_text(script: &Script, (a, b, between): &(u16, u16, Middlebox<u16>)) -> Vec<String> {
    let port = |index: u16| script.ports[usize::from(index)].as_str();
    let mut all = vec![format!(
        "the rig passes on between {} and {}, {} later",
        port(*a),
        port(*b),
        between.delay
    )];
    all.extend(between.bottleneck.as_ref().map(|narrow| {
        let Curve { kmin, kmax, pmax } = narrow.curve;
        format!(
            "the way to {} is a bottleneck of {}: none marked up to {kmin}, {pmax} at {kmax}, all from there on; {} may wait",
            port(narrow.to),
            narrow.speed,
            narrow.buffer
        )
    }));
    all.extend(between.inject.iter().map(|one| injection_text(script, one)));
    all
}

/// What is done to which frames on the way.
pub(super) fn injection_text(script: &Script, one: &Injection<u16>) -> String {
    let frames = rig_testcases::Target::NAMES.iter().find(|(_, target)| *target == one.frames);
    let frames = frames.map_or("", |(name, _)| name);
    // Of steps that share a connection it counts from the first of whoever leads: people count from the first of its own end.
    let lead = script.flow_of(one.on).map(|(_, flow)| flow);
    let own = match (one.which, lead) {
        (Which::Psn(nth), Some(lead)) => {
            let psn = lead.psn.wrapping_add(nth) & 0xff_ffff;
            let own = script.flow_at(one.on, psn).map(|(_, flow)| flow);
            own.map(|own| (own, psn.wrapping_sub(own.psn) & 0xff_ffff))
        }
        _ => None,
    };
    let name = own.map(|(own, _)| own).or(lead).map_or("", |flow| flow.name.as_str());
    let which = match one.which {
        Which::Psn(psn) => format!("{frames} {}", own.map_or(psn, |(_, nth)| nth)),
        Which::Nth(nth) => format!("{frames} number {nth}"),
        Which::Every { every: 1, .. } => format!("each {frames}"),
        Which::Every { every, run: 1 } => format!("one {frames} in {every}"),
        Which::Every { every, run } => format!("{run} {frames} in each {every}"),
        Which::During { lasting, every } => {
            format!("{frames} in the first {lasting} of each {every}")
        }
        Which::Drawn(chance) => format!("{frames}, each by a chance of {chance},"),
    };
    let round = one.iteration.map_or(String::new(), |round| format!(", in round {round}"));
    format!("{which} of {name}: {}{round}", one.tamper)
}
