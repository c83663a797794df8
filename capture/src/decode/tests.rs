use super::*;
use crate::Record;
use crate::codec::{Encoder, encode};
use crate::sample::{Sample, protection};
use proptest::prelude::*;
use rig_frames::roce::aeth::RnrTimer;
use rig_testcases::wire::{least_size, longer};
use rig_testcases::{CipherSuite, CnpFault, IpVersion, Roce, RoceKind, StreamSpec, Tamper};
use rig_units::{Dur, Time};

/// A script with a stream of each kind.
fn script() -> Script {
    let mut script = Sample::new().script;
    let first = script.streams[0].clone();
    let of = |kind, from, to| StreamSpec { kind, from, to, ..first.clone() };
    script.streams.push(of(StreamKind::RoceSend, 2, 0));
    script.streams.push(of(StreamKind::Udp, 2, 1));
    for kind in [StreamKind::RoceWrite, StreamKind::Udp] {
        script.streams.push(StreamSpec { over: IpVersion::V6, ..of(kind, 0, 2) });
    }
    script
}

fn record(dir: Dir, what: What) -> Record {
    Record { secured: None, vlan: None, at: Time(1), port: 1, dir, what }
}

fn through(records: &[Record]) -> Vec<What> {
    let script = script();
    let mut decoder = Decoder::of(&script);
    let read = |record: &Record| {
        let bytes = encode(record, &script);
        decoder.decode(record.port, record.dir, &bytes, bytes.len())
    };
    records.iter().map(read).collect()
}

fn any_what() -> impl Strategy<Value = What> {
    let data = (0_u16..5, 0_u32..1 << 24, 64_u16..=9216, any::<bool>()).prop_map(
        |(stream, seq, size, ce)| {
            let spec = &script().streams[usize::from(stream)];
            let least = least_size(spec.kind) + longer(spec.over);
            let size = size.max(u16::try_from(least.0).expect("small"));
            What::Data { stream, seq, size, ce }
        },
    );
    let pfc = (any::<u8>(), any::<[u16; 8]>())
        .prop_map(|(enable, quanta)| What::Pfc { enable, quanta: quanta.map(Quanta) });
    let faults = proptest::sample::select(PfcFault::ALL.to_vec());
    let bad = (faults, any::<u8>(), any::<[u16; 8]>()).prop_map(|(fault, enable, quanta)| {
        What::BadPfc { fault, enable, quanta: quanta.map(Quanta) }
    });
    let other = (64_u64..9216).prop_map(|size| What::Other { size: Bytes(size) });
    prop_oneof![4 => data, 2 => pfc, 1 => bad, 1 => other, 4 => any_roce().prop_map(What::Roce)]
}

