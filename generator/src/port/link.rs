//! What the rig asks of an interface, and does to it, without a port on it.

use super::interface::Interface;
use super::{Attached, Fault, PortError};
use crate::netlink::{self, Route};
use nix::errno::Errno;
use rig_units::Dur;

/// A network interface at one moment, in the network namespace of the thread that asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The longest frame, from behind the Ethernet header on.
    pub mtu: usize,
    /// The longest frame, from the destination MAC on, without the check sequence.
    pub longest: usize,
    /// Whether it was set up.
    pub up: bool,
    /// Whether its link is up.
    pub carrier: bool,
    /// Whether it is one end of a pair of virtual interfaces, over which frames pass in no time.
    pub pair: bool,
    /// The XDP program on it, by the kernel's number, and where it sits.
    pub program: Option<(u32, Attached)>,
}

impl Link {
    /// The interface of that name.
    ///
    /// # Errors
    /// There is none.
    pub fn named(name: &str) -> Result<Link, PortError> {
        let seen = Interface::named(name)?;
        Ok(Link {
            mtu: seen.mtu,
            longest: seen.longest(),
            up: seen.up,
            carrier: seen.link,
            pair: seen.pair,
            program: seen.program,
        })
    }

    /// Sets the interface of that name down.
    ///
    /// # Errors
    /// There is none, or the process may not.
    pub fn down(name: &str) -> Result<(), PortError> {
        set(name, false)
    }

    /// Sets the interface of that name up, and waits for nothing.
    ///
    /// # Errors
    /// There is none, or the process may not.
    pub fn raise(name: &str) -> Result<(), PortError> {
        set(name, true)
    }

    /// Sets the interface of that name up and waits for its link, which may take as long as `settle`.
    ///
    /// # Errors
    /// There is none, the process may not, or the link stays down.
    pub fn up(name: &str, settle: Dur) -> Result<(), PortError> {
        set(name, true)?;
        Interface::linked(name, settle).map(|_| ()).map_err(|fault| fault.at(name))
    }
}

fn set(name: &str, up: bool) -> Result<(), PortError> {
    let tried = if up { "set the interface up" } else { "set the interface down" };
    let done = Route::open().and_then(|route| route.tell(netlink::set_up(name, up), 0));
    done.map_err(|errno| match errno {
        Errno::ENODEV => Fault::NoInterface.at(name),
        errno => Fault::of(tried, errno).at(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlab::tests::{namespace, pair_in};

    #[test]
    fn an_interface_goes_down_and_comes_back_with_its_link() {
        let Some(own) = namespace() else { return };
        pair_in(&own, 1_500);
        let (before, down, up) = own
            .run(|| {
                let before = Link::named("v1");
                Link::down("v1").expect("it is there");
                let down = Link::named("v1");
                Link::up("v1", Dur::s(1)).expect("the other end is up");
                (before, down, Link::named("v1"))
            })
            .expect("inside");
        let before = before.expect("it is there");
        assert!(
            before.up && before.carrier && before.pair && before.longest == 1_514,
            "{before:?}"
        );
        let down = down.expect("it is there");
        assert!(!down.up && !down.carrier, "{down:?}");
        assert_eq!(up, Ok(before));
    }

    #[test]
    fn a_link_that_stays_down_and_an_interface_that_is_not_there_are_told() {
        let Some(own) = namespace() else { return };
        pair_in(&own, 1_500);
        own.set_up("v2", false).expect("it is there");
        let said = own
            .run(|| [Link::up("v1", Dur::ms(20)), Link::down("v9"), Link::named("v9").map(|_| ())])
            .expect("inside");
        let said = said.map(|answer| answer.expect_err("neither").to_string());
        insta::assert_snapshot!(said.join("\n"));
    }
}
