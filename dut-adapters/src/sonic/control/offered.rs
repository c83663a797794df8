//! What whoever steers a switch asks of it, whatever control it is.

use super::events::Ears;
use super::write::Write;
use super::{SonicControl, kept_up, pause, whole_rows};
use crate::control::{Ability, Capabilities, Control, ControlError, Health, Order, Readings};
use crate::journal::Change;
use rig_capture::DutEvent;
use rig_lab::{ConfigPath, Declared, Setting};
use rig_testcases::DeviceVerb;

impl Control for SonicControl {
    fn name(&self) -> &'static str {
        "sonic"
    }

    fn capabilities(&self) -> Capabilities {
        SonicControl::CAPABILITIES
    }

    fn snapshot(&mut self) -> Result<Declared, ControlError> {
        self.stated_now().map_err(ControlError::away)
    }

    fn changes(&self, settings: &[Setting]) -> Vec<Change> {
        let Ok(mut writes) = self.plan(settings) else { return Vec::new() };
        writes.extend(whole_rows::beside(&self.seen.0, &self.seen.1, &writes));
        let change = |write: Write| Change::Sonic {
            redis: self.at.to_string(),
            key: write.key,
            field: write.field,
            before: write.from,
            written: write.to,
        };
        writes.into_iter().map(change).collect()
    }

    fn set(&mut self, settings: &[Setting]) -> Result<(), ControlError> {
        self.write(settings).map_err(ControlError::away)
    }

    /// By `config apply-patch`, or by the commands of the watchdog, where there is an `ssh` to it.
    fn propose(&mut self, way: ConfigPath, settings: &[Setting]) -> Result<(), ControlError> {
        let done = match way {
            ConfigPath::Yang => self.patch(settings),
            ConfigPath::Cli => self.type_in(settings),
            ConfigPath::Redis => self.write(settings),
        };
        done.map_err(ControlError::away)
    }

    /// Those that stand still: whoever reads waits for it.
    fn counters(&mut self, names: &[String]) -> Result<Readings, ControlError> {
        self.read(names).map_err(ControlError::away)
    }

    /// None the first time: what is published is heard from then on.
    fn events(&mut self) -> Result<Vec<DutEvent>, ControlError> {
        self.hear().map_err(ControlError::away)
    }

    /// Of a stand-in, which says so in its databases; a switch tells nothing of it.
    fn health(&mut self) -> Result<Health, ControlError> {
        let told = kept_up::kept_up(&mut self.link, &mut pause);
        let told = told.map_err(|lost| ControlError::away(lost.into()))?;
        told.ok_or_else(|| self.lacks(Ability::Health))
    }

    fn takes_a_while(&self) -> bool {
        true
    }

    fn remarks(&self) -> Vec<String> {
        if self.silent.is_empty() {
            return Vec::new();
        }
        let (at, silent) = (&self.at, self.silent.join(", "));
        vec![format!(
            "{at} has heard of no neighbour by LLDP at {silent}: that the rig is cabled there the lab alone says"
        )]
    }

    fn missed(&mut self) -> Option<String> {
        self.ears.as_mut().and_then(Ears::missed)
    }

    fn order(&mut self, order: Order) -> Result<(), ControlError> {
        let done = match order {
            Order::ClearWatermarks => self.clear_all(),
            Order::Perform { verb: DeviceVerb::ClearWatermarks(copy) } => self.clear(copy),
            Order::Perform { verb: DeviceVerb::Reboot(kind) } => self.reboot(kind),
            other => Err(self.lacks(other.needs())),
        };
        done.map_err(ControlError::away)
    }

    /// Byte for byte what it was, whatever `touched` names: a value that was not there is not there again.
    fn restore(&mut self, before: &Declared, touched: &[Setting]) -> Result<(), ControlError> {
        let _by_its_own_book = (before, touched);
        self.take_back().map_err(ControlError::away)
    }
}
