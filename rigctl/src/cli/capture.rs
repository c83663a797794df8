//! The flags that say what of a capture to disk is kept.

use clap::{Args, ValueEnum};
use rig_capture::deep::FrameKind;
use rig_units::Bytes;

/// What of a capture to disk is kept; the same for a run and for streams by hand.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Capture")]
pub struct CaptureFlags {
    /// Keep so many bytes of each frame, from its first on, such as 128B; without it all of them.
    #[arg(long, value_name = "SIZE", requires = "capture", value_parser = snap)]
    pub capture_snap: Option<Bytes>,
    /// Keep these kinds of frames only; may be given several times.
    #[arg(long, value_name = "KIND", value_enum, requires = "capture")]
    pub capture_only: Vec<CaptureKind>,
    /// Write so many bytes of frames at most, all files together, such as 2GB; without it nine tenths of what is free on
    /// that disk. What comes then is counted, not kept, and it is said how much.
    #[arg(long, value_name = "SIZE", requires = "capture")]
    pub capture_limit: Option<Bytes>,
}

/// Kinds of frames, as a filter tells them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CaptureKind {
    /// MAC Control: PFC, and PAUSE of 802.3x.
    Pfc,
    /// RoCEv2: UDP to port 4791.
    Data,
    /// Everything else.
    Other,
}

impl CaptureKind {
    /// The same as the capture knows it.
    pub const fn kind(self) -> FrameKind {
        match self {
            CaptureKind::Pfc => FrameKind::Pfc,
            CaptureKind::Data => FrameKind::Data,
            CaptureKind::Other => FrameKind::Other,
        }
    }
}

/// A snap length: below an Ethernet header nothing can be told of a frame.
fn snap(text: &str) -> Result<Bytes, String> {
    const LEAST: Bytes = Bytes(14);
    let snap: Bytes = text.parse().map_err(|why: rig_units::BadQuantity| why.to_string())?;
    if snap < LEAST {
        return Err(format!("want {LEAST} or more: the Ethernet header"));
    }
    Ok(snap)
}
