//! The summary of streams sent by hand.

use super::spec::Stream;
use super::tally::{Count, LATE};
use crate::commands::figures::Ns;
use crate::commands::machine::Host;
use crate::to_disk::Told;
use core::fmt;
use rig_units::Dur;
use serde::Serialize;

/// The summary.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) format: &'static str,
    /// The interface or the file.
    pub(super) to: String,
    /// Bits a second of the port.
    pub(super) speed_bps: u64,
    pub(super) obeys_pfc: bool,
    /// From the first instant to the end, in nanoseconds.
    pub(super) took_ns: u64,
    pub(super) interrupted: bool,
    pub(super) streams: Vec<Sent>,
    /// Classes that were paused, longest first.
    pub(super) paused: Vec<Paused>,
    /// What only a port has.
    pub(super) wire: Option<Wire>,
    /// What went onto the disk beside it.
    pub(super) capture: Option<Told>,
}

/// One stream.
#[derive(Debug, Serialize)]
pub(super) struct Sent {
    pub(super) name: String,
    pub(super) kind: &'static str,
    /// FCS counted.
    pub(super) bytes: u64,
    pub(super) class: Option<u8>,
    pub(super) sent: u64,
    /// Handed over more than 10 us after they were due.
    pub(super) late: u64,
    /// Left out after a stall of the machine.
    pub(super) skipped: u64,
    /// Mean gap asked for.
    pub(super) gap_ns: u64,
    /// How far gaps were from the planned ones.
    pub(super) gap_error: Ns,
    pub(super) late_by: Ns,
}

/// A class that was paused.
#[derive(Debug, Serialize)]
pub(super) struct Paused {
    pub(super) class: u8,
    pub(super) ns: u64,
}

/// What only a port has.
#[derive(Debug, Serialize)]
pub(super) struct Wire {
    pub(super) host: Host,
    pub(super) port: String,
    /// What the machine itself allowed right before, at this gap.
    pub(super) floor_gap_ns: u64,
    pub(super) floor_error: Ns,
    /// The thread stopped sleeping so long before a frame was due: what its sleeps ended late by.
    pub(super) awake_ns: u64,
    /// Frames that the port took and threw away.
    pub(super) lost: u64,
    pub(super) received: u64,
    /// Whether the thread hardly slept: then the kernel stops it for 50 ms in every second.
    pub(super) spun: bool,
}

impl Sent {
    pub(super) fn of(stream: &Stream, count: &Count, skipped: u64) -> Sent {
        Sent {
            name: stream.name.clone(),
            kind: stream.kind,
            bytes: stream.size.0,
            class: stream.class,
            sent: count.sent,
            late: count.late,
            skipped,
            gap_ns: stream.mean.0 / 1_000,
            gap_error: count.kept.gaps.figures().into(),
            late_by: count.kept.lateness.figures().into(),
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Report { to, took_ns, .. } = self;
        let ended = if self.interrupted { ", then interrupted" } else { "" };
        writeln!(f, "{:>12} {to} for {}{ended}", "Sent to", rounded(*took_ns))?;
        if let Some(Wire { host, port, .. }) = &self.wire {
            host.fmt(f)?;
            let obeys = if self.obeys_pfc { "obeying PFC" } else { "PFC ignored" };
            writeln!(f, "{:>12} {port}, {obeys}", "Port")?;
        }
        for stream in &self.streams {
            let Sent { name, kind, bytes, sent, late, skipped, .. } = stream;
            let class = stream.class.map(|class| format!(", class {class}")).unwrap_or_default();
            writeln!(
                f,
                "{:>12} {name}: {kind} {bytes}B{class}: {sent} sent, {late} of them more than {LATE} late, {skipped} skipped",
                "Stream"
            )?;
        }
        for Paused { class, ns } in &self.paused {
            writeln!(f, "{:>12} class {class} for {}", "Paused", rounded(*ns))?;
        }
        let Some(wire) = &self.wire else { return Ok(()) };
        writeln!(f, "{:>12} {:<20} {}", "ns", "", Ns::head())?;
        let row = |f: &mut fmt::Formatter<'_>, what: &str, which: &str, ns: &Ns| {
            writeln!(f, "{what:>12} {which:<20} {}", ns.row())
        };
        for Sent { name, gap_error, late_by, .. } in &self.streams {
            row(f, name, "gap error", gap_error)?;
            row(f, name, "late by", late_by)?;
        }
        let gap = Dur::ns(wire.floor_gap_ns);
        row(f, "Floor", &format!("gap error at {gap}"), &wire.floor_error)?;
        if wire.lost > 0 {
            writeln!(f, "{:>12} {} frames that the port took and threw away", "Lost", wire.lost)?;
        }
        if wire.spun {
            writeln!(
                f,
                "{:>12} this machine wakes a thread {} late: gaps as short as these leave no time to sleep, and the kernel stops such a thread for 50 ms in every second",
                "Note",
                Dur::ns(wire.awake_ns)
            )?;
        }
        self.capture.iter().try_for_each(|told| told.fmt(f))
    }
}

/// To the microsecond.
fn rounded(ns: u64) -> Dur {
    Dur::us((ns + 500) / 1_000)
}
