//! Sound inputs made unsound, all from a number.

/// What an input is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Lines of words and numbers.
    Text,
    /// Bytes and words of them that are lengths.
    Binary,
}

/// Random numbers from a seed (SplitMix64).
pub(crate) struct Draws(u64);

impl Draws {
    pub(crate) const fn of(seed: u64) -> Draws {
        Draws(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `most`; 0 where there is nothing below it.
    fn below(&mut self, most: usize) -> usize {
        match u64::try_from(most) {
            Ok(most @ 1..) => usize::try_from(self.next() % most).unwrap_or(0),
            _ => 0,
        }
    }

    fn one<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }
}

/// What a word of a text becomes.
const WORDS: [&str; 40] = [
    "0",
    "-1",
    "1",
    "65535",
    "65536",
    "4294967295",
    "18446744073709551615",
    "99999999999999999999",
    "1e308",
    "-0.0",
    ".nan",
    "0ps",
    "1ps",
    "86400s",
    "18446744073709551615ps",
    "0B",
    "1B",
    "16383B",
    "18446744073709551615B",
    "0%",
    "100%",
    "0.000001%",
    "65535q",
    "0q",
    "400Gbps",
    "1bps",
    "null",
    "true",
    "~",
    "[]",
    "{}",
    "\"\"",
    "''",
    "&a",
    "*a",
    "<<: *a",
    "!!binary x",
    "|",
    "\u{202e}\u{0}",
    "all",
];
/// What a number in binary becomes.
const NUMBERS: [u32; 10] =
    [0, 1, 4, 11, 12, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0xffff_fffc, 65_536];

/// The longest input, in bytes: as long as the longest text that any reader takes.
const LONGEST: usize = 1 << 20;

/// An input from its number: one of the seeds, harmed one to six times.
pub(crate) fn input(kind: Kind, seeds: &[Vec<u8>], number: u64) -> Vec<u8> {
    let mut draws = Draws::of(number);
    let mut bytes = draws.one(seeds).clone();
    for _ in 0..=draws.below(6) {
        bytes = match (kind, draws.below(8)) {
            (Kind::Text, 0..=2) => words(&bytes, seeds, &mut draws),
            (Kind::Text, 3..=5) => lines(&bytes, seeds, &mut draws),
            (Kind::Binary, 0..=3) => numbers(bytes, &mut draws),
            _ => raw(bytes, seeds, &mut draws),
        };
        bytes.truncate(LONGEST);
    }
    bytes
}

/// One word becomes another: of ours, or of any seed.
fn words(bytes: &[u8], seeds: &[Vec<u8>], draws: &mut Draws) -> Vec<u8> {
    let places = spans(bytes);
    let Some(&(from, to)) = places.get(draws.below(places.len())) else { return bytes.to_vec() };
    let other = draws.one(seeds);
    let theirs = spans(other);
    let word = match (draws.below(2), theirs.get(draws.below(theirs.len()))) {
        (0, Some(&(from, to))) => &other[from..to],
        _ => draws.one(&WORDS).as_bytes(),
    };
    [&bytes[..from], word, &bytes[to..]].concat()
}

/// Where words stand.
fn spans(bytes: &[u8]) -> Vec<(usize, usize)> {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"._-%".contains(&byte);
    let mut all = Vec::new();
    let mut from = None;
    for (at, &byte) in bytes.iter().chain(b" ").enumerate() {
        match (is_word(byte), from) {
            (true, None) => from = Some(at),
            (false, Some(start)) => {
                all.push((start, at));
                from = None;
            }
            _ => {}
        }
    }
    all
}

/// A line is doubled, taken away, moved, indented, or comes from another seed.
fn lines(bytes: &[u8], seeds: &[Vec<u8>], draws: &mut Draws) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> =
        bytes.split_inclusive(|&b| b == b'\n').map(<[u8]>::to_vec).collect();
    if lines.is_empty() {
        return Vec::new();
    }
    let (at, to) = (draws.below(lines.len()), draws.below(lines.len()));
    match draws.below(6) {
        0 => {
            let times = 1 << draws.below(12);
            let line = lines[at].clone();
            let times = times.min(LONGEST / line.len().max(1) + 1);
            lines.splice(at..at, std::iter::repeat_n(line, times));
        }
        1 => drop(lines.remove(at)),
        2 => lines.swap(at, to),
        3 => lines[at].insert(0, b' '),
        4 => {
            let deep = 1 << draws.below(8);
            lines[at].splice(0..0, b"[{a: ".repeat(deep));
        }
        _ => {
            let other: Vec<&[u8]> = draws.one(seeds).split_inclusive(|&b| b == b'\n').collect();
            lines[at] = other.get(draws.below(other.len())).copied().unwrap_or_default().to_vec();
        }
    }
    lines.concat()
}

/// Four bytes that may be a length become another number.
fn numbers(mut bytes: Vec<u8>, draws: &mut Draws) -> Vec<u8> {
    let words = bytes.len() / 4;
    // What stands at the beginning says how the rest is read.
    let at = if draws.below(2) == 0 { draws.below(words.min(40)) } else { draws.below(words) };
    if let Some(word) = bytes.get_mut(4 * at..4 * at + 4) {
        let old = u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
        let new = match draws.below(3) {
            0 => old.wrapping_add(1 << draws.below(8)),
            1 => old.wrapping_sub(1 << draws.below(8)),
            _ => *draws.one(&NUMBERS),
        };
        word.copy_from_slice(&if draws.below(4) == 0 {
            new.to_be_bytes()
        } else {
            new.to_le_bytes()
        });
    }
    bytes
}

/// A bit turns, a stretch goes away, comes twice or from elsewhere.
fn raw(mut bytes: Vec<u8>, seeds: &[Vec<u8>], draws: &mut Draws) -> Vec<u8> {
    let at = draws.below(bytes.len());
    let to = (at + draws.below(64)).min(bytes.len());
    match draws.below(6) {
        0 => bytes.get_mut(at).into_iter().for_each(|byte| *byte ^= 1 << draws.below(8)),
        1 => bytes
            .get_mut(at)
            .into_iter()
            .for_each(|byte| *byte = u8::try_from(draws.below(256)).unwrap_or(0)),
        2 => bytes.truncate(at),
        3 => drop(bytes.drain(at..to)),
        4 => {
            let stretch = bytes[at..to].to_vec();
            bytes.splice(at..at, stretch);
        }
        _ => {
            let other = draws.one(seeds);
            let from = draws.below(other.len());
            bytes.splice(at..to, other[from..].iter().take(draws.below(256)).copied());
        }
    }
    bytes
}
