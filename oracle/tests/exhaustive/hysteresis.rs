//! XOFF and XON of one priority group: every state that frames of one size can bring it to, by any order of arrivals and departures,
//! in every small buffer.

use rig_lab::Accounting;
use rig_oracle::model::buffer::{Admission, Buffer, Config, Crossing, Limit, Place};
use rig_oracle::spec::buffer::{Held, Others, first_drop, first_xoff, holds, xon_after};
use rig_units::{Bytes, Within};
use std::collections::BTreeSet;

/// A buffer of few bytes, and the size of frames into it.
#[derive(Debug, Clone, Copy)]
struct World {
    pool: u64,
    reserved: u32,
    dynamic_th: i8,
    static_th: Option<u64>,
    port: Option<i8>,
    xon: u64,
    xon_offset: u64,
    headroom: u32,
    headroom_pool: Option<u64>,
    crossing: Crossing,
    /// Cell, descriptor and frame.
    sizes: (u32, u32, u16),
}

impl World {
    fn declared(&self) -> rig_lab::Buffer {
        let (cell, descriptor, _) = self.sizes;
        rig_lab::Buffer {
            pool: Bytes(self.pool),
            lossy_pool: Bytes(0),
            cell: Bytes(cell.into()),
            descriptor: Bytes(descriptor.into()),
            reserved: Bytes(self.reserved.into()),
            dynamic_th: self.dynamic_th,
            static_th: self.static_th.map(Bytes),
            port_dynamic_th: self.port,
            lossy_dynamic_th: 0,
            lossy_static_th: None,
            xon: Bytes(self.xon),
            xon_offset: Bytes(self.xon_offset),
            xoff: Bytes(self.headroom.into()),
            headroom_pool: self.headroom_pool.map(Bytes),
            margin: None,
            accounting_delay: None,
            crossing: match self.crossing {
                Crossing::Headroom => rig_lab::Crossing::Headroom,
                Crossing::Shared => rig_lab::Crossing::Shared,
            },
            accounting: Accounting::Ingress,
            ingress_memories: None,
            egress_memories: None,
        }
    }

    fn built(&self) -> Config {
        let (cell, descriptor, _) = self.sizes;
        Config {
            pool: self.pool,
            lossy_pool: 0,
            cell,
            descriptor,
            lossless: 1 << PLACE.class,
            reserved: self.reserved,
            group: self.static_th.map_or(Limit::Dynamic(self.dynamic_th), Limit::Static),
            port: self.port.filter(|_| self.static_th.is_none()),
            xon: self.xon,
            xon_offset: self.xon_offset,
            headroom: self.headroom,
            headroom_pool: self.headroom_pool,
            margin: 0,
            delay: Within::ZERO,
            seed: 0,
            crossing: self.crossing,
            voqs: false,
            queue: Limit::Static(0),
            faults: rig_lab::BufferFaults::NONE,
        }
    }
}

const PLACE: Place = Place { from: 0, to: 0, class: 3, size: 0 };

/// Frames in the group, and whether its sender was told to pause.
type State = (u64, bool);

/// What is predicted of one world.
struct Predicted {
    declared: rig_lab::Buffer,
    frame: Bytes,
    xoff: u64,
    drop: u64,
    /// The sender may go on once no more frames than these are in.
    xon: u64,
}

impl Predicted {
    fn of(world: &World) -> Result<Predicted, String> {
        let (declared, frame) = (world.declared(), Bytes(world.sizes.2.into()));
        let others = Others::default();
        let xoff = first_xoff(&declared, frame, &others);
        let drop = first_drop(&declared, frame, &others);
        let left = |n: u64| Some(n.min(drop - 1) - xon_after(&declared, frame, &others, n)?);
        let xon = left(xoff).ok_or("no XON after XOFF")?;
        // Wherever the group was, it may go on at one and the same level.
        match (xoff..=drop + 2).find(|&n| left(n) != Some(xon)) {
            Some(n) => Err(format!("XON at {xon} after {xoff}, at {:?} after {n}", left(n))),
            None => Ok(Predicted { declared, frame, xoff, drop, xon }),
        }
    }

    fn arrives(&self, (frames, told): State) -> State {
        let next = frames + 1;
        (next.min(self.drop - 1), told || next >= self.xoff)
    }

    fn leaves(&self, (frames, told): State) -> State {
        (frames - 1, told && frames - 1 > self.xon)
    }

    fn held(&self, frames: u64) -> Held {
        holds(&self.declared, self.frame, &Others::default(), frames)
    }
}

/// The model in one state.
#[derive(Clone)]
struct Group {
    buffer: Buffer,
    state: State,
}

impl Group {
    fn arrives(mut self, place: Place) -> Group {
        let admission = self.buffer.admit(place);
        let (frames, told) = self.state;
        let is_in = matches!(admission, Admission::Within | Admission::Over);
        self.state = (frames + u64::from(is_in), told || admission != Admission::Within);
        self
    }

    fn leaves(mut self, place: Place) -> Group {
        self.buffer.release(place);
        let (frames, told) = self.state;
        self.state = (frames - 1, told && !self.buffer.resumes(place.from, place.class));
        self
    }

