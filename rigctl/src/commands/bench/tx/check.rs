//! Before the rate is measured: the frames are what they should be, read back byte for byte at the other end.

use super::super::ends::Ends;
use super::{BATCH, config};
use core::ops::Range;
use rig_frames::icrc;
use rig_generator::Fine;
use rig_generator::blast::blast;
use rig_generator::flow::Flow;
use rig_generator::port::Config;
use rig_units::Dur;
use std::collections::BTreeMap;

/// Pieces for received frames: more than a burst of a millisecond needs.
const RING: u32 = 16_384;
/// As long as is sent.
const LENGTH: Dur = Dur::ms(1);

/// Sends for a moment and reads everything back; how many frames that were. `None`: the other end is not known.
pub(super) fn check(
    ends: &Ends,
    flow: &Flow,
    queues: u32,
    clock: &Fine,
) -> Result<Option<u64>, String> {
    let far = Config { ring: RING, ..config(flow.size, queues) };
    let Some(mut far) = ends.open_far(&far)? else { return Ok(None) };
    let mut near = ends.open_near(&config(flow.size, queues))?;
    let template = flow.template().map_err(|error| error.to_string())?;
    let said = |error: rig_generator::port::PortError| error.to_string();
    let sent = blast(&mut *near.tx, &template, 1, clock, BATCH, 0, LENGTH).map_err(said)?;
    let mut arrived = vec![false; usize::try_from(sent.frames).unwrap_or(0)];
    let mut fault = None;
    // Of each flow, by its UDP source port: the number and the time of its frame before. What goes by several queues is in order flow by
    // flow.
    let mut before: BTreeMap<Vec<u8>, (u64, u64)> = BTreeMap::new();
    loop {
        let got = far.rx.poll(&mut |frame, stamp| {
            let number = number_of(frame);
            let last = before.entry(frame.get(SOURCE_PORT).unwrap_or_default().to_vec());
            let last = last.or_default();
            let carried = if flow.stamped { stamp_of(frame) } else { last.1 };
            let first = arrived.get_mut(usize::try_from(number).unwrap_or(usize::MAX));
            let twice = first.is_none_or(|first| core::mem::replace(first, true));
            let wrong = if frame != template.frame(number, carried) {
                Some("not what was sent")
            } else if icrc::holds(frame) != Ok(true) {
                Some("its ICRC is wrong")
            } else if twice || number < last.0 {
                Some("it came twice, or behind a later one of its flow")
            } else if carried < last.1 || carried > stamp.at.0 {
                Some("its time is not between that of the frame before and its arrival")
            } else {
                None
            };
            if let Some(wrong) = wrong {
                fault.get_or_insert(format!("frame {number} of {} B: {wrong}", flow.size.0));
            }
            *last = (number, carried);
        });
        if got.map_err(said)? == 0 && !far.rx.wait(Dur::ms(20)).map_err(said)? {
            break;
        }
    }
    let number = arrived.iter().filter(|came| **came).count() as u64;
    match fault {
        Some(fault) => Err(fault),
        None if number == sent.frames => Ok(Some(number)),
        None => Err(format!("{number} of {} frames of {} B arrived", sent.frames, flow.size.0)),
    }
}

/// Where the UDP source port and the PSN of a frame of a SEND are.
const SOURCE_PORT: Range<usize> = 34..36;
const PSN: Range<usize> = 51..54;

/// The number of a frame of a SEND, of few: its PSN.
fn number_of(frame: &[u8]) -> u64 {
    let psn = frame.get(PSN).unwrap_or(&[0xff; 3]);
    psn.iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The time that a frame of a SEND carries, behind its number.
fn stamp_of(frame: &[u8]) -> u64 {
    let bytes = frame.get(62..70).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u64::from_be_bytes)
}
