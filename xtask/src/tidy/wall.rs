//! What judges a device and the model of a device share no behaviour, and none through a third room: a function of another room
//! that both sides of the wall come to, by themselves or through others, is one error in both.
//!
//! By name and number of arguments, for nothing here knows the type of a receiver. Where a file has a function of that name and
//! number, or names a type of its side that has one, the call is taken for that.

use super::breach::Breach;
use super::calls::{Call, Function, functions};
use super::tree::{Source, product, words};
use std::collections::BTreeSet;

/// What judges.
const JUDGING: [&str; 3] = ["oracle/src/spec/", "oracle/src/judge/", "oracle/src/measure/"];
const MODEL: &str = "oracle/src/model/";
/// What is configured; what a function of it calls there is come to as well.
const CONFIGURATION: &str = "lab-configs/";
/// The rooms that both may use.
const SHARED: [&str; 5] = ["units/", "frames/", "lab-configs/", "testcases/", "capture/"];

/// What both may come to, and why: a folder, a file, a type or a function.
const MAY: &[(&str, &str)] = &[
    ("units/", "conversions of units, with goldens worked by hand"),
    ("Psn", "packet sequence numbers, modulo 2^24 (IBTA 9.7.2)"),
    (
        "RnrTimer::wait",
        "the table of timer codes of IBTA volume 1, 9.7.5.2.8, with goldens of its own",
    ),
    ("overhead", "a constant of IEEE 802.1AE, held against the bytes that `frames` makes"),
    ("Declared::get", "a configuration as it is written"),
    ("Declared::with", "the same with one setting changed"),
    ("lab-configs/src/walk", "the reader of values: where one stands, and what is wrong with it"),
    ("lab-configs/src/field", "which settings there are, and which of them a running device takes"),
    ("Switch::port_name", "names of ports"),
    ("Declared::ports", "which ports there are, and their speeds"),
    ("DutCounter", "names of counters"),
];

/// Every function that both sides come to, and may not.
pub(super) fn check(sources: &[Source]) -> Vec<Breach> {
    let shared = shared(sources);
    let forbidden = shared.into_iter().filter(|(file, of)| exception(file, of).is_none());
    forbidden
        .map(|(file, of)| Breach {
            file: file.to_owned(),
            line: of.line,
            why: format!(
                "`{}` is called by the model and by what judges it: let each write down for itself what it means",
                title(&of)
            ),
        })
        .collect()
}

/// Exceptions that nothing needs.
#[cfg(test)]
pub(super) fn unneeded(sources: &[Source]) -> Vec<&'static str> {
    let needed: Vec<_> =
        shared(sources).into_iter().filter_map(|(file, of)| exception(file, &of)).collect();
    MAY.iter().map(|(what, _)| *what).filter(|what| !needed.contains(what)).collect()
}

fn exception(file: &str, of: &Function) -> Option<&'static str> {
    let title = title(of);
    let covers = |what: &&str| {
        file.starts_with(*what) || title == **what || of.owner.as_deref() == Some(*what)
    };
    MAY.iter().map(|(what, _)| *what).find(covers)
}

fn title(of: &Function) -> String {
    let owner = of.owner.as_ref().map(|owner| format!("{owner}::")).unwrap_or_default();
    format!("{owner}{}", of.name)
}

/// The functions of other rooms that both sides come to, each with its file.
fn shared(sources: &[Source]) -> Vec<(&str, Function)> {
    let product = product(sources);
    let of = |within: &[&str]| -> Vec<File<'_>> {
        let held = product.iter().filter(|s| within.iter().any(|at| s.path.starts_with(at)));
        held.map(|source| File::of(source)).collect()
    };
    let others = of(&SHARED).into_iter();
    let others: Vec<(&str, Function)> =
        others.flat_map(|file| file.functions.into_iter().map(move |of| (file.path, of))).collect();
    let [judging, model] = [of(&JUDGING), of(&[MODEL])].map(|side| reached(&side, &others));
    let both = judging.into_iter().zip(model).map(|(judging, model)| judging && model);
    others.into_iter().zip(both).filter_map(|(of, both)| both.then_some(of)).collect()
}

/// A file of the product.
struct File<'a> {
    path: &'a str,
    words: BTreeSet<&'a str>,
    functions: Vec<Function>,
}

impl<'a> File<'a> {
    fn of(source: &'a Source) -> File<'a> {
        let lines = source.product().into_iter();
        let words = lines.flat_map(|(_, line)| words(line).map(|(_, word)| word)).collect();
        File { path: &source.path, words, functions: functions(source) }
    }

    /// Whether a call that might be of `of` is one of a function of its own side: its own, or that of a type that it names.
    fn has_its_own(&self, of: &Function, side: &[File<'_>]) -> bool {
        let alike = |own: &&Function| {
            (&own.name, own.takes, own.is_method) == (&of.name, of.takes, of.is_method)
        };
        let names = |own: &Function| own.owner.as_deref().is_some_and(|o| self.words.contains(o));
        self.functions.iter().any(|own| alike(&own))
            || side.iter().flat_map(|file| &file.functions).filter(alike).any(names)
    }
}

/// Which of the functions of other rooms a side comes to.
fn reached(side: &[File<'_>], others: &[(&str, Function)]) -> Vec<bool> {
    let excepted: Vec<bool> =
        others.iter().map(|(file, of)| exception(file, of).is_some()).collect();
    let may_be = |call: &Call| -> Vec<usize> {
        let all: Vec<usize> = (0..others.len()).filter(|&at| call.fits(&others[at].1)).collect();
        // What an exception explains is that exception's.
        let explained = |at: &usize| excepted[*at] || call.names(&others[*at].1);
        let explained: Vec<usize> = all.iter().copied().filter(explained).collect();
        if explained.is_empty() { all } else { explained }
    };
    // What a configuration is made of is come to by its fields; a type of another room by its name, if that is not one of this side.
    let is_at_hand = |(file, of): &(&str, Function)| {
        let own = || side.iter().flat_map(|file| &file.functions).any(|own| own.owner == of.owner);
        let named =
            |owner: &String| side.iter().any(|file| file.words.contains(owner.as_str())) && !own();
        file.starts_with(CONFIGURATION) || of.owner.as_ref().is_none_or(named)
    };
    let mut open = Vec::new();
    for file in side {
        for call in file.functions.iter().flat_map(|own| &own.calls) {
            open.extend(may_be(call).into_iter().filter(|&at| {
                let of = &others[at].1;
                let own = || !call.names(of) && file.has_its_own(of, side);
                of.is_public && is_at_hand(&others[at]) && !own()
            }));
        }
    }
    let mut reached = vec![false; others.len()];
    while let Some(at) = open.pop() {
        let (file, of) = &others[at];
        // What is an exception was looked at with all that it calls.
        let goes_on = file.starts_with(CONFIGURATION) && !excepted[at];
        if !std::mem::replace(&mut reached[at], true) && goes_on {
            let near = of.calls.iter().flat_map(may_be);
            open.extend(near.filter(|&at| others[at].0.starts_with(CONFIGURATION)));
        }
    }
    reached
}
