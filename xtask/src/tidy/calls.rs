//! Which functions a text defines, and which it calls: by name, by how many arguments it gives, and by the type where that is written.

use super::tree::{Source, words};

/// A function as its head says it.
pub(super) struct Function {
    /// The type that it belongs to; `None` for a free one.
    pub(super) owner: Option<String>,
    pub(super) name: String,
    /// How many arguments it takes beside `self`.
    pub(super) takes: usize,
    pub(super) is_method: bool,
    pub(super) is_public: bool,
    pub(super) line: usize,
    /// What it calls.
    pub(super) calls: Vec<Call>,
}

/// A call as it is written.
pub(super) struct Call {
    /// What stands before `::`: a type or a module.
    owner: Option<String>,
    name: String,
    /// How many arguments it gives; `None` where a function is only named.
    gives: Option<usize>,
    is_method: bool,
}

impl Call {
    /// Whether it names the type that `function` belongs to.
    pub(super) fn names(&self, function: &Function) -> bool {
        self.name == function.name && self.owner.is_some() && self.owner == function.owner
    }

    /// Whether it may call `function`, as far as can be told without the type of the receiver.
    pub(super) fn fits(&self, function: &Function) -> bool {
        let of_module = |owner: &Option<String>| owner.as_ref().is_none_or(|owner| !is_type(owner));
        let plain = self.is_method == function.is_method
            && self.gives == Some(function.takes)
            && (self.is_method || (function.owner.is_none() && of_module(&self.owner)));
        self.names(function) || (self.name == function.name && plain)
    }
}

fn is_type(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_uppercase())
}

/// Every function that the product's code of a file defines.
pub(super) fn functions(source: &Source) -> Vec<Function> {
    let (numbers, lines): (Vec<usize>, Vec<&str>) = source.product().into_iter().unzip();
    let text = without_literals(&lines.join("\n"));
    let mut owner = None;
    let mut all = Vec::new();
    let mut at = 0;
    for (line, number) in text.split('\n').zip(numbers) {
        let from = at;
        at += line.len() + 1;
        if line.starts_with("impl") {
            owner = implemented(line);
        } else if line.starts_with('}') {
            owner = None;
        }
        let is_named = |&(at, word): &(usize, &str)| line[..at].ends_with("fn ") && word != "fn";
        let Some((name_at, name)) = words(line).find(is_named) else { continue };
        let head = &text[from + name_at + name.len()..];
        let Some(open) = head.find('(') else { continue };
        let (given, end) = arguments(&head[open + 1..], true);
        let receiver = given.first().is_some_and(|first| words(first).any(|(_, w)| w == "self"));
        let indent = line.len() - line.trim_start().len();
        let body = &head[open + 1 + end..];
        let closing = format!("\n{}}}", &line[..indent]);
        let body = &body[..body.find(&closing).unwrap_or(body.len())];
        all.push(Function {
            owner: owner.clone(),
            name: name.to_owned(),
            takes: given.len() - usize::from(receiver),
            is_method: receiver,
            is_public: line.trim_start().starts_with("pub "),
            line: number,
            calls: calls(body, owner.as_deref()),
        });
    }
    all
}

/// The type that an `impl` is for.
pub(super) fn implemented(line: &str) -> Option<String> {
    let head = line.split(['{']).next()?;
    let head = head.split_once(" for ").map_or_else(
        || head.strip_prefix("impl").map(|head| head.split_once("> ").map_or(head, |(_, of)| of)),
        |(_, of)| Some(of),
    )?;
    let path = head.trim().split(['<', ' ']).next()?;
    path.rsplit("::").next().map(str::to_owned)
}

/// What a text calls; `own` is the type that `Self` stands for.
fn calls(text: &str, own: Option<&str>) -> Vec<Call> {
    let mut all = Vec::new();
    let mut before: (usize, &str) = (0, "");
    for (at, word) in words(text) {
        let behind = &text[at + word.len()..];
        let qualified = text[..at].ends_with("::") && before.0 + before.1.len() + 2 == at;
        let owner = qualified.then(|| match (before.1, own) {
            ("Self", Some(own)) => own.to_owned(),
            (owner, _) => owner.to_owned(),
        });
        before = (at, word);
        let open = match behind.strip_prefix("::<") {
            Some(types) => types.find('(').map(|open| &types[open + 1..]),
            None => behind.strip_prefix('('),
        };
        let named = owner.as_deref().is_some_and(is_type);
        if is_type(word) || text[..at].ends_with("fn ") || (open.is_none() && !named) {
            continue;
        }
        all.push(Call {
            owner,
            name: word.to_owned(),
            gives: open.map(|inner| arguments(inner, false).0.len()),
            is_method: text[..at].trim_end().ends_with('.'),
        });
    }
    all
}

/// The arguments behind an opening parenthesis, and where it is closed. `types`: they are those of a head, in which `<` opens.
fn arguments(text: &str, types: bool) -> (Vec<&str>, usize) {
    let mut all = Vec::new();
    let (mut deep, mut angles, mut from, mut closure) = (0_u32, 0_u32, 0, false);
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        let begun = text[from..at].trim();
        match c {
            '|' if deep == 0 && (closure || matches!(begun, "" | "move")) => closure = !closure,
            '<' if types || angles > 0 || text[..at].ends_with("::") => angles += 1,
            '>' if angles > 0 && !text[..at].ends_with(['-', '=']) => angles -= 1,
            '(' | '[' | '{' => deep += 1,
            ')' | ']' | '}' if deep > 0 => deep -= 1,
            ')' | ',' if deep == 0 && (c == ')' || (angles == 0 && !closure)) => {
                if !begun.is_empty() {
                    all.push(begun);
                }
                from = at + 1;
                if c == ')' {
                    end = at;
                    break;
                }
            }
            _ => {}
        }
    }
    (all, end)
}

/// A text with nothing in its strings and characters, so that no bracket of theirs counts; its lines stay.
fn without_literals(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        out.push(c);
        if c == '"' {
            while let Some(inner) = rest.next() {
                match inner {
                    '\\' => out.extend(rest.next().filter(|next| *next == '\n')),
                    '"' => break,
                    '\n' => out.push('\n'),
                    _ => {}
                }
            }
            out.push('"');
        } else if c == '\'' {
            // A lifetime has no second quote behind its first letter.
            let mut ahead = rest.clone();
            let first = ahead.next();
            let closes = if first == Some('\\') { ahead.nth(1) } else { ahead.next() };
            if closes == Some('\'') {
                rest = ahead;
                out.push('\'');
            }
        }
    }
    out
}
