//! Rig ports that behave otherwise than usual, in the virtual lab: what the sender does, and that it is itself again
//! when the trial is over.

use rig_capture::StreamCount;
use rig_dut::Emulated;
use rig_oracle::measure::Registry;
use rig_testcases::{Case, Lookup};
use rig_units::Dur;
use rigctl::executor::VirtualLab;
use rigctl::stop::Stop;

/// No name has a value: the case below uses none.
struct Literal;

impl Lookup for Literal {
    fn duration(&self, _: &str) -> Option<Dur> {
        None
    }
}

/// For 100 ms a queue is stormed into which p1 sends 180 MB/s; p1 is the peer that `endpoint` says.
fn case(endpoint: &str) -> Case {
    let text = format!(
        "about: x\ndevice: switch\ncases:\n  it:\n    why: x\n    source: [x]\n    \
         streams: {{filler: {{from: p1, to: p2, class: 3, kind: udp, size: 9022B, every: 50us}}}}\n    \
         storms: {{storm: {{from: p2, classes: [3]}}}}\n    endpoints: {{p1: {endpoint}}}\n    length: 100ms\n    \
         steps: [{{at: 0ms, start: [storm, filler]}}]\n    measure: [{{loss: {{stream: filler, expect: some}}}}]\n"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("suite.yaml");
    std::fs::write(&file, text).expect("written");
    let suite =
        rig_testcases::read(&file, &Registry).unwrap_or_else(|faults| panic!("{}", faults[0]));
    suite.cases[0].clone()
}

#[test]
fn a_port_obeys_as_its_trial_says_and_as_usual_in_the_next() {
    let lab = rig_lab::read::lab(None).unwrap_or_else(|faults| panic!("{}", faults[0]));
    let profile = lab.duts.iter().find(|dut| dut.name == "broadcom").expect("in the default lab");
    let dut = Emulated::boot(profile, &[], lab.cable_cm, 1).expect("it takes nothing");
    let mut session = VirtualLab::new(dut, Dur::ns(15), 1);
    let mut trial = |endpoint: &str| -> StreamCount {
        let script = case(endpoint).script(&profile.declared, &Literal);
        let script = script.unwrap_or_else(|fault| panic!("{fault}"));
        let seen = session
            .trial(&script, &profile.declared, &[], Stop::never())
            .expect("the ports can send it");
        // Until the pause, the queue and the watchdog's action are over.
        session.idle_until(session.now() + Dur::s(1), Stop::never());
        seen.streams[0]
    };
    let usual = trial("{obeys: all}");
    // A group holds a ninth of the pool: 130 frames or so until it asks for a pause, and none is lost.
    assert!((100..200).contains(&usual.sent), "{usual:?}");
    assert_eq!(trial("{obeys: [3]}"), usual);
    let deaf = trial("{obeys: [4]}");
    assert_eq!(
        (deaf.sent, deaf.received),
        (2_000, usual.received),
        "one every 50 us, come what may"
    );
    assert_eq!(trial("{response: 1us}"), usual, "no frame leaves within it");
    assert_eq!(trial("{response: 200us}").sent, usual.sent + 4, "one every 50 us");
    assert_eq!(trial("{response: 336us}"), deaf, "the pause of 335.5 us is over by then");
    assert_eq!(trial("{obeys: none}"), deaf);
    assert_eq!(trial("{obeys: all}"), usual, "itself again");
}
