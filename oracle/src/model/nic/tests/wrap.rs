//! Where packet sequence numbers wrap must not show.

use super::bench::*;
use crate::model::nic::{Flow, Verb};
use crate::model::packet::{Packet, PacketKind};
use crate::model::tap::Dir;
use proptest::prelude::*;
use rig_lab::AckTimeout;
use rig_units::{Dur, Time};

/// What passes the rig while a NIC sends from number `psn` on and is told of a hole, and while it receives with holes; numbers
/// counted from `psn`.
fn played(psn: u32, verb: Verb, lost: u32) -> Vec<(Time, Dir, PacketKind, u32, u16)> {
    let mut config = config();
    config.rc.timeout = AckTimeout::Time(Dur::us(7));
    let mut bench = bench(&config);
    bench.network.start_flow(NIC, &Flow { verb, message: 5_000, count: Some(20), psn, ..flow(1) });
    let number = |offset: u32| psn.wrapping_add(offset) & 0xff_ffff;
    let answer =
        |kind, offset| Packet { kind, seq: number(offset), ..Packet::data(1, RIG, NIC, 3, 26, 66) };
    bench.run(Dur::us(2));
    bench.send(answer(PacketKind::Ack, 2));
    bench.send(answer(PacketKind::Nak, lost));
    for offset in (0..10).filter(|&offset| offset != lost) {
        bench.send(data(2, number(offset), false));
        bench.send(data(1, number(offset), false).with_response(true));
    }
    bench.run(Dur::us(30));
    let of = |seen: &Seen| {
        let Packet { kind, seq, size, .. } = seen.packet;
        (seen.at, seen.dir, kind, seq.wrapping_sub(psn) & 0xff_ffff, size)
    };
    bench.seen.iter().map(of).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_first_number_changes_nothing(
        psn in prop_oneof![0..0x100_0000_u32, 0xff_fff0..0x100_0000_u32, 0x7f_fff0..0x80_0010_u32],
        verb in prop_oneof![Just(Verb::Send), Just(Verb::Write), Just(Verb::Read)],
        lost in 3..9_u32,
    ) {
        prop_assert_eq!(played(psn, verb, lost), played(1_000, verb, lost));
    }
}
