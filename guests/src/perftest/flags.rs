//! What the flags of a program say of its messages. The two ends of a program do not tell each other: each goes by its own.

use super::Opening;
use super::words::{Flag, taken_apart};

/// The messages of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Messages {
    /// Bytes of each.
    pub size: u32,
    /// How many each queue pair has.
    pub count: u64,
    /// The path MTU as verbs number it.
    pub mtu: u8,
    /// Queue pairs.
    pub pairs: u16,
    /// How many of a queue pair wait for their answers at a time.
    pub at_once: u64,
}

/// Which kind of program it is: what it has by itself, and may be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Of {
    /// Whether its messages are atomics, which have one size.
    pub words: bool,
    /// Of one of bandwidth: the number of messages that it has by itself. Those of latency have one queue pair, and one message at a time.
    pub bandwidth: Option<u64>,
}

/// Sizes and numbers that perftest takes, and says so where it is given others.
const SIZES: (u32, u32) = (1, 2_147_483_647);
const COUNT: [&str; 2] = ["-n", "--iters"];
const COUNTS: (u64, u64) = (5, 100_000_000);
const DEPTHS: (u64, u64) = (1, 15_000);
/// What an atomic is on, and perftest lets nobody change.
const WORD: u32 = 8;
/// What perftest has by itself in its programs of latency; and the path MTU of a NIC whose interface has 1500 B.
const USUAL: Messages = Messages { size: 2, count: 1_000, mtu: 3, pairs: 1, at_once: 1 };
/// The same of bandwidth: bytes, and messages at a time.
const USUAL_SIZE: u32 = 65_536;
const USUAL_AT_ONCE: u64 = 128;
/// Queue pairs that the rig has for one program.
const PAIRS: u64 = 16;
/// Flags of what is not one number of messages of one size: all sizes, for so long, and without end.
const OTHER: [[&str; 2]; 3] =
    [["-a", "--all"], ["-D", "--duration"], ["--run_infinitely", "--run_infinitely"]];
/// The flag of messages both ways at once, which the rig as the client does not ask for.
const BOTH_WAYS: [[&str; 2]; 1] = [["-b", "--bidirectional"]];
/// Flags of connections that rdma_cm makes: whichever end the rig is, it is met over TCP.
const BY_CM: [[&str; 2]; 2] = [["-R", "--rdma_cm"], ["-z", "--comm_rdma_cm"]];
/// The flag of the kind of connection, and the one that the rig has.
const KIND: [&str; 2] = ["-c", "--connection"];
const RELIABLE: &str = "RC";
/// The flag of which atomic it is, and the one that the rig asks for.
const ATOMIC: [&str; 2] = ["-A", "--atomic_type"];
const ADDS: &str = "FETCH_AND_ADD";
/// Flags whose place is the rig's: device, its port, GID and TCP port.
const RESERVED: [[&str; 2]; 4] =
    [["-d", "--ib-dev"], ["-i", "--ib-port"], ["-x", "--gid-index"], ["-p", "--port"]];

/// The first word of these that holds a flag which is the rig's to give.
pub fn reserved(words: &[String]) -> Option<&String> {
    first_of(&taken_apart(words).0, &RESERVED)
}

/// The first word of these that is no flag and no value of one: a program takes it for the host of the other end, which is the rig's to
/// give.
pub fn no_flag(words: &[String]) -> Option<&String> {
    taken_apart(words).1
}

/// Whether a program that is given these words tells rates in Gb/s, not in MiB/s.
pub(crate) fn in_gigabits(words: &[String]) -> bool {
    first_of(&taken_apart(words).0, &[["--report_gbits", "--report_gbits"]]).is_some()
}

/// Whether the rig is a peer of a program with these flags, at whichever end.
///
/// # Errors
/// The two would meet otherwise, or over another kind of connection, or perftest refuses its number of messages. By the flag's name.
pub fn peered(words: &[String]) -> Result<(), String> {
    let (flags, _) = taken_apart(words);
    is_met(&flags)?;
    let count = number(&flags, COUNT)?;
    if let Some(count) = count.filter(|count| !(COUNTS.0..=COUNTS.1).contains(count)) {
        return Err(format!("-n: want {} to {}, got {count}", COUNTS.0, COUNTS.1));
    }
    Ok(())
}

