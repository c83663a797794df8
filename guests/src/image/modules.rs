//! Which of a kernel's modules a guest loads, in which order: each says in its section `.modinfo` what it needs.

use crate::GuestFault;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// What the guest is to have: its NIC, RoCE on it, a bridge of several with what shapes, schedules and marks at its ports, and what makes
/// a wrong one of it. `rdma_rxe`, and what `act_csum` needs, ask the kernel for a CRC by name, `macsec` for a cipher, and name no module for it.
pub(super) const WANTED: [&str; 20] = [
    "virtio_pci",
    "virtio_net",
    "crc32_generic",
    "crc32c_generic",
    "rdma_rxe",
    "gcm",
    "ctr",
    "ghash_generic",
    "macsec",
    "ib_uverbs",
    "bridge",
    "sch_tbf",
    "sch_red",
    "sch_ets",
    "sch_netem",
    "sch_ingress",
    "cls_u32",
    "act_gact",
    "act_pedit",
    "act_csum",
];

/// Files of modules in the order in which they load, each behind all that it needs.
///
/// # Errors
/// A module that is wanted is not below `kernel`, or cannot be read.
pub(super) fn in_order(kernel: &Path) -> Result<Vec<PathBuf>, GuestFault> {
    let mut found = BTreeMap::new();
    find(kernel, &mut found)
        .map_err(|why| GuestFault::failed(format!("look through {}", kernel.display()), why))?;
    let mut order = Order { found, placed: Vec::new() };
    for name in WANTED {
        order.place(name, 0)?;
    }
    Ok(order.placed.into_iter().map(|(_, path)| path).collect())
}

struct Order {
    found: BTreeMap<String, PathBuf>,
    placed: Vec<(String, PathBuf)>,
}

/// Deeper than the modules of any kernel need each other.
const DEEPEST: usize = 32;

impl Order {
    fn place(&mut self, name: &str, depth: usize) -> Result<(), GuestFault> {
        let failed = |why: String| GuestFault::failed(format!("find the module {name}"), why);
        if self.placed.iter().any(|(placed, _)| placed == name) {
            return Ok(());
        }
        if depth > DEEPEST {
            return Err(failed("it needs itself".to_owned()));
        }
        let path = self.found.get(name).cloned();
        let path = path.ok_or_else(|| failed("the kernel's package has none".to_owned()))?;
        let bytes = fs::read(&path).map_err(|error| failed(error.to_string()))?;
        for needed in needs(&bytes) {
            self.place(&needed, depth + 1)?;
        }
        self.placed.push((name.to_owned(), path));
        Ok(())
    }
}

/// What the bytes of a module say that it needs.
fn needs(module: &[u8]) -> Vec<String> {
    const KEY: &[u8] = b"\0depends=";
    let at = module.windows(KEY.len()).position(|window| window == KEY);
    let text = at.map_or(&[][..], |at| &module[at + KEY.len()..]);
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    let names = text.split(|&byte| byte == b',').filter(|name| !name.is_empty());
    names.map(|name| String::from_utf8_lossy(name).replace('-', "_")).collect()
}

fn find(folder: &Path, found: &mut BTreeMap<String, PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            find(&path, found)?;
        } else if path.extension().is_some_and(|ending| ending == "ko")
            && let Some(name) = path.file_stem().and_then(|name| name.to_str())
        {
            found.insert(name.replace('-', "_"), path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_module_needs_stands_in_it() {
        assert_eq!(
            needs(b"\x7fELF..\0license=GPL\0depends=ib_core,udp-tunnel\0x=y\0"),
            ["ib_core", "udp_tunnel"]
        );
        assert_eq!(needs(b"\0depends=\0name=a\0"), Vec::<String>::new());
        assert_eq!(needs(b"none at all"), Vec::<String>::new());
    }
}
