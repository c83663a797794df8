//! How the queues of a port share it (SONiC's `SCHEDULER` table), the same on every port.

use crate::field::Holds::{Chance, List, Rate, Size};
use crate::field::{Field, needed, optional};
use crate::macsec::OutOfRange;
use rig_units::{Bytes, L2Rate, Ppm};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How every port is scheduled.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scheduler {
    /// Scheduling of each of the eight queues.
    pub queues: Vec<Scheduling>,
    /// The rate that a port keeps to, all queues together (SONiC `pir`, `SAI_SCHEDULER_ATTR_MAX_BANDWIDTH_RATE`). Both count bytes a second
    /// and leave open which of a frame; here FCS counts, preamble and gap do not. Absent: the port is not shaped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pir: Option<L2Rate>,
    /// What a shaped port may send at once after it was idle (SONiC `pbs`, `SAI_SCHEDULER_ATTR_MAX_BANDWIDTH_BURST_RATE`). Absent: nothing is
    /// saved up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pbs: Option<Bytes>,
    /// By how much of it the rate that a port keeps to may lie off `pir`, either way: an ASIC has no rate but in steps, and its own
    /// oscillator. Each port has one of these, and keeps it. Absent: it is `pir`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pir_margin: Option<Ppm>,
}

/// How one queue takes part in its port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Scheduling {
    /// Served before every weighted queue, the highest number first.
    Strict,
    /// Deficit weighted round robin, in bytes.
    Dwrr(u16),
}

impl Scheduler {
    /// Its fields, a row each. Weights are a list; what breaks there are deviations.
    pub const FIELDS: &[Field] = &[
        needed(
            "queues",
            List,
            r#"[{"dwrr":14},{"dwrr":14},{"dwrr":14},{"dwrr":15},{"dwrr":15},{"dwrr":14},"strict","strict"]"#,
        )
        .by_case(),
        optional("pir", Rate).by_case(),
        optional("pbs", Size).by_case(),
        optional("pir_margin", Chance).tried(&["30%"]),
    ];
    /// A rate that may be further off is no rate.
    const MOST_MARGIN: Ppm = Ppm(500_000);

    /// The same with ports as slow as they may be.
    pub fn slowest(&self) -> Scheduler {
        self.kept_to(Ppm::ONE.0 - self.margin())
    }

    /// The same with ports as fast as they may be.
    pub fn fastest(&self) -> Scheduler {
        self.kept_to(Ppm::ONE.0 + self.margin())
    }

    fn margin(&self) -> u32 {
        self.pir_margin.unwrap_or_default().min(Scheduler::MOST_MARGIN).0
    }

    /// The same with ports that keep to so many millionths of their rate, and no margin.
    fn kept_to(&self, millionths: u32) -> Scheduler {
        let pir = self.pir.map(|rate| {
            let bps = u128::from(rate.bps) * u128::from(millionths) / u128::from(Ppm::ONE.0);
            L2Rate { bps: u64::try_from(bps).unwrap_or(u64::MAX) }
        });
        Scheduler { pir, pir_margin: None, ..self.clone() }
    }

    /// Every value that lies outside its range.
    pub fn out_of_range(&self) -> Vec<OutOfRange> {
        let mut all = Vec::new();
        if self.queues.len() != 8 {
            let found = format!("{} queues", self.queues.len());
            let want = "one entry for each of the 8 queues".to_owned();
            all.push(("scheduler.queues", found, want));
        }
        if self.queues.contains(&Scheduling::Dwrr(0)) {
            let want = "weights from 1".to_owned();
            all.push(("scheduler.queues", "a weight of 0".to_owned(), want));
        }
        if self.pir == Some(L2Rate { bps: 0 }) {
            all.push(("scheduler.pir", "no rate".to_owned(), "more than 0bps-L2".to_owned()));
        }
        if let Some(margin) = self.pir_margin.filter(|&margin| margin > Scheduler::MOST_MARGIN) {
            let want = format!("at most {}: beyond it nothing can be told", Scheduler::MOST_MARGIN);
            all.push(("scheduler.pir_margin", format!("a margin of {margin}"), want));
        }
        all
    }
}
