//! Watchdogs that are scripts, as in SONiC: each poll counters are copied to COUNTERS_DB, redis runs the scripts of the platform over the
//! queues that are guarded, and what those publish is done. So a script decides, and the device obeys.
//!
//! The scripts come from a folder, under the names that orchagent loads them by: `pfc_detect_<platform>.lua`, and `pfc_restore.lua` or
//! that of the platform. Each is given the queues as its keys, and the number of COUNTERS_DB, the name of the table and the interval of
//! the polls in milliseconds. Left out: what newer images of syncd give it beside these (factor of a second interval, start of the cycle).

use super::asic::Asic;
use super::counted;
use super::names::{Db, Row, Rows, row, set};
use super::objects::{self, ObjectType};
use crate::protocol::Polled;
use core::time::Duration;
use redis::{Connection, Pipeline, RedisResult, Value};
use rig_capture::DutEventKind;
use rig_generator::port::Mono;
use rig_lab::RuleFamily;
use rig_units::Dur;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The table of counters.
const TABLE: &str = "COUNTERS";
/// When the group of the watchdog was copied last, beside the counters of each object.
const STAMP: &str = "PFC_WD_time_stamp";
/// An interval that CONFIG_DB does not say as a number, in milliseconds.
const USUAL: u64 = 100;

/// The scripts of one platform.
#[derive(Debug, Clone)]
pub struct Scripts {
    detect: String,
    restore: String,
}

impl Scripts {
    /// Those of the chips of `family` in `folder`.
    ///
    /// # Errors
    /// Such chips have none, or one of them is not there.
    pub fn read(folder: &Path, family: Option<RuleFamily>) -> Result<Scripts, String> {
        let platform = match family {
            Some(RuleFamily::Broadcom) => "broadcom",
            Some(RuleFamily::Mellanox) => "mellanox",
            Some(RuleFamily::Cisco8000) => "cisco-8000",
            Some(RuleFamily::Barefoot) => "barefoot",
            Some(RuleFamily::IntervalCounter | RuleFamily::Hardware) | None => {
                return Err("no script decides for the watchdog of such a device".to_owned());
            }
        };
        let read = |name: &str| {
            let file = folder.join(name);
            std::fs::read_to_string(&file).map_err(|why| format!("{}: {why}", file.display()))
        };
        let restore = match family {
            Some(RuleFamily::Cisco8000) => "pfc_restore_cisco-8000.lua",
            _ => "pfc_restore.lua",
        };
        Ok(Scripts {
            detect: read(&format!("pfc_detect_{platform}.lua"))?,
            restore: read(restore)?,
        })
    }

    /// The same with a piece of the one that detects put otherwise.
    ///
    /// # Panics
    /// The piece is not there.
    #[cfg(test)]
    pub(super) fn with(&self, piece: &str, otherwise: &str) -> Scripts {
        assert!(self.detect.contains(piece), "`{piece}` is not there");
        Scripts { detect: self.detect.replace(piece, otherwise), ..self.clone() }
    }
}

/// Who has them run.
#[derive(Debug)]
pub(super) struct Poller {
    /// Their digests. syncd keeps them as a set, and runs them in that order.
    digests: BTreeSet<String>,
    /// When the last poll was due, and the next one is.
    last: Mono,
    next: Mono,
}

impl Poller {
    /// One that has loaded them into the redis at the other end of `line`; its first poll is due.
    pub(super) fn load(scripts: &Scripts, line: &mut Connection) -> RedisResult<Poller> {
        let mut digests = BTreeSet::new();
        for text in [&scripts.detect, &scripts.restore] {
            digests.insert(redis::cmd("SCRIPT").arg("LOAD").arg(text).query(line)?);
        }
        Ok(Poller { digests, last: Mono::now(), next: Mono::now() })
    }

    /// How long until the next poll is due.
    pub(super) fn naps(&self) -> Duration {
        left(self.next)
    }

    /// Polls if that is due. One that is late does not move those that follow, and one that was missed is not made up for.
    pub(super) fn poll(
        &mut self,
        rows: &Rows,
        line: &mut Connection,
        asic: &mut dyn Asic,
    ) -> RedisResult<()> {
        let now = Mono::now();
        if self.next > now {
            return Ok(());
        }
        let interval = counted::poll(rows).parse().unwrap_or(USUAL).max(1);
        let interval = Dur::ms(interval).0 / 1_000;
        let missed = (now.0 - self.next.0) / interval;
        self.last = self.next;
        self.next = Mono(self.next.0 + interval * (missed + 1));
        self.run(rows, line, asic)
    }