/// Whether the rig is met by the way and the kind of connection that it has.
fn is_met(flags: &[Flag<'_>]) -> Result<(), String> {
    if let Some(other) = first_of(flags, &BY_CM) {
        return Err(format!("{other}: want none, as the rig is met over TCP"));
    }
    match behind(flags, KIND).filter(|said| *said != RELIABLE) {
        Some(other) => Err(format!(
            "{}: want {RELIABLE}, as the rig has reliable connections alone, got `{other}`",
            KIND[0]
        )),
        None => Ok(()),
    }
}

/// What a program sends by these flags.
///
/// # Errors
/// They say something that perftest or its peer does not take: no number, one out of its range, more than one size, a time, both ways. By the flag's name.
pub fn messages(words: &[String], of: Of) -> Result<Messages, String> {
    let (flags, _) = taken_apart(words);
    let flags = flags.as_slice();
    let Of { words, bandwidth } = of;
    is_met(flags)?;
    if let Some(other) = first_of(flags, &OTHER) {
        return Err(format!("{other}: want -n and -s, as its peer has to know its messages"));
    }
    if let Some(other) = first_of(flags, &BOTH_WAYS) {
        return Err(format!("{other}: want none, as the rig asks by itself alone"));
    }
    if let Some(other) = behind(flags, ATOMIC).filter(|said| *said != ADDS) {
        return Err(format!("{}: want {ADDS}, got `{other}`", ATOMIC[0]));
    }
    let within = |name: &str, value: u64, (low, high): (u64, u64)| match value {
        value if (low..=high).contains(&value) => Ok(value),
        value => Err(format!("{name}: want {low} to {high}, got {value}")),
    };
    let count = number(flags, COUNT)?.unwrap_or(bandwidth.unwrap_or(USUAL.count));
    let count = within("-n", count, COUNTS)?;
    let size = number(flags, ["-s", "--size"])?;
    if let Some(size) = size.filter(|_| words) {
        return Err(format!("-s: want none, as an atomic is on {WORD} B, got {size}"));
    }
    let usual = match bandwidth {
        _ if words => WORD,
        Some(_) => USUAL_SIZE,
        None => USUAL.size,
    };
    let size = within("-s", size.unwrap_or(usual.into()), (SIZES.0.into(), SIZES.1.into()))?;
    let pairs = number(flags, ["-q", "--qp"])?.unwrap_or(1);
    let pairs = match bandwidth {
        None if pairs != 1 => {
            return Err(format!("-q: want 1, as there is one queue pair, got {pairs}"));
        }
        _ => within("-q", pairs, (1, PAIRS))?,
    };
    let at_once = match bandwidth {
        None => USUAL.at_once,
        Some(_) => {
            let told = number(flags, ["-t", "--tx-depth"])?.unwrap_or(USUAL_AT_ONCE);
            within("-t", told, DEPTHS)?
        }
    };
    let mtu = match number(flags, ["-m", "--mtu"])? {
        None => USUAL.mtu,
        Some(bytes) => Opening::mtu_numbered(bytes)
            .ok_or_else(|| format!("-m: want 256, 512, 1024, 2048 or 4096, got {bytes}"))?,
    };
    let size = u32::try_from(size).unwrap_or(SIZES.1);
    Ok(Messages { size, count, mtu, pairs: u16::try_from(pairs).unwrap_or(1), at_once })
}

/// The first word with one of these flags, with what stands behind it or without.
fn first_of<'a>(flags: &[Flag<'a>], names: &[[&str; 2]]) -> Option<&'a String> {
    flags.iter().find(|flag| names.iter().any(|name| flag.is(*name))).map(|flag| flag.word)
}

