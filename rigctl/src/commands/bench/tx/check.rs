//! Before the rate is measured: the frames are what they should be, read back byte for byte at the other end.

use super::super::ends::Ends;
use super::{BATCH, config};
use rig_frames::icrc;
use rig_generator::Fine;
use rig_generator::blast::blast;
use rig_generator::flow::Flow;
use rig_generator::port::Config;
use rig_units::Dur;

/// Pieces for received frames: more than a burst of a millisecond needs.
const RING: u32 = 16_384;
/// As long as is sent.
const LENGTH: Dur = Dur::ms(1);

/// Sends for a moment and reads everything back; how many frames that were. `None`: the other end is not known.
pub(super) fn check(ends: &Ends, flow: &Flow, clock: &Fine) -> Result<Option<u64>, String> {
    let far = Config { ring: RING, ..config(flow.size) };
    let Some(mut far) = ends.open_far(&far)? else { return Ok(None) };
    let mut near = ends.open_near(&config(flow.size))?;
    let template = flow.template().map_err(|error| error.to_string())?;
    let said = |error: rig_generator::port::PortError| error.to_string();
    let sent = blast(&mut *near.tx, &template, 1, clock, BATCH, 0, LENGTH).map_err(said)?;
    let mut number = 0;
    let mut fault = None;
    let mut last = 0;
    loop {
        let got = far.rx.poll(&mut |frame, stamp| {
            let carried = if flow.stamped { stamp_of(frame) } else { last };
            let wrong = if frame != template.frame(number, carried) {
                Some("not what was sent")
            } else if icrc::holds(frame) != Ok(true) {
                Some("its ICRC is wrong")
            } else if carried < last || carried > stamp.at.0 {
                Some("its time is not between that of the frame before and its arrival")
            } else {
                None
            };
            if let Some(wrong) = wrong {
                fault.get_or_insert(format!("frame {number} of {} B: {wrong}", flow.size.0));
            }
            last = carried;
            number += 1;
        });
        if got.map_err(said)? == 0 && !far.rx.wait(Dur::ms(20)).map_err(said)? {
            break;
        }
    }
    match fault {
        Some(fault) => Err(fault),
        None if number == sent.frames => Ok(Some(number)),
        None => Err(format!("{number} of {} frames of {} B arrived", sent.frames, flow.size.0)),
    }
}

/// The time that a frame of a SEND carries, behind its number.
fn stamp_of(frame: &[u8]) -> u64 {
    let bytes = frame.get(62..70).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u64::from_be_bytes)
}
