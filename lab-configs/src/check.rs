//! What a profile may not say: values that fit their keys and contradict the standards, the watchdog's own limits or
//! one another.

use crate::walk::At;
use crate::{
    Accounting, Action, ConfigPath, Curve, Declared, DepthUnit, Pfcwd, Profile, RuleFamily, Wred,
};
use rig_units::{Bytes, Dur};

/// Notes every contradiction of a profile that was read from `root`.
pub(crate) fn profile(root: &At<'_>, profile: &Profile) {
    let checks = Checks { root, declared: &profile.declared };
    if profile.kind.has("nic") {
        return checks.nic();
    }
    checks.ports();
    if !profile.kind.is_guarded() {
        return;
    }
    checks.classes();
    checks.buffer();
    checks.wred();
    checks.pfc();
    checks.watermarks();
    checks.macsec();
    checks.watchdog(profile.family());
}

struct Checks<'a> {
    root: &'a At<'a>,
    declared: &'a Declared,
}

impl Checks<'_> {
    /// Notes a fault at a path below `declared:`.
    fn fault(&self, path: &str, found: String, want: String) {
        self.root.down("declared").down(path).fault(found, want);
    }

    fn ports(&self) {
        const MOST: u64 = 512;
        let groups = &self.declared.ports;
        let count: u64 = groups.iter().map(|group| u64::from(group.count)).sum();
        if groups.iter().any(|group| group.count == 0) || !(2..=MOST).contains(&count) {
            let want = format!("2 to {MOST} ports, none of a group without ports");
            self.fault("ports", format!("{count} ports"), want);
        }
        let mtu = self.declared.mtu;
        if !(Bytes(1_518)..=Bytes(16_383)).contains(&mtu) {
            let want = "an MTU of 1518B to 16383B, FCS counted".to_owned();
            self.fault("mtu", format!("an MTU of {mtu}"), want);
        }
    }

    fn classes(&self) {
        let Declared { qos, scheduler, .. } = self.declared;
        let classes = [("pfc_enable", &qos.pfc_enable), ("pfcwd_sw_enable", &qos.pfcwd_sw_enable)];
        for (name, list) in classes {
            let mut sorted = list.clone();
            sorted.sort_unstable();
            sorted.dedup();
            if sorted.len() != list.len() || sorted.iter().any(|&class| class > 7) {
                let want = "different classes from 0 to 7".to_owned();
                self.fault(&format!("qos.{name}"), format!("the classes {list:?}"), want);
            }
        }
        for class in qos.pfcwd_sw_enable.iter().filter(|class| !qos.lossless(**class)) {
            let found = format!("the watchdog guards class {class}, which has no PFC");
            self.fault(
                "qos.pfcwd_sw_enable",
                found,
                format!("classes of pfc_enable: {:?}", qos.pfc_enable),
            );
        }
        for (dscp, class) in qos.dscp_to_tc.iter().filter(|&(&dscp, &class)| dscp > 63 || class > 7)
        {
            let want = "code points 0 to 63 to classes 0 to 7".to_owned();
            self.fault("qos.dscp_to_tc", format!("the entry {dscp}: {class}"), want);
        }
        if qos.default_tc > 7 {
            self.fault("qos.default_tc", format!("class {}", qos.default_tc), "0 to 7".to_owned());
        }
        for (path, found, want) in scheduler.out_of_range() {
            self.fault(path, found, want);
        }
    }

    fn buffer(&self) {
        let buffer = &self.declared.buffer;
        if buffer.cell == Bytes(0) || buffer.cell > buffer.pool {
            let want = format!("1B up to the pool of {}", buffer.pool);
            self.fault("buffer.cell", format!("a cell of {}", buffer.cell), want);
        }
        if buffer.lossy_pool > buffer.pool {
            let found = format!("a lossy pool of {}", buffer.lossy_pool);
            let want =
                format!("at most the pool of {}, which lossy frames count in too", buffer.pool);
            self.fault("buffer.lossy_pool", found, want);
        }
        let of_groups = [
            ("reserved", buffer.reserved > Bytes(0)),
            ("port_dynamic_th", buffer.port_dynamic_th.is_some()),
        ];
        for (path, _) in of_groups.iter().filter(|(_, is_set)| *is_set) {
            if buffer.accounting == Accounting::Voq {
                let found = format!("{path} with accounting by virtual output queues");
                let want = "no reserve and no limit of the port: both are of ingress groups";
                self.fault(&format!("buffer.{path}"), found, want.to_owned());
            }
        }
        let exponents = [
            ("dynamic_th", Some(buffer.dynamic_th)),
            ("port_dynamic_th", buffer.port_dynamic_th),
            ("lossy_dynamic_th", Some(buffer.lossy_dynamic_th)),
        ];
        for (path, k) in exponents.into_iter().filter_map(|(path, k)| Some((path, k?))) {
            if !(-8..=8).contains(&k) {
                let want = "-8 to 8: the limit is 2^k of what is left of the pool".to_owned();
                self.fault(&format!("buffer.{path}"), format!("a threshold exponent of {k}"), want);
            }
        }
    }

    fn wred(&self) {
        let wred = &self.declared.wred;
        let mut queues = wred.queues.clone();
        queues.sort_unstable();
        queues.dedup();
        if queues.len() != wred.queues.len() || queues.iter().any(|&queue| queue > 7) {
            let want = "different queues from 0 to 7".to_owned();
            self.fault("wred.queues", format!("the queues {:?}", wred.queues), want);
        }
        for (path, curve) in wred.curves() {
            if let Some((found, want)) = Curve::crossed(curve.kmin, curve.kmax) {
                self.fault(path, found, want);
            }
        }
        if wred.weight > Wred::MOST_WEIGHT {
            let want = format!("0, for no average, to {}", Wred::MOST_WEIGHT);
            self.fault("wred.weight", format!("a weight of {}", wred.weight), want);
        }
        if wred.unit == DepthUnit::Packets(Bytes(0)) {
            let want = "{packets: 1024B} or any other size above 0B".to_owned();
            self.fault("wred.unit", "frames that count nothing".to_owned(), want);
        }
        let colors = self.declared.qos.dscp_to_color.iter().flatten();
        for (dscp, color) in colors.filter(|&(&dscp, _)| dscp > 63) {
            let want = "code points 0 to 63".to_owned();
            self.fault("qos.dscp_to_color", format!("the entry {dscp}: {color:?}"), want);
        }
    }

    fn pfc(&self) {
        let pfc = &self.declared.pfc;
        let fastest = self.declared.ports.iter().map(|group| group.speed.pause(pfc.quanta)).min();
        let Some(pause) = fastest else { return };
        if pfc.refresh == Dur::ZERO || pfc.refresh > pause {
            let found = format!(
                "XOFF is refreshed every {}, the pause runs out after {pause}",
                pfc.refresh
            );
            let want =
                format!("a refresh within the pause time of {} on the fastest port", pfc.quanta);
            self.fault("pfc.refresh", found, want);
        }
        if let Some(taken) = pfc.emission.filter(|taken| *taken >= pause) {
            let found = format!("an XOFF that takes {taken}");
            self.fault("pfc.emission", found, format!("less than the pause time, {pause}"));
        }
        if pfc.response.most() >= pause {
            let found = format!("a response time of {}", pfc.response);
            self.fault("pfc.response", found, format!("less than the pause time, {pause}"));
        }
    }

    fn watermarks(&self) {
        let watermark = &self.declared.watermark;
        let times = [("poll", watermark.poll), ("telemetry", watermark.telemetry)];
        for (path, time) in times.into_iter().filter_map(|(path, time)| Some((path, time?))) {
            if time < Dur::ms(1) {
                self.fault(
                    &format!("watermark.{path}"),
                    format!("{time}"),
                    "at least 1ms".to_owned(),
                );
            }
        }
    }

    fn nic(&self) {
        let Declared { nic, peer, .. } = self.declared;
        let count = self.declared.port_count();
        if count != 1 + u16::from(peer.exists()) {
            let want = "one port for each NIC: `nic` behind the first, `peer` behind the second";
            self.fault("ports", format!("{count} ports"), want.to_owned());
        }
        for (part, nic) in [("nic", nic), ("peer", peer)] {
            for (path, found, want) in nic.out_of_range() {
                self.fault(&format!("{part}.{path}"), found, want);
            }
        }
    }

    fn macsec(&self) {
        let Declared { macsec, pfc, ports, .. } = self.declared;
        for (path, found, want) in macsec.out_of_range() {
            self.fault(path, found, want);
        }
        let pause = ports.iter().map(|group| group.speed.pause(pfc.quanta)).min();
        let slower = pfc.response.most().max(pfc.emission.unwrap_or(Dur::ZERO)) + macsec.latency;
        if let Some(pause) = pause.filter(|pause| macsec.enable && slower >= *pause) {
            let found = format!("a latency of {}: PFC takes {slower}", macsec.latency);
            self.fault("macsec.latency", found, format!("PFC within the pause time, {pause}"));
        }
    }

    fn watchdog(&self, family: Option<RuleFamily>) {
        let pfcwd = &self.declared.pfcwd;
        let range = |path: &str, value: Dur, (from, to): (Dur, Dur)| {
            if value < from || value > to {
                let found = format!("{value} is out of range");
                self.fault(&format!("pfcwd.{path}"), found, format!("{from} to {to}"));
            }
        };
        range("detection_time", pfcwd.detection_time, Pfcwd::DETECTION_RANGE);
        if let Some(time) = pfcwd.restoration_time {
            range("restoration_time", time, Pfcwd::RESTORATION_RANGE);
        }
        let (d, p) = (pfcwd.detection_time, pfcwd.poll_interval);
        if p < Dur::ms(1) {
            self.fault("pfcwd.poll_interval", format!("{p}"), "at least 1ms".to_owned());
        } else if family == Some(RuleFamily::IntervalCounter) && d % p != Dur::ZERO {
            let found = format!("a detection time of {d} is no whole number of checks of {p}");
            self.fault("pfcwd.detection_time", found, "N checks of poll_interval".to_owned());
        }
        if pfcwd.config_path == ConfigPath::Yang && d < p {
            let found = format!("a detection time of {d} below the poll interval of {p}");
            self.fault(
                "pfcwd.detection_time",
                found,
                format!("at least {p} (the YANG model's rule)"),
            );
        }
        if family == Some(RuleFamily::Cisco8000) && pfcwd.action == Action::Forward {
            let want = "drop or alert: this family refuses forward".to_owned();
            self.fault("pfcwd.action", "action `forward`".to_owned(), want);
        }
        if pfcwd.min_samples == 0 {
            self.fault("pfcwd.min_samples", "0 samples".to_owned(), "at least 1".to_owned());
        }
    }
}
