//! What is there many times over, told once: `many-1 to many-512`.

/// So few are told one by one.
const FEW: usize = 3;

/// A name that ends in a number, such as `start many-7`, and what follows it behind a colon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Numbered<'a> {
    name: &'a str,
    /// What stands before the number, its last word.
    stem: &'a str,
    number: u32,
    rest: &'a str,
}

impl<'a> Numbered<'a> {
    fn of(text: &'a str) -> Option<Numbered<'a>> {
        let (name, rest) = text.split_once(": ").unwrap_or((text, ""));
        let (stem, number) = name.rsplit_once('-')?;
        let stem = stem.rsplit_once(' ').map_or(stem, |(_, word)| word);
        Some(Numbered { name, stem, number: number.parse().ok()?, rest })
    }

    fn is_followed_by(&self, next: &Numbered<'_>) -> bool {
        (self.stem, self.number.checked_add(1), self.rest)
            == (next.stem, Some(next.number), next.rest)
    }
}

/// The same texts, with each row of names that are numbered one after the other and have the same behind them as one.
pub(super) fn folded(texts: &[String]) -> Vec<String> {
    let mut all = Vec::new();
    let mut texts = texts;
    while let Some(first) = texts.first() {
        let row = Numbered::of(first).map_or(1, |first| in_a_row(first, texts));
        let (these, rest) = texts.split_at(row);
        texts = rest;
        match (these, Numbered::of(first), these.last().and_then(|last| Numbered::of(last))) {
            ([_, .., _], Some(first), Some(last)) if row > FEW => {
                let (rest, colon) = (first.rest, if first.rest.is_empty() { "" } else { ": " });
                all.push(format!("{} to {}-{}{colon}{rest}", first.name, last.stem, last.number));
            }
            _ => all.extend_from_slice(these),
        }
    }
    all
}

/// How many follow one another from the first on.
fn in_a_row(first: Numbered<'_>, texts: &[String]) -> usize {
    let mut last = first;
    let more = texts.iter().skip(1).map_while(|text| {
        let next = Numbered::of(text).filter(|next| last.is_followed_by(next))?;
        last = next;
        Some(())
    });
    1 + more.count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(texts: &str) -> String {
        let texts: Vec<String> = texts.split(", ").map(str::to_owned).collect();
        folded(&texts).join(", ")
    }

    #[test]
    fn a_long_row_is_told_by_its_ends_and_a_short_one_as_it_is() {
        assert_eq!(told("start q-1, q-2, q-3, q-4, r-5, r-6"), "start q-1 to q-4, r-5, r-6");
        assert_eq!(told("q-1, q-2, q-3, q-5, q-6, s"), "q-1, q-2, q-3, q-5, q-6, s");
        assert_eq!(told("q-1: a, q-2: a, q-3: a, q-4: a, q-5: b"), "q-1 to q-4: a, q-5: b");
        assert_eq!(told("no-name, 4-x"), "no-name, 4-x");
    }
}
