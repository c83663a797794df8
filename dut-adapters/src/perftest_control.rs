//! The control of a NIC that is reached through perftest alone: what that asks of each connection can be set, and how the rig's
//! own end of it behaves. All else stays as the profile declares it.

use crate::control::{Ability, Capabilities, Control, ControlError, Refused};
use rig_lab::{AckTimeout, Declared, OtherEnd, Setting};
use rig_units::Dur;

/// A NIC, as the next connection of perftest will have it.
#[derive(Debug, Clone)]
pub struct PerftestControl {
    declared: Declared,
    other_end: OtherEnd,
}

/// The local ACK timeout, which perftest's `--qp-timeout` sets.
const TIMEOUT: &str = "nic.rc.timeout";
/// How often the rig's own end acknowledges.
const ACK_EVERY: &str = "peer.rc.ack_every";

impl PerftestControl {
    /// What it can do: state what is declared, and set what a connection brings along. Counters are read before and after each program, by
    /// who runs it.
    pub const CAPABILITIES: Capabilities = Capabilities {
        offered: &[Ability::Snapshot, Ability::Configure, Ability::Refusals, Ability::Counters],
        verbs: &[],
        clock_bound: Dur::ZERO,
    };

    /// One as it is declared, whose connections have this at their other end.
    pub const fn of(declared: Declared, other_end: OtherEnd) -> PerftestControl {
        PerftestControl { declared, other_end }
    }

    /// The configuration with one setting more.
    ///
    /// # Errors
    /// Why nothing here can set it.
    pub fn with(
        declared: &Declared,
        setting: &Setting,
        other_end: OtherEnd,
    ) -> Result<Declared, String> {
        let made = declared.with(setting).map_err(|bad| bad.to_string())?;
        let by_code = |declared: &Declared| {
            declared.nics().is_some_and(|nics| matches!(nics.nic.rc.timeout, AckTimeout::Code(_)))
        };
        match setting.path.as_str() {
            TIMEOUT if by_code(&made) => Ok(made),
            TIMEOUT => Err(format!("{TIMEOUT}={}: perftest takes a code, 0 to 31", setting.value)),
            ACK_EVERY if other_end == OtherEnd::Rig => Ok(made),
            _ if made == *declared => Ok(made),
            path => Err(format!("{path}={}: perftest does not set it", shown(&setting.value))),
        }
    }

    /// The code of the local ACK timeout that connections get.
    pub fn timeout(&self) -> u8 {
        match self.declared.nics().map(|nics| nics.nic.rc.timeout) {
            Some(AckTimeout::Code(code)) => code,
            Some(AckTimeout::Time(_)) | None => 0,
        }
    }

    /// Of how many packets the rig's end acknowledges one.
    pub fn ack_every(&self) -> Option<u16> {
        Some(self.declared.nics()?.peer.as_ref()?.rc.ack_every)
    }
}

fn shown(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

impl Control for PerftestControl {
    fn name(&self) -> &'static str {
        "perftest"
    }

    fn capabilities(&self) -> Capabilities {
        PerftestControl::CAPABILITIES
    }

    fn snapshot(&mut self) -> Result<Declared, ControlError> {
        Ok(self.declared.clone())
    }

    fn set(&mut self, settings: &[Setting]) -> Result<(), ControlError> {
        let with =
            |declared: Declared, setting| PerftestControl::with(&declared, setting, self.other_end);
        let made = settings.iter().try_fold(self.declared.clone(), with);
        self.declared = made.map_err(|why| Refused { why })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::Kind;

    /// A pair of NICs that a lab has.
    fn pair() -> PerftestControl {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let mut nics = lab.duts.into_iter().filter(|dut| dut.kind == Kind::Nic);
        let pair = nics.find(|dut| dut.declared.nics().is_some_and(|nics| nics.peer.is_some()));
        PerftestControl::of(pair.expect("the lab has pairs").declared, OtherEnd::Rig)
    }

    fn set(
        control: &mut PerftestControl,
        path: &str,
        value: serde_json::Value,
    ) -> Result<(), String> {
        let setting = Setting { path: path.to_owned(), value };
        control.set(&[setting]).map_err(|error| error.to_string())
    }

    #[test]
    fn what_a_connection_brings_is_set_and_what_is_so_already_is_taken() {
        let mut control = pair();
        assert_eq!(control.timeout(), 0);
        assert_eq!(set(&mut control, TIMEOUT, 14.into()), Ok(()));
        assert_eq!(set(&mut control, ACK_EVERY, 16.into()), Ok(()));
        assert_eq!((control.timeout(), control.ack_every()), (14, Some(16)));
        assert_eq!(set(&mut control, "nic.rc.retries", 7.into()), Ok(()));
    }

    #[test]
    fn nothing_else_is() {
        let mut control = pair();
        let before = control.snapshot();
        let refused = set(&mut control, "nic.rc.resend_latency", "50us".into());
        assert!(
            refused.is_err_and(|why| why.contains("nic.rc.resend_latency=50us: perftest does not"))
        );
        assert!(set(&mut control, "nic.rc.retries", 3.into()).is_err());
        assert!(set(&mut control, TIMEOUT, "60us".into()).is_err());
        assert_eq!(control.snapshot(), before);
    }

    #[test]
    fn how_a_guest_acknowledges_is_its_own() {
        let PerftestControl { declared, .. } = pair();
        let setting = |value: u16| Setting { path: ACK_EVERY.to_owned(), value: value.into() };
        let with = |value| PerftestControl::with(&declared, &setting(value), OtherEnd::Nic);
        let own = PerftestControl::of(declared.clone(), OtherEnd::Nic).ack_every();
        assert_eq!(with(own.expect("a pair")), Ok(declared.clone()));
        assert!(with(16).is_err_and(|why| why.contains("peer.rc.ack_every=16: perftest does not")));
    }
}
