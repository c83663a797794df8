//! Between the engine's frames of reliable connections and what is said of them everywhere else.

use rig_frames::ip::Ecn;
use rig_oracle::model::host::{self, number};
use rig_oracle::model::{Packet, PacketKind};
use rig_testcases::wire::udp_port;
use rig_testcases::{CnpFault, IpVersion, Roce, RoceKind};

/// What a frame of the engine is, of the connection that the engine calls by its stream's name; `None` for PFC.
/// `from_nic`: it leaves the NIC; it is on its way there otherwise.
pub fn roce(packet: &Packet, connection: u16, from_nic: bool) -> Option<Roce> {
    let kind = match packet.kind {
        PacketKind::Data => RoceKind::Data {
            first: packet.is_first(),
            last: packet.is_last(),
            response: packet.is_response(),
        },
        PacketKind::Ack => RoceKind::Ack,
        PacketKind::Nak if packet.is_denial() => RoceKind::Denied,
        PacketKind::Nak => RoceKind::Nak,
        PacketKind::NotReady => RoceKind::NotReady(packet.rnr_timer()),
        PacketKind::ReadRequest => RoceKind::ReadRequest,
        PacketKind::Cnp => RoceKind::Cnp {
            fault: match (packet.becn(), packet.reserved_set()) {
                (false, _) => Some(CnpFault::Becn),
                (true, true) => Some(CnpFault::Reserved),
                (true, false) => None,
            },
        },
        PacketKind::Pfc => return None,
    };
    let (size, dscp, ecn) = (packet.size, packet.dscp, ecn(packet));
    let (psn, corrupt) = (packet.seq & 0xff_ffff, packet.bad_icrc());
    let (own, other) = if from_nic { (packet.src, packet.dst) } else { (packet.dst, packet.src) };
    let (gid, address) = (number(own), number(other));
    let over = if packet.is_v6() { IpVersion::V6 } else { IpVersion::V4 };
    let (mig_req, tail, found) = (packet.mig_req(), packet.has_tail(), packet.found());
    let udp_src = udp_port(if packet.shares_port() { 0 } else { connection });
    let asks = packet.kind == PacketKind::ReadRequest
        || packet.kind == PacketKind::Data && !packet.is_response();
    let (key, other_key) = (if asks { packet.key() } else { 0 }, packet.has_other_key());
    let one = Roce::of(connection, kind, psn, size);
    let one = Roce { over, address, gid, ..one };
    Some(Roce { ecn, dscp, corrupt, udp_src, mig_req, tail, key, other_key, found, ..one })
}

/// The frame of the engine that says the same, from host `src` to host `dst`. A READ request is for nothing: how much it asks for
/// is not said of it.
pub fn packet(roce: &Roce, stream: u16, (src, dst): (u16, u16), class: u8) -> Packet {
    let (src, dst) = (host::at(src, roce.address), host::at(dst, roce.gid));
    let mut packet = Packet::data(stream, src, dst, class, roce.dscp, roce.size);
    packet.seq = roce.psn;
    packet.kind = match roce.kind {
        RoceKind::Data { .. } => PacketKind::Data,
        RoceKind::Ack => PacketKind::Ack,
        RoceKind::Nak | RoceKind::Denied => PacketKind::Nak,
        RoceKind::NotReady(_) => PacketKind::NotReady,
        RoceKind::Cnp { .. } => PacketKind::Cnp,
        RoceKind::ReadRequest => PacketKind::ReadRequest,
    };
    packet = match roce.ecn {
        Ecn::NotEct => packet,
        Ecn::Ect0 => packet.with_ect(true),
        Ecn::Ect1 => packet.with_ect1(),
        Ecn::Ce => packet.with_ect(true).with_ce(true),
    };
    packet = match roce.kind {
        RoceKind::Data { first, last, response } => {
            packet.with_place(first, last).with_response(response)
        }
        RoceKind::Cnp { fault } => packet
            .with_becn(fault != Some(CnpFault::Becn))
            .with_reserved_set(fault == Some(CnpFault::Reserved)),
        RoceKind::NotReady(timer) => packet.with_rnr_timer(timer),
        RoceKind::Denied => packet.with_denial(),
        RoceKind::Ack | RoceKind::Nak | RoceKind::ReadRequest => packet,
    };
    packet = match roce.kind {
        RoceKind::Cnp { .. } => packet,
        RoceKind::Ack => packet.with_found(roce.found).with_mig_req(roce.mig_req),
        _ => packet.with_tail(roce.tail).with_mig_req(roce.mig_req),
    };
    packet = packet.with_key(roce.key);
    if roce.other_key {
        packet = packet.with_other_key();
    }
    packet = packet.with_v6(roce.over == IpVersion::V6);
    if roce.corrupt { packet.with_bad_icrc() } else { packet }
}

