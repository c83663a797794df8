//! The words behind a program's name as it takes them apart itself (`getopt_long`): letters stand together in one word, a value stands
//! behind its letter or in the next word, and the long name of a flag may be cut short.

use core::slice::Iter;

/// Letters that have a value, in perftest 4.5.
const LETTERS: &str = "ABDEIJKLMQSTWXYcdfijklmnopqrstuwxy";
/// Long names of flags that have one, which may stand in a word of its own.
const LONG: [&str; 70] = [
    "aes_block_size",
    "atomic_type",
    "burst_size",
    "connection",
    "cq-mod",
    "credentials_path",
    "data_enc_key_app_path",
    "data_enc_keys_number",
    "dest_ip",
    "dest_mac",
    "dest_port",
    "dlid",
    "duration",
    "ethertype",
    "flow_label",
    "flows",
    "flows_burst",
    "force-link",
    "gid-index",
    "hop_limit",
    "ib-dev",
    "ib-port",
    "inline_recv",
    "inline_size",
    "iters",
    "kek_path",
    "latency_gap",
    "limit_bw",
    "limit_msgrate",
    "local_ip",
    "local_mac",
    "local_port",
    "log_active_dci_streams",
    "log_dci_streams",
    "margin",
    "MGID",
    "mmap",
    "mmap-offset",
    "mtu",
    "out_json_file",
    "output",
    "outs",
    "pkey_index",
    "port",
    "post_list",
    "qp",
    "qp-timeout",
    "rate_limit",
    "rate_limit_type",
    "rate_units",
    "recv_post_list",
    "remote_ip",
    "remote_mac",
    "remote_port",
    "reply_every",
    "report-counters",
    "retry_count",
    "rx-depth",
    "size",
    "sl",
    "source_ip",
    "source_mac",
    "source_port",
    "tclass",
    "tos",
    "tx-depth",
    "typical_pkt_size",
    "vector",
    "vlan_pcp",
    "wait_destroy",
];
/// The one name without a value that another begins with.
const JSON: &str = "out_json";

/// One flag of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Flag<'a> {
    /// The word that it stands in.
    pub word: &'a String,
    /// Its value; what lacks is an empty one.
    pub value: &'a str,
    name: Name<'a>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Name<'a> {
    Letter(char),
    Long(&'a str),
}

impl Flag<'_> {
    /// Whether it is the flag of this letter and this long name, both with their dashes.
    pub(super) fn is(&self, [short, long]: [&str; 2]) -> bool {
        match self.name {
            Name::Letter(letter) => {
                short.strip_prefix('-').is_some_and(|own| own.eq(letter.encode_utf8(&mut [0; 4])))
            }
            // A name that fits several flags is refused by the program itself.
            Name::Long(name) => long.strip_prefix("--").is_some_and(|own| own.starts_with(name)),
        }
    }
}

/// The flags of these words, and the first word that is neither one nor the value of one: a host.
pub(super) fn taken_apart(words: &[String]) -> (Vec<Flag<'_>>, Option<&String>) {
    let (mut flags, mut host) = (Vec::new(), None);
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        if word == "--" {
            // What stands behind it is no flag, whatever it looks like.
            host = host.or(rest.next());
            break;
        } else if word == "-" || !word.starts_with('-') {
            host = host.or(Some(word));
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, behind) = match long.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (long, None),
            };
            let valued = name != JSON && LONG.iter().any(|own| own.starts_with(name));
            let next = || valued.then(|| rest.next()).flatten().map(String::as_str);
            let value = behind.or_else(next).unwrap_or_default();
            flags.push(Flag { word, value, name: Name::Long(name) });
        } else {
            letters(word, &mut rest, &mut flags);
        }
    }
    (flags, host)
}

/// The flags of a word of letters, the last of which may have its value in the rest of the word or in the next one.
fn letters<'a>(word: &'a String, rest: &mut Iter<'a, String>, flags: &mut Vec<Flag<'a>>) {
    for (at, letter) in word.char_indices().skip(1) {
        let valued = LETTERS.contains(letter);
        let value = match &word[at + letter.len_utf8()..] {
            _ if !valued => "",
            "" => rest.next().map_or("", String::as_str),
            behind => behind,
        };
        flags.push(Flag { word, value, name: Name::Letter(letter) });
        if valued {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> (Vec<(String, String)>, Option<String>) {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let (flags, host) = taken_apart(&words);
        let name = |flag: &Flag| match flag.name {
            Name::Letter(letter) => letter.to_string(),
            Name::Long(name) => name.to_owned(),
        };
        let flags = flags.iter().map(|flag| (name(flag), flag.value.to_owned())).collect();
        (flags, host.cloned())
    }

    fn flags(want: &[(&str, &str)]) -> Vec<(String, String)> {
        want.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn letters_stand_together_up_to_one_with_a_value() {
        let want = flags(&[("F", ""), ("a", ""), ("n", "40"), ("s", "8"), ("e", "")]);
        assert_eq!(read("-Fan40 -s 8 -e"), (want, None));
        assert_eq!(read("-Fs"), (flags(&[("F", ""), ("s", "")]), None));
    }

    #[test]
    fn a_long_name_may_be_cut_short_and_has_its_value_behind_it_or_next() {
        let want = flags(&[("iter", "5"), ("size", "-1"), ("report_gbits", ""), ("mmap", "file")]);
        assert_eq!(read("--iter 5 --size=-1 --report_gbits --mmap file"), (want, None));
        let words = ["--bidir".to_owned()];
        let (cut, _) = taken_apart(&words);
        assert!(cut[0].is(["-b", "--bidirectional"]) && !cut[0].is(["-n", "--iters"]));
    }

    #[test]
    fn a_word_that_belongs_to_no_flag_is_a_host() {
        for line in [
            "-F 10.0.0.1",
            "--out_json 10.0.0.1",
            "-n 5 10.0.0.1",
            "--report_gbits 10.0.0.1",
            "10.0.0.1 -a",
        ] {
            assert_eq!(read(line).1.as_deref(), Some("10.0.0.1"), "{line}");
        }
        assert_eq!(read("-n 5 -- -a").1.as_deref(), Some("-a"));
        assert_eq!(read("-n 5 --"), (flags(&[("n", "5")]), None));
        assert_eq!(read("-j 10.0.0.1 --flow_label 5 --vlan_pcp 1 -B aa --flows 2").1, None);
        assert_eq!(read("-n 10.0.0.1 -s"), (flags(&[("n", "10.0.0.1"), ("s", "")]), None));
    }
}
