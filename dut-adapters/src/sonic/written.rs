//! Ports that are alike, as the text of a profile in which each line says where it is from.

use super::alike::PortSet;
use serde_json::Value as Json;
use std::fmt::Write as _;

/// The parts of what is declared of a switch that a profile from databases shows whole.
const PARTS: [&str; 6] = ["qos", "scheduler", "buffer", "wred", "pfc", "pfcwd"];
/// Where a comment begins.
const COMMENT: usize = 44;

impl PortSet {
    /// The profile, under a name of one word. What no database says is the bundled profile's, in comments that say so.
    pub fn written(&self, name: &str) -> String {
        let base = &self.base;
        let mut text = String::new();
        let mut line = |line: String| {
            text.push_str(line.trim_end());
            text.push('\n');
        };
        line("# Made by `rigctl profile from-dut`: a line that is no comment is what the databases say, with the table and key that".to_owned());
        line(format!(
            "# say it. `no database` marks what is the bundled profile's `{base}`, and so nobody's measurement of this device."
        ));
        line(format!("# From {}: {}", one_line(&self.file), self.names()));
        for beyond in &self.facts.beyond {
            line(format!("# Not in it: {}", one_line(beyond)));
        }
        line(format!("name: {name}"));
        line(format!(
            "about: \"{} of a SONiC switch, from its databases\"",
            ports_in_words(self.ports.len())
        ));
        line(commented(&format!("extends: {base}"), "by platform and hwsku, or as --base says"));
        line(String::new());
        line("declared:".to_owned());
        let speed = self.facts.speed;
        let ports = format!("  ports: [{{count: {}, speed: {speed}}}]", self.ports.len().max(2));
        let first = self.ports.first().map_or("", String::as_str);
        let more = if self.ports.len() == 1 { "; one alone is no switch" } else { "" };
        line(commented(&ports, &format!("PORT|{first}|speed{more}")));
        if let Some((length, place)) = &self.facts.cable {
            line(format!(
                "  # {} says cables of {length}: `rigctl lint --cable {length}`",
                one_line(&place.path)
            ));
        }
        for path in ["mtu", "forwarding_delay"] {
            line(self.setting(path, path, 2));
        }
        for part in PARTS {
            let own = self.facts.stated.iter().filter_map(|stated| stated.path.split_once('.'));
            let own: Vec<&str> =
                own.filter(|(of, _)| *of == part).map(|(_, field)| field).collect();
            let usual = self.usual[part].as_object();
            let usual = usual.into_iter().flat_map(serde_json::Map::keys).map(String::as_str);
            let mark = if own.is_empty() { "# " } else { "" };
            line(format!("  {mark}{part}:"));
            let others: Vec<&str> = usual.filter(|field| !own.contains(field)).collect();
            for field in own.iter().chain(&others) {
                line(self.setting(&format!("{part}.{field}"), field, 4));
            }
        }
        text
    }

    /// One line: what is stated, or in a comment what the bundled profile has.
    fn setting(&self, path: &str, field: &str, deep: usize) -> String {
        let indent = " ".repeat(deep);
        match self.stated(path) {
            Some(stated) => {
                commented(&format!("{indent}{field}: {}", stated.value), &one_line(&stated.why))
            }
            None => {
                let usual = path.split('.').fold(&self.usual, |at, key| &at[key]);
                commented(
                    &format!("{indent}# {field}: {}", flow(usual)),
                    &format!("no database: `{}`", self.base),
                )
            }
        }
    }

    /// The ports, the first few by name.
    fn names(&self) -> String {
        let mut names = String::new();
        for (index, port) in self.ports.iter().take(8).enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let _always_written = write!(names, "{comma}{port}");
        }
        match self.ports.len() {
            0..=8 => names,
            all => format!("{names} and {} more", all - 8),
        }
    }
}

fn ports_in_words(ports: usize) -> String {
    if ports == 1 { "a port".to_owned() } else { format!("{ports} ports") }
}

/// A line with a comment behind it.
fn commented(line: &str, comment: &str) -> String {
    format!("{line:COMMENT$} # {comment}")
}

/// What came from a file, without what would end a comment.
fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() || "\u{2028}\u{2029}\u{85}".contains(c) { '?' } else { c })
        .collect()
}

/// A value of a profile in one line of YAML.
fn flow(value: &Json) -> String {
    match value {
        Json::Array(all) => {
            let all: Vec<String> = all.iter().map(flow).collect();
            format!("[{}]", all.join(", "))
        }
        Json::Object(all) => {
            let all: Vec<String> =
                all.iter().map(|(key, value)| format!("{key}: {}", flow(value))).collect();
            format!("{{{}}}", all.join(", "))
        }
        Json::String(text) => text.clone(),
        Json::Null => "never".to_owned(),
        other => other.to_string(),
    }
}
