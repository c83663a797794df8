//! Rules `pfc.sent` and `pfc.format`: the PFC frames that the device sends.

use super::busy::Busy;
use crate::passage::start;
use crate::{Dir, Observation, PfcFault, What};
use rig_units::{Dur, Quanta, Time};

/// PFC frames that the device sent out of one port for one class, within a window.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PfcSent {
    /// Records of those that pause.
    pub xoff: Vec<usize>,
    /// Records of those that resume.
    pub xon: Vec<usize>,
    /// The longest time from an XOFF to the next word of the device, XOFF or XON: how slowly it refreshes. Two records.
    pub slowest: Option<(Dur, [usize; 2])>,
}

/// The PFC frames for `class` that the rig received at `port` and that the device surely decided to send between `from`
/// and `until`: one that waited behind frames which had begun before `from` may have been decided on before.
pub fn pfc_sent(
    observation: &Observation,
    port: u16,
    class: u8,
    (from, until): (Time, Time),
) -> PfcSent {
    let trace = &observation.ports[usize::from(port)];
    let busy = Busy::of(observation, port);
    let mut sent = PfcSent::default();
    let mut told: Option<(Time, usize)> = None;
    for (record, frame) in observation.records.iter().enumerate() {
        if (frame.port, frame.dir) != (port, Dir::Rx) {
            continue;
        }
        let Some(quanta) = frame.what.pauses(class) else { continue };
        let latest = start(trace, frame.on_wire(), frame.at).hi;
        if busy.since(record) < from.0 || latest > until.0 {
            continue;
        }
        let since = told.and_then(|(at, xoff)| Some((frame.at.since(at)?, [xoff, record])));
        if since.map(|(gap, _)| gap) > sent.slowest.map(|(gap, _)| gap) {
            sent.slowest = since;
        }
        if quanta == Quanta(0) {
            sent.xon.push(record);
            told = None;
        } else {
            sent.xoff.push(record);
            told = Some((frame.at, record));
        }
    }
    sent
}

/// A PFC frame of the device that breaks its format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadFormat {
    /// Its place among the records of the port.
    pub record: usize,
    /// What is wrong, for people.
    pub what: String,
}

/// The format of every PFC frame that the rig received at `port` (IEEE 802.3 Annex 31D, IEEE 802.1Q clause 36): how many
/// there were, and which break it.
pub fn pfc_format(observation: &Observation, port: u16) -> (u64, Vec<BadFormat>) {
    let mut frames = 0;
    let mut bad = Vec::new();
    for (record, frame) in observation.records.iter().enumerate() {
        if (frame.port, frame.dir) != (port, Dir::Rx) {
            continue;
        }
        let what = match frame.what {
            What::BadPfc { fault, .. } => Some(said(fault).to_owned()),
            What::Pfc { enable, quanta } => inconsistent(enable, quanta),
            What::Data { .. } | What::Roce(_) | What::BlueRdma(_) | What::Other { .. } => continue,
        };
        frames += 1;
        bad.extend(what.map(|what| BadFormat { record, what }));
    }
    (frames, bad)
}

/// A frame whose enabled classes and times do not agree. A time of zero for an enabled class is an XON.
fn inconsistent(enable: u8, quanta: [Quanta; 8]) -> Option<String> {
    if enable == 0 {
        return Some("no class is enabled".to_owned());
    }
    let idle = (0..8).zip(quanta).find(|&(class, quanta)| {
        let enabled = enable >> class & 1 == 1;
        !enabled && quanta > Quanta(0)
    });
    idle.map(|(class, quanta)| format!("class {class} has a time of {quanta} and is not enabled"))
}

