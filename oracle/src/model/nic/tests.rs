//! NICs on the real engine, by numbers worked out from the rule.

mod adaptive;
mod bench;
mod deviations;
mod ets;
mod fence;
mod marks;
mod messages;
mod rates;
mod receives;
mod recovery;
mod unreliable;
mod wrap;
