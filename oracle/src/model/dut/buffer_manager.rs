//! The buffer manager of SONiC's dynamic buffer model on a Spectrum (`buffermgrd`): from the speed, the cable and the MTU of each port
//! it works out the headroom of a lossless group, and from all of them the pool, and shows both as rows of APPL_DB.
//!
//! It is at once: no row waits for another. What it shows the chip beside it does not use: that has what `buffer` declares.
//!
//! A port that is shut it takes the headroom from, and one that negotiates has that of the fastest speed it may come to.
//!
//! Left out: ports of eight lanes, gearboxes, groups of one port in rows of their own (it has all of them in one), and that what its own rule makes may be more than a port can have.

use rig_lab::{DynamicBuffer, DynamicBufferFaults, Switch};
use rig_units::PortSpeed;
use std::collections::{BTreeMap, BTreeSet};

const KIB: u128 = 1_024;
/// A megabit per second over a centimetre and back again at 1.98e8 m/s is 1/79200 of a byte.
const PER_BYTE: u128 = 79_200;
/// Header, tag and FCS, which the MTU of a port leaves out.
const BESIDE_IP: u64 = 22;

/// One, and what it shows.
#[derive(Debug, Clone, Default)]
pub(super) struct BufferManager {
    /// The rows, by their names: `BUFFER_PROFILE_TABLE Ethernet0 xoff`.
    rows: BTreeMap<String, u64>,
    /// Ports that were shut, the first counted as 1.
    shut: BTreeSet<u16>,
}

/// What a lossless group of a port gets.
#[derive(Debug, Clone, Copy)]
struct Headroom {
    xon: u128,
    xoff: u128,
    size: u128,
}

/// What it goes by, in whole numbers: centimetres, bytes, thousandths of a KiB.
#[derive(Debug, Clone, Copy)]
struct Inputs {
    cable: u128,
    ratio: u128,
    lossless_mtu: u128,
    small_packets: u128,
    own_xoff: Option<u128>,
    max_headroom: Option<u128>,
    port_reserve: u128,
    memory: u128,
    pipeline_latency: u128,
    mac_phy_delay: u128,
    peer_response_time: u128,
}

impl Inputs {
    /// All of it; `None` where it sizes nothing.
    fn of(config: &DynamicBuffer) -> Option<Inputs> {
        config.sized_by?;
        Some(Inputs {
            cable: config.cable?.0.into(),
            ratio: config.over_subscribe_ratio.unwrap_or(0).into(),
            lossless_mtu: config.lossless_mtu?.0.into(),
            small_packets: config.small_packets?.min(100).into(),
            own_xoff: config.own_xoff.map(|xoff| xoff.0.into()),
            max_headroom: config.max_headroom.map(|most| most.0.into()),
            port_reserve: config.port_reserve.unwrap_or_default().0.into(),
            memory: config.memory?.0.into(),
            pipeline_latency: config.pipeline_latency?.into(),
            mac_phy_delay: config.mac_phy_delay?.into(),
            peer_response_time: config.peer_response_time?.into(),
        })
    }
}

impl Inputs {
    /// What an operator has bound the groups of a port to, if that is taken.
    fn own(&self, rule: Headroom, classes: u128, faults: &DynamicBufferFaults) -> Option<Headroom> {
        let xoff = self.own_xoff.filter(|_| !faults.own_headroom_not_taken)?;
        let xon = rule.xon;
        let own = Headroom { xon, xoff, size: xon + if self.ratio > 0 { 0 } else { xoff } };
        // Of the port's own frames and of a lossy group the pipeline, mirrored frames, and some room.
        let beside = self.pipeline_latency * KIB * 2 + (20 + 4) * KIB * 1_000;
        let all = beside + own.size * classes * 1_000;
        let too_much = self.max_headroom.is_some_and(|most| all >= most * 1_000);
        (!too_much || faults.headroom_limit_forgotten).then_some(own)
    }
}

impl BufferManager {
    /// That of a switch, with what it does wrong; it shows nothing where the switch's operator sizes its buffers.
    pub(super) fn new(switch: &Switch, faults: &DynamicBufferFaults) -> BufferManager {
        let mut manager = BufferManager::default();
        manager.follow(switch, faults);
        manager
    }

