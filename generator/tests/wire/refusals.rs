//! A port that cannot be opened says what is in the way.

use crate::lab::{Lab, open};
use rig_generator::port::{Attach, Attached, Backend, Config, Fault, Mono, PortError};
use rig_units::Dur;

const BACKENDS: [Backend; 2] = [Backend::AfXdp, Backend::AfPacket];

fn refused(lab: &Lab, name: &str, set: impl Fn(&mut Config) + Sync) -> PortError {
    match open(&lab.one, name, set) {
        Ok(port) => panic!("opened, and is {:?}", port.caps),
        Err(error) => {
            assert_eq!(error.interface, name);
            error
        }
    }
}

#[test]
fn an_interface_that_is_not_there_is_named() {
    let Some(lab) = Lab::new(1_500) else { return };
    for backend in BACKENDS {
        for name in ["v2", "", "a-name-of-more-than-15-bytes", "v\0"] {
            let error = refused(&lab, name, |config| config.backend = backend);
            assert_eq!(error.fault, Fault::NoInterface, "{name:?}");
        }
    }
}

#[test]
fn an_interface_that_is_down_is_left_down() {
    let Some(lab) = Lab::new(1_500) else { return };
    lab.one.set_up("v1", false).expect("down");
    for backend in BACKENDS {
        let error = refused(&lab, "v1", |config| config.backend = backend);
        assert_eq!(error.fault, Fault::Down);
    }
}

#[test]
fn a_link_is_given_time_and_no_more() {
    let Some(lab) = Lab::new(1_500) else { return };
    lab.other.set_up("v2", false).expect("down");
    for backend in BACKENDS {
        let start = Mono::now();
        let error = refused(&lab, "v1", |config| {
            (config.backend, config.settle) = (backend, Dur::ms(50));
        });
        assert_eq!(error.fault, Fault::NoLink { waited: Dur::ms(50) });
        assert!(Mono::now().since(start) >= Some(Dur::ms(50)));
        // A link that comes up meanwhile is good enough.
        std::thread::scope(|scope| {
            let opened = scope.spawn(|| open(&lab.one, "v1", |config| config.backend = backend));
            lab.other.set_up("v2", true).expect("up");
            assert!(opened.join().expect("a thread").is_ok());
        });
        lab.other.set_up("v2", false).expect("down");
    }
}

#[test]
fn an_mtu_that_is_too_small_is_told_with_the_one_needed() {
    let Some(lab) = Lab::new(1_500) else { return };
    for backend in BACKENDS {
        let longest = |longest| {
            move |config: &mut Config| {
                (config.backend, config.longest) = (backend, longest);
            }
        };
        let error = refused(&lab, "v1", longest(1_515));
        assert_eq!(error.fault, Fault::MtuTooSmall { mtu: 1_500, longest: 1_515 });
        assert!(open(&lab.one, "v1", longest(1_514)).is_ok());
    }
    let error = refused(&lab, "v1", |config| config.longest = 4_174);
    assert!(error.to_string().contains("`ip link set v1 mtu 4160`"), "{error}");
    lab.one.set_mtu("v1", 4_160).expect("an MTU");
    assert!(open(&lab.one, "v1", |config| config.longest = 4_174).is_ok());
}

#[test]
fn a_program_of_someone_else_stays_and_is_named() {
    let Some(lab) = Lab::new(1_500) else { return };
    for (attach, place) in
        [(Attach::Native, Attached::Native), (Attach::Generic, Attached::Generic)]
    {
        let first = open(&lab.one, "v1", |config| config.attach = attach).expect("a port");
        for second in [Attach::Best, Attach::Native, Attach::Generic] {
            let error = refused(&lab, "v1", |config| config.attach = second);
            let Fault::Occupied { program, attached } = error.fault else { panic!("{error}") };
            assert!(program > 0);
            assert_eq!(attached, place);
        }
        drop(first);
    }
    open(&lab.one, "v1", |_| {}).expect("free again");
}

#[test]
fn a_queue_that_is_not_there_is_named() {
    let Some(lab) = Lab::new(1_500) else { return };
    let error = refused(&lab, "v1", |config| config.queue = Some(63));
    assert_eq!(error.fault, Fault::NoQueue { queue: 63 });
}

#[test]
fn a_port_is_open_again_right_after_it_was_closed() {
    let Some(lab) = Lab::new(1_500) else { return };
    for _ in 0..20 {
        drop(open(&lab.one, "v1", |_| {}).unwrap_or_else(|error| panic!("{error}")));
    }
}
