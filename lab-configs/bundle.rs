//! For build scripts: the YAML files of a folder as a list that the program has in it. A file that is added is bundled without
//! being named anywhere.

use std::path::Path;
use std::{env, fs};

/// Writes the list `LIST.rs` for `include!`: of each YAML file in a `folder` of this package its path from the package's own
/// folder and its text, in the order of their names. The program is built anew when a file comes or goes.
pub(super) fn yaml_files(folder: &str, list: &str) {
    println!("cargo::rerun-if-changed={folder}");
    let entries = fs::read_dir(folder).expect("a folder of the package");
    let mut files: Vec<String> = entries
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name in UTF-8"))
        // What begins with a dot is an editor's.
        .filter(|name| name.ends_with(".yaml") && !name.starts_with('.'))
        .map(|name| if folder == "." { name } else { format!("{folder}/{name}") })
        .collect();
    files.sort();
    let row = |file: &String| {
        // Where the tree stands is not written down: it may be built elsewhere with what was built here.
        let text = format!(
            "include_str!(concat!(env!(\"CARGO_MANIFEST_DIR\"), {:?}))",
            format!("/{file}")
        );
        format!("({file:?}, {text}),\n")
    };
    let rows: String = files.iter().map(row).collect();
    let out = env::var("OUT_DIR").expect("cargo says where");
    fs::write(Path::new(&out).join(format!("{list}.rs")), format!("&[\n{rows}]\n"))
        .expect("writable");
}
