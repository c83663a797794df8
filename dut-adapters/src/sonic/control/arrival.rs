//! How long it is waited until what CONFIG_DB says is in effect.

use super::super::tables::Tables;
use super::{SonicControl, effect, pause};
use crate::control::{ControlError, Lost};
use core::time::Duration;
use rig_lab::Declared;

/// How long between two looks.
const LOOK: Duration = Duration::from_millis(20);

impl SonicControl {
    /// Waits until all that CONFIG_DB says is in effect.
    pub(super) fn arrive(&mut self) -> Result<(), ControlError> {
        self.awaited()?.map_or(Ok(()), |lost| Err(lost.into()))
    }

    /// The same; what of it never showed.
    pub(super) fn awaited(&mut self) -> Result<Option<Lost>, Lost> {
        let (tables, stated) = &self.seen;
        let Some(switch) = stated.switch() else { return Ok(None) };
        let mut waited = Duration::ZERO;
        loop {
            let missing = effect::missing(&mut self.link, tables, &self.ports, switch)?;
            let Some(missing) = missing else { return Ok(None) };
            if waited >= self.patience {
                let tried = "see in effect what CONFIG_DB says".to_owned();
                let why = format!("{missing}, {} ms after it was there", waited.as_millis());
                return Ok(Some(Lost { tried, why }));
            }
            waited += LOOK;
            pause(LOOK);
        }
    }

    /// Whether what CONFIG_DB said at a look is in effect now.
    pub(super) fn holds(&mut self, (tables, stated): &(Tables, Declared)) -> Result<bool, Lost> {
        let Some(switch) = stated.switch() else { return Ok(true) };
        Ok(effect::missing(&mut self.link, tables, &self.ports, switch)?.is_none())
    }
}
