//! Headroom, memory, limits, hysteresis, and whether marks come before pauses.

use super::rule::{Check, Flaw, Lint, Linted};
use crate::sizing::committed;
use crate::spec::buffer::{self, Others, first_xoff, occupied, queue_at_xoff, xon_after};
use crate::spec::in_flight;
use crate::spec::wred::{self, Chance, Class, Fate};
use rig_capture::Span;
use rig_lab::Color;
use rig_units::{Bytes, MIN_FRAME};

pub(super) const HEADROOM: Lint = Lint {
    name: "lossless-headroom",
    about: "a lossless class may lose frames: more may arrive after XOFF than its headroom holds",
    source: in_flight::SOURCE,
    check: Check::Switch(headroom),
};

fn headroom(linted: &Linted<'_>) -> Option<Flaw> {
    let demand = linted.demand();
    let buffer = &demand.buffer;
    let own = buffer.xoff.min(buffer.headroom_pool.unwrap_or(buffer.xoff));
    let worst = demand.in_flight();
    let Span { lo: least, hi: most } = worst.stored(buffer);
    let needed = Bytes(most);
    let certain = own < Bytes(least);
    (demand.classes > 0 && own < needed).then(|| Flaw {
        path: if own < buffer.xoff { "buffer.headroom_pool" } else { "buffer.xoff" },
        found: format!("headroom of {own} at {} over {} of cable", demand.speed, demand.cable),
        want: match certain {
            true => format!(
                "at least {needed}; with less than {} frames of {} are lost however fast the sender stops",
                Bytes(least),
                worst.frame
            ),
            false => format!("at least {needed}, for a sender that takes all of `pfc.response`"),
        },
        numbers: format!("F3: {} = {}B", worst.worked(buffer), needed.0),
    })
}

pub(super) const MEMORY: Lint = Lint {
    name: "memory-overcommitted",
    about: "pool, reserves and headroom together are more than the memory: a group that is within its limits finds none",
    source: crate::spec::headroom::SOURCE,
    check: Check::Switch(memory),
};

fn memory(linted: &Linted<'_>) -> Option<Flaw> {
    let demand = linted.demand();
    let memory = linted.memory.filter(|_| demand.buffer.memories() == 1)?;
    let (buffer, groups) = (&demand.buffer, demand.groups());
    let own = committed(buffer, groups);
    let beside = own.saturating_add(linted.elsewhere.0);
    let all = buffer.pool.0.saturating_add(beside);
    (all > memory.0).then(|| Flaw {
        path: "buffer.pool",
        found: format!("a pool of {} in a memory of {memory}", buffer.pool),
        want: format!("at most {}", Bytes(memory.0.saturating_sub(beside))),
        numbers: format!(
            "F15: {}B + reserves and headroom of {} x {} groups, {own}B{} = {all}B",
            buffer.pool.0,
            demand.ports,
            demand.classes,
            of_others(linted.elsewhere)
        ),
    })
}

fn of_others(elsewhere: Bytes) -> String {
    match elsewhere {
        Bytes(0) => String::new(),
        Bytes(bytes) => format!(" + {bytes}B of other ports"),
    }
}

pub(super) const STATIC_LIMITS: Lint = Lint {
    name: "static-limits-overcommitted",
    about: "the static limits of all groups together are more than the pool: it is empty before they are reached",
    source: buffer::SOURCE,
    check: Check::Switch(static_limits),
};

fn static_limits(linted: &Linted<'_>) -> Option<Flaw> {
    let demand = linted.demand();
    // How many groups have frames in one of several memories goes by where they send to.
    let limit = demand.buffer.static_th.filter(|_| demand.buffer.memories() == 1)?;
    let (pool, groups) = (demand.buffer.pool, demand.groups());
    let all = limit.0.saturating_mul(groups);
    (all > pool.0).then(|| Flaw {
        path: "buffer.static_th",
        found: format!("static limits of {limit} in a pool of {pool}"),
        want: format!("at most {}, or a dynamic_th", Bytes(pool.0 / groups.max(1))),
        numbers: format!(
            "{} x {} x {}B = {all}B against {}B",
            demand.ports, demand.classes, limit.0, pool.0
        ),
    })
}

pub(super) const XON_FLAPS: Lint = Lint {
    name: "xon-flaps",
    about: "XON is sent as soon as the frame that crossed has left: the next one, however small, crosses again, and PFC doubles its rate",
    source: buffer::SOURCE,
    check: Check::Switch(xon_flaps),
};

fn xon_flaps(linted: &Linted<'_>) -> Option<Flaw> {
    let demand = linted.demand();
    let (buffer, others) = (&demand.buffer, Others::default());
    let crossing = first_xoff(buffer, MIN_FRAME, &others);
    let leave = xon_after(buffer, MIN_FRAME, &others, crossing)?;
    (demand.classes > 0 && leave <= 1).then(|| Flaw {
        path: "buffer.xon_offset",
        found: format!("an xon_offset of {} and an xon of {}", buffer.xon_offset, buffer.xon),
        want: format!("an xon_offset of a frame or more: {} for the MTU", Bytes(occupied(buffer, demand.mtu))),
        numbers: format!("F5: frame {crossing} of {MIN_FRAME} crosses the limit, and XON is due when {leave} has left"),
    })
}

pub(super) const PFC_FIRST: Lint = Lint {
    name: "ecn-after-pfc",
    about: "a queue that one port fills makes the switch send XOFF before any frame is marked: senders are paused and never slowed",
    source: wred::BEFORE_PFC_SOURCE,
    check: Check::Switch(pfc_first),
};

fn pfc_first(linted: &Linted<'_>) -> Option<Flaw> {
    let demand = linted.demand();
    let (declared, buffer, wred) = (linted.declared, &demand.buffer, &demand.wred);
    let class = Class { color: Color::Green, capable: true };
    let marked = |class: &&u8| wred.queues.contains(class);
    let lossless = declared.qos.pfc_enable.iter().find(marked)?;
    if class.fate(wred) == Fate::Drop {
        return None;
    }
    let curve = class.curve(wred);
    // In the unit of the depth: frames that are within the limit, each as it counts there.
    let depth = |frame| {
        let frames = queue_at_xoff(buffer, frame, 1) / occupied(buffer, frame);
        frames.saturating_mul(wred::step(buffer, wred, frame))
    };
    let deepest = depth(MIN_FRAME).max(depth(demand.mtu));
    (wred::chance(&curve, deepest) == Chance::NEVER).then(|| Flaw {
        path: "wred.kmin",
        found: format!("a kmin of {} in class {lossless}, whose queue makes the switch send XOFF at {deepest}B", curve.kmin),
        want: format!("a kmin below {deepest}B"),
        numbers: format!(
            "F4, F8: {} + a / (1 + a) x {}B, a = 2^{}, in cells of {}: {deepest}B",
            buffer.reserved, buffer.pool.0, buffer.dynamic_th, buffer.cell
        ),
    })
}
