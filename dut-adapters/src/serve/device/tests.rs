use super::*;
use crate::serve::served::tests::bench::{probe, profile};
use rig_oracle::model::Tap as _;

#[test]
fn a_frame_that_met_congestion_in_the_engine_leaves_marked_and_others_do_not() {
    let mut device = Device::boot(&profile("broadcom"), &[], 1, Meter::default()).unwrap();
    let mut marked = probe(0, 1, 5);
    tos::mark(&mut marked);
    // The last one came in marked, and the device took the mark off.
    let came = [(1, true, probe(0, 1, 5)), (2, false, probe(0, 2, 5)), (1, false, marked.clone())];
    for (port, ce, bytes) in came {
        let packet = numbered(
            Packet::data(0, 0, port, 3, 3, 254).with_ect(true).with_ce(ce),
            device.store.put(&bytes),
        );
        let mut tap = Tap {
            ports: 4,
            nics: None,
            reader: &device.reader,
            store: &mut device.store,
            secure: None,
            meter: &mut device.meter,
            departures: &mut device.departures,
        };
        tap.frame(Time(7), port, Dir::Tx, &packet);
        tap.frame(Time(8), port, Dir::Rx, &packet);
    }
    let left: Vec<_> = device.departures().map(|departure| departure.bytes).collect();
    assert_eq!(left, [marked, probe(0, 2, 5), probe(0, 1, 5)]);
}
