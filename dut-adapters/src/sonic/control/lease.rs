//! The lease of a switch: a key in its STATE_DB that names who uses it, and that goes by itself when nobody renews it. It keeps rigs
//! apart that share neither a machine nor a folder.

use super::super::link::{Db, Link};
use crate::control::Lost;
use crate::journal::Owner;
use rig_lab::RedisAt;
use rig_units::limits::quoted;
use serde::{Deserialize, Serialize};
use std::io;
use std::os::unix::fs::MetadataExt as _;

/// The key.
pub(super) const KEY: &str = "RIG_LEASE";
/// How long it lasts without being renewed, in milliseconds: longer than any trial takes, in which nobody asks the switch anything.
const LASTS: u64 = 600_000;

/// Who has it, as it stands in the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Holder {
    /// The name of the machine.
    host: String,
    /// Among which processes its number counts, by the kernel's number of their namespace.
    processes: u64,
    process: Owner,
}

/// A lease that is held.
#[derive(Debug)]
pub(super) struct Lease {
    own: String,
}

impl Lease {
    /// Takes it. `alone`: no other control of this process has the switch, so that a lease of this process is one that could not be
    /// given back.
    ///
    /// # Errors
    /// Somebody else has it, and who; or the switch is lost.
    pub(super) fn take(link: &mut Link, at: &RedisAt, alone: bool) -> Result<Lease, String> {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        let process = Owner::this().map_err(|error| format!("/proc: {error}"))?;
        let processes = processes().map_err(|error| format!("/proc: {error}"))?;
        let holder = Holder { host: host.trim().to_owned(), processes, process };
        let own = serde_json::to_string(&holder).map_err(|error| error.to_string())?;
        let said = |lost: Lost| lost.plainly();
        // Between two looks it may end.
        for _ in 0..2 {
            let mut ask = redis::pipe();
            ask.cmd("SET").arg(KEY).arg(&own).arg("NX").arg("PX").arg(LASTS);
            ask.cmd("GET").arg(KEY).cmd("PTTL").arg(KEY);
            let (set, has, left): (Option<String>, Option<String>, i64) =
                link.ask(Db::State, TAKES, &ask).map_err(said)?;
            if set.is_some() {
                return Ok(Lease { own });
            }
            let Some(has) = has else { continue };
            let is_free = is_left_behind(&has) || (alone && has == own);
            if !is_free {
                return Err(held(at, &has, left));
            }
            drop_it(link, &has).map_err(said)?;
        }
        Err(format!("{at} is in use by another rig, which has taken it just now"))
    }

    /// Makes it last longer.
    ///
    /// # Errors
    /// It is no longer this process's, also where nobody has it: whoever had it meanwhile has given it back. Or the switch is lost.
    pub(super) fn renew(&self, link: &mut Link) -> Result<(), Lost> {
        if self.lasts(link)? {
            return Ok(());
        }
        let why = "it has ended by itself, and another rig may have been there since".to_owned();
        Err(Lost { tried: TAKES.to_owned(), why })
    }

    /// The same where nothing rests on the switch yet: then it is taken anew where it has ended by itself and nobody has it, as
    /// after a long wait for the machine. Whether it was, so that another rig may have been there.
    ///
    /// # Errors
    /// It is somebody else's now, or the switch is lost.
    pub(super) fn begin(&self, link: &mut Link) -> Result<bool, Lost> {
        if self.lasts(link)? {
            return Ok(false);
        }
        let mut anew = redis::pipe();
        anew.cmd("SET").arg(KEY).arg(&self.own).arg("NX").arg("PX").arg(LASTS);
        let [taken]: [Option<String>; 1] = link.ask(Db::State, TAKES, &anew)?;
        match taken {
            Some(_) => Ok(true),
            // Somebody was faster: who.
            None => self.lasts(link).map(|_| true),
        }
    }

    /// Makes it last longer, if it is there.
    fn lasts(&self, link: &mut Link) -> Result<bool, Lost> {
        let mut look = redis::pipe();
        look.cmd("WATCH").arg(KEY).cmd("GET").arg(KEY);
        let (_watched, has): (String, Option<String>) = link.ask(Db::State, TAKES, &look)?;
        if has.as_deref() == Some(self.own.as_str()) {
            let mut longer = redis::pipe();
            longer.atomic().cmd("PEXPIRE").arg(KEY).arg(LASTS).ignore();
            // Else it was written to after the look, and nobody else is made to last.
            return link.ask_whole(TAKES, &longer);
        }
        let mut leave = redis::pipe();
        leave.cmd("UNWATCH");
        let () = link.ask(Db::State, TAKES, &leave)?;
        let Some(has) = has else { return Ok(false) };
        let who = who(&has);
        let why = format!("it is held by {who} now, and no longer by this process");
        Err(Lost { tried: TAKES.to_owned(), why })
    }

    /// Gives it back.
    pub(super) fn give_back(&self, link: &mut Link) {
        // Else it goes by itself.
        let _late = drop_it(link, &self.own);
    }
}

const TAKES: &str = "hold RIG_LEASE of STATE_DB";

/// Takes it away from who has it, if it is still theirs.
fn drop_it(link: &mut Link, theirs: &str) -> Result<(), Lost> {
    let mut look = redis::pipe();
    look.cmd("WATCH").arg(KEY).cmd("GET").arg(KEY);
    let (_watched, has): (String, Option<String>) = link.ask(Db::State, TAKES, &look)?;
    if has.as_deref() == Some(theirs) {
        let mut gone = redis::pipe();
        gone.atomic().cmd("DEL").arg(KEY).ignore();
        return link.ask_whole(TAKES, &gone).map(drop);
    }
    let mut leave = redis::pipe();
    leave.cmd("UNWATCH");
    link.ask(Db::State, TAKES, &leave)
}

/// Whether it is of a process of this machine that has ended: whoever was killed gives nothing back.
fn is_left_behind(text: &str) -> bool {
    let holder: Result<Holder, _> = serde_json::from_str(text);
    holder.is_ok_and(|Holder { processes: among, process, .. }| {
        processes().is_ok_and(|own| own == among)
            && !process.is_of_another_boot()
            && !process.lives()
    })
}

fn processes() -> io::Result<u64> {
    Ok(std::fs::metadata("/proc/self/ns/pid")?.ino())
}

fn who(text: &str) -> String {
    match serde_json::from_str(text) {
        Ok(Holder { host, process, .. }) => {
            format!("{process} of {}", quoted(&host).escape_debug())
        }
        Err(_) => "somebody who does not say who".to_owned(),
    }
}

fn held(at: &RedisAt, text: &str, left: i64) -> String {
    let until = match left {
        0.. => format!("for {} s more, unless it is renewed", left / 1_000),
        _ => "without an end: `DEL RIG_LEASE` in STATE_DB once nobody uses the switch".to_owned(),
    };
    format!("{at} is in use by {}, {until}", who(text))
}
