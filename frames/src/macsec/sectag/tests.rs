use super::*;
use proptest::prelude::*;

/// The tag of the first packet of IEEE 802.1AE Annex C: SC, association 2, short length 42.
const TAG: [u8; 16] = [
    0x88, 0xe5, 0x22, 0x2a, 0xb2, 0xc2, 0x84, 0x65, 0x12, 0x15, 0x35, 0x24, 0xc0, 0x89, 0x5e, 0x81,
];

fn repr() -> SecTag {
    SecTag {
        channel: Channel::Explicit(Sci::from_bytes([
            0x12, 0x15, 0x35, 0x24, 0xc0, 0x89, 0x5e, 0x81,
        ])),
        e: false,
        c: false,
        an: An::new(2).unwrap(),
        sl: Sl::new(42).unwrap(),
        pn: 0xb2c2_8465,
    }
}

/// A tag as changed by `change`, with `behind` zero bytes for secure data and ICV.
fn changed(change: impl FnOnce(&mut Raw<'_>), behind: usize) -> Vec<u8> {
    let mut bytes = TAG.to_vec();
    change(&mut Raw(bytes.first_chunk_mut().unwrap()));
    bytes.resize(bytes.len() + behind, 0);
    bytes
}

fn refusal(bytes: &[u8]) -> String {
    SecTag::parse(bytes).unwrap_err().to_string()
}

#[test]
fn golden_bytes_both_ways() {
    let bytes = changed(|_| {}, 42 + ICV);
    let (tag, data, icv) = SecTag::parse(&bytes).unwrap();
    assert_eq!((tag, data.len(), icv), (repr(), 42, &[0; ICV]));
    let mut out = vec![1];
    tag.emit(&mut out);
    assert_eq!(out, [&[1], &TAG[..]].concat());
    assert_eq!(tag.len(), TAG.len());
}

#[test]
fn every_octet_of_control_information_is_read_and_written_or_refused() {
    let mut read = 0;
    for octet in 0..=u8::MAX {
        let bytes = changed(
            |raw| {
                raw.set_tci_an(octet);
                raw.set_sl(0);
            },
            80,
        );
        let set = |bit| octet & bit != 0;
        let sense = !set(tci::V) && !(set(tci::SC) && (set(tci::ES) || set(tci::SCB)));
        let tag = SecTag::parse(&bytes);
        assert_eq!(tag.is_ok(), sense, "{octet:#x}");
        if let Ok((tag, ..)) = tag {
            let mut out = Vec::new();
            tag.emit(&mut out);
            assert_eq!(out, bytes[..tag.len()]);
            assert_eq!(out.len(), if set(tci::SC) { 16 } else { 8 });
            read += 1;
        }
    }
    // Five combinations of ES, SC and SCB; E, C and four associations with each.
    assert_eq!(read, 5 * 16);
}

#[test]
fn each_broken_rule_is_named_with_its_place() {
    let cases: [(&str, Vec<u8>); 8] = [
        (
            "macsec.ethertype at byte 0: want 0x88e5, got 0x88e6",
            changed(|raw| raw.set_ethertype(0x88e6), 58),
        ),
        ("macsec.v at byte 2: want 0x0, got 0x1", changed(|raw| raw.set_tci_an(0xa2), 58)),
        (
            "macsec.tci at byte 2: want SC without ES and SCB, got 0x62",
            changed(|raw| raw.set_tci_an(0x62), 58),
        ),
        (
            "macsec.tci at byte 2: want SC without ES and SCB, got 0x32",
            changed(|raw| raw.set_tci_an(0x32), 58),
        ),
        ("macsec.sl at byte 3: want 0x0 to 0x2f, got 0x30", changed(|raw| raw.set_sl(48), 80)),
        ("macsec.sl at byte 3: want 0x0 to 0x2f, got 0x6a", changed(|raw| raw.set_sl(0x6a), 58)),
        ("macsec at byte 73: want at least 74 bytes, got 73", changed(|_| {}, 57)),
        ("macsec.secure_data at byte 16: want at most 42 bytes, got 43", changed(|_| {}, 59)),
    ];
    for (want, bytes) in cases {
        assert_eq!(refusal(&bytes), want);
    }
}

#[test]
fn a_short_length_of_zero_stands_for_48_bytes_and_more() {
    let of = |len: usize| changed(|raw| raw.set_sl(0), len + ICV);
    assert_eq!(refusal(&of(47)), "macsec at byte 79: want at least 80 bytes, got 79");
    for len in [48, 49, 9000] {
        assert_eq!(SecTag::parse(&of(len)).unwrap().1.len(), len);
    }
}

#[test]
fn a_short_length_is_below_48() {
    assert_eq!((Sl::new(47).map(Sl::get), Sl::new(48)), (Some(47), None));
    assert_eq!([0, 1, 47, 48, 256, 257].map(|len| Sl::of(len).get()), [0, 1, 47, 0, 0, 0]);
}

#[test]
fn every_truncation_is_refused() {
    let whole = changed(|_| {}, 42 + ICV);
    crate::bytes::refuses_truncations("macsec", &whole, |bytes| SecTag::parse(bytes).err());
}

#[test]
fn the_sci_is_told_by_the_tag_the_source_or_neither() {
    let src = MacAddr([2, 0, 0, 0, 0, 1]);
    let sci = |channel| SecTag { channel, ..repr() }.sci(src);
    let own = Sci { mac: MacAddr([2; 6]), port: 9 };
    assert_eq!(sci(Channel::Explicit(own)), Some(own));
    assert_eq!(sci(Channel::EndStation), Some(Sci { mac: src, port: 1 }));
    assert_eq!(sci(Channel::PointToPoint), None);
    assert_eq!(sci(Channel::SingleCopyBroadcast { es: true }), None);
}

proptest! {
    #[test]
    fn any_bytes_read_as_what_is_written_again(mut bytes in prop::collection::vec(any::<u8>(), 0..120)) {
        if let Some(start) = bytes.first_chunk_mut() {
            *start = [0x88, 0xe5];
        }
        if let Ok((tag, data, icv)) = SecTag::parse(&bytes) {
            let mut out = Vec::new();
            tag.emit(&mut out);
            out.extend(data);
            out.extend(icv);
            prop_assert_eq!(&out[..], &bytes[..out.len()]);
        }
    }
}
