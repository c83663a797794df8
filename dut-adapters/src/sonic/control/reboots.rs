//! Reboots of a switch: ordered over `ssh` by SONiC's own commands, and told by the switch itself, which has a row of `REBOOT_CAUSE`
//! (STATE_DB) for each time that it has begun (`show reboot-cause history`).
//!
//! The order has a session of its own, which drops with the switch, and whoever gives it goes on: there are frames to send. Only who asks
//! the switch for something then waits for it to be back, for as long as its profile says and as long again as a setting may take.
//!
//! In a warm reboot CONFIG_DB goes on. In any other the switch begins with what is saved at `/etc/sonic`: what a case has set is gone then,
//! which is told, and nothing is written to make it stay.

use super::super::link::{Db, Link};
use super::super::way::{chip, is_of_sonic, options, said};
use super::super::wire::end;
use super::super::write::shown;
use super::{ARRIVES, SonicControl, pause};
use crate::control::error::Lost;
use crate::control::{ControlError, Refused};
use core::time::Duration;
use rig_generator::port::Mono;
use rig_lab::{RebootKind, RedisAt};
use std::collections::BTreeMap;
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command, Stdio};

/// What rows of its beginnings are named, before the time of each.
const TABLE: &str = "REBOOT_CAUSE|";
/// Where a stand-in hears an order. No switch listens there.
const STANDIN: &str = "RIG_STANDIN_REBOOT";
/// What the session says before the order: that it has reached the switch.
const THERE: &str = "rig-there";
/// How often it is looked whether the switch is back.
const LOOK: Duration = Duration::from_millis(100);

/// Each beginning that a switch has told of, by its row, and what it says that was. It keeps ten of them; here all are kept.
#[derive(Debug, Default)]
pub(super) struct Causes(BTreeMap<String, String>);

impl Causes {
    /// Reads what it tells now: whether there is one that it had not told of.
    pub(super) fn look(&mut self, link: &mut Link) -> Result<bool, Lost> {
        let is_time = |key: &String| {
            // Beside its own it may have those of its DPUs, which begin with a name.
            key.strip_prefix(TABLE)
                .is_some_and(|time| time.starts_with(|c: char| c.is_ascii_digit()))
        };
        let keys = link.keys(Db::State, TABLE)?.into_iter();
        let new: Vec<String> =
            keys.filter(|key| is_time(key) && !self.0.contains_key(key)).collect();
        if new.is_empty() {
            return Ok(false);
        }
        let asked: Vec<_> = new.iter().map(|key| (key.clone(), vec!["cause".to_owned()])).collect();
        let told = link.fields(Db::State, &asked)?;
        let before = self.0.len();
        // One that is being written is there the next time.
        let told = new.into_iter().zip(told).filter_map(|(key, mut row)| Some((key, row.pop()??)));
        self.0.extend(told);
        Ok(self.0.len() > before)
    }

    /// What it says of its last beginning, where that is no kind of reboot: some platforms tell what their hardware saw.
    fn strange(&self) -> Option<&str> {
        let (_, last) = self.0.last_key_value()?;
        let is_ours = RebootKind::ALL.into_iter().any(|kind| last.as_str() == kind.cause());
        (!is_ours).then_some(last)
    }

    /// How often it has come back from each kind of reboot; nothing where it tells of no beginning at all.
    pub(super) fn counted(&self) -> impl Iterator<Item = (String, u64)> {
        let count = move |kind: RebootKind| {
            let own = self.0.values().filter(|cause| cause.as_str() == kind.cause());
            u64::try_from(own.count()).unwrap_or(u64::MAX)
        };
        let kinds = RebootKind::ALL.into_iter().filter(move |_| !self.0.is_empty());
        kinds.map(move |kind| (kind.counter(), count(kind)))
    }
}

/// An order that was given, and the session in which.
#[derive(Debug)]
pub(super) struct Ordered {
    kind: RebootKind,
    /// `None`: a stand-in has heard it.
    ssh: Option<Child>,
    /// By when the switch has to be back.
    by: Mono,
}

