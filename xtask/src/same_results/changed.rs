//! What may differ between the results of two revisions: what is of the machine, and what was renamed or reworded on purpose.

use serde_json::Value;

/// Keys of the results that say how long it took and what took it.
const OF_THE_MACHINE: [&str; 2] = ["version", "wall"];

/// Keys and wording that were changed on purpose since an earlier revision: as it was, and as it is now. A key stands with its
/// quotation marks and colon.
const RENAMED: &[(&str, &str)] = &[];

/// The results without what another machine, or another day, would say otherwise.
pub(super) fn without_the_machine(mut results: Value) -> Value {
    if let Some(keys) = results.as_object_mut() {
        keys.retain(|key, _| !OF_THE_MACHINE.contains(&key.as_str()));
    }
    results
}

/// What an earlier revision wrote, in the words of today.
pub(super) fn as_it_is_now(results: &str) -> String {
    renamed(RENAMED, results)
}

fn renamed(all: &[(&str, &str)], results: &str) -> String {
    all.iter().fold(results.to_owned(), |text, (before, now)| text.replace(before, now))
}

#[cfg(test)]
mod tests {
    use super::renamed;

    #[test]
    fn a_key_and_a_wording_are_those_of_today() {
        let all = [("\"faults\": ", "\"deviations\": "), ("bad port", "no such port")];
        let was = r#"{"faults": 1, "why": "bad port of faults"}"#;
        assert_eq!(renamed(&all, was), r#"{"deviations": 1, "why": "no such port of faults"}"#);
    }
}
