//! Headroom that an operator gives lossless groups himself, in place of what a Spectrum's rule makes: what of it holds, and where it is
//! refused because the port can have no more.
//!
//! Before a group of such a profile is made, the buffer manager adds up what the port would take then: its groups, and beside them a lossy
//! group, what the port's own frames to the processor take, mirrored frames and 4 KiB against what is not known better. Only what is less than
//! the port can have is taken; what is not leaves the groups as they were: what the rule makes, for the rig sets nothing of its own before it has
//! seen that in effect.
//!
//! Left out: what a port can have of shared headroom (`port_max_shp`, `port_reserved_shp` of the chip's row), by which a switch may refuse more; groups
//! of a port that are bound in rows of their own, which a switch checks one after the other.

use super::headroom::Profile;
use rig_lab::SizedFrom;
use rig_units::Bytes;

/// Where it comes from, for reports.
pub const SOURCE: &str = "sonic-swss cfgmgr/buffer_check_headroom_mellanox.lua";

const KIB: u64 = 1_024;
/// Mirrored frames on their way out, and what is not known better.
const ASIDE: u64 = 20 * KIB + 4 * KIB;

/// The profile of a lossless group, of so many at a port, for which the rule makes `rule`.
pub fn in_effect(from: &SizedFrom, rule: Profile, classes: u64) -> Profile {
    let Some(xoff) = from.own_xoff else { return rule };
    let size = if from.ratio > 0 { rule.xon } else { Bytes(rule.xon.0 + xoff.0) };
    let own = Profile { xon: rule.xon, xoff, size };
    if fits(from, own, classes) { own } else { rule }
}

/// Whether a port can have so many groups of this profile.
pub fn fits(from: &SizedFrom, profile: Profile, classes: u64) -> bool {
    let Some(Bytes(most)) = from.max_headroom else { return true };
    // The lossy group and that of the processor's frames: twice the pipeline, in thousandths of a byte.
    let pipelines = 2 * u128::from(from.pipeline_latency) * u128::from(KIB);
    let groups = u128::from(profile.size.0) * u128::from(classes);
    (u128::from(ASIDE) + groups) * 1_000 + pipelines < u128::from(most) * 1_000
}

/// Why it may have refused an operator's own headroom by a limit that no profile has; `None`: all that could refuse it is known.
pub fn limit_not_known(from: &SizedFrom) -> Option<&'static str> {
    from.own_xoff?;
    if from.ratio > 0 {
        return Some(
            "how much shared headroom its chip lets a port have is in no profile (port_max_shp)",
        );
    }
    let known = from.max_headroom.is_some();
    (!known).then_some(
        "how much headroom a port can have is not declared (dynamic_buffer.max_headroom)",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::Length;

    fn from(own_xoff: Option<u64>, most: Option<u64>, ratio: u32) -> SizedFrom {
        SizedFrom {
            cable: Length(4_000),
            ratio,
            lossless_mtu: Bytes(1_024),
            small_packets: 100,
            own_xoff: own_xoff.map(|kib| Bytes(kib * KIB)),
            autoneg_port: None,
            advertised: None,
            supported: None,
            port_reserve: Bytes(0),
            max_headroom: most.map(Bytes),
            memory: Bytes(42 * KIB * KIB),
            pipeline_latency: 19_000,
            mac_phy_delay: 800,
            peer_response_time: 9_625,
        }
    }

    const RULE: Profile =
        Profile { xon: Bytes(19 * KIB), xoff: Bytes(100 * KIB), size: Bytes(119 * KIB) };

    /// Worked by hand: two groups of 19 and 200 KiB, twice the pipeline of 19, 20 and 4 are 500 KiB.
    #[test]
    fn what_an_operator_says_holds_as_long_as_it_is_less_than_the_port_can_have() {
        let own = Profile { xoff: Bytes(200 * KIB), size: Bytes(219 * KIB), ..RULE };
        let of = |most| in_effect(&from(Some(200), most, 0), RULE, 2);
        assert_eq!(of(None), own);
        assert_eq!(of(Some(500 * KIB + 1)), own);
        assert_eq!(of(Some(500 * KIB)), RULE, "as much as it can have is too much");
        assert_eq!(in_effect(&from(None, Some(1), 0), RULE, 2), RULE, "nobody says anything");
    }

    /// What is shared each group has not for itself: two of 19 KiB, and 62 beside them.
    #[test]
    fn of_shared_headroom_a_group_has_what_lies_below_xoff_alone() {
        let own = Profile { xoff: Bytes(200 * KIB), size: Bytes(19 * KIB), ..RULE };
        let of = |most| in_effect(&from(Some(200), Some(most), 2), RULE, 2);
        assert_eq!((of(100 * KIB + 1), of(100 * KIB)), (own, RULE));
    }

    #[test]
    fn a_limit_that_no_profile_has_may_refuse_what_an_operator_says() {
        let why = |own, most, ratio| limit_not_known(&from(own, most, ratio));
        assert_eq!([why(None, None, 2), why(Some(1), Some(1), 0)], [None, None]);
        assert!(why(Some(1), None, 0).is_some_and(|why| why.contains("max_headroom")));
        assert!(why(Some(1), Some(1), 2).is_some_and(|why| why.contains("port_max_shp")));
    }

    #[test]
    fn a_fraction_of_a_byte_counts() {
        let odd = |most| SizedFrom { pipeline_latency: 1, ..from(Some(0), Some(most), 2) };
        let none = Profile { xon: Bytes(0), xoff: Bytes(0), size: Bytes(0) };
        assert!(!fits(&odd(24 * KIB), none, 2) && !fits(&odd(24 * KIB + 2), none, 2));
        assert!(fits(&odd(24 * KIB + 3), none, 2), "2.048 B of a pipeline");
    }
}
