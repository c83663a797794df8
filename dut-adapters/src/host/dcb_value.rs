//! A part of what DCB is set to, as one value of a setting: in words that fit on a command line and into the journal.
//!
//! Invariant: what is written is what is read back, letter by letter, where a driver does as it is told.

use crate::dcb::{App, CLASSES, Dcb, Part, Selection};
use core::fmt::Display;
use core::str::FromStr;

/// A part that is set as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DcbKnob {
    /// Priorities with PFC: `3,4`, or `none`.
    Pfc,
    /// The traffic class of each priority, and how each class is selected: `10001120:30,70,strict`.
    Ets,
    /// The most that traffic classes send, in kb/s: `2:2000000`, or `none`.
    MaxRate,
    /// The buffer of each priority, and bytes of each buffer: `00011000:20016,131072`.
    Buffer,
    /// The priority of DSCPs that arrive: `26:3,48:6`, or `none`.
    DscpPrio,
}

/// Nothing is set.
pub(super) const NONE: &str = "none";
/// Before the number of a way of selection that has no name.
const UNNAMED: &str = "tsa";

/// Whether a value of a setting fits, and what would.
type Taken = Result<String, String>;

impl DcbKnob {
    /// Each of them.
    const ALL: [DcbKnob; 5] =
        [DcbKnob::Pfc, DcbKnob::Ets, DcbKnob::MaxRate, DcbKnob::Buffer, DcbKnob::DscpPrio];

