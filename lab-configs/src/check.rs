//! What a profile may not say: values that fit their keys and contradict the standards, the watchdog's own limits or
//! one another.

use crate::SwitchingMode;
use crate::walk::At;
use crate::{
    Accounting, Action, Buffer, ConfigPath, Curve, DepthUnit, DynamicBuffer, FlexCounter, Memories,
    Nics, Pfcwd, PortGroup, Profile, Reboot, RebootKind, RuleFamily, Switch, Watermark, Wred,
};
use rig_units::{Bytes, Dur, MIN_FRAME, Ppm, Within};

/// Notes every contradiction of a profile that was read from `root`.
pub(crate) fn profile(root: &At<'_>, profile: &Profile) {
    let checks = Checks { root };
    checks.clock(profile.declared.clock());
    let declared = &profile.declared;
    let beyond = declared.nics_out_of_range();
    match declared.nics() {
        Some(nics) => checks.nics(nics),
        None if !beyond.is_empty() => {}
        None => checks.ports(declared.ports(), declared.mtu()),
    }
    for (path, found, want) in beyond {
        checks.fault(&path, found, want);
    }
    if let Some(switch) = declared.switch() {
        checks.classes(switch);
        checks.buffer(&switch.buffer);
        checks.margin(&switch.buffer);
        checks.memories(switch);
        checks.wred(switch);
        checks.pfc(switch);
        checks.watermarks(&switch.watermark);
        checks.copies(&switch.flex_counter);
        checks.reboots(&switch.reboot);
        checks.dynamic_buffer(&switch.dynamic_buffer);
        for (path, found, want) in switch.ports_out_of_range() {
            checks.fault(path, found, want);
        }
        checks.macsec(switch);
        checks.watchdog(&switch.pfcwd, profile.family());
    }
}

/// A clock that is further off is none.
pub(crate) const CLOCK: Ppm = Ppm(10_000);

struct Checks<'a> {
    root: &'a At<'a>,
}

