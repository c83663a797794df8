//! What a step of a case asks of the device itself, done at once. A verb is a variant and its row: its words in a step, how it is told,
//! what a control lacks that does not know it, and what starts afresh with it. Reader, schema, `explain`, executors and controls go by
//! that; what a device makes of it is its own affair.

use rig_lab::{RebootKind, WatermarkCopy};
use serde::{Deserialize, Serialize};

/// One thing that a device does at once, when a step asks for it. It travels to a served one as it stands here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DeviceVerb {
    /// Clears a copy of its watermarks.
    ClearWatermarks(WatermarkCopy),
    /// Clears what counters show to whoever asks for it, as `sonic-clear pfccounters` and its like do: they keep what was counted so far,
    /// and show what comes on top. What others read counts on.
    ClearCounters,
    /// Stops every PFC watchdog and starts it again, as `pfcwd stop` and `pfcwd start` do: handlers come off, and what was seen of a
    /// storm is forgotten.
    RestartPfcwd,
    /// Reboots it. What the watchdogs had seen of storms is forgotten; of a warm reboot a queue that is stormed stays so, as its chip
    /// goes on with all that it was told.
    Reboot(RebootKind),
}

/// All that is said of a verb.
#[derive(Debug, Clone, Copy)]
pub struct VerbRow {
    /// What is asked for, with the registers that it is about.
    pub verb: DeviceVerb,
    /// The word before the colon in a step, a key of [`DeviceVerb::KEYS`].
    pub key: &'static str,
    /// The word behind it.
    pub word: &'static str,
    /// What it is done to, for people.
    pub told: &'static str,
    /// What a control without it does: the end of a sentence that begins with its name.
    pub lacking: &'static str,
    /// The part of the configuration that starts afresh with it, so that what is predicted of it does not hold for what the restart
    /// meets; `None`: everything goes on.
    pub restarts: Option<&'static str>,
    /// The setting that says how long it takes at most, without which a device is not asked for it; `None`: it is done at once.
    pub lasts: Option<&'static str>,
}

impl DeviceVerb {
    /// Every key of steps that asks something of the device, with what it does, for people; no other action of steps has one of them.
    pub const KEYS: [(&str, &str); 3] = [
        (
            "clear",
            "clears this of the device, by request: a copy of its watermarks, or what it shows of its counters",
        ),
        (
            "restart",
            "stops this part of the device and starts it again, with the settings that it has",
        ),
        ("reboot", "reboots the device in this way; the trial goes on meanwhile"),
    ];

    /// Every verb, in the order in which people are shown them.
    const ROWS: [VerbRow; 7] = [
        cleared(WatermarkCopy::CLEARED[0]),
        cleared(WatermarkCopy::CLEARED[1]),
        VerbRow {
            verb: DeviceVerb::ClearCounters,
            key: "clear",
            word: "counters",
            told: "counters",
            lacking: "clears no counters",
            restarts: None,
            lasts: None,
        },
        VerbRow {
            verb: DeviceVerb::RestartPfcwd,
            key: "restart",
            word: "pfcwd",
            told: "pfcwd",
            lacking: "restarts no watchdog",
            restarts: Some("pfcwd"),
            lasts: None,
        },
        reboot(RebootKind::Warm, "warm", "it, warm", "reboot.warm"),
        reboot(RebootKind::Fast, "fast", "it, fast", "reboot.fast"),
        reboot(RebootKind::Cold, "cold", "it, cold", "reboot.cold"),
    ];

    /// All of them.
    pub const ALL: [DeviceVerb; DeviceVerb::ROWS.len()] = {
        let mut all = [DeviceVerb::RestartPfcwd; DeviceVerb::ROWS.len()];
        let mut next = 0;
        while next < all.len() {
            all[next] = DeviceVerb::ROWS[next].verb;
            next += 1;
        }
        all
    };

    /// What is said of it.
    ///
    /// # Panics
    /// A verb without a row, which the tests of this file find.
    pub fn row(self) -> &'static VerbRow {
        const ROWS: &[VerbRow] = &DeviceVerb::ROWS;
        ROWS.iter().find(|row| row.verb == self).expect("each verb has a row")
    }

    /// Each word that may stand behind a key, and what it asks for.
    pub fn words(key: &str) -> Vec<(&'static str, DeviceVerb)> {
        let rows = DeviceVerb::ROWS.iter().filter(|row| row.key == key);
        rows.map(|row| (row.word, row.verb)).collect()
    }
}

/// The row of clearing a copy that is cleared by request.
const fn cleared((word, copy): (&'static str, WatermarkCopy)) -> VerbRow {
    VerbRow {
        verb: DeviceVerb::ClearWatermarks(copy),
        key: "clear",
        word,
        told: copy.table(),
        lacking: "clears no copies of watermarks",
        restarts: None,
        lasts: None,
    }
}

/// The row of a reboot. Nothing else tells its kinds apart here.
const fn reboot(
    kind: RebootKind,
    word: &'static str,
    told: &'static str,
    lasts: &'static str,
) -> VerbRow {
    VerbRow {
        verb: DeviceVerb::Reboot(kind),
        key: "reboot",
        word,
        told,
        lacking: "reboots nothing",
        restarts: Some("pfcwd"),
        lasts: Some(lasts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_verb_is_asked_for_by_words_of_its_own_under_a_key_that_there_is() {
        for verb in DeviceVerb::ALL {
            let row = verb.row();
            assert_eq!(row.verb, verb);
            assert!(DeviceVerb::KEYS.iter().any(|(key, _)| *key == row.key), "{row:?}");
            let words = DeviceVerb::words(row.key);
            let own: Vec<_> = words.iter().filter(|(word, _)| *word == row.word).collect();
            assert_eq!(own, [&(row.word, verb)]);
        }
    }
}
