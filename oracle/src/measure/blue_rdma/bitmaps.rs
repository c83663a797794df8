//! Acknowledgements by hardware: each that is owed by the packets that came, and the bitmaps in it.

use super::super::judge_context::JudgeContext;
use super::super::judged::Judged;
use super::super::measurement::{Known, Red, Tells, by_source};
use super::{End, Flow, OF_FLOW, Passed, packets, reading};
use crate::spec::blue_rdma::{Owed, SOURCE, lowest, near, owed, psn};
use rig_capture::blue_rdma::Says;
use rig_testcases::vocabulary::Entry;
use rig_units::{Dur, Time};

/// `blue_rdma.bitmaps`.
pub(in super::super) static BITMAPS: Known = Known {
    entry: Entry {
        name: "blue_rdma.bitmaps",
        about: "acknowledgements by hardware, by the packets that reached it: one for each move of the window over what has not come, with the bitmaps before and after",
        ..OF_FLOW
    },
    tells: Tells::Each("bit of each acknowledgement"),
    red: Red::Mutated("lost-packet-of-a-window", "deviation=bitmap_off_by_one"),
    expected: |_, _, _| {
        by_source(
            "one where a number moves out of the window that has not come, bit by bit",
            SOURCE,
        )
    },
    judge: |measure, done, judged| bitmaps(done, measure.named("flow"), judged),
    stamps: Some(packets),
    ..Known::USUAL
};

/// An acknowledgement by hardware, or none, beside what was owed.
fn unlike(seen: &Passed, owed: &Owed, caused: Time) -> Option<String> {
    let Says::Report { lost, moved, before, now, before_psn, .. } = seen.frame.says else {
        return None;
    };
    let [old, new] = owed.around;
    if seen.at < caused {
        return Some(format!("it left before packet {} came, which it is owed for", psn(new)));
    }
    if (before_psn, seen.frame.psn) != (psn(old), psn(new)) {
        let got = (before_psn, seen.frame.psn);
        let due = (psn(old), psn(new));
        return Some(format!(
            "a window that moved from {} to {} where one from {} to {} is due",
            got.0, got.1, due.0, due.1
        ));
    }
    if !(lost && moved) {
        return Some("it does not say that packets are lost and the window moved".to_owned());
    }
    let both = [
        ("before", old, u128::from(before), owed.bitmaps[0]),
        ("now", new, u128::from(now), owed.bitmaps[1]),
    ];
    both.into_iter().find_map(|(which, newest, got, due)| {
        let at = (got ^ due).trailing_zeros();
        let number = psn(lowest(newest) + i64::from(at));
        let word = if got >> at.min(127) & 1 == 1 { "set" } else { "clear" };
        (got != due).then(|| {
            let off = (got ^ due).count_ones();
            format!("{off} bits of the bitmap {which} wrong, the first that of PSN {number}, which is {word}")
        })
    })
}

fn bitmaps(done: &JudgeContext<'_>, flow: &str, judged: &mut Judged) {
    done.each("blue_rdma.bitmaps", flow, judged, |trial| {
        let seen = Flow::of(trial, flow, End::Receiver)?;
        let hardware = done.context.apart().most(seen.hardware(done.context.seen().blue_rdma()));
        let came = seen.passed.iter().filter(|one| !one.sent && one.frame.is_data());
        let came: Vec<&Passed> = came.collect();
        let mut last = seen.first;
        let numbers: Vec<i64> = came
            .iter()
            .map(|one| {
                last = near(one.frame.psn, last);
                last
            })
            .collect();
        let owed = owed(&numbers);
        let by_hardware = |one: &&Passed| {
            one.sent && matches!(one.frame.says, Says::Report { by_driver: false, .. })
        };
        let reports: Vec<&Passed> = seen.passed.iter().filter(by_hardware).collect();
        let mut wrong = Vec::new();
        for (index, one) in reports.iter().enumerate() {
            let Some(owed) = owed.get(index) else {
                wrong.push((
                    one.record,
                    format!("an acknowledgement of PSN {} that nothing is owed for", one.frame.psn),
                ));
                continue;
            };
            if let Some(unlike) = unlike(one, owed, came[owed.for_packet].at) {
                wrong.push((one.record, format!("acknowledgement {}: {unlike}", index + 1)));
            }
        }
        for owed in owed.iter().skip(reports.len()) {
            let caused = came[owed.for_packet];
            // What is behind it at the port are other acknowledgements.
            if caused.at + hardware + seen.slots(reports.len() + 2) < seen.until {
                wrong.push((
                    caused.record,
                    format!(
                        "no acknowledgement when PSN {} moved the window over what has not come",
                        caused.frame.psn
                    ),
                ));
            }
        }
        let text = format!(
            "{} acknowledgements of a loss, for the {} packets that came",
            owed.len(),
            came.len()
        );
        Ok(reading(text, wrong, (came.len(), "packets")))
    });
}

impl Flow<'_> {
    /// What hardware takes to acknowledge, at most.
    fn hardware(&self, declared: Option<&rig_lab::declared::BlueRdma>) -> Dur {
        declared.map_or(Dur::ZERO, |declared| declared.hardware) + self.slots(1)
    }
}
