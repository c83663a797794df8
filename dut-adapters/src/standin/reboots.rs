//! Reboots of a stand-in. Who types SONiC's word for one publishes it; the device does it, and as its software is back the databases
//! have begun anew: STATE_DB is empty but for what a switch fills in as it begins, CONFIG_DB is what is saved, or goes on in a warm one,
//! and who was connected is not any more.
//!
//! Left out: that nobody answers meanwhile (redis goes on until the device is back), counters that begin at 0.

use super::asic::Asic;
use super::names::{Db, Rows, row, set};
use redis::{Connection, RedisResult};
use rig_generator::port::Mono;
use rig_lab::RebootKind;
use rig_units::Dur;

/// Where it hears that somebody orders one. No switch has that.
pub(super) const ORDERS: &str = "RIG_STANDIN_REBOOT";
/// SONiC's commands, and what `cause` is afterwards.
pub(super) const WORDS: [(&str, RebootKind); 3] = [
    ("warm-reboot", RebootKind::Warm),
    ("fast-reboot", RebootKind::Fast),
    ("reboot", RebootKind::Cold),
];
/// Rows of STATE_DB that a switch fills in as it begins.
const BORN: [&str; 4] = ["REBOOT_CAUSE|", "ASIC_TABLE|", "BUFFER_MAX_PARAM_TABLE|", super::HEALTH];
/// How often the device is asked whether it is back.
const LOOK: Dur = Dur::ms(20);

/// What it begins with, and what it is away for.
#[derive(Debug)]
pub(super) struct Reboots {
    /// CONFIG_DB as it is saved; nothing where nobody says so.
    saved: Rows,
    /// How the device was told to reboot, and how often it had come back from that.
    away: Option<(RebootKind, u64)>,
    /// When the device was asked last.
    looked: Option<Mono>,
}

impl Reboots {
    /// None so far, of one that begins with `saved`.
    pub(super) fn of(saved: Rows) -> Reboots {
        Reboots { saved, away: None, looked: None }
    }

    /// Somebody has ordered one, by this word.
    pub(super) fn ordered(&mut self, word: &str, asic: &mut dyn Asic) {
        let Some((_, kind)) = WORDS.iter().find(|(own, _)| *own == word) else { return };
        // One that does not count them is never back.
        let before = asic.counter(&kind.counter()).unwrap_or(0);
        asic.reboots(*kind);
        self.away = Some((*kind, before));
    }

    /// Whether nobody takes what CONFIG_DB says.
    pub(super) const fn is_away(&self) -> bool {
        self.away.is_some()
    }

    /// Whether the device is back, and the databases have begun anew.
    pub(super) fn begin(
        &mut self,
        line: &mut Connection,
        asic: &mut dyn Asic,
    ) -> RedisResult<bool> {
        let Some((kind, before)) = self.away else { return Ok(false) };
        let now = Mono::now();
        let since = self.looked.and_then(|looked| now.since(looked));
        if since.is_some_and(|since| since < LOOK) {
            return Ok(false);
        }
        self.looked = Some(now);
        if asic.counter(&kind.counter()).is_none_or(|count| count <= before) {
            return Ok(false);
        }
        self.away = None;
        self.begun(kind, line)?;
        Ok(true)
    }

    fn begun(&self, kind: RebootKind, line: &mut Connection) -> RedisResult<()> {
        let (_, keys): ((), Vec<String>) =
            redis::pipe().cmd("SELECT").arg(Db::State as u8).cmd("KEYS").arg("*").query(line)?;
        let gone = keys.iter().filter(|key| !BORN.iter().any(|born| key.starts_with(born)));
        let mut all = redis::pipe();
        gone.for_each(|key| {
            all.cmd("DEL").arg(key).ignore();
        });
        if kind != RebootKind::Warm && !self.saved.is_empty() {
            all.cmd("SELECT").arg(Db::Config as u8).ignore().cmd("FLUSHDB").ignore();
            self.saved.iter().for_each(|(key, row)| set(&mut all, key, row));
            all.cmd("SET").arg("CONFIG_DB_INITIALIZED").arg(1).ignore();
        }
        all.exec(line)?;
        let word = WORDS.iter().find(|(_, own)| *own == kind).map_or("", |(word, _)| word);
        redis::cmd("CLIENT").arg(&["KILL", "TYPE", "normal", "SKIPME", "yes"][..]).exec(line)?;
        told(word, line)
    }
}

/// Writes the row of a beginning, as `process-reboot-cause` does.
pub(super) fn told(cause: &str, line: &mut Connection) -> RedisResult<()> {
    let (mut at, _micros): (u64, u64) = redis::cmd("TIME").query(line)?;
    redis::cmd("SELECT").arg(Db::State as u8).exec(line)?;
    // No two have the same name.
    while redis::cmd("EXISTS").arg(named(at)).query(line)? {
        at += 1;
    }
    let fields = [
        ("cause", cause.to_owned()),
        ("comment", "N/A".to_owned()),
        ("time", at.to_string()),
        ("user", "N/A".to_owned()),
    ];
    let mut one = redis::pipe();
    set(&mut one, &named(at), &row(fields));
    one.exec(line)
}

/// The key of a beginning at that second of UTC.
fn named(at: u64) -> String {
    let (days, second) = (at / 86_400, at % 86_400);
    // Years that begin in March: a leap day is the last of one.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let date = day - (153 * month + 2) / 5 + 1;
    let (month, late) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + year + late;
    let [hour, minute] = [second / 3_600, second / 60 % 60];
    format!("REBOOT_CAUSE|{year}_{month:02}_{date:02}_{hour:02}_{minute:02}_{:02}", second % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beginning_is_named_by_its_second() {
        for (at, name) in [
            (0, "REBOOT_CAUSE|1970_01_01_00_00_00"),
            (951_782_400, "REBOOT_CAUSE|2000_02_29_00_00_00"),
            (1_602_219_238, "REBOOT_CAUSE|2020_10_09_04_53_58"),
            (1_798_761_599, "REBOOT_CAUSE|2026_12_31_23_59_59"),
        ] {
            assert_eq!(named(at), name);
        }
    }
}
