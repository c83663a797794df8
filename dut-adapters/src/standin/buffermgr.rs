//! What the buffer manager makes of CONFIG_DB where `buffer_model` is `dynamic`, on a Spectrum: a profile for each speed and cable, and
//! the pool, as rows of APPL_DB. Numbers as its scripts have them, in floating point.

use super::faults::Faults;
use super::names::{Db, Row, Rows, numbers, of, ports, referred, row, set};
use redis::{Connection, Pipeline, RedisResult};
use rig_lab::{Profile, SizedFrom, Switch};
use std::collections::{BTreeMap, BTreeSet};

const KIB: f64 = 1_024.0;
const METRES_PER_SECOND: f64 = 198_000_000.0;
/// What a peer sends at most until it stops, in quanta of 64 B, by the speed in Mb/s.
const QUANTA: [(&str, f64); 10] = [
    ("800000", 905.0),
    ("400000", 905.0),
    ("200000", 453.0),
    ("100000", 394.0),
    ("50000", 147.0),
    ("40000", 118.0),
    ("25000", 80.0),
    ("10000", 67.0),
    ("1000", 2.0),
    ("100", 1.0),
];

/// The rows of STATE_DB that say what the chip is.
const CHIP: &str = "ASIC_TABLE|MELLANOX-SPECTRUM-2";
const MEMORY: &str = "BUFFER_MAX_PARAM_TABLE|global";

/// Writes to STATE_DB what the chip of this device is, where it works its buffers out itself.
pub(super) fn born(profile: &Profile, all: &mut Pipeline) {
    let Some(switch) = profile.declared.switch() else { return };
    let Some(from) = switch.dynamic_buffer.sized_from() else { return };
    let SizedFrom { memory, pipeline_latency, mac_phy_delay, peer_response_time, .. } = from;
    let kib = |thousandths: u32| format!("{}.{:03}", thousandths / 1_000, thousandths % 1_000);
    all.cmd("SELECT").arg(Db::State as u8).ignore();
    let chip = row([
        ("cell_size", switch.buffer.cell.0.to_string()),
        ("pipeline_latency", kib(pipeline_latency)),
        ("mac_phy_delay", kib(mac_phy_delay)),
        ("peer_response_time", kib(peer_response_time)),
    ]);
    set(all, CHIP, &chip);
    set(all, MEMORY, &row([("mmu_size", memory.0.to_string())]));
    for port in (0..profile.declared.port_count()).map(Switch::port_name) {
        if let Some(supported) = from.supported {
            let mbps = supported.bps() / 1_000_000;
            // As a switch says it: all of them, in no order.
            let speeds = [mbps, mbps / 4, mbps / 2].map(|mbps| mbps.to_string()).join(",");
            set(all, &format!("PORT_TABLE|{port}"), &row([("supported_speeds", speeds)]));
        }
        if let Some(most) = from.max_headroom {
            let key = format!("BUFFER_MAX_PARAM_TABLE|{port}");
            set(all, &key, &row([("max_headroom_size", most.0.to_string())]));
        }
    }
}

/// One, and the rows that it has written.
#[derive(Debug, Default)]
pub(super) struct BufferManager {
    written: BTreeSet<String>,
    /// What the groups of each port were given last.
    ports: BTreeMap<String, PortRooms>,
    /// Ports that were shut.
    shut: BTreeSet<String>,
    /// What each negotiates, in Mb/s: it takes what is set, and nothing of what goes.
    negotiated: BTreeMap<String, Row>,
}

/// What the groups of a port take.
#[derive(Debug, Default, Clone)]
struct PortRooms {
    occupied: f64,
    promised: f64,
    /// What its groups have for themselves, lossy ones too.
    headroom: f64,
    is_lossless: bool,
    rows: BTreeMap<String, Row>,
}

/// What a profile has.
#[derive(Debug, Clone, Copy)]
struct Headroom {
    xon: f64,
    xoff: f64,
    size: f64,
}

