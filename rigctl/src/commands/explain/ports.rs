//! Rig ports that behave, or are recorded, otherwise than usual.

use super::page::Page;
use rig_testcases::{EndpointSpec, Script, Tap};

/// Writes them; nothing where all is as usual.
pub(super) fn write(page: &mut Page, script: &Script) {
    table(page, "endpoints", script, |port| peer(script.endpoint(port)));
    table(page, "taps", script, |port| recorded(script.tap(port)));
}

/// A row for each port of which `say` says something.
fn table(page: &mut Page, name: &str, script: &Script, say: impl Fn(u16) -> Option<String>) {
    let row = |(port, name): (u16, &String)| Some(vec![name.clone(), say(port)?]);
    let rows: Vec<Vec<String>> = (0..).zip(&script.ports).filter_map(row).collect();
    if !rows.is_empty() {
        page.heading(name);
        page.table(&rows);
    }
}

fn peer(endpoint: EndpointSpec) -> Option<String> {
    (endpoint != EndpointSpec::default()).then(|| endpoint.to_string())
}

fn recorded(tap: Tap) -> Option<String> {
    let what = match tap {
        Tap::Sampled => return None,
        Tap::All => "every frame is recorded",
        Tap::Pfc => "PFC frames are recorded, others counted",
        Tap::None => "nothing is recorded, frames are counted",
    };
    Some(what.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::Dur;

    #[test]
    fn only_what_is_not_as_usual_is_said() {
        let peer = |obeys, ns| {
            peer(EndpointSpec {
                pfc: rig_testcases::Takes::Either,
                pn: 1,
                obeys,
                response: Dur::ns(ns),
            })
        };
        assert_eq!(peer(0xff, 0), None);
        assert_eq!(peer(0, 0).as_deref(), Some("ignores PFC"));
        assert_eq!(peer(0b1_1000, 0).as_deref(), Some("obeys PFC in class 3 and 4 only"));
        assert_eq!(peer(0xff, 400).as_deref(), Some("obeys PFC, 400ns after it"));
        assert_eq!(recorded(Tap::Sampled), None);
        assert!(Tap::NAMES.iter().filter(|(_, tap)| recorded(*tap).is_some()).count() == 3);
    }
}
