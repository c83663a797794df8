//! What the tests over real interfaces share.

use std::os::unix::fs::MetadataExt;

/// Whether this process may make network namespaces.
pub(crate) fn root() -> bool {
    let root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
    assert!(root || !required, "the wire needs root (RIG_REQUIRE_ALL=1)");
    if !root {
        #[expect(clippy::print_stderr, reason = "a skipped test says why")]
        {
            eprintln!("skipped: network namespaces and AF_XDP need root; run with sudo");
        }
    }
    root
}
