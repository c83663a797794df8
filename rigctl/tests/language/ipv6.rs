//! Flows and streams over IPv6, and what is refused beside them.

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
    between: {inject: [{on: calls, frames: data, psn: 3, do: drop}]}
    streams: {}
    flows: {calls: {nic: p1, to: p2, class: 3, verb: write, message: 64KiB, mtu: 1024B, over: ipv6}}
    steps: [{at: 0us, start: calls, for: 1ms}]
    measure: [{rc.gid: {port: p1}}]
";

/// What is said about `RIGHT` with some things changed, by the reader or once the device is known; nothing where it is right.
fn said(changes: &[(&str, &str)]) -> String {
    let text = changes.iter().fold(RIGHT.to_owned(), |text, (right, wrong)| {
        assert!(text.contains(right), "`{right}` does not stand in the text");
        text.replacen(right, wrong, 1)
    });
    let faults = match rig_testcases::read::suite(&Source::new("t.yaml", &text), &Registry) {
        Err(faults) => faults,
        Ok(suite) => {
            let lab = rig_lab::read::lab(None).expect("the bundled lab has no fault");
            let suits = |dut: &&rig_lab::Profile| suite.cases[0].suits(dut).is_ok();
            let dut = lab.duts.iter().find(suits).expect("a pair of NICs");
            suite.cases[0].script(&dut.declared, &Nameless).err().into_iter().collect()
        }
    };
    let told = faults.into_iter().map(|fault| {
        let (line, column) = (fault.place.line, fault.place.column);
        format!("{line}:{column}: {}; {}", fault.found, fault.want)
    });
    told.collect::<Vec<_>>().join("\n")
}

#[test]
fn what_knows_no_ipv6_is_refused_beside_a_flow_over_it() {
    assert_eq!(said(&[]), "");
    let back = "{back: {from: p1, class: 3, kind: cnp, of: calls, every: 10us}}";
    let cnps =
        [("streams: {}", &*format!("streams: {back}")), ("start: calls", "start: [calls, back]")];
    assert_eq!(said(&cnps), "");
    let over = ("every: 10us", "every: 10us, over: ipv4");
    let with_its_own = [cnps[0], cnps[1], over];
    // To a NIC, and to itself over IPv4.
    let [small, fits] = ["97B", "98B"].map(|size| {
        format!("streams: {{calls: {{from: p1, class: 3, kind: rocev2-write, size: {size}, every: 10us, over: ipv6}}}}")
    });
    let flows = RIGHT.lines().find(|line| line.contains("flows:")).expect("it has flows").trim();
    let between = RIGHT.lines().find(|line| line.contains("between:")).expect("it is there").trim();
    let alone = |streams| [("streams: {}", streams), (flows, "flows: {}"), (between, "taps: {}")];
    let (too_small, right) = (alone(&small), alone(&fits));
    assert_eq!(said(&right), "");
    let [one, two, three] = right;
    let unknown = [one, two, three, ("rc.gid: {port: p1}", "cnp.interval: {port: p1}")];
    let wrong: [&[(&str, &str)]; 7] = [
        &[("over: ipv6", "over: ipv5")],
        &[("rc.gid: {port: p1}", "rate.cut: {flow: calls}")],
        &[("do: drop", "do: blue-rdma")],
        &with_its_own,
        &too_small,
        &unknown,
        &[
            ("device: nic", "device: blue-rdma"),
            ("rc.gid: {port: p1}", "blue_rdma.acks: {flow: calls}"),
        ],
    ];
    let told: Vec<String> = wrong.iter().map(|changes| said(changes)).collect();
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn a_gid_is_one_that_the_nic_of_an_end_has() {
    let gid = |text| [("over: ipv6", text)];
    for right in ["gid: 16", "gid: {from: 2}", "over: ipv6, gid: {from: 2, to: 3}"] {
        assert_eq!(said(&gid(right)), "", "{right}");
    }
    let wrong = ["gid: 17", "gid: 0", "gid: {from: 2, far: 3}", "gid: {to: 17}"];
    let told: Vec<String> = wrong.iter().map(|text| said(&gid(text))).collect();
    let to_rig = [("to: p2, ", ""), ("over: ipv6", "gid: {from: 2, to: 3}")];
    let back = "streams: {back: {from: p1, class: 3, kind: cnp, of: calls, every: 10us, gid: 2}}";
    let cnps = [("streams: {}", back), ("start: calls", "start: [calls, back]")];
    let own = [("to: p2", "to: p1"), ("over: ipv6", "gid: {from: 2, to: 3}")];
    let told = [told.join("\n\n"), said(&to_rig), said(&own), said(&cnps)];
    insta::assert_snapshot!(told.join("\n\n"));
}

#[test]
fn a_packet_over_ipv6_has_to_fit_with_its_longer_header() {
    let suite = rig_testcases::read::suite(&Source::new("t.yaml", RIGHT), &Registry);
    let case = suite.expect("it is right").cases.remove(0);
    assert_eq!(case.flows["calls"].headers().0, 98);
    let tag = ("over: ipv6", "over: ipv6, vlan: {id: 7, pcp: 1}");
    assert_eq!(said(&[tag, ("rc.gid", "rc.tags")]), "");
}
