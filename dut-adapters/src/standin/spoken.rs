//! What a person at a switch types, and what SONiC's own commands print then: `sonic-db-cli`, `pfcwd show config` (also as `show pfcwd
//! config`) and `pfcwd show stats`, from what stands in the databases; `config apply-patch`, and what else sets something; and
//! `warm-reboot`, `fast-reboot` and `reboot`, which print nothing.

use super::faults::Faults;
use super::names::Row;
use super::patched;
use super::reboots::{ORDERS, WORDS};
use super::{chips, connect, typed};
use core::fmt::Write as _;
use redis::{Connection, RedisError, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// The databases by their names, as every image numbers them.
const NAMES: [(&str, u8); 6] = [
    ("APPL_DB", 0),
    ("ASIC_DB", 1),
    ("COUNTERS_DB", 2),
    ("CONFIG_DB", 4),
    ("FLEX_COUNTER_DB", 5),
    ("STATE_DB", 6),
];
/// Commands of redis whose number is a yes or a no.
const YES_OR_NO: [&str; 6] = ["EXISTS", "HEXISTS", "EXPIRE", "PEXPIRE", "PERSIST", "SISMEMBER"];
const STATS: &str = "PFC_WD_QUEUE_STATS_";

/// What such a command prints.
///
/// # Errors
/// It is none of them, or what it complains of: for standard error, with exit code 1, or 2 where it says how it is used.
pub fn spoken(socket: &Path, words: &[&str], faults: &Faults) -> Result<String, String> {
    if let ["sonic-db-cli", "-n", space, rest @ ..] = words {
        let own = chips::named(socket, space);
        let own = own.ok_or_else(|| format!("Namespace: {space} is invalid"))?;
        return spoken(&own, &[&["sonic-db-cli"], rest].concat(), faults);
    }
    let mut line = connect(socket).map_err(said)?;
    match words {
        ["sonic-db-cli", "PING"] => Ok("PONG\n".to_owned()),
        ["sonic-db-cli", database, command, rest @ ..] => {
            let number = NAMES.iter().find(|(name, _)| name == database);
            let Some((_, number)) = number else {
                return Err(format!("Invalid database name input : '{database}'"));
            };
            select(&mut line, *number)?;
            let value = redis::cmd(command).arg(rest).query(&mut line).map_err(said)?;
            Ok(as_python(&command.to_uppercase(), &value))
        }
        ["pfcwd", "show", "config"] | ["show", "pfcwd", "config"] => config(&mut line),
        ["pfcwd", "show", "stats", rest @ ..] | ["show", "pfcwd", "stats", rest @ ..] => {
            stats(&mut line, matches!(rest, ["-e" | "--empty"]))
        }
        ["config", "apply-patch", file] => patched::apply(&mut line, Path::new(file), faults),
        [word] if WORDS.iter().any(|(own, _)| own == word) => {
            let heard: u64 =
                redis::cmd("PUBLISH").arg(ORDERS).arg(*word).query(&mut line).map_err(said)?;
            if heard > 0 { Ok(String::new()) } else { Err(format!("{word}: nobody is there")) }
        }
        words => typed::typed(&mut line, words, faults)
            .unwrap_or_else(|| Err(format!("{}: the stand-in does not know it", words.join(" ")))),
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is what an error is mapped by")]
fn said(error: RedisError) -> String {
    error.to_string()
}

fn select(line: &mut Connection, database: u8) -> Result<(), String> {
    redis::cmd("SELECT").arg(database).exec(line).map_err(said)
}

fn whole(line: &mut Connection, key: &str) -> Result<Row, String> {
    redis::cmd("HGETALL").arg(key).query(line).map_err(said)
}

/// An answer as redis-py shows it, which is what `sonic-db-cli` of released images prints.
fn as_python(command: &str, value: &Value) -> String {
    let text = |value: &Value| match value {
        Value::BulkString(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        Value::SimpleString(text) => text.clone(),
        Value::Int(number) => number.to_string(),
        _ => String::new(),
    };
    let printed = match value {
        Value::Okay => "True".to_owned(),
        Value::SimpleString(word) if command == "PING" && word == "PONG" => "True".to_owned(),
        Value::Int(number) if YES_OR_NO.contains(&command) => {
            if *number == 0 { "False" } else { "True" }.to_owned()
        }
        Value::Array(all) if command == "HGETALL" => {
            let pairs = all.chunks(2).map(|pair| {
                let [field, value] =
                    [0, 1].map(|at| quoted(&pair.get(at).map_or_else(String::new, text)));
                format!("{field}: {value}")
            });
            format!("{{{}}}", pairs.collect::<Vec<_>>().join(", "))
        }
        Value::Array(all) => all.iter().map(text).collect::<Vec<_>>().join("\n"),
        one => text(one),
    };
    printed + "\n"
}

/// A text as Python writes it.
fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut all = String::from(quote);
    for letter in text.chars() {
        if letter == quote || letter == '\\' {
            all.push('\\');
        }
        match letter {
            '\n' => all.push_str("\\n"),
            '\t' => all.push_str("\\t"),
            '\r' => all.push_str("\\r"),
            letter => all.push(letter),
        }
    }
    all.push(quote);
    all
}

fn config(line: &mut Connection) -> Result<String, String> {
    select(line, 4)?;
    let keys: Vec<String> = redis::cmd("KEYS").arg("PFC_WD|*").query(line).map_err(said)?;
    let global = whole(line, "PFC_WD|GLOBAL")?;
    let mut ports = BTreeMap::new();
    for key in keys {
        let Some(port) = key.strip_prefix("PFC_WD|").filter(|port| *port != "GLOBAL") else {
            continue;
        };
        ports.insert(natural(port), (port.to_owned(), whole(line, &key)?));
    }
    let mut printed = String::new();
    let guarded = !ports.is_empty();
    if let Some(poll) = global.get("POLL_INTERVAL").filter(|_| guarded) {
        let _written = writeln!(printed, "Changed polling interval to {poll}ms");
    }
    if let Some(red) = global.get("BIG_RED_SWITCH").filter(|_| guarded) {
        let _written = writeln!(printed, "BIG_RED_SWITCH status is {red}");
    }
    let rows = ports.into_values().map(|(port, row)| {
        let of = |field: &str, none: &str| row.get(field).cloned().unwrap_or(none.to_owned());
        vec![
            port,
            of("action", "N/A"),
            of("detection_time", "N/A"),
            of("restoration_time", "infinite"),
            of("pfc_stat_history", "disable"),
        ]
    });
    let heads = ["PORT", "ACTION", "DETECTION TIME", "RESTORATION TIME", "HISTORY"];
    printed.push_str(&table(&heads, &rows.collect::<Vec<_>>()));
    Ok(printed)
}

fn stats(line: &mut Connection, empty: bool) -> Result<String, String> {
    select(line, 2)?;
    let mut queues = BTreeMap::new();
    for (queue, oid) in whole(line, "COUNTERS_QUEUE_NAME_MAP")? {
        queues.insert(natural(&queue), (queue, whole(line, &format!("COUNTERS:{oid}"))?));
    }
    let mut rows = Vec::new();
    for (queue, row) in queues.into_values() {
        let of = |what: &str| row.get(&format!("{STATS}{what}")).map_or("0", String::as_str);
        let both = |one: &str, other: &str| format!("{}/{}", of(one), of(other));
        let counted = [
            both("DEADLOCK_DETECTED", "DEADLOCK_RESTORED"),
            both("TX_PACKETS", "TX_DROPPED_PACKETS"),
            both("RX_PACKETS", "RX_DROPPED_PACKETS"),
            both("TX_PACKETS_LAST", "TX_DROPPED_PACKETS_LAST"),
            both("RX_PACKETS_LAST", "RX_DROPPED_PACKETS_LAST"),
        ];
        if empty || counted.iter().any(|two| two != "0/0") {
            let status = row.get("PFC_WD_STATUS").map_or("N/A", String::as_str);
            rows.push([vec![queue, status.to_owned()], counted.to_vec()].concat());
        }
    }
    let heads = [
        "QUEUE",
        "STATUS",
        "STORM DETECTED/RESTORED",
        "TX OK/DROP",
        "RX OK/DROP",
        "TX LAST OK/DROP",
        "RX LAST OK/DROP",
    ];
    Ok(table(&heads, &rows))
}

/// In the order of the numbers in it: `Ethernet4` before `Ethernet12`.
fn natural(name: &str) -> (String, Vec<u64>) {
    let word = name.chars().take_while(|letter| !letter.is_ascii_digit()).collect();
    let numbers = name.split(|letter: char| !letter.is_ascii_digit());
    (word, numbers.filter_map(|number| number.parse().ok()).collect())
}

/// A table as `tabulate` makes it there: each column two wider than its head at least, all to the right.
fn table(heads: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].len()).max().unwrap_or(0);
        cells.max(heads[column].len() + 2)
    };
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let padded = cells.enumerate().map(|(at, cell)| format!("{cell:>0$}", width(at)));
        padded.collect::<Vec<_>>().join("  ") + "\n"
    };
    let rules: Vec<String> = (0..heads.len()).map(|at| "-".repeat(width(at))).collect();
    let mut all = line(&mut heads.iter().copied());
    all += &line(&mut rules.iter().map(String::as_str));
    rows.iter().for_each(|row| all += &line(&mut row.iter().map(String::as_str)));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_and_an_answer_are_as_sonic_prints_them() {
        let heads = ["PORT", "ACTION", "DETECTION TIME", "RESTORATION TIME", "HISTORY"];
        let row = ["Ethernet0", "drop", "600", "600", "disable"].map(str::to_owned);
        assert_eq!(
            table(&heads, &[row.to_vec()]),
            "     PORT    ACTION    DETECTION TIME    RESTORATION TIME    HISTORY\n\
             ---------  --------  ----------------  ------------------  ---------\n\
             Ethernet0      drop               600                 600    disable\n"
        );
        let bulk = |text: &str| Value::BulkString(text.as_bytes().to_vec());
        let both = Value::Array(vec![bulk("a"), bulk("it's"), bulk("b\\"), bulk("'\"\n")]);
        assert_eq!(as_python("HGETALL", &both), "{'a': \"it's\", 'b\\\\': '\\'\"\\n'}\n");
        assert_eq!(as_python("KEYS", &Value::Array(vec![bulk("a"), bulk("b")])), "a\nb\n");
        assert_eq!(as_python("HGET", &Value::Nil), "\n");
        assert_eq!(as_python("HSET", &Value::Int(0)), "0\n");
        assert_eq!(as_python("EXISTS", &Value::Int(1)), "True\n");
        assert!(natural("Ethernet4:3") < natural("Ethernet12:0"));
    }
}
