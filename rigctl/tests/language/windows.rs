//! Stretches of a trial in which flows share a path.

use rig_lab::yaml::Source;
use rig_oracle::measure::Registry;
use rig_testcases::Lookup;
use rig_units::Dur;

struct Nameless;

impl Lookup for Nameless {
    fn duration(&self, _: &str) -> Option<Dur> {
        None
    }
}

/// What is said of `rate.shares` with this in it, of flows `a` and `b` from 0, `b` until 8 ms, `c` from 6 ms on.
fn said(inside: &str) -> Result<(), String> {
    let text = format!(
        "about: x\ndevice: nic\ncases:\n  it:\n    why: x\n    source: [x]\n    flows:\n      \
         a: &f {{nic: p1, to: p2, class: 3, verb: write, message: 64KiB, mtu: 1024B}}\n      b: *f\n      c: *f\n    \
         steps: [{{at: 0ms, start: [a, b]}}, {{at: 6ms, start: c}}, {{at: 8ms, stop: b}}]\n    length: 10ms\n    \
         measure: [{{rate.shares: {{{inside}}}}}]\n"
    );
    let told = |fault: &rig_lab::Fault| format!("{}; {}", fault.found, fault.want);
    let suite = rig_testcases::read::suite(&Source::new("t.yaml", &text), &Registry);
    let suite = suite.map_err(|faults| told(&faults[0]))?;
    let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
    let suits = |dut: &&rig_lab::Profile| suite.cases[0].suits(dut).is_ok();
    let dut = lab.duts.iter().find(suits).expect("a pair of NICs");
    suite.cases[0].script(&dut.declared, &Nameless).map(|_| ()).map_err(|fault| told(&fault))
}

#[test]
fn a_window_names_who_is_under_way_all_the_time_and_nobody_else() {
    assert_eq!(said("flows: [a, b], from: 1ms, until: 6ms"), Ok(()));
    assert_eq!(said("flows: [a, b, c], from: 6ms, until: 8ms"), Ok(()));
    assert_eq!(said("flows: [a, c], from: 8ms, until: 10ms"), Ok(()));
    let wrong = [
        "flows: [a, b], from: 1ms, until: 7ms",
        "flows: [a, b, c], from: 5ms, until: 8ms",
        "flows: [a, c], from: 8ms, until: 11ms",
        "flows: [a], from: 1ms, until: 2ms",
        "flows: [a, a], from: 1ms, until: 2ms",
        "flows: [a, d], from: 1ms, until: 2ms",
        "flows: [a, b], from: 2ms, until: 2ms",
    ];
    let told: Vec<String> = wrong.into_iter().filter_map(|inside| said(inside).err()).collect();
    insta::assert_snapshot!(told.join("\n"));
}
