//! Unreliable connections in a case: what may be measured beside them.

use rig_lab::yaml::Source;
use rig_oracle::measure::Registry;

/// What is wrong with a case of these measures, on an unreliable flow `u`, one `w` of WRITEs and a reliable one `s`.
fn faults(measures: &str) -> Vec<String> {
    let text = format!(
        "about: x
device: nic
cases:
  a:
    why: x
    source: [x]
    flows:
      u: {{nic: p1, to: p2, class: 3, verb: uc-send, message: 4KiB, mtu: 1024B, count: 2}}
      w: {{nic: p1, to: p2, class: 3, verb: uc-write, message: 4KiB, mtu: 1024B, count: 2}}
      s: {{nic: p2, to: p1, class: 3, verb: send, message: 4KiB, mtu: 1024B, count: 2}}
    steps: [{{at: 0us, start: [u, w, s]}}]
    length: 1ms
    measure: [{measures}]
"
    );
    let read = rig_testcases::read::suite(&Source::new("t.yaml", &text), &Registry);
    read.err().into_iter().flatten().map(|fault| fault.found.clone()).collect()
}

#[test]
fn nothing_that_rests_on_acknowledgements_is_measured_beside_an_unreliable_connection() {
    let own = "{uc.sender: {flow: u}}, {uc.receiver: {flow: w}}, {uc.delivered: {flow: u}}, {nic.counters: {port: p1}}";
    assert_eq!(faults(own), [""; 0]);
    assert_eq!(
        faults("{rc.sender: {flow: s}}"),
        ["`rc.sender` beside `u`, an unreliable connection"]
    );
    assert_eq!(
        faults("{uc.sender: {flow: s}}"),
        ["`uc.sender` of `s`, which is none of its flows"]
    );
    assert_eq!(
        faults("{ud.sender: {flow: u}}"),
        ["`ud.sender` of `u`, which is none of its flows"]
    );
    // A WRITE completes no receive.
    assert_eq!(
        faults("{uc.delivered: {flow: w}}"),
        ["`uc.delivered` of `w`, which is none of its flows"]
    );
}

#[test]
fn a_datagram_is_one_packet() {
    let read = |flow: &str| {
        let text = format!(
            "about: x
device: nic
cases:
  a:
    why: x
    source: [x]
    between: {{inject: [{{on: d, frames: data, psn: 1, do: bad-key}}]}}
    flows: {{d: {{nic: p1, to: p2, class: 3, mtu: 1024B, count: 2, {flow}}}}}
    steps: [{{at: 0us, start: d}}]
    length: 1ms
    measure: [{{nic.counters: {{port: p2}}}}]
"
        );
        let read = rig_testcases::read::suite(&Source::new("t.yaml", &text), &Registry);
        read.err().into_iter().flatten().map(|fault| fault.found.clone()).collect::<Vec<_>>()
    };
    assert_eq!(read("verb: ud-send, message: 1024B"), [""; 0]);
    assert_eq!(read("verb: ud-send, message: 1025B"), ["a datagram of 1025B, which is one packet"]);
}
