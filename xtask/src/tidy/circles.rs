//! Files of one room that import each other in a circle are one file in several pieces: three at most, as a module and what is its
//! own may be.

use super::breach::Breach;
use super::tree::{Source, words};
use std::collections::{BTreeMap, BTreeSet};

/// Most files of a circle.
const MOST: usize = 3;

/// A file, by its way from the top of its crate: `measure::loss`; the top itself is empty.
type Module = Vec<String>;
type Imports = BTreeMap<Module, BTreeSet<Module>>;
/// Names as they are written: `super`, `wire`, `Bench`.
type Path = Vec<String>;

/// A file as the others of its room see it.
struct File<'a> {
    source: &'a Source,
    /// The paths that its code names.
    named: Vec<Path>,
    /// The names that it only hands on (`pub use`), and where each is from. Handing on is no import: whoever names such a
    /// name imports the file that it is from.
    handed: BTreeMap<String, Path>,
}

/// Every circle that is too large, at the first of its files.
pub(crate) fn check(sources: &[Source]) -> Vec<Breach> {
    let room = |source: &Source| Some(source.path.split_once("/src/")?.0.to_owned());
    let rooms: BTreeSet<String> = sources.iter().filter_map(room).collect();
    rooms.iter().flat_map(|room| of_room(room, sources)).collect()
}

fn of_room(room: &str, sources: &[Source]) -> Vec<Breach> {
    let top = format!("{room}/src/");
    let in_room = |source: &Source| module(source.path.strip_prefix(&top)?);
    let modules: BTreeMap<Module, &Source> =
        sources.iter().filter_map(|source| Some((in_room(source)?, source))).collect();
    let files: BTreeMap<&Module, File<'_>> =
        modules.iter().map(|(own, source)| (own, file(own, source, &modules))).collect();
    let imports: Imports = files
        .iter()
        .map(|(&own, file)| {
            let found = file.named.iter().map(|path| resolved(own, path, &files, 0));
            // The top of a crate declares its files and is no part of a circle.
            let found = found.filter(|other| other != own && !other.is_empty());
            (own.clone(), found.collect())
        })
        .collect();
    let reached: Imports =
        imports.keys().map(|from| (from.clone(), whatever(from, &imports))).collect();
    let circle = |of: &Module| -> Vec<&Module> {
        reached[of].iter().filter(|other| reached[*other].contains(of)).collect()
    };
    // Each is told once, at its first file.
    let circles = imports.keys().map(circle).filter(|circle| circle.len() > MOST);
    let circles: BTreeSet<Vec<&Module>> = circles.collect();
    circles
        .into_iter()
        .map(|circle| {
            let names: Vec<String> = circle.iter().map(|file| file.join("::")).collect();
            let why = format!(
                "{} files import each other in a circle, {MOST} at most do: {}",
                circle.len(),
                names.join(", ")
            );
            Breach { file: files[circle[0]].source.path.clone(), line: 1, why }
        })
        .collect()
}

/// The module that a file is; tests and programs are none.
fn module(path: &str) -> Option<Module> {
    let path = path.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if path == "lib" {
        return Some(Module::new());
    }
    let parts: Module = path.split('/').map(str::to_owned).collect();
    (path != "main" && !parts.iter().any(|part| part == "tests")).then_some(parts)
}

/// Whatever comes with an import of a file, it included where it comes back to it.
fn whatever(from: &Module, imports: &Imports) -> BTreeSet<Module> {
    let mut all = BTreeSet::new();
    let mut open: Vec<&Module> = imports[from].iter().collect();
    while let Some(next) = open.pop() {
        if all.insert(next.clone()) {
            open.extend(&imports[next]);
        }
    }
    all
}

