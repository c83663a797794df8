//! Settings of a host's NIC are changed: written down, made and read back, all of them or none.

use super::access::HostAccess;
use super::gather::ask;
use super::lease::{self, Wait};
use super::port::{At, PortAt};
use super::said::Said;
use super::session::Session;
use super::settings::{Accepted, KNOBS, other_hand};
use super::written::{Back, put_back, write};
use crate::journal::{Change, Journal, Number};

/// What one setting was and is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The setting.
    pub name: &'static str,
    /// Where it is.
    pub place: String,
    /// What it was.
    pub before: String,
    /// What it is.
    pub now: String,
}

/// Why nothing was set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotSet {
    /// What was asked for makes no sense there: each with what would be taken.
    Asked(Vec<String>),
    /// It did not come about; of what was, what could not be put back is told.
    Broken(Vec<String>),
}

/// Sets what `asked` says of a port of a device, all of it or nothing, `NAME=VALUE` each. What was so already is among what is returned, and
/// is not touched. The device stays so when this process ends: `journal` says how it was. From before the first value is read until the last
/// one is read back no other rig sets anything on that host.
///
/// # Errors
/// Nothing of it stays.
pub fn set(
    reach: &HostAccess,
    at: PortAt<'_>,
    asked: &[String],
    journal: &Journal,
) -> Result<Vec<Changed>, NotSet> {
    let mut host = lease::take(reach, Wait::No).map_err(|why| NotSet::Broken(vec![why]))?;
    set_in(&mut host, (reach, at), asked, journal).map(|done| done.all)
}

/// What came of setting something.
#[derive(Debug)]
pub(super) struct Done {
    /// Each that was asked for.
    pub(super) all: Vec<Changed>,
    /// Those that were otherwise before, with their numbers in the journal.
    pub(super) touched: Vec<(Number, Changed)>,
}

/// The same in a shell that holds the host.
///
/// # Errors
/// As [`set`].
pub(super) fn set_in(
    host: &mut Session,
    (reach, at): (&HostAccess, PortAt<'_>),
    asked: &[String],
    journal: &Journal,
) -> Result<Done, NotSet> {
    let broken = |why: String| NotSet::Broken(vec![why]);
    let text = ask(host).map_err(|why| broken(format!("{reach}: {why}")))?;
    let said = Said::told(&reach.to_string(), &text).map_err(broken)?;
    let port = at.found(&said).map_err(|why| NotSet::Asked(vec![why]))?;
    let wanted = wanted(&said, &port, asked).map_err(NotSet::Asked)?;
    if wanted.iter().any(|(_, is_dcb)| *is_dcb)
        && let Some(who) = port.nets.iter().find_map(|net| other_hand(&said, net))
    {
        return Err(broken(format!("{reach}: not set: {who}")));
    }
    let wanted: Vec<Changed> = wanted.into_iter().map(|(changed, _)| changed).collect();
    let touched: Vec<&Changed> = wanted.iter().filter(|one| one.before != one.now).collect();
    let change = |one: &&Changed| Change::Host {
        host: match reach {
            HostAccess::Here => None,
            HostAccess::Ssh(host) => Some(host.clone()),
        },
        place: one.place.clone(),
        before: one.before.clone(),
        written: one.now.clone(),
        read_back: false,
    };
    let numbers = journal.note(touched.iter().map(change).collect()).map_err(broken)?;
    for (count, one) in (1..).zip(&touched) {
        let Err(why) = write(host, &one.place, &one.now) else {
            journal.stands(numbers[count - 1]);
            continue;
        };
        let mut wrong = vec![format!("{} was not set to {}: {why}", one.name, one.now)];
        // What the driver made of it is nobody else's: also where it is not what was asked for.
        for (one, number) in touched.iter().zip(&numbers).take(count).rev() {
            let Changed { name, before, .. } = one;
            match back(host, reach, one) {
                Ok(was) => {
                    journal.strike(&[*number]);
                    wrong.push(match was {
                        Back::Already => {
                            format!("{name} is {before}, as it was: nothing was to be put back")
                        }
                        Back::Now => format!("{name} was put back to {before}"),
                    });
                }
                Err(why) => wrong.push(format!(
                    "{name}: {why}; `rigctl restore` makes it {before}, whatever stands there then"
                )),
            }
        }
        journal.strike(&numbers[count..]);
        return Err(NotSet::Broken(wrong));
    }
    let touched = numbers.into_iter().zip(touched.into_iter().cloned()).collect();
    Ok(Done { touched, all: wanted })
}

/// Makes a setting what it was: where the line was lost, over another one.
fn back(host: &mut Session, reach: &HostAccess, one: &Changed) -> Result<Back, String> {
    if host.is_over() {
        *host = lease::take(reach, Wait::ForTheKilled)?;
    }
    put_back(host, &one.place, &one.before)
}

/// Of each setting what it is and is to be, and whether DCBX may set it, too.
type Wanted = Vec<(Changed, bool)>;

fn wanted(said: &Said, port: &At, asked: &[String]) -> Result<Wanted, Vec<String>> {
    let (mut all, mut wrong) = (Wanted::new(), Vec::new());
    for text in asked {
        let one = |text: &str| {
            let known = || KNOBS.iter().map(|knob| knob.name).collect::<Vec<_>>().join(", ");
            let (name, value) = text
                .split_once('=')
                .ok_or_else(|| format!("`{text}`\n   = want: NAME=VALUE, such as pfc=3"))?;
            let knob = KNOBS.iter().find(|knob| knob.name == name);
            let knob = knob.ok_or_else(|| {
                format!("`{text}`: nothing is set by that name\n   = want: {}", known())
            })?;
            let now = knob.taken(value)?;
            let (place, before) = knob.found(said, port)?;
            // What is not taken today would not be taken back either.
            if before != now && knob.taken(&before).ok().as_ref() != Some(&before) {
                return Err(format!(
                    "`{text}`: it is `{}` now ({}), which could not be put back",
                    before.escape_debug(),
                    place.text()
                ));
            }
            let is_dcb = matches!(knob.kind, Accepted::Dcb(_) | Accepted::Word(_));
            Ok::<_, String>((
                Changed { name: knob.name, place: place.text().to_owned(), before, now },
                is_dcb,
            ))
        };
        match one(text) {
            Ok((changed, _)) if all.iter().any(|(other, _)| other.name == changed.name) => {
                wrong.push(format!("`{text}`: it is said twice"));
            }
            Ok(found) => all.push(found),
            Err(why) => wrong.push(why),
        }
    }
    if wrong.is_empty() { Ok(all) } else { Err(wrong) }
}
