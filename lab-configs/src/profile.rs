//! A device under test: who it is, what it declares, and (emulated ones) how it departs from that.

use crate::declare::NO_RULE;
use crate::settings::BadSetting;
use crate::{Declared, Kind, RuleFamily, Switched, System};
use core::str::FromStr;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which watchdog rule a device follows, and where that rule was read or recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The vendor's implementation.
    pub family: RuleFamily,
    /// Software and version the rule was taken from.
    pub version: String,
}

/// A device under test.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Its name in a lab and in reports.
    pub name: String,
    /// One line for people.
    pub about: String,
    /// What it is.
    pub kind: Kind,
    /// The ASIC, as people call it.
    pub asic: String,
    /// Its watchdog rule; `None` for a device without a watchdog: a NIC, or a switch that says `none`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Rule")]
    pub rule: Option<Rule>,
    /// What it is configured to and documented as.
    pub declared: Declared,
    /// How the emulated one departs from that.
    #[serde(default)]
    actual: Actual,
    /// The devices that it is made of or stands among, where a lab names a system; no file of a profile says so.
    #[serde(skip)]
    pub system: Option<Box<System>>,
}

/// How an emulated device departs from what it declares: sparse overrides and named deviations. Overrides apply last,
/// after a case's own settings: they model a device that accepts a setting and does otherwise.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Actual {
    /// `PATH: VALUE`, absolute (`223ms`) or relative to what was configured (`x1.1`, `+10ms`, `-10ms`).
    #[serde(default, skip_serializing_if = "std::collections::BTreeMap::is_empty")]
    overrides: std::collections::BTreeMap<String, String>,
    /// Deviations that are switched on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    deviations: Vec<Switched>,
}

/// One `--mutate` argument: an override or a deviation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mutation {
    /// `PATH=VALUE`
    Override {
        /// Dotted path below `declared:`.
        path: String,
        /// Absolute or relative value.
        value: String,
    },
    /// `deviation=NAME[:VALUE]`
    Deviation(Switched),
}

impl Profile {
    /// A device that does as it declares.
    pub fn new(
        name: String,
        about: String,
        kind: Kind,
        asic: String,
        rule: Option<Rule>,
        declared: Declared,
    ) -> Profile {
        Profile { name, about, kind, asic, rule, declared, actual: Actual::default(), system: None }
    }

    /// Two NICs, each behind a port of the rig, as one device: the first is its `nic`, the second its `peer`. Departures of either
    /// are left behind.
    ///
    /// # Errors
    /// Why the two are no pair.
    pub fn pair(first: &Profile, second: &Profile) -> Result<Profile, String> {
        let alone = |one: &'_ Profile| {
            let nics = one.declared.nics().filter(|_| one.kind == Kind::Nic);
            let nics = nics.filter(|nics| nics.peer.is_none()).cloned();
            nics.ok_or_else(|| format!("`{}` is not one NIC", one.name))
        };
        let (mut nics, second_nic) = (alone(first)?, alone(second)?);
        let speeds = [first, second].map(|one| one.declared.port_speed(0));
        if speeds[0] != speeds[1] {
            return Err(format!("`{}` and `{}` differ in speed", first.name, second.name));
        }
        nics.ports.iter_mut().for_each(|group| group.count = 2);
        nics.mtu = nics.mtu.min(second_nic.mtu);
        nics.clock = nics.clock.max(second_nic.clock);
        nics.peer = Some(second_nic.nic);
        let declared = Declared::Nic(Box::new(nics));
        let name = format!("{}-to-{}", first.name, second.name);
        let about = format!("two NICs: {} and {}", first.name, second.name);
        Ok(Profile::new(name, about, Kind::Nic, first.asic.clone(), None, declared))
    }

    /// The family of its watchdog's rule; `None` where it has no watchdog.
    pub fn family(&self) -> Option<RuleFamily> {
        self.rule.as_ref().map(|rule| rule.family)
    }

    /// The profile as a file says it, which reads back as the same.
    pub fn written(&self) -> serde_json::Value {
        let mut written = serde_json::to_value(self).unwrap_or_default();
        if self.rule.is_none() && self.kind.is_guarded() {
            written["rule"] = NO_RULE.into();
        }
        written
    }

    /// How the emulated device departs from its declaration. For `oracle::model` and the emulated adapters only.
    pub fn actual(&self) -> &Actual {
        &self.actual
    }

    /// Adds a mutation to what the emulated device really does; of a whole system, to what each of its devices does.
    ///
    /// # Errors
    /// When the path does not exist or the value does not fit it.
    pub fn mutate(&mut self, mutation: &Mutation) -> Result<(), BadSetting> {
        self.each(&mut |device| {
            match mutation {
                Mutation::Override { path, value } => {
                    let mut actual = device.actual.clone();
                    actual.overrides.insert(path.clone(), value.clone());
                    actual.applied(&device.declared)?;
                    device.actual = actual;
                }
                Mutation::Deviation(switched) => device.actual.deviations.push(*switched),
            }
            Ok(())
        })
    }
}

impl FromStr for Mutation {
    type Err = BadSetting;

    /// `PATH=VALUE` or `deviation=NAME[:VALUE]`. Whether the path exists is known only with a profile.
    fn from_str(text: &str) -> Result<Mutation, BadSetting> {
        match text.split_once('=') {
            Some(("deviation", name)) => name.parse().map(Mutation::Deviation),
            Some((path, value)) if !path.is_empty() && !value.is_empty() => {
                Ok(Mutation::Override { path: path.to_owned(), value: value.to_owned() })
            }
            _ => Err(BadSetting::BadValue {
                path: text.to_owned(),
                why: "is not a mutation: want PATH=VALUE or deviation=NAME[:VALUE]".to_owned(),
            }),
        }
    }
}

impl Actual {
    /// The deviations that are switched on.
    pub fn deviations(&self) -> &[Switched] {
        &self.deviations
    }

    /// What the device does when it was configured to `configured`: the overrides applied last.
    ///
    /// # Errors
    /// When an override's path does not exist or its value does not fit.
    pub fn applied(&self, configured: &Declared) -> Result<Declared, BadSetting> {
        let each =
            |declared: Declared, (path, text): (&String, &String)| declared.overridden(path, text);
        self.overrides.iter().try_fold(configured.clone(), each)
    }
}
