//! The figures of sending as text for people.

use super::super::rounds::Rounds;
use super::{Measured, Tx};
use core::fmt;

impl fmt::Display for Tx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:>12} frames a second of one port, {} a call, {} rounds: median (least to greatest)",
            "Bench", self.batch, self.rounds
        )?;
        self.host.fmt(f)?;
        writeln!(f, "{:>12} {}; AF_XDP", "Ports", self.ports)?;
        if let Some(version) = &self.testpmd {
            writeln!(
                f,
                "{:>12} testpmd txonly over net_af_xdp, {version}, taking turns",
                "Beside"
            )?;
        }
        self.sizes.iter().try_for_each(|size| size.fmt(f))?;
        writeln!(
            f,
            "{:>12} sizes count the FCS; own frames differ from one to the next and have a right ICRC",
            "Note"
        )
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = |rate: u64| rate * (self.bytes + 20) * 8;
        let carries = if self.stamped { "PSN, number and time" } else { "PSN" };
        let Rounds { median, .. } = self.frames_per_s;
        writeln!(
            f,
            "{:>12} {} Mpps, {} ns a frame, {} Gbps-L1; each with {carries}",
            format!("{}B", self.bytes),
            mega(&self.frames_per_s),
            self.ps_per_frame.median / 1_000,
            thousandths(bits(median) / 1_000_000)
        )?;
        match self.checked {
            Some(checked) => writeln!(f, "{:>12} {checked} frames read back whole before", "")?,
            None => writeln!(f, "{:>12} no frame was read back: the other end is not known", "")?,
        }
        if self.lost + self.unaccounted > 0 {
            let Measured { lost, unaccounted, .. } = self;
            writeln!(
                f,
                "{:>12} {lost} frames lost; the kernel's count differs by {unaccounted}",
                ""
            )?;
        }
        if let (Some(testpmd), Some(ratio)) = (&self.testpmd_frames_per_s, &self.ratio) {
            let Rounds { median, min, max } = *ratio;
            let wanted = self.wanted.unwrap_or(100);
            let met = if median >= wanted * 100 { "met" } else { "MISSED" };
            writeln!(f, "{:>12} testpmd {} Mpps", "", mega(testpmd))?;
            writeln!(
                f,
                "{:>12} {} of it ({} to {}), wanted {}: {met}",
                "",
                share(median),
                share(min),
                share(max),
                share(wanted * 100)
            )?;
        }
        if let (Some(alone), Some(ratio)) = (&self.one_queue_frames_per_s, &self.ratio_to_one_queue)
        {
            let Rounds { median, min, max } = *ratio;
            writeln!(f, "{:>12} one queue alone {} Mpps", "", mega(alone))?;
            writeln!(f, "{:>12} {} of it ({} to {})", "", share(median), share(min), share(max))?;
        }
        Ok(())
    }
}

fn mega(Rounds { median, min, max }: &Rounds) -> String {
    let mega = |n: &u64| thousandths(n / 1_000);
    format!("{} ({} to {})", mega(median), mega(min), mega(max))
}

/// With three digits behind the point.
fn thousandths(n: u64) -> String {
    format!("{}.{:03}", n / 1_000, n % 1_000)
}

/// Of hundredths of a percent.
fn share(n: u64) -> String {
    format!("{}.{:04}", n / 10_000, n % 10_000)
}
