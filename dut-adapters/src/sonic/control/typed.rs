//! Settings by the commands that a person types at a switch (`pfcwd start`, `pfcwd interval`, `pfcwd big_red_switch`), over `ssh`: each
//! looks at the ranges of what it sets before anything is written. Only what is about that goes this way.
//!
//! A command that refuses says so by words of its own, of the range or of the times that are set. Whatever else ends it (no such command,
//! no right to it) says nothing of the setting, and what it takes has to stand in CONFIG_DB then as it was meant.

use super::super::link::{Link, Made};
use super::super::write::{Write, shown};
use super::SonicControl;
use super::order_session::{Ended, run};
use super::patched::other;
use super::whole_rows;
use crate::control::{Ability, Control as _, ControlError, Lost, Refused};
use rig_lab::{Pfcwd, RedisAt, Setting};
use rig_units::Dur;
use rig_units::limits::quoted;

/// By which words a command refuses a value: that it is outside of its range (click of different years), or above a time that is set.
const REFUSALS: [&str; 3] = ["is not in the valid range of", "is not in the range", ABOVE];
/// That a time which is set is shorter, at whatever port.
const ABOVE: &str = "unable to use polling interval";

impl SonicControl {
    /// Sets these by the commands of the watchdog.
    pub(super) fn type_in(&mut self, settings: &[Setting]) -> Result<(), ControlError> {
        let RedisAt::Ssh { host, .. } = self.at.clone() else {
            return Err(self.lacks(Ability::Refusals));
        };
        // Of several chips a command sets all.
        if self.chip().is_some() {
            return Err(self.lacks(Ability::Refusals));
        }
        let writes = self.plan(settings).map_err(|refused| lost(refused.why))?;
        let wanted = settings.iter().try_fold(self.seen.1.clone(), |all, one| all.with(one));
        let wanted = wanted.map_err(|bad| lost(bad.to_string()))?;
        let Some((was, will)) = self.seen.1.switch().zip(wanted.switch()) else {
            return Err(lost("it is no switch".to_owned()).into());
        };
        let (was, will, ports) = (was.pfcwd.clone(), will.pfcwd.clone(), self.ports.clone());
        let commands = commands((&was, &will), &ports).map_err(lost)?;
        if writes.iter().any(|write| !write.key.starts_with("PFC_WD|")) {
            return Err(lost("no command of the watchdog sets it".to_owned()).into());
        }
        self.make(settings, &writes, |link, writes| {
            if let Some((at, found)) = other(link, writes, |write| &write.from)? {
                return Ok(Made::None(at, found));
            }
            let rows = match commands.iter().any(|command| command.starts_with("pfcwd start")) {
                true => whole_rows::before(link, &ports)?,
                false => Vec::new(),
            };
            // What a command says that ends well, and has left a port out.
            let mut skipped = String::new();
            for command in &commands {
                let ended = run(&host, &script(command), "").map_err(lost);
                // Also where nobody knows how it has ended.
                whole_rows::put_back(link, &rows)?;
                let ended = ended?;
                if !ended.is_done() {
                    unchanged(link, writes, &ended)?;
                    if ended.text.contains(ABOVE) {
                        whole_rows::alone(link, &ports, ms(will.poll_interval).map_err(lost)?)?;
                    }
                    return Err(why(&ended, command, writes));
                }
                skipped += &left_out(&ended.text);
            }
            match other(link, writes, |write| &write.to)? {
                None => Ok(Made::All),
                Some((at, found)) => {
                    let Write { key, field, .. } = &writes[at];
                    let why =
                        format!("they end well, and {key}|{field} is {}{skipped}", shown(&found));
                    Err(lost(why).into())
                }
            }
        })
    }
}

pub(super) fn lost(why: String) -> Lost {
    Lost { tried: "set it by the commands of the watchdog".to_owned(), why }
}

/// What a command that has ended well says of ports that it has left out, as the end of a sentence.
fn left_out(text: &str) -> String {
    let said = text.lines().find(|line| line.starts_with("SKIPPED"));
    said.map_or_else(String::new, |line| format!(" (`{}`)", quoted(line).escape_debug()))
}

/// That a command which has ended otherwise than well has changed nothing.
fn unchanged(link: &mut Link, writes: &[Write], ended: &Ended) -> Result<(), Lost> {
    let Some((at, found)) = other(link, writes, |write| &write.from)? else { return Ok(()) };
    let Write { key, field, .. } = &writes[at];
    let failed = ended.failed(writes);
    Err(lost(format!("{failed}; and {key}|{field} is {} by now", shown(&found))))
}

/// What a command has come to that has not ended well.
fn why(ended: &Ended, command: &str, writes: &[Write]) -> ControlError {
    let failed = ended.failed(writes);
    if REFUSALS.iter().any(|words| ended.text.contains(words)) {
        return Refused { why: format!("{command}: {failed}") }.into();
    }
    lost(format!("{command}: {failed}")).into()
}

