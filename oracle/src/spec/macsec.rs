//! What a port that speaks MACsec makes of the frames that it receives (IEEE 802.1AE 10.6), frame by frame in closed form.
//!
//! The fate of a frame follows from its tag, from the greatest packet number M of those that were valid before it on its
//! association, and from the window W: it is late when its number lies below M + 1 - W. Nothing is remembered beside M.

use rig_capture::DutCounter;
use rig_lab::{Macsec, PfcMode, Reception};
use rig_testcases::{Secured, Tamper};
use rig_units::Time;
use std::collections::BTreeMap;

/// Where the forms come from, for reports.
pub const SOURCE: &str = "IEEE 802.1AE-2018 clause 10.6, 10.7.9; SONiC pfc_encryption_mode";

/// A frame as it reached the port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// When its last bit did.
    pub at: Time,
    /// Its tag; `None`: in clear.
    pub secured: Option<Secured>,
    /// Whether it is PFC.
    pub pfc: bool,
}

/// What becomes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// In clear, and past the SecY: PFC that is obeyed.
    Past,
    /// In clear, and refused.
    NoTag,
    /// Its tag makes no sense.
    BadTag,
    /// Its channel is not known.
    NoSci,
    /// Its association is not in use.
    NotUsingSa,
    /// It is older than the window.
    Late,
    /// The same, and let through because nobody protects against replay.
    Delayed,
    /// Its ICV is wrong.
    NotValid,
    /// Valid.
    Ok,
}

impl Fate {
    /// Those that a counter tells of.
    pub const COUNTED: [Fate; 8] = [
        Fate::NoTag,
        Fate::BadTag,
        Fate::NoSci,
        Fate::NotUsingSa,
        Fate::Late,
        Fate::Delayed,
        Fate::NotValid,
        Fate::Ok,
    ];

    /// The counter that tells of it; `None`: none of the SecY's.
    pub const fn counter(self) -> Option<DutCounter> {
        Some(match self {
            Fate::Past => return None,
            Fate::NoTag => DutCounter::MacsecNoTag,
            Fate::BadTag => DutCounter::MacsecBadTag,
            Fate::NoSci => DutCounter::MacsecNoSci,
            Fate::NotUsingSa => DutCounter::MacsecNotUsingSa,
            Fate::Late => DutCounter::MacsecLate,
            Fate::Delayed => DutCounter::MacsecDelayed,
            Fate::NotValid => DutCounter::MacsecNotValid,
            Fate::Ok => DutCounter::MacsecOk,
        })
    }

    /// Whether what was in the frame comes through.
    pub const fn passes(self) -> bool {
        matches!(self, Fate::Past | Fate::Delayed | Fate::Ok)
    }
}

/// What becomes of a PFC frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// What its tag comes to.
    pub fate: Fate,
    /// Whether it pauses; `false` for data.
    pub pauses: bool,
    /// Whether it is an error of the port.
    pub error: bool,
}

/// What becomes of PFC frames in clear, and of protected ones: as the mode says, unless a form has a setting of its own.
pub fn receptions(macsec: &Macsec) -> (Reception, Reception) {
    use Reception::{Bad, Honour, Ignore};
    let (clear, encrypted) = match macsec.pfc_encryption_mode {
        PfcMode::Bypass => (Honour, Ignore),
        PfcMode::Encrypt => (Honour, Honour),
        PfcMode::StrictEncrypt => (Ignore, Honour),
        PfcMode::ClearOnly => (Honour, Bad),
        PfcMode::EncryptedOnly => (Bad, Honour),
    };
    (macsec.pfc_clear.unwrap_or(clear), macsec.pfc_encrypted.unwrap_or(encrypted))
}

/// What a port is configured to, and from when on. The first is from the start.
pub type Epochs = [(Time, Macsec)];

/// What becomes of every frame, in the order in which they came.
pub fn outcomes(epochs: &Epochs, arrivals: &[Arrival]) -> Vec<Outcome> {
    let mut seen = ReplayState::default();
    let mut current = 0;
    arrivals
        .iter()
        .map(|arrival| {
            while epochs.get(current + 1).is_some_and(|(from, _)| *from <= arrival.at) {
                seen.rekeyed(epochs[current].1.encoding_sa, epochs[current + 1].1.encoding_sa);
                current += 1;
            }
            outcome(&epochs[current].1, arrival, &mut seen)
        })
        .collect()
}

