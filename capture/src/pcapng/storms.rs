//! Storms in a capture: rows of XOFF frames that the rig's side sent.

use crate::{Dir, PortTrace, Record};
use rig_testcases::{Action, PfcFrames, Step, StormSpec};
use rig_units::{Dur, Quanta, Time};
use std::collections::BTreeMap;

/// An XOFF this many pause times after the one before begins another storm; closer, the time between is a lapse.
const ANOTHER_STORM: u64 = 2;
/// Fewer XOFFs than this in a row are congestion, not a storm.
const LEAST_XOFFS: usize = 3;

/// Rows of XOFF frames of one class that the rig's side sent, as storms.
pub(super) fn storms(ports: &[PortTrace], records: &[Record]) -> (Vec<StormSpec>, Vec<Step>) {
    let mut rows: Vec<Row> = Vec::new();
    let mut current: BTreeMap<(u16, u8), usize> = BTreeMap::new();
    for record in records.iter().filter(|record| record.dir == Dir::Tx) {
        for class in 0..8 {
            let Some(quanta) = record.what.pauses(class) else { continue };
            let place = (record.port, class);
            if quanta == Quanta(0) {
                current.remove(&place);
                continue;
            }
            let speed = ports[usize::from(record.port)].speed;
            let reach = |row: &Row| row.last + speed.pause(row.quanta) * ANOTHER_STORM;
            match current.get(&place).copied().filter(|&row| record.at <= reach(&rows[row])) {
                Some(row) => (rows[row].last, rows[row].xoffs) = (record.at, rows[row].xoffs + 1),
                None => {
                    current.insert(place, rows.len());
                    let (first, last) = (record.at, record.at);
                    rows.push(Row { place, quanta, first, last, xoffs: 1 });
                }
            }
        }
    }
    let (mut rows, few): (Vec<Row>, Vec<Row>) =
        rows.into_iter().partition(|row| row.xoffs >= LEAST_XOFFS);
    rows.truncate(usize::from(u16::MAX));
    let by_hand = few.iter().map(|row| {
        let (from, class) = row.place;
        let every = row.last - row.first;
        let count = u32::try_from(row.xoffs).unwrap_or(u32::MAX);
        let frames = PfcFrames {
            odd: rig_testcases::PfcOdd::No,
            macsec: rig_testcases::MacsecMode::Usual,
            from,
            enable: 1 << class,
            quanta: row.quanta,
            count,
            every,
        };
        Step { at: row.first.elapsed(), action: Action::Pfc(frames) }
    });
    let mut steps: Vec<Step> = by_hand.collect();
    for (storm, row) in (0..).zip(&rows) {
        steps.push(Step { at: row.first.elapsed(), action: Action::StartStorm(storm) });
        let after = row.last.elapsed() + Dur(1);
        steps.push(Step { at: after, action: Action::StopStorm(storm) });
    }
    steps.sort_by_key(|step| step.at);
    let storms = rows.iter().map(|row| {
        let gaps = u64::try_from(row.xoffs - 1).unwrap_or(u64::MAX);
        let (port, class) = row.place;
        let trace = &ports[usize::from(port)];
        StormSpec {
            name: format!("{} class {class} at {}", trace.name, row.first),
            classes: 1 << class,
            quanta: row.quanta,
            every: (row.last - row.first) / gaps.max(1),
            ..StormSpec::steady(port)
        }
    });
    (storms.collect(), steps)
}

struct Row {
    place: (u16, u8),
    quanta: Quanta,
    first: Time,
    last: Time,
    xoffs: usize,
}
