//! What a case is about: the storm and the stream that its watchdog measures name, and what of them the oracle must know.

use crate::spec::pfcwd::Stimulus;
use rig_lab::Declared;
use rig_testcases::case::{Storm, Stream};
use rig_testcases::{Case, Script, StreamRate, StreamSpec};
use rig_units::{Dur, PortSpeed};

/// A storm and the stream that shows what it does, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Name of the storm.
    pub storm: String,
    /// Name of the stream.
    pub stream: String,
    /// Whether it is there to show when the storm is detected.
    pub detects: bool,
}

impl Subject {
    /// One that shows something else than the detection.
    pub fn of(storm: &str, stream: &str) -> Subject {
        Subject { storm: storm.to_owned(), stream: stream.to_owned(), detects: false }
    }
}

/// The subject's places in a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Places {
    /// Index of the storm.
    pub storm: u16,
    /// Index of the stream.
    pub stream: u16,
    /// Index of the stream that shows when the storm is acted on: the same, unless the case measures the detection of
    /// this storm on another.
    pub shown_by: u16,
    /// The class in question: that of the stream.
    pub class: u8,
}

impl Places {
    /// Where one of the `subjects` of a case stands in `script`.
    pub fn of(subjects: &[Subject], script: &Script, subject: &Subject) -> Option<Places> {
        let storm = (0..).zip(&script.storms).find(|(_, storm)| storm.name == subject.storm)?.0;
        let stream = |name: &str| (0..).zip(&script.streams).find(|(_, spec)| spec.name == name);
        let (index, spec) = stream(&subject.stream)?;
        // A stream to another port than the storm's meets no stormed queue; one that meets it shows the detection of its
        // own queue alone.
        let meets = spec.to == script.storms[usize::from(storm)].from;
        let detecting = subjects.iter().filter(|one| one.detects && one.storm == subject.storm);
        let detections = detecting.filter_map(|one| stream(&one.stream));
        let shows = |other: &(u16, &StreamSpec)| {
            !meets || (other.1.to == spec.to && other.1.class == spec.class)
        };
        let shown_by = match detections.clone().any(|(at, _)| at == index) {
            true => index,
            false => detections.clone().find(shows).map_or(index, |(at, _)| at),
        };
        Some(Places { storm, stream: index, shown_by, class: spec.class })
    }
}

/// What the stormed queue carries while the storm is on: the longest gap between two frames sent to it. Where no measure is about a storm,
/// as its watchdog is left out, that of any.
pub(crate) fn stimulus(case: &Case, declared: &Declared, subject: Option<&Subject>) -> Stimulus {
    let is_meant = |name: &str| subject.is_none_or(|subject| subject.storm == name);
    let storms = || case.storms.iter().filter(|(name, _)| is_meant(name)).map(|(_, storm)| storm);
    let started = |name: &str| {
        case.steps.iter().any(|step| match &step.what {
            rig_testcases::case::CaseAction::Start { names, .. } => names.iter().any(|n| n == name),
            _ => false,
        })
    };
    let to_queue = case.streams.iter().filter(|(name, stream)| {
        let stormed =
            |storm: &Storm| stream.to == storm.from && storm.classes.contains(&stream.class);
        storms().any(stormed) && started(name)
    });
    let gap = |stream: &Stream| match stream.rate {
        StreamRate::Every(gap) => gap,
        StreamRate::Load(rate) => rate.pace(stream.size, speed(case, declared, &stream.from)).gap(),
    };
    Stimulus { data_gap: to_queue.map(|(_, stream)| gap(stream)).min() }
}

/// From the last frame of the storm to the end of its pause.
pub(crate) fn tail(case: &Case, declared: &Declared, subject: Option<&Subject>) -> Dur {
    let storm = subject.and_then(|subject| case.storms.get(&subject.storm));
    storm.map_or(Dur::ZERO, |storm| speed(case, declared, &storm.from).pause(storm.quanta))
}

/// The speed of the device's port behind one of the rig.
fn speed(case: &Case, declared: &Declared, port: &str) -> PortSpeed {
    let at = case.rig_ports().iter().position(|name| name == port);
    let dut_port =
        case.dut_ports(declared).ok().zip(at).and_then(|(ports, at)| ports.get(at).copied());
    declared.port_speed(dut_port.unwrap_or_default()).unwrap_or(PortSpeed::G100)
}
