//! The headers of READs: of each request, whose second RETH says where the answer goes, and of each packet of the answer, which goes there.

use super::super::judge_context::TrialReading;
use super::headers::{Base, Place, unmarked};
use super::{End, Flow, reading};
use crate::judge::answers::NOT_MEASURED;
use crate::spec::blue_rdma::near;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::blue_rdma::{Frame, REPORT_SIZE, Says};
use std::collections::BTreeMap;

/// A READ request as it left.
#[derive(Debug, Clone, Copy)]
struct Asked {
    address: u64,
    length: u32,
    answer: u64,
}

/// What is wrong with the headers of a request, if anything is, by the first one.
fn unlike(frame: &Frame, said: Asked, (first, due): (Asked, u32)) -> Option<String> {
    let Asked { address, length, answer } = said;
    if answer == 0 {
        return Some("no second RETH: nothing says where the answer goes".to_owned());
    }
    if (address, length, answer) != (first.address, due, first.answer) {
        return Some(format!(
            "{length}B at {address:#x} for {answer:#x} where {due}B at {:#x} for {:#x} are due",
            first.address, first.answer
        ));
    }
    (frame.size != REPORT_SIZE).then(|| format!("{}B of frame for a request", frame.size))
}

/// The headers of all requests that left the one NIC, and of all answers that left the other.
pub(super) fn of_reads(trial: &Trial, flow: &str) -> Result<TrialReading, Doubt> {
    let seen = Flow::of(trial, flow, End::Sender)?;
    let (mut reached, mut first, mut wrong) = (seen.first, None, Vec::new());
    let mut asked: BTreeMap<i64, u64> = BTreeMap::new();
    for one in seen.left() {
        let Says::Request { address, length, answer } = one.frame.says else { continue };
        let said = Asked { address, length, answer };
        let number = near(one.frame.psn, reached);
        let (by, base) = *first.get_or_insert((said, Base { address: answer, msn: one.frame.msn }));
        // Each request takes one number.
        let message = number - seen.first;
        asked.entry(message).or_insert(answer);
        let unlike = unlike(&one.frame, said, (by, seen.spec.message));
        let unlike = unlike.or_else(|| unmarked(&one.frame, (message, number < reached), base));
        wrong.extend(unlike.map(|text| (one.record, format!("request {}: {text}", one.frame.psn))));
        reached = reached.max(number + 1);
    }
    let seen = Flow::of(trial, flow, End::Receiver)?;
    let (mut reached, mut msn, mut count) = (seen.first, None, 0);
    for one in seen.left() {
        let Says::Response { first, last, address, length } = one.frame.says else { continue };
        let number = near(one.frame.psn, reached);
        let msn = *msn.get_or_insert(one.frame.msn);
        let said = Place { first, last, address, length };
        let again = number < reached;
        reached = reached.max(number + 1);
        // An answer to what was not asked for within the trial goes where nobody said.
        let message = (number - seen.first).div_euclid(seen.packets);
        let Some(&answer) = asked.get(&message) else { continue };
        count += 1;
        let base = Base { address: answer, msn };
        let unlike = seen.misplaced(&one.frame, said, (number, again), base);
        wrong.extend(unlike.map(|text| (one.record, format!("answer {}: {text}", one.frame.psn))));
    }
    if count == 0 {
        let why = format!("nothing answered {} READ requests of {flow}", asked.len());
        return Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) });
    }
    let text = format!(
        "each of {} requests with where its answer goes, and each of {count} packets of answers with the headers of its place there",
        asked.len()
    );
    Ok(reading(text, wrong, (count + asked.len(), "packets")))
}
