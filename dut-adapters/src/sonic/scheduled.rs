//! How the queues of a port share it, and the rate that the port keeps to: rows of `SCHEDULER`, which `QUEUE` and `PORT_QOS_MAP` name.

use super::stated::{Collector, MOST_BYTES};
use super::tables::Said;
use rig_units::L2Rate;

/// orchagent keeps eight bits of a weight (`qosorch.cpp`, `handleSchedulerTable`): above that another one is in effect than stands there.
const MOST_WEIGHT: u64 = 255;
/// Rates count bytes a second.
const BITS: u64 = 8;

impl<'t> Collector<'t> {
    /// What is said of a port and of its queues.
    pub(super) fn scheduler(&mut self) {
        self.shares();
        self.shaper();
    }

    /// What each queue gets, where all eight are bound.
    fn shares(&mut self) {
        let tables = self.tables;
        let mut queues = Vec::new();
        let mut first = None;
        for queue in 0..8 {
            let Some(key) = tables.bound("QUEUE", self.port, queue) else { return };
            let Some(said) = tables.field("QUEUE", key, "scheduler") else { return };
            let Some(name) = said.referred("SCHEDULER") else { return };
            let Some(kind) = tables.field("SCHEDULER", name, "type") else { return };
            let weight = tables.field("SCHEDULER", name, "weight");
            let weight = weight.and_then(|said| said.number(MOST_WEIGHT));
            queues.push(match (kind.text, weight) {
                ("STRICT", _) => "strict".to_owned(),
                ("DWRR", Some(weight)) => format!("{{dwrr: {weight}}}"),
                ("DWRR", None) => "{dwrr: 1}".to_owned(),
                _ => {
                    let found = format!("{} is `{}`, which no profile has", kind.path(), kind.text);
                    self.facts.beyond.insert(found);
                    return;
                }
            });
            self.beside(name);
            first = first.or(Some(said));
        }
        if let Some(said) = first {
            let all = format!("[{}]", queues.join(", "));
            self.because("scheduler.queues", &all, &said, " and the other seven");
        }
    }

    /// What the row of a queue says that a profile has no word for.
    fn beside(&mut self, name: &str) {
        let of = |field| self.tables.field("SCHEDULER", name, field);
        let kept = ["cir", "pir"].into_iter().filter_map(of).filter(|said| said.text != "0");
        let kept =
            kept.map(|said| format!("{} is `{}`: a rate of a queue", said.path(), said.text));
        let counted = of("meter_type").filter(|said| said.text != "bytes");
        let counted = counted.map(|said| format!("{} is `{}`, not bytes", said.path(), said.text));
        let found: Vec<String> = kept.chain(counted).collect();
        self.facts.beyond.extend(found);
    }

    /// The rate that the port keeps to, all queues together.
    fn shaper(&mut self) {
        let tables = self.tables;
        let Some(named) = self.map("scheduler") else {
            let why = || format!("PORT_QOS_MAP|{} has no scheduler", self.port);
            let (rate, burst) = (why(), why());
            self.usual("scheduler.pir", &"never", rate, None);
            return self.usual("scheduler.pbs", &"never", burst, None);
        };
        let Some(name) = named.referred("SCHEDULER") else { return };
        let of = |field| tables.field("SCHEDULER", name, field);
        if let Some(said) = of("meter_type").filter(|said| said.text != "bytes") {
            let found = format!("{} is `{}`: a port keeps to bytes", said.path(), said.text);
            self.facts.beyond.insert(found);
            return;
        }
        // A rate of 0 is none (`SAI_SCHEDULER_ATTR_MAX_BANDWIDTH_RATE`).
        let number = |field: &'static str| {
            let said: Said<'t> = of(field)?;
            Some((said, said.number(MOST_BYTES)?)).filter(|(_, number)| *number > 0)
        };
        let rate = number("pir");
        match rate {
            Some((said, bytes)) => {
                self.state("scheduler.pir", &L2Rate { bps: bytes * BITS }, &said);
            }
            None => {
                self.usual("scheduler.pir", &"never", format!("SCHEDULER|{name} has no pir"), None);
            }
        }
        match number("pbs").filter(|_| rate.is_some()) {
            Some((said, bytes)) => self.state("scheduler.pbs", &format!("{bytes}B"), &said),
            None => {
                self.usual("scheduler.pbs", &"never", format!("SCHEDULER|{name} has no pbs"), None);
            }
        }
    }
}