/// One command between its two marks.
fn script(command: &str) -> String {
    format!(
        "echo rig-there; sudo -n timeout -k 5 110 {command} 2>&1 </dev/null; echo \"rig-end $?\""
    )
}

/// What is typed so that a switch that is set as the first is set as the second.
///
/// # Errors
/// No command sets it so.
fn commands((was, will): (&Pfcwd, &Pfcwd), ports: &[String]) -> Result<Vec<String>, String> {
    let of = |all: &Pfcwd| (all.detection_time, all.restoration_time, all.action);
    let mut typed = Vec::new();
    if of(was) != of(will) {
        let Some(restores) = will.restoration_time else {
            return Err("`pfcwd start` has each queue restored".to_owned());
        };
        let action = serde_json::to_value(will.action).unwrap_or_default();
        let action = action.as_str().unwrap_or_default();
        let (ports, restores, detects) = (ports.join(" "), ms(restores)?, ms(will.detection_time)?);
        typed.push(format!(
            "pfcwd start --action {action} --restoration-time {restores} {ports} {detects}"
        ));
    }
    if was.poll_interval != will.poll_interval {
        typed.push(format!("pfcwd interval {}", ms(will.poll_interval)?));
    }
    if was.big_red_switch != will.big_red_switch {
        let word = if will.big_red_switch { "enable" } else { "disable" };
        typed.push(format!("pfcwd big_red_switch {word}"));
    }
    Ok(typed)
}

/// Whole milliseconds.
fn ms(time: Dur) -> Result<u64, String> {
    if time % Dur::ms(1) != Dur::ZERO {
        return Err(format!("{time} is no whole number of milliseconds"));
    }
    Ok(time.0 / Dur::ms(1).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(text: &str) -> Ended {
        Ended::of(&format!("rig-there\n{text}\n")).expect("it has ended")
    }

    #[test]
    fn a_command_that_refuses_is_told_from_whatever_else_ends_it() {
        let usage = "Usage: pfcwd start [OPTIONS] [PORTS]... DETECTION_TIME\nTry \"pfcwd start -h\" for help.\n\n";
        let of_range = "Error: Invalid value for \"DETECTION_TIME\": 99 is not in the valid range of 100 to 5000.";
        let of_2026 =
            "Error: Invalid value for 'DETECTION_TIME': 99 is not in the range 100<=x<=5000.";
        let above = "unable to use polling interval = 410ms, value is bigger than one of the configured detection time values, please choose a smaller polling_interval";
        for text in [
            format!("{usage}{of_range}\nrig-end 2"),
            format!("{of_2026}\nrig-end 2"),
            format!("{above}\nrig-end 1"),
        ] {
            let said = why(&ended(&text), "pfcwd interval 410", &[]);
            assert!(matches!(said, ControlError::Refused(_)), "{said:?}");
        }
        for text in [
            "sudo: a password is required\nrig-end 1",
            "sudo: pfcwd: command not found\nrig-end 1",
            "Failed to run command, invalid options:\nEthernet0\nrig-end 1",
            "\nrig-end 124",
        ] {
            let said = why(&ended(text), "pfcwd interval 410", &[]);
            assert!(matches!(said, ControlError::Lost(_)), "{said:?}");
        }
    }

    #[test]
    fn a_port_that_a_command_has_left_out_is_told_in_its_words() {
        let text = "restoration time not defined\nSKIPPED: PFC is not enabled on port: Ethernet4\n";
        assert_eq!(left_out(text), " (`SKIPPED: PFC is not enabled on port: Ethernet4`)");
        assert_eq!(left_out(""), "");
    }

    #[test]
    fn what_differs_is_typed_and_nothing_else() {
        let was = Pfcwd::dropping();
        let ports = ["Ethernet0".to_owned(), "Ethernet4".to_owned()];
        let with = |change: &dyn Fn(&mut Pfcwd)| {
            let mut will = was.clone();
            change(&mut will);
            commands((&was, &will), &ports)
        };
        assert_eq!(with(&|_| ()), Ok(Vec::new()));
        let start = with(&|pfcwd| {
            pfcwd.detection_time = Dur::ms(99);
            pfcwd.restoration_time = Some(Dur::ms(300));
        });
        let want = "pfcwd start --action drop --restoration-time 300 Ethernet0 Ethernet4 99";
        assert_eq!(start, Ok(vec![want.to_owned()]));
        let rest = with(&|pfcwd| {
            pfcwd.poll_interval = Dur::ms(410);
            pfcwd.big_red_switch = true;
        });
        let want = ["pfcwd interval 410", "pfcwd big_red_switch enable"].map(str::to_owned);
        assert_eq!(rest, Ok(want.to_vec()));
        assert!(with(&|pfcwd| pfcwd.detection_time = Dur::us(99_500)).is_err());
        let never = with(&|pfcwd| {
            pfcwd.detection_time = Dur::ms(300);
            pfcwd.restoration_time = None;
        });
        assert!(never.is_err(), "no command leaves it stormed for good");
    }
}
