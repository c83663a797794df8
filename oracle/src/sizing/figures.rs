//! Each figure with its form, the form with its numbers, and where it is from.

use super::Demand;
use crate::spec::buffer::{self, occupied, queue_at_xoff};
use crate::spec::headroom::{self, Rule, Sizing, response_quanta};
use crate::spec::in_flight;
use crate::spec::wred::{BEFORE_PFC_SOURCE, before_any_pfc};
use rig_lab::Buffer;
use rig_units::{Bytes, Dur, MIN_FRAME, Quanta};

/// The marking thresholds of the configurations that HPCC was compared with: 100 KB and 400 KB at 25 Gb/s, in proportion.
const MARKING_SOURCE: &str = "Li et al., HPCC, SIGCOMM'19, section 5.1: DCQCN with kmin 100 KB and kmax 400 KB at 25 Gb/s, in proportion to the speed";
const KMIN_AT_25G: u64 = 100_000;
const KMAX_AT_25G: u64 = 400_000;
const G25: u64 = 25_000_000_000;

/// A size, or an exponent of 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Bytes.
    Size(Bytes),
    /// k of 2^k.
    Exponent(i8),
    /// Nothing is enough.
    Impossible,
    /// It follows from something of which nothing is enough.
    Undefined,
}

/// One thing that was sized.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    /// The path of the field below `declared:` that it is for, or a name of its own.
    pub name: &'static str,
    /// What comes out.
    pub amount: Extent,
    /// What a profile declares; `None` for what is no field, or unset.
    pub declared: Option<Extent>,
    /// With letters.
    pub formula: &'static str,
    /// With numbers.
    pub numbers: String,
    /// Who says so.
    pub source: &'static str,
}

impl core::fmt::Display for Extent {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Extent::Size(size) => f.pad(&size.to_string()),
            Extent::Exponent(k) => f.pad(&k.to_string()),
            Extent::Impossible => f.pad("none is enough"),
            Extent::Undefined => f.pad("-"),
        }
    }
}

fn size(bytes: u64) -> Extent {
    Extent::Size(Bytes(bytes))
}

/// Everything that is sized, in the order in which one follows from the other.
pub fn figures(demand: &Demand) -> Vec<Figure> {
    let mut all = headroom_of(demand);
    let xoff = largest(&all, "buffer.xoff");
    let pool = pool_of(demand, xoff, &mut all);
    thresholds_of(demand, pool, &mut all);
    all.extend(of_sonic(demand));
    all
}

fn largest(all: &[Figure], name: &str) -> u64 {
    let found = all.iter().find(|figure| figure.name == name);
    match found.map(|figure| figure.amount) {
        Some(Extent::Size(Bytes(bytes))) => bytes,
        _ => 0,
    }
}

/// Headroom and hysteresis of one group.
fn headroom_of(demand: &Demand) -> Vec<Figure> {
    let buffer = &demand.buffer;
    let worst = demand.in_flight();
    let (one_size, last) = (worst.stored(buffer).hi, occupied(buffer, demand.lossless_mtu));
    let returning = demand.loop_of(demand.lossless_mtu);
    vec![
        Figure {
            name: "headroom",
            amount: size(one_size),
            declared: None,
            formula: "F3: floor((frame ahead + PFC frame + 2 x cable + emission + response + frame begun) / frame time) x cells of a \
                      frame, with the frame size that makes most of it",
            numbers: format!("{} = {one_size}B", worst.worked(buffer)),
            source: in_flight::SOURCE,
        },
        Figure {
            name: "buffer.xoff",
            amount: size(one_size + last),
            declared: Some(Extent::Size(buffer.xoff)),
            formula: "headroom + cells of the largest frame, which may be the last that the sender began",
            numbers: format!("{one_size}B + {last}B = {}B", one_size + last),
            source: in_flight::SOURCE,
        },
        Figure {
            name: "buffer.xon",
            amount: size(returning.stored(buffer).hi),
            declared: Some(Extent::Size(buffer.xon)),
            formula: "F3 with the largest frame: what leaves a port of the same speed until the sender, told by XON, is heard again; \
                      below it the port may run dry",
            numbers: format!("{} = {}B", returning.worked(buffer), returning.stored(buffer).hi),
            source: in_flight::SOURCE,
        },
        Figure {
            name: "buffer.xon_offset",
            amount: size(last),
            declared: Some(Extent::Size(buffer.xon_offset)),
            formula: "cells of the largest frame: one that comes after XON does not cross again",
            numbers: format!("{} in cells of {} = {last}B", demand.lossless_mtu, buffer.cell),
            source: buffer::SOURCE,
        },
    ]
}

