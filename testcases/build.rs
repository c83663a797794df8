//! Which suites are bundled: those of the folder.

#[path = "../lab-configs/bundle.rs"]
mod bundle;

fn main() {
    bundle::yaml_files(".", "suites");
}
