use super::*;

#[test]
fn the_default_lab_is_read_without_a_file() {
    let lab = lab(None).unwrap_or_else(|faults| panic!("{}", faults[0]));
    assert_eq!((lab.name.as_str(), lab.cable_cm), ("emulated", 300));
    assert_eq!(lab.duts[0].declared.port_count(), 8);
}
