//! What a lost packet costs: so many that are sent again, and so the goodput.

use super::super::judge_context::{JudgeContext, TrialReading};
use super::super::judged::{Judged, looked};
use super::super::measurement::{Known, Red, Tells, by_source};
use super::{End, Flow, OF_FLOW, packets};
use crate::Prediction;
use crate::spec::blue_rdma::{AGAIN, APART, SOURCE, STRIDE, WINDOW, near, psn};
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit};
use rig_testcases::vocabulary::Entry;
use std::collections::BTreeMap;

/// `blue_rdma.recovery`.
pub(in super::super) static RECOVERY: Known = Known {
    entry: Entry {
        name: "blue_rdma.recovery",
        about: "packets that are sent again for those that were lost far from each other, and the goodput that is left: a window and a stride for each",
        ..OF_FLOW
    },
    tells: Tells::Each("packet"),
    red: Red::Mutated("one-in-a-thousand-lost", "deviation=resends_a_stride_less"),
    expected: |_, _, _| by_source("129 to 144 packets for each that was lost", SOURCE),
    judge: |measure, done, judged| recovery(done, measure.named("flow"), judged),
    stamps: Some(packets),
    ..Known::USUAL
};

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

/// The packets that were lost, each once, far from each other and from the end.
///
/// # Errors
/// They were not, and no closed form says what they cost.
fn lost(trial: &Trial, seen: &Flow<'_>, came: &Flow<'_>) -> Result<Vec<i64>, Doubt> {
    let (sent, came) = (passed(seen, true), passed(came, false));
    let end = sent.keys().next_back().map_or(seen.first, |last| last + 1);
    let mut all: Vec<i64> = Vec::new();
    for (&number, &copies) in &sent {
        let missing = copies.saturating_sub(came.get(&number).copied().unwrap_or(0));
        if missing == 0 {
            continue;
        }
        let near = all.last().is_some_and(|last| number - last < APART);
        if missing > 1 || near || number + WINDOW + 2 * STRIDE >= end {
            let why =
                format!("PSN {} was lost too near to another one, or to the end", psn(number));
            return Err(trial.doubt(&why));
        }
        all.push(number);
    }
    Ok(all)
}

fn recovery(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("blue_rdma.recovery", flow, judged, |trial| {
        let seen = Flow::of(trial, flow, End::Sender)?;
        let came = Flow::of(trial, flow, End::Receiver)?;
        if seen.packets > STRIDE || STRIDE % seen.packets != 0 || seen.first % STRIDE != 0 {
            return Err(trial.doubt("its messages do not begin with strides").into());
        }
        let lost = lost(trial, &seen, &came)?;
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
        let [least, most] = AGAIN.map(|each| u64::try_from(each).unwrap_or(0));
        let count = u64::try_from(lost.len()).unwrap_or(0);
        let text = format!(
            "{least} to {most} packets sent again for each of {count} that were lost, of {packets}"
        );
        let span = Span { lo: count * least, hi: count * most };
        let want = Prediction { unit: Unit::Count, span, formula: "", text, source: SOURCE };
        let span = Span::exactly(u64::try_from(again).unwrap_or(u64::MAX));
        let got = Some(format!("{again} packets sent again for {count}: {told}"));
        let (records, looked) = (vec![last.record], looked(lost.len(), "lost packets"));
        Ok(TrialReading { span, want, got, records, looked })
    });
}
