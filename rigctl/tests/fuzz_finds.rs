//! What `tests/fuzz` looks for is found: a driver that finds none of these finds nothing. A process of its own, for the memory
//! that this takes.

#[path = "fuzz/driver.rs"]
mod driver;
#[path = "fuzz/mutate.rs"]
mod mutate;

use core::time::Duration;
use driver::{Limits, drive};
use mutate::Kind;
use std::thread;

#[test]
fn an_input_that_panics_hangs_or_takes_memory_is_found() {
    const HANGS: Limits = Limits { patience: Duration::from_secs(2), memory: 1 << 21 };
    let seeds = [b"trials: 3\nlength: 20ms\n".to_vec()];
    let found = |limits, target: fn(&[u8]) -> bool| {
        drive(Kind::Text, &seeds, 0..1_000, limits, target).expect_err("it is planted")
    };
    let unharmed = drive(Kind::Text, &seeds, 0..1_000, Limits::USUAL, |bytes| !bytes.is_empty());
    assert!(unharmed.is_ok_and(|taken| taken > 900));
    let bits = drive(Kind::Binary, &seeds, 0..1_000, Limits::USUAL, <[u8]>::is_ascii);
    assert!(bits.is_ok_and(|taken| (1..1_000).contains(&taken)));
    let panics = found(Limits::USUAL, |bytes| {
        assert!(!bytes.windows(5).any(|part| part == b"86400"), "a number that is too large");
        true
    });
    assert_eq!(panics.what, "panics");
    assert!(panics.to_string().contains("86400"), "{panics}");
    let hangs = found(HANGS, |bytes| {
        while bytes.is_empty() || bytes.starts_with(b"length") {
            thread::park();
        }
        true
    });
    assert_eq!(hangs.what, "hangs");
    let large = found(Limits::USUAL, |bytes| {
        let room = if bytes.windows(2).any(|part| part == b"-1") { 3 << 29 } else { 0 };
        // Touched, or the kernel gives none.
        let mut held = vec![1_u8; room];
        held.iter_mut().step_by(4096).for_each(|byte| *byte += 1);
        held.iter().all(|&byte| byte > 0)
    });
    assert_eq!(large.what, "takes memory");
}
