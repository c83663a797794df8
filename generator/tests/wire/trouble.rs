//! An interface that goes down or away under an open port: told by name, and nobody waits for ever.

use crate::lab::{Lab, numbered, receive, send};
use rig_generator::port::{Backend, Fault, Mono, Port, PortError, Transmit, wait_any};
use rig_units::Dur;
use std::thread;

const BACKENDS: [Backend; 2] = [Backend::AfXdp, Backend::AfPacket];

fn kick_one(tx: &mut dyn Transmit) -> Result<(), PortError> {
    let mut frame = tx.alloc().expect("a slot");
    tx.bytes(&mut frame)[..64].copy_from_slice(&numbered(64, 0));
    tx.stage(frame, 64);
    tx.publish();
    tx.kick().map(drop)
}

#[test]
fn an_interface_that_is_taken_away_is_told_to_both_halves() {
    for backend in BACKENDS {
        let Some(lab) = Lab::new(1_500) else { return };
        let [mut one, mut other] = lab.ports(|config| config.backend = backend);
        let start = Mono::now();
        thread::scope(|scope| {
            let waits = scope.spawn(|| one.rx.wait(Dur::s(30)));
            lab.other.remove("v2").expect("removed");
            let error = waits.join().expect("a thread").expect_err("no interface");
            assert_eq!(error, PortError { interface: "v1".to_owned(), fault: Fault::Gone });
        });
        assert!(Mono::now().since(start) < Some(Dur::s(10)), "{backend:?} slept over it");
        for port in [&mut one, &mut other] {
            let error = kick_one(&mut *port.tx).expect_err("no interface");
            assert_eq!(error.fault, Fault::Gone, "{backend:?}");
            let error = port.rx.wait(Dur::ms(1)).expect_err("no interface");
            assert_eq!(error.fault, Fault::Gone, "{backend:?}");
        }
    }
}

#[test]
fn an_interface_that_is_set_down_is_told_to_both_halves_and_works_again_when_up() {
    for backend in BACKENDS {
        let Some(lab) = Lab::new(1_500) else { return };
        let [mut one, mut other] = lab.ports(|config| config.backend = backend);
        thread::scope(|scope| {
            let waits = scope.spawn(|| one.rx.wait(Dur::s(2)));
            lab.one.set_up("v1", false).expect("down");
            let error = waits.join().expect("a thread").expect_err("down");
            assert_eq!(error, PortError { interface: "v1".to_owned(), fault: Fault::Down });
        });
        let error = kick_one(&mut *one.tx).expect_err("down");
        assert_eq!(error.fault, Fault::Down, "{backend:?}");
        lab.one.set_up("v1", true).expect("up");
        // The frame that was refused still waits, and leaves with the next.
        assert_eq!(send(&mut *one.tx, [numbered(100, 1).as_slice()]), 0);
        let got = receive(&mut *other.rx, 2);
        assert_eq!(got.iter().map(|(bytes, _)| bytes.len()).collect::<Vec<_>>(), [64, 100]);
        assert_eq!(one.rx.poll(&mut |_, _| panic!("nobody sent this")), Ok(0), "{backend:?}");
    }
}

#[test]
fn a_reader_that_only_polls_is_told_too() {
    for backend in BACKENDS {
        let Some(lab) = Lab::new(1_500) else { return };
        let [mut one, other] = lab.ports(|config| config.backend = backend);
        for (far_away, fault) in [(false, Fault::Down), (true, Fault::Gone)] {
            if far_away {
                lab.one.remove("v1").expect("removed");
            } else {
                lab.one.set_up("v1", false).expect("down");
            }
            let start = Mono::now();
            let told = loop {
                match one.rx.poll(&mut |_, _| panic!("nobody sent this")) {
                    Ok(_) => assert!(Mono::now().since(start) < Some(Dur::s(10)), "{backend:?}"),
                    Err(error) => break error.fault,
                }
                let _ = wait_any(&[&*one.rx, &*other.rx], Dur::ms(5));
            };
            assert_eq!(told, fault, "{backend:?}");
        }
    }
}

#[test]
fn a_reader_of_two_ports_is_woken_by_either() {
    for backend in BACKENDS {
        let Some(lab) = Lab::new(1_500) else { return };
        let mut ports = lab.ports(|config| config.backend = backend);
        let either =
            |ports: &[Port; 2], timeout| wait_any(&[&*ports[0].rx, &*ports[1].rx], timeout);
        assert_eq!(either(&ports, Dur::ms(5)), Ok(false));
        for (from, to) in [(0, 1), (1, 0)] {
            send(&mut *ports[from].tx, [numbered(64, 0).as_slice()]);
            assert_eq!(either(&ports, Dur::s(5)), Ok(true));
            assert_eq!(receive(&mut *ports[to].rx, 1).len(), 1);
        }
    }
}