    /// Its word in a place: that of the subcommand of `dcb` that shows it.
    const fn word(self) -> &'static str {
        match self {
            DcbKnob::Pfc => "pfc",
            DcbKnob::Ets => "ets",
            DcbKnob::MaxRate => "maxrate",
            DcbKnob::Buffer => "buffer",
            DcbKnob::DscpPrio => "app",
        }
    }

    /// The one of that word.
    pub(super) fn of(word: &str) -> Option<DcbKnob> {
        DcbKnob::ALL.into_iter().find(|one| one.word() == word)
    }

    /// What to say where a driver has none of it.
    pub(super) fn lacks(self) -> String {
        format!("its driver has no {} of DCB", self.word())
    }

    /// A value as it would be read back.
    ///
    /// # Errors
    /// What would be taken.
    pub(super) fn taken(self, value: &str) -> Taken {
        match self {
            DcbKnob::Pfc => {
                let classes = mask(value).ok_or("classes, 0 to 7, such as 3 or 3,4, or none")?;
                Ok(listed((0..8).filter(|class| classes & 1 << class != 0)))
            }
            DcbKnob::Ets => ets(value).map(|(of, selections)| {
                let each = selections.map(|(selection, percent)| selected(selection, percent));
                format!("{}:{}", joined(&of, ""), each.join(","))
            }),
            DcbKnob::MaxRate => {
                let of: Vec<(u8, u64)> = pairs(value).ok_or(MAX_RATES)?;
                let odd = of.iter().any(|(class, rate)| *class > 7 || *rate == 0);
                if odd { Err(MAX_RATES.to_owned()) } else { Ok(told(&of)) }
            }
            DcbKnob::Buffer => {
                let (of, bytes) = buffer(value).ok_or(
                    "the buffer of each of the 8 priorities, and bytes of 1 to 8 buffers: 00011000:20016,131072",
                )?;
                Ok(format!("{}:{}", joined(&of, ""), joined(&bytes, ",")))
            }
            DcbKnob::DscpPrio => dscps(value).map(|of| told(&of)),
        }
    }

    /// What it is set to; `None` where there is none of it.
    pub(super) fn text(self, dcb: &Dcb) -> Option<String> {
        match self {
            DcbKnob::Pfc => {
                let on = dcb.pfc?.on;
                Some(listed((0..8).filter(|class| on & 1 << class != 0)))
            }
            DcbKnob::Ets => {
                let ets = dcb.ets?;
                let each = ets.selection.into_iter().zip(ets.sent);
                let each: Vec<String> =
                    each.map(|(selection, percent)| selected(selection, percent)).collect();
                Some(format!("{}:{}", joined(&ets.classes, ""), each.join(",")))
            }
            DcbKnob::MaxRate => {
                let rates = (0u8..).zip(dcb.max_rate?);
                Some(told(&rates.filter(|(_, rate)| *rate > 0).collect::<Vec<_>>()))
            }
            DcbKnob::Buffer => {
                let buffer = dcb.buffer?;
                Some(format!("{}:{}", joined(&buffer.of, ""), joined(&buffer.bytes, ",")))
            }
            // A driver whose table is empty tells none, as one that has no DCB at all.
            DcbKnob::DscpPrio => (*dcb != Dcb::default()).then(|| {
                let of = dcb.app.iter().filter_map(|app| Some((app.dscp()?, app.priority)));
                told(&of.collect::<Vec<_>>())
            }),
        }
    }

    /// What is to be set to make it that, with the rest as it is; `None` where nothing is.
    ///
    /// # Errors
    /// The value is none, or the driver has none of it.
    pub(super) fn part(self, now: &Dcb, value: &str) -> Result<Option<Part>, String> {
        let lacks = || self.lacks();
        Ok(Some(match self {
            DcbKnob::Pfc => {
                let mut pfc = now.pfc.ok_or_else(lacks)?;
                pfc.on = mask(value).ok_or_else(|| no_value(value))?;
                Part::Pfc(pfc)
            }
            DcbKnob::Ets => {
                let mut all = now.ets.ok_or_else(lacks)?;
                let (of, selections) = ets(value)?;
                all.classes = of;
                all.selection = selections.map(|(selection, _)| selection);
                all.sent = selections.map(|(_, percent)| percent);
                Part::Ets(all)
            }
            DcbKnob::MaxRate => {
                let mut rates = now.max_rate.ok_or_else(lacks)?;
                rates.fill(0);
                for (class, rate) in pairs::<u64>(value).ok_or_else(|| no_value(value))? {
                    *rates.get_mut(usize::from(class)).ok_or_else(|| no_value(value))? = rate;
                }
                Part::MaxRate(rates)
            }
            DcbKnob::Buffer => {
                let mut all = now.buffer.ok_or_else(lacks)?;
                (all.of, all.bytes) = buffer(value).ok_or_else(|| no_value(value))?;
                Part::Buffer(all)
            }
            DcbKnob::DscpPrio => {
                let mut wanted = entries(value)?;
                wanted.retain(|entry| !now.app.contains(entry));
                return Ok((!wanted.is_empty()).then_some(Part::App(wanted)));
            }
        }))
    }

    /// The entries that are to go.
    ///
    /// # Errors
    /// The value is none.
    pub(super) fn surplus(self, now: &Dcb, value: &str) -> Result<Vec<App>, String> {
        if self != DcbKnob::DscpPrio {
            return Ok(Vec::new());
        }
        let wanted = entries(value)?;
        let of_dscp = now.app.iter().copied().filter(|entry| entry.dscp().is_some());
        Ok(of_dscp.filter(|entry| !wanted.contains(entry)).collect())
    }
}

const MAX_RATES: &str = "kb/s of traffic classes, 0 to 7, such as 2:2000000, or none";

fn no_value(value: &str) -> String {
    format!("`{}` is no value of a setting", value.escape_debug())
}

/// How a class is selected. What stands of the bandwidth of one that shares nothing means nothing: with mlx5 it is 100.
fn selected(selection: Selection, percent: u8) -> String {
    match selection {
        Selection::Ets => percent.to_string(),
        Selection::Strict => "strict".to_owned(),
        Selection::CreditShaped => "cbs".to_owned(),
        Selection::Vendor => "vendor".to_owned(),
        Selection::Other(number) => format!("{UNNAMED}{number}"),
    }
}

fn joined(all: &[impl Display], between: &str) -> String {
    all.iter().map(ToString::to_string).collect::<Vec<_>>().join(between)
}

fn listed(classes: impl Iterator<Item = u8>) -> String {
    let all: Vec<u8> = classes.collect();
    if all.is_empty() { NONE.to_owned() } else { joined(&all, ",") }
}

/// Pairs in the order of their first.
fn told<T: Display>(of: &[(u8, T)]) -> String {
    let each: Vec<String> = of.iter().map(|(key, value)| format!("{key}:{value}")).collect();
    if each.is_empty() { NONE.to_owned() } else { each.join(",") }
}

