//! Frames of the outside world, and when to come back.

use super::bench::{bench, ms};
use crate::model::network::Delivered;
use crate::model::packet::Packet;
use crate::model::tap::NoTap;
use rig_units::{Dur, Quanta, Time};

#[test]
fn an_idle_device_wants_to_be_run_at_its_polls() {
    let mut dut = bench().dut;
    let first = dut.next_event();
    assert!(first < ms(100), "{first}");
    dut.run_until(first, &mut NoTap);
    assert_eq!(dut.next_event(), first, "a poll at the present is still to come");
    dut.run_until(first + Dur(1), &mut NoTap);
    assert_eq!(dut.next_event(), first + Dur::ms(100));
}

#[test]
fn what_is_delivered_is_due_before_the_next_poll() {
    let mut dut = bench().dut;
    assert_eq!(dut.deliver(0, Packet::data(0, 0, 1, 3, 3, 1_024), &mut NoTap), Delivered::Held);
    assert_eq!(dut.next_event(), Time::ZERO + Dur::ns(600), "the forwarding delay");
}

#[test]
fn a_poll_comes_after_what_is_delivered_at_its_instant() {
    let mut dut = bench().dut;
    let poll = dut.next_event();
    dut.run_until(poll, &mut NoTap);
    assert_eq!(
        dut.deliver(2, Packet::pfc(1 << 3, 0, Quanta::MAX, 64), &mut NoTap),
        Delivered::Done
    );
    assert_eq!((dut.now(), dut.next_event()), (poll, poll), "the poll is still to come");
    assert_eq!(dut.network().queue_view(2, 3).pfc_rx_pkts, 1);
}