/// A frame of a connection that is none of the rig's streams.
fn any_roce() -> impl Strategy<Value = Roce> {
    let data = |(first, last, response)| RoceKind::Data { first, last, response };
    let fault = [CnpFault::Becn, CnpFault::Fecn, CnpFault::Psn, CnpFault::Reserved];
    let fault = proptest::option::of(proptest::sample::select(fault.to_vec()));
    let kind = prop_oneof![
        any::<(bool, bool, bool)>().prop_map(data),
        fault.prop_map(|fault| RoceKind::Cnp { fault }),
        Just(RoceKind::Ack),
        Just(RoceKind::Nak),
        Just(RoceKind::Denied),
        (0_u8..32).prop_filter_map("five bits", RnrTimer::new).prop_map(RoceKind::NotReady),
        Just(RoceKind::ReadRequest),
    ];
    let ecn = proptest::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]);
    let ends = (0_u8..100, 0_u8..16, proptest::sample::select(vec![IpVersion::V4, IpVersion::V6]));
    let rest = (0_u8..64, ends, any::<bool>());
    let more = (any::<u16>(), any::<bool>(), any::<bool>(), any::<Option<u32>>(), any::<u8>());
    (kind, 3_u16..200, 0_u32..1 << 24, 100_u16..4_200, ecn, rest, more).prop_map(
        |(kind, connection, psn, size, ecn, (dscp, ends, corrupt), more)| {
            let (address, gid, over) = ends;
            let more_of_ip = u16::try_from(longer(over).0).unwrap_or(0);
            let (psn, size) = match kind {
                RoceKind::Data { .. } => (psn, size),
                RoceKind::Ack if more.3.is_some() => (psn, 74),
                RoceKind::Ack | RoceKind::Nak | RoceKind::Denied | RoceKind::NotReady(_) => {
                    (psn, 66)
                }
                RoceKind::ReadRequest => (psn, 78),
                RoceKind::Cnp { fault } => (u32::from(fault == Some(CnpFault::Psn)), 78),
            };
            let (udp_src, mig_req, tail, found, key) = more;
            let mig_req = mig_req || matches!(kind, RoceKind::Cnp { .. });
            let ends = matches!(kind, RoceKind::Data { last: true, response: false, .. });
            let (tail, found) = (tail && ends, found.filter(|_| kind == RoceKind::Ack));
            let names = matches!(
                kind,
                RoceKind::ReadRequest | RoceKind::Data { first: true, response: false, .. }
            );
            let key = if names { key } else { 0 };
            let one = Roce { over, gid, key, ..Roce::of(connection, kind, psn, size + more_of_ip) };
            Roce { ecn, dscp, corrupt, address, udp_src, mig_req, tail, found, ..one }
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_is_what_is_read(what in any_what(), tx in any::<bool>()) {
        let dir = if tx { Dir::Tx } else { Dir::Rx };
        prop_assert_eq!(through(&[record(dir, what)]), [what]);
    }

    #[test]
    fn a_frame_is_as_long_as_its_record_says(what in any_what()) {
        let bytes = encode(&record(Dir::Tx, what), &script());
        prop_assert_eq!(Bytes(bytes.len() as u64) + FCS, what.size());
    }

    #[test]
    fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200), more in 0_usize..100_000) {
        let mut decoder = Decoder::discovering();
        let _ = decoder.decode(0, Dir::Rx, &bytes, bytes.len() + more);
    }

    #[test]
    fn no_flipped_bit_makes_it_panic(what in any_what(), at in any::<prop::sample::Index>(), mask in 1_u8..) {
        let mut bytes = encode(&record(Dir::Rx, what), &script());
        let at = at.index(bytes.len());
        bytes[at] ^= mask;
        let _ = Decoder::of(&script()).decode(1, Dir::Rx, &bytes, bytes.len());
    }
}

fn secured_script() -> Script {
    Script { macsec: Some(protection(CipherSuite::GcmAesXpn256)), ..script() }
}

const TAMPERS: [Option<Tamper>; 4] =
    [None, Some(Tamper::Forged), Some(Tamper::WrongKey), Some(Tamper::WrongSci)];

proptest! {
    #[test]
    fn a_protected_frame_is_read_as_what_it_was_and_how_it_was_protected(
        what in any_what(), tx: bool, an in 0_u8..4, pn in 1_u64..1 << 31, encrypted: bool,
        tamper in proptest::sample::select(TAMPERS.to_vec()),
    ) {
        let dir = if tx { Dir::Tx } else { Dir::Rx };
        let secured = Some(Secured { an, pn, encrypted, sci: true, tamper });
        let record = Record { secured, ..record(dir, what) };
        let script = secured_script();
        let bytes = Encoder::of(&script).frame(&record);
        prop_assert_eq!(Bytes(bytes.len() as u64) + FCS, record.on_wire());
        let read = Decoder::of(&script).read(1, dir, &bytes, bytes.len());
        // Without a PFC fault or a size that hides it, the frame is one that is known; else a forged one may be taken for
        // one of a wrong key, and no more than that.
        let (seen, how, _) = read;
        prop_assert_eq!(seen, what);
        let how = how.expect("it is protected");
        let known = !matches!(what, What::Other { .. }) && !is_tagged(&what);
        if known || tamper != Some(Tamper::Forged) {
            prop_assert_eq!(Some(how), secured);
        } else {
            prop_assert_eq!(how.tamper, Some(Tamper::WrongKey));
        }
    }
}

fn is_tagged(what: &What) -> bool {
    matches!(what, What::BadPfc { fault: PfcFault::Tagged, .. })
}

#[test]
fn of_a_truncated_frame_the_tag_is_known_and_nothing_else() {
    let script = secured_script();
    let tamper = Some(Tamper::Truncated);
    let secured = Secured { an: 2, pn: 77, encrypted: true, sci: false, tamper };
    let record = Record { secured: Some(secured), ..record(Dir::Rx, seq(3)) };
    let bytes = Encoder::of(&script).frame(&record);
    let read = Decoder::of(&script).read(1, Dir::Rx, &bytes, bytes.len());
    assert_eq!(read, (What::Other { size: MIN_FRAME }, Some(secured), None));
}