    /// Works all of it out anew for a switch that is configured so now.
    pub(super) fn follow(&mut self, switch: &Switch, faults: &DynamicBufferFaults) {
        self.shut.extend(switch.shut_port);
        let Some(from) = Inputs::of(&switch.dynamic_buffer) else {
            self.rows.clear();
            return;
        };
        let mut rows = BTreeMap::new();
        let classes = switch.qos.pfc_enable.len() as u128;
        let (mut taken, mut promised, mut lossless) = (0, 0, 0);
        let mut count: u128 = 0;
        let speeds = switch.ports.iter().flat_map(|group| (0..group.count).map(|_| group.speed));
        for (index, speed) in (0..).zip(speeds) {
            let number = index + 1;
            let is_shut = switch.shut_port == Some(number);
            if is_shut && !faults.shut_port_keeps_headroom {
                continue;
            }
            count += 1;
            if faults.opened_port_gets_no_headroom && !is_shut && self.shut.contains(&number) {
                continue;
            }
            let speed = negotiated(&switch.dynamic_buffer, (number, speed), faults);
            let mbps = u128::from(speed.bps() / 1_000_000);
            let room = headroom(switch, &from, mbps, faults);
            let room = from.own(room, classes, faults).unwrap_or(room);
            let name = Switch::port_name(index);
            for (field, bytes) in [("xon", room.xon), ("xoff", room.xoff), ("size", room.size)] {
                if classes > 0 {
                    rows.insert(format!("BUFFER_PROFILE_TABLE {name} {field}"), whole(bytes));
                }
            }
            taken += room.size * classes;
            promised += (room.xon + room.xoff).saturating_sub(room.size) * classes;
            lossless += u128::from(classes > 0);
        }
        // A lossy group of each port, and that of its frames to the processor.
        let pipeline = from.pipeline_latency * KIB;
        let mut rest = from.memory;
        let groups = if faults.pool_forgets_groups { 0 } else { taken };
        let beside = (10 * KIB + from.port_reserve) * count;
        for part in [groups, (2 * count * pipeline).div_ceil(1_000), beside, 256 * KIB] {
            rest = rest.saturating_sub(part);
        }
        if from.ratio > 0 {
            let private = 10 * KIB * lossless;
            let beyond = promised.saturating_sub(private);
            let by = if faults.shared_headroom_not_divided { 1 } else { from.ratio };
            let pool = beyond.div_ceil(by);
            let pool = if pool == 0 { 640 * KIB } else { pool };
            rows.insert("BUFFER_POOL_TABLE ingress_lossless_pool xoff".to_owned(), whole(pool));
            rest = rest.saturating_sub(private + pool);
        }
        rows.insert("BUFFER_POOL_TABLE ingress_lossless_pool size".to_owned(), whole(rest));
        self.rows = rows;
    }

    /// Adds all of them.
    pub(super) fn name(&self, into: &mut BTreeMap<String, u64>) {
        into.extend(self.rows.iter().map(|(name, value)| (name.clone(), *value)));
    }

    /// One of them.
    pub(super) fn find(&self, name: &str) -> Option<u64> {
        self.rows.get(name).copied()
    }
}

/// The speed that headroom of a port, the first counted as 1, is worked out from, which is configured to this one.
fn negotiated(
    config: &DynamicBuffer,
    (number, own): (u16, PortSpeed),
    faults: &DynamicBufferFaults,
) -> PortSpeed {
    if config.autoneg_port != Some(number) || faults.negotiated_speed_ignored {
        return own;
    }
    let said = config.advertised.filter(|_| !faults.advertised_speed_ignored);
    said.or(config.supported).unwrap_or(own)
}

/// Headroom at a port of this speed.
fn headroom(switch: &Switch, from: &Inputs, mbps: u128, faults: &DynamicBufferFaults) -> Headroom {
    // Quanta that a peer may take at most, by IEEE 802.3 31B.3.7, of 64 B each.
    let quanta: Option<u128> = match mbps {
        100 => Some(1),
        1_000 => Some(2),
        10_000 => Some(67),
        25_000 => Some(80),
        40_000 => Some(118),
        50_000 => Some(147),
        100_000 => Some(394),
        200_000 => Some(453),
        400_000 | 800_000 => Some(905),
        _ => None,
    };
    // All of it in thousandths of a byte times what a cable divides by.
    let unit = PER_BYTE * 1_000;
    let own = from.peer_response_time * KIB * PER_BYTE;
    let peer = quanta.map_or(own, |quanta| quanta * 64 * unit);
    let cable = from.cable * mbps * 1_000;
    let mtu = u128::from(switch.mtu.0.saturating_sub(BESIDE_IP)) * unit;
    let mut under_way = mtu + from.mac_phy_delay * KIB * PER_BYTE;
    if !faults.headroom_ignores_cable {
        under_way += cable;
    }
    if !faults.headroom_forgets_peer {
        under_way += peer;
    }
    let cell = u128::from(switch.buffer.cell.0);
    // Cells that a frame of 64 B wastes at worst, in 64 B: a frame of one byte more than a cell takes two.
    let worst = if cell > 128 { cell.div_ceil(64) } else { (2 * cell).div_ceil(cell + 1) };
    let (small, largest) = (from.small_packets, from.lossless_mtu);
    let hundred = (small * 64 + (100 - small) * largest).max(1);
    let stored = under_way * (hundred + 6_400 * (worst.max(1) - 1));
    let xoff = (largest * unit * hundred + stored).div_ceil(unit * hundred * KIB) * KIB;
    let xon = (from.pipeline_latency * KIB).div_ceil(1_000 * KIB) * KIB;
    let size = if from.ratio > 0 { xon } else { xon + xoff };
    Headroom { xon, xoff, size }
}

fn whole(bytes: u128) -> u64 {
    u64::try_from(bytes).unwrap_or(u64::MAX)
}
