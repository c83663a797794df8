//! Names of ports and keys made of them: `Ethernet0,Ethernet4|3-4`, and `switch-1|asic0|Ethernet0|3` of virtual output queues.

/// The most that a range of queues or groups may span: what is longer is no such range.
const MOST: u8 = 63;

/// Whether it is the name of a front-panel port; those between chips (`Ethernet-BP0`, `Ethernet-Rec0`) are not.
pub(super) fn is_port(name: &str) -> bool {
    name.strip_prefix("Ethernet").is_some_and(|number| {
        (1..=5).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// The number in the name, by which ports are in order.
pub(super) fn number(name: &str) -> u32 {
    name.strip_prefix("Ethernet").and_then(|number| number.parse().ok()).unwrap_or(u32::MAX)
}

/// Which numbers a text such as `3`, `3-4` or `0,3-4` names. `None` where it names none.
pub(super) fn numbers(text: &str) -> Option<Vec<u8>> {
    let mut all = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let (from, to): (u8, u8) = (from.parse().ok()?, to.parse().ok()?);
        if from > to || to > MOST {
            return None;
        }
        all.extend(from..=to);
    }
    Some(all)
}

/// Whether a key of a table of queues or groups is of this one. `chip` is what the keys of virtual output queues begin with.
pub(super) fn names(key: &str, chip: (&str, &str), port: &str, index: u8) -> bool {
    let Some((ports, indices)) = parts(key, chip) else { return false };
    ports.split(',').any(|one| one == port)
        && numbers(indices).is_some_and(|all| all.contains(&index))
}

/// The ports and the numbers of a key of such a table, where it is of this chip.
pub(super) fn parts<'k>(key: &'k str, chip: (&str, &str)) -> Option<(&'k str, &'k str)> {
    let parts: Vec<&str> = key.split('|').collect();
    match parts[..] {
        [ports, indices] => Some((ports, indices)),
        [host, asic, ports, indices] if is_own(host, chip.0) && is_own(asic, chip.1) => {
            Some((ports, indices))
        }
        _ => None,
    }
}

/// Where a file does not say what it is called, everything in it is of this chip.
fn is_own(word: &str, own: &str) -> bool {
    own.is_empty() || word.eq_ignore_ascii_case(own)
}

/// The name in a reference: plain, or `[TABLE|name]` as images before 2021 write it.
pub(super) fn referred(text: &str) -> &str {
    let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    inner.and_then(|inner| inner.split_once('|')).map_or(text, |(_, name)| name)
}
