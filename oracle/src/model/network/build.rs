//! From a topology to a network: numbers the event sources and plugs in the cables.

use super::wires::Wires;
use super::{NO_HOST, Network, Shortcuts, Wake, Wiring};
use crate::model::blue_rdma::Log;
use crate::model::host::Host;
use crate::model::link::Link;
use crate::model::queue::{EventQueue, Source};
use crate::model::switch::Switch;
use crate::model::topology::{Cable, End, PortId, Topology};
use rig_units::{PortSpeed, Ppm, Time};

const UNPLUGGED: u16 = u16::MAX;

impl<Q: EventQueue> Network<Q> {
    /// Everything plugged in and silent at `start`.
    ///
    /// # Panics
    ///
    /// If a cable names a host or port that is not there or is of another speed than the port, or meets another cable in
    /// one plug; if a host has no cable; or if there are more than 65 535 event sources (a cable
    /// is two, a port three, a switch one).
    pub fn new(topology: &Topology, start: Time) -> Network<Q> {
        let mut sources = Vec::new();
        let mut cables = Vec::new();
        let mut hosts: Vec<(u16, PortSpeed)> =
            vec![(UNPLUGGED, PortSpeed::G10); topology.hosts.len()];
        let mut ports: Vec<Vec<u16>> =
            topology.switches.iter().map(|switch| vec![UNPLUGGED; switch.ports.len()]).collect();
        for cable in &topology.cables {
            for (end, far) in [(0, 1), (1, 0)] {
                let link = number(sources.len());
                let plug = match cable.ends[end] {
                    End::Host(host) => {
                        let (plug, speed) = &mut hosts[usize::from(host)];
                        *speed = cable.link.speed;
                        plug
                    }
                    End::Port(at) => {
                        let port =
                            &topology.switches[usize::from(at.switch)].ports[usize::from(at.port)];
                        assert!(port.1 == cable.link.speed, "a cable has the speed of its port");
                        &mut ports[usize::from(at.switch)][usize::from(at.port)]
                    }
                };
                assert!(*plug == UNPLUGGED, "one cable a plug");
                *plug = link;
                sources.push(arrival(cable, far));
            }
            let cuts = |far: End| match far {
                End::Host(_) => false,
                End::Port(at) => topology.switches[usize::from(at.switch)].cut_through,
            };
            let [one, other] = cable.ends;
            cables.push([(one, other), (other, one)].map(|(sender, far)| {
                let (clock, rate) = match sender {
                    End::Host(host) => (topology.hosts[usize::from(host)].mac.clock, Ppm::ONE),
                    End::Port(at) => {
                        let switch = &topology.switches[usize::from(at.switch)];
                        (switch.mac.clock, switch.egress_rate)
                    }
                };
                Link::new(&cable.link).sent_by(clock, rate).cut_through(cuts(far))
            }));
        }
        assert!(hosts.iter().all(|&(link, _)| link != UNPLUGGED), "every host has a cable");
        let mut allot = |wake: Wake| {
            sources.push(wake);
            number(sources.len() - 1)
        };
        let every_port = || all_ports(&ports);
        let pipelines: Vec<Source> = (0..ports.len())
            .map(|switch| allot(Wake::Pipeline { switch: number(switch) }))
            .collect();
        let gates: Vec<Source> = every_port().map(|at| allot(Wake::Gate(at))).collect();
        let refreshes: Vec<Source> = every_port().map(|at| allot(Wake::Refresh(at))).collect();
        let sends: Vec<Source> = every_port().map(|at| allot(Wake::Send(at))).collect();

        let mut routes = topology.routes().into_iter();
        let mut switches: Vec<Switch> = topology
            .switches
            .iter()
            .zip(routes.by_ref())
            .map(|(config, route)| Switch::new(config, route))
            .collect();
        let numbered = gates.into_iter().zip(refreshes).zip(sends);
        for (at, ((gate, refresh), send)) in every_port().zip(numbered) {
            let link = ports[usize::from(at.switch)][usize::from(at.port)];
            let host = match sources.get(usize::from(link ^ 1)) {
                Some(&Wake::Uplink { host, .. }) => host,
                _ => NO_HOST,
            };
            switches[usize::from(at.switch)].ports[usize::from(at.port)].wiring =
                Wiring { link, host, gate, refresh, send };
        }
        for at in every_port() {
            let is_shut = topology.switches[usize::from(at.switch)].shut == Some(at.port);
            if is_shut || ports[usize::from(at.switch)][usize::from(at.port)] == UNPLUGGED {
                switches[usize::from(at.switch)].link_down(start, at.port.into());
            }
        }
        let host = |(index, (config, &(_, speed)))| Host::new(index, config, speed);
        let mut built: Vec<Host> = (0..).zip(topology.hosts.iter().zip(&hosts)).map(host).collect();
        for (host, &(link, _)) in built.iter_mut().zip(&hosts) {
            host.plug.link = link;
            if let Some(&Wake::Host { host: far }) = sources.get(usize::from(link)) {
                host.plug.peer = far;
                host.plug.is_prompt = true;
            }
            // What comes in by one of several ports leaves by another.
            host.plug.is_prompt |= host.node.passes_on();
        }
        for (first, route) in topology.passing_hosts().zip(routes) {
            built[usize::from(first)].node.learn(route);
        }
        let log = Log::default();
        built.iter_mut().for_each(|host| host.node.share(&log));
        Network {
            log,
            wires: Wires { now: start, queue: Q::starting_at(start), cables, events: 0 },
            sources,
            hosts: built,
            switches,
            pipelines,
            shortcuts: Shortcuts::default(),
        }
    }
}

fn arrival(cable: &Cable, end: usize) -> Wake {
    match (cable.ends[end], cable.ends[1 - end]) {
        (End::Port(at), End::Host(host)) => Wake::Uplink { host, at },
        (End::Port(at), End::Port(_)) => Wake::Trunk(at),
        (End::Host(host), End::Port(_) | End::Host(_)) => Wake::Host { host },
    }
}

fn all_ports(ports: &[Vec<u16>]) -> impl Iterator<Item = PortId> + '_ {
    let of = |(switch, ports): (u16, &Vec<u16>)| {
        (0..number(ports.len())).map(move |port| PortId { switch, port })
    };
    (0..).zip(ports).flat_map(of)
}

fn number(index: usize) -> u16 {
    let number = u16::try_from(index).unwrap_or(u16::MAX);
    assert!(number < u16::MAX, "too many event sources");
    number
}
