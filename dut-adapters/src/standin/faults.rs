//! What the stand-in does on purpose as no healthy switch does.

use core::str::FromStr;
use rig_units::Dur;

/// Faults that are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults {
    /// What is changed never arrives in ASIC_DB.
    pub deaf_asic: bool,
    /// Each copy of the counters is so much later than its interval.
    pub late_counters: Dur,
    /// The clock by which polls are stamped is so much before the one that redis tells.
    pub clock: Dur,
    /// An event comes so long after the poll that decided.
    pub late_events: Dur,
    /// Each event comes twice.
    pub twice: bool,
    /// No event comes.
    pub silent: bool,
    /// Copies of counters bear no stamp, as where syncd does not read them in bulk.
    pub unstamped: bool,
    /// Nobody hears that a copy of the watermarks is to be cleared.
    pub lost_clears: bool,
    /// The copies of the watermarks show a poll so much later.
    pub late_watermarks: Dur,
    /// The counters of ports are copied once, and never again.
    pub still_ports: bool,
    /// The same of those of queues.
    pub still_queues: bool,
    /// The same of what priority groups drop.
    pub still_pg_drops: bool,
    /// Headroom is worked out as if there were no cables.
    pub no_cables: bool,
    /// The same as if peers stopped at once.
    pub no_peers: bool,
    /// What a queue is bound to stays what it was, whatever CONFIG_DB says.
    pub lost_bindings: bool,
    /// orchagent takes what it should refuse, as it stands there.
    pub no_limits: bool,
    /// It takes the nearest that it may take in its place.
    pub clamps: bool,
    /// `config apply-patch` takes what the YANG model refuses.
    pub no_yang: bool,
    /// A port that is down keeps its headroom.
    pub keeps_headroom: bool,
    /// A port that is opened again gets no headroom.
    pub forgets_headroom: bool,
    /// Headroom is worked out from the speed of `PORT`, whatever is negotiated.
    pub ignores_autoneg: bool,
    /// SONiC's commands write what they should refuse.
    pub no_cli: bool,
    /// The buffer manager is busy: it gets to what has changed so much later, and sees what stands there by then. A healthy one may be.
    pub late_buffers: Dur,
}

/// One of them, as it is typed.
#[derive(Debug, Clone, Copy)]
pub struct FaultSwitch(fn(&mut Faults, Dur), Dur);

/// A word, whether a length of time goes with it, and what it sets.
type Switch = (&'static str, bool, fn(&mut Faults, Dur));

const SWITCHES: [Switch; 23] = [
    ("deaf-asic", false, |all, _| all.deaf_asic = true),
    ("late-counters", true, |all, by| all.late_counters = by),
    ("clock", true, |all, by| all.clock = by),
    ("late-events", true, |all, by| all.late_events = by),
    ("events-twice", false, |all, _| all.twice = true),
    ("no-events", false, |all, _| all.silent = true),
    ("no-stamps", false, |all, _| all.unstamped = true),
    ("lost-clears", false, |all, _| all.lost_clears = true),
    ("late-watermarks", true, |all, by| all.late_watermarks = by),
    ("still-ports", false, |all, _| all.still_ports = true),
    ("still-queues", false, |all, _| all.still_queues = true),
    ("still-pg-drops", false, |all, _| all.still_pg_drops = true),
    ("no-cables", false, |all, _| all.no_cables = true),
    ("no-peers", false, |all, _| all.no_peers = true),
    ("lost-bindings", false, |all, _| all.lost_bindings = true),
    ("no-limits", false, |all, _| all.no_limits = true),
    ("clamps", false, |all, _| all.clamps = true),
    ("no-yang", false, |all, _| all.no_yang = true),
    ("keeps-headroom", false, |all, _| all.keeps_headroom = true),
    ("forgets-headroom", false, |all, _| all.forgets_headroom = true),
    ("ignores-autoneg", false, |all, _| all.ignores_autoneg = true),
    ("no-cli", false, |all, _| all.no_cli = true),
    ("late-buffers", true, |all, by| all.late_buffers = by),
];

impl FromStr for FaultSwitch {
    type Err = String;

    fn from_str(text: &str) -> Result<FaultSwitch, String> {
        let (word, by) = text.split_once('=').map_or((text, None), |(word, by)| (word, Some(by)));
        let found = SWITCHES.iter().find(|(own, timed, _)| *own == word && *timed == by.is_some());
        let by = by.map_or(Ok(Dur::ZERO), str::parse);
        match (found, by) {
            (Some((.., set)), Ok(by)) => Ok(FaultSwitch(*set, by)),
            _ => {
                let shown = |(word, timed, _): &Switch| {
                    format!("{word}{}", if *timed { "=TIME" } else { "" })
                };
                Err(format!("want one of {}", SWITCHES.map(|one| shown(&one)).join(", ")))
            }
        }
    }
}

impl Faults {
    /// All of these.
    pub fn of(all: &[FaultSwitch]) -> Faults {
        let mut faults = Faults::default();
        all.iter().for_each(|FaultSwitch(set, by)| set(&mut faults, *by));
        faults
    }
}