impl Checks<'_> {
    /// Notes a fault at a path below `declared:`.
    fn fault(&self, path: &str, found: String, want: String) {
        self.root.down("declared").down(path).fault(found, want);
    }

    fn clock(&self, clock: Ppm) {
        if clock > CLOCK {
            let want = format!("at most {CLOCK}: IEEE 802.3 allows 100ppm");
            self.fault("clock", format!("a clock that may be off by {clock}"), want);
        }
    }

    fn ports(&self, groups: &[PortGroup], mtu: Bytes) {
        const MOST: u64 = 512;
        let count: u64 = groups.iter().map(|group| u64::from(group.count)).sum();
        if groups.iter().any(|group| group.count == 0) || !(2..=MOST).contains(&count) {
            let want = format!("2 to {MOST} ports, none of a group without ports");
            self.fault("ports", format!("{count} ports"), want);
        }
        if !(Bytes(1_518)..=Bytes(16_383)).contains(&mtu) {
            let want = "an MTU of 1518B to 16383B, FCS counted".to_owned();
            self.fault("mtu", format!("an MTU of {mtu}"), want);
        }
    }

    fn classes(&self, switch: &Switch) {
        let Switch { qos, scheduler, .. } = switch;
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

    fn buffer(&self, buffer: &Buffer) {
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
        for path in buffer.misplaced() {
            let found = format!("{path} with accounting by virtual output queues");
            let want = "no reserve, limit of the port or delay: all are of ingress groups";
            self.fault(&format!("buffer.{path}"), found, want.to_owned());
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

    fn margin(&self, buffer: &Buffer) {
        let margin = buffer.margin.filter(|&cells| cells > Buffer::MOST_MARGIN);
        if let Some(cells) = margin {
            let want = format!("at most {}: beyond it nothing can be told", Buffer::MOST_MARGIN);
            self.fault("buffer.margin", format!("a margin of {cells} cells"), want);
        }
        let delay = buffer.accounting_delay.filter(|delay| delay.most() > Buffer::MOST_DELAY);
        if let Some(delay) = delay {
            let want = format!("at most {}: beyond it nothing can be told", Buffer::MOST_DELAY);
            self.fault("buffer.accounting_delay", format!("a delay of {delay}"), want);
        }
    }

    fn memories(&self, switch: &Switch) {
        let buffer = &switch.buffer;
        let count: usize = switch.ports.iter().map(|group| usize::from(group.count)).sum();
        let sides = [
            ("ingress_memories", &buffer.ingress_memories),
            ("egress_memories", &buffer.egress_memories),
        ];
        for (path, side) in sides.into_iter().filter_map(|(path, of)| Some((path, of.as_ref()?))) {
            let path = format!("buffer.{path}");
            if side.pipes() > count {
                let found = format!("memories of {} pipes", side.pipes());
                self.fault(&path, found, format!("at most {count}, a pipe for each port"));
            }
            if buffer.memories() > Memories::MOST {
                let found = format!("{} memories by both sides", buffer.memories());
                self.fault(&path, found, format!("at most {}", Memories::MOST));
            }
            if buffer.accounting == Accounting::Voq {
                let found = "several memories with accounting by virtual output queues".to_owned();
                let want = "one: how a queue counts what lies in several of them nobody states";
                self.fault(&path, found, want.to_owned());
            }
            let one = buffer.of_one_memory().pool;
            if buffer.cell > one {
                let found = format!("{} memories of a pool of {}", buffer.memories(), buffer.pool);
                self.fault(&path, found, format!("a cell of {} or more in each", buffer.cell));
            }
        }
    }

    fn wred(&self, switch: &Switch) {
        let wred = &switch.wred;
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
        if let Some((found, want)) = wred.steps_out_of_range() {
            self.fault("wred.chance_steps", found, want);
        }
        if wred.threshold_step == Some(Bytes(0)) {
            let found = "thresholds in steps of 0B".to_owned();
            self.fault("wred.threshold_step", found, "208B or any other size above 0B".to_owned());
        }
        if let Some((found, want)) = wred.interval_out_of_range() {
            self.fault("wred.average_interval", found, want);
        }
        if let Some((found, want)) = wred.harddrop_out_of_place() {
            self.fault("wred.harddrop", found, want);
        }
        if wred.unit == DepthUnit::Packets(Bytes(0)) {
            let want = "{packets: 1024B} or any other size above 0B".to_owned();
            self.fault("wred.unit", "frames that count nothing".to_owned(), want);
        }
        let colors = switch.qos.dscp_to_color.iter().flatten();
        for (dscp, color) in colors.filter(|&(&dscp, _)| dscp > 63) {
            let want = "code points 0 to 63".to_owned();
            self.fault("qos.dscp_to_color", format!("the entry {dscp}: {color:?}"), want);
        }
    }

    fn pfc(&self, switch: &Switch) {
        let pfc = &switch.pfc;
        let fastest = switch.ports.iter().map(|group| group.speed.pause(pfc.quanta)).min();
        let Some(pause) = fastest else { return };
        if pfc.refresh.least() == Dur::ZERO {
            let found = format!("XOFF is refreshed every {}, which may be at once", pfc.refresh);
            self.fault("pfc.refresh", found, "a least above 0s, such as 1us..50us".to_owned());
        } else if pfc.refresh.most() > pause {
            let found = format!(
                "XOFF is refreshed every {}, the pause runs out after {pause}",
                pfc.refresh
            );
            let want =
                format!("a refresh within the pause time of {} on the fastest port", pfc.quanta);
            self.fault("pfc.refresh", found, want);
        }
        let words = [("emission", "XOFF", pfc.emission), ("resumption", "XON", pfc.resumption)];
        for (path, word, taken) in words {
            let Some(taken) = taken.filter(|taken| taken.most() >= pause) else { continue };
            let found = format!("an {word} that takes {taken}");
            let want = format!("less than the pause time, {pause}");
            self.fault(&format!("pfc.{path}"), found, want);
        }
        if pfc.response.most() >= pause {
            let found = format!("a response time of {}", pfc.response);
            self.fault("pfc.response", found, format!("less than the pause time, {pause}"));
        }
    }

    fn watermarks(&self, watermark: &Watermark) {
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

    fn copies(&self, copied: &FlexCounter) {
        let times = [("port", copied.port), ("queue", copied.queue), ("pg_drop", copied.pg_drop)];
        for (path, time) in times.into_iter().filter_map(|(path, time)| Some((path, time?))) {
            if time < Dur::ms(1) {
                let found = format!("copies every {time}");
                self.fault(&format!("flex_counter.{path}"), found, "at least 1ms".to_owned());
            }
        }
    }

    fn reboots(&self, reboot: &Reboot) {
        for (path, kind) in [("fast", RebootKind::Fast), ("cold", RebootKind::Cold)] {
            let (back, outage) = (reboot.back(kind), reboot.outage(kind));
            let path = format!("reboot.{path}_outage");
            match (back, outage) {
                (Some(back), Some(outage)) if outage > back => {
                    let found = format!("nothing passes for {outage}");
                    self.fault(&path, found, format!("at most {back}, when its software is back"));
                }
                (Some(_), None) => {
                    let want = "the longest for which nothing passes".to_owned();
                    self.fault(&path, "a reboot without it".to_owned(), want);
                }
                _ => {}
            }
        }
    }

    fn dynamic_buffer(&self, dynamic: &DynamicBuffer) {
        if dynamic.sized_by.is_some() && dynamic.sized_from().is_none() {
            let found = "a rule without all that it goes by".to_owned();
            let want = "cable, lossless_mtu, small_packets, memory, pipeline_latency, mac_phy_delay and peer_response_time";
            self.fault("dynamic_buffer.sized_by", found, want.to_owned());
        }
        if let Some((path, found, want)) = dynamic.out_of_range() {
            self.fault(&format!("dynamic_buffer.{path}"), found, want);
        }
        if let Some(small) = dynamic.small_packets.filter(|small| *small > 100) {
            let found = format!("{small} small packets of a hundred");
            self.fault("dynamic_buffer.small_packets", found, "100 at most".to_owned());
        }
        // Quanta of 64 B, of which 16 are a KiB.
        if let Some(time) = dynamic.peer_response_time
            && !(u64::from(time) * 16).is_multiple_of(1_000)
        {
            let want = "whole sixteenths of a KiB, in thousandths of it: 9625 is 9.625".to_owned();
            self.fault("dynamic_buffer.peer_response_time", format!("{time}"), want);
        }
    }

    fn nics(&self, nics: &Nics) {
        let count: u16 = nics.ports.iter().map(|group| group.count).sum();
        if usize::from(count) != nics.all().count() {
            let want = "one port for each NIC: `nic` behind the first, `peer` behind the second";
            self.fault("ports", format!("{count} ports"), want.to_owned());
        }
    }

    fn macsec(&self, switch: &Switch) {
        let Switch { macsec, pfc, ports, .. } = switch;
        if macsec.enable && switch.switching_mode == SwitchingMode::CutThrough {
            let want = "store-and-forward: MACsec knows only of a whole frame whether it is right"
                .to_owned();
            self.fault("switching_mode", "cut-through with macsec.enable".to_owned(), want);
        }
        for (path, found, want) in macsec.out_of_range() {
            self.fault(path, found, want);
        }
        let pause = ports.iter().map(|group| group.speed.pause(pfc.quanta)).min();
        let says =
            [pfc.emission, pfc.resumption].map(|taken| taken.map_or(Dur::ZERO, Within::most));
        let slower = pfc.response.most().max(says[0]).max(says[1]) + macsec.takes(MIN_FRAME).most();
        if let Some(pause) = pause.filter(|pause| macsec.enable && slower >= *pause) {
            let found = format!("a latency of {}: PFC takes {slower}", macsec.latency);
            self.fault("macsec.latency", found, format!("PFC within the pause time, {pause}"));
        }
    }

    fn watchdog(&self, pfcwd: &Pfcwd, family: Option<RuleFamily>) {
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
        if pfcwd.timer_lag.is_some() && family.is_some_and(|family| family != RuleFamily::Hardware)
        {
            let found = "a lag of timers that this rule has not".to_owned();
            self.fault("pfcwd.timer_lag", found, "the rule family hardware".to_owned());
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
        if pfcwd.jitter.is_some_and(|jitter| jitter.most() >= p) {
            let found = "polls that come a whole poll interval late".to_owned();
            self.fault("pfcwd.jitter", found, format!("below {p}: skipped_polls says more"));
        }
        if pfcwd.skipped_polls.is_some_and(|skipped| skipped > Pfcwd::MOST_SKIPPED) {
            let want = format!("at most {}", Pfcwd::MOST_SKIPPED);
            self.fault("pfcwd.skipped_polls", "that many polls left out".to_owned(), want);
        }
        if pfcwd.min_samples == 0 {
            self.fault("pfcwd.min_samples", "0 samples".to_owned(), "at least 1".to_owned());
        }
    }
}
