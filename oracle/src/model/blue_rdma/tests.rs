//! The window by hand, and a sender by itself.

use super::receiver::Receiver;
use super::sender::Sender;
use super::window::Window;
use crate::model::nic::{Flow, Verb};
use crate::model::packet::PacketKind;
use rig_capture::blue_rdma::{ANSWERS, Bitmap, Frame, MEMORY, Says};
use rig_lab::declared::BlueRdma;
use rig_lab::{BlueRdmaFaults, IpVersion};
use rig_testcases::Container;
use rig_units::{Dur, Time};

const NONE: BlueRdmaFaults = BlueRdmaFaults::NONE;

const DECLARED: BlueRdma = BlueRdma {
    hardware: Dur::ZERO,
    driver: Dur::ZERO,
    timeout: 50,
    timeout_late: Dur::ZERO,
    retries: 5,
    cnp_interval: Dur::ZERO,
    psn_window: 1 << 23,
    msn_window: 1 << 15,
};

/// Packets of 64 B of messages of 16, as many as there are.
const FLOW: Flow = Flow {
    id: 1,
    verb: Verb::Write,
    message: 1_024,
    mtu: 64,
    count: None,
    psn: 0,
    dst: 1,
    class: 3,
    dscp: 0,
    pcp: None,
    over: IpVersion::V4,
    gid: 0,
    ect: false,
    container: Container::USUAL,
};

/// What the window says of packets that come one after the other.
fn told(psns: impl IntoIterator<Item = u32>) -> Vec<([u32; 2], [u128; 2])> {
    let mut window = Window::new(&NONE);
    let moved = psns.into_iter().filter_map(|psn| window.take(psn, &NONE));
    moved.map(|moved| (moved.psn, moved.bitmap.map(u128::from))).collect()
}

#[test]
fn a_loss_is_told_when_its_stride_leaves_the_window() {
    // 0 to 127 but for 5, then 128: the golden acknowledgement of the frames.
    let told = told((0..129).filter(|psn| *psn != 5));
    let before = u128::MAX ^ (1 << 5);
    assert_eq!(told, [([112, 128], [before, (u128::MAX >> 16) | (1 << 112)])]);
}

#[test]
fn what_is_late_within_the_window_is_told_by_nobody() {
    assert_eq!(told((0..5).chain(6..128).chain([5]).chain(128..300)), []);
}

#[test]
fn a_leap_over_a_window_leaves_nothing_set_but_what_came() {
    let told = told((0..16).chain([300]));
    assert_eq!(told, [([0, 288], [u128::MAX, 1 << (112 + 12)])]);
}

fn sent(sender: &mut Sender, count: usize) -> Vec<(u32, bool)> {
    let one = |_| {
        let (_, frame) = sender.send(Time::ZERO, 0, &NONE);
        (frame.psn, frame.is_retry)
    };
    (0..count).map(one).collect()
}

fn by_hardware(psn: u32, before_psn: u32, before: u128, now: u128) -> Frame {
    let (before, now) = (Bitmap::from(before), Bitmap::from(now));
    let says = Says::Report { by_driver: false, lost: true, moved: true, before, now, before_psn };
    Frame {
        connection: 1,
        psn,
        msn: 1,
        size: 100,
        is_retry: false,
        ce: false,
        is_send: false,
        immediate: None,
        says,
    }
}

#[test]
fn a_range_begins_with_the_first_message_that_begins_in_it() {
    let mut sender = Sender::new(&FLOW, Time::ZERO);
    sent(&mut sender, 200);
    let whole = Bitmap::from(u128::MAX);
    let says = Says::Report {
        by_driver: true,
        lost: false,
        moved: false,
        before: whole,
        now: whole,
        before_psn: 32,
    };
    let acknowledged = Frame {
        connection: 1,
        psn: 32,
        msn: 1,
        size: 94,
        is_retry: false,
        ce: false,
        is_send: false,
        immediate: None,
        says,
    };
    sender.heed(Time::ZERO, &acknowledged, &NONE);
    let before = u128::MAX ^ (1 << 21);
    sender.heed(Time::ZERO, &by_hardware(144, 112 + 16, before, before >> 16), &NONE);
    // The window before is 16 to 143; packet 37 is missing; up to before 160, but for what is whole before the message in which it is.
    let again = sent(&mut sender, 129);
    assert_eq!(again[0], (32, true));
    assert_eq!(again[127], (159, true));
    assert_eq!(again[128], (200, false));
}

#[test]
fn a_message_that_begins_before_the_range_is_not_sent_again() {
    let long = Flow { message: 64 * 256, ..FLOW };
    let mut sender = Sender::new(&long, Time::ZERO);
    sent(&mut sender, 200);
    let before = u128::MAX ^ (1 << 21);
    sender.heed(Time::ZERO, &by_hardware(144, 128, before, before >> 16), &NONE);
    assert_eq!(sent(&mut sender, 1), [(200, false)]);
    sender.timed_out(Time::ZERO, 1, &NONE);
    assert_eq!(sent(&mut sender, 1), [(0, true)]);
}

