//! Cases of a few lines in which a device draws what is tried of it some two hundred times.

pub(super) fn xoff(at: u32) -> String {
    format!("      - {{at: {at}us, pfc: {{from: p2, classes: [3], quanta: 600q}}}}\n")
}

/// Two hundred frames, each far from the next; and with them all that rests on when a frame has come to its queue.
pub(in super::super) fn passed(settings: &str) -> String {
    format!(
        "    dut: {settings}
    streams: {{probe: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 10us, count: 200}}}}
    taps: {{p2: all}}
    trials: 1
    steps: [{{at: 0us, start: probe}}]
    length: 3ms
    measure: [{{latency: {{stream: probe}}}}, {{loss: {{stream: probe, expect: none}}}}]
"
    )
}

/// A group that is filled to its XOFF and falls back to its XON, a hundred times.
pub(in super::super) fn crossed() -> String {
    "    dut: {pfcwd: {detection_time: 5000ms}, buffer: {pool: 1000000B, lossy_pool: 1000000B, dynamic_th: -4}}
    streams: {fill: {from: p1, to: p2, class: 3, kind: rocev2-write, size: 1024B, every: 2us, count: 100}}
    storms: {hold: {from: p2, classes: [3]}}
    endpoints: {p1: {obeys: none}}
    trials: 100
    steps:
      - {at: 0ms, start: hold}
      - {at: 100us, start: fill}
      - {at: 400us, stop: hold}
    length: 1ms
    measure: [{pfc.latency: {stream: fill}}]
"
    .to_owned()
}

/// Two hundred packets, each marked and each far from the next.
pub(super) fn marked(settings: &str, measures: &str) -> String {
    format!(
        "    dut: {{nic: {{generation: gen2, {settings}}}}}
    streams: {{marked: {{from: p1, class: 3, kind: rocev2-write, size: 1024B, every: 60us, ecn: ce, count: 200}}}}
    steps: [{{at: 0us, start: marked}}]
    length: 13ms
    trials: 1
    measure: [{measures}]
"
    )
}

/// Every eightieth packet of a flow is lost once: twenty in a trial.
pub(super) fn holed((from, to): (&str, &str), measure: &str) -> String {
    let lost = (0..20).map(|hole| {
        let psn = 40 + 80 * hole;
        format!("{{on: flow, frames: data, psn: {psn}, do: drop, iteration: 1}}")
    });
    let lost = lost.collect::<Vec<_>>().join(", ");
    let nic = "{generation: gen2, rc: {ack_every: 1, timeout: 0}}";
    format!(
        "    dut: {{nic: {nic}, peer: {nic}}}
    between: {{delay: 500ns, inject: [{lost}]}}
    flows: {{flow: {{nic: {from}, to: {to}, class: 3, verb: write, message: 16KiB, mtu: 1024B, count: 110}}}}
    steps: [{{at: 0us, start: flow}}]
    length: 1ms
    trials: 10
    measure: [{{{measure}: {{flow: flow}}}}]
"
    )
}

/// So many storms, each acted on and let go.
pub(super) fn stormed(trials: u32) -> String {
    stormed_for(trials, "330ms")
}

pub(super) fn stormed_for(trials: u32, long: &str) -> String {
    format!(
        "    dut: {{pfcwd: {{detection_time: 100ms, restoration_time: 100ms, poll_interval: 100ms, action: drop}}}}
    streams: {{victim: {{from: p1, to: p2, class: 3, kind: rocev2-write, size: 254B, every: 1ms}}}}
    storms: {{storm: {{from: p2, classes: [3]}}}}
    trials: {trials}
    steps:
      - {{at: 0ms, start: victim}}
      - {{at: 5ms, start: storm, for: {long}}}
    measure:
      - pfcwd.detection: {{storm: storm, stream: victim}}
      - pfcwd.restoration: {{storm: storm, stream: victim}}
      - pfcwd.action: {{storm: storm, stream: victim}}
"
    )
}

/// The second of two packets never gets through: seven timeouts in a trial.
pub(super) fn unheard(verb: &str, measure: &str) -> String {
    let nic = "{generation: gen2, rc: {timeout: 1, retries: 7}}";
    format!(
        "    dut: {{nic: {nic}, peer: {nic}}}
    between: {{delay: 500ns, inject: [{{on: flow, frames: data, psn: 1, do: drop}}]}}
    flows: {{flow: {{nic: p1, to: p2, class: 3, verb: {verb}, message: 1024B, mtu: 1024B, count: 2}}}}
    steps: [{{at: 0us, start: flow}}]
    length: 300us
    trials: 29
    measure: [{{{measure}: {{flow: flow}}}}]
"
    )
}

/// A receiver is not ready for every second message of a flow, once each: twenty in a trial.
pub(super) fn refused() -> String {
    let refused = (0..20).map(|message| {
        let psn = 16 + 32 * message;
        format!("{{on: flow, frames: data, psn: {psn}, do: {{rnr: 1}}, iteration: 1}}")
    });
    let refused = refused.collect::<Vec<_>>().join(", ");
    let nic = "{generation: gen2, rc: {ack_every: 1, timeout: 0}}";
    format!(
        "    dut: {{nic: {nic}, peer: {nic}}}
    between: {{delay: 500ns, inject: [{refused}]}}
    flows: {{flow: {{nic: p1, to: p2, class: 3, verb: send, message: 16KiB, mtu: 1024B, count: 42}}}}
    steps: [{{at: 0us, start: flow}}]
    length: 1ms
    trials: 10
    measure: [{{rc.sender: {{flow: flow}}}}]
"
    )
}

/// Two hundred messages to an application that has one receive and takes its time for each of them.
pub(super) fn waits_for_receives() -> String {
    "    dut: {nic: {generation: gen2, rc: {receives: 1, rnr_timer: 1}}, peer: {generation: gen2, rc: {ack_every: 1, timeout: 0}}}
    between: {delay: 500ns}
    flows: {flow: {nic: p2, to: p1, class: 3, verb: send, message: 1024B, mtu: 1024B, count: 200}}
    steps: [{at: 0us, start: flow}]
    length: 50ms
    trials: 1
    measure: [{rc.receives: {flow: flow}}]
"
    .to_owned()
}
