//! What a person types at a switch to set something (`pfcwd`, `counterpoll`, `config interface`), with the checks and the texts of
//! sonic-utilities: what passes them is written to CONFIG_DB, where orchagent finds it.

use super::faults::Faults;
use super::names::{Db, Row, Rows};
use super::orchagent;
use super::refused::{DETECTION, POLL, RESTORATION};
use redis::{Connection, Pipeline};

/// The groups of flex counters: what `counterpoll` is told of each, what CONFIG_DB calls them, what `counterpoll show` does, how often
/// they are copied where nobody says, and how often they may be; all in milliseconds.
const GROUPS: [Group; 9] = [
    Group { word: "queue", key: "QUEUE", shown: "QUEUE_STAT", usual: 10_000, range: (100, 30_000) },
    Group { word: "port", key: "PORT", shown: "PORT_STAT", usual: 1_000, range: (100, 30_000) },
    Group {
        word: "port-buffer-drop",
        key: "PORT_BUFFER_DROP",
        shown: "PORT_BUFFER_DROP",
        usual: 60_000,
        range: (30_000, 300_000),
    },
    Group { shown: "QUEUE_WATERMARK_STAT", key: "QUEUE_WATERMARK", ..WATERMARK },
    Group { shown: "PG_WATERMARK_STAT", key: "PG_WATERMARK", ..WATERMARK },
    Group {
        word: "pg-drop",
        key: "PG_DROP",
        shown: "PG_DROP_STAT",
        usual: 10_000,
        range: (1_000, 30_000),
    },
    Group { shown: "BUFFER_POOL_WATERMARK_STAT", key: "BUFFER_POOL_WATERMARK", ..WATERMARK },
    Group {
        word: "wredqueue",
        key: "WRED_ECN_QUEUE",
        shown: "WRED_ECN_QUEUE_STAT",
        usual: 10_000,
        range: (100, 30_000),
    },
    Group {
        word: "wredport",
        key: "WRED_ECN_PORT",
        shown: "WRED_ECN_PORT_STAT",
        usual: 1_000,
        range: (100, 30_000),
    },
];
const WATERMARK: Group =
    Group { word: "watermark", key: "", shown: "", usual: 60_000, range: (1_000, 60_000) };

struct Group {
    word: &'static str,
    key: &'static str,
    shown: &'static str,
    usual: u64,
    range: (u64, u64),
}

/// What one of them prints; `None`: it is none of them.
pub(super) fn typed(
    line: &mut Connection,
    words: &[&str],
    faults: &Faults,
) -> Option<Result<String, String>> {
    let rows = match orchagent::read(line) {
        Ok(rows) => rows,
        Err(error) => return Some(Err(error.to_string())),
    };
    let mut all = redis::pipe();
    all.atomic().cmd("SELECT").arg(Db::Config as u8).ignore();
    let printed = match words {
        ["counterpoll", "show"] => Ok(polled(&rows)),
        ["counterpoll", word, rest @ ..] => counterpoll(word, rest, &mut all),
        ["pfcwd", "start", rest @ ..] => start(&rows, rest, &mut all, faults),
        ["pfcwd", "stop", ports @ ..] => stop(&rows, ports, &mut all),
        ["pfcwd", "interval", text] => interval(&rows, text, &mut all, faults),
        ["pfcwd", "counter_poll", word @ ("enable" | "disable")] => {
            set(&mut all, "FLEX_COUNTER_TABLE|PFCWD", &[("FLEX_COUNTER_STATUS", word)]);
            Ok(String::new())
        }
        ["pfcwd", "pfc_stat_history", word @ ("enable" | "disable"), ports @ ..] => {
            named(&rows, ports).map(|ports| {
                for port in ports {
                    set(&mut all, &format!("PFC_WD|{port}"), &[("pfc_stat_history", word)]);
                }
                String::new()
            })
        }
        ["pfcwd", "big_red_switch", word @ ("enable" | "disable")] => {
            set(&mut all, "PFC_WD|GLOBAL", &[("BIG_RED_SWITCH", word)]);
            Ok(String::new())
        }
        ["config", "interface", word @ ("startup" | "shutdown"), port] => {
            admin(&rows, word, port, &mut all)
        }
        _ => return None,
    };
    Some(printed.and_then(|text| match all.exec(line) {
        Ok(()) => Ok(text),
        Err(error) => Err(error.to_string()),
    }))
}

