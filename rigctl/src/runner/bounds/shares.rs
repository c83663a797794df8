//! Flows through one bottleneck: whether each gets its share, and whether more of them are marked more.

use super::given::{Ran, Said, Seen};
use rig_capture::{Dir, What};
use rig_frames::ip::Ecn;
use rig_testcases::{Roce, RoceKind};
use rig_units::Time;

/// Three flows through a bottleneck that marks none of their packets, the last one from 1 ms on.
fn flows(measure: &str) -> Ran {
    Ran::of(
        "gen2-to-gen2",
        &format!(
            "    dut: {{nic: {{generation: gen2}}, peer: {{generation: gen2}}}}
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

/// What is said of two flows, of which the first gets half of its packets through, and so a third of all.
fn halved(within: u64, change: impl FnOnce(&mut Seen<'_>)) -> Said {
    let within = format!("{}.{:04}%", within / 10_000, within % 10_000);
    let ran = flows(&format!(
        "{{rate.shares: {{flows: [held, free], from: 100us, until: 900us, within: {within}}}}}"
    ));
    ran.changed(|seen| {
        for packet in passed(seen, |flow, _| flow == 0).into_iter().rev().step_by(2) {
            seen.lose(packet);
        }
        change(seen);
    })
}

#[test]
fn a_share_may_be_as_far_off_an_equal_one_as_the_case_says() {
    let of = |flow: &str, within: u64| halved(within, |_| {}).about("rate.shares", flow);
    let (free, held) = (of("free", 400_000).0, of("held", 400_000).0);
    for (flow, most) in [("free", free.lo - 1_000_000), ("held", 1_000_000 - held.hi)] {
        assert!(of(flow, most).2, "{flow} within {most}");
        assert!(!of(flow, most - 1).2, "{flow} within {}", most - 1);
    }
}

#[test]
fn a_flow_is_starved_by_one_cnp_more_than_marks_and_a_share_a_millionth_too_small() {
    let of = |within: u64, cnps: usize, marks: usize| {
        halved(within, |seen| {
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
    let share = of(10_000, 1, 0).spans("rate.shares").0.lo;
    let open = 1_000_000 - share;
    for (within, cnps, marks, starved) in
        [(open - 1, 2, 1, true), (open, 2, 1, false), (open - 1, 2, 2, false)]
    {
        let said = of(within, cnps, marks);
        let of = format!("within {within}, {cnps} CNPs, {marks} marks");
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
