//! Settings by `config apply-patch` over `ssh`: SONiC's own front door, where its YANG models refuse what they do not allow before
//! anything is written. Only what is about that goes this way: a patch takes a switch seconds.
//!
//! A model that refuses says so by words, and says the same where what stands in CONFIG_DB already is what it does not allow. So a
//! refusal counts as one of these settings where the switch takes a patch of nothing, for which it looks at all of CONFIG_DB, too. Whatever
//! else ends the command is no word of a model. What was taken goes back by redis, as all that the rig writes.

use super::super::link::{Db, Link, Made};
use super::super::tables::Tables;
use super::super::write::{Write, shown};
use super::SonicControl;
use super::order_session::{Ended, hidden, run};
use crate::control::{Ability, Control as _, ControlError, Lost, Refused};
use rig_lab::{RedisAt, Setting};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// The session: a file of the patch, which goes with it, and the command, between two marks.
const SESSION: &str = "f=$(mktemp) || exit 9; trap 'rm -f \"$f\"' 0; trap 'exit 9' 1 2 15; cat >\"$f\" && echo rig-there && { sudo -n timeout \
                       -k 5 110 config apply-patch \"$f\" 2>&1 </dev/null; echo \"rig-end $?\"; }";
/// By which words images of different years say that a model refuses.
const MODEL: [&str; 3] =
    ["Data Loading Failed", "will produce invalid config", "result in an invalid config"];

/// What came of a patch.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    Taken,
    /// A model refuses it: why.
    Refused(String),
    /// It was not taken for another reason.
    Failed(String),
}

impl SonicControl {
    /// Sets these by a patch.
    pub(super) fn patch(&mut self, settings: &[Setting]) -> Result<(), ControlError> {
        let RedisAt::Ssh { host, .. } = self.at.clone() else {
            return Err(self.lacks(Ability::Refusals));
        };
        // How a patch says which chip it is of differs from image to image.
        if self.chip().is_some() {
            return Err(self.lacks(Ability::Refusals));
        }
        // What no patch can be made of nobody has refused.
        let writes = self.plan(settings).map_err(|refused| lost(refused.why))?;
        let asked = operations(&self.seen.0, &writes);
        self.make(settings, &writes, |link, writes| {
            if let Some((at, found)) = other(link, writes, |write| &write.from)? {
                return Ok(Made::None(at, found));
            }
            let answer = apply(&host, &asked, writes)?;
            let wanted: fn(&Write) -> &Option<String> = match answer {
                Answer::Taken => |write| &write.to,
                _ => |write| &write.from,
            };
            if let Some((at, found)) = other(link, writes, wanted)? {
                let Write { key, field, .. } = &writes[at];
                let why = format!("it answers {answer:?}, and {key}|{field} is {}", shown(&found));
                return Err(lost(why).into());
            }
            match answer {
                Answer::Taken => Ok(Made::All),
                Answer::Failed(why) => Err(lost(why).into()),
                Answer::Refused(why) => match apply(&host, &json!([]), &[])? {
                    Answer::Taken => {
                        Err(Refused { why: format!("config apply-patch: {why}") }.into())
                    }
                    Answer::Refused(of) | Answer::Failed(of) => {
                        let why =
                            format!("{why}; but a patch of nothing is not taken either: {of}");
                        Err(lost(why).into())
                    }
                },
            }
        })
    }
}

fn lost(why: String) -> Lost {
    Lost { tried: "set it by config apply-patch".to_owned(), why }
}

/// The first field that is not as it is `wanted`, and what it is.
pub(super) fn other(
    link: &mut Link,
    writes: &[Write],
    wanted: impl Fn(&Write) -> &Option<String>,
) -> Result<Option<(usize, Option<String>)>, Lost> {
    let asked: Vec<_> =
        writes.iter().map(|write| (write.key.clone(), vec![write.field.clone()])).collect();
    let found = link.fields(Db::Config, &asked)?.into_iter().map(|mut row| row.pop().flatten());
    let mut each = found.zip(writes).enumerate();
    Ok(each.find(|(_, (is, write))| is != wanted(write)).map(|(at, (is, _))| (at, is)))
}

/// A JSON patch (RFC 6902) that makes these changes: a row that is not there is added with all of its fields.
fn operations(tables: &Tables, writes: &[Write]) -> Json {
    let mut all = Vec::new();
    let mut rows: BTreeMap<String, Map<String, Json>> = BTreeMap::new();
    for Write { key, field, to, .. } in writes {
        let Some((table, row)) = key.split_once('|') else { continue };
        let path = format!("/{}/{}", pointed(table), pointed(row));
        let is_there = tables.table(table).any(|(own, _)| own == row);
        let at = format!("{path}/{}", pointed(field));
        match to {
            Some(to) if is_there => all.push(json!({"op": "add", "path": at, "value": to})),
            Some(to) => drop(rows.entry(path).or_default().insert(field.clone(), json!(to))),
            None => all.push(json!({"op": "remove", "path": at})),
        }
    }
    let rows = rows.into_iter();
    all.extend(rows.map(|(path, row)| json!({"op": "add", "path": path, "value": row})));
    Json::Array(all)
}

