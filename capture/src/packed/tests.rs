use super::*;
use crate::sample::{Sample, TRANSIT};
use crate::{Dir, PfcFault};
use proptest::option;
use proptest::prelude::*;
use rig_frames::ip::Ecn;
use rig_frames::vlan;
use rig_testcases::{Roce, RoceKind, Secured, Tamper};
use rig_units::{Bytes, Dur, Quanta};

fn any_what() -> impl Strategy<Value = What> {
    let data = (any::<u16>(), any::<u32>(), any::<u16>(), any::<bool>());
    let data = data.prop_map(|(stream, seq, size, ce)| What::Data { stream, seq, size, ce });
    let pfc = (any::<u8>(), any::<[u16; 8]>());
    let pfc = pfc.prop_map(|(enable, all)| (enable, all.map(Quanta)));
    let roce = (any::<u16>(), any::<u32>(), any::<u8>(), any::<bool>());
    let roce = roce.prop_map(|(connection, psn, dscp, corrupt)| {
        let (kind, ecn) = (RoceKind::Ack, Ecn::Ce);
        What::Roce(Roce { ecn, dscp, corrupt, address: 1, ..Roce::of(connection, kind, psn, 64) })
    });
    prop_oneof![
        4 => data,
        1 => pfc.clone().prop_map(|(enable, quanta)| What::Pfc { enable, quanta }),
        1 => pfc.prop_map(|(enable, quanta)| {
            What::BadPfc { fault: PfcFault::Padding, enable, quanta }
        }),
        2 => roce,
        1 => any::<u64>().prop_map(|size| What::Other { size: Bytes(size) }),
    ]
}

fn any_record() -> impl Strategy<Value = Record> {
    let secured = (0..4_u8, any::<u64>(), any::<bool>()).prop_map(|(an, pn, sci)| Secured {
        an,
        pn,
        encrypted: !sci,
        sci,
        tamper: sci.then_some(Tamper::Forged),
    });
    let dir = prop_oneof![Just(Dir::Tx), Just(Dir::Rx)];
    let vlan = (0..8_u8, 0..4096_u16, any::<bool>()).prop_map(|(pcp, vid, dei)| vlan::Repr {
        pcp: vlan::Pcp::new(pcp).expect("three bits"),
        dei,
        vid: vlan::Vid::new(vid).expect("twelve bits"),
    });
    let all = (any::<u64>(), 0..3_u16, dir, any_what(), option::of(secured), option::of(vlan));
    all.prop_map(|(at, port, dir, what, secured, vlan)| Record {
        at: Time(at),
        port,
        dir,
        what,
        secured,
        vlan,
    })
}

proptest! {
    #[test]
    fn what_was_packed_comes_back_as_it_was(
        records in proptest::collection::vec(any_record(), 0..60),
    ) {
        prop_assert_eq!(Packed::of(&records).records(), records);
    }
}

proptest! {
    /// Rows of what is as foreseen, broken off now and then by another shape, an instant or a number.
    #[test]
    fn rows_come_back_as_they_were_wherever_they_are_broken_off(
        shapes in proptest::collection::vec(any_record(), 1..4),
        breaks in proptest::collection::vec((0..12_u64, 0..4_usize, 0..3_u64, 0..3_u32), 1..30),
    ) {
        let (mut records, mut at, mut number) = (Vec::new(), 0, 0);
        for (length, by, late, skipped) in breaks {
            (at, number) = (at + late, number + skipped);
            for step in 0..length {
                // Two shapes take turns in every other row.
                let turn = if by % 2 == 0 { by } else { by + usize::from(step % 2 == 1) };
                let mut record = shapes[turn % shapes.len()];
                (at, number) = (at + 1_000, number + 1);
                record.at = Time(at);
                if let Some(running) = running(&mut record.what) {
                    *running = number;
                }
                records.push(record);
            }
        }
        prop_assert_eq!(Packed::of(&records).records(), records);
    }
}

fn any_values() -> impl Strategy<Value = BTreeMap<String, u64>> {
    proptest::collection::btree_map("[a-d]", any::<u64>(), 0..4)
}

proptest! {
    #[test]
    fn counters_come_back_as_they_were_and_trials_share_their_names(
        before in any_values(), after in any_values(), other in any_values(),
    ) {
        let mut counters = Counters::read(before, after);
        (counters.took, counters.obeyed) = (Dur::us(3), Dur::us(2));
        let mut names = other.into_keys().collect();
        let packed = PackedCounters::of(counters.clone(), &mut names);
        prop_assert_eq!(packed.counters(), counters.clone());
        let again = PackedCounters::of(counters, &mut names);
        prop_assert!(packed.rest.shares(&again.rest));
    }
}

proptest! {
    #[test]
    fn loads_come_back_as_they_were_and_go_on(
        records in proptest::collection::vec((any_record(), 0..3_u16), 0..40),
    ) {
        let mut loads = Loads::default();
        for (mut record, connection) in records {
            record.at = Time(record.at.0 >> 20);
            // Sums have no room for frames of no size that there is.
            if let What::Other { size } = &mut record.what {
                size.0 >>= 40;
            }
            loads.saw(&record, connection);
            if connection == 2 {
                loads.window(record.at);
            }
        }
        prop_assert_eq!(PackedLoads::of(&loads).loads(), loads);
    }
}

#[test]
fn a_trial_of_probes_takes_next_to_nothing() {
    let mut sample = Sample::new();
    sample.probes(Dur::ZERO, Dur::s(5), |sent| Some(sent + TRANSIT));
    let records = sample.done(Dur::s(5)).0.records;
    let packed = Packed::of(&records);
    assert_eq!(packed.records(), records);
    let (small, whole) = (packed.bytes.len(), size_of_val(&records[..]));
    assert!(records.len() > 10_000 && small * 100 < whole, "{small} of {whole}");
    assert_eq!(packed.shapes.len(), 2);
}
