//! What stands between two NICs, and how a bottleneck that cannot be one is refused.

use rig_lab::yaml::Source;
use rig_oracle::measure::Registry;
use rig_testcases::Lookup;
use rig_units::Dur;

/// Nothing has a name.
struct Nameless;

impl Lookup for Nameless {
    fn duration(&self, _: &str) -> Option<Dur> {
        None
    }
}

const RIGHT: &str = "about: x
device: nic
cases:
  it:
    why: x
    source: [x]
    between: {bottleneck: {to: p2, speed: 40Gbps, kmin: 1KB, kmax: 2KB, pmax: 10%, buffer: 2KB}}
    flows: {sender: {nic: p1, to: p2, class: 3, verb: write, message: 64KiB, mtu: 1024B}}
    steps: [{at: 0us, start: sender, for: 1ms}]
    measure: [{rate.follows: {flow: sender}}]
";

/// What is said about `RIGHT` with one thing changed, by the reader or once the device is known: the place, and the rest.
fn said(right: &str, wrong: &str) -> String {
    assert!(RIGHT.contains(right), "`{right}` does not stand in the text");
    let text = RIGHT.replacen(right, wrong, 1);
    let fault = match rig_testcases::read::suite(&Source::new("t.yaml", &text), &Registry) {
        Err(faults) => faults[0].clone(),
        Ok(suite) => {
            let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
            let suits = |dut: &&rig_lab::Profile| suite.cases[0].suits(dut).is_ok();
            let dut = lab.duts.iter().find(suits).expect("a pair of NICs");
            let script = suite.cases[0].script(&dut.declared, &Nameless);
            script.expect_err("nothing is wrong")
        }
    };
    let (line, column) = (fault.place.line, fault.place.column);
    format!("{line}:{column}: {}; {}", fault.found, fault.want)
}

#[test]
fn a_bottleneck_that_cannot_be_one_is_refused_where_it_stands() {
    let wrong = [
        ("kmin: 1KB", "kmin: 3KB"),
        ("pmax: 10%", "pmax: 110%"),
        ("buffer: 2KB", "buffer: 1KB"),
        ("to: p2, speed", "to: p3, speed"),
        ("speed: 40Gbps", "speed: 100Gbps"),
        ("speed: 40Gbps, ", ""),
        ("{to: p2", "{too: p2"),
        ("{sender: {nic: p1, to: p2,", "{sender: {nic: p1,"),
    ];
    let told: Vec<String> = wrong.iter().map(|(right, wrong)| said(right, wrong)).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn what_is_drawn_has_a_chance_and_what_it_costs_is_predicted_of_losses_and_delays_alone() {
    const NARROW: &str =
        "{bottleneck: {to: p2, speed: 40Gbps, kmin: 1KB, kmax: 2KB, pmax: 10%, buffer: 2KB}}";
    let of =
        |which: &str| said(NARROW, &format!("{{inject: [{{on: sender, frames: data, {which}}}]}}"));
    assert!(of("chance: 0%, do: drop").contains("a chance of nothing"));
    assert!(of("chance: 101%, do: drop").contains("101%"));
    let two = of("chance: 1%, nth: 3, do: drop");
    assert!(two.contains("it names 2 frames; one of psn, nth, every and chance"), "{two}");
    let mended = |inject: &str| {
        let text = RIGHT.replacen(NARROW, inject, 1);
        let text = text.replacen(
            "rate.follows: {flow: sender}",
            "rate.goodput: {flow: sender, expect: mended}",
            1,
        );
        match rig_testcases::read::suite(&Source::new("t.yaml", &text), &Registry) {
            Err(faults) => faults[0].found.clone(),
            Ok(_) => String::new(),
        }
    };
    assert_eq!(mended("{inject: [{on: sender, frames: data, chance: 1%, do: drop}]}"), "");
    let twice = mended("{inject: [{on: sender, frames: data, chance: 1%, do: duplicate}]}");
    assert!(
        twice.contains("frames sent twice, of which it is not predicted what they cost"),
        "{twice}"
    );
    let late = mended("{inject: [{on: sender, frames: data, chance: 1%, do: {delay: 20us}}]}");
    assert_eq!(late, "");
    assert!(mended(NARROW).contains("a bottleneck loses and delays what nobody predicts"));
}
