//! A configuration as a clock that is off makes it, every time of it longer or shorter, every rate lower or higher; and as another
//! clock shows it.

use crate::field::Holds;
use crate::{AckTimeout, BadSetting, Declared, Rc, fields};
use rig_units::{Apart, Dur, L2Rate, Ppm, Within};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// What the host behind a NIC does by a clock of its own.
const OF_HOST: [&str; 3] = [".estats.poll", ".estats.window", ".estats.sync"];

impl Declared {
    /// What a device does that is configured so and whose seconds are `num / den` of a second each: what its rows hold of times is
    /// as much longer, and of rates as much lower, rounded down. Sizes, counts and quanta are what they are.
    ///
    /// # Errors
    /// When a time gets longer than one may be.
    pub fn paced(&self, num: u64, den: u64) -> Result<Declared, BadSetting> {
        let time = |time: Dur| time.scaled(num, den);
        self.with_each(|path, holds, at| match holds {
            Holds::Time if OF_HOST.iter().any(|own| path.ends_with(own)) => Ok(at.clone()),
            Holds::Time => each(at, time),
            Holds::Range => each(at, |range: Within| range.scaled(num, den)),
            Holds::Rate => {
                each(at, |rate: L2Rate| L2Rate { bps: Dur(rate.bps).scaled(den, num).0 })
            }
            Holds::Count if path.ends_with(TIMEOUT) => {
                each(at, |timeout: AckTimeout| timeout.scaled(num, den))
            }
            _ => Ok(at.clone()),
        })
    }

    /// The same device as it is seen by a clock that may be so far apart from its own: its ranges, and the ranges of its timeouts, hold
    /// whatever may be seen of them, and its `clock` how far apart the two are. What is one length of time stays one.
    ///
    /// # Errors
    /// When a time gets longer than one may be.
    pub fn seen(&self, apart: Apart) -> Result<Declared, BadSetting> {
        if apart == Apart::NOT {
            return Ok(self.clone());
        }
        let mut seen = self.with_each(|_, holds, at| match holds {
            Holds::Range => each(at, |range| apart.range(range)),
            _ => Ok(at.clone()),
        })?;
        if let Declared::Nic(nics) = &mut seen {
            let all = [Some(&mut nics.nic), nics.peer.as_mut()].into_iter().flatten();
            all.for_each(|nic| nic.rc.see(apart));
        }
        seen.seen_by(apart);
        Ok(seen)
    }

    /// Each field that is set, by another value.
    fn with_each(
        &self,
        other: impl Fn(&str, Holds, &Value) -> Result<Value, serde_json::Error>,
    ) -> Result<Declared, BadSetting> {
        let bad = |path: &str, why: String| BadSetting::BadValue { path: path.to_owned(), why };
        let mut tree = serde_json::to_value(self).map_err(|e| bad("clock", e.to_string()))?;
        for (path, field) in fields::all() {
            let at = tree.pointer_mut(&format!("/{}", path.replace('.', "/")));
            if let Some(at) = at.filter(|at| !at.is_null()) {
                *at = other(&path, field.holds, at).map_err(|e| bad(&path, e.to_string()))?;
            }
        }
        Declared::read(self.kind(), tree).map_err(|e| bad("clock", e.to_string()))
    }
}

impl Rc {
    /// The timer as another clock shows it: from the least that it may show of the time to the most, and as late as that is.
    fn see(&mut self, apart: Apart) {
        let Some(waits) = self.timeout.least() else { return };
        let least = apart.least(waits);
        // Of one that adapts as much more as its longest wait is longer.
        let longest = self.adaptive.map_or(1, |adaptive| adaptive.longest());
        // IBTA volume 1, 9.7.6.1.3: up to four times as long where nothing is declared.
        let late = self.timeout_late.unwrap_or(Within::at_most(apart.most(waits * 3) * longest));
        // A share stays one, of what is the least, and what it is more of the longest that may be seen is late, too.
        let share = |of: Dur| {
            let share = self.timeout_late_share.unwrap_or(Ppm(0));
            of.scaled(share.0.into(), Ppm::ONE.0.into())
        };
        let more = share(apart.most(waits * longest)).saturating_sub(share(least));
        let most = least + (apart.most(waits) - least) * longest + late.most() + more;
        self.timeout = AckTimeout::Time(least);
        self.timeout_late = Some(Within::between(late.least(), most - least));
    }
}

/// The one count that says a time: it is the exponent of one.
const TIMEOUT: &str = ".rc.timeout";

