//! What is told of a capture when it is over.

use super::Keeps;
use core::fmt;
use rig_capture::deep::{Ended, Summary, Why};
use rig_units::{Dur, Time};
use serde::Serialize;

/// How many frames passed, and how many of them are in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Told {
    /// The file that the frames went to.
    pub file: String,
    /// Frames that the rig sent.
    pub sent: u64,
    /// Frames that it received.
    pub received: u64,
    /// Frames in the file.
    pub recorded: u64,
    /// Of these, cut to the snap length.
    pub cut_short: u64,
    /// Frames of other kinds than were asked for.
    pub filtered_out: u64,
    /// Frames for which the disk was too slow.
    pub dropped: u64,
    /// Frames for which the file had ended.
    pub unwritten: u64,
    /// Frames lost at the port before they could be seen.
    pub missed: u64,
    /// Why frames are missing that were asked for, a sentence each.
    pub lacks: Vec<String>,
    #[serde(skip)]
    cut_to: String,
    #[serde(skip)]
    asked: String,
}

impl Told {
    /// What a capture came to that kept what `keeps` says.
    pub fn of(file: String, summary: &Summary, keeps: &Keeps) -> Told {
        let counts = summary.counts;
        let mut lacks = Vec::new();
        if counts.dropped > 0 {
            lacks.push(format!(
                "{} frames left out from {} on: the disk was slower than they came",
                counts.dropped,
                rounded(summary.dropped_from.unwrap_or_default())
            ));
        }
        if let Some(Ended { at, why }) = &summary.ended {
            let why = match why {
                Why::Limit => format!("the limit is reached ({})", keeps.most),
                Why::Refused(said) => said.clone(),
            };
            let from = rounded(*at);
            lacks.push(format!("{} frames left out from {from} on: {why}", counts.unwritten));
        }
        if counts.missed > 0 {
            lacks.push(format!(
                "{} frames lost at the port, before they could be seen",
                counts.missed
            ));
        }
        Told {
            file,
            sent: counts.sent,
            received: counts.received,
            recorded: counts.recorded,
            cut_short: counts.cut_short,
            filtered_out: counts.filtered_out,
            dropped: counts.dropped,
            unwritten: counts.unwritten,
            missed: counts.missed,
            lacks,
            cut_to: keeps.snap.map(|snap| snap.to_string()).unwrap_or_default(),
            asked: keeps.only.said().unwrap_or_default(),
        }
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Told { file, sent, received, recorded, cut_to, asked, .. } = self;
        write!(
            f,
            "{:>12} {file}: {sent} sent, {received} received, {recorded} recorded",
            "Capture"
        )?;
        if self.cut_short > 0 {
            write!(f, ", {} of them cut to {cut_to}", self.cut_short)?;
        }
        if self.filtered_out > 0 {
            write!(f, ", {} not {asked}", self.filtered_out)?;
        }
        writeln!(f)?;
        self.lacks.iter().try_for_each(|lack| writeln!(f, "{:>12} {lack}", "Lacks"))
    }
}

/// To the microsecond.
fn rounded(Time(ps): Time) -> Dur {
    Dur::us(ps / 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_capture::deep::{Counts, Limit, Only, Pool};
    use rig_units::Bytes;

    #[test]
    fn what_is_missing_is_told_with_since_when_and_why() {
        let keeps = Keeps {
            only: Only { pfc: true, data: true, other: false },
            snap: Some(Bytes(128)),
            limit: Limit::NONE,
            most: "2GB".to_owned(),
            pool: Pool::default(),
        };
        let at = |ms| Time::ZERO + Dur::ms(ms);
        let counts = Counts {
            sent: 500,
            received: 400,
            filtered_out: 4,
            recorded: 700,
            cut_short: 699,
            dropped: 96,
            unwritten: 100,
            missed: 3,
        };
        let mut summary = Summary {
            counts,
            dropped_from: Some(at(12)),
            ended: Some(Ended { at: at(340), why: Why::Limit }),
            bytes: 0,
        };
        let mut text = Told::of("a.pcapng".to_owned(), &summary, &keeps).to_string();
        let why = Why::Refused("No space left on device (os error 28)".to_owned());
        summary.ended = Some(Ended { at: at(350), why });
        (summary.dropped_from, summary.counts) = (None, Counts { dropped: 0, missed: 0, ..counts });
        text += &Told::of("b.pcapng".to_owned(), &summary, &keeps).to_string();
        (summary.ended, summary.counts) =
            (None, Counts { sent: 2, recorded: 2, ..Counts::default() });
        text += &Told::of("c.pcapng".to_owned(), &summary, &keeps).to_string();
        insta::assert_snapshot!(text);
    }
}
