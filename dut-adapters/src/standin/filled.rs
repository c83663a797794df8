//! CONFIG_DB of a switch that is configured as a profile declares, as SONiC's own templates would write it.

use super::names::{Row, Rows, row};
use super::said;
use rig_lab::{FlexCounter, Profile, RuleFamily, Scheduling, SizedFrom, Switch};
use rig_units::Dur;

/// Bytes of Ethernet header, tag and FCS, which SONiC's MTU leaves out.
const BESIDE_IP: u64 = 22;
/// Lanes of a port.
const LANES: u64 = 4;
/// How often counters are copied to COUNTERS_DB where the device does not say: as `counterpoll` sets it for who wants to read them.
const COUNTERS: Dur = Dur::ms(1_000);
/// The scheduler of each port, where it is shaped.
const OF_PORTS: &str = "scheduler.port";
/// The same of watermarks, where the device does not say how often.
const WATERMARKS: Dur = Dur::ms(500);

/// The rows of CONFIG_DB of the device of `profile`.
///
/// # Errors
/// It is no switch, or declares what CONFIG_DB has no place for.
pub fn filled(profile: &Profile) -> Result<Rows, String> {
    let name = &profile.name;
    let Some(switch) = profile.declared.switch() else {
        return Err(format!("`{name}` is no switch, and SONiC runs on one"));
    };
    let mut rows = Rows::new();
    let mut put = |key: &str, row: Row| drop(rows.insert(key.to_owned(), row));
    let dynamic = switch.dynamic_buffer.sized_from();
    put("DEVICE_METADATA|localhost", metadata(profile, dynamic.is_some()));
    put("VERSIONS|DATABASE", row([("VERSION", "version_202411_01".to_owned())]));
    maps(switch, &mut put);
    schedulers(switch, &mut put);
    buffers(switch, &mut put);
    for index in 0..profile.declared.port_count() {
        port(switch, index, &mut put);
    }
    if let Some(from) = dynamic {
        sized(switch, &from, profile.declared.port_count(), &mut put);
    }
    if !switch.qos.pfcwd_sw_enable.is_empty() {
        let mut global = row([("POLL_INTERVAL", ms(switch.pfcwd.poll_interval))]);
        // Nobody has ever thrown it: a switch is shipped without the field, which no YANG model has.
        if switch.pfcwd.big_red_switch {
            global.insert("BIG_RED_SWITCH".to_owned(), "enable".to_owned());
        }
        put("PFC_WD|GLOBAL", global);
    }
    let FlexCounter { port, queue, pg_drop } = switch.flex_counter;
    let groups = [("PORT", port), ("QUEUE", queue), ("PG_DROP", pg_drop), ("WRED_ECN_QUEUE", None)];
    for (group, every) in groups {
        let status = ("FLEX_COUNTER_STATUS", "enable".to_owned());
        let copied = row([status, ("POLL_INTERVAL", ms(every.unwrap_or(COUNTERS)))]);
        put(&format!("FLEX_COUNTER_TABLE|{group}"), copied);
    }
    let every = ms(switch.watermark.poll.unwrap_or(WATERMARKS));
    for group in said::WATERMARKS {
        let status = ("FLEX_COUNTER_STATUS", "enable".to_owned());
        let copied = row([status, ("POLL_INTERVAL", every.clone())]);
        put(&format!("FLEX_COUNTER_TABLE|{group}"), copied);
    }
    // What this would be taken to say is what the device is, or the stand-in would be another one.
    let other = said::settings(&rows).into_iter().find(|setting| {
        let unsaid = setting.path == said::POLL && switch.watermark.poll.is_none();
        !unsaid && profile.declared.satisfies(setting) != Ok(true)
    });
    match other {
        None => Ok(rows),
        Some(setting) => {
            let path = &setting.path;
            let declared = profile.declared.get(path).unwrap_or_default();
            Err(format!(
                "CONFIG_DB has no place for {path} {declared} of `{name}`, and would say {}",
                setting.value
            ))
        }
    }
}

/// What the switch is: a platform and a hardware SKU of a vendor whose chips run that rule.
fn metadata(profile: &Profile, dynamic: bool) -> Row {
    let (platform, hwsku) = match profile.rule.as_ref().map(|rule| rule.family) {
        Some(RuleFamily::Mellanox) => ("x86_64-mlnx_msn2700-r0", "ACS-MSN2700"),
        Some(RuleFamily::Cisco8000) => ("x86_64-8101_32fh_o-r0", "Cisco-8101-O32"),
        Some(RuleFamily::Barefoot) => ("x86_64-arista_7170_32c", "Arista-7170-32CD-C32"),
        Some(RuleFamily::Broadcom | RuleFamily::IntervalCounter | RuleFamily::Hardware) | None => {
            ("x86_64-arista_7060_cx32s", "Arista-7060CX-32S-C32")
        }
    };
    row([
        ("buffer_model", if dynamic { "dynamic" } else { "traditional" }.to_owned()),
        ("hostname", profile.name.clone()),
        ("hwsku", hwsku.to_owned()),
        ("mac", "02:00:00:00:00:01".to_owned()),
        ("platform", platform.to_owned()),
        ("type", "LeafRouter".to_owned()),
    ])
}