#[test]
fn a_protected_frame_without_keys_or_cut_is_counted_as_closed() {
    let script = secured_script();
    let secured = Secured { an: 0, pn: 1, encrypted: false, sci: true, tamper: None };
    let record = Record { secured: Some(secured), ..record(Dir::Rx, seq(3)) };
    let bytes = Encoder::of(&script).frame(&record);
    let closed = (What::Other { size: Bytes(1024 + 32) }, None, None);
    let mut without = Decoder::discovering();
    assert_eq!(without.read(1, Dir::Rx, &bytes, bytes.len()), closed);
    let mut cut = Decoder::of(&script);
    assert_eq!(cut.read(1, Dir::Rx, &bytes[..128], bytes.len()), closed);
    assert_eq!((without.closed(), cut.closed(), without.found().len()), (1, 1, 0));
}

#[test]
fn extended_packet_numbers_go_on_at_each_place_for_itself() {
    let mut script = secured_script();
    let first = u64::from(u32::MAX) - 1;
    script.macsec.as_mut().expect("protected").next_pn = first;
    let (encoder, mut decoder) = (Encoder::of(&script), Decoder::of(&script));
    for (pn, port) in [(first, 1), (first + 1, 1), (first + 2, 1), (first, 2), (first + 3, 1)] {
        let secured = Some(Secured { an: 1, pn, encrypted: true, sci: true, tamper: None });
        let record = Record { secured, port, ..record(Dir::Rx, seq(3)) };
        let bytes = encoder.frame(&record);
        assert_eq!(decoder.read(port, Dir::Rx, &bytes, bytes.len()), (seq(3), secured, None));
    }
}

fn seq(seq: u32) -> What {
    What::Data { stream: 0, seq, size: 1024, ce: false }
}

#[test]
fn the_number_goes_on_where_24_bits_end() {
    let edge = 1 << 24;
    // In order, with a hole of a thousand frames, and one that arrives late.
    let whats = [
        seq(edge - 2),
        seq(edge - 1),
        seq(edge),
        seq(edge + 1_000),
        seq(edge - 1),
        seq(edge + 1_001),
    ];
    let records = whats.map(|what| record(Dir::Rx, what));
    assert_eq!(through(&records), whats);
}

#[test]
fn each_place_counts_for_itself() {
    let edge = (1 << 24) - 1;
    let script = script();
    let mut decoder = Decoder::of(&script);
    let mut read = |port, what| {
        let bytes = encode(&Record { port, ..record(Dir::Rx, what) }, &script);
        decoder.decode(port, Dir::Rx, &bytes, bytes.len())
    };
    assert_eq!(read(0, seq(edge)), seq(edge));
    assert_eq!(read(0, seq(edge + 1)), seq(edge + 1));
    assert_eq!(read(1, seq(edge)), seq(edge), "another port still waits for this one");
}

#[test]
fn a_wrong_icrc_is_no_delivery() {
    let mut bytes = encode(&record(Dir::Rx, seq(7)), &script());
    let last = bytes.len() - 3;
    bytes[last] ^= 1;
    let what = Decoder::of(&script()).decode(1, Dir::Rx, &bytes, bytes.len());
    assert_eq!(what, What::Other { size: Bytes(1024) });
}

#[test]
fn a_capture_that_kept_the_headers_only_is_still_read() {
    let bytes = encode(&record(Dir::Rx, seq(7)), &script());
    let what = Decoder::of(&script()).decode(1, Dir::Rx, &bytes[..96], bytes.len());
    assert_eq!(what, seq(7));
}

#[test]
fn a_pfc_frame_that_a_tap_kept_with_its_fcs_is_read_as_well() {
    let what = What::Pfc { enable: 8, quanta: [Quanta(5); 8] };
    let mut bytes = encode(&record(Dir::Rx, what), &script());
    bytes.extend_from_slice(&fcs::of(&bytes));
    assert_eq!(Decoder::of(&script()).decode(1, Dir::Rx, &bytes, bytes.len()), what);
}

