//! The figures of pacing as text for people.

use super::storm::Covered;
use super::{Measured, Ns, P50, P50_TO_FLOOR, P90, P90_TO_FLOOR, Pacing};
use core::fmt;
use rig_units::{Dur, PortSpeed};

impl fmt::Display for Pacing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:>12} gap error of paced frames in ns: medians over {} interleaved pairs of floor and sending",
            "Bench", self.pairs
        )?;
        self.host.fmt(f)?;
        writeln!(f, "{:>12} {}; {}", "Ports", self.ports, self.port)?;
        let awake = Dur::ns(self.awake_ns);
        writeln!(f, "{:>12} from {awake} before a frame is due: what sleeps end late by", "Awake")?;
        writeln!(f, "{:>12} {:<16} {}", "Gap", "", Ns::head())?;
        self.gaps.iter().try_for_each(|gap| gap.fmt(f))?;
        if let Some(version) = &self.python {
            writeln!(
                f,
                "{:>12} {version}: a raw socket that sends and sleeps, on the same processor, with the usual scheduling",
                "Beside"
            )?;
        }
        for held in &self.storms {
            let speed = PortSpeed::from_bps(held.bps).map(|speed| speed.to_string());
            writeln!(
                f,
                "{:>12} {} port, a pause of {} refreshed every {}",
                "Storm",
                speed.unwrap_or_default(),
                Dur::ns(held.pause_ns),
                Dur::ns(held.every_ns)
            )?;
            covered(f, "sent", &held.sent)?;
            if let Some(arrived) = &held.arrived {
                covered(f, "arrived", arrived)?;
            }
            if let Some(python) = &held.python {
                covered(f, "Python's", python)?;
            }
            writeln!(f, "{:>12} the worst round: {}", "Kept off", held.kept_off)?;
        }
        writeln!(
            f,
            "{:>12} p50 and p90 are bounded; p99 and above are the machine's, and stand beside its floor",
            "Note"
        )
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gap = Dur::ns(self.gap_ns).to_string();
        row(f, &gap, "floor", &self.floor_error)?;
        row(f, "", "sent", &self.sent_error)?;
        if let Some(received) = &self.received_error {
            row(f, "", "arrived", received)?;
        }
        row(f, "", "floor, late by", &self.floor_late)?;
        row(f, "", "sent, late by", &self.sent_late)?;
        writeln!(f, "{:>12} the worst floor: {}", "Kept off", self.floor_kept_off)?;
        writeln!(f, "{:>12} the worst burst: {}", "", self.sent_kept_off)?;
        match self.arrived {
            Some(arrived) => writeln!(f, "{:>12} {arrived} of {} frames arrived", "", self.sent)?,
            None => writeln!(f, "{:>12} {} frames sent", "", self.sent)?,
        }
        let times = |percent: u64| format!("{}.{:02}", percent / 100, percent % 100);
        let mark = |met: bool| if met { "met" } else { "MISSED" };
        writeln!(
            f,
            "{:>12} p50 <= {P50}: {}; p90 <= {P90}: {}",
            "Wanted",
            mark(self.p50_met),
            mark(self.p90_met)
        )?;
        writeln!(
            f,
            "{:>12} p50 {} <= {} times the floor: {}; p90 {} <= {} times: {}",
            "",
            times(self.p50_to_floor_percent),
            times(P50_TO_FLOOR),
            mark(self.p50_to_floor_met),
            times(self.p90_to_floor_percent),
            times(P90_TO_FLOOR),
            mark(self.p90_to_floor_met)
        )
    }
}

fn row(f: &mut fmt::Formatter<'_>, gap: &str, what: &str, ns: &Ns) -> fmt::Result {
    writeln!(f, "{gap:>12} {what:<16} {}", ns.row())
}

fn covered(f: &mut fmt::Formatter<'_>, what: &str, of: &Covered) -> fmt::Result {
    let Covered { frames, covered_ppm, least_covered_ppm, lapses, longest_gap_ns } = of;
    let percent = |ppm: &u64| format!("{}.{:04} %", ppm / 10_000, ppm % 10_000);
    writeln!(
        f,
        "{:>12} {what:<8} {frames} frames, {} covered (at least {}), {lapses} lapses, longest gap {}",
        "",
        percent(covered_ppm),
        percent(least_covered_ppm),
        Dur::ns(*longest_gap_ns)
    )
}