fn maps(switch: &Switch, put: &mut impl FnMut(&str, Row)) {
    let qos = &switch.qos;
    let class = |dscp: u8| qos.dscp_to_tc.get(&dscp).copied().unwrap_or(qos.default_tc);
    let dscp = (0..64).map(|dscp| (dscp.to_string(), class(dscp).to_string())).collect();
    put("DSCP_TO_TC_MAP|AZURE", dscp);
    for table in ["TC_TO_QUEUE_MAP", "TC_TO_PRIORITY_GROUP_MAP", "MAP_PFC_PRIORITY_TO_QUEUE"] {
        let same = (0..8).map(|class: u8| (class.to_string(), class.to_string())).collect();
        put(&format!("{table}|AZURE"), same);
    }
}

fn schedulers(switch: &Switch, put: &mut impl FnMut(&str, Row)) {
    for (queue, scheduling) in switch.scheduler.queues.iter().enumerate() {
        let fields = match scheduling {
            Scheduling::Strict => row([("type", "STRICT".to_owned())]),
            Scheduling::Dwrr(weight) => {
                row([("type", "DWRR".to_owned()), ("weight", weight.to_string())])
            }
        };
        put(&format!("SCHEDULER|scheduler.{queue}"), fields);
    }
    if let Some(pir) = switch.scheduler.pir {
        let rate = [("meter_type", "bytes".to_owned()), ("pir", (pir.bps / 8).to_string())];
        let mut fields = row(rate);
        let burst = switch.scheduler.pbs.map(|burst| ("pbs".to_owned(), burst.0.to_string()));
        fields.extend(burst);
        put(&format!("SCHEDULER|{OF_PORTS}"), fields);
    }
    let wred = &switch.wred;
    if !wred.queues.is_empty() {
        let mut fields = row([
            ("ecn", said::word(&wred.ecn)),
            ("green_min_threshold", wred.kmin.0.to_string()),
            ("green_max_threshold", wred.kmax.0.to_string()),
            ("green_drop_probability", (wred.pmax.0 / said::PERCENT).to_string()),
        ]);
        for colour in ["green", "yellow", "red"] {
            fields.insert(format!("wred_{colour}_enable"), "true".to_owned());
        }
        put("WRED_PROFILE|AZURE_LOSSLESS", fields);
    }
}

fn buffers(switch: &Switch, put: &mut impl FnMut(&str, Row)) {
    let buffer = &switch.buffer;
    let pool = |kind: &str, size: u64| {
        let mode = ("mode", "dynamic".to_owned());
        row([("type", kind.to_owned()), mode, ("size", size.to_string())])
    };
    let mut lossless = pool("ingress", buffer.pool.0);
    if let Some(shared) = buffer.headroom_pool {
        lossless.insert("xoff".to_owned(), shared.0.to_string());
    }
    put("BUFFER_POOL|ingress_lossless_pool", lossless);
    put("BUFFER_POOL|egress_lossy_pool", pool("egress", buffer.lossy_pool.0));
    let mut group = row([
        ("pool", "ingress_lossless_pool".to_owned()),
        ("size", (buffer.reserved.0 + buffer.xoff.0).to_string()),
        ("xoff", buffer.xoff.0.to_string()),
        ("xon", buffer.xon.0.to_string()),
        ("xon_offset", buffer.xon_offset.0.to_string()),
        ("dynamic_th", buffer.dynamic_th.to_string()),
    ]);
    if let Some(limit) = buffer.static_th {
        group.insert("static_th".to_owned(), limit.0.to_string());
    }
    put("BUFFER_PROFILE|pg_lossless_profile", group);
    let lossy = row([
        ("pool", "egress_lossy_pool".to_owned()),
        ("size", "0".to_owned()),
        ("dynamic_th", buffer.lossy_dynamic_th.to_string()),
    ]);
    put("BUFFER_PROFILE|egress_lossy_profile", lossy);
}

