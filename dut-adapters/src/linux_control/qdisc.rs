//! The queueing disciplines that are set, each as its own source has it: RED (net/sched/sch_red.c), ETS (sch_ets.c), and a queue with an end in
//! bytes (sch_fifo.c).

use super::netlink::{self, Stated};
use super::table;
use core::fmt;
use netlink_packet_core::{DefaultNla, Emitable as _, NLA_F_NESTED};

/// `TCA_RED_*` of linux/pkt_sched.h.
const RED_PARMS: u16 = 1;
const RED_STAB: u16 = 2;
const RED_MAX_P: u16 = 3;
const RED_FLAGS: u16 = 4;
/// `TC_RED_ECN`, `TC_RED_HARDDROP`, `TC_RED_ADAPTATIVE`, and all four flags.
const ECN: u32 = 1;
const HARD: u32 = 2;
const ADAPTIVE: u32 = 4;
const FLAGS: u32 = 15;
/// `TCA_ETS_*` there.
const ETS_BANDS: u16 = 1;
const ETS_STRICT: u16 = 2;
const ETS_QUANTA: u16 = 3;
const ETS_QUANTUM: u16 = 4;
const ETS_PRIOMAP: u16 = 5;

/// What one does, as far as it is set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Does {
    /// Marks and drops early.
    Red(Red),
    /// Serves bands.
    Ets(Ets),
    /// Holds so many bytes.
    Fifo {
        /// How many, with the frame that comes.
        limit: u32,
    },
}

/// What RED is set to; thresholds in bytes of its own queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Red {
    /// What its own queue holds, in bytes.
    pub(super) limit: u32,
    pub(super) min: u32,
    pub(super) max: u32,
    /// The chance just below `max`, in 2^-32.
    pub(super) max_p: u32,
    /// The weight of its average: 2^-`wlog`.
    pub(super) wlog: u8,
    /// The chance where `max_p` is 0: (`max` - `min`) 2^-`plog`.
    plog: u8,
    /// In steps of 2^`cell_log` us an idle time is looked up.
    cell_log: u8,
    flags: u32,
}

/// ETS: the first bands strict, the others by their quanta.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ets {
    pub(super) bands: u8,
    pub(super) strict: u8,
    /// Bytes of a turn, of each band that is not strict.
    pub(super) quanta: Vec<u32>,
    /// By priority, as it came: nothing here sets it, and a change without it makes another of it.
    priomap: Vec<u8>,
}

impl Red {
    /// Whether it marks what can be marked.
    pub(super) const fn marks(&self) -> bool {
        self.flags & ECN != 0
    }

    /// The same where it marks, or does not.
    pub(super) const fn marking(self, marks: bool) -> Red {
        self.with(ECN, marks)
    }

    /// Whether from `max` on it drops what it marks below.
    pub(super) const fn drops_hard(&self) -> bool {
        self.flags & HARD != 0
    }

    /// The same where it does, or does not.
    pub(super) const fn dropping_hard(self, drops: bool) -> Red {
        self.with(HARD, drops)
    }

    const fn with(self, flag: u32, on: bool) -> Red {
        Red { flags: if on { self.flags | flag } else { self.flags & !flag }, ..self }
    }

    /// Whether it changes its chance by itself.
    pub(super) const fn adapts(&self) -> bool {
        self.flags & ADAPTIVE != 0
    }
}

impl Does {
    /// What is stated; `None` of a kind that is not set here.
    ///
    /// # Errors
    /// What of it is not as its source has it.
    pub(super) fn of(stated: &Stated) -> Result<Option<Does>, String> {
        let odd = || format!("its options of {} are odd", stated.kind);
        let options = &stated.options;
        Ok(Some(match stated.kind.as_str() {
            "red" => Does::Red(red(options)?.ok_or_else(odd)?),
            "ets" => Does::Ets(ets(options)?.ok_or_else(odd)?),
            "bfifo" => Does::Fifo { limit: word(options, 0).ok_or_else(odd)? },
            _ => return Ok(None),
        }))
    }

    /// Its options in a request, for ports of `bps`.
    pub(super) fn options(&self, bps: u64) -> Vec<u8> {
        match self {
            Does::Fifo { limit } => limit.to_ne_bytes().to_vec(),
            Does::Ets(ets) => ets.options(),
            Does::Red(red) => red.options(bps),
        }
    }