fn set(all: &mut Pipeline, key: &str, fields: &[(&str, &str)]) {
    all.cmd("HSET").arg(key).arg(fields).ignore();
}

/// What click says of a command that is typed otherwise than it takes.
fn usage(command: &str, arguments: &str, why: &str) -> String {
    format!(
        "Usage: {command} [OPTIONS] {arguments}\nTry \"{command} -h\" for help.\n\nError: {why}"
    )
}

/// A number within its range, or what click says of it.
fn within(name: &str, text: &str, (least, most): (u64, u64)) -> Result<u64, String> {
    let number: Result<u64, _> = text.parse();
    match number {
        Err(_) => Err(format!("Invalid value for {name}: {text} is not a valid integer")),
        Ok(number) if (least..=most).contains(&number) => Ok(number),
        Ok(_) => Err(format!(
            "Invalid value for {name}: {text} is not in the valid range of {least} to {most}."
        )),
    }
}

fn polled(rows: &Rows) -> String {
    let row = |group: &Group| {
        let own = rows.get(&format!("FLEX_COUNTER_TABLE|{}", group.key))?;
        let of = |field: &str| own.get(field).cloned();
        let usual = format!("default ({})", group.usual);
        let every = of("POLL_INTERVAL").unwrap_or(usual);
        let status = of("FLEX_COUNTER_STATUS").unwrap_or_else(|| "disable".to_owned());
        Some([group.shown.to_owned(), every, status])
    };
    let rows: Vec<[String; 3]> = GROUPS.iter().filter_map(row).collect();
    let heads = ["Type", "Interval (in ms)", "Status"];
    // A column of nothing but numbers stands to the right.
    let numbers = rows.iter().all(|row| row[1].parse::<u64>().is_ok());
    let widths: Vec<usize> = (0..3)
        .map(|at| rows.iter().map(|row| row[at].len()).max().unwrap_or(0).max(heads[at].len() + 2))
        .collect();
    let line = |cells: [&str; 3]| {
        let [name, every, status] = cells;
        let every = match numbers {
            true => format!("{every:>0$}", widths[1]),
            false => format!("{every:<0$}", widths[1]),
        };
        let text = format!("{name:<0$}  {every}  {status}", widths[0]);
        format!("{}\n", text.trim_end())
    };
    let rules: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
    let mut all = line(heads);
    all += &line([&rules[0], &rules[1], &rules[2]]);
    rows.iter().for_each(|[name, every, status]| all += &line([name, every, status]));
    all
}

fn counterpoll(word: &str, rest: &[&str], all: &mut Pipeline) -> Result<String, String> {
    let own: Vec<&Group> = GROUPS.iter().filter(|group| group.word == word).collect();
    let Some(first) = own.first() else {
        let why = format!("No such command \"{word}\".");
        return Err(usage("counterpoll", "COMMAND [ARGS]...", &why));
    };
    let (field, text) = match rest {
        ["interval", text] => {
            within("\"POLL_INTERVAL\"", text, first.range).map_err(|why| {
                usage(&format!("counterpoll {word} interval"), "POLL_INTERVAL", &why)
            })?;
            ("POLL_INTERVAL", *text)
        }
        [status @ ("enable" | "disable")] => ("FLEX_COUNTER_STATUS", *status),
        _ => {
            let why = "Missing command.";
            return Err(usage(&format!("counterpoll {word}"), "COMMAND [ARGS]...", why));
        }
    };
    for group in own {
        set(all, &format!("FLEX_COUNTER_TABLE|{}", group.key), &[(field, text)]);
    }
    Ok(String::new())
}

