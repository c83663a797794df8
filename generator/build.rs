//! With the feature `dpdk`: compiles the DPDK shim into the library. Without it there is nothing to do.

fn main() {
    println!("cargo::rerun-if-changed=dpdk");
    #[cfg(feature = "dpdk")]
    dpdk::link();
}

#[cfg(feature = "dpdk")]
mod dpdk {
    use std::process::Command;

    /// Compiles the shim with the flags that DPDK wants, and links it and DPDK's shared libraries.
    pub(super) fn link() {
        let mut shim = cc::Build::new();
        shim.file("dpdk/shim.c").warnings(true).extra_warnings(true);
        for flag in pkg_config("--cflags").split_whitespace() {
            shim.flag(flag);
        }
        shim.compile("rig_dpdk");
        // Behind the shim, which needs them.
        for flag in pkg_config("--libs").split_whitespace() {
            if let Some(library) = flag.strip_prefix("-l") {
                println!("cargo::rustc-link-lib={library}");
            } else if let Some(folder) = flag.strip_prefix("-L") {
                println!("cargo::rustc-link-search=native={folder}");
            }
        }
    }

    fn pkg_config(what: &str) -> String {
        const MEND: &str = "the feature `dpdk` needs DPDK 22.11 or later: `apt-get install libdpdk-dev pkg-config`";
        let mut command = Command::new("pkg-config");
        command.args([what, "libdpdk >= 22.11"]);
        match command.output() {
            Ok(run) if run.status.success() => {
                String::from_utf8(run.stdout).expect("flags are text")
            }
            Ok(run) => panic!("{MEND}\n{}", String::from_utf8_lossy(&run.stderr)),
            Err(error) => panic!("{MEND}\npkg-config: {error}"),
        }
    }
}
