//! The queue of a flow.

use super::*;

/// A frame of UDP between two addresses, `tags` VLAN tags in front of it.
fn frame(tags: usize, v6: bool, port: u16, behind: u8) -> Vec<u8> {
    let mut frame = vec![2; 12];
    for _ in 0..tags {
        frame.extend([0x81, 0, 0, 7]);
    }
    if v6 {
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, behind, 17, 64]);
        frame.extend([0xfd; 32]);
    } else {
        frame.extend([8, 0, 0x45, 0, 0, 60, behind, behind, 0, 0, 64, 17, behind, behind]);
        frame.extend([10, 0, 0, 1, 10, 0, 1, 1]);
    }
    frame.extend(port.to_be_bytes());
    frame.extend([0x12, 0xb7, behind, behind]);
    frame.resize(frame.len() + 40, behind);
    frame
}

#[test]
fn a_flow_has_one_queue_whatever_else_its_frames_say() {
    for (tags, v6) in [(0, false), (1, false), (2, true), (0, true)] {
        for port in 0xc000..0xc040 {
            let queues: Vec<usize> =
                (0..8).map(|behind| queue(&frame(tags, v6, port, behind), 4)).collect();
            assert!(queues.iter().all(|queue| *queue == queues[0] && *queue < 4), "{queues:?}");
        }
    }
}

#[test]
fn flows_that_differ_in_their_source_port_alone_are_spread() {
    for v6 in [false, true] {
        let mut count = [0; 4];
        (0xc000..0xc400).for_each(|port| count[queue(&frame(0, v6, port, 1), 4)] += 1);
        // Of 1024 flows 256 each, give or take what chance does in one of a million cases: five times 13.9.
        assert!(count.iter().all(|count| (186..=326).contains(count)), "{count:?}");
    }
}

#[test]
fn what_is_no_ip_goes_by_the_first_and_so_does_what_is_cut_off() {
    let pfc = [&[1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 8, 1, 1][..], &[0; 44]].concat();
    let whole = frame(1, false, 0xc001, 1);
    let cut = (0..36).map(|len| &whole[..len]);
    for frame in cut.chain([&pfc[..]]) {
        assert_eq!(queue(frame, 7), 0, "{frame:?}");
    }
    assert_eq!(queue(&whole, 1), 0);
}
