//! Ports on real interfaces: pairs made by the test in network namespaces of its own.
//!
//! Needs root. Without it the tests say so and pass; with `RIG_REQUIRE_ALL=1` they fail.

mod children;
mod frames;
mod lab;
mod loss;
mod refusals;
mod threads;
mod trouble;
