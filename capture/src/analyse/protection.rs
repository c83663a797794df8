//! Rule `macsec.frames`: how the device protects what it sends (IEEE 802.1AE clause 9, 10.5).
//!
//! Packet numbers of an association grow by one from frame to frame. What was not recorded is not missed: who asks sees to it
//! that every frame was.

use crate::passage::start;
use crate::{Dir, Observation, Record, What};
use rig_testcases::{Form, Macsec, MacsecPolicy, Secured};
use rig_units::{Dur, Time};
use std::collections::BTreeMap;

/// The frames that a port of the device sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Protected {
    /// How many, protected or not.
    pub frames: u64,
    /// Those that are not as declared: the record, and what is wrong.
    pub odd: Vec<(usize, String)>,
}

/// Every frame that the rig's `port` received, against what the device was configured to at the time.
pub fn protection(observation: &Observation, port: u16, epochs: &[(Time, Macsec)]) -> Protected {
    let trace = &observation.ports[usize::from(port)];
    let mut seen = Protected::default();
    let mut numbers: BTreeMap<u8, u64> = BTreeMap::new();
    let mut before = None;
    for (index, record) in observation.records.iter().enumerate() {
        if (record.port, record.dir) != (port, Dir::Rx) {
            continue;
        }
        seen.frames += 1;
        let bound = trace.provenance.bound();
        // Protected as it began to leave: with its preamble, or with the gap before that.
        let began = start(trace, record.on_wire(), record.at);
        let near = Near {
            from: Time(began.lo).saturating_sub(bound),
            until: Time(began.hi) + Dur(1) + bound,
        };
        let fits = |macsec: &Macsec| wrong(macsec, record);
        let why = near.epochs(epochs).map(fits).reduce(Option::and).flatten();
        let why = why.or_else(|| {
            let secured = record.secured?;
            let anew = before.is_some_and(|an| an != secured.an);
            if anew {
                numbers.remove(&secured.an);
            }
            before = Some(secured.an);
            let first = near.epochs(epochs).map(|macsec| macsec.next_pn.unwrap_or(1));
            number(&secured, &mut numbers, if anew { first.collect() } else { Vec::new() })
        });
        seen.odd.extend(why.map(|why| (index, why)));
    }
    seen
}

/// When a frame may have left.
struct Near {
    from: Time,
    until: Time,
}

impl Near {
    /// What the device may have been configured to by then.
    fn epochs<'a>(&self, epochs: &'a [(Time, Macsec)]) -> impl Iterator<Item = &'a Macsec> {
        let Near { from, until } = *self;
        let current = epochs.iter().rposition(|(since, _)| *since <= from).unwrap_or(0);
        let near = epochs[current..].iter().enumerate();
        near.filter(move |(nth, (since, _))| *nth == 0 || *since <= until).map(|(_, (_, one))| one)
    }
}

/// What is wrong with the protection of a frame, its packet number aside.
fn wrong(macsec: &Macsec, record: &Record) -> Option<String> {
    let pfc = matches!(record.what, What::Pfc { .. } | What::BadPfc { .. });
    let tagged = !pfc || macsec.sent() == Form::Encrypted;
    let kind = if pfc { "PFC" } else { "data" };
    match (&record.secured, tagged) {
        (None, false) => None,
        (None, true) => Some(format!("{kind} in clear")),
        (Some(_), false) => Some(format!("{kind} behind a SecTAG")),
        (Some(secured), true) => {
            let encrypts = macsec.policy == MacsecPolicy::Security;
            let form = |encrypted: bool| if encrypted { "encrypted" } else { "not encrypted" };
            if let Some(tamper) = secured.tamper {
                Some(format!("{kind} that does not validate: {tamper:?}"))
            } else if secured.encrypted != encrypts {
                Some(format!("{kind} {}", form(secured.encrypted)))
            } else if secured.sci != macsec.send_sci {
                let with = if secured.sci { "with" } else { "without" };
                Some(format!("{kind} {with} an SCI"))
            } else if secured.an != macsec.encoding_sa {
                Some(format!("{kind} of association {}, not {}", secured.an, macsec.encoding_sa))
            } else {
                None
            }
        }
    }
}