/// A name as a pointer has it (RFC 6901).
fn pointed(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Has the switch apply a patch.
fn apply(host: &str, asked: &Json, writes: &[Write]) -> Result<Answer, Lost> {
    let ended = run(host, SESSION, &asked.to_string()).map_err(lost)?;
    Ok(answer(&ended, writes))
}

/// What a patch has come to by how its command has ended.
fn answer(ended: &Ended, writes: &[Write]) -> Answer {
    if ended.is_done() {
        return Answer::Taken;
    }
    let model = MODEL.iter().find_map(|word| ended.text.rsplit_once(word));
    let Some((_, reason)) = model else { return Answer::Failed(ended.failed(writes)) };
    let mut lines = reason.lines().map(|line| line.trim_matches([' ', ':']));
    let line = lines.find(|line| !line.is_empty());
    let why =
        line.map_or_else(|| "its model does not say why".to_owned(), |line| hidden(line, writes));
    Answer::Refused(why)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(to: &str) -> Vec<Write> {
        let (key, field) = ("PFC_WD|Ethernet0".to_owned(), "detection_time".to_owned());
        vec![Write { key, field, from: Some("400".to_owned()), to: Some(to.to_owned()) }]
    }

    fn said_of(text: &str) -> Option<Answer> {
        let ended = Ended::of(&format!("banner\nrig-there\n{text}\n"))?;
        Some(answer(&ended, &write("99")))
    }

    #[test]
    fn a_model_that_refuses_is_told_from_whatever_else_ends_the_command_and_no_secret_is_passed_on()
    {
        let refused = |why: &str| Some(Answer::Refused(why.to_owned()));
        let least = "detection_time must be greater than or equal to POLL_INTERVAL";
        // Of 2024, of 2026, and of 2021, which does not say why.
        let scopes = "Error: Failed to apply patch on the following scopes:\n- localhost: Given patch will produce invalid config. Error: \
                      Data Loading Failed\n";
        assert_eq!(said_of(&format!("{scopes}{least}\nrig-end 2")), refused(least));
        let range = "Value \"99\" does not satisfy the constraint \"100..5000\" (range, length, or pattern).";
        let whole = format!(
            "Error: Validate json patch: [] failed due to:Data Loading Failed:{range}\nrig-end 2"
        );
        assert_eq!(said_of(&whole), refused(range));
        let old = "Error: Given patch is not valid because it will result in an invalid config\nrig-end 2";
        assert_eq!(said_of(old), refused("its model does not say why"));
        assert_eq!(said_of("Patch applied successfully.\nrig-end 0"), Some(Answer::Taken));
        let illegal = "- localhost: Modification of PFC_WD table is illegal- validating function of `x` returned False\nrig-end 2";
        let Some(Answer::Failed(why)) = said_of(illegal) else { panic!("no word of a model") };
        assert!(why.starts_with("it ends with 2: - localhost: Modification of PFC_WD"), "{why}");
        let Some(Answer::Failed(why)) = said_of("sudo: a password is required\nrig-end 1") else {
            panic!("no word of a model")
        };
        assert_eq!(why, "it ends with 1: sudo: a password is required");
        for code in ["124", "137"] {
            let long =
                format!("Patch Applier: localhost: Patch application starting.\nrig-end {code}");
            let Some(Answer::Failed(why)) = said_of(&long) else { panic!("no word of a model") };
            assert!(why.starts_with("it was not done after 110 s and was ended"), "{why}");
        }
        assert_eq!(said_of("Patch Applier: localhost: Patch"), None, "it was cut off");
        let told = said_of(
            "Data Loading Failed\nInvalid value \"hunter2\" in \"cak\" element.\nrig-end 2",
        );
        assert_eq!(told, refused("Invalid value \"*\" in \"*\" element."));
    }

    #[test]
    fn a_patch_adds_to_rows_that_are_there_and_adds_rows_that_are_not() {
        let tables = || {
            let file = tempfile::NamedTempFile::new().expect("a file");
            let text = r#"{"PORT": {"Ethernet0": {"speed": "100000"}}, "PFC_WD": {"Ethernet0": {"detection_time": "400"}}}"#;
            std::fs::write(file.path(), text).expect("writable");
            crate::sonic::read(file.path(), None).expect("it reads")
        };
        let of = |key: &str, field: &str, to: Option<&str>| Write {
            key: key.to_owned(),
            field: field.to_owned(),
            from: None,
            to: to.map(str::to_owned),
        };
        let all = [
            of("PFC_WD|Ethernet0", "detection_time", Some("390")),
            of("PFC_WD|GLOBAL", "POLL_INTERVAL", Some("200")),
            of("BUFFER_PG|Ethernet1/1|3-4", "pro~file", None),
        ];
        let want = json!([
            {"op": "add", "path": "/PFC_WD/Ethernet0/detection_time", "value": "390"},
            {"op": "remove", "path": "/BUFFER_PG/Ethernet1~11|3-4/pro~0file"},
            {"op": "add", "path": "/PFC_WD/GLOBAL", "value": {"POLL_INTERVAL": "200"}}
        ]);
        assert_eq!(operations(&tables(), &all), want);
    }
}
