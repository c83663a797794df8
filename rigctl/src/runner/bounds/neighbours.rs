//! What a tenant gets beside its neighbours.

use super::given::{Ran, Said, Word};
use rig_capture::{Dir, What};
use rig_testcases::RoceKind;

/// A tenant and two neighbours with small messages, through a port of 100G.
fn beside(more: &str, class: u8) -> Ran {
    let text = format!(
        "    dut: {{nic: {{generation: gen2, rc: {{timeout: 0}}}}, peer: {{generation: gen2}}}}
    between: {{delay: 500ns{more}}}
    flows:
      tenant: {{nic: p1, to: p2, class: 3, verb: write, message: 64KiB, mtu: 1024B}}
      small: {{nic: p1, to: p2, class: {class}, verb: write, message: 64B, mtu: 1024B, queue_pairs: 2}}
    steps: [{{at: 0us, start: [tenant, small]}}]
    length: 110us
    trials: 1
    measure: [{{rate.beside: {{flow: tenant, from: 20us, until: 100us}}}}]
"
    );
    Ran::of("gen2-to-gen2", &text)
}

/// What it says with so many packets fewer of one flow.
fn without(ran: &Ran, connection: u16, count: usize) -> Said {
    ran.changed(|seen| {
        let all = seen.roce(0, Dir::Rx, |one| matches!(one, RoceKind::Data { .. }));
        let is_own = |at: &&usize| matches!(seen.observation.records[**at].what, What::Roce(roce) if roce.connection == connection);
        let own: Vec<usize> = all.iter().filter(is_own).copied().collect();
        // In the middle of the stretch.
        let from = own.len() / 2;
        for lost in own[from..from + count].iter().rev() {
            seen.lose(*lost);
        }
    })
}

#[test]
fn what_turns_leave_a_tenant_is_told_to_a_few_packets() {
    let ran = beside("", 3);
    assert_eq!(ran.as_seen().wrong(), "");
    let (read, want, passes) = ran.as_seen().about("rate.beside", "tenant");
    assert!(passes && read.lo >= want.lo && read.lo - want.lo <= 4, "{read:?} in {want:?}");
    let (read, want, passes) = without(&ran, 0, 8).about("rate.beside", "tenant");
    assert!(!passes && read.hi < want.lo, "{read:?} in {want:?}");
}

#[test]
fn what_a_neighbour_leaves_is_the_tenants() {
    // It sends less in its turns: the port would have room for more of the tenant.
    let said = without(&beside("", 3), 1, 100);
    let Word::Fail(got) = said.word("rate.beside") else { panic!("{}", said.wrong()) };
    assert!(got.contains("the port stood idle") && got.contains("small (2 queue pairs"), "{got}");
}

#[test]
fn a_tenant_that_something_else_holds_says_nothing() {
    let lost = ", inject: [{on: tenant, frames: data, psn: 30, do: drop, iteration: 1}]";
    assert_eq!(beside(lost, 3).as_seen().word("rate.beside"), Word::Doubt("not-measured"));
    let marked = ", inject: [{on: small-1, frames: data, psn: 30, do: ce, iteration: 1}]";
    assert_eq!(beside(marked, 3).as_seen().word("rate.beside"), Word::Doubt("not-measured"));
    assert_eq!(beside("", 4).as_seen().word("rate.beside"), Word::Doubt("not-measured"));
}
