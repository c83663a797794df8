//! What scripts of a switch's watchdog publish, read from its text: that a queue is in a storm or no longer, and what NVIDIA's script tells
//! of each poll where somebody has asked it to.

use rig_units::limits::quoted;

/// Where it is published what was decided.
pub(super) const ACTION: &str = "PFC_WD_ACTION";
/// Where NVIDIA's script tells of each poll, as long as `DEBUG_STORM` of COUNTERS_DB says `enabled` `true`, or of those above its `threshold`.
pub(super) const DEBUG: &str = "PFC_WD_DEBUG";

/// One message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Published {
    /// Of a queue, by its object, a word: `storm`, `restore`; and when the poll was that decided, where the message says so (seconds).
    Action { oid: String, word: String, stamp: Option<String> },
    /// What a poll found of a queue, by its port's object and its number.
    Poll { port: String, queue: String, text: String },
}

/// Reads one; `None`: it is none of these.
pub(super) fn read(channel: &str, text: &str) -> Option<Published> {
    match channel {
        ACTION => action(text),
        DEBUG => poll(text),
        _ => None,
    }
}

/// `["oid:...","storm"]`; NVIDIA's has names and values behind that, one after the other.
fn action(text: &str) -> Option<Published> {
    let told: Vec<String> = serde_json::from_str(text).ok()?;
    let [oid, word, more @ ..] = told.as_slice() else { return None };
    let stamp =
        more.chunks_exact(2).find(|pair| pair[0] == "timestamp").map(|pair| pair[1].clone());
    Some(Published::Action { oid: oid.clone(), word: word.clone(), stamp })
}

/// Text for people, which begins with the port's object and the number of the queue.
fn poll(text: &str) -> Option<Published> {
    let rest = text.strip_prefix("Port ID ")?;
    let (port, rest) = rest.split_once(" Queue index ")?;
    let queue = rest.split(' ').next()?;
    let (port, queue) = (port.to_owned(), queue.to_owned());
    Some(Published::Poll { port, queue, text: quoted(text) })
}

#[cfg(test)]
mod tests {
    use super::{ACTION, DEBUG, Published, read};

    #[test]
    fn an_action_may_say_more_than_its_queue_and_its_word() {
        let action = |text: &str| read(ACTION, text);
        let of = |word: &str, stamp: Option<&str>| {
            let (oid, stamp) = ("oid:0x15".to_owned(), stamp.map(str::to_owned));
            Some(Published::Action { oid, word: word.to_owned(), stamp })
        };
        assert_eq!(action(r#"["oid:0x15","storm"]"#), of("storm", None));
        let whole = r#"["oid:0x15","storm","occupancy","4096","packets","7","packets_last","7","pfc_duration","99000","timestamp","1787266868.7188","timestamp_last","1787266868.6188","effective_poll_time","100000"]"#;
        assert_eq!(action(whole), of("storm", Some("1787266868.7188")));
        // A name that has no value, and a value that is called as the name is.
        assert_eq!(action(r#"["oid:0x15","restore","timestamp"]"#), of("restore", None));
        assert_eq!(
            action(r#"["oid:0x15","storm","packets","timestamp","a","b"]"#),
            of("storm", None)
        );
        for none in ["", "[]", r#"["oid:0x15"]"#, "storm", r#"{"oid:0x15":"storm"}"#] {
            assert_eq!(action(none), None, "{none}");
        }
    }

    #[test]
    fn what_a_poll_found_is_told_of_its_queue() {
        let text = "Port ID oid:0x1 Queue index 3 occupancy 4096 packets 7 pfc rx 9 pfc duration 99000 effective poll time 100012";
        let (port, queue) = ("oid:0x1".to_owned(), "3".to_owned());
        assert_eq!(read(DEBUG, text), Some(Published::Poll { port, queue, text: text.to_owned() }));
        for none in ["", "Port ID oid:0x1", "Queue index 3"] {
            assert_eq!(read(DEBUG, none), None, "{none}");
        }
        assert_eq!(read("PFC_WD", text), None);
    }
}
