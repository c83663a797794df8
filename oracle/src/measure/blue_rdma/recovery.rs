//! What lost packets cost: so many that are sent again, and so the goodput.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, looked};
use super::super::measurement::{Known, Red, Tells, by_source};
use super::{Come, End, Flow, OF_FLOW, packets};
use crate::Prediction;
use crate::spec::blue_rdma::{AGAIN, SOURCE, STRIDE, WINDOW, fits, near, psn, timeout, told};
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::blue_rdma::Says;
use rig_capture::{Span, Unit};
use rig_testcases::vocabulary::Entry;
use rig_units::{Dur, Time};
use std::collections::BTreeMap;

/// `blue_rdma.recovery`.
pub(in super::super) static RECOVERY: Known = Known {
    entry: Entry {
        name: "blue_rdma.recovery",
        about: "packets that are sent again for those that were lost once, and the goodput that is left: a window and a stride each time that hardware tells of a hole",
        ..OF_FLOW
    },
    tells: Tells::Each("packet"),
    red: Red::Mutated("one-in-a-thousand-lost", "deviation=resends_a_stride_less"),
    expected: |_, _, _| by_source("129 to 144 packets each time that a loss is told", SOURCE),
    judge: |measure, done, judged| recovery(done, measure.named("flow"), judged),
    stamps: Some(packets),
    ..Known::USUAL
};

/// A sender that may have so many packets outstanding is never held back before hardware tells of a hole.
const FREE: i64 = 4 * WINDOW;

/// How often each number passed a port on its way to the receiver.
fn passed(seen: &Flow<'_>, sent: bool) -> BTreeMap<i64, u64> {
    let (mut reached, mut all) = (seen.first, BTreeMap::new());
    for one in seen.passed.iter().filter(|one| one.sent == sent && one.frame.is_data()) {
        let number = near(one.frame.psn, reached);
        reached = reached.max(number + 1);
        *all.entry(number).or_insert(0) += 1;
    }
    all
}

/// The packets that were lost, each once, and the number behind the last that left.
///
/// # Errors
/// One was lost again, and no closed form says what that costs.
fn lost(trial: &Trial, seen: &Flow<'_>, came: &Flow<'_>) -> Result<(Vec<i64>, i64), Doubt> {
    let (sent, came) = (passed(seen, true), passed(came, false));
    let end = sent.keys().next_back().map_or(seen.first, |last| last + 1);
    let mut all: Vec<i64> = Vec::new();
    for (&number, &copies) in &sent {
        let missing = copies.saturating_sub(came.get(&number).copied().unwrap_or(0));
        if missing > 1 {
            return Err(trial.doubt(&format!("PSN {} was lost more than once", psn(number))));
        }
        all.extend((missing == 1).then_some(number));
    }
    Ok((all, end))
}

/// How many numbers left at most behind a packet for which hardware told of a loss, before what was sent again for it: those that had left when the driver
/// had looked at that.
fn ahead(seen: &Flow<'_>, driver: Dur) -> i64 {
    let (mut reached, mut ahead) = (seen.first, 0);
    let mut told = Vec::new();
    for one in &seen.passed {
        if let (false, Says::Report { by_driver: false, .. }) = (one.sent, one.frame.says) {
            told.push((one.at + driver, near(one.frame.psn, reached)));
        }
        if one.sent && one.frame.is_data() {
            told.retain(|&(until, newest)| {
                let waits = one.at <= until;
                ahead = ahead.max(if waits { 0 } else { reached - newest });
                waits
            });
            reached = reached.max(near(one.frame.psn, reached) + 1);
        }
    }
    told.iter().map(|(_, newest)| reached - newest).fold(ahead, i64::max)
}

/// How many of these packets, of all before `end`, were lost so early that hardware tells of them.
fn sure(lost: &[i64], end: i64) -> usize {
    lost.partition_point(|&number| number.div_euclid(STRIDE) * STRIDE + AGAIN[1] + STRIDE <= end)
}

