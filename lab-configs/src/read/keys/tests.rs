//! What is said of mistakes around the keys of a lab, none of which shows a key.

use crate::read::lab_from;
use crate::yaml::Source;
use crate::{Lab, bundled};
use insta::assert_snapshot;

const KEYS: [&str; 4] = [
    "60161dc10c25d96c7efe8c6f9c165099",
    "b300ecbefaa1607805126063576becb6",
    "507E713722D93E5E0D80CF84802E9BFC",
    "467ca97ae79f65e154493907ec1cd922",
];
const SALT: &str = "ff87a996cfec565df90a7db8";

/// A lab with `block` where its keys belong.
fn lab(block: &str) -> String {
    format!("about: a lab\ntransport: virtual\ncable: 3m\n{block}\nduts: [broadcom.yaml]\n")
}

/// The block as it should be.
fn block() -> String {
    let keys: String = KEYS.iter().map(|key| format!("    - \"{key}\"\n")).collect();
    format!("macsec:\n  keys:\n{keys}  salt: \"{SALT}\"")
}

fn read(text: &str) -> Result<Lab, String> {
    let dut =
        |_: &str| Ok(Source::new("broadcom.yaml", include_str!("../../../duts/broadcom.yaml")));
    lab_from(&Source::new("lab.yaml", text), &dut)
        .map_err(|faults| faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"))
}

/// What is said of a lab with `block` for its keys.
fn said(block: &str) -> String {
    read(&lab(block)).err().unwrap_or_else(|| panic!("no fault in {block}"))
}

/// What is said of the block with `from` as `to`.
fn changed(from: &str, to: &str) -> String {
    let block = block();
    assert!(block.contains(from), "{from}");
    said(&block.replacen(from, to, 1))
}

#[test]
fn what_stands_in_the_place_of_keys_is_named_by_its_kind() {
    let [first, ..] = KEYS;
    let all = [
        said(&format!("macsec: \"{first}\"")),
        said("macsec: [1]"),
        changed(&format!("\"{first}\""), &format!("{{sak: \"{first}\"}}")),
        changed(&format!("\"{first}\""), "12345678901234567890123456789012"),
        changed(&format!("\"{SALT}\""), &format!("[\"{SALT}\"]")),
        said(&format!("macsec:\n  keys: \"{first}\"\n  salt: \"{SALT}\"")),
        said(&format!("macsec:\n  keys: {{0: \"{first}\"}}\n  salt: {SALT}")),
    ];
    assert_snapshot!(all.join("\n\n"));
}

#[test]
fn no_mistake_shows_a_key() {
    let [first, second, ..] = KEYS;
    let quoted = &format!("\"{first}\"");
    let spaced = |apart: &str| {
        let pairs: Vec<&str> = (0..32).step_by(2).map(|at| &first[at..at + 2]).collect();
        format!("\"{}\"", pairs.join(apart))
    };
    let mut all = vec![
        said(&format!("macsec:\n  {first}: 1\n  {second}: 2")),
        said(&format!("macsec:\n  {first}: 1\n  {first}: 2")),
        said(&format!("{first}: 1\nk{second}: 2")),
        said(&format!("macsec: \"{first}\"")),
        said(&format!("macsec: |\n  {first}")),
        said(&format!("macsec: {{keys: [\"{first}\", \"{second}\"], salt: \"{SALT}\"")),
        said(&format!("macsec: {{keys: [\"{first}\", \"{second}\"], slat: \"{SALT}\"}}")),
        changed(quoted, &format!("\"{first}")),
        changed(quoted, &format!("&a \"{first}0\"")),
        changed(quoted, &format!("{{{first}: 1}}")),
        changed(quoted, &format!("*{first}")),
        changed("macsec:\n", &format!("kable: 3m # {first}\nmacsec:\n")),
        changed("  salt:", "\tsalt:"),
        changed("macsec:\n", &format!("macsec: # {first}\n  sak: {second}\n")),
        read(&lab(&block()).replace("virtual", first)).unwrap_err(),
        read(&lab(&block()).replace("transport: virtual", &format!("adapter: {first}")))
            .unwrap_err(),
        read(&lab(&block()).replace("3m", first)).unwrap_err(),
    ];
    // Under another name, and in other forms.
    for name in ["macsek:", "MACsec :", "'macsec':", "security:"] {
        for apart in ["", " ", ":", "-", "."] {
            let block = block().replace("macsec:", name).replace(quoted, &spaced(apart));
            all.extend(read(&lab(&block)).err());
            all.push(said(&block.replace("  salt", " salt")));
        }
        let lines =
            format!("\"{}\n      {}\n      {}\"", &first[..11], &first[11..22], &first[22..]);
        let block = block().replace("macsec:", name).replace(quoted, &lines);
        all.extend(read(&lab(&block)).err());
    }
    for said in all {
        let digits: String =
            said.to_lowercase().chars().filter(char::is_ascii_alphanumeric).collect();
        for key in KEYS.iter().chain([&SALT]) {
            let key = key.to_lowercase();
            let shown = (0..=key.len() - 11).find(|&at| digits.contains(&key[at..at + 11]));
            assert_eq!(shown, None, "{said}");
        }
    }
}

#[test]
fn keys_are_read_however_they_are_written() {
    let flow = format!("macsec: {{keys: [{}], salt: {SALT}}}", KEYS.join(", "));
    let read = |block: &str| read(&lab(block)).unwrap_or_else(|said| panic!("{said}")).keys;
    assert_eq!(read(&flow), read(&block()));
    assert_eq!(
        read(
            &flow.to_uppercase().replace("MACSEC: {KEYS", "macsec: {keys").replace("SALT", "salt")
        ),
        read(&block())
    );
}

#[test]
fn the_bundled_lab_has_keys_of_the_longest_kind() {
    let lab =
        lab_from(&bundled::lab(), &bundled::dut).unwrap_or_else(|faults| panic!("{}", faults[0]));
    assert_eq!(lab.keys.map(|keys| keys.key_len()), Some(32));
}
