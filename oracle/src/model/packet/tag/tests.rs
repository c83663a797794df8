//! A tag goes on and comes off again, whatever the frame.

use super::*;
use proptest::prelude::*;
use rig_capture::PfcFault;

fn a_tag() -> impl Strategy<Value = Tag> {
    let tamper = prop::option::of(prop::sample::select(&TAMPERS[..]));
    (0..4_u8, any::<u32>(), any::<bool>(), any::<bool>(), tamper)
        .prop_map(|(an, pn, encrypted, sci, tamper)| Tag { an, pn, encrypted, sci, tamper })
}

fn a_frame() -> impl Strategy<Value = Packet> {
    let data =
        (any::<[u16; 3]>(), 0..8_u8, 0..64_u8, 64..16_384_u16, any::<[bool; 4]>(), any::<u32>());
    let data =
        data.prop_map(|([stream, src, dst], class, dscp, size, [ect, ce, record, acks], seq)| {
            let mut packet = Packet::data(stream, src, dst, class, dscp, size);
            packet = packet.with_ect(ect).with_ce(ce).with_record(record);
            packet.seq = seq;
            if acks { packet.ack(64) } else { packet }
        });
    let fault = prop::option::of(prop::sample::select(&PfcFault::ALL[..]));
    let pfc = (any::<u8>(), any::<u8>(), any::<u16>(), any::<bool>(), fault);
    let pfc = pfc.prop_map(|(enable, zero, quanta, record, fault)| {
        let packet = Packet::pfc(enable, zero, Quanta(quanta), 64).with_record(record);
        fault.map_or(packet, |fault| packet.with_fault(fault))
    });
    prop_oneof![data, pfc]
}

proptest! {
    #[test]
    fn a_tagged_packet_opened_is_the_packet(packet in a_frame(), tag in a_tag()) {
        let secured = packet.secured(tag);
        prop_assert_eq!(secured.size, packet.size + tag.overhead());
        prop_assert_eq!(secured.tag(), Some(tag));
        prop_assert_eq!(secured.opened(), (packet, Some(tag)));
        prop_assert_eq!(packet.opened(), (packet, None));
        // What recorders and senders ask of a frame is the same behind a tag.
        prop_assert_eq!(secured.fault(), packet.fault());
        prop_assert_eq!((secured.ect(), secured.ce()), (packet.ect(), packet.ce()));
        prop_assert_eq!(secured.record(), packet.record());
    }
}

#[test]
fn a_tag_is_24_bytes_with_its_icv_and_32_with_its_channels_name() {
    let tag = Tag { an: 0, pn: 1, encrypted: true, sci: false, tamper: None };
    assert_eq!(Packet::pfc(8, 0, Quanta(1), 64).secured(tag).size, 88);
    assert_eq!(Packet::pfc(8, 0, Quanta(1), 64).secured(Tag { sci: true, ..tag }).size, 96);
}
