//! What the traffic classes of a NIC get of its port: a frame past the round that is left open a class has too little, or too much.

use super::given::{Ran, Seen, Word};
use rig_capture::{Dir, What};
use rig_testcases::{Roce, RoceKind};
use rig_units::{Ppm, Time};

/// Two flows of packets of 4174 B in classes of 30 % and 70 %, from 50 us to 1050 us of 1.1 ms; `more` stands beside them.
fn shared(device: &'static str, precision: Option<Ppm>, seed: u64, more: &str) -> Ran {
    // A CNP that comes when all is over, or one that the test sends.
    let over = if more.contains("once") { "" } else { "      - {at: 1120us, start: once}\n" };
    Ran::seeded(
        device,
        &format!(
            "    dut: {{nic: {{rp: {{enable: true, limiting: packet}}, rc: {{timeout: 0}}, ets: {{priorities: [0, 0, 0, 0, 1, 1, 1, 1], classes: [{{percent: 30}}, {{percent: 70}}]}}}}}}
    flows:
      light: {{nic: p1, class: 3, verb: write, message: 4096B, mtu: 4096B}}
      heavy: {{nic: p1, class: 4, verb: write, message: 4096B, mtu: 4096B}}
    streams: {{once: {{from: p1, class: 6, kind: cnp, of: light, every: 10us, count: 1}}}}
    steps:
      - {{at: 0us, start: [light, heavy], for: 1100us}}
{more}{over}    length: 1200us
    trials: 1
    measure: [{{nic.shares: {{flows: [light, heavy], from: 50us, until: 1050us}}}}]
"
        ),
        seed,
        |profile| {
            if let rig_lab::Declared::Nic(nics) = &mut profile.declared {
                nics.nic.ets.precision = precision;
            }
        },
    )
}

/// Packets of a flow that left between the two instants.
fn packets(seen: &Seen<'_>, connection: u16) -> Vec<usize> {
    let within = Time(60_000_000)..Time(1_040_000_000);
    let all = seen.roce(0, Dir::Rx, |kind| matches!(kind, RoceKind::Data { .. }));
    let own = all.into_iter().filter(|record| {
        let one = &seen.observation.records[*record];
        let What::Roce(Roce { connection: of, .. }) = one.what else { return false };
        of == connection && within.contains(&one.at)
    });
    own.collect()
}

/// Connections: the stream first, then the flows.
const LIGHT: (u16, &str) = (1, "light, traffic class 0");
const HEAVY: (u16, &str) = (2, "heavy, traffic class 1");

#[test]
fn a_class_may_be_a_round_off_its_share_and_no_frame_more() {
    let ran = shared("gen2", None, 7, "");
    assert_eq!(ran.as_seen().wrong(), "");
    for (connection, subject) in [LIGHT, HEAVY] {
        let (read, want, _) = ran.as_seen().about("nic.shares", subject);
        // What a packet in 1 ms comes to.
        let packet = 4_174 * 8 * 1_000;
        let fewer = usize::try_from((read.hi - want.lo) / packet).expect("some packets");
        let more = usize::try_from((want.hi - read.lo) / packet).expect("some packets");
        assert!(fewer > 2 && fewer < 40 && more > 2 && more < 40, "{read:?} in {want:?}");
        for (count, passes) in [(fewer - 1, true), (fewer + 2, false)] {
            let said = ran.changed(|seen| {
                let gone: Vec<usize> = packets(seen, connection).into_iter().take(count).collect();
                gone.into_iter().rev().for_each(|record| seen.lose(record));
            });
            assert_eq!(said.about("nic.shares", subject).2, passes, "{count} fewer, {subject}");
        }
        for (count, passes) in [(more - 1, true), (more + 2, false)] {
            let said = ran.changed(|seen| {
                let all: Vec<_> = packets(seen, connection).into_iter().take(count).collect();
                let all: Vec<_> = all.iter().map(|at| seen.observation.records[*at]).collect();
                all.into_iter().for_each(|record| seen.add(record));
            });
            assert_eq!(said.about("nic.shares", subject).2, passes, "{count} more, {subject}");
        }
    }
}

#[test]
fn a_nic_as_exact_as_it_says_passes_whatever_its_shares_are() {
    for seed in 1..9 {
        let ran = shared("gen2", Some(Ppm(150_000)), seed, "");
        assert_eq!(ran.as_seen().wrong(), "", "seed {seed}");
    }
}

#[test]
fn what_is_held_or_ends_in_between_shows_no_share() {
    let word = |more: &str| shared("gen2", None, 7, more).as_seen().word("nic.shares");
    let pfc = "      - {at: 500us, pfc: {from: p1, classes: [3], quanta: 100q}}\n";
    assert_eq!(word(pfc), Word::Doubt("not-observable"));
    // One that is over before is none, and neither is one of a priority without PFC.
    assert_eq!(word(&pfc.replace("500us", "20us")), Word::Pass);
    assert_eq!(word(&pfc.replace("[3]", "[6]")), Word::Pass);
    assert_eq!(word("      - {at: 800us, stop: light}\n"), Word::Doubt("not-measured"));
    // A limiter that recovers before the first instant, and one that is told in between.
    for at in ["5us", "400us"] {
        let cnp = format!("      - {{at: {at}, start: once}}\n");
        assert_eq!(word(&cnp), Word::Pass, "{at}");
    }
}