/// What the frames before one have left.
#[derive(Debug, Default)]
struct ReplayState {
    /// The greatest valid packet number of each association.
    greatest: BTreeMap<u8, u64>,
    /// The association before the one in use.
    before: Option<u8>,
}

impl ReplayState {
    /// A new association begins with nothing seen; the one before it stays in use.
    fn rekeyed(&mut self, from: u8, to: u8) {
        if from != to {
            self.before = Some(from);
            self.greatest.remove(&to);
        }
    }
}

fn outcome(macsec: &Macsec, arrival: &Arrival, seen: &mut ReplayState) -> Outcome {
    let by = |reception: Reception, fate: Fate| Outcome {
        fate,
        pauses: arrival.pfc && fate.passes() && reception == Reception::Honour,
        error: arrival.pfc && reception == Reception::Bad && (fate.passes() || fate == Fate::NoTag),
    };
    let (clear, encrypted) = receptions(macsec);
    match &arrival.secured {
        None if arrival.pfc && clear == Reception::Honour => by(clear, Fate::Past),
        None => by(clear, Fate::NoTag),
        Some(secured) => by(encrypted, tagged(macsec, secured, seen)),
    }
}

/// What a tag comes to. The first check that fails tells.
fn tagged(macsec: &Macsec, secured: &Secured, seen: &mut ReplayState) -> Fate {
    let Secured { an, pn, tamper, .. } = *secured;
    let in_use = an == macsec.encoding_sa || Some(an) == seen.before;
    let late = seen
        .greatest
        .get(&an)
        .is_some_and(|greatest| pn + u64::from(macsec.replay_window) < greatest + 1);
    let checks = [
        (tamper == Some(Tamper::Truncated) || pn == 0, Fate::BadTag),
        (tamper == Some(Tamper::WrongSci), Fate::NoSci),
        (!in_use, Fate::NotUsingSa),
        (late && macsec.enable_replay_protect, Fate::Late),
        (tamper.is_some(), Fate::NotValid),
    ];
    if let Some((_, fate)) = checks.into_iter().find(|(fails, _)| *fails) {
        return fate;
    }
    let greatest = seen.greatest.entry(an).or_insert(pn);
    *greatest = pn.max(*greatest);
    if late { Fate::Delayed } else { Fate::Ok }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Macsec {
        Macsec {
            enable: true,
            enable_replay_protect: true,
            replay_window: 2,
            pfc_encryption_mode: PfcMode::Encrypt,
            ..Macsec::off()
        }
    }

    fn data(at: u64, an: u8, pn: u64, tamper: Option<Tamper>) -> Arrival {
        let secured = Secured { an, pn, encrypted: true, sci: true, tamper };
        Arrival { at: Time(at), secured: Some(secured), pfc: false }
    }

    fn fates(epochs: &Epochs, arrivals: &[Arrival]) -> Vec<Fate> {
        outcomes(epochs, arrivals).into_iter().map(|outcome| outcome.fate).collect()
    }

    #[test]
    fn a_frame_is_late_below_the_greatest_number_and_one_less_the_window() {
        // After 10 with a window of 2: 9 is 11 - 2, the last that may come; 8 is late. 12 moves the window to 11.
        let came = [10, 9, 8, 9, 12, 10, 11].map(|pn| data(0, 0, pn, None));
        let want = [Fate::Ok, Fate::Ok, Fate::Late, Fate::Ok, Fate::Ok, Fate::Late, Fate::Ok];
        assert_eq!(fates(&[(Time(0), config())], &came), want);
        let open = Macsec { enable_replay_protect: false, ..config() };
        let want = [Fate::Ok, Fate::Ok, Fate::Delayed, Fate::Ok, Fate::Ok, Fate::Delayed, Fate::Ok];
        assert_eq!(fates(&[(Time(0), open)], &came), want);
        let none = Macsec { replay_window: 0, ..config() };
        let twice = [5, 5].map(|pn| data(0, 0, pn, None));
        assert_eq!(fates(&[(Time(0), none)], &twice), [Fate::Ok, Fate::Late]);
    }

    #[test]
    fn the_first_check_that_fails_tells() {
        let came = [
            data(0, 0, 10, None),
            data(0, 0, 1, Some(Tamper::Forged)),
            data(0, 0, 11, Some(Tamper::Forged)),
            data(0, 0, 12, Some(Tamper::WrongKey)),
            data(0, 2, 13, Some(Tamper::Forged)),
            data(0, 2, 1, Some(Tamper::WrongSci)),
            data(0, 0, 0, None),
            data(0, 0, 14, Some(Tamper::Truncated)),
            // What was not valid does not move the window.
            data(0, 0, 10, None),
        ];
        let want = [
            Fate::Ok,
            Fate::Late,
            Fate::NotValid,
            Fate::NotValid,
            Fate::NotUsingSa,
            Fate::NoSci,
            Fate::BadTag,
            Fate::BadTag,
            Fate::Ok,
        ];
        assert_eq!(fates(&[(Time(0), config())], &came), want);
    }

    #[test]
    fn at_a_rekey_the_association_before_stays_in_use_and_the_new_one_begins_anew() {
        let rekeyed = Macsec { encoding_sa: 1, ..config() };
        let again = Macsec { encoding_sa: 0, ..config() };
        let epochs = [(Time(0), config()), (Time(10), rekeyed), (Time(20), again)];
        let came = [
            data(1, 1, 1, None),
            data(2, 0, 9, None),
            data(10, 0, 10, None),
            data(11, 1, 1, None),
            data(12, 2, 1, None),
            data(20, 0, 1, None),
            data(21, 1, 2, None),
        ];
        let want =
            [Fate::NotUsingSa, Fate::Ok, Fate::Ok, Fate::Ok, Fate::NotUsingSa, Fate::Ok, Fate::Ok];
        assert_eq!(fates(&epochs, &came), want);
    }

    #[test]
    fn each_mode_says_what_is_obeyed_unless_a_form_has_a_setting_of_its_own() {
        use Reception::{Bad, Honour, Ignore};
        for (mode, want) in [
            (PfcMode::Bypass, (Honour, Ignore)),
            (PfcMode::Encrypt, (Honour, Honour)),
            (PfcMode::StrictEncrypt, (Ignore, Honour)),
            (PfcMode::ClearOnly, (Honour, Bad)),
            (PfcMode::EncryptedOnly, (Bad, Honour)),
        ] {
            let macsec = Macsec { pfc_encryption_mode: mode, ..config() };
            assert_eq!(receptions(&macsec), want, "{mode:?}");
            let own = Macsec { pfc_clear: Some(Ignore), pfc_encrypted: Some(Bad), ..macsec };
            assert_eq!(receptions(&own), (Ignore, Bad), "{mode:?}");
        }
    }

    #[test]
    fn pfc_pauses_as_the_mode_says_of_its_form() {
        let clear = Arrival { at: Time(0), secured: None, pfc: true };
        let tagged = Arrival { pfc: true, ..data(0, 0, 1, None) };
        let forged = Arrival { pfc: true, ..data(0, 0, 1, Some(Tamper::Forged)) };
        let of = |mode: PfcMode, arrival: Arrival| {
            let macsec = Macsec { pfc_encryption_mode: mode, ..config() };
            let Outcome { fate, pauses, error } = outcomes(&[(Time(0), macsec)], &[arrival])[0];
            (fate, pauses, error)
        };
        assert_eq!(of(PfcMode::Bypass, clear), (Fate::Past, true, false));
        assert_eq!(of(PfcMode::Bypass, tagged), (Fate::Ok, false, false));
        assert_eq!(of(PfcMode::Encrypt, clear), (Fate::Past, true, false));
        assert_eq!(of(PfcMode::Encrypt, tagged), (Fate::Ok, true, false));
        assert_eq!(of(PfcMode::StrictEncrypt, clear), (Fate::NoTag, false, false));
        assert_eq!(of(PfcMode::ClearOnly, tagged), (Fate::Ok, false, true));
        assert_eq!(of(PfcMode::EncryptedOnly, clear), (Fate::NoTag, false, true));
        assert_eq!(of(PfcMode::EncryptedOnly, forged), (Fate::NotValid, false, false));
        let data = Arrival { pfc: false, ..clear };
        assert_eq!(of(PfcMode::EncryptedOnly, data), (Fate::NoTag, false, false));
    }
}
