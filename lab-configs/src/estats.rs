//! What the host behind a NIC keeps of the requests that it posts: when each was posted, complete and read as such (RDMA Estats).

use crate::field::Holds::{Chance, Count, Range, Time};
use crate::field::{Field, optional};
use rig_units::{Dur, Ppm, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a host and its NIC tell of completions. Where nothing is declared of it nobody tells, and requests are posted all at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Estats {
    /// From the last bit of what acknowledges a message, or of what it brings, to its completion (T5), each anew; those of a connection are in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Within>,
    /// From one look of the host at its completions to the next: what is complete is polled then (T6).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub poll: Option<Dur>,
    /// Messages of a connection that are posted (T1) and not polled, at most: as one is polled the next is posted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// For how long a histogram counts before another begins.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Dur>,
    /// From one look of the host at the NIC's clock to the next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sync: Option<Dur>,
    /// How far the clock by which the NIC stamps completions may be off the host's: between two looks it drifts so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Ppm>,
}

impl Estats {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        optional("latency", Range).by_case().varies().tried(&["x0.5", "x2"]),
        optional("poll", Time).by_case().tried(&["x2"]),
        optional("depth", Count).by_case().tried(&["x0.5", "x2"]),
        optional("window", Time).by_case().tried(&["x2"]),
        optional("sync", Time).by_case().tried(&["x100"]),
        // What it drifts within it shows in nothing but what `sync` leaves of it.
        optional("drift", Chance).by_case().tried(&[]),
    ];

    /// Every value that lies outside its range, as [`Nic::out_of_range`](crate::Nic::out_of_range) tells it.
    pub(crate) fn out_of_range(&self) -> Vec<(&'static str, String, String)> {
        let Estats { latency, poll, depth, window, sync, drift } = self;
        let mut all = Vec::new();
        let mut wrong = |is: bool, path, found: &str, want: &str| {
            if is {
                all.push((path, found.to_owned(), want.to_owned()));
            }
        };
        let parts = [
            latency.is_some(),
            poll.is_some(),
            depth.is_some(),
            window.is_some(),
            sync.is_some(),
            drift.is_some(),
        ];
        wrong(
            parts.contains(&true) && parts.contains(&false),
            "estats.latency",
            "a part of how completions are told",
            "all of latency, poll, depth, window, sync and drift, or none of them",
        );
        for (path, time) in
            [("estats.poll", poll), ("estats.window", window), ("estats.sync", sync)]
        {
            wrong(*time == Some(Dur::ZERO), path, "no time", "more than 0s");
        }
        wrong(*depth == Some(0), "estats.depth", "no request", "at least 1");
        let far = drift.is_some_and(|drift| drift.0 > 1_000);
        wrong(far, "estats.drift", "a clock that nothing keeps", "at most 1000ppm");
        all
    }
}
