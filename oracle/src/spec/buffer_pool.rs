//! What a Spectrum's packet memory is cut into by SONiC's dynamic buffer model (formula F15): headroom for all that is lossless, what
//! is set aside beside it, and the pool that is left.
//!
//! Of ports that are all alike, of which each has its lossless groups and one lossy group, and one ingress pool without a configured
//! size: what SONiC's templates make of a switch. With a shared headroom pool each lossless port keeps 10 KiB of headroom for
//! itself, and what is promised to the groups beyond that is divided by the ratio.
//!
//! A port that is shut counts for nothing: its lossless groups are taken away, its lossy one and its lists have profiles of no size, and the rest
//! is for ports that are up.
//!
//! Left out: ports of eight lanes, several ingress pools, pools with a percentage, queues with a reserve, Spectrum-6.

use super::headroom::Profile;
use rig_lab::SizedFrom;
use rig_units::Bytes;

/// Where it comes from, for reports.
pub const SOURCE: &str = "sonic-swss cfgmgr/buffer_pool_mellanox.lua";

/// Where it comes from that a port which is shut has no lossless group.
pub const SHUT: &str = "sonic-swss cfgmgr/buffermgrdyn.cpp (reclaimReservedBufferForPort), test_port_admin_down of test_buffer.py";

const KIB: u64 = 1_024;
/// Of headroom, for each lossless port of a switch with a shared headroom pool.
const PRIVATE: u64 = 10 * KIB;
/// For each port: mirrored frames on their way out.
const MIRROR: u64 = 10 * KIB;
/// The pool of the management port.
const MANAGEMENT: u64 = 256 * KIB;
/// The shared headroom pool where nothing is promised of it.
const LEAST_SHARED: u64 = 640 * KIB;

/// The ingress pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IngressPool {
    /// What all groups share.
    pub size: Bytes,
    /// The shared headroom pool, where there is one.
    pub xoff: Option<Bytes>,
}

/// The pool of a switch whose ports that are up have so many lossless groups each, of these profiles.
pub fn pool(from: &SizedFrom, profiles: &[Profile], classes: u64) -> IngressPool {
    let ports = u64::try_from(profiles.len()).unwrap_or(u64::MAX);
    let all = |of: fn(&Profile) -> u64| profiles.iter().map(of).sum::<u64>() * classes;
    // A lossy group, and the one of the port's own frames to the processor, take the latency of the pipeline each.
    let pipeline = u64::from(from.pipeline_latency) * KIB;
    let lossy = (pipeline * ports * 2).div_ceil(1_000);
    let beside = (MIRROR + from.port_reserve.0) * ports;
    let aside = all(|profile| profile.size.0) + lossy + beside + MANAGEMENT;
    let lossless_ports = if classes > 0 { ports } else { 0 };
    let (xoff, private) = match from.ratio {
        0 => (None, 0),
        ratio => {
            let promised = all(|of| (of.xon.0 + of.xoff.0).saturating_sub(of.size.0));
            let beyond = promised.saturating_sub(PRIVATE * lossless_ports);
            let shared = match beyond.div_ceil(u64::from(ratio)) {
                0 => LEAST_SHARED,
                shared => shared,
            };
            (Some(shared), PRIVATE * lossless_ports)
        }
    };
    let left = from.memory.0.saturating_sub(aside + private + xoff.unwrap_or(0));
    IngressPool { size: Bytes(left), xoff: xoff.map(Bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::Length;

    fn from(ratio: u32) -> SizedFrom {
        SizedFrom {
            cable: Length(4_000),
            ratio,
            lossless_mtu: Bytes(1_024),
            small_packets: 100,
            own_xoff: None,
            autoneg_port: None,
            advertised: None,
            supported: None,
            port_reserve: Bytes(0),
            max_headroom: None,
            memory: Bytes(42 * KIB * KIB),
            pipeline_latency: 19_000,
            mac_phy_delay: 800,
            peer_response_time: 9_625,
        }
    }

    /// Worked by hand: two ports, two classes each, of 19 KiB of XON and 100 KiB of XOFF.
    #[test]
    fn what_is_left_of_the_memory_is_the_pool() {
        let profile = |size| Profile { xon: Bytes(19 * KIB), xoff: Bytes(100 * KIB), size };
        let own = pool(&from(0), &[profile(Bytes(119 * KIB)); 2], 2);
        // 4 x 119 for the groups, 4 x 19 for lossy groups and the processor's, 2 x 10 mirrored, 256 of management.
        let left = 42 * KIB - (4 * 119 + 4 * 19 + 2 * 10 + 256);
        assert_eq!(own, IngressPool { size: Bytes(left * KIB), xoff: None });
        let shared = pool(&from(2), &[profile(Bytes(19 * KIB)); 2], 2);
        // 4 x 100 are promised, 2 x 10 of them kept by the ports: 190 are there.
        let left = 42 * KIB - (4 * 19 + 4 * 19 + 2 * 10 + 256 + 2 * 10 + 190);
        assert_eq!(shared, IngressPool { size: Bytes(left * KIB), xoff: Some(Bytes(190 * KIB)) });
        // Of a half byte there is a whole one.
        let odd = pool(&from(3), &[profile(Bytes(19 * KIB)); 2], 2);
        assert_eq!(odd.xoff, Some(Bytes((380 * KIB).div_ceil(3))));
        // What no port is promised of is as large as SONiC makes it at least.
        assert_eq!(pool(&from(2), &[profile(Bytes(19 * KIB)); 2], 0).xoff, Some(Bytes(655_360)));
    }

    /// Two ports, two classes each: 119 KiB a group where nobody says otherwise.
    #[test]
    fn what_an_operator_says_of_his_own_counts_as_it_is() {
        let usual =
            Profile { xon: Bytes(19 * KIB), xoff: Bytes(100 * KIB), size: Bytes(119 * KIB) };
        let own = Profile { size: Bytes(150 * KIB), ..usual };
        let of = |other| pool(&from(0), &[usual, other], 2).size.0;
        assert_eq!(of(usual) - of(own), 2 * 31 * KIB);
    }

    /// What a port takes that is up: two groups of 119 KiB, twice 19, 10 and what its list has. In the pool that is shared, 200 KiB are promised
    /// and 10 kept, of which the ratio takes half.
    #[test]
    fn a_port_that_is_shut_gives_all_of_it_back() {
        let usual = |size| Profile { xon: Bytes(19 * KIB), xoff: Bytes(100 * KIB), size };
        let more = |from: &SizedFrom, profile| {
            let [one, two] = [1, 2].map(|ports| pool(from, &vec![profile; ports], 2));
            let shared = one.xoff.zip(two.xoff).map(|(one, two)| (two.0 - one.0) / KIB);
            ((one.size.0 - two.size.0) / KIB, shared)
        };
        let listed = |ratio| SizedFrom { port_reserve: Bytes(9 * KIB), ..from(ratio) };
        let own = usual(Bytes(119 * KIB));
        assert_eq!(more(&from(0), own), (2 * 119 + 2 * 19 + 10, None));
        assert_eq!(more(&listed(0), own), (2 * 119 + 2 * 19 + 10 + 9, None));
        let shared = usual(Bytes(19 * KIB));
        assert_eq!(more(&listed(2), shared), (2 * 19 + 2 * 19 + 10 + 9 + 10 + 95, Some(95)));
    }

    #[test]
    fn a_memory_that_is_too_small_leaves_nothing() {
        let profile = Profile { xon: Bytes(0), xoff: Bytes(0), size: Bytes(42 * KIB * KIB) };
        assert_eq!(pool(&from(0), &[profile], 1).size, Bytes(0));
    }
}
