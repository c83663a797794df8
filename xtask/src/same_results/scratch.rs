//! The tree of another revision, in a temporary folder that is gone when it was looked at, and what a rig that is built writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The tree of a revision, and where runs write beside it.
#[derive(Debug)]
pub(super) struct Scratch {
    root: PathBuf,
    place: PathBuf,
    tree: PathBuf,
}

impl Scratch {
    pub(super) fn of(root: &Path, revision: &str) -> Result<Scratch, String> {
        let place = std::env::temp_dir().join(format!("same-results-{}", std::process::id()));
        fs::create_dir_all(&place).map_err(|why| format!("{}: {why}", place.display()))?;
        let scratch = Scratch { root: root.to_owned(), tree: place.join("tree"), place };
        let tree = scratch.tree.display().to_string();
        done(scratch.git(&["worktree", "add", "--detach", &tree, revision]))?;
        Ok(scratch)
    }

    pub(super) fn tree(&self) -> &Path {
        &self.tree
    }

    fn git(&self, args: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.current_dir(&self.root).args(args);
        command
    }

    /// The rig that is built from a tree, apart from where it was built: whoever builds there meanwhile changes nothing.
    pub(super) fn built(&self, tree: &Path, into: &Path, name: &str) -> Result<PathBuf, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.current_dir(tree).args(["build", "--package", "rigctl", "--locked"]);
        command.arg("--target-dir").arg(into);
        done(command)?;
        let rig = self.place.join(name);
        fs::copy(into.join("debug/rigctl"), &rig).map_err(|why| format!("{name}: {why}"))?;
        Ok(rig)
    }

    /// What a run of the catalogue of `tree` writes.
    pub(super) fn results(
        &self,
        rig: &Path,
        tree: &Path,
        lab: &str,
        seed: u64,
    ) -> Result<String, String> {
        let out = self.place.join("out");
        let _none = fs::remove_dir_all(&out);
        let mut command = Command::new(rig);
        command.current_dir(tree).args(["run", "--lab", lab, "--evidence", "none", "--seed"]);
        command.arg(seed.to_string()).arg("--out").arg(&out);
        // A red case is a result, too.
        let said = command.output().map_err(|why| format!("{}: {why}", rig.display()))?;
        let path = out.join("results.json");
        fs::read_to_string(&path).map_err(|why| {
            format!("{}: {why}: {}", path.display(), String::from_utf8_lossy(&said.stderr))
        })
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let tree = self.tree.display().to_string();
        let _gone = done(self.git(&["worktree", "remove", "--force", &tree]));
        let _gone = fs::remove_dir_all(&self.place);
    }
}

/// Runs it to its end.
fn done(mut command: Command) -> Result<(), String> {
    let said = command.output().map_err(|why| format!("{:?}: {why}", command.get_program()))?;
    if said.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&said.stderr).trim_end().to_owned();
    Err(format!("{:?}: {}: {told}", command.get_program(), said.status))
}
