//! How the rig's own ports took pauses before the run: tried, because a generator that does not stop makes every verdict
//! worthless.

use crate::text::list;
use rig_units::Dur;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Every class that was tried, by port.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pausing {
    /// Where the pauses came from: `wire`, the other ends of the wires; `fed`, the rig itself, where nobody else can be
    /// made to send them.
    pub from: String,
    /// How late a port may stop, in picoseconds.
    pub bound: u64,
    /// In the order of the ports.
    pub classes: Vec<PausedClass>,
}

/// How one class took its pause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PausedClass {
    /// The rig's port.
    pub port: String,
    /// Traffic class, 0 to 7.
    pub class: u8,
    /// From the XOFF to the last frame that left in spite of it, in picoseconds; `null` when no XOFF arrived.
    pub stops: Option<u64>,
    /// From the XON to the next frame, in picoseconds; `null` when none left.
    pub resumes: Option<u64>,
    /// Whether another class went on meanwhile.
    pub others: bool,
    /// All of it within the bound.
    pub honoured: bool,
}

impl PausedClass {
    /// What is wrong with it; `None` when nothing is.
    pub fn wrong(&self, bound: u64) -> Option<String> {
        let PausedClass { port, class, stops, resumes, others, honoured } = self;
        if *honoured {
            return None;
        }
        let who = format!("{port} class {class}");
        Some(match (stops, resumes) {
            (None, _) => format!("no PFC frame reached {who}"),
            (Some(stops), _) if *stops > bound => {
                format!("{who} still sent {} after an XOFF (bound {})", Dur(*stops), Dur(bound))
            }
            (Some(_), None) => format!("{who} did not go on after an XON"),
            (Some(_), Some(_)) if !others => {
                format!("the pause of {who} stopped other classes, too")
            }
            (Some(_), Some(_)) => format!("{who} took its pause otherwise than it should"),
        })
    }
}

impl Pausing {
    /// In one line for people.
    pub fn line(&self) -> String {
        let wrong: Vec<String> =
            self.classes.iter().filter_map(|class| class.wrong(self.bound)).collect();
        if !wrong.is_empty() {
            return format!("{}: cases that use it are inconclusive", wrong.join("; "));
        }
        let mut ports: Vec<String> = Vec::new();
        let mut classes: Vec<u8> = self.classes.iter().map(|class| class.class).collect();
        for class in &self.classes {
            if !ports.contains(&class.port) {
                ports.push(class.port.clone());
            }
        }
        classes.sort_unstable();
        classes.dedup();
        let classes: Vec<String> = classes.iter().map(ToString::to_string).collect();
        let noun = if classes.len() == 1 { "class" } else { "classes" };
        let worst = self.classes.iter().filter_map(|class| class.stops).max().unwrap_or(0);
        let after = match worst {
            0 => "at once".to_owned(),
            worst => format!("within {}", Dur(worst)),
        };
        let from = match self.from.as_str() {
            "wire" => "PFC from the other ends",
            _ => "PFC fed to the sender",
        };
        format!(
            "{}, {noun} {}: stop {after} and go on with the XON ({from}, bound {})",
            list(&ports),
            list(&classes),
            Dur(self.bound),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn class(port: &str, class: u8, stops: Option<u64>) -> PausedClass {
        let honoured = stops.is_some_and(|stops| stops <= 10_000_000);
        let port = port.to_owned();
        PausedClass { port, class, stops, resumes: Some(0), others: true, honoured }
    }

    fn line(from: &str, classes: Vec<PausedClass>) -> String {
        Pausing { from: from.to_owned(), bound: 10_000_000, classes }.line()
    }

    #[test]
    fn what_was_tried_is_one_line() {
        let well =
            vec![class("p1", 3, Some(1_200_000)), class("p2", 4, Some(0)), class("p2", 3, Some(0))];
        let mut silent = class("p1", 3, Some(0));
        (silent.honoured, silent.others) = (false, false);
        let mut stuck = class("p1", 3, Some(0));
        (stuck.honoured, stuck.resumes) = (false, None);
        let lines = [
            line("wire", well),
            line("fed", vec![class("p1", 3, Some(0))]),
            line("wire", vec![class("p1", 3, Some(168_000_000)), class("p2", 3, None)]),
            line("fed", vec![silent, stuck]),
        ];
        insta::assert_snapshot!(lines.join("\n"));
    }
}
