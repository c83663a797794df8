//! A watchdog in the ASIC (SAI's `PFC_TC_DLD_INTERVAL` and `PFC_TC_DLR_INTERVAL`, saiswitch.h; SONiC's pfc_hardware_recovery_hld.md): no
//! poll decides anything. A class that is paused without a break for longer than D is stormed; recovery runs for R whatever the storm
//! does; then detection begins anew, with what is left of the storm.
//!
//! Each timer runs out t later than it is set to, t anew within a declared range: ticks of a clock that runs on, and where between
//! two of them a pause begins nobody says. A pause that ends as the timer runs out is no storm.

use super::{End, Rule, Window};
use crate::Alike;
use rig_lab::RuleFamily;
use rig_units::{Dur, Within};

/// Whether the recovery of a family lasts its time whatever the storm does, and so counts from the detection.
pub const fn recovers(family: RuleFamily) -> bool {
    match family {
        RuleFamily::IntervalCounter | RuleFamily::Hardware => true,
        RuleFamily::Broadcom
        | RuleFamily::Mellanox
        | RuleFamily::Cisco8000
        | RuleFamily::Barefoot => false,
    }
}

impl Rule {
    /// Whether it is polls that decide.
    pub const fn is_polled(&self) -> bool {
        !matches!(self.family, RuleFamily::Hardware)
    }

    /// When a timer that is set to `time` runs out, counted from when it began.
    pub(super) fn runs_out(&self, time: Dur) -> Window {
        let once = Window { from: End::Closed(time), until: End::Closed(time) };
        once.delayed(self.timer_lag)
    }

    /// Whether a pause of `length` is detected; `None` where it depends on when the timer runs out.
    pub(super) fn outlasts(&self, length: Dur) -> Option<bool> {
        let Window { from, until } = self.runs_out(self.detection_time).seen(self.apart);
        if length <= from.value() { Some(false) } else { (length > until.value()).then_some(true) }
    }

    /// The times that a timer may be set to and look as declared, where instants are known to within `blur`: what is timed lies
    /// between two of `actions` that each come late anew.
    pub(super) fn timed_alike(
        &self,
        parameter: &str,
        time: Dur,
        (actions, blur): (u64, Dur),
    ) -> Alike {
        let clocks = self.apart.most(time) - self.apart.least(time);
        let off = self.timer_lag.width() + self.latency().width() * actions + blur + clocks;
        Alike::of_time(parameter, Within::exactly(time), off)
    }

    /// The lags that look as declared, the same.
    pub fn lags_alike(&self, blur: Dur) -> Option<Alike> {
        let time = self.detection_time;
        let off = self.latency().width() + blur + self.apart.most(time) - self.apart.least(time);
        (!self.is_polled()).then(|| Alike::of_time("pfcwd.timer_lag", self.timer_lag, off))
    }

    /// t, for the text of a prediction.
    pub(super) fn lag_text(&self) -> String {
        format!("t = {}", self.timer_lag)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{IDLE, gap, rule};
    use super::super::{Storm, Window};
    use super::*;
    use rig_capture::Span;
    use rig_lab::Action;

    /// D = 200 ms, R = 300 ms, and timers that run out up to 10 ms late.
    fn timed() -> Rule {
        let timer_lag = "0ms..10ms".parse().expect("a range");
        Rule { timer_lag, ..rule(RuleFamily::Hardware, 200, 100, Some(300)) }
    }

    fn ms(lo: u64, hi: u64) -> Span {
        Span { lo: Dur::ms(lo).0, hi: Dur::ms(hi).0 }
    }

    #[test]
    fn a_pause_is_detected_when_its_own_timer_runs_out_whatever_the_queue_carries() {
        for stimulus in [IDLE, gap(500), gap(150_000)] {
            let window = timed().detection(&stimulus).expect("it fires");
            assert_eq!(window.to_string(), "200ms <= T <= 210ms");
            assert_eq!(timed().never_fires_up_to(&stimulus), Some(Dur::ms(200)));
            assert_eq!(timed().always_fires_from(&stimulus), Some(Dur::ms(210)));
            assert_eq!(timed().trigger_ramp(&stimulus), Some(ms(200, 210)));
            let chances = [200, 201, 210, 211].map(|length| {
                let (least, most) = timed().chances(Dur::ms(length), &stimulus);
                (least.ppm(), most.ppm())
            });
            assert_eq!(chances, [(0, 0), (0, 1_000_000), (0, 1_000_000), (1_000_000, 1_000_000)]);
            let fires =
                [200, 205, 211].map(|length| timed().fires(Dur::ms(3), Dur::ms(length), &stimulus));
            assert_eq!(fires, [Some(false), None, Some(true)]);
        }
        // However far apart its polls are.
        let polls = Rule { poll_interval: Dur::ms(7), ..timed() };
        assert_eq!(polls.detection(&IDLE), timed().detection(&IDLE));
        let text = timed().predicted_detection(&IDLE).expect("it fires").text;
        assert_eq!(text, "D + t, D = 200ms, t = 0ms..10ms: 200ms <= T <= 210ms");
    }

    #[test]
    fn a_recovery_lasts_its_time_and_an_action_may_come_late_at_either_end() {
        assert_eq!(timed().predicted_recovery().expect("it recovers").span, ms(300, 310));
        let storm =
            Storm { last_frame: Dur::ms(900), pause_end: Dur::ms(901), detected: Dur::ms(205) };
        let window = |from, until| {
            let [from, until] = [from, until].map(|at| End::Closed(Dur::ms(at)));
            Some(Window { from, until })
        };
        assert_eq!(timed().restores(&storm, &IDLE), window(505, 515));
        let slow = Rule { action_latency: "1ms..4ms".parse().expect("a range"), ..timed() };
        assert_eq!(slow.restores(&storm, &IDLE), window(506, 519));
        assert_eq!(slow.predicted_recovery().expect("it recovers").span, ms(297, 313));
        assert_eq!(slow.detection(&IDLE).expect("it fires").to_string(), "201ms <= T <= 214ms");
        let forward = Rule { action: Action::Forward, ..slow };
        assert_eq!(forward.trigger_ramp(&IDLE), Some(ms(201, 214)));
        let forever = Rule { restoration_time: None, ..timed() };
        assert_eq!(forever.restores(&storm, &IDLE), None);
        assert_eq!(forever.predicted_recovery(), None);
    }

    #[test]
    fn what_it_cannot_tell_is_as_wide_as_its_lags_and_latencies() {
        let slow = Rule { action_latency: "1ms..4ms".parse().expect("a range"), ..timed() };
        let shown = slow.detection_resolution(Dur::us(20)).to_string();
        assert_eq!(shown, "pfcwd.detection_time in [186.98ms, 213.02ms]");
        let shown = slow.restoration_resolution(Dur::ZERO).map(|alike| alike.to_string());
        assert_eq!(shown.as_deref(), Some("pfcwd.restoration_time in [284ms, 316ms]"));
        let shown = slow.lags_alike(Dur::ZERO).map(|alike| alike.to_string());
        assert_eq!(shown.as_deref(), Some("pfcwd.timer_lag in [0ms, 13ms]"));
        assert!(!timed().on_a_grid() && !timed().shows_a_grid());
    }
}
