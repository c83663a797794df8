//! DPDK over an interface of the kernel, and at the other end of the wire a port that is none of DPDK's.

use crate::alone::{alone, config};
use crate::lab::{Lab, in_order, numbered, open, pfc, receive, send};
use rig_generator::port::{
    Caps, Config, DpdkFault, Fault, Feature, Mono, Port, PortError, StampedBy, Stats,
};
use rig_units::Dur;

/// Opens a DPDK port in the namespace of `v1`.
fn dpdk(lab: &Lab, config: &Config) -> Result<Port, PortError> {
    lab.one.run(|| Port::open(config)).expect("a namespace")
}

/// Sends frames of these lengths both ways, behind one of PFC; what the DPDK port can do.
fn both_ways(mtu: u32, device: &str, lengths: &[usize]) -> Option<Caps> {
    let lab = Lab::new(mtu)?;
    let longest = lengths.iter().copied().max().expect("some");
    let name = device.split([',', '=']).nth(1).expect("--vdev=NAME,...");
    let mut one = dpdk(&lab, &config(name, &[device], longest)).unwrap_or_else(|e| panic!("{e}"));
    let mut other = open(&lab.other, "v2", |config| config.longest = longest).expect("AF_XDP");
    let mut frames = vec![pfc()];
    frames.extend(lengths.iter().map(|&len| numbered(len, 7)));
    for (tx, rx) in [(&mut one.tx, &mut other.rx), (&mut other.tx, &mut one.rx)] {
        let before = Mono::now();
        assert_eq!(send(&mut **tx, frames.iter().map(Vec::as_slice)), 0);
        let got = receive(&mut **rx, frames.len());
        in_order(&got, before, Mono::now());
        let arrived: Vec<usize> = got.iter().map(|(bytes, _)| bytes.len()).collect();
        assert_eq!(arrived, frames.iter().map(Vec::len).collect::<Vec<_>>());
        assert!(got.iter().map(|(bytes, _)| bytes).eq(&frames));
    }
    assert_eq!([one.tx.stats(), one.rx.stats()], [Ok(Stats::default()), Ok(Stats::default())]);
    assert_eq!(one.caps.stamped_by, StampedBy::Process);
    assert_eq!(one.caps.longest, mtu as usize + 14, "the kernel's word");
    Some(one.caps)
}

#[test]
fn frames_of_every_length_pass_net_pcap() {
    if !alone("interfaces::frames_of_every_length_pass_net_pcap") {
        return;
    }
    let lengths = [60, 64, 1_082, 4_095, 4_096, 4_170, 9_014];
    if let Some(caps) = both_ways(9_200, "--vdev=net_pcap0,iface=v1", &lengths) {
        assert_eq!(caps.refused, []);
    }
}

#[test]
fn short_frames_pass_net_af_packet_as_it_is() {
    if !alone("interfaces::short_frames_pass_net_af_packet_as_it_is") {
        return;
    }
    let lengths = [60, 64, 1_082, 1_514];
    if let Some(caps) = both_ways(1_500, "--vdev=net_af_packet0,iface=v1", &lengths) {
        assert_eq!(caps.refused, []);
    }
}

#[test]
fn long_frames_pass_net_af_packet_with_longer_pieces() {
    if !alone("interfaces::long_frames_pass_net_af_packet_with_longer_pieces") {
        return;
    }
    let device = "--vdev=net_af_packet0,iface=v1,framesz=9216,blocksz=36864,framecnt=512";
    let lengths = [60, 64, 1_082, 4_095, 4_096, 4_170, 9_014];
    if let Some(caps) = both_ways(9_200, device, &lengths) {
        let features: Vec<Feature> = caps.refused.iter().map(|refusal| refusal.feature).collect();
        assert_eq!(features, [Feature::LongFrames], "what the driver says it cannot do");
    }
}

#[test]
fn short_frames_pass_net_af_xdp() {
    if !alone("interfaces::short_frames_pass_net_af_xdp") {
        return;
    }
    let lengths = [60, 64, 1_082, 1_514];
    if let Some(caps) = both_ways(1_500, "--vdev=net_af_xdp0,iface=v1", &lengths) {
        assert_eq!(caps.refused, []);
    }
}

#[test]
fn net_af_xdp_refuses_frames_that_fit_no_page() {
    if !alone("interfaces::net_af_xdp_refuses_frames_that_fit_no_page") {
        return;
    }
    let Some(lab) = Lab::new(9_200) else { return };
    let config = config("net_af_xdp0", &["--vdev=net_af_xdp0,iface=v1"], 4_170);
    let error = dpdk(&lab, &config).expect_err("longer than a page");
    let Fault::Dpdk(fault) = &error.fault else { panic!("{error}") };
    let DpdkFault::Refused { tried, said, .. } = &**fault else { panic!("{error}") };
    assert_eq!(tried, "set up the receive queue");
    assert!(said.contains("device max MTU") && said.contains("Failed to create umem"), "{said}");
}

#[test]
fn an_interface_below_that_goes_down_or_away_is_told_by_its_name() {
    if !alone("interfaces::an_interface_below_that_goes_down_or_away_is_told_by_its_name") {
        return;
    }
    let Some(lab) = Lab::new(1_500) else { return };
    let config = config("net_pcap0", &["--vdev=net_pcap0,iface=v1"], 1_514);
    let mut port = dpdk(&lab, &config).unwrap_or_else(|error| panic!("{error}"));
    let v1 = |fault| PortError { interface: "v1".to_owned(), fault };
    for (away, fault) in [(false, Fault::Down), (true, Fault::Gone)] {
        if away {
            lab.one.remove("v1").expect("removed");
        } else {
            lab.one.set_up("v1", false).expect("down");
        }
        let start = Mono::now();
        assert_eq!(port.rx.wait(Dur::s(30)), Err(v1(fault.clone())));
        assert!(Mono::now().since(start) < Some(Dur::s(10)), "slept over it");
        if let Some(mut frame) = port.tx.alloc() {
            port.tx.bytes(&mut frame)[..60].copy_from_slice(&pfc());
            port.tx.stage(frame, 60);
        }
        port.tx.publish();
        assert_eq!(port.tx.kick(), Err(v1(fault)));
    }
}

#[test]
fn an_interface_below_whose_mtu_is_too_small_is_told_by_its_name() {
    if !alone("interfaces::an_interface_below_whose_mtu_is_too_small_is_told_by_its_name") {
        return;
    }
    let Some(lab) = Lab::new(1_500) else { return };
    let config = config("net_pcap0", &["--vdev=net_pcap0,iface=v1"], 4_170);
    let error = dpdk(&lab, &config).expect_err("too long").to_string();
    assert!(error.contains("`ip link set v1 mtu 4156`"), "{error}");
}
