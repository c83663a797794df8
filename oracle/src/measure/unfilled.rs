//! A port that is full where all have one speed, and is not where those that send to it are slower: nothing waits for it, and what a case wants
//! of a queue that grows is promised by nobody.

use crate::trials::context::Context;
use rig_testcases::running::{TrafficSource, running};
use rig_testcases::{Measure, Script, StreamRate, StreamSpec};
use rig_units::{PortSpeed, Rate};

/// All of a port, in billionths.
const WHOLE: u128 = 1_000_000_000;

/// Which port that is, of those to which streams go that `meant` picks, in words with both speeds; `None`: there is none.
pub fn unfilled(
    context: &Context<'_>,
    script: &Script,
    meant: impl Fn(&StreamSpec) -> bool,
) -> Option<String> {
    let declared = &context.group.declared;
    let speed = |port: u16| {
        let port = script.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
        declared.port_speed(port).unwrap_or(PortSpeed::G100)
    };
    let find = |senders: &dyn Fn(u16) -> bool| {
        let streams = (0_u16..).zip(&script.streams).filter(|(id, _)| senders(*id));
        let now: Vec<&StreamSpec> = streams.map(|(_, one)| one).collect();
        let meant = now.iter().filter(|one| meant(one) && !one.is_to_nic());
        meant.map(|one| one.to).find_map(|to| {
            let own: Vec<&&StreamSpec> = now.iter().filter(|one| one.to == to).collect();
            let of = |one: &&&StreamSpec| share(one, (speed(one.from), speed(to)));
            let (is, all_alike) =
                own.iter().map(of).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            if is >= WHOLE || all_alike < WHOLE {
                return None;
            }
            let from = own.iter().map(|one| one.from).min_by_key(|&port| speed(port))?;
            let [from_name, to_name] = [from, to].map(|port| script.ports.get(usize::from(port)));
            Some(format!(
                "{} of {} does not fill {} of {}, as one of its speed would: nothing waits there",
                from_name?,
                speed(from),
                to_name?,
                speed(to),
            ))
        })
    };
    let mut all = running(script, &speed).into_iter();
    all.find_map(|(_, senders)| find(&|id| senders.contains(&TrafficSource::Stream(id))))
}

/// Why what is measured of a stream that was to fill its port shows nothing.
pub(super) fn of_stream(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<String> {
    unfilled(context, script, |one| one.name == measure.named("stream"))
}

/// As [`never_grows`], of the streams that a measure names.
pub(super) fn of_streams(
    measure: &Measure,
    context: &Context<'_>,
    script: &Script,
) -> Option<String> {
    let names: Vec<&str> = measure.names("streams").iter().map(String::as_str).collect();
    never_grows(&names, context, script)
}

/// Why a queue that no storm holds never grows: its port is not full, however many frames are sent.
pub(super) fn never_grows(
    names: &[&str],
    context: &Context<'_>,
    script: &Script,
) -> Option<String> {
    let storms = &script.storms;
    let is_held = |one: &StreamSpec| {
        storms.iter().any(|storm| storm.from == one.to && storm.classes >> one.class & 1 == 1)
    };
    let is_meant = |one: &StreamSpec| names.contains(&one.name.as_str());
    // How many frames there are may be what is searched: more are sent as long as nothing is seen.
    let mut endless = script.clone();
    for spec in endless.streams.iter_mut().filter(|one| is_meant(one)) {
        spec.count = None;
    }
    unfilled(context, &endless, |one| is_meant(one) && !is_held(one))
}

/// What part of the port that it goes to a stream takes, in billionths; and what part where its own port has that speed.
fn share(stream: &StreamSpec, (from, to): (PortSpeed, PortSpeed)) -> (u128, u128) {
    let gap = u128::from(stream.pace(from).gap().0.max(1));
    let is = u128::from(to.slot(stream.on_wire()).0) * WHOLE / gap;
    let slower = matches!(stream.rate, StreamRate::Load(Rate::Share(_))) && from < to;
    let alike = if slower { is * u128::from(to.bps()) / u128::from(from.bps()) } else { is };
    (is, alike)
}
