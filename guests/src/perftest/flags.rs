//! What the flags of a program say of its messages. The two ends of a program of latency do not tell each other: each goes by its own.

use super::Opening;

/// The messages of a program of latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Messages {
    /// Bytes of each.
    pub size: u32,
    /// How many there are.
    pub count: u64,
    /// The path MTU as verbs number it.
    pub mtu: u8,
}

/// Sizes and numbers that perftest takes, and says so where it is given others.
const SIZES: (u32, u32) = (1, 2_147_483_647);
const COUNTS: (u64, u64) = (5, 100_000_000);
/// What an atomic is on, and perftest lets nobody change.
const WORD: u32 = 8;
/// What perftest has by itself in its programs of latency; and the path MTU of a NIC whose interface has 1500 B.
const USUAL: Messages = Messages { size: 2, count: 1_000, mtu: 3 };
/// Flags of what is not one number of messages of one size: all sizes, and for so long.
const OTHER: [[&str; 2]; 2] = [["-a", "--all"], ["-D", "--duration"]];
/// Flags whose place is the rig's: device, its port, GID and TCP port.
const RESERVED: [[&str; 2]; 4] =
    [["-d", "--ib-dev"], ["-i", "--ib-port"], ["-x", "--gid-index"], ["-p", "--port"]];

/// The first of these flags that is the rig's to give.
pub fn reserved(flags: &[String]) -> Option<&String> {
    first_of(flags, &RESERVED)
}

/// What a program of latency sends by these flags, whose messages are `words` or have a size.
///
/// # Errors
/// They say something that perftest or its peer does not take: no number, one out of its range, more than one size or queue pair, a time. By the flag's name.
pub fn messages(flags: &[String], words: bool) -> Result<Messages, String> {
    if let Some(other) = first_of(flags, &OTHER) {
        return Err(format!("{other}: want -n and -s, as its peer has to know its messages"));
    }
    let within = |name: &str, value: u64, (low, high): (u64, u64)| match value {
        value if (low..=high).contains(&value) => Ok(value),
        value => Err(format!("{name}: want {low} to {high}, got {value}")),
    };
    let count = number(flags, ["-n", "--iters"])?.unwrap_or(USUAL.count);
    let count = within("-n", count, COUNTS)?;
    let size = number(flags, ["-s", "--size"])?;
    if let Some(size) = size.filter(|_| words) {
        return Err(format!("-s: want none, as an atomic is on {WORD} B, got {size}"));
    }
    let usual = if words { WORD } else { USUAL.size };
    let size = within("-s", size.unwrap_or(usual.into()), (SIZES.0.into(), SIZES.1.into()))?;
    if let Some(more) = number(flags, ["-q", "--qp"])?.filter(|count| *count != 1) {
        return Err(format!("-q: want 1, as there is one queue pair, got {more}"));
    }
    let mtu = match number(flags, ["-m", "--mtu"])? {
        None => USUAL.mtu,
        Some(bytes) => Opening::mtu_numbered(bytes)
            .ok_or_else(|| format!("-m: want 256, 512, 1024, 2048 or 4096, got {bytes}"))?,
    };
    Ok(Messages { size: u32::try_from(size).unwrap_or(SIZES.1), count, mtu })
}

/// The first word that is one of these flags, with what stands behind it or without.
fn first_of<'a>(flags: &'a [String], names: &[[&str; 2]]) -> Option<&'a String> {
    let is = |word: &String, [short, long]: &[&str; 2]| {
        let long_one = word.split('=').next() == Some(long);
        long_one || word.starts_with(short) && !word.starts_with("--")
    };
    flags.iter().find(|word| names.iter().any(|name| is(word, name)))
}

/// The number behind the last of a flag, in a word of its own or in the same one.
fn number(flags: &[String], [short, long]: [&str; 2]) -> Result<Option<u64>, String> {
    let mut last = None;
    for (at, flag) in flags.iter().enumerate() {
        let behind = if flag == short || flag == long {
            flags.get(at + 1).map_or("", String::as_str)
        } else if let Some(text) = flag.strip_prefix(long).and_then(|text| text.strip_prefix('=')) {
            text
        } else if let Some(text) = flag.strip_prefix(short) {
            text
        } else {
            continue;
        };
        last = Some(behind.parse().map_err(|_| format!("{short}: want a number, got `{behind}`"))?);
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(flags: &str) -> Vec<String> {
        flags.split_whitespace().map(str::to_owned).collect()
    }

    fn of(flags: &str) -> Result<(u32, u64, u8), String> {
        messages(&words(flags), false).map(|all| (all.size, all.count, all.mtu))
    }

    #[test]
    fn size_and_number_stand_behind_their_flags_or_are_what_perftest_has() {
        assert_eq!(of(""), Ok((2, 1_000, 3)));
        assert_eq!(of("-n 40 -s 1500 -m 256"), Ok((1_500, 40, 1)));
        assert_eq!(of("-n40 --size=8 -s 9 --iters 7 -q 1 --mtu=4096"), Ok((9, 7, 5)));
        assert_eq!(of("-n 5 -s 2147483647"), Ok((2_147_483_647, 5, 3)));
        let atomics = messages(&words("-n 5"), true);
        assert_eq!(atomics, Ok(Messages { size: 8, count: 5, mtu: 3 }));
    }

    #[test]
    fn what_is_no_such_number_is_refused_by_its_flag() {
        let refused = |flags: &str, want: &str| {
            assert_eq!(of(flags), Err(want.to_owned()), "{flags}");
        };
        refused("-s x", "-s: want a number, got `x`");
        refused("-n", "-n: want a number, got ``");
        refused("-s 0", "-s: want 1 to 2147483647, got 0");
        refused("-s 2147483648", "-s: want 1 to 2147483647, got 2147483648");
        refused("-n 4", "-n: want 5 to 100000000, got 4");
        refused("--iters=100000001", "-n: want 5 to 100000000, got 100000001");
        refused("-q 2", "-q: want 1, as there is one queue pair, got 2");
        refused("-m 100", "-m: want 256, 512, 1024, 2048 or 4096, got 100");
        refused("-a -n 5", "-a: want -n and -s, as its peer has to know its messages");
        refused(
            "-n 5 --duration=3",
            "--duration=3: want -n and -s, as its peer has to know its messages",
        );
        assert_eq!(
            messages(&words("-s 16"), true),
            Err("-s: want none, as an atomic is on 8 B, got 16".to_owned())
        );
    }

    #[test]
    fn device_port_and_gid_are_the_rigs_to_give() {
        for flag in ["-d mlx5_0", "-x 3", "-x3", "--gid-index=3", "--port 5", "-p 7", "-i 2"] {
            let flags = words(&format!("-n 5 {flag}"));
            assert_eq!(reserved(&flags), Some(&flags[2]), "{flag}");
        }
        assert_eq!(reserved(&words("-n 5 -s 16 --iters 7 --perform_warm_up")), None);
    }
}
