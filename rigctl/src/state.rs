//! Where the rig keeps what outlives a run: a folder of its user's.

use nix::unistd::geteuid;
use std::env;
use std::path::PathBuf;

/// Names another folder.
pub const VARIABLE: &str = "RIGCTL_STATE";

/// The folder of the journals of what runs have changed outside themselves: below `$RIGCTL_STATE`, else root's
/// `/var/lib/rigctl`, else `$XDG_STATE_HOME/rigctl` or `~/.local/state/rigctl`.
pub fn journals() -> PathBuf {
    folder(geteuid().is_root(), |name| {
        let value = env::var_os(name).filter(|value| !value.is_empty());
        value.map(PathBuf::from).filter(|path| name == VARIABLE || path.is_absolute())
    })
    .join("journal")
}

/// The folder of the image of a guest, beside that of the journals.
pub fn guest() -> PathBuf {
    journals().with_file_name("guest")
}

fn folder(root: bool, variable: impl Fn(&str) -> Option<PathBuf>) -> PathBuf {
    if let Some(named) = variable(VARIABLE) {
        return named;
    }
    if root {
        return PathBuf::from("/var/lib/rigctl");
    }
    let home = || variable("HOME").unwrap_or_else(|| PathBuf::from("/")).join(".local/state");
    variable("XDG_STATE_HOME").unwrap_or_else(home).join("rigctl")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_is_the_users_own_unless_another_is_named() {
        let with = |set: &'static [(&str, &str)]| {
            move |name: &str| {
                let found = set.iter().find(|(variable, _)| *variable == name);
                found.map(|(_, value)| PathBuf::from(value))
            }
        };
        let home: &[_] = &[("HOME", "/home/me")];
        let xdg: &[_] = &[("HOME", "/home/me"), ("XDG_STATE_HOME", "/state")];
        let named: &[_] = &[("HOME", "/home/me"), (VARIABLE, "here")];
        let found = |root, set| folder(root, with(set)).display().to_string();
        assert_eq!(found(false, home), "/home/me/.local/state/rigctl");
        assert_eq!(found(false, xdg), "/state/rigctl");
        assert_eq!(found(true, xdg), "/var/lib/rigctl");
        assert_eq!([found(true, named), found(false, named)], ["here", "here"]);
    }
}