/// The ports that are named, of those that there are.
fn named<'w>(rows: &'w Rows, words: &[&'w str]) -> Result<Vec<&'w str>, String> {
    let every = super::names::ports(rows);
    let unknown: Vec<&str> =
        words.iter().copied().filter(|word| *word != "all" && !every.contains(word)).collect();
    if !unknown.is_empty() {
        let unknown = unknown.join(",");
        return Err(format!("Failed to run command, invalid options:\n{unknown}"));
    }
    let whole = words.is_empty() || words.contains(&"all");
    Ok(if whole { every } else { words.to_vec() })
}

fn start(
    rows: &Rows,
    words: &[&str],
    all: &mut Pipeline,
    faults: &Faults,
) -> Result<String, String> {
    let any = |range| if faults.no_cli { (0, u64::MAX) } else { range };
    let says = |why: String| usage("pfcwd start", "[PORTS]... DETECTION_TIME", &why);
    let (mut action, mut restores, mut plain) = (None, None, Vec::new());
    let mut history = "disable";
    let mut rest = words.iter().copied();
    while let Some(word) = rest.next() {
        match word {
            "--action" | "-a" => action = rest.next(),
            "--restoration-time" | "-r" => restores = rest.next(),
            "--pfc-stat-history" => history = "enable",
            word if word.starts_with('-') => return Err(says(format!("no such option: {word}"))),
            word => plain.push(word),
        }
    }
    let Some((detects, ports)) = plain.split_last() else {
        return Err(says("Missing argument \"DETECTION_TIME\".".to_owned()));
    };
    if let Some(word) = action.filter(|word| !["drop", "forward", "alert"].contains(word)) {
        let why = format!("invalid choice: {word}. (choose from drop, forward, alert)");
        return Err(says(format!("Invalid value for \"--action\" / \"-a\": {why}")));
    }
    if let Some(text) = restores {
        within("\"--restoration-time\" / \"-r\"", text, any(RESTORATION)).map_err(says)?;
    }
    let time = within("\"DETECTION_TIME\"", detects, any(DETECTION)).map_err(says)?;
    let ports = named(rows, ports)?;
    let mut printed = String::new();
    let twice = (2 * time).to_string();
    if restores.is_none() {
        printed = format!(
            "restoration time not defined; default to 2 times detection time: {twice} ms\n"
        );
    }
    for port in ports {
        let map = super::names::of_port(rows, "PORT_QOS_MAP", port);
        if map.and_then(|map| map.get("pfc_enable")).is_none_or(String::is_empty) {
            printed += &format!("SKIPPED: PFC is not enabled on port: {port}\n");
            continue;
        }
        let key = format!("PFC_WD|{port}");
        let times =
            [("detection_time", *detects), ("restoration_time", restores.unwrap_or(&twice))];
        // The row goes and is written anew, with the history that images since 2025 keep.
        all.cmd("DEL").arg(&key).ignore();
        set(all, &key, &times);
        set(all, &key, &[("pfc_stat_history", history)]);
        action.iter().for_each(|word| set(all, &key, &[("action", word)]));
    }
    Ok(printed)
}

fn stop(rows: &Rows, ports: &[&str], all: &mut Pipeline) -> Result<String, String> {
    for port in named(rows, ports)? {
        all.cmd("DEL").arg(format!("PFC_WD|{port}")).ignore();
    }
    Ok(String::new())
}

fn interval(
    rows: &Rows,
    text: &str,
    all: &mut Pipeline,
    faults: &Faults,
) -> Result<String, String> {
    let says = |why: String| usage("pfcwd interval", "POLL_INTERVAL", &why);
    let range = if faults.no_cli { (0, u64::MAX) } else { POLL };
    let every = within("\"POLL_INTERVAL\"", text, range).map_err(says)?;
    let of = |(_, row): (&str, &Row)| {
        let time = |field: &str| row.get(field)?.parse::<u64>().ok();
        [("detection time", time("detection_time")), ("restoration time", time("restoration_time"))]
    };
    let ports = super::names::of(rows, "PFC_WD").filter(|(port, _)| *port != "GLOBAL");
    let times = ports.flat_map(of).filter_map(|(name, time)| Some((time?, name)));
    match times.min_by_key(|(time, _)| *time) {
        Some((time, name)) if time < every && !faults.no_cli => Err(format!(
            "unable to use polling interval = {every}ms, value is bigger than one of the configured {name} values, please choose a \
             smaller polling_interval"
        )),
        _ => {
            set(all, "PFC_WD|GLOBAL", &[("POLL_INTERVAL", text)]);
            Ok(String::new())
        }
    }
}

fn admin(rows: &Rows, word: &str, port: &str, all: &mut Pipeline) -> Result<String, String> {
    let key = format!("PORT|{port}");
    if !rows.contains_key(&key) {
        let why = "Interface name is invalid. Please enter a valid interface name!!";
        return Err(usage(&format!("config interface {word}"), "<interface_name>", why));
    }
    let status = if word == "startup" { "up" } else { "down" };
    set(all, &key, &[("admin_status", status)]);
    Ok(String::new())
}
