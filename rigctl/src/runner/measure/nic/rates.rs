//! What a flow comes to: its least and its last rate, what leaves back to back, and what it carries on average.

use super::super::{Done, Judged, Read, looked};
use super::Seen;
use super::rp::{Limited, SOURCE};
use rig_capture::{Span, Unit};
use rig_lab::Limiting;
use rig_oracle::Prediction;
use rig_testcases::RoceKind;
use rig_units::{Dur, Time};

/// Which rate of a trial is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    Least,
    Final,
}

/// Judges the least rate, or the last.
pub(super) fn rate(done: &Done<'_>, flow: &str, which: Which, judged: &mut Judged) {
    let name = match which {
        Which::Least => "rate.least",
        Which::Final => "rate.final",
    };
    done.each(name, flow, judged, |trial| {
        let limited = Limited::of(done, trial, flow)?;
        let curve = limited.follow().curve;
        let (measured, predicted) = match which {
            Which::Least => (
                curve.iter().map(|point| point.measured).min_by_key(|span| span.hi),
                curve.iter().map(|point| point.predicted).min_by_key(|span| span.hi),
            ),
            Which::Final => {
                let last = curve.last();
                (last.map(|point| point.measured), last.map(|point| point.predicted))
            }
        };
        let (Some(span), Some(predicted)) = (measured, predicted) else {
            return Err(trial.doubt(&format!("{flow} sent no two packets")).into());
        };
        let want = Prediction {
            unit: Unit::Bps,
            span: predicted,
            formula: "cuts, alpha, increases, and the least rate",
            text: format!(
                "{} after {} CNPs; no less than {}",
                rig_capture::Reading { unit: Unit::Bps, span: predicted, frames: Vec::new() },
                limited.cnps.len(),
                limited.rp.min_rate
            ),
            source: SOURCE,
        };
        let looked = looked(curve.len(), "rates between two packets");
        Ok(Read { span, want, got: None, records: Vec::new(), looked })
    });
}

/// Judges how many packets leave back to back while the flow is held back.
pub(super) fn bursts(done: &Done<'_>, flow: &str, judged: &mut Judged) {
    done.each("rate.bursts", flow, judged, |trial| {
        let limited = Limited::of(done, trial, flow)?;
        let (_, held) = limited.held(trial)?;
        let after = &limited.frames[held + 1..];
        let mut runs = Vec::new();
        let mut run = 1_u64;
        for pair in after.windows(2) {
            let free = pair[0].1 + limited.line.slot(pair[0].2) + limited.bound * 2;
            if pair[1].1 > free {
                runs.push(run);
                run = 0;
            }
            run += 1;
        }
        let (Some(&lo), Some(&hi)) = (runs.iter().min(), runs.iter().max()) else {
            return Err(trial.doubt("the flow was not held back long enough").into());
        };
        let size = after.iter().map(|(.., bytes)| bytes.0).min().unwrap_or(1);
        let most = after.iter().map(|(.., bytes)| bytes.0).max().unwrap_or(1);
        let (lo_want, hi_want, text) = match limited.rp.limiting {
            Limiting::Packet => (1, 1, "each packet by itself".to_owned()),
            Limiting::Burst => {
                let (lo, hi) =
                    (limited.rp.burst.0.div_ceil(most), limited.rp.burst.0.div_ceil(size));
                (lo, hi, format!("bursts of {} at least, back to back", limited.rp.burst))
            }
        };
        let want = Prediction {
            unit: Unit::Frames,
            span: Span { lo: lo_want, hi: hi_want },
            formula: "ceil(burst / packet)",
            text,
            source: SOURCE,
        };
        let got = Some(format!("{lo} to {hi} packets back to back, in {} runs", runs.len()));
        // Every run has to be as long, not one of them.
        let span = if lo >= lo_want && hi <= hi_want {
            Span { lo, hi }
        } else {
            Span::exactly(if lo < lo_want { lo } else { hi })
        };
        let records = vec![limited.frames[held].0, limited.frames[held + 1].0];
        let looked = looked(runs.len(), "runs of packets");
        Ok(Read { span, want, got, records, looked })
    });
}

/// Judges what a flow carries on average, against what the case wants.
pub(super) fn goodput(
    done: &Done<'_>,
    flow: &str,
    (wanted, from): ((u64, u64), Dur),
    judged: &mut Judged,
) {
    done.each("rate.goodput", flow, judged, |trial| {
        let (index, spec) = trial.flow(flow)?;
        let connection = trial.script.connection(index);
        let seen = Seen::of(done, trial, spec.nic);
        let data = seen.left.iter().filter(|one| {
            let of_flow = one.roce.connection == connection && one.at >= Time::ZERO + from;
            of_flow && matches!(one.roce.kind, RoceKind::Data { .. })
        });
        let sent: Vec<_> = data.collect();
        let (Some(first), Some(last)) = (sent.first(), sent.last()) else {
            return Err(trial.doubt(&format!("{flow} sent nothing")).into());
        };
        // Payload alone: what the longest packet has around it all have, but for a header of 16 bytes in a message's first.
        const AROUND: u64 = 62;
        // From the first packet on to the last, which belongs to what comes after.
        let before = &sent[..sent.len() - 1];
        let bytes: u64 = before.iter().map(|one| u64::from(one.roce.size) - AROUND).sum();
        let took = last.at.since(first.at).unwrap_or_default();
        let rate = |took: Dur| {
            let bits_ps = u128::from(bytes) * 8 * 1_000_000_000_000;
            u64::try_from(bits_ps / u128::from(took.0.max(1))).unwrap_or(u64::MAX)
        };
        let blur = trial.observation.bound() * 2;
        let span = Span { lo: rate(took + blur), hi: rate(took.saturating_sub(blur)) };
        let want = Prediction {
            unit: Unit::Bps,
            span: Span { lo: wanted.0, hi: wanted.1 },
            formula: "payload sent over the time that it took",
            text: match wanted {
                (0, most) => format!("at most {}", Unit::Bps.show(most)),
                (least, u64::MAX) => format!("at least {}", Unit::Bps.show(least)),
                (least, most) => format!("{} to {}", Unit::Bps.show(least), Unit::Bps.show(most)),
            },
            source: "the case",
        };
        let looked = looked(before.len(), "packets");
        Ok(Read { span, want, got: None, records: Vec::new(), looked })
    });
}
