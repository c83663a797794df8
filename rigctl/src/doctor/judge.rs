//! What the facts mean: which are as they should be, which are lacks, for whom, and the command that mends each. Pure.

mod machine;
mod port;
mod server;

pub use super::check::{Check, Section, State};

use super::check::{check, missing};
use super::facts::Facts;
use machine::{kernel, others, time};
use port::{cabled, own};
use rig_lab::{Lab, Transport};
use rig_units::{Dur, PortSpeed};

/// What a lab needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Needs {
    /// The lab, by name.
    pub lab: String,
    /// What carries its frames.
    pub wire: Wire,
    /// Whether the rig boots guests for it.
    pub guests: bool,
}

/// A lab's wire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wire {
    /// None: virtual time.
    None,
    /// Virtual interfaces that the rig makes.
    Made {
        /// How far off a timestamp may be.
        bound: Dur,
    },
    /// The rig's own interfaces.
    Own {
        /// How far off a timestamp may be.
        bound: Dur,
        /// The interfaces, with the speed that is declared of the port behind each.
        interfaces: Vec<(String, Option<PortSpeed>)>,
    },
}

impl Needs {
    /// What `lab` needs.
    pub fn of(lab: &Lab) -> Needs {
        let wire = match &lab.transport {
            Transport::Virtual(_) => Wire::None,
            Transport::Veth(wire) => Wire::Made { bound: wire.bound },
            Transport::Guests(wire) => Wire::Made { bound: wire.bound },
            Transport::Server(wire) => {
                let speed = lab.duts.first().and_then(|dut| dut.declared.port_speed(0));
                let interfaces = wire.interfaces().into_iter().map(|name| (name, speed));
                Wire::Own { bound: wire.bound, interfaces: interfaces.collect() }
            }
            Transport::Interfaces(wire) => {
                let speed = |port| lab.duts.first().and_then(|dut| dut.declared.port_speed(port));
                let each = (0..).zip(&wire.interfaces);
                Wire::Own {
                    bound: wire.bound,
                    interfaces: each.map(|(port, name)| (name.clone(), speed(port))).collect(),
                }
            }
        };
        let guests = matches!(lab.transport, Transport::Guests(_));
        Needs { lab: lab.name.clone(), wire, guests }
    }

    fn bound(&self) -> Option<Dur> {
        match self.wire {
            Wire::None => None,
            Wire::Made { bound } | Wire::Own { bound, .. } => Some(bound),
        }
    }
}

/// Judges everything.
pub fn judge(facts: &Facts, needs: &Needs) -> Vec<Section> {
    let Facts { machine, pair, interfaces, cable, servers } = facts;
    let section = |name: &str, checks| Section { name: name.to_owned(), checks };
    let mut all = vec![
        section("kernel", kernel(machine, pair, needs)),
        section("time", time(machine, needs)),
        section("DPDK and tools", others(machine, needs)),
    ];
    for interface in interfaces {
        all.push(section(&format!("interface {}", interface.name), own(interface, needs)));
    }
    for of in servers {
        all.push(section(&format!("server {}", of.at), server::server(of)));
    }
    if let Some(cable) = cable {
        all.push(section(&format!("cable {} - {}", cable.ends[0], cable.ends[1]), cabled(cable)));
    }
    all
}

#[cfg(test)]
mod tests;