    /// One poll, now.
    pub(super) fn run(
        &self,
        rows: &Rows,
        line: &mut Connection,
        asic: &mut dyn Asic,
    ) -> RedisResult<()> {
        let (at, queues) = asic.polled([self.last, self.next]);
        let (copied, keys) = copied(rows, at, &queues);
        let mut all = redis::pipe();
        all.cmd("SELECT").arg(Db::Counters as u8).ignore();
        copied.iter().for_each(|(key, row)| set(&mut all, key, row));
        all.exec(line)?;
        for digest in &self.digests {
            let mut run = redis::cmd("EVALSHA");
            run.arg(digest).arg(keys.len()).arg(&keys);
            run.arg(Db::Counters as u8).arg(TABLE).arg(counted::poll(rows));
            let _nothing: Value = run.query(line)?;
        }
        Ok(())
    }

    /// Does what was published on `PFC_WD_ACTION`: a queue, a word, and what a script tells beside. A storm of a queue that is stormed is
    /// the same one, as is the end of one of a queue that is not.
    pub(super) fn decided(
        &self,
        rows: &Rows,
        message: &str,
        line: &mut Connection,
        asic: &mut dyn Asic,
    ) -> RedisResult<()> {
        let words: Vec<serde_json::Value> = serde_json::from_str(message).unwrap_or_default();
        let word = |at: usize| words.get(at).and_then(serde_json::Value::as_str);
        let (what, before, after) = match word(1) {
            Some("storm") => (DutEventKind::Storm, "operational", "stormed"),
            Some("restore") => (DutEventKind::Restore, "stormed", "operational"),
            _ => return Ok(()),
        };
        let Some(oid) = word(0) else { return Ok(()) };
        let Some(queue) = objects::queue(rows, oid) else { return Ok(()) };
        let key = format!("{TABLE}:{oid}");
        redis::cmd("SELECT").arg(Db::Counters as u8).exec(line)?;
        let status: Option<String> =
            redis::cmd("HGET").arg(&key).arg("PFC_WD_STATUS").query(line)?;
        if status.as_deref() == Some(before) {
            redis::cmd("HSET").arg(&key).arg("PFC_WD_STATUS").arg(after).exec(line)?;
            asic.decided(queue, what, self.last);
        }
        Ok(())
    }
}

/// How long until then.
pub(super) fn left(due: Mono) -> Duration {
    Duration::from_nanos(due.0.saturating_sub(Mono::now().0))
}

/// The counters of queues and their ports, as syncd copies them, and the objects of the queues. Of each platform all that some other polls,
/// too.
fn copied(rows: &Rows, at: Mono, queues: &[Polled]) -> (BTreeMap<String, Row>, Vec<String>) {
    let (mut copied, mut keys) = (BTreeMap::<String, Row>::new(), Vec::new());
    for polled in queues {
        let Some(place) = objects::place(rows, &polled.port) else { continue };
        let class = polled.class;
        let oid = objects::part(ObjectType::Queue, place, class);
        let port = copied.entry(format!("{TABLE}:{}", objects::port(place))).or_default();
        let duration = polled.rx_pause_duration_us;
        for (counter, value) in [
            ("RX_PKTS", polled.pfc_rx_pkts),
            ("ON2OFF_RX_PKTS", polled.on2off_rx_pkts),
            ("RX_PAUSE_DURATION_US", duration),
            ("RX_PAUSE_DURATION", duration),
        ] {
            port.insert(format!("SAI_PORT_STAT_PFC_{class}_{counter}"), value.to_string());
        }
        port.insert(STAMP.to_owned(), at.0.to_string());
        let own = row([
            ("SAI_QUEUE_STAT_PACKETS", polled.packets.to_string()),
            ("SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES", polled.occupancy.to_string()),
            ("SAI_QUEUE_ATTR_PAUSE_STATUS", polled.paused.to_string()),
            (STAMP, at.0.to_string()),
        ]);
        copied.insert(format!("{TABLE}:{oid}"), own);
        keys.push(oid);
    }
    (copied, keys)
}

/// Takes away what scripts keep of a queue between two polls: so orchagent does where a queue is guarded anew, or no longer.
pub(super) fn forget(place: usize, class: u8, all: &mut Pipeline) {
    let queue = format!("{TABLE}:{}", objects::part(ObjectType::Queue, place, class));
    for field in [
        "PFC_WD_DETECTION_TIME_LEFT",
        "PFC_WD_RESTORATION_TIME_LEFT",
        "SAI_QUEUE_STAT_PACKETS_last",
        "SAI_QUEUE_ATTR_PAUSE_STATUS_last",
    ] {
        all.cmd("HDEL").arg(&queue).arg(field).ignore();
    }
    let port = format!("{TABLE}:{}", objects::port(place));
    for counter in ["RX_PKTS", "ON2OFF_RX_PKTS", "RX_PAUSE_DURATION_US", "RX_PAUSE_DURATION"] {
        let field = format!("SAI_PORT_STAT_PFC_{class}_{counter}_last");
        all.cmd("HDEL").arg(&port).arg(field).ignore();
    }
}
