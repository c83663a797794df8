//! NICs on the real engine, by numbers worked out from the rule.

mod bench;
mod deviations;
mod ets;
mod marks;
mod messages;
mod rates;
mod recovery;
mod wrap;