/// What a frame of the engine says of congestion.
fn ecn(packet: &Packet) -> Ecn {
    match (packet.ce(), packet.ect(), packet.ect1()) {
        (true, ..) => Ecn::Ce,
        (false, true, true) => Ecn::Ect1,
        (false, true, false) => Ecn::Ect0,
        (false, false, _) => Ecn::NotEct,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rig_frames::roce::aeth::RnrTimer;

    fn any_kind() -> impl Strategy<Value = RoceKind> {
        let data = |(first, last, response)| RoceKind::Data { first, last, response };
        let fault =
            prop::sample::select(vec![None, Some(CnpFault::Becn), Some(CnpFault::Reserved)]);
        prop_oneof![
            any::<(bool, bool, bool)>().prop_map(data),
            fault.prop_map(|fault| RoceKind::Cnp { fault }),
            Just(RoceKind::Ack),
            Just(RoceKind::Nak),
            Just(RoceKind::Denied),
            (0..32_u8).prop_filter_map("five bits", RnrTimer::new).prop_map(RoceKind::NotReady),
            Just(RoceKind::ReadRequest),
        ]
    }

    proptest! {
        #[test]
        fn a_frame_passes_through_the_engine_whole(
            kind in any_kind(),
            (connection, stream) in any::<(u16, u16)>(),
            psn in 0_u32..1 << 24,
            size in 66_u16..9_000,
            ecn in prop::sample::select(vec![Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce]),
            dscp in 0_u8..64,
            corrupt in any::<bool>(),
            (address, gid, is_v6) in (0_u8..100, 0_u8..16, any::<bool>()),
            more in (any::<bool>(), any::<bool>(), prop::option::of(0_u32..1 << 24)),
            (other_key, key) in any::<(bool, u8)>(),
        ) {
            let over = if is_v6 { IpVersion::V6 } else { IpVersion::V4 };
            let one = Roce { over, address, gid, ..Roce::of(connection, kind, psn, size) };
            let one = Roce { ecn, dscp, corrupt, ..one };
            let (mig_req, tail) = (more.0 || matches!(kind, RoceKind::Cnp { .. }), more.1 && matches!(kind, RoceKind::Data { response: false, .. }));
            let found = more.2.filter(|_| kind == RoceKind::Ack);
            let other_key = other_key && matches!(kind, RoceKind::Data { .. });
            let asks = matches!(
                kind,
                RoceKind::ReadRequest | RoceKind::Data { response: false, .. }
            );
            let key = if asks { key } else { 0 };
            let one = Roce { mig_req, tail, key, other_key, found, ..one };
            let through = packet(&one, stream, (0, 1), 3);
            prop_assert_eq!((through.stream, through.src & 0xff, through.dst & 0xff), (stream, 0, 1));
            prop_assert_eq!(roce(&through, connection, false), Some(one));
        }
    }

    #[test]
    fn pfc_is_of_no_connection() {
        assert_eq!(roce(&Packet::pfc(8, 0, rig_units::Quanta::MAX, 64), 0, true), None);
    }
}
