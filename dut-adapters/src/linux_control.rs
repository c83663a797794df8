//! The control of a switch that is Linux, over a shell: its bridge is told where the rig's ports are, its links are taken down, its counters
//! are read. What it is configured to is what the profile declares.

mod counters;

use crate::control::{
    Ability, Capabilities, Control, ControlError, Lost, Order, Readings, Refused,
};
use core::fmt;
use rig_lab::Declared;
use rig_testcases::wire;
use rig_units::Dur;

/// Where lines are run on the device.
pub trait Shell: fmt::Debug + Send {
    /// Runs one line, and returns what it wrote, in lines.
    ///
    /// # Errors
    /// Why it did not come about, or what it wrote where it did not succeed.
    fn run(&mut self, line: &str) -> Result<Vec<String>, String>;
}

/// A Linux with a bridge, whose port `i` is `eth{i}`.
#[derive(Debug)]
pub struct LinuxControl {
    declared: Declared,
    shell: Box<dyn Shell>,
}

impl LinuxControl {
    /// What it can do.
    pub const CAPABILITIES: Capabilities = Capabilities {
        offered: &[Ability::Snapshot, Ability::Counters, Ability::Links],
        verbs: &[],
        clock_bound: Dur::ZERO,
    };

    /// One as it is declared, reached over `shell`.
    pub fn of(declared: Declared, shell: Box<dyn Shell>) -> LinuxControl {
        LinuxControl { declared, shell }
    }

    fn run(&mut self, line: &str) -> Result<Vec<String>, ControlError> {
        let lost = |why| Lost { tried: format!("run `{line}`"), why }.into();
        self.shell.run(line).map_err(lost)
    }
}

impl Control for LinuxControl {
    fn name(&self) -> &'static str {
        "linux"
    }

    fn capabilities(&self) -> Capabilities {
        LinuxControl::CAPABILITIES
    }

    fn snapshot(&mut self) -> Result<Declared, ControlError> {
        Ok(self.declared.clone())
    }

    fn counters(&mut self, names: &[String]) -> Result<Readings, ControlError> {
        let mut said = Vec::new();
        for line in counters::LINES {
            said.push(self.run(line)?.join("\n"));
        }
        let read = counters::read(&self.declared, [&said[0], &said[1]]);
        let tried = || "read its counters".to_owned();
        let mut readings = read.map_err(|why| Lost { tried: tried(), why })?;
        if !names.is_empty() {
            readings.values.retain(|name, _| names.contains(name));
            readings.vendor.retain(|name, _| names.contains(name));
        }
        Ok(readings)
    }

    fn order(&mut self, order: Order) -> Result<(), ControlError> {
        let line = match order {
            Order::Cable { behind } => {
                let one = |(rig, port): (u16, u16)| {
                    let mac = wire::rig_mac(rig);
                    format!("/usr/bin/bridge fdb replace {mac} dev eth{port} master static")
                };
                (0..).zip(behind).map(one).collect::<Vec<_>>().join(" && ")
            }
            Order::Link { port, up } => {
                format!("/usr/bin/ip link set eth{port} {}", if up { "up" } else { "down" })
            }
            other => return Err(self.lacks(other.needs())),
        };
        if line.is_empty() {
            return Err(Refused { why: "no port is cabled".to_owned() }.into());
        }
        self.run(&line).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[derive(Debug)]
    struct Noting(Arc<Mutex<Vec<String>>>);

    impl Shell for Noting {
        fn run(&mut self, line: &str) -> Result<Vec<String>, String> {
            self.0.lock().map_err(|gone| gone.to_string())?.push(line.to_owned());
            if line.contains("eth1") { Err("no such device".to_owned()) } else { Ok(Vec::new()) }
        }
    }

    #[test]
    fn the_bridge_is_told_where_each_port_of_the_rig_is_and_a_fault_is_told_with_the_line() {
        let lab = rig_lab::read::lab(None).expect("the bundled lab");
        let ran = Arc::new(Mutex::default());
        let shell = Box::new(Noting(Arc::clone(&ran)));
        let mut control = LinuxControl::of(lab.duts[0].declared.clone(), shell);
        assert_eq!(control.order(Order::Cable { behind: vec![0, 2] }), Ok(()));
        let want = "/usr/bin/bridge fdb replace 02:00:00:01:00:00 dev eth0 master static && \
                    /usr/bin/bridge fdb replace 02:00:00:01:00:01 dev eth2 master static";
        assert_eq!(ran.lock().unwrap().last().map(String::as_str), Some(want));
        let down =
            control.order(Order::Link { port: 1, up: false }).map_err(|error| error.to_string());
        assert!(
            down.is_err_and(|why| why.contains("ip link set eth1 down") && why.contains("no such"))
        );
        assert!(control.order(Order::Disconnect).is_err());
    }
}