/// A bit for each class.
fn mask(value: &str) -> Option<u8> {
    if value == NONE {
        return Some(0);
    }
    let classes = value.split(',').map(|class| class.parse().ok().filter(|class: &u8| *class < 8));
    classes.map(|class| class.map(|class| 1 << class)).try_fold(0, |all, one| Some(all | one?))
}

/// Pairs, each first one once, in their order.
fn pairs<T: FromStr>(value: &str) -> Option<Vec<(u8, T)>> {
    if value == NONE {
        return Some(Vec::new());
    }
    let pair = |text: &str| {
        let (key, value) = text.split_once(':')?;
        Some((key.parse().ok()?, value.parse().ok()?))
    };
    let mut all: Vec<(u8, T)> = value.split(',').map(pair).collect::<Option<_>>()?;
    all.sort_by_key(|(key, _)| *key);
    all.windows(2).all(|two| two[0].0 != two[1].0).then_some(all)
}

/// A number below `below` for each priority, each of one digit.
fn each_priority(text: &str, below: usize) -> Option<[u8; CLASSES]> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .map(|sign| sign.to_digit(10).and_then(|digit| u8::try_from(digit).ok()))
        .map(|digit| digit.filter(|digit| usize::from(*digit) < below))
        .collect();
    digits?.try_into().ok()
}

fn buffer(value: &str) -> Option<([u8; CLASSES], [u32; CLASSES])> {
    let (of, bytes) = value.split_once(':')?;
    let mut bytes: Vec<u32> =
        bytes.split(',').map(|size| size.parse().ok()).collect::<Option<_>>()?;
    let of = each_priority(of, bytes.len().min(CLASSES))?;
    if bytes.len() < CLASSES {
        bytes.resize(CLASSES, 0);
    }
    Some((of, bytes.try_into().ok()?))
}

type Selections = [(Selection, u8); CLASSES];

/// The class of each priority, and how each class is selected, with its hundredths.
fn ets(value: &str) -> Result<([u8; CLASSES], Selections), String> {
    const WANT: &str = "the traffic class of each of the 8 priorities, and of 1 to 8 classes `strict` or a percent: 10001120:30,70,strict";
    let (of, each) = value.split_once(':').ok_or(WANT)?;
    let one = |text: &str| {
        Some(match text {
            "strict" => (Selection::Strict, 0),
            "vendor" => (Selection::Vendor, 0),
            "cbs" => (Selection::CreditShaped, 0),
            _ => match text.strip_prefix(UNNAMED) {
                Some(number) => (Selection::Other(number.parse().ok()?), 0),
                None => (Selection::Ets, text.parse().ok().filter(|percent| *percent <= 100)?),
            },
        })
    };
    let each: Option<Vec<(Selection, u8)>> = each.split(',').map(one).collect();
    let mut each = each.ok_or(WANT)?;
    let of = each_priority(of, CLASSES).ok_or(WANT)?;
    let unsaid = (0..).zip(of).find(|(_, class)| usize::from(*class) >= each.len());
    if let Some((priority, class)) = unsaid {
        let said = each.len();
        return Err(format!(
            "how class {class} is selected, in which priority {priority} is: {said} classes are said, from 0 on"
        ));
    }
    let shares = each.iter().filter(|(selection, _)| *selection == Selection::Ets);
    let sum: u32 = shares.clone().map(|(_, percent)| u32::from(*percent)).sum();
    if shares.count() > 0 && sum != 100 {
        return Err(format!("100 % among the classes that share, and not {sum} %"));
    }
    if each.len() < CLASSES {
        each.resize(CLASSES, (Selection::Strict, 0));
    }
    Ok((of, each.try_into().map_err(|_| WANT)?))
}

/// The priority of each DSCP.
fn dscps(value: &str) -> Result<Vec<(u8, u8)>, String> {
    let of =
        pairs(value).filter(|of| of.iter().all(|(dscp, priority)| *dscp < 64 && *priority < 8));
    of.ok_or_else(|| "priorities of DSCPs, such as 26:3,48:6, or none".to_owned())
}

fn entries(value: &str) -> Result<Vec<App>, String> {
    let of = dscps(value)?.into_iter();
    Ok(of.map(|(dscp, priority)| App::of_dscp(dscp, priority)).collect())
}

#[cfg(test)]
mod tests;