impl BufferManager {
    /// The rows of APPL_DB that it makes of these of CONFIG_DB.
    pub(super) fn rows(
        &mut self,
        rows: &Rows,
        faults: &Faults,
        line: &mut Connection,
    ) -> RedisResult<Pipeline> {
        let mut all = redis::pipe();
        let metadata = rows.get("DEVICE_METADATA|localhost");
        let model = metadata.and_then(|row| row.get("buffer_model")).map(String::as_str);
        if model != Some("dynamic") {
            return Ok(all);
        }
        let mut ask = redis::pipe();
        ask.cmd("SELECT").arg(Db::State as u8).ignore();
        ask.cmd("HGETALL").arg(CHIP).cmd("HGETALL").arg(MEMORY);
        let names = ports(rows);
        for port in &names {
            ask.cmd("HGET").arg(format!("BUFFER_MAX_PARAM_TABLE|{port}")).arg("max_headroom_size");
            ask.cmd("HGET").arg(format!("PORT_TABLE|{port}")).arg("supported_speeds");
        }
        let told: Vec<redis::Value> = ask.query(line)?;
        let mut told = told.into_iter();
        let mut row =
            || redis::from_owned_redis_value::<Row>(told.next().unwrap_or(redis::Value::Nil));
        let (chip, memory) = (row()?, row()?);
        for port in names {
            let mut next = || told.next().unwrap_or(redis::Value::Nil);
            let most: Option<f64> = redis::from_owned_redis_value(next())?;
            let supported: Option<String> = redis::from_owned_redis_value(next())?;
            let mut rooms = rooms(
                rows,
                &chip,
                port,
                faults,
                &self.speed(rows, port, supported.as_deref(), faults),
            );
            if is_shut(rows, port) {
                self.shut.insert(port.to_owned());
            } else if faults.forgets_headroom && self.shut.contains(port) {
                rooms = PortRooms::default();
            }
            // What is more than the port may have goes nowhere: all stays as it was.
            // Beside its groups are mirrored frames, the port's own to the processor, and what is not known better.
            let beside = 4_096.0 + number(Some(&chip), "pipeline_latency") * KIB + 20.0 * KIB;
            if most.is_none_or(|most| beside + rooms.headroom < most) || faults.no_limits {
                self.ports.insert(port.to_owned(), rooms);
            }
        }
        let made = self.made((rows, &chip), number(Some(&memory), "mmu_size"), faults);
        all.cmd("SELECT").arg(Db::Appl as u8).ignore();
        for gone in self.written.iter().filter(|key| !made.contains_key(*key)) {
            all.cmd("DEL").arg(gone).ignore();
        }
        for (key, row) in &made {
            if !row.contains_key("xoff") {
                // Of a shared headroom pool that there is no more.
                all.cmd("HDEL").arg(key).arg("xoff").ignore();
            }
            set(&mut all, key, row);
        }
        self.written = made.into_keys().collect();
        Ok(all)
    }
}

fn number(row: Option<&Row>, field: &str) -> f64 {
    row.and_then(|row| row.get(field)?.parse().ok()).unwrap_or(0.0)
}

/// The first row of a table.
fn only<'r>(rows: &'r Rows, table: &str) -> Option<&'r Row> {
    of(rows, table).next().map(|(_, row)| row)
}

impl BufferManager {
    /// The speed that headroom of a port is worked out from: what it advertises at most where it negotiates, or what it supports.
    fn speed(
        &mut self,
        rows: &Rows,
        port: &str,
        supported: Option<&str>,
        faults: &Faults,
    ) -> String {
        let Some(own) = rows.get(&format!("PORT|{port}")) else { return String::new() };
        let lasts = self.negotiated.entry(port.to_owned()).or_default();
        for field in ["autoneg", "adv_speeds"] {
            lasts.extend(own.get(field).map(|text| (field.to_owned(), text.clone())));
        }
        let configured = own.get("speed").cloned().unwrap_or_default();
        let negotiates = lasts.get("autoneg").is_some_and(|word| word == "on");
        if !negotiates || faults.ignores_autoneg {
            return configured;
        }
        let fastest =
            |list: &str| list.split(',').filter_map(|speed| speed.parse::<u64>().ok()).max();
        let said = lasts.get("adv_speeds").and_then(|list| fastest(list));
        let said = said.or_else(|| fastest(supported?));
        said.map_or(configured, |mbps| mbps.to_string())
    }

