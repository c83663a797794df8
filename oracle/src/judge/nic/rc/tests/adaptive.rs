//! A timer whose waits are a list.

use super::*;

/// What is wrong with one packet that nobody acknowledges and that left at these instants: sixteenths of the timeout are 1000.
fn faults(adaptive: &str, left: &[u64]) -> Vec<Fault> {
    let adaptive = serde_json::from_str(adaptive).expect("a list");
    let timeout = AckTimeout::Time(Dur(16_000));
    let rc = Rc { timeout, adaptive, retries: 3, ..rc(1) };
    let sent: Vec<Sent> = left.iter().map(|&at| Sent { at: Time(at), psn: Psn::new(0) }).collect();
    let sight = Sight { until: Time(30_000), ..EXACT };
    sender(&rc, Psn::new(0), &sent, &[], &sight).faults
}

#[test]
fn each_try_comes_after_its_own_wait_and_no_other() {
    let list = "[1, 2, 4]";
    assert_eq!(faults(list, &[0, 1_000, 3_000, 7_000]), []);
    // As late as the port lets it, and no later.
    let late = 1_000 + 2 * GAP;
    assert_eq!(faults(list, &[0, late, late + 2_000, late + 6_000]), []);
    for wrong in [
        &[0, 999, 2_999, 6_999][..],
        &[0, late + 1, late + 2_001, late + 6_001],
        &[0, 1_000, 2_999, 6_999],
        &[0, 1_000, 3_000],
        &[0, 16_000],
        &[0, 1_000, 3_000, 7_000, 11_000],
    ] {
        assert!(!faults(list, wrong).is_empty(), "{wrong:?}");
    }
    // Who declares no list waits as its timeout says.
    assert_eq!(faults("null", &[0, 16_000]), []);
    assert!(!faults("null", &[0, 1_000, 3_000, 7_000]).is_empty());
}
