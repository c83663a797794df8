//! Processes that a test has started, and theirs.

/// The processes that `parent` has started.
pub(crate) fn children(parent: u32) -> Vec<u32> {
    let list = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let threads = std::fs::read_dir(format!("/proc/{parent}/task")).into_iter().flatten().flatten();
    let of_threads = threads
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .collect::<Vec<_>>()
        .join(" ");
    let all = format!("{} {of_threads}", list.unwrap_or_default());
    let mut all: Vec<u32> = all.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    all.sort_unstable();
    all.dedup();
    all
}
