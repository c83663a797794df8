//! What the databases say of one port, as settings of a profile, each with the place that says so.

use super::asic::Base;
use super::ports::is_port;
use super::tables::{Said, Tables};
use rig_lab::Place;
use rig_units::{Dur, Length, PFC_BUDGETS, PortSpeed};
use std::collections::{BTreeMap, BTreeSet};

/// One setting of a profile.
#[derive(Debug, Clone)]
pub(super) struct Stated {
    /// The path below `declared:`.
    pub(super) path: &'static str,
    /// The value, as YAML.
    pub(super) value: String,
    /// The table and key, or the rule of SONiC's by which it is so.
    pub(super) why: String,
    /// Where the file says so; `None` where it says nothing and a default holds.
    pub(super) place: Option<Place>,
}

/// What is said of a port.
#[derive(Debug)]
pub(super) struct PortFacts {
    pub(super) speed: PortSpeed,
    pub(super) cable: Option<(Length, Place)>,
    pub(super) stated: Vec<Stated>,
    /// What the file says that a profile cannot.
    pub(super) beyond: BTreeSet<String>,
}

/// Bytes of Ethernet header, tag and FCS beside an IP packet.
const BESIDE_IP: u64 = 22;
/// No table has a number of bytes above this.
pub(super) const MOST_BYTES: u64 = 1 << 40;
/// The poll interval where `PFC_WD|GLOBAL` has none (`PFC_WD_POLL_MSECS`).
const POLL: u64 = 100;

/// Collects the settings of one port.
pub(super) struct Collector<'t> {
    pub(super) tables: &'t Tables,
    pub(super) port: &'t str,
    pub(super) facts: PortFacts,
}

/// All that is said of a port. What cannot be used is noted in the tables.
pub(super) fn of_port(tables: &Tables, port: &str, base: &Base) -> Option<PortFacts> {
    let speed = speed(tables, port)?;
    let facts = PortFacts { speed, cable: None, stated: Vec::new(), beyond: BTreeSet::new() };
    let mut all = Collector { tables, port, facts };
    all.port_itself();
    let lossless = all.qos();
    all.scheduler();
    all.buffer(&lossless, base);
    all.wred(&lossless);
    all.pfc(base);
    all.watchdog();
    Some(all.facts)
}

/// The speed of a port, in `PORT` in Mb/s.
pub(super) fn speed(tables: &Tables, port: &str) -> Option<PortSpeed> {
    let want = "the speed of a port in Mb/s, such as 100000";
    let Some(said) = tables.field("PORT", port, "speed") else {
        let place = tables.row_place("PORT", port)?;
        tables.note(place, format!("{port} has no speed"), want);
        return None;
    };
    said.read(want, |text| {
        let bps = text.parse::<u64>().ok()?.checked_mul(1_000_000)?;
        PortSpeed::from_bps(bps)
    })
}

impl<'t> Collector<'t> {
    pub(super) fn state(&mut self, path: &'static str, value: &impl ToString, said: &Said<'_>) {
        self.because(path, value, said, "");
    }

    /// A setting, with what is to be said behind its place.
    pub(super) fn because(
        &mut self,
        path: &'static str,
        value: &impl ToString,
        said: &Said<'_>,
        more: &str,
    ) {
        let why = format!("{}{more}", said.path());
        self.facts.stated.push(Stated {
            path,
            value: value.to_string(),
            why,
            place: Some(said.place()),
        });
    }

    /// A setting that follows from what is not there; the row that would say it, if there is one.
    pub(super) fn usual(
        &mut self,
        path: &'static str,
        value: &impl ToString,
        why: String,
        place: Option<Place>,
    ) {
        self.facts.stated.push(Stated { path, value: value.to_string(), why, place });
    }

    pub(super) fn size(&mut self, path: &'static str, said: Option<Said<'_>>) -> Option<u64> {
        let said = said?;
        let bytes = said.number(MOST_BYTES)?;
        self.state(path, &format!("{bytes}B"), &said);
        Some(bytes)
    }

    fn port_itself(&mut self) {
        if let Some(said) = self.tables.field("PORT", self.port, "mtu")
            && let Some(mtu) = said.number(65_535)
        {
            let more = format!(" and {BESIDE_IP} B of header, tag and FCS");
            self.because("mtu", &format!("{}B", mtu + BESIDE_IP), &said, &more);
        }
        let rows: Vec<&str> = self.tables.table("CABLE_LENGTH").map(|(key, _)| key).collect();
        for key in rows {
            if let Some(said) = self.tables.field("CABLE_LENGTH", key, self.port)
                && let Some(length) = said.read("a length such as 40m", |text| text.parse().ok())
            {
                self.facts.cable = Some((length, said.place()));
            }
        }
        if let Some(said) = self.tables.macsec(self.port) {
            let found = format!("{} turns MACsec on, which this does not carry over", said.path());
            self.facts.beyond.insert(found);
        }
    }