    fn held(&self, reserved: u32) -> Held {
        let (headroom, used) = self.buffer.held(PLACE.from, PLACE.class);
        let kept = used.min(reserved.into());
        Held { reserved: kept, shared: used - kept, headroom }
    }
}

/// How the model departs from what is predicted.
type Planted = fn(&mut Config);

/// Every step from every state that can be reached, those of few frames first: how many steps, or the first that is wrong.
fn search(world: &World, planted: Planted) -> Result<u64, String> {
    let predicted = Predicted::of(world)?;
    let mut config = world.built();
    planted(&mut config);
    let place = Place { size: world.sizes.2, ..PLACE };
    let empty = Group { buffer: Buffer::new(&config, 1), state: (0, false) };
    let (mut seen, mut open) = (BTreeSet::from([empty.state]), vec![empty]);
    let mut steps = 0;
    while let Some(group) = open.pop() {
        let arrived = (group.clone().arrives(place), predicted.arrives(group.state), "arrives");
        let left = (group.state.0 > 0)
            .then(|| (group.clone().leaves(place), predicted.leaves(group.state), "leaves"));
        for (after, want, what) in core::iter::once(arrived).chain(left) {
            let (got, held) = (after.state, after.held(config.reserved));
            let is_held = held == predicted.held(want.0);
            if got != want || !is_held {
                let (before, predicted) = (group.state, predicted.held(want.0));
                let seen = format!("{got:?} {held:?}, predicted {want:?} {predicted:?}");
                return Err(format!("{before:?}, one {what}: {seen}"));
            }
            steps += 1;
            if seen.insert(got) {
                open.push(after);
            }
        }
    }
    Ok(steps)
}

/// Every small buffer, the smallest first.
fn worlds() -> impl Iterator<Item = World> {
    let limits = (-1..=1)
        .flat_map(|k| [None, Some(-1), Some(0), Some(1)].map(|port| (k, None, port)))
        .chain([0, 2, 5].map(|limit| (0, Some(limit), None)));
    let limits: Vec<(i8, Option<u64>, Option<i8>)> = limits.collect();
    let sizes = [(1, 0, 1), (2, 0, 1), (1, 1, 1), (2, 1, 3)];
    let marks = (0..4).flat_map(|xon| (0..3).map(move |offset| (xon, offset)));
    let marks: Vec<(u64, u64)> = marks.collect();
    let headrooms = (0..5).flat_map(|own| [None, Some(2)].map(|all| (own, all)));
    let headrooms: Vec<(u32, Option<u64>)> = headrooms.collect();
    let crossings = [Crossing::Headroom, Crossing::Shared];
    (0..10).flat_map(move |pool| {
        let (limits, marks, headrooms) = (limits.clone(), marks.clone(), headrooms.clone());
        (0..4).flat_map(move |reserved| {
            let (limits, marks, headrooms) = (limits.clone(), marks.clone(), headrooms.clone());
            limits.into_iter().flat_map(move |(dynamic_th, static_th, port)| {
                let (marks, headrooms) = (marks.clone(), headrooms.clone());
                marks.into_iter().flat_map(move |(xon, xon_offset)| {
                    headrooms.clone().into_iter().flat_map(move |(headroom, headroom_pool)| {
                        crossings.into_iter().flat_map(move |crossing| {
                            sizes.into_iter().map(move |sizes| World {
                                pool,
                                reserved,
                                dynamic_th,
                                static_th,
                                port,
                                xon,
                                xon_offset,
                                headroom,
                                headroom_pool,
                                crossing,
                                sizes,
                            })
                        })
                    })
                })
            })
        })
    })
}

/// All buffers: how many steps, or the smallest buffer that is wrong.
fn search_all(planted: Planted) -> Result<u64, String> {
    let mut steps = 0;
    for world in worlds() {
        steps += search(&world, planted).map_err(|why| format!("{world:?}: {why}"))?;
    }
    Ok(steps)
}

#[test]
fn xoff_and_xon_come_at_the_predicted_frames_in_whatever_order_frames_come_and_go() {
    let steps = search_all(|_| {}).unwrap_or_else(|why| panic!("{why}"));
    println!("{steps} steps");
    assert!(steps >= 1_000_000, "{steps}");
}

/// The smallest buffer in which a planted departure shows, and how.
fn found(planted: Planted) -> String {
    search_all(planted).expect_err("a planted departure is found")
}

#[test]
fn a_headroom_a_pool_and_an_xon_that_are_a_byte_off_are_found_in_the_smallest_buffer() {
    let short = found(|config| config.headroom = config.headroom.saturating_sub(1));
    assert!(short.starts_with("World { pool: 0, ") && short.contains("headroom: 1, "), "{short}");
    assert!(short.contains(": (0, false), one arrives: (0, true) "), "{short}");
    let wide = found(|config| config.pool += 1);
    assert!(wide.contains(": (0, false), one arrives: (1, true) "), "{wide}");
    let early = found(|config| config.xon += 1);
    assert!(early.starts_with("World { pool: 1, "), "{early}");
    assert!(early.contains(": (2, true), one leaves: (1, false) "), "{early}");
}