/// What all groups take of the memory, and what that leaves; the pool.
fn pool_of(demand: &Demand, xoff: u64, all: &mut Vec<Figure>) -> u64 {
    let Demand { buffer, ports, classes, over_subscription, .. } = demand;
    let groups = demand.groups();
    let ratio = (*over_subscription).max(1);
    let headroom = groups.saturating_mul(xoff).div_ceil(ratio);
    let reserved = groups.saturating_mul(buffer.reserved.0);
    all.push(Figure {
        name: "buffer.headroom_pool",
        amount: size(headroom),
        declared: buffer.headroom_pool.map(Extent::Size),
        formula: "F15: ceil(ports x classes x xoff / over-subscription); with an over-subscription of 1 what all groups have of their own",
        numbers: format!("ceil({ports} x {classes} x {xoff}B / {ratio}) = {headroom}B"),
        source: headroom::SOURCE,
    });
    let own = Bytes(buffer.pool.0 + committed(buffer, groups));
    let memory = demand.memory.unwrap_or(own).0;
    let taken = headroom.saturating_add(reserved);
    let pool = memory.saturating_sub(taken);
    let stated = if demand.memory.is_some() { "" } else { " (what is declared, in all)" };
    all.push(Figure {
        name: "buffer.pool",
        amount: if pool == 0 { Extent::Impossible } else { size(pool) },
        declared: Some(Extent::Size(buffer.pool)),
        formula: "memory - ports x classes x reserved - headroom of all",
        numbers: format!(
            "{memory}B{stated} - {ports} x {classes} x {}B - {headroom}B = {}B",
            buffer.reserved.0,
            i128::from(memory) - i128::from(taken)
        ),
        source: headroom::SOURCE,
    });
    pool
}

/// What the declared reserves and headroom of so many groups take beside the pool, in bytes.
pub(crate) fn committed(buffer: &Buffer, groups: u64) -> u64 {
    let own = groups.saturating_mul(buffer.xoff.0);
    let headroom = buffer.headroom_pool.map_or(own, |pool| pool.0);
    groups.saturating_mul(buffer.reserved.0).saturating_add(headroom)
}

/// Marking, and the alpha with which marking comes before PFC.
fn thresholds_of(demand: &Demand, pool: u64, all: &mut Vec<Figure>) {
    let senders = u64::from(demand.senders);
    let sized = Buffer {
        pool: Bytes(pool),
        static_th: None,
        port_dynamic_th: None,
        ..demand.buffer.clone()
    };
    for (name, at_25g, declared) in
        [("wred.kmin", KMIN_AT_25G, demand.wred.kmin), ("wred.kmax", KMAX_AT_25G, demand.wred.kmax)]
    {
        let scaled = u128::from(at_25g) * u128::from(demand.speed.bps()) / u128::from(G25);
        all.push(Figure {
            name,
            amount: size(u64::try_from(scaled).unwrap_or(u64::MAX)),
            declared: Some(Extent::Size(declared)),
            formula: "the value at 25Gbps x speed / 25Gbps",
            numbers: format!(
                "{} x {} / 25Gbps = {scaled}B{}",
                Bytes(at_25g),
                demand.speed,
                little(scaled, demand)
            ),
            source: MARKING_SOURCE,
        });
    }
    let kmax = largest(all, "wred.kmax");
    let with = |k: i8| Buffer { dynamic_th: k, ..sized.clone() };
    let depth = |k: i8, senders: u64| queue_at_xoff(&with(k), MIN_FRAME, senders);
    let least = (-8..=8).find(|&k| depth(k, 1) >= kmax);
    let k = least.unwrap_or(8);
    let alone = depth(k, 1);
    let numbers = format!(
        "{} + 2^{k} / (1 + 2^{k}) x {pool}B = {alone}B in cells of {}, against {kmax}B",
        sized.reserved, sized.cell
    );
    let alpha = least.map_or(Extent::Impossible, Extent::Exponent);
    let without_pool = (pool == 0).then_some("buffer.pool");
    let (amount, numbers) = following(without_pool, alpha, numbers);
    all.push(Figure {
        name: "buffer.dynamic_th",
        amount,
        declared: demand.buffer.static_th.is_none().then_some(Extent::Exponent(demand.buffer.dynamic_th)),
        formula: "F4: the least k with which a queue that one port fills reaches kmax before that port is paused: \
                  reserved + a / (1 + a) x pool >= kmax, a = 2^k, in whole cells; more senders fill it deeper",
        numbers,
        source: buffer::SOURCE,
    });
    let without = without_pool.or(least.is_none().then_some("buffer.dynamic_th"));
    let together = depth(k, senders);
    let numbers = format!(
        "{senders} x ({} + 2^{k} / (1 + {senders} x 2^{k}) x {pool}B) = {together}B in cells of {}",
        sized.reserved, sized.cell
    );
    let (amount, numbers) = following(without, size(together), numbers);
    all.push(Figure {
        name: "queue of all senders at XOFF",
        amount,
        declared: None,
        formula: "F4: n (reserved + a / (1 + n a) x pool), in whole cells, with n senders",
        numbers,
        source: buffer::SOURCE,
    });
    let bound = before_any_pfc(&with(k), demand.ports, demand.classes);
    let numbers = format!(
        "2^{k} x {pool}B / ({} x (1 + 2^{k} x {})) = {bound}B",
        demand.ports, demand.classes
    );
    let (amount, numbers) = following(without, size(bound), numbers);
    all.push(Figure {
        name: "marking before any PFC",
        amount,
        declared: None,
        formula: "a x pool / (ports x (1 + a x classes)): queues no deeper than this pause nobody, wherever the load is",
        numbers,
        source: BEFORE_PFC_SOURCE,
    });
}

