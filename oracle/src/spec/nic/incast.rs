//! How deep the READs of one reader make a queue on their way back: what is under way of all of them, less what leaves meanwhile.

use rig_units::{Bytes, PortSpeed};

/// What waits at the least and at the most before a port of `to` where `asked` bytes of frames are asked for at once, and answered as one stream at the speed of `from`. No more is under way than was
/// asked for. Of a burst of so many the part that its frames are faster than what leaves waits when the last of it comes; what is asked for meanwhile comes on top.
pub fn depth(asked: Bytes, from: PortSpeed, to: PortSpeed) -> [Bytes; 2] {
    let left = u128::from(asked.0) * u128::from(to.bps()) / u128::from(from.bps().max(1));
    let left = u64::try_from(left).unwrap_or(u64::MAX);
    [Bytes(asked.0.saturating_sub(left)), asked]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_burst_the_part_waits_that_comes_faster_than_it_leaves() {
        let [quarter, whole] =
            [25, 100].map(|gbps| PortSpeed::from_bps(gbps * 1_000_000_000).unwrap());
        // 1 MB comes in 80 us, in which a quarter of it leaves.
        assert_eq!(depth(Bytes(1_000_000), whole, quarter), [Bytes(750_000), Bytes(1_000_000)]);
        assert_eq!(depth(Bytes(1_000_000), whole, whole), [Bytes(0), Bytes(1_000_000)]);
    }
}
