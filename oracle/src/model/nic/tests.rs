//! NICs on the real engine, by numbers worked out from the rule.

mod adaptive;
mod bench;
mod deviations;
mod ets;
mod fence;
mod ipv6;
mod marks;
mod messages;
mod rates;
mod receives;
mod recovery;
mod shared_way;
mod tags;
mod unreliable;
mod wrap;