impl Ordered {
    fn give(
        (at, link): (&RedisAt, &mut Link),
        kind: RebootKind,
        by: Mono,
    ) -> Result<Ordered, ControlError> {
        let RedisAt::Ssh { host, .. } = at else {
            let mut ask = redis::pipe();
            ask.cmd("PUBLISH").arg(STANDIN).arg(kind.cause());
            let tried = format!("order a {}", kind.cause());
            let [heard]: [u64; 1] = link.ask(Db::State, &tried, &ask)?;
            if heard > 0 {
                return Ok(Ordered { kind, ssh: None, by });
            }
            let why = format!("it is rebooted over ssh alone, and what is known of it is {at}");
            return Err(Refused { why }.into());
        };
        let mut command = Command::new("ssh");
        command.arg("-T");
        options().for_each(|option| {
            command.args(["-o", option]);
        });
        // The command has the name of what it says afterwards.
        let order = format!("echo {THERE}; exec sudo -n {}", kind.cause());
        command.arg("--").arg(host).arg(&order).process_group(0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ssh = command.spawn().map_err(|error| Lost {
            tried: format!("order a {}", kind.cause()),
            why: format!("cannot start ssh: {error}"),
        })?;
        Ok(Ordered { kind, ssh: Some(ssh), by })
    }

    /// One that was given by that session.
    #[cfg(test)]
    pub(super) fn by(kind: RebootKind, session: &str, patience: Duration) -> Ordered {
        use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
        use std::os::fd::AsFd as _;
        let mut command = Command::new("sh");
        command.args(["-c", session]).stdout(Stdio::piped()).stderr(Stdio::piped());
        let ssh = command.spawn().expect("sh");
        // It may be ended as soon as the switch is back, and is to have come as far as that.
        let out = ssh.stdout.as_ref().expect("a pipe");
        let mut said = [PollFd::new(out.as_fd(), PollFlags::POLLIN)];
        poll(&mut said, PollTimeout::from(10_000_u16)).expect("it speaks, or ends");
        Ordered { kind, ssh: Some(ssh), by: end(patience) }
    }

    /// Ends the session; whether it had come as far as the switch, which then did not refuse.
    fn ended(self) -> Result<(), Lost> {
        let Some(mut ssh) = self.ssh else { return Ok(()) };
        let code = ssh.try_wait().ok().flatten().and_then(|status| status.code());
        let _killed = ssh.kill();
        let _reaped = ssh.wait();
        let mut told = String::new();
        let _read = ssh.stdout.take().map(|mut out| out.read_to_string(&mut told));
        let words = said(ssh.stderr.as_mut());
        let lost = |why: String| Lost { tried: format!("order a {}", self.kind.cause()), why };
        if !told.lines().any(|line| line == THERE) {
            return Err(lost(format!("nothing shows that the order has reached it: {words}")));
        }
        // 255 is ssh's own, as where the switch goes with its session.
        match code {
            None | Some(0 | 255) => Ok(()),
            Some(code) => {
                Err(lost(format!("sudo {} ends with {code}: {words}", self.kind.cause())))
            }
        }
    }

    /// Whether the session has ended otherwise than by the switch's going.
    fn is_refused(&mut self) -> bool {
        let Some(ssh) = &mut self.ssh else { return false };
        let code = ssh.try_wait().ok().flatten().and_then(|status| status.code());
        code.is_some_and(|code| code != 0 && code != 255)
    }
}

impl SonicControl {
    /// Takes what it tells of its beginnings, where anybody may want to know that.
    pub(super) fn tells_causes(&mut self) -> Result<(), Lost> {
        let switch = self.base.profile.declared.switch();
        let reboots =
            |kind: RebootKind| switch.is_some_and(|switch| switch.reboot.back(kind).is_some());
        if RebootKind::ALL.into_iter().any(reboots) {
            self.causes.look(&mut self.link)?;
        }
        Ok(())
    }

    /// Which chip of a switch with several it is. By what the switch says of itself, and by the folder where SONiC's own namespaces have
    /// theirs: one of that name elsewhere is whoever's.
    pub(super) fn chip(&self) -> Option<String> {
        let said = self.seen.0.metadata("asic_name").map(|said| said.text.to_lowercase());
        said.or_else(|| chip(&self.at).filter(|_| is_of_sonic(&self.at)))
    }

