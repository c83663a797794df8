//! The control of a switch that is Linux, over a shell: its bridge is told where the rig's ports are, its links are taken down, its counters
//! are read, its queueing disciplines are set, its ports speak MACsec. What of the rest it is configured to is what the profile declares.

mod counters;
mod found;
mod macsec;
mod netlink;
mod qdisc;
mod settings;
mod table;
#[cfg(test)]
mod tests;

use crate::control::{
    Ability, Capabilities, Control, ControlError, Lost, Order, Readings, Refused,
};
use core::fmt;
use found::Found;
use qdisc::Does;
use rig_lab::keys::hidden;
use rig_lab::{Declared, Keys, Setting};
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
    /// What is declared.
    profile: Declared,
    /// The same with what has been set since.
    declared: Declared,
    /// How its queues were found before the first of them was set.
    before: Option<Vec<Found>>,
    /// Behind which of its ports each of the rig's is.
    behind: Vec<u16>,
    /// Its ports that speak MACsec, each with the bridge that it is of.
    secured: Vec<(u16, String)>,
    /// What there is to say of ports that were passed over when its queues were last read.
    passed_over: Vec<String>,
    shell: Box<dyn Shell>,
}

impl LinuxControl {
    /// What it can do.
    pub const CAPABILITIES: Capabilities = Capabilities {
        offered: &[
            Ability::Snapshot,
            Ability::Configure,
            Ability::Counters,
            Ability::Links,
            Ability::Keys,
        ],
        verbs: &[],
        clock_bound: Dur::ZERO,
    };

    /// One as it is declared, reached over `shell`.
    pub fn of(declared: Declared, shell: Box<dyn Shell>) -> LinuxControl {
        let (behind, secured, passed_over) = (Vec::new(), Vec::new(), Vec::new());
        let profile = declared.clone();
        LinuxControl { profile, declared, before: None, behind, secured, passed_over, shell }
    }

    /// Whether it sets this.
    pub fn holds(path: &str) -> bool {
        settings::HELD.contains(&path) || macsec::HELD.contains(&path)
    }

    fn run(&mut self, line: &str) -> Result<Vec<String>, ControlError> {
        let lost = |why| Lost { tried: format!("run `{line}`"), why }.into();
        self.shell.run(line).map_err(lost)
    }

    /// The queues now.
    fn found(&mut self) -> Result<Vec<Found>, ControlError> {
        let tried = || "read its queueing disciplines".to_owned();
        let said = self.shell.run(&found::line(&self.declared));
        let read = said.and_then(|said| found::read(&self.declared, &said));
        let found = read.map_err(|why| Lost { tried: tried(), why })?;
        self.passed_over = found::passed_over(&self.declared, &found);
        Ok(found)
    }

    /// Has each of these do that, where it does not: in their order, and read back. What came about of it before one was refused stays.
    fn make(&mut self, wanted: &[(&Found, &Does)]) -> Result<(), ControlError> {
        let changes: Vec<_> = wanted.iter().filter(|(one, does)| one.does != **does).collect();
        let messages: Vec<Vec<u8>> = changes.iter().map(|(one, does)| one.change(does)).collect();
        let mut answers = Vec::new();
        for line in netlink::lines(&messages) {
            answers.extend(self.run(&line)?);
        }
        if answers.len() != changes.len() {
            let why = format!("{} answers to {} messages", answers.len(), changes.len());
            return Err(Lost { tried: "set its queueing disciplines".to_owned(), why }.into());
        }
        for ((one, does), answer) in changes.into_iter().zip(&answers) {
            let done = netlink::bytes(answer).and_then(|answer| netlink::done(&answer));
            let refused = |why| Refused { why: format!("{} ({does}): {why}", one.called) };
            done.map_err(refused)?;
        }
        let now = self.found()?;
        for (one, does) in wanted {
            let is = now.iter().find(|now| now.called == one.called).map(|now| &now.does);
            let want = does.told(one.bps, &one.does);
            if is != Some(&want) {
                let is = is.map_or_else(|| "nothing".to_owned(), Does::to_string);
                let why = format!("{} was set to {want}, and reads back {is}", one.called);
                return Err(Refused { why }.into());
            }
        }
        Ok(())
    }

    /// Tells the bridge behind which port each address of the rig is.
    fn cable(&mut self) -> Result<(), ControlError> {
        let one = |(rig, port): (u16, &u16)| {
            let is_secured = self.is_secured(*port);
            let (mac, kind) = (wire::rig_mac(rig), if is_secured { "macsec" } else { "eth" });
            format!("/usr/bin/bridge fdb replace {mac} dev {kind}{port} master static")
        };
        let line = (0..).zip(&self.behind).map(one).collect::<Vec<_>>().join(" && ");
        if line.is_empty() {
            return Err(Refused { why: "no port is cabled".to_owned() }.into());
        }
        self.run(&line).map(drop)
    }

    fn is_secured(&self, port: u16) -> bool {
        self.secured.iter().any(|(secured, _)| *secured == port)
    }

    /// Has its ports that are cabled speak MACsec with the rig's, as it was told; those that do already stay as they are.
    fn secure(&mut self, keys: &Keys) -> Result<(), ControlError> {
        let Some(wants) = self.declared.switch().map(|of| of.macsec.clone()).filter(|of| of.enable)
        else {
            return Ok(());
        };
        let cables: Vec<(u16, u16)> = (0..).zip(self.behind.iter().copied()).collect();
        for (rig, port) in cables {
            if self.is_secured(port) {
                continue;
            }
            let said = self.run(&macsec::bridge_line(port))?;
            let bridge = macsec::bridge(&said)
                .ok_or_else(|| Refused { why: format!("eth{port} is in no bridge") })?;
            let line =
                macsec::begin(&wants, keys, (rig, port), &bridge).map_err(|why| Refused { why })?;
            self.secured.push((port, bridge));
            // Its line holds a key, and whoever tells of it tells the line.
            let lost = |why: String| Lost {
                tried: format!("have eth{port} speak MACsec"),
                why: hidden(&why),
            };
            self.shell.run(&line).map_err(lost)?;
        }
        let said = self.told(macsec::LINE)?;
        for (port, _) in &self.secured {
            macsec::agrees(&wants, &said, *port).map_err(|why| Refused { why })?;
        }
        self.cable()
    }

