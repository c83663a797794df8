//! Two ports a side in each of two memories: what one holds the other does not know of.

use super::*;
use crate::model::switch;
use rig_units::PortSpeed;

/// 2 MB, of which each memory has a half; a lone group gets a ninth of that, and 4 096 B of its own.
fn config(faults: BufferFaults) -> buffer::Config {
    let plain = switch::Config::plain(4, PortSpeed::G100).buffer;
    buffer::Config { pool: 2_000_000, lossy_pool: 2_000_000, faults, ..plain }
}

fn by_ingress(faults: BufferFaults) -> PacketMemories {
    let layout = MemoryLayout { ingress: vec![0, 0, 1, 1], egress: Vec::new() };
    PacketMemories::new(&config(faults), &layout, 4)
}

fn place(from: usize, to: usize) -> Place {
    Place { from, to, class: 3, size: 1_000 }
}

/// Frames taken in until the first that is not within.
fn fill(memories: &mut PacketMemories, place: Place) -> u32 {
    (0..).find(|_| memories.admit(place) != Admission::Within).expect("a limit")
}

#[test]
fn a_hog_in_one_memory_leaves_the_other_as_it_is() {
    // (1 000 000 - S) / 8 = S: 111 111 B and the reserve are 115 frames; the next of the same memory gets an eighth of what is left of 888 889 B.
    let mut memories = by_ingress(BufferFaults::NONE);
    assert_eq!(fill(&mut memories, place(0, 1)), 115);
    assert_eq!(fill(&mut memories, place(2, 1)), 115);
    assert_eq!(fill(&mut memories, place(3, 1)), 102);
    let wrong = BufferFaults { memory_of_egress: true, ..BufferFaults::NONE };
    let mut memories = by_ingress(wrong);
    assert_eq!(fill(&mut memories, place(0, 1)), 115);
    assert_eq!(fill(&mut memories, place(2, 1)), 102);
}

#[test]
fn a_group_is_over_by_either_part_and_falls_back_by_both() {
    let layout = MemoryLayout { ingress: Vec::new(), egress: vec![0, 0, 1, 1] };
    let mut memories = PacketMemories::new(&config(BufferFaults::NONE), &layout, 4);
    let (here, there) = (place(0, 1), place(0, 2));
    assert_eq!((fill(&mut memories, here), fill(&mut memories, there)), (115, 115));
    assert_eq!(memories.held(0, 3), (2_000, 230_000));
    assert_eq!(memories.depth(1, 3).bytes, 116_000);
    let mut left = [0, 0];
    for (left, place) in left.iter_mut().zip([here, there]) {
        assert!(!memories.resumes(0, 3));
        for _ in 0..116 {
            memories.release(place);
            *left += 1;
        }
    }
    assert!(memories.resumes(0, 3) && memories.shared() == 0);
    assert_eq!(memories.pools().ingress.peak(), 2 * 110_904);
}

#[test]
fn ports_are_dealt_to_pipes_as_many_to_each() {
    let mut declared = rig_lab::Buffer::plain(1, 0);
    declared.ingress_memories = Some(Memories::Pipes(vec![0, 1, 1, 0]));
    declared.egress_memories = Some(Memories::Each(3));
    let MemoryLayout { ingress, egress } = MemoryLayout::declared(&declared, 8);
    assert_eq!(ingress, [0, 0, 1, 1, 1, 1, 0, 0]);
    assert_eq!(egress, [0, 0, 0, 1, 1, 1, 2, 2]);
}