    /// Orders a reboot, and goes on.
    pub(super) fn reboot(&mut self, kind: RebootKind) -> Result<(), ControlError> {
        self.returned()?;
        if let Some(name) = self.chip() {
            let why = format!(
                "it is {name} of a switch with several chips, and a reboot would take the others with it"
            );
            return Err(Refused { why }.into());
        }
        let lasts = self.base.profile.declared.switch().and_then(|switch| switch.reboot.back(kind));
        let lasts = Duration::from_micros(lasts.map_or(0, |lasts| lasts.0 / 1_000_000));
        self.ordered = Some(Ordered::give((&self.at, &mut self.link), kind, end(lasts + ARRIVES))?);
        Ok(())
    }

    /// Waits until the switch is back from a reboot that was ordered, as it was but for that. One that goes on as if there had been no
    /// order is waited for as long, and is there.
    ///
    /// # Errors
    /// The order did not reach it, there is no way to it any more, another rig has it, or what was set is gone.
    pub(super) fn returned(&mut self) -> Result<(), ControlError> {
        let Some(mut ordered) = self.ordered.take() else { return Ok(()) };
        // Nobody hears what it publishes while it is away, nor what it had and was not asked for.
        (self.ears, self.cleared, self.unheard) = (None, None, true);
        self.clears.clear();
        let had_way = self.link.near().is_some();
        let (mut begun, mut went) = (false, false);
        let lost = loop {
            let is_back = self.is_back(&mut begun);
            match is_back {
                Ok(true) => break None,
                Err(ControlError::Lost(_)) => {
                    went = true;
                    if let Ok(link) = Link::open(&self.at) {
                        self.link = link;
                    }
                }
                Ok(false) | Err(_) => {}
            }
            if ordered.is_refused() || Mono::now() >= ordered.by {
                break is_back.err();
            }
            pause(LOOK);
        };
        ordered.ended()?;
        if let Some(lost) = lost {
            return Err(lost);
        }
        // What writes the row is a service that begins late: that it is not there yet is no word of the switch.
        if went && !begun {
            let why = "it was away and is there again, and tells of no beginning yet".to_owned();
            return Err(Lost { tried: format!("read {TABLE}*"), why }.into());
        }
        if let Some(cause) = self.causes.strange().filter(|_| begun) {
            let why = format!(
                "it has begun anew, and says of that `{cause}`: by which order is not told"
            );
            return Err(Lost { tried: format!("read {TABLE}*"), why }.into());
        }
        // While it began there may have been a shell before its redis let anybody in.
        if had_way && self.link.near().is_none() {
            self.link = Link::open(&self.at)?;
        }
        self.lease.begin(&mut self.link)?;
        self.keeps()?;
        self.look()?;
        self.arrive()
    }

    /// Whether it has told of a beginning, and all of CONFIG_DB is there.
    fn is_back(&mut self, begun: &mut bool) -> Result<bool, ControlError> {
        *begun |= self.causes.look(&mut self.link)?;
        if *begun {
            self.look()?;
        }
        Ok(*begun)
    }

    /// What was set has to be set still.
    fn keeps(&mut self) -> Result<(), Lost> {
        let asked: Vec<_> =
            self.written.iter().map(|one| (one.key.clone(), vec![one.field.clone()])).collect();
        if asked.is_empty() {
            return Ok(());
        }
        let found = self.link.fields(Db::Config, &asked)?;
        let found = found.into_iter().map(|mut row| row.pop().flatten());
        // Of a field that was written twice the last counts.
        let last: BTreeMap<_, _> = self
            .written
            .iter()
            .zip(found)
            .map(|(one, is)| ((&one.key, &one.field), (&one.to, is)))
            .collect();
        let gone = last.into_iter().find(|(_, (to, is))| *to != is);
        let Some(((key, field), (to, is))) = gone else { return Ok(()) };
        let (to, is) = (shown(to), shown(&is));
        Err(Lost {
            tried: "go on after the reboot".to_owned(),
            why: format!(
                "{key}|{field} was {to}, and is {is} now that the switch has begun with what is saved there"
            ),
        })
    }
}