/// What a switch works its buffers out from: in place of a profile of lossless groups and of the size of their pool.
fn sized(switch: &Switch, from: &SizedFrom, ports: u16, put: &mut impl FnMut(&str, Row)) {
    let pool = [("type", "ingress".to_owned()), ("mode", "dynamic".to_owned())];
    put("BUFFER_POOL|ingress_lossless_pool", row(pool));
    let parameter = row([
        ("default_dynamic_th", switch.buffer.dynamic_th.to_string()),
        ("over_subscribe_ratio", from.ratio.to_string()),
    ]);
    put("DEFAULT_LOSSLESS_BUFFER_PARAMETER|AZURE", parameter);
    let pattern = row([
        ("mtu", from.lossless_mtu.0.to_string()),
        ("small_packet_percentage", from.small_packets.to_string()),
    ]);
    put("LOSSLESS_TRAFFIC_PATTERN|AZURE", pattern);
    let lossy = row([
        ("pool", "ingress_lossless_pool".to_owned()),
        ("size", "0".to_owned()),
        ("dynamic_th", "3".to_owned()),
    ]);
    put("BUFFER_PROFILE|ingress_lossy_profile", lossy);
    let listed = row([
        ("pool", "egress_lossy_pool".to_owned()),
        ("size", from.port_reserve.0.to_string()),
        ("dynamic_th", "7".to_owned()),
    ]);
    put("BUFFER_PROFILE|egress_port_profile", listed);
    let names: Vec<String> = (0..ports).map(Switch::port_name).collect();
    for port in &names {
        let list = row([("profile_list", "egress_port_profile".to_owned())]);
        put(&format!("BUFFER_PORT_EGRESS_PROFILE_LIST|{port}"), list);
        put(&format!("BUFFER_PG|{port}|0"), row([("profile", "ingress_lossy_profile".to_owned())]));
        // As the templates have them: neighbours in one row.
        let mut classes = switch.qos.pfc_enable.clone();
        classes.sort_unstable();
        for run in classes.chunk_by(|one, next| *next == one + 1) {
            let indices = match run {
                [first, .., last] => format!("{first}-{last}"),
                _ => run.iter().map(u8::to_string).collect(),
            };
            put(&format!("BUFFER_PG|{port}|{indices}"), row([("profile", "NULL".to_owned())]));
        }
    }
    let cables = names.into_iter().map(|port| (port, format!("{}m", from.cable.0 / 100)));
    put("CABLE_LENGTH|AZURE", cables.collect());
}

/// All that is of one port.
fn port(switch: &Switch, index: u16, put: &mut impl FnMut(&str, Row)) {
    let name = Switch::port_name(index);
    let mbps = switch.port_speed(index).map_or(0, |speed| speed.bps() / 1_000_000);
    let is_shut = switch.shut_port == Some(index + 1);
    let lanes = (0..LANES).map(|lane| (u64::from(index) * LANES + lane + 1).to_string());
    let fields = [
        ("admin_status", if is_shut { "down" } else { "up" }.to_owned()),
        ("alias", format!("Ethernet{}/1", index + 1)),
        ("lanes", lanes.collect::<Vec<_>>().join(",")),
        ("mtu", switch.mtu.0.saturating_sub(BESIDE_IP).to_string()),
        ("speed", mbps.to_string()),
    ];
    put(&format!("PORT|{name}"), row(fields));
    let (qos, pfcwd) = (&switch.qos, &switch.pfcwd);
    let maps = ["dscp_to_tc_map", "tc_to_queue_map", "tc_to_pg_map", "pfc_to_queue_map"];
    let mut map = row(maps.map(|field| (field, "AZURE".to_owned())));
    if switch.scheduler.pir.is_some() {
        map.insert("scheduler".to_owned(), OF_PORTS.to_owned());
    }
    for (field, classes) in
        [("pfc_enable", &qos.pfc_enable), ("pfcwd_sw_enable", &qos.pfcwd_sw_enable)]
    {
        if !classes.is_empty() {
            map.insert(field.to_owned(), said::listed(classes));
        }
    }
    put(&format!("PORT_QOS_MAP|{name}"), map);
    for queue in 0..8_u8 {
        let mut bound = row([("scheduler", format!("scheduler.{queue}"))]);
        if switch.wred.queues.contains(&queue) {
            bound.insert("wred_profile".to_owned(), "AZURE_LOSSLESS".to_owned());
        }
        put(&format!("QUEUE|{name}|{queue}"), bound);
        let (table, profile) = if !qos.pfc_enable.contains(&queue) {
            ("BUFFER_QUEUE", "egress_lossy_profile")
        } else if switch.dynamic_buffer.sized_from().is_none() {
            ("BUFFER_PG", "pg_lossless_profile")
        } else {
            // The switch's to size.
            continue;
        };
        put(&format!("{table}|{name}|{queue}"), row([("profile", profile.to_owned())]));
    }
    if !qos.pfcwd_sw_enable.is_empty() {
        let mut watched = row([
            ("detection_time", ms(pfcwd.detection_time)),
            ("action", said::word(&pfcwd.action)),
        ]);
        if let Some(time) = pfcwd.restoration_time {
            watched.insert("restoration_time".to_owned(), ms(time));
        }
        put(&format!("PFC_WD|{name}"), watched);
    }
}

/// Whole milliseconds.
fn ms(time: Dur) -> String {
    (time.0 / Dur::ms(1).0).to_string()
}