/// Whether a packet before `end` was sent again when the timer, of so long, had run out.
fn is_timed_out(seen: &Flow<'_>, timer: Dur, end: i64) -> bool {
    let (mut come, mut reached, mut since) =
        (Come::none_before(seen.first), seen.first, Time::ZERO);
    for one in &seen.passed {
        if one.sent && one.frame.is_data() {
            let number = near(one.frame.psn, reached);
            let is_first = number < reached.min(end) && number == come.base;
            if is_first && since + timer <= one.at {
                return true;
            }
            since = if come.base == reached { one.at } else { since };
            reached = reached.max(number + 1);
        } else if !one.sent {
            let base = come.base;
            come.told(&one.frame, reached);
            since = if come.base > base { one.at } else { since };
        }
    }
    false
}

/// How many packets are sent again at least and at most, where these were lost of all before `end`, those from `tail` on so late that nobody may tell.
fn owed(lost: &[i64], (tail, end): (i64, i64), ahead: i64) -> Span {
    // Of what is lost at the end nobody tells: then the timer sends the message that it is of and all behind, or nothing does.
    let (sure, by_timer) = (sure(lost, end), end - tail);
    let ([least, _], [_, most]) = (told(&lost[..sure], ahead), told(lost, ahead));
    let whole = |number: i64| u64::try_from(number).unwrap_or(0);
    let all = |tells: usize, each: i64| whole(each).saturating_mul(tells.try_into().unwrap_or(0));
    let most = all(most, AGAIN[1]) + whole(by_timer);
    Span { lo: all(least, AGAIN[0]), hi: most }
}

fn recovery(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("blue_rdma.recovery", flow, judged, |trial| {
        let seen = Flow::of(trial, flow, End::Sender)?;
        let came = Flow::of(trial, flow, End::Receiver)?;
        if seen.packets > STRIDE || STRIDE % seen.packets != 0 || seen.first % STRIDE != 0 {
            return Err(trial.doubt("its messages do not begin with strides").into());
        }
        let Some(declared) = done.context.seen().blue_rdma() else {
            return Err(trial.doubt("it is no NIC of blue-rdma").into());
        };
        if !fits(declared, FREE, FREE / seen.packets) {
            let why =
                "its driver posts so little at once that hardware may have no occasion to tell";
            return Err(trial.doubt(why).into());
        }
        let driver = done.context.apart().most(declared.driver) + seen.slots(2);
        let (lost, end) = lost(trial, &seen, &came)?;
        // A message is known to have come when it is whole.
        let tail =
            lost.get(sure(&lost, end)).map_or(end, |late| late - late.rem_euclid(seen.packets));
        let timer = timeout(declared).map(|lasts| done.context.apart().range(lasts).least());
        if timer.is_some_and(|timer| is_timed_out(&seen, timer, tail)) {
            let why =
                "the driver's timer ran out before hardware told, or what it told of was there";
            return Err(trial.doubt(why).into());
        }
        let own: Vec<_> =
            seen.passed.iter().filter(|one| one.sent && one.frame.is_data()).collect();
        let (Some(first), Some(last)) = (own.first(), own.last()) else {
            return Err(trial.doubt("nothing of the flow left").into());
        };
        let again = own.iter().filter(|one| one.frame.is_retry).count();
        let packets = u64::try_from(own.len() - again).unwrap_or(0);
        let lasts = last.at.since(first.at).unwrap_or_default() + seen.slots(1);
        let bits = u128::from(packets) * u128::from(seen.spec.mtu) * 8;
        // Bits a picosecond are terabits a second.
        let goodput = bits * 100_000 / u128::from(lasts.0.max(1));
        let told = format!("{}.{:02} Gb/s of payload", goodput / 100, goodput % 100);
        let count = lost.len();
        let span = owed(&lost, (tail, end), ahead(&seen, driver));
        let Span { lo: least, hi: most } = span;
        let text =
            format!("{least} to {most} packets sent again for {count} that were lost of {packets}");
        let want = Prediction { unit: Unit::Count, span, formula: "", text, source: SOURCE };
        let span = Span::exactly(u64::try_from(again).unwrap_or(u64::MAX));
        let got = Some(format!("{again} packets sent again for {count}: {told}"));
        let (records, looked) = (vec![last.record], looked(lost.len(), "lost packets"));
        Ok(TrialReading { span, want, got, records, looked })
    });
}
