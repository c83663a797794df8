//! A port that speaks MACsec.

use super::*;
use crate::peer::Peer;
use crate::peer::tests::protection;
use rig_testcases::wire::macsec::{Cable, End, Heard};
use rig_testcases::{CipherSuite, EndpointSpec, Form, MacsecMode, Secured};

/// A rig of one port that protects what it sends, with what the far end sees of it.
fn secured(slots: u32) -> (Pacer<Manual>, Halves, Cable) {
    let (mut rig, far) = rig(false, slots);
    let protection = protection(CipherSuite::GcmAesXpn128, Form::Encrypted);
    let endpoint = EndpointSpec { pn: 40, ..EndpointSpec::default() };
    rig.lanes[0].peer = Some(Peer::of(&protection, 0, endpoint).expect("keys"));
    (rig, far, Cable::of(&protection, 0).expect("keys"))
}

/// What arrived at the far end: packet number, association, and the frame in clear.
fn opened(far: &mut Halves, cable: &Cable) -> Vec<(u64, u8, Vec<u8>)> {
    let mut frames = Vec::new();
    far.1
        .poll(&mut |frame, _| {
            let (clear, how) = cable.open(End::Rig, &Heard::default(), frame).expect("protected");
            assert_eq!(how.tamper, None);
            frames.push((how.pn, how.an, clear));
        })
        .expect("in memory");
    frames
}

/// Keeps how everything was protected that was sent.
#[derive(Default)]
struct Numbers(Vec<(Who, Option<Secured>)>);

impl Watcher for Numbers {
    fn sent(&mut self, _: u16, departure: &Departure, _: Time, _: Time) {
        self.0.push((departure.who, departure.secured));
    }
    fn received(&mut self, _: u16, _: &[u8], _: Time, _: StampedBy) {}
}

#[test]
fn packet_numbers_are_given_in_the_order_in_which_frames_leave() {
    for slots in [1, 8] {
        let (mut rig, mut far, cable) = secured(slots);
        let stream = Template::of_stream(0, &spec());
        let storm = Template::new(wire::pfc(wire::rig_mac(0), 8, [Quanta(7); 8]));
        let mut log = Numbers::default();
        let lane = &mut rig.lanes[0];
        lane.sender.start(at(Dur::us(5)), job(3));
        rig.run_until(at(Dur::us(12)), &mut log).expect("in memory");
        // The next frame of the stream lies ready in a slot; a storm goes before it.
        let lane = &mut rig.lanes[0];
        lane.assign(Who::Storm(0), storm.clone());
        lane.sender.start(at(Dur::us(14)), Job::pfc(Who::Storm(0), Dur::us(10), Some(1)));
        rig.run_until(at(Dur::us(17)), &mut log).expect("in memory");
        rig.lanes[0].peer.as_mut().expect("a peer").rekey(3);
        rig.run_until(at(Dur::ms(1)), &mut log).expect("in memory");
        let data = |number| stream.frame(number, 0);
        let want =
            [(40, 0, data(0)), (41, 0, storm.frame(0, 0)), (42, 0, data(1)), (1, 3, data(2))];
        assert_eq!(opened(&mut far, &cable), want, "{slots} slots");
        let told: Vec<_> = log.0.iter().map(|(_, how)| how.map(|how| (how.pn, how.an))).collect();
        assert_eq!(told, want.map(|(pn, an, _)| Some((pn, an))));
    }
}

#[test]
fn a_frame_in_clear_among_protected_ones_is_written_whole_and_takes_no_number() {
    let (mut rig, mut far, cable) = secured(1);
    let clear = Template::of_stream(0, &StreamSpec { macsec: MacsecMode::Clear, ..spec() });
    let lane = &mut rig.lanes[0];
    lane.assign(Who::Stream(1), clear.clone());
    lane.sender.start(at(Dur::us(5)), job(2));
    lane.sender.start(at(Dur::us(10)), Job { who: Who::Stream(1), ..job(2) });
    let mut log = Numbers::default();
    rig.run_until(at(Dur::ms(1)), &mut log).expect("in memory");
    let mut frames = Vec::new();
    far.1.poll(&mut |frame, _| frames.push(frame.to_vec())).expect("in memory");
    assert_eq!((&frames[1], &frames[3]), (&clear.frame(0, 0), &clear.frame(1, 0)));
    let pn = |frame: &[u8]| cable.open(End::Rig, &Heard::default(), frame).map(|(_, how)| how.pn);
    assert_eq!([pn(&frames[0]), pn(&frames[2])], [Some(40), Some(41)]);
    assert_eq!(log.0[1], (Who::Stream(1), None));
}

#[test]
fn a_pause_behind_a_tag_stops_its_class() {
    let (mut rig, mut far, cable) = secured(8);
    let mut log = Numbers::default();
    rig.lanes[0].sender.start(at(Dur::us(5)), job(50));
    rig.run_until(at(Dur::us(20)), &mut log).expect("in memory");
    let sent = log.0.len();
    let xoff = mac_control::frame_pfc(wire::dut_mac(0), &pfc::Repr::all(8, Quanta(u16::MAX)));
    let how = Secured { an: 0, pn: 1, encrypted: true, sci: true, tamper: None };
    let frame = cable.seal(End::Dut, &how, &xoff);
    let mut slot = far.0.alloc().expect("a slot");
    far.0.bytes(&mut slot)[..frame.len()].copy_from_slice(&frame);
    far.0.stage(slot, frame.len());
    far.0.publish();
    far.0.kick().expect("in memory");
    rig.run_until(at(Dur::us(400)), &mut log).expect("in memory");
    assert!(log.0.len() <= sent + 1, "{} after {sent}", log.0.len());
}