/// Reads what the product's code of `own` names of its crate.
fn file<'a>(own: &Module, source: &'a Source, modules: &BTreeMap<Module, &Source>) -> File<'a> {
    let code: Vec<&str> = source.product().into_iter().map(|(_, line)| line).collect();
    let text = code.join("\n");
    // Who may see it is no import.
    let mut parts = text.split("pub(in ");
    let first = parts.next().unwrap_or_default();
    let others = parts.map(|part| part.split_once(')').map_or("", |(_, behind)| behind));
    let text: String = core::iter::once(first).chain(others).collect();
    let is_child = |name: &str| {
        let child: Module = own.iter().cloned().chain([name.to_owned()]).collect();
        modules.contains_key(&child)
    };
    let mut file = File { source, named: Vec::new(), handed: BTreeMap::new() };
    let mut own_code = String::new();
    for statement in text.split_inclusive(';') {
        match handed_on(statement) {
            Some((before, paths)) => {
                own_code.push_str(before);
                let mut all = Vec::new();
                expand(&mut Vec::new(), paths, &mut all);
                file.handed.extend(all.into_iter().filter_map(|(path, name)| Some((name?, path))));
            }
            None if statement.trim_start().starts_with("mod ") => {}
            None => own_code.push_str(statement),
        }
    }
    for (at, word) in words(&own_code) {
        let first = !own_code[..at].ends_with("::");
        let begins = first && own_code[at + word.len()..].starts_with("::");
        if begins && (matches!(word, "crate" | "super" | "self") || is_child(word)) {
            let mut all = Vec::new();
            expand(&mut Vec::new(), &own_code[at..], &mut all);
            file.named.extend(all.into_iter().map(|(path, _)| path));
        } else if let Some(path) = file.handed.get(word).filter(|_| first) {
            file.named.push(path.clone());
        }
    }
    file
}

/// What stands before a `pub use`, and the paths behind it.
fn handed_on(statement: &str) -> Option<(&str, &str)> {
    let (before, paths) = statement.rsplit_once("use ")?;
    let before = before.trim_end();
    let open = before.strip_suffix(')').and_then(|before| before.rfind("pub("));
    let public = open.or_else(|| Some(before.strip_suffix("pub")?.len()))?;
    Some((&before[..public], paths))
}

/// Reads one path, and each of those in its braces, with the name that each is known by here; what is left behind it.
fn expand<'a>(before: &mut Path, text: &'a str, all: &mut Vec<(Path, Option<String>)>) -> &'a str {
    let length = before.len();
    let mut rest = text;
    loop {
        rest = rest.trim_start();
        if let Some(mut inner) = rest.strip_prefix('{') {
            loop {
                inner = expand(before, inner, all).trim_start();
                match inner.strip_prefix(',') {
                    Some(next) => inner = next,
                    None => break,
                }
            }
            rest = inner.strip_prefix('}').unwrap_or_default();
            break;
        }
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let (name, behind) = rest.split_at(end);
        if !name.is_empty() && (name != "self" || before.is_empty()) {
            before.push(name.to_owned());
        }
        match behind.strip_prefix("::") {
            Some(next) => rest = next,
            None => {
                let other = behind.strip_prefix(" as ").and_then(|other| words(other).next());
                let known =
                    other.map(|(_, name)| name.to_owned()).or_else(|| before.last().cloned());
                all.push((before.clone(), known));
                rest = behind.find([',', '}', ';', ')']).map_or("", |at| &behind[at..]);
                break;
            }
        }
    }
    before.truncate(length);
    rest
}

/// The file that a path leads to from `own`, through whatever only hands on.
fn resolved(
    own: &Module,
    path: &[String],
    files: &BTreeMap<&Module, File<'_>>,
    deep: u8,
) -> Module {
    /// More often than any name is handed on.
    const DEEPEST: u8 = 16;
    let mut file = own.clone();
    let mut names = path;
    while let Some((first, rest)) = names.split_first() {
        match first.as_str() {
            "crate" => file.clear(),
            "super" => drop(file.pop()),
            "self" => {}
            _ => break,
        }
        names = rest;
    }
    for name in names {
        file.push(name.clone());
        if files.contains_key(&file) {
            continue;
        }
        file.pop();
        let handed = files.get(&file).and_then(|file| file.handed.get(name));
        if let Some(from) = handed.filter(|_| deep < DEEPEST) {
            file = resolved(&file, from, files, deep + 1);
            continue;
        }
        break;
    }
    file
}
