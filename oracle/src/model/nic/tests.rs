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
mod shared_way;
mod unreliable;
mod wrap;
