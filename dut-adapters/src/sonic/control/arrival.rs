//! How long it is waited until what CONFIG_DB says is in effect.

use super::super::tables::Tables;
use super::{SonicControl, effect, pause};
use crate::control::{ControlError, Lost};
use core::time::Duration;
use rig_lab::Declared;

/// How long between two looks at most, and between the first two: most of it is in effect within milliseconds, and a step of a case counts as
/// late as it is seen to be.
const LOOK: Duration = Duration::from_millis(20);
const FIRST: Duration = Duration::from_millis(1);

impl SonicControl {
    /// Waits until all that CONFIG_DB says is in effect.
    pub(super) fn arrive(&mut self) -> Result<(), ControlError> {
        self.awaited()?.map_or(Ok(()), |lost| Err(lost.into()))
    }

    /// The same; what of it never showed.
    pub(super) fn awaited(&mut self) -> Result<Option<Lost>, Lost> {
        let (tables, stated) = &self.seen;
        let Some(switch) = stated.switch() else { return Ok(None) };
        let (mut waited, mut look) = (Duration::ZERO, FIRST);
        loop {
            let missing = effect::missing(&mut self.link, tables, &self.ports, switch)?;
            let Some(missing) = missing else { return Ok(None) };
            if waited >= self.patience {
                let tried = "see in effect what CONFIG_DB says".to_owned();
                let why = format!("{missing}, {} ms after it was there", waited.as_millis());
                return Ok(Some(Lost { tried, why }));
            }
            let until = look.min(self.patience - waited);
            waited += until;
            pause(until);
            look = (look * 2).min(LOOK);
        }
    }

    /// Whether what CONFIG_DB said at a look is in effect now.
    pub(super) fn holds(&mut self, (tables, stated): &(Tables, Declared)) -> Result<bool, Lost> {
        let Some(switch) = stated.switch() else { return Ok(true) };
        Ok(effect::missing(&mut self.link, tables, &self.ports, switch)?.is_none())
    }
}
