//! Which devices a case applies to, and which of a device's ports it uses.

use crate::case::{CaseAction, PortNeed};
use crate::{Case, Measure};
use rig_lab::{Declared, Kind, Profile, Setting, settings};
use rig_units::PortSpeed;
use std::collections::BTreeSet;

/// Classes that obey PFC.
const LOSSLESS: &str = "qos.pfc_enable";

/// The number in the name of a rig port: 1 of `p1`.
pub(crate) fn port_number(name: &str) -> Option<u16> {
    let digits = name.strip_prefix('p')?;
    let number = digits.parse().ok().filter(|number| (1..=512).contains(number))?;
    (digits == format!("{number}")).then_some(number)
}

impl Case {
    /// The rig ports that the case uses, in the order of their numbers.
    pub fn rig_ports(&self) -> Vec<String> {
        // Thousands of flows have a few ports between them.
        let mut all: BTreeSet<&str> = BTreeSet::new();
        all.extend(self.streams.values().flat_map(|s| [s.from.as_str(), s.to.as_str()]));
        all.extend(self.flows.values().flat_map(|f| [f.nic.as_str(), f.to.as_str()]));
        all.extend(self.storms.values().map(|storm| storm.from.as_str()));
        for step in &self.steps {
            match &step.what {
                CaseAction::Pfc { from: port, .. } | CaseAction::LinkDown { port, .. } => {
                    all.insert(port);
                }
                CaseAction::Start { .. }
                | CaseAction::Stop { .. }
                | CaseAction::Configure(_)
                | CaseAction::Device(_) => {}
            }
        }
        all.extend(self.measure.iter().flat_map(Measure::ports));
        let mut all: Vec<&str> = all.into_iter().collect();
        all.sort_by_key(|name| port_number(name));
        all.into_iter().map(str::to_owned).collect()
    }

    /// Whether the case applies to a device; otherwise why not. Settings that the adapter can make are not asked for.
    ///
    /// # Errors
    /// What the device lacks, in words.
    pub fn suits(&self, profile: &Profile) -> Result<(), String> {
        if self.kind != profile.kind {
            return Err(format!("it is a {}, not a {}", profile.kind, self.kind));
        }
        if let Some(kind) = self.over.filter(|kind| !profile.is_over(*kind)) {
            return Err(match self.kind {
                Kind::Nic => format!("it does not stand behind {}", kind.called()),
                _ => format!("{} is not among its devices", kind.called()),
            });
        }
        let own = profile.family();
        if let Some(family) = self.family.filter(|&family| own != Some(family)) {
            let own = own.map_or_else(|| "none".to_owned(), |own| own.to_string());
            return Err(format!("its rule family is {own}, not {family}"));
        }
        for setting in self.settings.iter().filter(|s| !settings::configurable(&s.path)) {
            let has = profile.declared.satisfies(setting).map_err(|bad| bad.to_string())?;
            if !has && !self.is_of_other_classes(setting, &profile.declared) {
                let why = format!("its {} is not {}", setting.path, shown(&setting.value));
                // A name, which no source gives a NIC of one's own.
                let alone = setting.path == PEERS && profile.declared.get(PEERS).is_none();
                return Err(if alone {
                    format!("{why}: it stands alone, and a pair is {{pair: [.., ..]}}")
                } else if setting.path.ends_with(GENERATION) {
                    format!(
                        "{why}: a NIC is asked the cases of the generation that its profile names"
                    )
                } else {
                    why
                });
            }
        }
        self.dut_ports(&profile.declared).map(|_| ())
    }

    /// Whether a setting says of the classes that the case uses what the device has of them, and differs in others: which classes are lossless no
    /// case sets.
    fn is_of_other_classes(&self, setting: &Setting, declared: &Declared) -> bool {
        let asked = declared.with(setting).ok().filter(|_| setting.path == LOSSLESS);
        let Some(asked) = asked else { return false };
        let alike = |class: u8| declared.qos().lossless(class) == asked.qos().lossless(class);
        let streams = self.streams.values().map(|stream| stream.class);
        let flows = self.flows.values().map(|flow| flow.class);
        let storms = self.storms.values().flat_map(|storm| storm.classes.iter().copied());
        let measured = self.measure.iter().filter_map(|one| one.arguments.class("class"));
        streams.chain(flows).chain(storms).chain(measured).all(alike)
    }

    /// The case without what it asks of classes that it does not use, and that the device has otherwise.
    #[must_use]
    pub fn of_its_classes(&self, declared: &Declared) -> Case {
        let mut case = self.clone();
        case.settings.retain(|one| {
            declared.satisfies(one) == Ok(true) || !self.is_of_other_classes(one, declared)
        });
        case
    }

    /// The device's port behind each of `rig_ports`: `p1` is cabled to the first one unless the case asks for a speed.
    ///
    /// # Errors
    /// What the device lacks, in words.
    pub fn dut_ports(&self, declared: &Declared) -> Result<Vec<u16>, String> {
        let names = self.rig_ports();
        let speeds: Vec<PortSpeed> =
            (0..declared.port_count()).map_while(|i| declared.port_speed(i)).collect();
        let (slowest, fastest) = (speeds.iter().min().copied(), speeds.iter().max().copied());
        if !self.ports.is_empty() && slowest == fastest {
            return Err("all its ports have one speed".to_owned());
        }
        let fits = |need: PortNeed, speed: PortSpeed| match need {
            PortNeed::Fast => Some(speed) == fastest,
            PortNeed::Slow => Some(speed) == slowest,
        };
        let mut taken: Vec<Option<u16>> = vec![None; names.len()];
        for (i, name) in names.iter().enumerate() {
            let Some(&need) = self.ports.get(name) else { continue };
            let free = |port: &u16| {
                !taken.contains(&Some(*port)) && fits(need, speeds[usize::from(*port)])
            };
            let Some(port) = (0..declared.port_count()).find(free) else {
                return Err(format!("it has no port left that is {need} enough for {name}"));
            };
            taken[i] = Some(port);
        }
        for (i, name) in names.iter().enumerate() {
            if taken[i].is_some() {
                continue;
            }
            let own = port_number(name).map(|number| number - 1);
            let own = own.filter(|port| *port < declared.port_count());
            let free = |port: &u16| !taken.contains(&Some(*port));
            let any = || (0..declared.port_count()).find(free).filter(|_| !self.ports.is_empty());
            taken[i] = own.filter(free).or_else(any);
        }
        let count = declared.port_count();
        taken
            .into_iter()
            .zip(&names)
            .map(|(port, name)| {
                port.ok_or_else(|| format!("it has {count} ports, and the case uses {name}"))
            })
            .collect()
    }
}

/// How the paths end by which cases select a NIC, and not by what it does.
const GENERATION: &str = ".generation";

/// Where that of the other NIC of a pair stands.
const PEERS: &str = "peer.generation";

/// A JSON value without quotes.
fn shown(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::port_number;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_port_name_is_p_and_its_number(number in 1_u16..=512) {
            prop_assert_eq!(port_number(&format!("p{number}")), Some(number));
            prop_assert_eq!(port_number(&format!("p0{number}")), None);
        }
    }
}
