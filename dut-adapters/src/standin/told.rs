//! What watchdogs do, published as SONiC's scripts do it: `["oid:...","storm"]` on `PFC_WD_ACTION`, with the instant of the poll in
//! `TIMESTAMP`, in microseconds of the clock that redis tells.

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
        let late = self.faults.late_events.0 / 1_000;
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
            self.publish(rows, &event, at, line)?;
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
        line: &mut Connection,
    ) -> RedisResult<()> {
        let Some(place) = objects::place(rows, &event.port) else { return Ok(()) };
        let oid = objects::part(ObjectType::Queue, place, event.class);
        let (word, status) = match event.what {
            DutEventKind::Storm => ("storm", "stormed"),
            DutEventKind::Restore => ("restore", "operational"),
        };
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
            let text = format!("[\"{oid}\",\"{word}\"]");
            one.cmd("PUBLISH").arg("PFC_WD_ACTION").arg(text).ignore();
        }
        redis::cmd("SELECT").arg(Db::Counters as u8).exec(line)?;
        one.exec(line)
    }
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