fn each<T: DeserializeOwned + Serialize>(
    at: &Value,
    change: impl FnOnce(T) -> T,
) -> Result<Value, serde_json::Error> {
    serde_json::to_value(change(T::deserialize(at)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, sample};

    fn paced(kind: Kind, num: u64) -> (Declared, Declared) {
        let nominal = sample(kind).expect("rows that fit");
        let paced = nominal.paced(num, 1_000_000).expect("times that may be");
        (nominal, paced)
    }

    #[test]
    fn every_time_and_rate_of_a_device_goes_by_its_clock_and_nothing_else() {
        for (_, kind) in Kind::OF_PROFILES.iter().copied() {
            let (nominal, slow) = paced(kind, 1_000_100);
            let changed = nominal.differences(&slow);
            for (path, field) in fields::all() {
                let Some(value) = nominal.get(&path).filter(|value| !value.is_null()) else {
                    continue;
                };
                let timed = matches!(field.holds, Holds::Time | Holds::Range | Holds::Rate);
                let nothing = value == "0ms" || value == "0s";
                assert_eq!(changed.contains(&path), timed && !nothing, "{path}: {value}");
            }
            assert_eq!(nominal.paced(7, 7).as_ref(), Ok(&nominal));
        }
    }

    #[test]
    fn a_slow_clock_by_100_ppm() {
        let (_, slow) = paced(Kind::Switch, 1_000_100);
        let at = |path: &str| slow.get(path).expect("a value");
        assert_eq!(at("pfcwd.detection_time"), "200.02ms");
        assert_eq!(at("forwarding_delay"), "600.06ns");
        assert_eq!(at("pfc.quanta"), "65535q");
        let (mut nominal, _) = paced(Kind::Nic, 1_000_100);
        let timeout = crate::Setting { path: "nic.rc.timeout".to_owned(), value: 14.into() };
        nominal = nominal.with(&timeout).expect("a code");
        let slow = nominal.paced(1_000_100, 1_000_000).expect("times that may be");
        // 4.096 us x 2^14 = 67.108864 ms; 0.4 ps are rounded down.
        assert_eq!(slow.get("nic.rc.timeout"), Some("67.115574886ms".into()));
        let rate = Dur(40_000_000).scaled(1_000_000, 1_000_100).0;
        let slow_rate = L2Rate { bps: rate }.to_string();
        assert_eq!(slow.get("nic.rp.ai_rate"), Some(slow_rate.into()));
    }

    #[test]
    fn what_may_be_seen_of_a_range_is_wider_by_both_clocks() {
        let apart = Apart::of(Ppm(100), Ppm(0));
        let nominal = sample(Kind::Switch).expect("rows that fit");
        assert_eq!(nominal.seen(Apart::NOT).as_ref(), Ok(&nominal));
        let seen = nominal.seen(apart).expect("times that may be");
        assert_eq!(
            nominal.differences(&seen),
            ["clock", "forwarding_delay", "pfc.refresh", "pfc.response"]
        );
        let response = seen.range("pfc.response").expect("a range");
        // 2.02 us: 202 ps less, and 2.02 us / 0.9999.
        assert_eq!((response.least(), response.most()), (Dur(2_019_798), Dur(2_020_203)));
    }

    #[test]
    fn a_timer_may_be_seen_to_run_out_sooner_and_later() {
        let apart = Apart::of(Ppm(100), Ppm(100));
        let of = |timeout: AckTimeout, late: Option<Within>| {
            let mut rc = Rc { timeout, timeout_late: late, ..crate::Nic::usual().rc };
            rc.see(apart);
            (rc.timeout, rc.timeout_late.map(|late| (late.least(), late.most())))
        };
        let time = |time| AckTimeout::Time(time);
        // 100 us: 20 ns less, and 20.005 ns more.
        let exact = of(time(Dur::us(100)), Some(Within::ZERO));
        assert_eq!(exact, (time(Dur::ns(99_980)), Some((Dur::ZERO, Dur(40_005)))));
        let (waits, late) = of(time(Dur::us(100)), None);
        let late = late.expect("a range");
        assert_eq!((waits, late.0), (time(Dur::ns(99_980)), Dur::ZERO));
        assert!(late.1 > Dur::us(300) && late.1 < Dur::ns(300_200), "{}", late.1);
        assert_eq!(of(AckTimeout::NEVER, None), (AckTimeout::NEVER, None));
        // What it may be late by in proportion is of the longest that may be seen, a tenth of 100.020005 us: so much that is more than a tenth of 99.98 us
        // is late without it.
        let (timeout, timeout_late) = (time(Dur::us(100)), Some(Within::ZERO));
        let share = Some(Ppm(100_000));
        let usual = crate::Nic::usual().rc;
        let mut rc = Rc { timeout, timeout_late, timeout_late_share: share, ..usual };
        rc.see(apart);
        let most = rc.timeout_late.map(Within::most);
        assert_eq!((most, rc.timeout_late_share), (Some(Dur(40_005 + 4_000)), share));
    }
}
