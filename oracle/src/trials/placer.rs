//! Who says which trial is next: what was asked for is run by another, who tells what came of it.

use super::ask::Ask;
use super::context::Context;
use super::trial::Trial;
use crate::verdict::Doubt;
use core::fmt::Debug;

/// Trials still to run, each placed by what is known so far.
pub trait Placer: Debug {
    /// How many trials it takes when none is void.
    fn planned(&self) -> u32;

    /// The next trial; `None` when there are enough. Asks the same again until told what came of it.
    fn ask(&mut self) -> Option<Ask>;

    /// A trial counts, and shows what it shows.
    ///
    /// # Errors
    /// What was to be seen could not be. The trial is done with all the same.
    fn seen(&mut self, context: &Context<'_>, ask: &Ask, trial: &Trial) -> Result<(), Doubt>;

    /// A trial is done with and shows nothing: the case wants it void.
    fn spent(&mut self, ask: &Ask);

    /// A trial was void, for a reason of the rig's own: it is asked for again.
    fn void(&mut self, ask: &Ask);
}