    fn made(
        &self,
        (rows, chip): (&Rows, &Row),
        memory: f64,
        faults: &Faults,
    ) -> BTreeMap<String, Row> {
        let names = ports(rows);
        let all = || names.iter().filter_map(|port| self.ports.get(*port));
        let mut made = BTreeMap::new();
        all().for_each(|port| made.extend(port.rows.clone()));
        let ratio = number(only(rows, "DEFAULT_LOSSLESS_BUFFER_PARAMETER"), "over_subscribe_ratio");
        let latency = number(Some(chip), "pipeline_latency") * KIB;
        let mut occupied: f64 = all().map(|port| port.occupied).sum();
        let promised: f64 = all().map(|port| port.promised).sum();
        let lossless_ports = all().filter(|port| port.is_lossless).count();
        let open = names.iter().filter(|port| !is_shut(rows, port) || faults.keeps_headroom);
        for port in open {
            occupied += latency + 10.0 * KIB + listed(rows, port);
        }
        occupied += 256.0 * KIB;
        let mut pool = row([("type", "ingress".to_owned()), ("mode", "dynamic".to_owned())]);
        if ratio > 0.0 {
            let private = f64::from(u16::try_from(lossless_ports).unwrap_or(0)) * 10.0 * KIB;
            let beyond = (promised - private).max(0.0);
            let shared = (beyond / ratio).ceil();
            let shared = if shared <= 0.0 { 640.0 * KIB } else { shared };
            occupied += private + shared;
            pool.insert("xoff".to_owned(), whole(shared));
        }
        pool.insert("size".to_owned(), whole((memory - occupied).max(0.0)));
        made.insert("BUFFER_POOL_TABLE:ingress_lossless_pool".to_owned(), pool);
        made
    }
}

/// What CONFIG_DB has the groups of a port take. One that is down has no lossless group; one that is bound to a profile of an operator's own
/// has what that says.
fn rooms(rows: &Rows, chip: &Row, port: &str, faults: &Faults, speed: &str) -> PortRooms {
    let mut all = PortRooms::default();
    let latency = number(Some(chip), "pipeline_latency") * KIB;
    let Some(own) = rows.get(&format!("PORT|{port}")) else { return all };
    let is_down = is_shut(rows, port) && !faults.keeps_headroom;
    for (key, group) in of(rows, "BUFFER_PG") {
        let Some((name, indices)) = key.rsplit_once('|') else { continue };
        if name != port {
            continue;
        }
        let groups = f64::from(u16::try_from(numbers(indices).len()).unwrap_or(0));
        let bound = group.get("profile").map_or("", String::as_str);
        let table = format!("BUFFER_PG_TABLE:{port}:{indices}");
        let set = rows.get(&format!("BUFFER_PROFILE|{}", referred(bound)));
        let set = set.filter(|row| row.contains_key("xoff"));
        if is_down {
            // A lossy one stays, with a profile of no size in a pool of none.
            continue;
        }
        if bound != "NULL" && set.is_none() {
            // Of a lossy one the pipeline alone.
            all.occupied += latency * groups;
            all.headroom += latency * groups;
            put(&mut all.rows, &table, [("profile", bound)]);
            continue;
        }
        let of_row = |field| number(set, field);
        let (room, name) = if set.is_some() {
            let (xon, xoff, size) = (of_row("xon"), of_row("xoff"), of_row("size"));
            let key = format!("BUFFER_PROFILE_TABLE:{}", referred(bound));
            all.rows.extend(set.map(|row| (key, row.clone())));
            (Headroom { xon, xoff, size }, referred(bound).to_owned())
        } else {
            let lengths = only(rows, "CABLE_LENGTH");
            let cable = lengths.and_then(|row| row.get(port)).map_or("0m", String::as_str);
            let room = headroom(rows, chip, (own, speed, cable), faults);
            let name = format!("pg_lossless_{speed}_{cable}_profile");
            let alpha = only(rows, "DEFAULT_LOSSLESS_BUFFER_PARAMETER");
            let alpha =
                alpha.and_then(|row| row.get("default_dynamic_th")).map_or("0", String::as_str);
            let (xon, xoff, size) = (whole(room.xon), whole(room.xoff), whole(room.size));
            put(
                &mut all.rows,
                &format!("BUFFER_PROFILE_TABLE:{name}"),
                [
                    ("pool", "ingress_lossless_pool"),
                    ("xon", &xon),
                    ("xoff", &xoff),
                    ("size", &size),
                    ("dynamic_th", alpha),
                ],
            );
            (room, name)
        };
        all.occupied += room.size * groups;
        all.headroom += room.size * groups;
        all.promised += (room.xon + room.xoff - room.size).max(0.0) * groups;
        all.is_lossless = true;
        put(&mut all.rows, &table, [("profile", &name)]);
    }
    all
}