    /// What a line wrote that writes a list of JSON.
    fn told(&mut self, line: &str) -> Result<Vec<serde_json::Value>, ControlError> {
        let said = self.run(line)?.join("\n");
        let tried = || format!("run `{line}`");
        counters::list(&said).map_err(|why| Lost { tried: tried(), why }.into())
    }

    /// Makes the queues as they were, the last of them first.
    fn put_back(&mut self, before: &[Found]) -> Result<(), ControlError> {
        let now = self.found()?;
        let mut back = Vec::new();
        for was in before.iter().rev() {
            let is = now.iter().find(|one| one.called == was.called).ok_or_else(|| Lost {
                tried: "put back what its queueing disciplines were".to_owned(),
                why: format!("{} is no more", was.called),
            })?;
            // Another hand may have been there meanwhile.
            if let Some(why) = is.bars(&was.does) {
                return Err(Refused { why }.into());
            }
            back.push((is, &was.does));
        }
        self.make(&back)
    }
}

impl Control for LinuxControl {
    fn name(&self) -> &'static str {
        "linux"
    }

    fn capabilities(&self) -> Capabilities {
        LinuxControl::CAPABILITIES
    }

    fn takes_a_while(&self) -> bool {
        true
    }

    fn remarks(&self) -> Vec<String> {
        self.passed_over.clone()
    }

    fn snapshot(&mut self) -> Result<Declared, ControlError> {
        let found = self.found()?;
        Ok(settings::stated(&self.declared, &found))
    }

    fn set(&mut self, settings: &[Setting]) -> Result<(), ControlError> {
        let found = self.found()?;
        let stated = settings::stated(&self.declared, &found);
        let mut declared = self.declared.clone();
        let mut own = Vec::new();
        for setting in settings {
            let refused = |why: String| Refused { why };
            declared = declared.with(setting).map_err(|bad| refused(bad.to_string()))?;
            let path = &setting.path;
            if settings::HELD.contains(&path.as_str()) {
                own.push(setting.clone());
            } else if macsec::HELD.contains(&path.as_str()) {
                if !self.secured.is_empty() {
                    let why = format!("{path}: its ports speak MACsec by now");
                    return Err(refused(why).into());
                }
            } else if stated.satisfies(setting) != Ok(true) {
                return Err(refused(format!("{path}: no queueing discipline is set to it")).into());
            }
        }
        if own.is_empty() {
            self.declared = declared;
            return Ok(());
        }
        let wanted = settings::wanted(&declared, &own, &found).map_err(|why| Refused { why })?;
        let pairs: Vec<(&Found, &Does)> = found.iter().zip(&wanted).collect();
        if let Some(why) = pairs.iter().find_map(|(one, does)| one.bars(does)) {
            return Err(Refused { why }.into());
        }
        // Whatever comes of it: of what is lost half way nobody knows how much was set.
        self.before.get_or_insert_with(|| found.clone());
        if let Err(error) = self.make(&pairs) {
            return Err(match self.put_back(&found) {
                Ok(()) => error,
                Err(left) => {
                    let tried = "put back what its queueing disciplines were".to_owned();
                    Lost { tried, why: format!("{left}; that was because {error}") }.into()
                }
            });
        }
        self.declared = declared;
        Ok(())
    }

    /// Each queue as it was found, which one value for all of them may not say.
    fn restore(&mut self, _: &Declared, _: &[Setting]) -> Result<(), ControlError> {
        while let Some((port, bridge)) = self.secured.last() {
            let line = macsec::end(*port, bridge);
            self.run(&line)?;
            self.secured.pop();
        }
        if let Some(was) = self.before.clone() {
            self.put_back(&was)?;
            self.before = None;
        }
        self.declared = self.profile.clone();
        Ok(())
    }

    fn counters(&mut self, names: &[String]) -> Result<Readings, ControlError> {
        let mut said = Vec::new();
        for line in counters::LINES {
            said.push(self.run(line)?.join("\n"));
        }
        let read = counters::read(&self.declared, [&said[0], &said[1]]);
        let tried = || "read its counters".to_owned();
        let mut readings = read.map_err(|why| Lost { tried: tried(), why })?;
        if !self.secured.is_empty() {
            let said = self.told(macsec::LINE)?;
            for (port, _) in &self.secured {
                let name = self.declared.name_of(*port);
                for (counter, value, called) in macsec::counted(&said, *port) {
                    counters::note(&mut readings, counter.of(&name, 0), (value, &called));
                }
            }
        }
        if !names.is_empty() {
            readings.values.retain(|name, _| names.contains(name));
            readings.vendor.retain(|name, _| names.contains(name));
        }
        Ok(readings)
    }

    fn order(&mut self, order: Order) -> Result<(), ControlError> {
        let line = match order {
            Order::Cable { behind } => {
                self.behind = behind;
                return self.cable();
            }
            Order::Key { keys } => return self.secure(&keys.0),
            Order::Link { port, up } => {
                format!("/usr/bin/ip link set eth{port} {}", if up { "up" } else { "down" })
            }
            other => return Err(self.lacks(other.needs())),
        };
        self.run(&line).map(drop)
    }
}

#[cfg(test)]
mod orders {
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
