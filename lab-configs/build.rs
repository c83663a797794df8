//! Which profiles are bundled: those of the folder.

mod bundle;

fn main() {
    bundle::yaml_files("duts", "duts");
}