/// The number behind the last of a flag.
fn number(flags: &[Flag<'_>], names: [&str; 2]) -> Result<Option<u64>, String> {
    let told = behind(flags, names)
        .map(|told| told.parse().map_err(|_| format!("{}: want a number, got `{told}`", names[0])));
    told.transpose()
}

/// What stands behind the last of a flag.
fn behind<'a>(flags: &[Flag<'a>], names: [&str; 2]) -> Option<&'a str> {
    flags.iter().rfind(|flag| flag.is(names)).map(|flag| flag.value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(flags: &str) -> Vec<String> {
        flags.split_whitespace().map(str::to_owned).collect()
    }

    fn of(flags: &str) -> Result<(u32, u64, u8), String> {
        messages(&words(flags), LATENCY).map(|all| (all.size, all.count, all.mtu))
    }

    const LATENCY: Of = Of { words: false, bandwidth: None };

    #[test]
    fn size_and_number_stand_behind_their_flags_or_are_what_perftest_has() {
        assert_eq!(of(""), Ok((2, 1_000, 3)));
        assert_eq!(of("-n 40 -s 1500 -m 256"), Ok((1_500, 40, 1)));
        assert_eq!(of("-n40 --size=8 -s 9 --iters 7 -q 1 --mtu=4096"), Ok((9, 7, 5)));
        assert_eq!(of("-n 5 -s 2147483647"), Ok((2_147_483_647, 5, 3)));
        let atomics = messages(&words("-n 5"), Of { words: true, ..LATENCY });
        assert_eq!(atomics, Ok(Messages { size: 8, count: 5, ..USUAL }));
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
        refused("-Fa", "-Fa: want -n and -s, as its peer has to know its messages");
        refused(
            "-n 5 --duration=3",
            "--duration=3: want -n and -s, as its peer has to know its messages",
        );
        assert_eq!(
            messages(&words("-s 16"), Of { words: true, ..LATENCY }),
            Err("-s: want none, as an atomic is on 8 B, got 16".to_owned())
        );
    }

    #[test]
    fn programs_of_bandwidth_have_queue_pairs_and_messages_at_once_and_go_one_way() {
        let of = |flags: &str| {
            let all = messages(&words(flags), Of { bandwidth: Some(5_000), ..LATENCY });
            all.map(|all| (all.size, all.count, all.pairs, all.at_once))
        };
        assert_eq!(of(""), Ok((65_536, 5_000, 1, 128)));
        assert_eq!(
            of("-n 40 -s 8 -q 16 -t 3 -c RC --atomic_type=FETCH_AND_ADD"),
            Ok((8, 40, 16, 3))
        );
        let refused = |flags: &str, want: &str| assert_eq!(of(flags), Err(want.to_owned()));
        for flag in ["-b", "--bidirectional", "--bidir", "-Fb"] {
            let alone = format!("{flag}: want none, as the rig asks by itself alone");
            refused(&format!("-n 5 {flag}"), &alone);
        }
        refused("-q 17", "-q: want 1 to 16, got 17");
        refused("-q 0", "-q: want 1 to 16, got 0");
        refused("-t 0", "-t: want 1 to 15000, got 0");
        refused("-A CMP_AND_SWAP", "-A: want FETCH_AND_ADD, got `CMP_AND_SWAP`");
        refused("-D 3", "-D: want -n and -s, as its peer has to know its messages");
        refused(
            "--run_infinitely",
            "--run_infinitely: want -n and -s, as its peer has to know its messages",
        );
    }

    #[test]
    fn whichever_end_the_rig_is_it_is_met_over_tcp_by_reliable_connections() {
        let of = |flags: &str| peered(&words(flags));
        assert_eq!(of("-n 5 -c RC -a -D 3 -b"), Ok(()));
        let refused = |flags: &str, want: &str| {
            assert_eq!(of(flags), Err(want.to_owned()), "{flags}");
        };
        for flag in ["-R", "-z", "--comm_rdma_cm", "-FR"] {
            let tcp = format!("{flag}: want none, as the rig is met over TCP");
            refused(&format!("-n 5 {flag}"), &tcp);
        }
        let kind = |got: &str| {
            format!("-c: want RC, as the rig has reliable connections alone, got `{got}`")
        };
        refused("-n 40 -c UC", &kind("UC"));
        refused("--connection=UD", &kind("UD"));
        refused("-n 3", "-n: want 5 to 100000000, got 3");
        // And where it has to know its messages.
        let known = messages(&words("-cUD"), Of { bandwidth: Some(5_000), ..LATENCY });
        assert_eq!(known, Err(kind("UD")));
    }

    #[test]
    fn device_port_and_gid_are_the_rigs_to_give() {
        for flag in [
            "-Fd mlx5_0",
            "--gid 3",
            "-d mlx5_0",
            "-x 3",
            "-x3",
            "--gid-index=3",
            "--port 5",
            "-p 7",
            "-i 2",
        ] {
            let flags = words(&format!("-n 5 {flag}"));
            assert_eq!(reserved(&flags), Some(&flags[2]), "{flag}");
        }
        assert_eq!(reserved(&words("-n 5 -s 16 --iters 7 --perform_warm_up")), None);
    }
}
