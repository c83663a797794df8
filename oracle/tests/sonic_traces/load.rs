//! Reading of the recorded traces (`tests/data/pfcwd-traces/README.md` gives the format).

use rig_lab::{Action, RuleFamily};
use rig_units::{Dur, Time};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// One file.
#[derive(Debug, Deserialize)]
struct Set {
    format: String,
    traces: Vec<Trace>,
}

/// The counters of one queue, poll by poll, and what the scripts made of them.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Trace {
    pub(crate) id: String,
    pub(crate) family: RuleFamily,
    pub(crate) poll_interval_ms: u64,
    pub(crate) detection_time_ms: u64,
    pub(crate) restoration_time_ms: Option<u64>,
    pub(crate) action: Action,
    /// `realistic/basic` and the like.
    pub(crate) kind: String,
    /// `none`, `late`, `tick` or `sym`.
    pub(crate) jitter: String,
    /// What the simulation behind a realistic trace did; fields vary with the kind.
    pub(crate) params: serde_json::Value,
    pub(crate) polls: Vec<Poll>,
    pub(crate) events: Vec<Recorded>,
    pub(crate) ignored_events: Vec<Recorded>,
}

/// The counters at one poll; those that the family's scripts do not read are absent.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Poll {
    #[serde(rename = "t_ms", deserialize_with = "instant")]
    pub(crate) at: Time,
    pub(crate) pfc_rx_pkts: Option<u64>,
    pub(crate) on2off_rx_pkts: Option<u64>,
    pub(crate) queue_packets: Option<u64>,
    pub(crate) queue_occupancy_bytes: Option<u64>,
    pub(crate) rx_pause_duration_us: Option<u64>,
    pub(crate) queue_pause_status: Option<bool>,
    pub(crate) port_counter_timestamp_ns: Option<u64>,
}

/// A publication and the poll that made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recorded {
    pub(crate) poll_index: usize,
    pub(crate) event: Kind,
}

/// What was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Storm,
    Restore,
}

/// A number of milliseconds with at most three decimals, exactly: a float may lose the last of them.
fn instant<'de, D: serde::Deserializer<'de>>(number: D) -> Result<Time, D::Error> {
    let ms = f64::deserialize(number)?;
    let text = format!("{ms:.3}ms");
    let dur: Dur = text.parse().map_err(serde::de::Error::custom)?;
    Ok(Time::ZERO + dur)
}

/// The traces to hold the code against. Fails when there are none: an empty folder proves nothing.
pub(crate) fn traces() -> Vec<Trace> {
    std::env::var_os("RIG_TRACES").map_or_else(own, |folder| read(Path::new(&folder)))
}

/// The repository's own traces.
pub(crate) fn own() -> Vec<Trace> {
    read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/pfcwd-traces")))
}

fn read(folder: &Path) -> Vec<Trace> {
    let entries = std::fs::read_dir(folder)
        .unwrap_or_else(|why| panic!("cannot read the folder {}: {why}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    let mut traces = Vec::new();
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let set: Set = serde_json::from_str(&text)
            .unwrap_or_else(|why| panic!("cannot read {}: {why}", file.display()));
        assert_eq!(set.format, "pfcwd-traces/1", "format of {}", file.display());
        traces.extend(set.traces);
    }
    assert!(!traces.is_empty(), "no trace in any *.json of {}", folder.display());
    traces
}

#[test]
#[should_panic(expected = "no trace in any *.json")]
fn an_empty_folder_fails() {
    read(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/sonic_traces")));
}
