//! The queues of each port as they are found, by what the kernel states of all its queueing disciplines.
//!
//! A queue is a band of the `ets` at its port, the first of which is served first: of eight the band `2:1` is class 7. What stands within a queue is
//! its own.

use super::netlink::{self, Stated};
use super::qdisc::Does;
use rig_lab::Declared;

/// One queueing discipline that is set here, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    /// As `tc` would write it: `eth0 2:5 red`.
    pub(super) called: String,
    /// Bits a second of its port.
    pub(super) bps: u64,
    pub(super) stated: Stated,
    pub(super) does: Does,
    /// What stands within it in place of what its kind brings along, as `tc` would write it: `netem 214:`.
    within: Option<String>,
}

impl Found {
    /// Why it may not be made to do this: of some of what a change throws away the kernel does not tell what it was, and what cannot be given
    /// back is not taken.
    pub(super) fn bars(&self, does: &Does) -> Option<String> {
        let Found { called, within, .. } = self;
        if let Does::Red(red) = &self.does
            && red.adapts()
        {
            // Where it is to stay as it is, too: nobody can tell from what is read back whether it has.
            return Some(format!("{called} is adaptive: its max_P moves by itself"));
        }
        if *does == self.does {
            return None;
        }
        if self.stated.sizes.is_some() {
            let why = "has a size table (stab), which goes with a change, and which the kernel does not tell";
            return Some(format!("{called} {why}"));
        }
        let within = within.as_ref().filter(|_| matches!(self.does, Does::Red(_)))?;
        Some(format!("{called} has {within} within it, which goes with a change"))
    }

    /// The request that has it do this.
    pub(super) fn change(&self, does: &Does) -> Vec<u8> {
        netlink::change(&Stated { options: does.options(self.bps), ..self.stated.clone() })
    }
}

/// What has the guest tell it: which interface each port is, a line each, and then a line of the kernel's answer.
pub(super) fn line(declared: &Declared) -> String {
    let files = ports(declared).map(|(device, _)| format!("/sys/class/net/{device}/ifindex"));
    let files = files.collect::<Vec<_>>().join(" ");
    format!("cat {files} && {}", netlink::lines(&[netlink::get_all()]).join(" && "))
}

/// What is there, by what was answered.
///
/// # Errors
/// It is no such answer.
pub(super) fn read(declared: &Declared, said: &[String]) -> Result<Vec<Found>, String> {
    let Some((answer, numbers)) = said.split_last() else {
        return Err("it said nothing".to_owned());
    };
    let all = netlink::read(&netlink::bytes(answer)?)?;
    let mut found = Vec::new();
    for (at, (device, bps)) in ports(declared).enumerate() {
        let number = numbers.get(at).and_then(|number| number.trim().parse::<u32>().ok());
        let number = number.ok_or_else(|| format!("nobody says which interface {device} is"))?;
        let of_port = all.iter().filter(|one| one.interface == number);
        let Some(above) = of_port.clone().find(|one| one.kind == "ets") else { continue };
        for stated in of_port.clone() {
            let is_band = stated.parent & MAJOR == above.handle & MAJOR;
            let Some(does) = Does::of(stated)?.filter(|_| is_band || stated == above) else {
                continue;
            };
            let (parent, kind) = (stated.parent, &stated.kind);
            let called = format!("{device} {:x}:{:x} {kind}", parent >> 16, parent & !MAJOR);
            let is_within = |one: &&Stated| one.parent & MAJOR == stated.handle && !is_own(one);
            let within = of_port.clone().find(is_within);
            let within = within.map(|one| format!("{} {:x}:", one.kind, one.handle >> 16));
            found.push(Found { called, bps, stated: stated.clone(), does, within });
        }
    }
    Ok(found)
}

/// What there is to say of each port at which nothing was found: without an `ets` it has no queues that are classes.
pub(super) fn passed_over(declared: &Declared, found: &[Found]) -> Vec<String> {
    let has_any =
        |device: &str| found.iter().any(|one| one.called.split(' ').next() == Some(device));
    let bare = ports(declared).filter(|(device, _)| !has_any(device));
    let told = "has no ets: nothing is set at its queues, nor counted";
    bare.map(|(device, _)| format!("{device} {told}")).collect()
}

/// Whether RED has made it for itself (`fifo_create_dflt`, net/sched/sch_fifo.c): whoever puts one in its place gives it a handle.
fn is_own(within: &Stated) -> bool {
    within.kind == "bfifo" && within.handle == 0
}

/// The first half of a handle.
const MAJOR: u32 = 0xffff_0000;

/// The device of each port that is declared, and its speed.
fn ports(declared: &Declared) -> impl Iterator<Item = (String, u64)> {
    let speeds = (0..).map_while(|port| Some((port, declared.port_speed(port)?)));
    speeds.map(|(port, speed): (u16, _)| (format!("eth{port}"), speed.bps()))
}