/// What is wrong with the packet number of a frame: it follows the one before, and is one of `first` in an association that was
/// just begun: which of them is not known where the configuration has changed about then.
fn number(secured: &Secured, numbers: &mut BTreeMap<u8, u64>, first: Vec<u64>) -> Option<String> {
    let Secured { an, pn, .. } = *secured;
    let before = numbers.insert(an, pn);
    let want = before.map_or(first, |before| vec![before + 1]);
    let is_odd = !want.is_empty() && !want.contains(&pn);
    is_odd.then(|| format!("packet number {pn} of association {an}, not {}", want[0]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{CABLE, SIZE, Sample};
    use rig_testcases::Tamper;
    use rig_units::{Bytes, PortSpeed};

    const GOOD: Secured = Secured { an: 0, pn: 1, encrypted: true, sci: true, tamper: None };

    /// The frames that rig port 1 received, a microsecond apart, under these configurations.
    fn odd(frames: &[Option<Secured>], epochs: &[(Time, Macsec)]) -> Vec<(usize, String)> {
        let mut sample = Sample::new();
        for (seq, _) in (0..).zip(frames) {
            sample.arrives(seq, 1, Dur::us(u64::from(seq) + 1));
        }
        let (mut observation, _) = sample.done(Dur::us(99));
        for (record, secured) in observation.records.iter_mut().zip(frames) {
            record.secured = *secured;
        }
        let seen = protection(&observation, 1, epochs);
        assert_eq!(seen.frames, u64::try_from(frames.len()).expect("few"));
        seen.odd
    }

    fn on() -> Macsec {
        Macsec { enable: true, ..Macsec::off() }
    }

    /// The same as [`odd`] under one configuration, what is wrong alone.
    fn whys(frames: &[Option<Secured>]) -> Vec<String> {
        odd(frames, &[(Time::ZERO, on())]).into_iter().map(|(_, why)| why).collect()
    }

    #[test]
    fn frames_as_declared_whose_numbers_follow_one_another_are_right() {
        assert_eq!(whys(&[5, 6, 7].map(|pn| Some(Secured { pn, ..GOOD }))), [""; 0]);
    }

    #[test]
    fn each_part_of_the_protection_is_held_against_what_is_declared() {
        for (frame, why) in [
            (None, "data in clear"),
            (Some(Secured { encrypted: false, ..GOOD }), "data not encrypted"),
            (Some(Secured { sci: false, ..GOOD }), "data without an SCI"),
            (Some(Secured { an: 2, ..GOOD }), "data of association 2, not 0"),
            (
                Some(Secured { tamper: Some(Tamper::Forged), ..GOOD }),
                "data that does not validate: Forged",
            ),
        ] {
            assert_eq!(whys(&[frame]), [why]);
        }
    }

    #[test]
    fn a_number_that_is_left_out_or_comes_twice_is_odd() {
        let numbers = |all: [u64; 3]| all.map(|pn| Some(Secured { pn, ..GOOD }));
        assert_eq!(whys(&numbers([1, 2, 4])), ["packet number 4 of association 0, not 3"]);
        assert_eq!(whys(&numbers([1, 2, 2])), ["packet number 2 of association 0, not 3"]);
    }

    /// A device may put the gap behind a frame: its last bit is then seen sooner than a whole slot after it began.
    #[test]
    fn a_frame_that_began_within_a_gap_of_a_change_may_be_as_before_it_and_as_behind_it() {
        let slot = PortSpeed::G100.slot(Bytes(u64::from(SIZE) + u64::from(GOOD.overhead())));
        let change = |later: Dur| Time::ZERO + Dur::us(3) - CABLE - slot + later;
        let told = |an: u8, later: Dur| {
            let rekeyed = Macsec { encoding_sa: 1, next_pn: Some(7), ..on() };
            let frame = |an, pn| Some(Secured { an, pn, ..GOOD });
            let third = if an == 1 { frame(1, 7) } else { frame(0, 5) };
            odd(&[frame(0, 3), frame(0, 4), third], &[(Time::ZERO, on()), (change(later), rekeyed)])
        };
        for an in [0, 1] {
            assert_eq!(told(an, Dur(900)), [], "association {an}");
        }
        assert_eq!(told(0, Dur::ZERO).len(), 1);
        assert_eq!(told(1, Dur::ns(3)).len(), 1);
    }

    #[test]
    fn another_association_begins_with_its_first_number_once_it_is_declared() {
        let rekeyed = Macsec { encoding_sa: 1, next_pn: Some(7), ..on() };
        let epochs = [(Time::ZERO, on()), (Time::ZERO + Dur::us(2), rekeyed)];
        let frame = |an, pn| Some(Secured { an, pn, ..GOOD });
        let right = [frame(0, 3), frame(0, 4), frame(1, 7), frame(1, 8)];
        assert_eq!(odd(&right, &epochs), []);
        let wrong = [frame(0, 3), frame(0, 4), frame(1, 1), frame(0, 5)];
        let want =
            [(2, "packet number 1 of association 1, not 7"), (3, "data of association 0, not 1")];
        assert_eq!(odd(&wrong, &epochs), want.map(|(index, why)| (index, why.to_owned())));
    }
}
