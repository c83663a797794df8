//! Frames that a NIC sends with an ICRC that does not fit. Whoever gets one throws it away: what it says is said to nobody, and nothing
//! else is judged by it.

use super::super::judge_context::TrialReading;
use super::super::judged::{Unread, looked};
use super::{Passage, end};
use crate::Prediction;
use crate::judge::answers::NOT_MEASURED;
use crate::trials::trial::Trial;
use crate::verdict::Doubt;
use rig_capture::{Span, Unit};
use rig_testcases::RoceKind;

/// Spoilt ones among the frames of one kind.
pub(super) struct Spoilt {
    of: &'static str,
    all: usize,
    records: Vec<usize>,
    /// Other devices may have spoilt them.
    relayed: bool,
}

/// What the NIC sends on a connection as its payload, if some of it is spoilt.
pub(super) fn data(seen: &Passage<'_>, connection: u16) -> Option<Spoilt> {
    let is = |kind| matches!(kind, RoceKind::Data { .. });
    among(seen, "packets of data", |of, kind| of == connection && is(kind))
}

/// What it says to what it receives on a connection, if some of it is spoilt: of a READ its requests.
pub(super) fn answers(seen: &Passage<'_>, connection: u16) -> Option<Spoilt> {
    let is = |kind| end::says(kind).is_some() || kind == RoceKind::ReadRequest;
    among(seen, "answers and requests", |of, kind| of == connection && is(kind))
}

/// Its CNPs, if some are spoilt.
pub(super) fn cnps(seen: &Passage<'_>) -> Option<Spoilt> {
    among(seen, "CNPs", |_, kind| matches!(kind, RoceKind::Cnp { .. }))
}

/// Nothing is read off what came of a connection whose frames another device may have spoilt.
pub(super) fn by_whom(trial: &Trial, seen: &Passage<'_>, connection: u16) -> Result<(), Doubt> {
    let spoilt = data(seen, connection).or_else(|| answers(seen, connection));
    let told = spoilt.filter(|spoilt| spoilt.relayed).map(|spoilt| spoilt.untold(trial));
    told.map_or(Ok(()), Err)
}

/// Nothing of when CNPs come is read off them where some are spoilt.
pub(super) fn none_of_cnps(trial: &Trial, seen: &Passage<'_>) -> Result<(), Doubt> {
    let Some(spoilt) = cnps(seen) else { return Ok(()) };
    let why = format!("{}: nobody takes what they say", spoilt.told());
    Err(Doubt { reason: NOT_MEASURED, ..trial.doubt(&why) })
}

fn among(
    seen: &Passage<'_>,
    of: &'static str,
    is: impl Fn(u16, RoceKind) -> bool,
) -> Option<Spoilt> {
    let own = seen.left.iter().filter(|one| is(one.roce.connection, one.roce.kind));
    let (mut all, mut records) = (0, Vec::new());
    for one in own {
        all += 1;
        records.extend(one.roce.corrupt.then_some(one.record));
    }
    (!records.is_empty()).then_some(Spoilt { of, all, records, relayed: seen.relayed })
}

impl Spoilt {
    fn told(&self) -> String {
        let Spoilt { of, all, records, relayed } = self;
        let way = match relayed {
            true => "came with an ICRC that does not fit",
            false => "left with an ICRC that does not fit",
        };
        format!("{} of {all} {of} {way}", records.len())
    }

    /// That nobody can tell who it was.
    fn untold(&self, trial: &Trial) -> Doubt {
        let why = "the NIC may have sent them so, or a device between spoilt them: no frame says which, and what they say is said to nobody";
        trial.doubt(&format!("{}: {why}", self.told()))
    }

    /// That none may be, and that some are.
    ///
    /// # Errors
    /// Where other devices pass on what the NIC sends: nobody can tell by a frame which of them spoilt it.
    pub(super) fn read(self, trial: &Trial) -> Result<TrialReading, Unread> {
        if self.relayed {
            return Err(self.untold(trial).into());
        }
        let got = Some(self.told());
        let count = u64::try_from(self.records.len()).unwrap_or(u64::MAX);
        let want = Prediction {
            unit: Unit::Count,
            span: Span::exactly(0),
            formula: "",
            text: format!("{} with an ICRC that fits, each of them", self.of),
            source: "IBTA volume 1, 7.8.1 and annex A17",
        };
        let looked = looked(self.all, self.of);
        Ok(TrialReading { span: Span::exactly(count), want, got, records: self.records, looked })
    }
}
