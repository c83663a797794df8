//! What watchdogs do, published as SONiC's scripts do it: `["oid:...","storm"]` on `PFC_WD_ACTION`, with the instant of the poll in
//! `TIMESTAMP`, in microseconds of the clock that redis tells. A storm of a Mellanox says there what was counted, too, and when in
//! seconds; and where `DEBUG_STORM` asks for it, `PFC_WD_DEBUG` tells of the polls that decided.

use super::asic::Asic;
use super::faults::Faults;
use super::names::{Db, Rows};
use super::objects::{self, ObjectType};
use crate::protocol::Happened;
use redis::{Connection, RedisResult};
use rig_capture::DutEventKind;
use rig_generator::port::Mono;
use rig_units::Dur;

/// The field of the last poll.
const STAMP: &str = "PFCWD_POLL_TIMESTAMP_last";
/// How often redis is asked for its clock, at most.
const TIMES: usize = 20;
/// A question that took no longer tells its clock well enough to stamp by: to within half of that.
const SHORT: u64 = 600_000;

/// What was not published yet.
#[derive(Debug, Default)]
pub(super) struct Told {
    waits: Vec<Happened>,
    /// The longest that this machine, and no fault, let one wait since that was last asked.
    late: Dur,
    pub(super) faults: Faults,
}

impl Told {
    /// Nothing so far.
    pub(super) fn new(faults: Faults) -> Told {
        Told { waits: Vec::new(), late: Dur::ZERO, faults }
    }

    /// By how much what was told since this was last asked came later than it should: a rig that dates a storm by when it heard of it
    /// would call that the switch's.
    pub(super) fn lateness(&mut self) -> Dur {
        core::mem::take(&mut self.late)
    }

    /// When something is told next that happened already.
    pub(super) fn next(&self) -> Option<Mono> {
        self.waits.iter().map(|event| Mono(event.at_ns.saturating_add(self.held()))).min()
    }

    /// How long everything waits, in nanoseconds.
    const fn held(&self) -> u64 {
        self.faults.late_events.0 / 1_000
    }

    /// Publishes what is new.
    pub(super) fn tell(
        &mut self,
        rows: &Rows,
        line: &mut Connection,
        asic: &mut dyn Asic,
    ) -> RedisResult<()> {
        self.waits.extend(asic.events());
        if self.waits.is_empty() {
            return Ok(());
        }
        let clock = clock(line)?;
        let now = Mono::now();
        let late = self.held();
        let (ripe, waits) = core::mem::take(&mut self.waits)
            .into_iter()
            .partition(|event: &Happened| event.at_ns.saturating_add(late) <= now.0);
        self.waits = waits;
        for event in ripe {
            let off = self.faults.clock.0 / 1_000_000;
            // A machine that is busy elsewhere lets nobody tell: a poll that cannot be dated bears no stamp, rather than a wrong one.
            let at = clock.map(|(then, time)| {
                let ago = then.0.saturating_sub(event.at_ns) / 1_000;
                let ahead = event.at_ns.saturating_sub(then.0) / 1_000;
                (time + ahead).saturating_sub(ago).saturating_sub(off)
            });
            self.publish(rows, &event, at, (line, asic))?;
            let due = event.at_ns.saturating_add(late);
            self.late = self.late.max(Dur::ns(Mono::now().0.saturating_sub(due)));
        }
        Ok(())
    }

