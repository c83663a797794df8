//! Flows through one bottleneck: whether each gets its share, and whether more of them are marked more.

use super::given::{Ran, Said, Seen};
use core::ops::RangeInclusive;
use rig_capture::{Dir, What};
use rig_frames::ip::Ecn;
use rig_testcases::{Roce, RoceKind};
use rig_units::Time;

/// Three flows through a bottleneck that marks none of their packets, the last one from 1 ms on.
fn flows(measure: &str) -> Ran {
    flows_to("generation: gen2", measure)
}

/// The same to a NIC that is configured so.
fn flows_to(peer: &str, measure: &str) -> Ran {
    Ran::of(
        "gen2-to-gen2",
        &format!(
            "    dut: {{nic: {{generation: gen2}}, peer: {{{peer}}}}}
    between: {{delay: 1us, bottleneck: {{to: p2, speed: 50Gbps, kmin: 20MB, kmax: 24MB, pmax: 10%, buffer: 32MB}}}}
    flows:
      held: {{nic: p1, to: p2, class: 3, verb: write, message: 64KiB, mtu: 4096B}}
      free: {{nic: p1, to: p2, class: 3, verb: write, message: 64KiB, mtu: 4096B}}
      late: {{nic: p1, to: p2, class: 3, verb: write, message: 64KiB, mtu: 4096B}}
    steps:
      - {{at: 0us, start: [held, free], for: 2ms}}
      - {{at: 1ms, start: late, for: 1ms}}
    length: 3ms
    trials: 1
    measure: [{measure}]
"
        ),
    )
}

/// Packets that the rig passed on to their receiver, by the number of their flow and when.
fn passed(seen: &Seen<'_>, is: impl Fn(u16, Time) -> bool) -> Vec<usize> {
    seen.all(|one| match one.what {
        What::Roce(Roce { kind: RoceKind::Data { .. }, connection, .. }) => {
            one.dir == Dir::Tx && is(connection, one.at)
        }
        _ => false,
    })
}

/// A packet comes marked, or a CNP is there beside it that passes that way.
fn congested(seen: &mut Seen<'_>, packet: usize, cnp: Option<Dir>) {
    let mut record = seen.observation.records[packet];
    let What::Roce(roce) = &mut record.what else { panic!("a packet") };
    match cnp {
        None => {
            roce.ecn = Ecn::Ce;
            seen.observation.records[packet] = record;
        }
        Some(dir) => {
            roce.kind = RoceKind::Cnp { fault: None };
            record.dir = dir;
            seen.add(record);
        }
    }
}

/// Two flows that share a path from 100 to 900 us.
const SHARES: &str = "{rate.shares: {flows: [held, free], from: 100us, until: 900us}}";

/// What is said of them where some packets of the first do not get through.
fn thinned(ran: &Ran, is_lost: impl Fn(usize) -> bool, change: impl FnOnce(&mut Seen<'_>)) -> Said {
    ran.changed(|seen| {
        let lost = passed(seen, |flow, _| flow == 0).into_iter().enumerate();
        let lost: Vec<usize> = lost.filter(|(nth, _)| is_lost(*nth)).map(|(_, at)| at).collect();
        lost.into_iter().rev().for_each(|packet| seen.lose(packet));
        change(seen);
    })
}

/// What two frames are of an equal share: 5 MB get through in 800 us at 50 Gb/s, or three quarters of that, in frames of some 4170 B.
const ENDS: RangeInclusive<u64> = 1_500..=2_600;

#[test]
fn a_share_is_off_once_an_equal_one_is_not_among_those_that_it_may_be() {
    // One packet in so many of the first flow is lost; nothing is said where that leaves no bound.
    let ran = flows(SHARES);
    let of = |one_in: usize| {
        let said = thinned(&ran, |nth| nth % one_in == 0, |_| {});
        let one = said.of("rate.shares").find(|one| one.subject == "held")?;
        let (span, want, passes) = (one.reading.span, one.prediction.span, one.findings.is_empty());
        assert!(ENDS.contains(&(1_000_000 - want.lo)), "{want:?}");
        assert_eq!(passes, span.hi >= want.lo, "one in {one_in}: {span:?} of {want:?}");
        Some((passes, span.hi.abs_diff(want.lo)))
    };
    let told: Vec<(bool, u64)> = (2..60).filter_map(of).collect();
    assert!(!told[0].0, "half of it lost");
    // The nearest on either side of the bound.
    for is_equal in [false, true] {
        let nearest =
            told.iter().filter(|(passes, _)| *passes == is_equal).map(|(_, off)| off).min();
        assert!(nearest.is_some_and(|off| *off < 100_000), "{is_equal}: {told:?}");
    }
}

#[test]
fn a_flow_is_starved_by_one_cnp_more_than_marks_where_it_has_less_than_an_equal_share() {
    let of = |ran: &Ran, is_lost: fn(usize) -> bool, cnps: usize, marks: usize| {
        thinned(ran, is_lost, |seen| {
            // In one of 64 batches nothing is sent: no share settles.
            let quiet = Time(500_000_000)..Time(512_500_000);
            for packet in passed(seen, |_, at| quiet.contains(&at)).into_iter().rev() {
                seen.lose(packet);
            }
            for (count, cnp) in [(cnps, Some(Dir::Rx)), (marks, None)] {
                for nth in 0..count {
                    let packet = passed(seen, |flow, _| flow == 0)[nth];
                    congested(seen, packet, cnp);
                }
            }
        })
    };
    let half: fn(usize) -> bool = |nth| nth % 2 == 0;
    let (marked, nak) =
        (flows(SHARES), flows_to("generation: gen2, np: {nak_earns: true}", SHARES));
    // A NAK earns one where that is declared: of what is lost here the first packet is asked for, and never comes.
    let all = [(&marked, 2, 1, true), (&marked, 2, 2, false), (&marked, 0, 0, false)];
    let all = all.into_iter().chain([(&nak, 2, 1, false), (&nak, 3, 1, true)]);
    for (ran, cnps, marks, starved) in all {
        let said = of(ran, half, cnps, marks);
        let of = format!("{cnps} CNPs, {marks} marks");
        assert_eq!(said.fails("rate.shares"), starved, "{of}");
        assert_eq!(said.of("rate.shares").count(), usize::from(starved), "{of}");
    }
}

#[test]
fn more_senders_are_marked_more_and_as_much_is_not_more() {
    let ran = flows(
        "{rate.fixed_point: {windows: [{flows: [held, free], from: 100us, until: 900us}, {flows: [held, free, late], from: 1100us, until: 1900us}]}}",
    );
    for (subject, cnp) in [("marked, 3 senders", None), ("CNPs a second, 3 senders", Some(Dir::Tx))]
    {
        // One of the first window or not, so that the queue was met, and so many of the second.
        let grows = |met: bool, count: usize| {
            let said = ran.changed(|seen| {
                let later = |at: Time| at > Time(1_200_000_000);
                if met {
                    let first = |at: Time| at > Time(200_000_000) && at < Time(800_000_000);
                    let packet = passed(seen, |flow, at| flow == 0 && first(at))[0];
                    congested(seen, packet, cnp);
                }
                for nth in 0..count {
                    let packet = passed(seen, |flow, at| flow == 0 && later(at))[nth];
                    congested(seen, packet, cnp);
                }
            });
            said.about("rate.fixed_point", subject).2
        };
        assert!(!grows(true, 0) && grows(false, 1), "{subject}");
    }
    // None at all is no growth of nothing: the queue was never met.
    assert!(ran.as_seen().of("rate.fixed_point").next().is_none());
}