#[test]
fn a_driver_posts_a_message_where_both_windows_have_room_for_all_of_it() {
    let of = |psn_window, msn_window, faults: BlueRdmaFaults| {
        let mut sender = Sender::new(&FLOW, Time::ZERO);
        let declared = BlueRdma { psn_window, msn_window, ..DECLARED };
        let mut left = 0;
        while left < 100 && sender.is_ready(0, 0, (&declared, &faults)) {
            left += sent(&mut sender, 1).len();
        }
        left
    };
    assert_eq!([of(31, 9, NONE), of(32, 9, NONE), of(1 << 23, 3, NONE)], [16, 32, 48]);
    // What is longer than the window never leaves.
    assert_eq!(of(15, 9, NONE), 0);
    assert_eq!(of(32, 3, BlueRdmaFaults { window_overrun: true, ..NONE }), 100);
}

#[test]
fn immediate_data_comes_with_the_last_packet_of_a_message_alone() {
    let of = |verb, faults: &BlueRdmaFaults| {
        let mut sender = Sender::new(&Flow { verb, ..FLOW }, Time::ZERO);
        let all: Vec<_> =
            (0..17).filter_map(|_| sender.send(Time::ZERO, 0, faults).1.immediate).collect();
        all
    };
    assert_eq!(of(Verb::WriteWithTail, &NONE), [15]);
    assert_eq!(of(Verb::SendWithTail, &NONE), [15]);
    assert!(of(Verb::Send, &NONE).is_empty());
    let swapped = BlueRdmaFaults { immediate_swapped: true, ..NONE };
    assert_eq!(of(Verb::WriteWithTail, &swapped), [0x0f00_0000]);
}

#[test]
fn the_driver_says_what_is_whole_and_nothing_before() {
    let mut receiver = Receiver::new(0xff_fff8, &NONE);
    let said: Vec<_> = (0..16_u32)
        .filter(|at| *at != 3)
        .flat_map(|at| receiver.take((0xff_fff8 + at) & 0xff_ffff, (true, false, at == 15), &NONE))
        .collect();
    assert_eq!(said.len(), 0);
    let said = receiver.take(0xff_fffb, (true, false, false), &NONE);
    let [(false, frame)] = said[..] else { panic!("{said:?}") };
    assert_eq!(frame.psn, 8);
    assert!(matches!(frame.says, Says::Report { by_driver: true, lost: false, .. }));
}

#[test]
fn a_chunk_takes_one_descriptor_and_what_is_sent_again_one_a_packet() {
    let mut sender = Sender::new(&Flow { message: 64 * 2048, ..FLOW }, Time::ZERO);
    sent(&mut sender, 1);
    assert_eq!(sender.descriptors, 1);
    sent(&mut sender, 1024);
    assert_eq!(sender.descriptors, 2);
    sender.timed_out(Time::ZERO, 1, &NONE);
    sent(&mut sender, 3);
    assert_eq!(sender.descriptors, 5);
}

#[test]
fn a_read_is_over_when_its_request_and_its_answer_are() {
    let mut sender = Sender::new(&Flow { verb: Verb::Read, ..FLOW }, Time::ZERO);
    let (packet, frame) = sender.send(Time::ZERO, 0, &NONE);
    assert_eq!(packet.kind, PacketKind::ReadRequest);
    assert!(matches!(frame.says, Says::Request { .. }));
    assert_eq!(sent(&mut sender, 1), [(1, false)]);
    let whole = Bitmap::from(u128::MAX);
    let says = Says::Report {
        by_driver: true,
        lost: false,
        moved: false,
        before: whole,
        now: whole,
        before_psn: 2,
    };
    let told = Frame { says, ..by_hardware(2, 0, 0, 0) };
    sender.heed(Time::ZERO, &told, &NONE);
    let early = BlueRdmaFaults { read_completes_early: true, ..NONE };
    assert_eq!([0, 1, 5].map(|answered| sender.completed(answered, &NONE)), [0, 1, 2]);
    assert_eq!(sender.completed(0, &early), 2);
}

#[test]
fn a_read_says_where_its_answer_goes_and_an_answer_says_so_in_each_packet() {
    let read = Flow { verb: Verb::Read, ..FLOW };
    let says = |faults: &BlueRdmaFaults| {
        let (_, request) = Sender::new(&read, Time::ZERO).send(Time::ZERO, 0, faults);
        let Says::Request { answer, .. } = request.says else { panic!("{request:?}") };
        let mut answering = Sender::answering(&read, Time::ZERO);
        answering.answer();
        let of = |_| match answering.send(Time::ZERO, 0, faults).1.says {
            Says::Response { address, .. } => address,
            other => panic!("{other:?}"),
        };
        (answer, [0, 1].map(of))
    };
    let all = [ANSWERS, ANSWERS + 64];
    assert_eq!(says(&NONE), (ANSWERS, all));
    let silent = BlueRdmaFaults { second_reth_missing: true, ..NONE };
    assert_eq!(says(&silent), (0, all));
    let bare = BlueRdmaFaults { reth_missing_in_response: true, ..NONE };
    assert_eq!(says(&bare), (ANSWERS, [ANSWERS, 0]));
    let astray = BlueRdmaFaults { answer_where_it_was_read: true, ..NONE };
    assert_eq!(says(&astray), (ANSWERS, [MEMORY, MEMORY + 64]));
}
