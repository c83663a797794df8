//! Where N greedy senders and one marking queue come to rest, in the fluid model of DCQCN.
//!
//! In packets and seconds, with R = C / N the rate of each, tau the least time between two cuts, tau' the alpha timer, T the
//! timer, B the byte counter, F the threshold, and p the chance of a mark:
//!
//! | | | |
//! | --- | --- | --- |
//! | a | 1 - (1 - p)^(tau R) | a cut within tau |
//! | b, d | p / ((1 - p)^-B - 1), p / ((1 - p)^-TR - 1) | increases a packet, by bytes and by time |
//! | c, e | b (1 - p)^FB, d (1 - p)^FTR | those past fast recovery |
//! | alpha | 1 - (1 - p)^(tau' R) | |
//!
//! dR_T/dt = 0 gives R_T - R = tau R_AI R (c + e) / a, and dR/dt = 0 gives alpha a / tau = (R_T - R)(b + d); so at rest
//!
//! a^2 alpha = tau^2 R_AI R (b + d)(c + e),
//!
//! of which the left side grows with p and the right side falls: one root. For small p it is near the cube root of
//! R_AI / (tau' R^2) (1 / B + 1 / (T R))^2. The queue is where the marking curve is at p.
//!
//! The model leaves out hyper increase, the least rate and the delay of feedback, and raises alpha once in tau', not with each cut. So
//! its value is for people; that shares are equal, and that more senders make a longer queue, is all that is ever judged by it.

use rig_lab::{Curve, Np, Rp};
use rig_units::{Bytes, Dur, L2Rate, PortSpeed};

/// Where the forms come from, for reports.
pub const SOURCE: &str =
    "Zhu et al., SIGCOMM'15, 5.1; Zhu, Ghobadi, Misra, Padhye, ECN or Delay, CoNEXT'16, 3.1";

/// Halvings of the interval that holds the chance: no more of them change it.
const HALVINGS: u32 = 64;

/// Greedy senders through one port.
#[derive(Debug, Clone, Copy)]
pub struct Incast<'a> {
    /// The reaction point of each sender.
    pub rp: &'a Rp,
    /// The notification point that answers them.
    pub np: &'a Np,
    /// The marking curve of the queue.
    pub curve: &'a Curve,
    /// The port's speed.
    pub line: PortSpeed,
    /// How many senders.
    pub senders: u32,
    /// The size of their frames.
    pub frame: Bytes,
}

/// Where they come to rest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rest {
    /// The chance of a mark, and how far it may be off as a root.
    pub marked: f64,
    /// By how much, either way.
    pub off: f64,
    /// The queue in bytes; `None`: no part of the curve's slope marks so many, and the queue goes to and fro about its end.
    pub queue: Option<f64>,
    /// What each sends.
    pub share: L2Rate,
}

impl Incast<'_> {
    /// The fixed point.
    pub fn rest(&self) -> Rest {
        let (mut lo, mut hi) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(lo, hi);
            *if self.cuts_prevail(middle) { &mut hi } else { &mut lo } = middle;
        }
        let marked = f64::midpoint(lo, hi);
        let Curve { kmin, kmax, pmax } = self.curve;
        let (kmin, kmax, pmax) = (float(kmin.0), float(kmax.0), f64::from(pmax.0) / 1e6);
        let queue = (marked <= pmax).then(|| kmin + marked / pmax * (kmax - kmin));
        let each = self.line.bps() * self.frame.0 / (self.frame.0 + rig_units::L1_OVERHEAD.0);
        Rest { marked, off: (hi - lo) / 2.0, queue, share: L2Rate { bps: each / self.flows() } }
    }

    fn flows(&self) -> u64 {
        u64::from(self.senders.max(1))
    }

    /// R: packets a second of each sender.
    fn rate(&self) -> f64 {
        1.0 / seconds(self.line.slot(self.frame)) / float(self.flows())
    }

    /// R_AI: packets a second more with each additive increase.
    fn ai_rate(&self) -> f64 {
        float(self.rp.ai_rate.bps) / (8.0 * float(self.frame.0))
    }

    /// B: packets of the byte counter.
    fn packets(&self) -> f64 {
        float(self.rp.byte_counter.0) / float(self.frame.0)
    }

    /// tau R: packets within the least time between two cuts, and at least one.
    fn between_cuts(&self) -> f64 {
        (seconds(self.np.interval.max(self.rp.cut_window)) * self.rate()).max(1.0)
    }

    fn terms(&self, p: f64) -> Terms {
        // (1 - p)^x - 1, exact for small p.
        let power = |x: f64| (x * (-p).ln_1p()).exp_m1();
        let per = |packets: f64| if p > 0.0 { p / power(-packets) } else { 1.0 / packets };
        let (f, timer) = (f64::from(self.rp.threshold), seconds(self.rp.timer) * self.rate());
        let past = |packets: f64| per(packets) * (1.0 + power(f * packets));
        let counted = self.rp.byte_counter > Bytes(0);
        let bytes = self.packets();
        Terms {
            a: -power(self.between_cuts()),
            b: if counted { per(bytes) } else { 0.0 },
            c: if counted { past(bytes) } else { 0.0 },
            d: per(timer),
            e: past(timer),
            alpha: -power(seconds(self.rp.alpha_timer) * self.rate()),
        }
    }

    /// Whether a chance is above the root.
    fn cuts_prevail(&self, p: f64) -> bool {
        let Terms { a, b, c, d, e, alpha } = self.terms(p);
        let rate = self.rate();
        let tau = self.between_cuts() / rate;
        a * a * alpha > tau * tau * self.ai_rate() * rate * (b + d) * (c + e)
    }
}

