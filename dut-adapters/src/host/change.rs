//! Settings of a host's NIC are changed: written down, made and read back, all of them or none.

use super::gather::{HostAccess, gather};
use super::nic;
use super::said::Said;
use super::settings::{Accepted, KNOBS, other_hand};
use super::written::write;
use crate::journal::{Change, Journal};

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

/// Sets what `asked` says of a device, all of it or nothing, `NAME=VALUE` each. What was so already is among what is returned, and is not
/// touched. The device stays so when this process ends: `journal` says how it was.
///
/// # Errors
/// Nothing of it stays.
pub fn set(
    reach: &HostAccess,
    device: &str,
    asked: &[String],
    journal: &Journal,
) -> Result<Vec<Changed>, NotSet> {
    let broken = |why: String| NotSet::Broken(vec![why]);
    let text = gather(reach).map_err(broken)?;
    let said = Said::told(&reach.to_string(), &text).map_err(broken)?;
    let (net, wanted) = wanted(&said, device, asked).map_err(NotSet::Asked)?;
    if wanted.iter().any(|(_, is_dcb)| *is_dcb)
        && let Some(who) = other_hand(&said, &net)
    {
        return Err(broken(format!("{reach}: not set: {who}")));
    }
    let wanted: Vec<Changed> = wanted.into_iter().map(|(changed, _)| changed).collect();
    let host = match reach {
        HostAccess::Here => None,
        HostAccess::Ssh(host) => Some(host.clone()),
    };
    let touched: Vec<&Changed> = wanted.iter().filter(|one| one.before != one.now).collect();
    let change = |one: &&Changed| Change::Host {
        host: host.clone(),
        place: one.place.clone(),
        before: one.before.clone(),
        written: one.now.clone(),
        read_back: false,
    };
    let numbers = journal.note(touched.iter().map(change).collect()).map_err(broken)?;
    for (count, one) in (1..).zip(&touched) {
        let Err(why) = write(reach, &one.place, &one.now) else {
            journal.stands(numbers[count - 1]);
            continue;
        };
        let mut wrong = vec![format!("{} was not set to {}: {why}", one.name, one.now)];
        // What the driver made of it is nobody else's: also where it is not what was asked for.
        for (one, number) in touched.iter().zip(&numbers).take(count).rev() {
            match write(reach, &one.place, &one.before) {
                Ok(()) => journal.strike(&[*number]),
                Err(why) => {
                    wrong.push(format!("{} was not put back to {}: {why}", one.name, one.before));
                }
            }
        }
        journal.strike(&numbers[count..]);
        return Err(NotSet::Broken(wrong));
    }
    Ok(wanted)
}

/// The interface of a device, and of each setting what it is and is to be, with whether `dcb` and what else does DCBX may set it.
type Wanted = (String, Vec<(Changed, bool)>);

fn wanted(said: &Said, device: &str, asked: &[String]) -> Result<Wanted, Vec<String>> {
    let net = nic::net(said, device).ok_or_else(|| {
        let want = nic::devices(said).join(", ");
        vec![format!("`{device}`: it is no RDMA device there with an interface\n   = want: {want}")]
    })?;
    let (mut all, mut wrong) = (Vec::<(Changed, bool)>::new(), Vec::new());
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
            let (place, before) = knob.found(said, device, &net)?;
            let is_dcb = matches!(knob.kind, Accepted::Classes | Accepted::Word(_));
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
    if wrong.is_empty() { Ok((net, all)) } else { Err(wrong) }
}
