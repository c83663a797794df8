//! What only a socket of one's own shows: a queue that someone holds without a program, and a program that is refused.

use super::bpf::Program;
use super::insn::exit;
use super::mapping::Regions;
use super::open;
use super::rx::Receiver;
use super::socket::{Binding, CHUNK, Rings, Sizes, Socket};
use super::tx::Sender;
use crate::netlab::Namespace;
use crate::netlab::tests::{namespace, pair_in};
use crate::netlink::Route;
use crate::port::interface::Interface;
use crate::port::{Config, Fault, Mono, Port, PortError, wait};
use netlink_packet_route::link::LinkAttribute;
use nix::errno::Errno;
use rig_units::Dur;
use std::thread;

fn port(within: &Namespace) -> Result<Port, PortError> {
    let mut config = Config::new("v1");
    config.ring = 64;
    within.run(|| Port::open(&config)).expect("inside")
}

/// Both halves of a port on an interface of its own; `None` where the process may not make one.
pub(super) fn halves() -> Option<(Sender, Receiver)> {
    let own = namespace()?;
    pair_in(&own, 1_500);
    let mut config = Config::new("v1");
    (config.ring, config.slots) = (64, 4);
    let opened = own.run(|| {
        let interface = Interface::named("v1").expect("there");
        open::halves(&config, &interface).expect("a port")
    });
    let (tx, rx, _) = opened.expect("inside");
    Some((tx, rx))
}

/// A socket that holds queue 0 of `v1`, without a program.
fn holder() -> (Socket, Rings, Regions) {
    let memory = Regions::map((64 * CHUNK, 1), 0).expect("memory");
    let socket = Socket::new().expect("a socket");
    let rings = socket.equip(&memory, Sizes { rx: 64, tx: 64 }).expect("rings");
    let index = Interface::named("v1").expect("there").index;
    let way = Binding { zero_copy: false, multi_buffer: false };
    socket.bind(index, 0, way).expect("free");
    (socket, rings, memory)
}

#[test]
fn a_queue_that_stays_busy_is_given_up_after_two_seconds() {
    let Some(own) = namespace() else { return };
    pair_in(&own, 1_500);
    let held = own.run(holder).expect("inside");
    let start = Mono::now();
    let error = port(&own).expect_err("held");
    assert_eq!(error.fault, Fault::Busy { queue: 0, waited: Dur::s(2) });
    assert!(Mono::now().since(start) >= Some(Dur::s(2)));
    drop(held);
    port(&own).expect("free");
}

#[test]
fn a_queue_that_comes_free_meanwhile_is_taken() {
    let Some(own) = namespace() else { return };
    pair_in(&own, 1_500);
    let held = own.run(holder).expect("inside");
    thread::scope(|scope| {
        let opened = scope.spawn(|| port(&own));
        wait::pause(Dur::ms(300));
        assert!(!opened.is_finished(), "nothing was in the way");
        drop(held);
        opened.join().expect("a thread").expect("free in time");
    });
}

#[test]
fn a_program_that_the_verifier_refuses_is_told_with_its_reason() {
    if namespace().is_none() {
        return;
    }
    // Ends without an answer in R0.
    let fault = Program::load(&[exit()]).expect_err("no answer");
    assert_eq!(fault, Fault::Rejected { errno: Errno::EACCES, log: "R0 !read_ok".to_owned() });
}

#[test]
fn a_port_asks_for_frames_to_every_address_until_it_is_closed() {
    let Some(own) = namespace() else { return };
    pair_in(&own, 1_500);
    let asked = || {
        let link = Route::open().and_then(|route| route.link_named("v1")).expect("there");
        let count = link.attributes.iter().find_map(|attribute| match attribute {
            LinkAttribute::Promiscuity(count) => Some(*count),
            _ => None,
        });
        count.expect("a count")
    };
    assert_eq!(own.run(asked), Ok(0));
    let open = port(&own).expect("a port");
    assert_eq!(own.run(asked), Ok(1));
    drop(open);
    assert_eq!(own.run(asked), Ok(0));
}
