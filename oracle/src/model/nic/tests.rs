//! NICs on the real engine, by numbers worked out from the rule.

mod bench;
mod rates;
mod recovery;