    fn publish(
        &self,
        rows: &Rows,
        event: &Happened,
        at: Option<u64>,
        (line, asic): (&mut Connection, &mut dyn Asic),
    ) -> RedisResult<()> {
        let Some(place) = objects::place(rows, &event.port) else { return Ok(()) };
        let oid = objects::part(ObjectType::Queue, place, event.class);
        let (word, status) = match event.what {
            DutEventKind::Storm => ("storm", "stormed"),
            DutEventKind::Restore => ("restore", "operational"),
        };
        let storms = event.what == DutEventKind::Storm;
        let polled = if storms { polled(rows, line)? } else { PollTold::default() };
        let found =
            if polled.tells || polled.debug { found(event, asic) } else { Found::default() };
        // A script is one step of redis: nobody sees its stamp without what it publishes.
        let mut one = redis::pipe();
        one.atomic();
        match at {
            Some(at) => one.cmd("HSET").arg("TIMESTAMP").arg(STAMP).arg(at).ignore(),
            None => one.cmd("HDEL").arg("TIMESTAMP").arg(STAMP).ignore(),
        };
        one.cmd("HSET").arg(format!("COUNTERS:{oid}")).arg("PFC_WD_STATUS").arg(status).ignore();
        let times = if self.faults.silent { 0 } else { 1 + usize::from(self.faults.twice) };
        for _ in 0..times {
            let mut said = vec![oid.clone(), word.to_owned()];
            if polled.tells {
                said.extend(
                    found
                        .iter()
                        .flat_map(|(name, count)| [name.replace(' ', "_"), count.to_string()]),
                );
                let seconds = |at: u64| format!("{}.{:04}", at / 1_000_000, at % 1_000_000 / 100);
                said.extend(at.into_iter().flat_map(|at| ["timestamp".to_owned(), seconds(at)]));
            }
            let text = serde_json::to_string(&said).unwrap_or_default();
            one.cmd("PUBLISH").arg("PFC_WD_ACTION").arg(text).ignore();
        }
        if polled.debug {
            let (port, class) = (objects::port(place), event.class);
            let found: Vec<String> =
                found.iter().map(|(name, count)| format!(" {name} {count}")).collect();
            let text = format!("Port ID {port} Queue index {class}{}", found.concat());
            one.cmd("PUBLISH").arg("PFC_WD_DEBUG").arg(text).ignore();
        }
        redis::cmd("SELECT").arg(Db::Counters as u8).exec(line)?;
        one.exec(line)
    }
}

/// What the script of a platform says of its polls beside what was decided.
#[derive(Debug, Clone, Copy, Default)]
struct PollTold {
    /// An action says what was counted.
    tells: bool,
    /// Somebody has asked for what polls find.
    debug: bool,
}

/// What a poll found, by the names that such a script gives it.
type Found = Vec<(&'static str, u64)>;

/// What the script of this platform says.
fn polled(rows: &Rows, line: &mut Connection) -> RedisResult<PollTold> {
    let platform = rows.get("DEVICE_METADATA|localhost").and_then(|row| row.get("platform"));
    if platform.is_none_or(|platform| !platform.contains("mlnx")) {
        return Ok(PollTold::default());
    }
    let mut all = redis::pipe();
    all.cmd("SELECT").arg(Db::Counters as u8).ignore();
    all.cmd("HGET").arg("DEBUG_STORM").arg("enabled");
    let (enabled,): (Option<String>,) = all.query(line)?;
    Ok(PollTold { tells: true, debug: enabled.as_deref() == Some("true") })
}

/// What the chip counts of a queue and its port, as far as it does.
fn found(event: &Happened, asic: &mut dyn Asic) -> Found {
    let Happened { port, class, .. } = event;
    let names = [
        ("occupancy", format!("{port}:{class} SAI_QUEUE_STAT_CURR_OCCUPANCY_BYTES")),
        ("packets", format!("{port}:{class} SAI_QUEUE_STAT_PACKETS")),
        ("pfc rx", format!("{port} SAI_PORT_STAT_PFC_{class}_RX_PKTS")),
        ("pfc duration", format!("{port} SAI_PORT_STAT_PFC_{class}_RX_PAUSE_DURATION_US")),
    ];
    names.into_iter().filter_map(|(name, counter)| Some((name, asic.counter(&counter)?))).collect()
}

/// The clock that redis tells, in microseconds, and this machine's then; `None` where no question was short enough to tell how far they
/// are apart.
fn clock(line: &mut Connection) -> RedisResult<Option<(Mono, u64)>> {
    for _ in 0..TIMES {
        let before = Mono::now();
        let (seconds, micros): (u64, u64) = redis::cmd("TIME").query(line)?;
        let took = Mono::now().0 - before.0;
        let then = Mono(before.0 + took / 2);
        if took <= SHORT {
            return Ok(Some((then, seconds.saturating_mul(1_000_000) + micros)));
        }
    }
    Ok(None)
}
