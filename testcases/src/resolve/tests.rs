use super::*;
use crate::script::StreamKind;

struct Table(Vec<(&'static str, Dur)>);

impl Lookup for Table {
    fn duration(&self, name: &str) -> Option<Dur> {
        self.0.iter().find(|&&(known, _)| known == name).map(|&(_, dur)| dur)
    }
}

#[test]
fn the_first_case_becomes_a_script() {
    let case = crate::read::bundled().unwrap_or_default().remove(0).cases.remove(0);
    let lab = rig_lab::read::lab(None).unwrap_or_else(|faults| panic!("{}", faults[0]));
    assert_eq!(case.suits(&lab.duts[0]), Ok(()));
    let lookup = Table(vec![("pfcwd.detection_time", Dur::ms(200))]);
    let script = case.script(&lab.duts[0].declared, &lookup).unwrap_or_else(|f| panic!("{f}"));
    assert_eq!(script.ports, ["p1", "p2"]);
    assert_eq!(script.dut_ports, [0, 1]);
    assert_eq!(script.streams[0].dscp, 3);
    assert_eq!(script.streams[0].kind, StreamKind::RoceWrite);
    assert_eq!(script.storms[0].every, PortSpeed::G100.pause(rig_units::Quanta::MAX) / 2);
    assert_eq!(script.storms[0].classes, 0b1000);
    assert_eq!(script.length, Dur::ms(470));
}