fn said(fault: PfcFault) -> &'static str {
    match fault {
        PfcFault::Destination => "the destination is not 01:80:c2:00:00:01",
        PfcFault::Source => "the source is a group address or zero",
        PfcFault::Tagged => "the frame is tagged",
        PfcFault::Reserved => "bits 8 to 15 of the class-enable vector are not zero",
        PfcFault::Padding => "the frame is cut short, or its padding is not zero",
        PfcFault::Size => "the frame is not 64 bytes long",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{CABLE, CLASS, Sample};
    use rig_units::{Bytes, MIN_FRAME, PortSpeed};

    const ALL: (Time, Time) = (Time::ZERO, Time::MAX);

    #[test]
    fn xoffs_and_xons_of_the_class_and_port_are_counted() {
        let mut sample = Sample::new();
        for us in [10, 160, 310] {
            sample.pfc(Dur::us(us), 0, Dir::Rx, Quanta::MAX);
        }
        sample.pfc(Dur::us(400), 0, Dir::Rx, Quanta(0));
        sample.pfc(Dur::ms(5), 0, Dir::Rx, Quanta::MAX);
        sample.pfc(Dur::ms(6), 1, Dir::Rx, Quanta::MAX);
        sample.pfc(Dur::ms(6), 0, Dir::Tx, Quanta::MAX);
        let (observation, _) = sample.done(Dur::ms(9));
        let sent = pfc_sent(&observation, 0, CLASS, ALL);
        assert_eq!((sent.xoff.len(), sent.xon.len()), (4, 1));
        assert_eq!(sent.slowest, Some((Dur::us(150), [0, 1])), "not across the XON");
        assert_eq!(pfc_sent(&observation, 0, 4, ALL), PfcSent::default());
    }

    #[test]
    fn an_xon_that_comes_late_shows_a_refresh_that_was_missed() {
        let mut sample = Sample::new();
        for (us, quanta) in [(10, Quanta::MAX), (110, Quanta::MAX), (900, Quanta(0))] {
            sample.pfc(Dur::us(us), 0, Dir::Rx, quanta);
        }
        let (observation, _) = sample.done(Dur::ms(9));
        let sent = pfc_sent(&observation, 0, CLASS, ALL);
        assert_eq!(sent.slowest, Some((Dur::us(790), [1, 2])));
    }

    #[test]
    fn a_frame_that_may_have_been_decided_on_before_the_window_does_not_count() {
        let from = Dur::ms(1);
        let pfc = PortSpeed::G100.slot(MIN_FRAME);
        for (starts, counts) in [(from, 1), (from - Dur(1), 0)] {
            let mut sample = Sample::new();
            sample.pfc(starts + pfc + CABLE, 0, Dir::Rx, Quanta::MAX);
            let (observation, _) = sample.done(Dur::ms(9));
            let window = (Time::ZERO + from, Time::MAX);
            assert_eq!(pfc_sent(&observation, 0, CLASS, window).xoff.len(), counts, "{starts}");
        }
    }

    #[test]
    fn a_frame_that_waited_behind_one_begun_before_the_window_does_not_count() {
        let from = Dur::ms(1);
        let (data, pfc) = (PortSpeed::G100.slot(Bytes(9216)), PortSpeed::G100.slot(MIN_FRAME));
        let begun = from - Dur::ns(100);
        let mut sample = Sample::new();
        sample.push(begun + data + CABLE, 0, Dir::Rx, What::Other { size: Bytes(9216) });
        sample.pfc(begun + data + pfc + CABLE, 0, Dir::Rx, Quanta::MAX);
        let (observation, _) = sample.done(Dur::ms(9));
        let window = (Time::ZERO + from, Time::MAX);
        assert!(pfc_sent(&observation, 0, CLASS, window).xoff.is_empty());
    }

    #[test]
    fn every_fault_of_format_is_named() {
        let mut sample = Sample::new();
        for (us, fault) in (1..).zip(PfcFault::ALL) {
            let bad = What::BadPfc { fault, enable: 8, quanta: [Quanta(0); 8] };
            sample.push(Dur::us(us), 0, Dir::Rx, bad);
        }
        let none = What::Pfc { enable: 0, quanta: [Quanta(0); 8] };
        let idle = What::Pfc { enable: 1, quanta: [Quanta(7); 8] };
        sample.push(Dur::us(20), 0, Dir::Rx, none);
        sample.push(Dur::us(21), 0, Dir::Rx, idle);
        sample.pfc(Dur::us(22), 0, Dir::Rx, Quanta(0));
        sample.pfc(Dur::us(23), 0, Dir::Rx, Quanta::MAX);
        sample.push(Dur::us(24), 0, Dir::Tx, none);
        let (observation, _) = sample.done(Dur::ms(9));
        let (frames, bad) = pfc_format(&observation, 0);
        assert_eq!(frames, 10);
        let texts: Vec<&str> = bad.iter().map(|bad| bad.what.as_str()).collect();
        insta::assert_snapshot!(texts.join("\n"), @r"
        the destination is not 01:80:c2:00:00:01
        the source is a group address or zero
        the frame is tagged
        bits 8 to 15 of the class-enable vector are not zero
        the frame is cut short, or its padding is not zero
        the frame is not 64 bytes long
        no class is enabled
        class 1 has a time of 7q and is not enabled
        ");
    }
}
