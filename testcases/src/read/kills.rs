//! `kills: {none: WHY, tried: MUTANT}`: a case that no wrong device turns red, and why that is no fault of the case.

use crate::{Case, Expect, Spared};
use rig_lab::walk::At;
use rig_lab::{Declared, Mutation};

/// Reads the block; the mutant must be one that a device could be given.
pub(super) fn spared(at: &At<'_>, pattern: &Declared) -> Option<Spared> {
    const MUTANT: &str =
        "a mutant as behind --mutate, such as pfcwd.action=drop or deviation=drop_leaks";
    let fields = at.fields(&["none", "tried"])?;
    let why = fields.need("none", "why no wrong device can turn it red, in one line");
    let why = why.and_then(|at| at.text("why no wrong device can turn it red, in one line"));
    let tried = fields.need("tried", MUTANT)?;
    let text = tried.text(MUTANT)?;
    let fits = match text.parse::<Mutation>() {
        Ok(Mutation::Override { path, value }) => pattern.overridden(&path, &value).map(drop),
        Ok(Mutation::Deviation(_)) => Ok(()),
        Err(bad) => Err(bad),
    };
    if let Err(bad) = fits {
        tried.fault(bad.to_string(), MUTANT);
        return None;
    }
    Some(Spared { why: why?.to_owned(), tried: text.to_owned() })
}

/// A case that measures a device has a device that it would accuse.
pub(super) fn check(at: &At<'_>, case: &Case) {
    let void = matches!(case.expect, Expect::Inconclusive { .. });
    if case.spared.is_some() && !void && case.configure.is_empty() {
        at.at_key(
            "`kills: {none: ...}` of a case that measures a device",
            "a deviation that turns it red; only a void measurement (`expect: {verdict: inconclusive, ...}`) and a \
             refusal (`configure:`) may have none",
        );
    }
}
