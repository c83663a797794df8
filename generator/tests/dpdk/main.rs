//! DPDK ports over its virtual devices, on interfaces that the test itself makes.
//!
//! DPDK starts once in a process, so that each test starts itself again as a child. Without the feature `dpdk` the shim
//! is built by `cargo xtask dpdk-shim` and opened at run time; with it, it is a part of the test.
//!
//! Needs DPDK, most of it root. Without them the tests say so and pass; with `RIG_REQUIRE_ALL=1` they fail.

#[path = "../wire/lab.rs"]
#[expect(dead_code, reason = "the tests over interfaces of the kernel need more of it")]
mod lab;

mod alone;
mod files;
mod interfaces;
mod paced;
mod refusals;
mod ring;
