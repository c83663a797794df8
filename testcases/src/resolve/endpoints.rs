//! How the rig's ports behave as the device's peers, and whether what is predicted still holds with such peers.
//!
//! A lossless class loses nothing because its senders stop in time. Of a sender that does not, nobody can tell what the
//! device dropped on purpose from what overran its headroom; so what needs to be told apart is refused.

use crate::case::{Endpoint, Response};
use crate::vocabulary::Senders;
use crate::{Case, EndpointSpec, Lookup, Measure, Script};
use rig_lab::{Declared, Fault};
use rig_units::{PFC_BUDGETS, PortSpeed, Quanta};

/// A port's behaviour, worked out for its speed.
///
/// # Errors
/// A variable without a value.
pub(super) fn spec(
    endpoint: &Endpoint,
    speed: PortSpeed,
    lookup: &dyn Lookup,
) -> Result<EndpointSpec, String> {
    let response = match &endpoint.response {
        Response::Quanta(quanta) => speed.pause(*quanta),
        Response::Time(time) => time.resolve(lookup)?,
    };
    Ok(EndpointSpec { obeys: endpoint.obeys, response, pfc: endpoint.pfc, pn: endpoint.pn })
}

/// The most that a port of this speed may take; between two speeds of the table the lower one's.
fn budget(speed: PortSpeed) -> Quanta {
    let listed = PFC_BUDGETS.iter().rev().find(|(bps, _)| *bps <= speed.bps());
    listed.map_or(PFC_BUDGETS[0].1, |&(_, quanta)| quanta)
}

/// Refuses a measure whose prediction needs a sender that obeys PFC in time where the sender does not.
pub(super) fn check(case: &Case, declared: &Declared, script: &Script) -> Result<(), Fault> {
    for measure in &case.measure {
        searched(case, declared, script, measure)?;
        let (streams, must_obey) = match measure.entry.senders {
            Senders::Any => continue,
            Senders::Obey(pick) => (pick(measure, case), true),
            Senders::InTime(pick) => (pick(measure, case), false),
        };
        let streams =
            script.streams.iter().filter(|stream| streams.contains(&stream.name.as_str()));
        // A device that never pauses the class cannot tell.
        for stream in streams.filter(|stream| pauses(declared, stream.class)) {
            let of = format!("`{}` of `{}`", measure.name(), stream.name);
            let (class, endpoint) = (stream.class, script.endpoint(stream.from));
            let port = &script.ports[usize::from(stream.from)];
            let speed = speed(declared, script, stream.from);
            let (budget, response) = (budget(speed), endpoint.response);
            if !endpoint.obeys(class) && must_obey {
                let found = format!(
                    "{of} holds for a sender that obeys PFC, and {port} ignores it in class {class}"
                );
                let want = format!(
                    "class {class} among those that {port} obeys; a sender that ignores it is measured by `loss` \
                     with an `expect:`, by `throughput` and by the PFC that it is sent"
                );
                return Err(case.fault(&format!("endpoints.{port}.obeys"), found, want));
            }
            if endpoint.obeys(class) && response > speed.pause(budget) {
                let found = format!(
                    "{of} holds for a sender that stops in time, and {port} takes {response}"
                );
                let most = speed.pause(budget);
                let want = format!("at most {budget} at {speed}, {most} (IEEE 802.3 31B.3.7)");
                return Err(case.fault(&format!("endpoints.{port}.response"), found, want));
            }
        }
    }
    Ok(())
}

/// A search counts on every frame that it sends: a sender that stops at the XOFF would leave some out.
fn searched(
    case: &Case,
    declared: &Declared,
    script: &Script,
    measure: &Measure,
) -> Result<(), Fault> {
    let searches = measure.searches();
    let own = script.streams.iter().filter(|stream| searches.contains(&stream.name.as_str()));
    for stream in own.filter(|stream| pauses(declared, stream.class)) {
        if script.endpoint(stream.from).obeys(stream.class) {
            let (port, class) = (&script.ports[usize::from(stream.from)], stream.class);
            let found = format!(
                "`{}` sends a number of frames of `{}` in spite of XOFF, and {port} obeys PFC in class {class}",
                measure.name(),
                stream.name
            );
            let want = format!("endpoints: {{{port}: {{obeys: none}}}}");
            return Err(case.fault(&format!("endpoints.{port}.obeys"), found, want));
        }
    }
    Ok(())
}

/// Whether the device sends PFC for the class.
fn pauses(declared: &Declared, class: u8) -> bool {
    declared.switch().is_some_and(|switch| switch.qos.lossless(class))
}

fn speed(declared: &Declared, script: &Script, port: u16) -> PortSpeed {
    let behind = script.dut_ports.get(usize::from(port)).copied().unwrap_or_default();
    declared.port_speed(behind).unwrap_or(PortSpeed::G100)
}
