//! The rig tells the switch behind its ports who is there, by LLDP: a port of DPDK is none of the kernel's, so that no `lldpd` beside the rig
//! could.

use rig_dut::Introduction;
use rig_frames::lldp::Repr;
use rig_generator::Lane;
use rig_generator::port::PortError;
use rig_testcases::wire::rig_mac;

/// For how many seconds it holds: SONiC looks at what its own `lldpd` has heard every ten.
const HOLDS: u16 = 30;

/// Sends it out of each port, once.
///
/// # Errors
/// A port is down or gone.
pub(super) fn introduce(lanes: &mut [Lane]) -> Result<(), PortError> {
    let Introduction { chassis, name } = Introduction::of_this_machine();
    for (index, lane) in (0..).zip(lanes) {
        let port = Introduction::port(index);
        let told = Repr { chassis: chassis.clone(), port, ttl: HOLDS, name: name.clone() };
        let bytes = told.frame(rig_mac(index));
        let Some(mut frame) = lane.tx.alloc() else { continue };
        lane.tx.bytes(&mut frame)[..bytes.len()].copy_from_slice(&bytes);
        lane.tx.stage(frame, bytes.len());
        lane.tx.publish();
        lane.tx.kick()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::wire::bench::lane;
    use rig_generator::clock::Manual;
    use rig_generator::port::memory;
    use rig_units::{Dur, PortSpeed};

    /// Whatever carries the frames: a port in memory stands for any.
    #[test]
    fn each_port_says_which_one_it_is_once() {
        let clock = Manual::default();
        let ends = [0, 1].map(|_| memory::pair(&clock, 2, 600));
        let (near, mut far): (Vec<_>, Vec<_>) = ends.into_iter().unzip();
        let open = near.into_iter().map(|port| lane(port, PortSpeed::G10, Dur::us(1), true));
        let mut lanes: Vec<Lane> = open.collect();
        introduce(&mut lanes).expect("they are up");
        let own = Introduction::of_this_machine();
        for ((_, rx), port) in far.iter_mut().zip(["p1", "p2"]) {
            let mut told = Vec::new();
            rx.poll(&mut |frame, _| told.push(frame.to_vec())).expect("it is up");
            let [frame] = told.as_slice() else { panic!("{told:?}") };
            assert_eq!(
                (&frame[..6], &frame[12..14]),
                (&[1, 0x80, 0xc2, 0, 0, 0x0e][..], &[0x88, 0xcc][..])
            );
            let has = |text: &str| frame.windows(text.len()).any(|part| part == text.as_bytes());
            assert!(has(&own.chassis) && has(port), "{frame:?}");
        }
    }
}