/// What is to be said of a marking threshold that is no queue.
fn little(threshold: u128, demand: &Demand) -> String {
    let frame = demand.lossless_mtu;
    if threshold >= u128::from(frame.0) {
        return String::new();
    }
    format!(", less than one frame of {frame}: a frame that waits alone is marked as in a queue")
}

/// What comes out and its numbers, where there is enough of what it follows from.
fn following(without: Option<&str>, amount: Extent, numbers: String) -> (Extent, String) {
    match without {
        Some(name) => {
            (Extent::Undefined, format!("it follows from {name}, of which none is enough"))
        }
        None => (amount, numbers),
    }
}

/// What SONiC would write for a Spectrum with these cells, to be compared.
fn of_sonic(demand: &Demand) -> Vec<Figure> {
    let Some(peer) = response_quanta(demand.speed) else { return Vec::new() };
    let sizing = Sizing {
        rule: Rule::Bytes,
        speed: demand.speed,
        cable: demand.cable,
        port_mtu: demand.mtu,
        lossless_mtu: demand.lossless_mtu,
        small_packets: demand.small_packets,
        cell: demand.buffer.cell,
        pipeline_latency: 19_000,
        mac_phy_delay: 800,
        gearbox: Dur::ZERO,
        peer,
        eight_lanes: demand.speed.bps() >= 400_000_000_000,
        generation: 3,
        shared: demand.over_subscription > 1,
    };
    let profile = sizing.profile();
    let Quanta(quanta) = peer;
    let numbers = format!(
        "speed {}, cable {}, MTU {}, lossless MTU {}, {} % of 64B in cells of {}, peer {quanta} x 64B, pipeline 19KiB, MAC and PHY 0.8KiB",
        demand.speed,
        demand.cable,
        demand.mtu,
        demand.lossless_mtu,
        demand.small_packets,
        demand.buffer.cell
    );
    let figure = |name, bytes, formula| Figure {
        name,
        amount: Extent::Size(bytes),
        declared: None,
        formula,
        numbers: numbers.clone(),
        source: headroom::SOURCE,
    };
    vec![
        figure(
            "SONiC's xoff",
            profile.xoff,
            "F6: ceil(lossless MTU + (port MTU + cable + MAC and PHY + peer response) x share of cells) to whole KiB",
        ),
        figure("SONiC's xon", profile.xon, "F6: the latency of the pipeline, twice on eight lanes"),
        figure(
            "SONiC's size",
            profile.size,
            "F6: xoff + xon, a port MTU more on eight lanes; xon where headroom is shared",
        ),
    ]
}

#[cfg(test)]
mod tests;
