//! Single values of a NIC with their formulas in words, for reports and for `explain`.

use super::rp::{self, Alpha};
use super::{forms, np, rc};
use crate::Prediction;
use rig_capture::{Span, Unit};
use rig_lab::{Np, Rc, Rp};
use rig_units::{Dur, L2Rate, PortSpeed};

/// From a mark to its CNP, at a port that may keep it for `busy`.
pub fn cnp_latency(np: &Np, busy: Dur) -> Prediction {
    latency("a CNP", np.latency, busy, np::SOURCE)
}

/// The least time between two marks of one scope that are answered, whatever the marks.
pub fn cnp_interval(np: &Np) -> Prediction {
    let text = format!("I = {} or more", np.interval);
    let span = Span { lo: np.interval.0, hi: u64::MAX };
    Prediction { unit: Unit::Ps, span, formula: "", text, source: np::SOURCE }
}

/// The same, for marks every `gap`.
pub fn cnp_every(np: &Np, gap: Dur) -> Prediction {
    let (interval, every) = (np.interval, np::every(np, gap));
    let text = format!("ceil(I / g) g = ceil({interval} / {gap}) x {gap} = {every}");
    let span = Span::exactly(every.0);
    Prediction { unit: Unit::Ps, span, formula: "", text, source: np::SOURCE }
}

/// CNPs for so many marks every `gap`.
pub fn cnp_count(np: &Np, gap: Dur, marks: u64) -> Prediction {
    let (one_in, count) = (np::one_in(np, gap), np::count(np, gap, marks));
    let text = if np.enable {
        format!("ceil(n / ceil(I / g)) = ceil({marks} / {one_in}) = {count}")
    } else {
        "marks are not answered".to_owned()
    };
    let span = Span::exactly(count);
    Prediction { unit: Unit::Frames, span, formula: "", text, source: np::SOURCE }
}

/// From a CNP to its effect.
pub fn cut_latency(rp: &Rp) -> Prediction {
    latency("a cut", rp.latency, Dur::ZERO, rp::SOURCE)
}

/// The rate after the first cut.
pub fn first_cut(rp: &Rp, line: PortSpeed) -> Prediction {
    let (alpha, L2Rate { bps }) = (Alpha::of(rp.initial_alpha), forms::first_cut(rp, line));
    let shown = Unit::Ppm.show(alpha.ppm());
    let text = format!(
        "max({}, C (1 - a / 2)) with C = {line}, a = {shown}: {}",
        rp.min_rate,
        Unit::Bps.show(bps)
    );
    Prediction { unit: Unit::Bps, span: Span::exactly(bps), formula: "", text, source: rp::SOURCE }
}

/// How long after a cut a rate is reached again by time alone; `None`: never, or not while the target stays.
pub fn recovery(rp: &Rp, (rate, target): (L2Rate, L2Rate), want: L2Rate) -> Option<Prediction> {
    let steps = forms::steps_to(rate, target, want)?;
    let after = rp.timer * u64::from(steps);
    let text = format!(
        "k timers of {} until T - (T - C) / 2^k >= {want} with C = {rate}, T = {target}: k = {steps}, {after}",
        rp.timer
    );
    let span = Span::exactly(after.0);
    Some(Prediction { unit: Unit::Ps, span, formula: "", text, source: rp::SOURCE })
}

/// From a packet to its acknowledgement.
pub fn ack_latency(rc: &Rc, busy: Dur) -> Prediction {
    latency("an acknowledgement", rc.ack_latency, busy, rc::SOURCE)
}

/// From a packet that shows a hole to the NAK.
pub fn nak_latency(rc: &Rc, busy: Dur) -> Prediction {
    latency("a NAK", rc.nak_latency, busy, rc::SOURCE)
}

/// From a NAK to the packet that is sent again, `busy` being whatever may keep it.
pub fn resend_latency(rc: &Rc, busy: Dur) -> Prediction {
    latency("what is sent again", rc.resend_latency, busy, rc::SOURCE)
}

fn latency(of: &str, latency: Dur, busy: Dur, source: &'static str) -> Prediction {
    let text = match busy {
        Dur::ZERO => format!("{of} after {latency}"),
        busy => format!("{of} after {latency}, and {busy} more at a port that is not free"),
    };
    let span = Span { lo: latency.0, hi: (latency + busy).0 };
    Prediction { unit: Unit::Ps, span, formula: "", text, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_lab::Nic;

    #[test]
    fn every_prediction_shows_its_numbers() {
        let Nic { mut np, mut rp, rc, .. } = Nic::none();
        (np.enable, rp.enable) = (true, true);
        let (half, line) = (L2Rate { bps: 50_000_000_000 }, L2Rate { bps: 100_000_000_000 });
        let want = L2Rate { bps: 90_000_000_000 };
        let told = [
            cnp_latency(&np, Dur::ns(84)),
            cnp_interval(&np),
            cnp_every(&np, Dur::ns(700)),
            cnp_count(&np, Dur::ns(700), 1_000),
            cut_latency(&rp),
            first_cut(&rp, PortSpeed::G100),
            recovery(&rp, (half, line), want).unwrap(),
            ack_latency(&rc, Dur::ZERO),
            nak_latency(&rc, Dur::ZERO),
            resend_latency(&rc, Dur::ns(84)),
        ];
        let lines = told
            .map(|one| format!("{:?} {}..{}: {}", one.unit, one.span.lo, one.span.hi, one.text));
        let want = [
            "Ps 1000000..1084000: a CNP after 1us, and 84ns more at a port that is not free",
            "Ps 50000000..18446744073709551615: I = 50us or more",
            "Ps 50400000..50400000: ceil(I / g) g = ceil(50us / 700ns) x 700ns = 50.4us",
            "Frames 14..14: ceil(n / ceil(I / g)) = ceil(1000 / 72) = 14",
            "Ps 1000000..1000000: a cut after 1us",
            "Bps 50000000000..50000000000: max(100Mbps-L2, C (1 - a / 2)) with C = 100Gbps, a = 1: 50.000 Gbps",
            "Ps 165000000..165000000: k timers of 55us until T - (T - C) / 2^k >= 90Gbps-L2 with C = 50Gbps-L2, T = 100Gbps-L2: k = 3, 165us",
            "Ps 1000000..1000000: an acknowledgement after 1us",
            "Ps 1000000..1000000: a NAK after 1us",
            "Ps 2000000..2084000: what is sent again after 2us, and 84ns more at a port that is not free",
        ];
        assert_eq!(lines.each_ref().map(String::as_str), want);
    }
}
