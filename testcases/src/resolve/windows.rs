//! Stretches of a trial in which something is measured: they lie within it. Where flows share a path: those that are named, all the
//! time, and nobody else.

use crate::{Action, Amount, Case, Measure, NicMeasure, Script, Window};
use rig_lab::Fault;
use rig_units::Dur;

/// From when until when a measure looks at the trial, where it says so.
pub(super) fn of(measure: &Measure) -> Option<(&Measure, &Amount, &Amount)> {
    match measure {
        Measure::Throughput { from, until, .. }
        | Measure::Withheld { from, until, .. }
        | Measure::Duty { from, until, .. } => Some((measure, from, until)),
        _ => None,
    }
}

/// Refuses a stretch that ends before it begins, or after the trial.
pub(super) fn within(
    case: &Case,
    measure: &Measure,
    (from, until): (Dur, Dur),
    length: Dur,
) -> Result<(), Fault> {
    let name = measure.name();
    if until <= from {
        let found = format!("`{name}` from {from} until {until}");
        return Err(case.fault("measure", found, "an end after the beginning"));
    }
    if until > length {
        let found = format!("`{name}` from {from} until {until}: the trial ends at {length}");
        return Err(case.fault("measure", found, "an end within the trial"));
    }
    Ok(())
}

/// The first window whose flows are not those that are under way.
pub(super) fn check(case: &Case, script: &Script) -> Result<(), Fault> {
    for measure in &case.measure {
        let windows = match measure {
            Measure::Nic(NicMeasure::Shares { window, .. }) => core::slice::from_ref(window),
            Measure::Nic(NicMeasure::FixedPoint { windows }) => windows,
            _ => continue,
        };
        for window in windows {
            one(case, script, measure.name(), window)?;
        }
    }
    Ok(())
}

fn one(case: &Case, script: &Script, name: &str, window: &Window) -> Result<(), Fault> {
    let Window { flows, from, until } = window;
    let refused = |found: String, want: &str| {
        let found = format!("`{name}` from {from} until {until}: {found}");
        Err(case.fault("measure", found, want))
    };
    if *until > script.length {
        return refused(format!("the trial ends at {}", script.length), "an end within the trial");
    }
    for (index, flow) in (0_u16..).zip(&script.flows) {
        let times = under_way(script, index);
        if flows.contains(&flow.name) {
            if flow.count.is_some() || !times.iter().any(|(a, b)| a <= from && b >= until) {
                let found = format!("`{}` is not under way all the time", flow.name);
                return refused(found, "flows that begin before and are stopped after");
            }
        } else if times.iter().any(|(a, b)| a < until && b > from) {
            let found = format!("`{}` is under way, too", flow.name);
            return refused(found, "a list of every flow that is under way");
        }
    }
    Ok(())
}

/// From when until when a flow is under way, each time.
fn under_way(script: &Script, flow: u16) -> Vec<(Dur, Dur)> {
    let mut times: Vec<(Dur, Dur)> = Vec::new();
    for step in &script.steps {
        match step.action {
            Action::StartFlow(of) if of == flow => times.push((step.at, script.length)),
            Action::StopFlow(of) if of == flow => {
                if let Some((_, end)) = times.last_mut() {
                    *end = step.at;
                }
            }
            _ => {}
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use crate::Lookup;
    use rig_lab::yaml::Source;
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
             measure: [{{rate.shares: {{{inside}, within: 10%}}}}]\n"
        );
        let told = |fault: &rig_lab::Fault| format!("{}; {}", fault.found, fault.want);
        let suite = crate::read::suite(&Source::new("t.yaml", &text));
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
}
