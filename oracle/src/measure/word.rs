//! What a device says to a sender, and how soon after the frame that made it say so.

use super::blame;
use super::judge_context::TrialReading;
use super::judged::{Unread, looked};
use crate::Prediction;
use crate::trials::trial::Trial;
use rig_capture::analyse::{self, Delay, PfcSignal};
use rig_capture::{Span, What};
use rig_lab::{Switch, SwitchingMode};
use rig_units::Dur;

/// A word, and the frames of which one made the device say it, counted from 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Word {
    signal: PfcSignal,
    of: Span,
    /// When a frame has come.
    mode: SwitchingMode,
}

impl Word {
    /// XOFF, which follows one of these frames as it comes in.
    pub(super) const fn xoff(declared: &Switch, of: Span) -> Word {
        Word { signal: PfcSignal::Xoff, of, mode: declared.switching_mode }
    }

    /// XON, which follows one of these frames as it leaves.
    pub(super) const fn xon(of: Span) -> Word {
        Word { signal: PfcSignal::Xon, of, mode: SwitchingMode::StoreAndForward }
    }

    /// How soon it follows the frame of several that it may be by the declared margin: the one that it follows as it should. Where there is none, a
    /// word that is too late is told from the last of them, and one that is too early from the first. Beside it, how much both stamps leave open.
    pub(super) fn told(
        &self,
        trial: &Trial,
        index: u16,
        want: impl Fn(u64) -> Prediction,
    ) -> Result<(TrialReading, Dur), Unread> {
        let of = self.of;
        let (last, open) = self.told_by(trial, index, of.hi, want(of.hi))?;
        // After the last of them, and yet too early for it, it may follow another.
        let is_late = last.got.is_none() && last.span.lo > last.want.span.hi;
        if of.lo == of.hi || last.span.meets(last.want.span) || is_late {
            return Ok((last, open));
        }
        let mut first = None;
        for n in of.lo..of.hi {
            let (read, open) = self.told_by(trial, index, n, want(n))?;
            if read.span.meets(read.want.span) {
                return Ok((read, open));
            }
            first = first.or(Some((read, open)));
        }
        Ok(first.unwrap_or((last, open)))
    }

    /// How soon it follows the `n`-th frame of a stream, counted from 1.
    fn told_by(
        &self,
        trial: &Trial,
        index: u16,
        n: u64,
        want: Prediction,
    ) -> Result<(TrialReading, Dur), Unread> {
        let Word { signal: word, mode, .. } = *self;
        let nth = usize::try_from(n - 1).unwrap_or(usize::MAX);
        let telling =
            analyse::pfc_latency(&trial.observation, &trial.script, index, (word, nth), mode);
        // Of a load not every frame is recorded: the n-th that is may be a later one.
        let partial = trial.observation.partial(index);
        let is_it = |frame: usize| match trial.observation.records[frame].what {
            What::Data { seq, .. } => u64::from(seq) + 1 == n,
            _ => false,
        };
        let Some(telling) = telling.filter(|one| !partial || is_it(one.frame)) else {
            let why = format!("frame {n}, on which it depends, was not recorded");
            return Err(trial.doubt(&why).into());
        };
        let name = if word == PfcSignal::Xoff { "XOFF" } else { "XON" };
        let never = Span::exactly(u64::MAX);
        let (span, got) = match telling.signal {
            None => {
                let (port, class) = (
                    trial.script.streams[usize::from(index)].from,
                    trial.script.streams[usize::from(index)].class,
                );
                let other = blame::other_class(trial, port, class);
                let other = other.map(|other| format!("; {other}")).unwrap_or_default();
                (never, Some(format!("no {name}{other}")))
            }
            Some((_, Delay::Early(early))) => {
                (never, Some(format!("{name} {early} before frame {n}")))
            }
            Some((_, Delay::After(span))) => (span, None),
        };
        let records = core::iter::once(telling.frame).chain(telling.signal.map(|(index, _)| index));
        let looked = looked(1, "crossings");
        let open = telling.open;
        Ok((TrialReading { span, want, got, records: records.collect(), looked }, open))
    }
}
