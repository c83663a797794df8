//! NICs on the real engine, by numbers worked out from the rule.

mod bench;
mod deviations;
mod ets;
mod fence;
mod marks;
mod messages;
mod rates;
mod recovery;
mod wrap;