/// Whether the operator has shut a port.
fn is_shut(rows: &Rows, port: &str) -> bool {
    let own = rows.get(&format!("PORT|{port}"));
    own.and_then(|row| row.get("admin_status")).is_some_and(|status| status == "down")
}

/// What the profiles in the egress list of a port set aside.
fn listed(rows: &Rows, port: &str) -> f64 {
    let list = rows.get(&format!("BUFFER_PORT_EGRESS_PROFILE_LIST|{port}"));
    let list = list.and_then(|row| row.get("profile_list")).map_or("", String::as_str);
    let size = |name: &str| number(rows.get(&format!("BUFFER_PROFILE|{}", referred(name))), "size");
    list.split(',').map(size).sum()
}

fn headroom(
    rows: &Rows,
    chip: &Row,
    (port, speed, cable): (&Row, &str, &str),
    faults: &Faults,
) -> Headroom {
    let of_chip = |field| number(Some(chip), field);
    let pattern = only(rows, "LOSSLESS_TRAFFIC_PATTERN");
    let (largest, small) = (number(pattern, "mtu"), number(pattern, "small_packet_percentage"));
    let mbps: f64 = speed.parse().unwrap_or(0.0);
    let metres = cable.trim_end_matches('m').parse().unwrap_or(0.0);
    let metres: f64 = if faults.no_cables { 0.0 } else { metres };
    let quanta = QUANTA.iter().find(|(of, _)| *of == speed);
    let peer = quanta.map_or(of_chip("peer_response_time") * KIB, |(_, quanta)| quanta * 64.0);
    let peer = if faults.no_peers { 0.0 } else { peer };
    let on_cable = 2.0 * metres * mbps * 1e9 / METRES_PER_SECOND / 8_000.0;
    let under_way = number(Some(port), "mtu") + on_cable + of_chip("mac_phy_delay") * KIB + peer;
    let cell = of_chip("cell_size");
    let worst = if cell > 128.0 { cell / 64.0 } else { 2.0 * cell / (1.0 + cell) }.ceil();
    let mean = (small * 64.0 + (100.0 - small) * largest) / 100.0;
    let share = 100.0 * 64.0 / mean;
    let stored = (100.0 - share + share * worst) / 100.0;
    let up = |bytes: f64| (bytes / KIB).ceil() * KIB;
    let xoff = up(largest + under_way * stored);
    let xon = up(of_chip("pipeline_latency") * KIB);
    let ratio = number(only(rows, "DEFAULT_LOSSLESS_BUFFER_PARAMETER"), "over_subscribe_ratio");
    let size = if ratio > 0.0 { xon } else { xon + xoff };
    Headroom { xon, xoff, size }
}

fn whole(bytes: f64) -> String {
    format!("{:.0}", bytes.ceil())
}

fn put<const N: usize>(made: &mut BTreeMap<String, Row>, key: &str, fields: [(&str, &str); N]) {
    made.insert(key.to_owned(), row(fields.map(|(field, text)| (field, text.to_owned()))));
}
