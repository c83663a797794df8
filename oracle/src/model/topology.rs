//! Who is plugged into whom, and the way to every host.

use super::host;
use super::{link, switch};
use std::collections::VecDeque;

/// A port of a switch. A bare port number is a port of switch 0, the device under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId {
    /// Place of the switch in the topology.
    pub switch: u16,
    /// Which of its ports.
    pub port: u16,
}

impl From<u16> for PortId {
    fn from(port: u16) -> PortId {
        PortId { switch: 0, port }
    }
}

/// One end of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum End {
    /// The one port of a host.
    Host(u16),
    /// A port of a switch.
    Port(PortId),
}

/// A cable between two ends of one speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cable {
    /// Its two ends.
    pub ends: [End; 2],
    /// Speed and length.
    pub link: link::Config,
}

/// Hosts, switches and the cables between them. Every host has one cable; a port may have none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Topology {
    /// Hosts, by number.
    pub hosts: Vec<host::Config>,
    /// Switches, by number; the first is the device under test.
    pub switches: Vec<switch::Config>,
    /// Cables between ports and hosts.
    pub cables: Vec<Cable>,
    /// Two ports of the rig that pass on to each other what is not for them, once they are told to: the way between what they are cabled to.
    pub passed_on: Option<[u16; 2]>,
}

impl Topology {
    /// One switch with a host on each of its ports: host `i` on port `i`, over a cable of the port's speed that is
    /// otherwise like `link`.
    pub fn star(switch: switch::Config, host: host::Config, link: link::Config) -> Topology {
        let cable = |(index, &(_, speed)): (u16, &(String, _))| Cable {
            ends: [End::Host(index), End::Port(index.into())],
            link: link::Config { speed, ..link },
        };
        let cables = (0..).zip(&switch.ports).map(cable).collect();
        let hosts = vec![host; switch.ports.len()];
        Topology { hosts, switches: vec![switch], cables, passed_on: None }
    }

    /// What passes frames on and is no switch, each by the host that is its first port.
    pub(crate) fn passing_hosts(&self) -> impl Iterator<Item = u16> {
        let is_first =
            |&(at, host): &(u16, &host::Config)| host.kind.passes_on(at) == Some((at, 0));
        (0..).zip(&self.hosts).filter(is_first).map(|(at, _)| at)
    }

    /// The port at an end of a cable of whatever passes frames on, hosts that do numbered behind the switches; or the host there.
    fn passing(&self, end: End) -> Result<PortId, u16> {
        let host = match end {
            End::Port(at) => return Ok(at),
            End::Host(host) => host,
        };
        let (first, port) = self.hosts[usize::from(host)].kind.passes_on(host).ok_or(host)?;
        let place = self.passing_hosts().position(|other| other == first).ok_or(host)?;
        let switch = u16::try_from(self.switches.len() + place).unwrap_or(u16::MAX);
        Ok(PortId { switch, port })
    }

    /// For every switch, and then every host that passes frames on, the port towards every host: the way over the fewest of them, the lowest port among
    /// equals. `u16::MAX` where there is no way.
    pub(crate) fn routes(&self) -> Vec<Vec<u16>> {
        let hosts = self.hosts.len();
        let mut routes =
            vec![vec![u16::MAX; hosts]; self.switches.len() + self.passing_hosts().count()];
        let mut links: Vec<(PortId, PortId)> = Vec::new();
        let mut reached = VecDeque::new();
        for cable in &self.cables {
            match cable.ends.map(|end| self.passing(end)) {
                [Err(host), Ok(at)] | [Ok(at), Err(host)] => {
                    routes[usize::from(at.switch)][usize::from(host)] = at.port;
                    reached.push_back((at.switch, host));
                }
                [Ok(a), Ok(b)] => links.extend([(a, b), (b, a)]),
                [Err(_), Err(_)] => {}
            }
        }
        let cabled_to = |host: u16| {
            let own = self.cables.iter().find(|cable| cable.ends.contains(&End::Host(host)))?;
            own.ends.into_iter().find_map(|end| self.passing(end).ok())
        };
        if let Some([Some(a), Some(b)]) = self.passed_on.map(|hosts| hosts.map(cabled_to)) {
            links.extend([(a, b), (b, a)]);
        }
        links.sort_unstable();
        // Breadth first from every host at once: a switch is reached from its nearest neighbour.
        while let Some((switch, host)) = reached.pop_front() {
            for (from, _) in links.iter().filter(|(_, to)| to.switch == switch) {
                let route = &mut routes[usize::from(from.switch)][usize::from(host)];
                if *route == u16::MAX {
                    *route = from.port;
                    reached.push_back((from.switch, host));
                }
            }
        }
        routes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Network, queue::Heap4};
    use rig_units::{PortSpeed, Time};

    /// Three switches in a row with a host on the outer ones; ports 0 and 1 lead outwards, port 2 to the host.
    fn row() -> Topology {
        let port = |switch, port| End::Port(PortId { switch, port });
        let cable = |a, b| Cable { ends: [a, b], link: link::Config::ethernet(PortSpeed::G100, 5) };
        Topology {
            hosts: vec![host::Config::quiet(); 2],
            switches: vec![switch::Config::plain(3, PortSpeed::G100); 3],
            cables: vec![
                cable(End::Host(0), port(0, 2)),
                cable(port(2, 2), End::Host(1)),
                cable(port(0, 1), port(1, 0)),
                cable(port(1, 1), port(2, 0)),
            ],
            passed_on: None,
        }
    }

    #[test]
    fn every_switch_knows_the_way_to_every_host() {
        assert_eq!(row().routes(), [[2, 1], [0, 1], [0, 2]]);
    }

    #[test]
    fn a_host_that_cannot_be_reached_has_no_route() {
        let mut row = row();
        row.cables.pop();
        assert_eq!(row.routes(), [[2, u16::MAX], [0, u16::MAX], [u16::MAX, 2]]);
    }

    #[test]
    fn a_parallel_cable_of_a_higher_port_is_left_alone() {
        let mut row = row();
        row.switches[0] = switch::Config::plain(4, PortSpeed::G100);
        row.switches[1] = switch::Config::plain(4, PortSpeed::G100);
        let spare = [(0, 3), (1, 3)].map(|(switch, port)| End::Port(PortId { switch, port }));
        row.cables.insert(0, Cable { ends: spare, ..row.cables[0] });
        assert_eq!(row.routes(), [[2, 1], [0, 1], [0, 2]]);
    }

    #[test]
    #[should_panic(expected = "one cable a plug")]
    fn two_cables_in_one_plug_are_refused() {
        let mut row = row();
        row.cables.push(row.cables[0]);
        let _: Network<Heap4> = Network::new(&row, Time::ZERO);
    }

    #[test]
    #[should_panic(expected = "a cable has the speed of its port")]
    fn a_cable_of_another_speed_is_refused() {
        let mut row = row();
        row.cables[0].link.speed = PortSpeed::G400;
        let _: Network<Heap4> = Network::new(&row, Time::ZERO);
    }

    #[test]
    #[should_panic(expected = "every host has a cable")]
    fn a_host_without_a_cable_is_refused() {
        let mut row = row();
        row.hosts.push(host::Config::quiet());
        let _: Network<Heap4> = Network::new(&row, Time::ZERO);
    }
}