#[test]
fn streams_are_discovered_in_the_order_of_their_first_frames() {
    let script = script();
    let mut decoder = Decoder::discovering();
    for (stream, index) in [(2, 0), (0, 1), (2, 0), (1, 2)] {
        let what = What::Data { stream, seq: 3, size: 200, ce: true };
        let bytes = encode(&record(Dir::Tx, what), &script);
        let read = decoder.decode(0, Dir::Tx, &bytes, bytes.len());
        assert_eq!(read, What::Data { stream: index, seq: 3, size: 200, ce: true });
    }
    let kinds: Vec<StreamKind> = decoder.found().iter().map(|found| found.kind).collect();
    assert_eq!(kinds, [StreamKind::Udp, StreamKind::RoceWrite, StreamKind::RoceSend]);
    assert_eq!(decoder.found()[1].dscp, 3);
}

#[test]
fn a_stranger_is_other_to_a_script() {
    let mut stranger = script();
    stranger.streams[0].from = 2;
    let bytes = encode(&record(Dir::Rx, seq(1)), &stranger);
    let what = Decoder::of(&script()).decode(1, Dir::Rx, &bytes, bytes.len());
    assert_eq!(what, What::Other { size: Bytes(1024) });
}

#[test]
fn the_first_bytes_of_frames_are_as_written_down_by_hand() {
    let what = What::Pfc {
        enable: 8,
        quanta: [
            Quanta(0),
            Quanta(0),
            Quanta(0),
            Quanta::MAX,
            Quanta(0),
            Quanta(0),
            Quanta(0),
            Quanta(0),
        ],
    };
    let mut sample = Sample::new();
    sample.push(Dur::us(1), 1, Dir::Tx, what);
    sample.data(0x0a_0b0c, Dur::us(2), None);
    let (observation, script) = sample.done(Dur::ms(1));
    let pfc = encode(&observation.records[0], &script);
    let golden = [
        1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 1, 0, 1, 0x88, 8, 1, 1, 0, 8, 0, 0, 0, 0, 0, 0, 0xff, 0xff,
    ];
    assert_eq!(pfc[..golden.len()], golden);
    let data = encode(&observation.records[1], &script);
    let golden = [
        2, 0, 0, 1, 0, 1, 2, 0, 0, 1, 0, 0, 8, 0, // 02:00:00:01:00:00 to 02:00:00:01:00:01
        0x45, 0x0e, 0x03,
        0xec, // DSCP 3, ECT(0), 1004 bytes; two more fill the frame behind them
    ];
    assert_eq!(data[..golden.len()], golden);
    assert_eq!(data[26..34], [10, 0, 0, 1, 10, 0, 1, 1]);
    assert_eq!(data[34..38], [0xc0, 0, 0x12, 0xb7], "from 49152 to 4791");
    // 1004 = 20 + 8 + 12 + 16 + 944 + 4; queue pair 0x100, PSN 0x0a0b0c.
    assert_eq!(data[42], 0x0a, "RC WRITE only");
    assert_eq!(data[47..50], [0, 1, 0]);
    assert_eq!(data[51..54], [0x0a, 0x0b, 0x0c]);
}

#[test]
fn a_frame_is_known_behind_a_tag_and_written_with_the_one_that_it_had() {
    let mut script = script();
    for stream in 0..3 {
        let what = What::Data { stream, seq: 9, size: 200, ce: false };
        let untagged = record(Dir::Rx, what);
        let clear = encode(&untagged, &script);
        let tagged = [&clear[..12], &[0x81, 0, 0x60, 100], &clear[12..]].concat();
        let (what, _, vlan) = Decoder::of(&script).read(1, Dir::Rx, &tagged, tagged.len());
        assert_eq!(what, What::Data { stream, seq: 9, size: 204, ce: false });
        assert_eq!(vlan.map(|tag| (tag.pcp.get(), tag.vid.get(), tag.dei)), Some((3, 100, false)));
        let behind = Record { vlan, ..record(Dir::Rx, what) };
        assert_eq!(encode(&behind, &script), tagged);
        // The device took it off.
        script.streams[usize::from(stream)].vlan = vlan;
        assert_eq!(encode(&untagged, &script), clear);
        assert_eq!(Decoder::of(&script).read(1, Dir::Rx, &clear, clear.len()).2, None);
    }
}