    /// What is to be read back where it was told this and did `before`: with the steps of its idle time as they come with its weight.
    pub(super) fn told(&self, bps: u64, before: &Does) -> Does {
        match self {
            Does::Red(red) if self != before => {
                Does::Red(Red { cell_log: table::idle(red.wlog, bps).0, ..*red })
            }
            same => same.clone(),
        }
    }
}

impl Red {
    fn options(&self, bps: u64) -> Vec<u8> {
        let (cell_log, table) = table::idle(self.wlog, bps);
        let mut parms = Vec::new();
        for size in [self.limit, self.min, self.max] {
            parms.extend(size.to_ne_bytes());
        }
        // The flags stand in an attribute of their own, and may not stand here, too.
        parms.extend([self.wlog, self.plog, cell_log, 0]);
        let flags = [self.flags.to_ne_bytes(), FLAGS.to_ne_bytes()].concat();
        emitted(&[
            DefaultNla::new(RED_PARMS, parms),
            DefaultNla::new(RED_STAB, table.to_vec()),
            DefaultNla::new(RED_MAX_P, self.max_p.to_ne_bytes().to_vec()),
            DefaultNla::new(RED_FLAGS, flags),
        ])
    }
}

impl Ets {
    fn options(&self) -> Vec<u8> {
        let quantum = |bytes: &u32| DefaultNla::new(ETS_QUANTUM, bytes.to_ne_bytes().to_vec());
        let quanta: Vec<DefaultNla> = self.quanta.iter().map(quantum).collect();
        let mut all = vec![
            DefaultNla::new(ETS_BANDS, vec![self.bands]),
            DefaultNla::new(ETS_STRICT, vec![self.strict]),
        ];
        if !quanta.is_empty() {
            all.push(DefaultNla::new(NLA_F_NESTED | ETS_QUANTA, emitted(&quanta)));
        }
        all.push(DefaultNla::new(NLA_F_NESTED | ETS_PRIOMAP, self.priomap.clone()));
        emitted(&all)
    }
}

fn emitted(all: &[DefaultNla]) -> Vec<u8> {
    let mut bytes = vec![0; all.buffer_len()];
    all.emit(&mut bytes);
    bytes
}

fn red(options: &[u8]) -> Result<Option<Red>, String> {
    let (mut red, mut max_p, mut flags) = (None, None, None);
    for (kind, value) in netlink::attributes(options)? {
        match kind {
            RED_PARMS => red = parms(&value),
            RED_MAX_P => max_p = word(&value, 0),
            RED_FLAGS => flags = word(&value, 0),
            _ => {}
        }
    }
    Ok(red.zip(max_p).map(|(red, max_p)| Red { max_p, flags: flags.unwrap_or(red.flags), ..red }))
}

fn parms(value: &[u8]) -> Option<Red> {
    let &[wlog, plog, cell_log, flags] = value.get(12..16)? else { return None };
    let [limit, min, max] = [word(value, 0)?, word(value, 4)?, word(value, 8)?];
    Some(Red { limit, min, max, max_p: 0, wlog, plog, cell_log, flags: flags.into() })
}

fn ets(options: &[u8]) -> Result<Option<Ets>, String> {
    let (mut bands, mut strict, mut quanta, mut priomap) = (None, 0, Vec::new(), Vec::new());
    for (kind, value) in netlink::attributes(options)? {
        match kind {
            ETS_BANDS => bands = value.first().copied(),
            ETS_STRICT => strict = value.first().copied().unwrap_or(0),
            ETS_QUANTA => {
                for (_, quantum) in netlink::attributes(&value)? {
                    quanta.extend(word(&quantum, 0));
                }
            }
            ETS_PRIOMAP => priomap = value,
            _ => {}
        }
    }
    let whole = |bands: &u8| usize::from(*bands) == usize::from(strict) + quanta.len();
    let bands = bands.filter(whole);
    Ok(bands.map(|bands| Ets { bands, strict, quanta, priomap }))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes)
}

impl fmt::Display for Does {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Does::Fifo { limit } => write!(f, "limit {limit}"),
            Does::Ets(Ets { bands, strict, quanta, .. }) => {
                write!(f, "{bands} bands, {strict} strict, quanta {quanta:?}")
            }
            Does::Red(red) => {
                let Red { limit, min, max, max_p, wlog, cell_log, flags, .. } = red;
                write!(
                    f,
                    "limit {limit}, min {min}, max {max}, max_P {max_p}, Wlog {wlog}, Scell_log {cell_log}, flags {flags}"
                )
            }
        }
    }
}