/// The terms of the table above.
struct Terms {
    a: f64,
    b: f64,
    c: f64,
    d: f64,
    e: f64,
    alpha: f64,
}

#[expect(clippy::cast_precision_loss, reason = "rates and sizes are far below 2^53")]
fn float(value: u64) -> f64 {
    value as f64
}

fn seconds(dur: Dur) -> f64 {
    float(dur.0) / 1e12
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rig_lab::Nic;
    use rig_units::Ppm;

    /// The values of both papers: 40 Gb/s, tau 50 us, tau' and T 55 us, B 10 MB, F 5, R_AI 40 Mb/s; 980 B and 20 B around.
    const CURVE: Curve = Curve { kmin: Bytes(5_000), kmax: Bytes(200_000), pmax: Ppm(10_000) };

    fn incast<'a>(np: &'a Np, rp: &'a Rp, senders: u32) -> Incast<'a> {
        let line = PortSpeed::from_bps(40_000_000_000).unwrap();
        Incast { rp, np, curve: &CURVE, line, senders, frame: Bytes(980) }
    }

    /// The chance of a mark in closed form, for chances that are small against 1 / tau R.
    fn nearly(of: &Incast<'_>) -> f64 {
        let rate = of.rate();
        let by_time = 1.0 / (seconds(of.rp.timer) * rate);
        let by_bytes = if of.rp.byte_counter == Bytes(0) { 0.0 } else { 1.0 / of.packets() };
        let steps = of.ai_rate() / (seconds(of.rp.alpha_timer) * rate * rate);
        (steps * (by_bytes + by_time).powi(2)).cbrt()
    }

    #[test]
    fn the_cube_root_is_that_worked_by_hand() {
        // Two at 5 x 10^6 packets a second: R = 2.5 x 10^6, R_AI = 40 x 10^6 / 7840 = 5102 a second, 1 / B = 9.8 x 10^-5,
        // 1 / T R = 1 / 137.5 = 7.2727 x 10^-3; 5102 / (55 x 10^-6 x 6.25 x 10^12) = 1.4842 x 10^-5;
        // times (7.3707 x 10^-3)^2 = 5.4327 x 10^-5: 8.0634 x 10^-10, and its cube root 9.307 x 10^-4.
        let Nic { np, rp, .. } = Nic::quiet();
        let nearly = nearly(&incast(&np, &rp, 2));
        assert!((nearly - 9.307e-4).abs() < 1e-6, "{nearly}");
        // The root itself is lower: with F T R p = 0.64, half of all increases are cut off before they are additive.
        let rest = incast(&np, &rp, 2).rest();
        assert!((0.6..1.0).contains(&(rest.marked / nearly)), "{rest:?}");
        assert!(rest.off < 1e-15);
        assert_eq!(rest.share.bps, 19_600_000_000);
        // kmin + p / 1 % of 195 KB.
        assert!((rest.queue.unwrap() - (5_000.0 + rest.marked * 19_500_000.0)).abs() < 1e-6);
    }

    #[test]
    fn nothing_moves_at_the_root() {
        let Nic { np, rp, .. } = Nic::quiet();
        for senders in [2, 10, 64] {
            let incast = incast(&np, &rp, senders);
            let Rest { marked: p, .. } = incast.rest();
            let Terms { a, b, c, d, e, alpha } = incast.terms(p);
            let (rate, tau) = (incast.rate(), 50e-6);
            // The equations of the paper as they stand there, by their terms, for the target that does not move.
            let above = tau * incast.ai_rate() * rate * (c + e) / a;
            let falls = rate * alpha * a / (2.0 * tau);
            let rises = above * rate * b / 2.0 + above * rate * d / 2.0;
            assert!((falls - rises).abs() < 1e-9 * falls, "{falls} {rises}");
        }
    }

    #[test]
    fn where_the_slope_does_not_mark_enough_there_is_no_queue_to_name() {
        let Nic { np, rp, .. } = Nic::quiet();
        let rest = incast(&np, &rp, 64).rest();
        assert!(rest.marked > 0.01 && rest.queue.is_none(), "{rest:?}");
    }

    proptest! {
        #[test]
        fn more_senders_are_marked_more(
            senders in 1_u32..200, step in 1_u64..400, timer in 20_u64..300, bytes in any::<bool>(), each in any::<bool>(),
        ) {
            let Nic { mut np, mut rp, .. } = Nic::quiet();
            rp.ai_rate.bps = step * 1_000_000;
            rp.timer = Dur::us(timer);
            if !bytes {
                rp.byte_counter = Bytes(0);
            }
            if each {
                (np.interval, rp.cut_window) = (Dur::ZERO, Dur::ZERO);
            }
            let marked = |senders| incast(&np, &rp, senders).rest().marked;
            prop_assert!(marked(senders) < marked(senders + 1));
        }
    }
}