    /// A field of the port's row of `PORT_QOS_MAP`, or of the one for all.
    pub(super) fn map(&self, field: &str) -> Option<Said<'t>> {
        let own = self.tables.of_port("PORT_QOS_MAP", self.port, field);
        own.or_else(|| self.tables.field("PORT_QOS_MAP", "global", field))
    }

    /// Classification; the lossless classes.
    fn qos(&mut self) -> Vec<u8> {
        if let Some(said) = self.map("dscp_to_tc_map")
            && let Some(key) = said.referred("DSCP_TO_TC_MAP")
        {
            self.dscp(key);
        }
        let enabled = self.map("pfc_enable");
        let lossless = enabled.and_then(|said| said.classes()).unwrap_or_default();
        match &enabled {
            Some(said) => self.state("qos.pfc_enable", &listed(&lossless), said),
            None => {
                let why = format!("PORT_QOS_MAP|{} has no pfc_enable", self.port);
                self.usual("qos.pfc_enable", &"[]", why, None);
            }
        }
        // A port without a row of its own has no watchdog, whatever classes it would guard.
        let runs = self.tables.of_port("PFC_WD", self.port, "detection_time").is_some();
        let own = self.map("pfcwd_sw_enable").map(|said| (said, ""));
        let before = || Some((enabled?, ", which on such an image is of the watchdog, too"));
        let said = own.or_else(|| before().filter(|_| self.tables.is_before_pfcwd_sw_enable()));
        match said.filter(|_| runs) {
            Some((said, more)) => {
                let guarded = said.classes().unwrap_or_default();
                self.because("qos.pfcwd_sw_enable", &listed(&guarded), &said, more);
            }
            None => {
                let table = if runs { "PORT_QOS_MAP" } else { "PFC_WD" };
                let field = if runs { "pfcwd_sw_enable" } else { "detection_time" };
                let why = format!("{table}|{} has no {field}: no watchdog runs there", self.port);
                let place = enabled.map(|said| said.place());
                self.usual("qos.pfcwd_sw_enable", &"[]", why, place);
            }
        }
        for (field, table) in [
            ("tc_to_queue_map", "TC_TO_QUEUE_MAP"),
            ("tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP"),
            ("pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE"),
        ] {
            let key = self.map(field).and_then(|said| said.referred(table));
            let fields = key.map(|key| self.tables.fields(table, key)).unwrap_or_default();
            let is_lossless = |said: &&Said<'_>| {
                said.field_number().is_some_and(|class| lossless.contains(&class))
            };
            for said in fields.iter().filter(is_lossless) {
                if said.field_number() != said.text.parse().ok() {
                    let found = format!(
                        "{} is `{}`: in a profile each class has its own queue and group",
                        said.path(),
                        said.text
                    );
                    self.facts.beyond.insert(found);
                }
            }
        }
        lossless
    }

    /// The map of code points. What most of them lead to is the class of all others.
    fn dscp(&mut self, key: &str) {
        let mut classes: BTreeMap<u8, u8> = (0..64).map(|dscp| (dscp, 0)).collect();
        let fields = self.tables.fields("DSCP_TO_TC_MAP", key);
        for said in &fields {
            let class = said.number(7).and_then(|class| u8::try_from(class).ok());
            if let (Some(dscp @ 0..64), Some(class)) = (said.field_number(), class) {
                classes.insert(dscp, class);
            }
        }
        let of = |class: u8| classes.values().filter(|&&to| to == class).count();
        let usual = (0..8).rev().max_by_key(|&class| of(class)).unwrap_or(0);
        let others = classes.iter().filter(|(_, class)| **class != usual);
        let map: Vec<String> = others.map(|(dscp, class)| format!("{dscp}: {class}")).collect();
        let place = self.tables.row_place("DSCP_TO_TC_MAP", key);
        let more = if fields.len() < 64 { ", class 0 where it says nothing" } else { "" };
        let why = format!("DSCP_TO_TC_MAP|{key}{more}");
        self.usual("qos.dscp_to_tc", &format!("{{{}}}", map.join(", ")), why, place.clone());
        self.usual(
            "qos.default_tc",
            &usual,
            format!("DSCP_TO_TC_MAP|{key}: {} code points", of(usual)),
            place,
        );
        self.usual(
            "qos.dscp_to_color",
            &"never",
            "no table of CONFIG_DB gives code points a colour".to_owned(),
            None,
        );
    }

    /// No database knows how a MAC takes and sends PFC; where ports are of another speed than the bundled profile's, its times are not theirs.
    fn pfc(&mut self, base: &Base) {
        let (speed, usual) = (self.facts.speed, base.speed());
        if speed == usual {
            return;
        }
        if let Some((_, quanta)) = PFC_BUDGETS.iter().find(|(bps, _)| *bps == speed.bps()) {
            let why = format!(
                "no database says: at most {} quanta at {speed} (IEEE 802.3 31B.3.7)",
                quanta.0
            );
            self.usual("pfc.response", &format!("{{max: {}}}", speed.pause(*quanta)), why, None);
        }
        if let Some(switch) = base.switch().filter(|_| speed > usual) {
            let refresh = switch.pfc.refresh.scaled(usual.bps(), speed.bps());
            let why =
                format!("no database says: that of `{}` at {usual}, in proportion", base.name);
            self.usual("pfc.refresh", &refresh, why, None);
        }
    }

    fn watchdog(&mut self) {
        let tables = self.tables;
        let of = |field| tables.of_port("PFC_WD", self.port, field);
        let Some(detection) = of("detection_time") else { return };
        let poll = match tables.field("PFC_WD", "GLOBAL", "POLL_INTERVAL") {
            Some(said) => {
                let poll = said.number(60_000);
                if let Some(poll) = poll {
                    self.state("pfcwd.poll_interval", &Dur::ms(poll), &said);
                }
                poll
            }
            None => {
                let why = "PFC_WD|GLOBAL has no POLL_INTERVAL: compiled in".to_owned();
                self.usual("pfcwd.poll_interval", &Dur::ms(POLL), why, None);
                Some(POLL)
            }
        };
        let time = detection.number(86_400_000);
        if let Some(time) = time {
            self.state("pfcwd.detection_time", &Dur::ms(time), &detection);
        }
        match of("restoration_time") {
            Some(said) => {
                if let Some(time) = said.number(86_400_000) {
                    self.state("pfcwd.restoration_time", &Dur::ms(time), &said);
                }
            }
            None => {
                let why =
                    format!("PFC_WD|{} has no restoration_time: a storm is never over", self.port);
                self.usual("pfcwd.restoration_time", &"never", why, None);
            }
        }
        match of("action") {
            Some(said) => {
                let action = said.read("drop, forward or alert", |text| {
                    ["drop", "forward", "alert"].into_iter().find(|word| *word == text)
                });
                if let Some(action) = action {
                    self.state("pfcwd.action", &action, &said);
                }
            }
            None => self.usual(
                "pfcwd.action",
                &"drop",
                format!("PFC_WD|{} has no action", self.port),
                None,
            ),
        }
        if let Some(said) = tables.field("PFC_WD", "GLOBAL", "BIG_RED_SWITCH") {
            self.state("pfcwd.big_red_switch", &(said.text == "enable"), &said);
        }
        if let (Some(time), Some(poll)) = (time, poll)
            && time < poll
        {
            self.because(
                "pfcwd.config_path",
                &"redis",
                &detection,
                " is below the poll interval, which the YANG model refuses",
            );
        }
    }
}

impl PortFacts {
    /// A size that was stated.
    pub(super) fn bytes(&self, path: &str) -> Option<u64> {
        let stated = self.stated.iter().find(|stated| stated.path == path)?;
        stated.value.trim_end_matches('B').parse().ok()
    }
}

pub(super) fn listed(numbers: &[u8]) -> String {
    let all: Vec<String> = numbers.iter().map(u8::to_string).collect();
    format!("[{}]", all.join(", "))
}

/// The front-panel ports, in order.
pub(super) fn every_port(tables: &Tables) -> Vec<&str> {
    let mut all: Vec<&str> =
        tables.table("PORT").map(|(key, _)| key).filter(|key| is_port(key)).collect();
    all.sort_by_key(|port| super::ports::number(port));
    all
}

/// The front-panel ports that are up, in order; all of them where none is.
pub(super) fn ports(tables: &Tables) -> Vec<&str> {
    let mut all = every_port(tables);
    let is_up = |port: &&str| {
        tables.field("PORT", port, "admin_status").is_some_and(|said| said.text == "up")
    };
    if all.iter().any(&is_up) {
        all.retain(is_up);
    }
    all
}
