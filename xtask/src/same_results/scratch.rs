//! The tree of another revision, in a temporary folder that is gone when it was looked at, and what a rig that is built writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// How each place is called, before the number of the process.
const NAME: &str = "same-results-";

/// The tree of a revision, and where runs write beside it.
#[derive(Debug)]
pub(super) struct Scratch {
    root: PathBuf,
    place: PathBuf,
    tree: PathBuf,
}

impl Scratch {
    pub(super) fn of(root: &Path, revision: &str) -> Result<Scratch, String> {
        let temporary = std::env::temp_dir();
        left_over(&temporary).iter().for_each(|place| discard(root, place));
        let place = temporary.join(format!("{NAME}{}", std::process::id()));
        fs::create_dir_all(&place).map_err(|why| format!("{}: {why}", place.display()))?;
        let scratch = Scratch { root: root.to_owned(), tree: place.join("tree"), place };
        let mut git = Command::new("git");
        git.current_dir(root)
            .args(["worktree", "add", "--detach"])
            .arg(&scratch.tree)
            .arg(revision);
        done(git)?;
        Ok(scratch)
    }

    pub(super) fn tree(&self) -> &Path {
        &self.tree
    }

    /// The rig that is built from a tree, apart from where it was built: whoever builds there meanwhile changes nothing.
    pub(super) fn built(&self, tree: &Path, into: &Path, name: &str) -> Result<PathBuf, String> {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.current_dir(tree).args(["build", "--package", "rigctl", "--locked"]);
        command.arg("--target-dir").arg(into);
        done(command)?;
        self.copied(&into.join("debug/rigctl"), name)
    }

    /// A rig that is there, copied for the same reason.
    pub(super) fn copied(&self, rig: &Path, name: &str) -> Result<PathBuf, String> {
        let copy = self.place.join(name);
        fs::copy(rig, &copy).map_err(|why| format!("{}: {why}", rig.display()))?;
        Ok(copy)
    }

    /// The cases that a rig has, and what each would run on in a lab of `tree`: a line a case.
    pub(super) fn cases(&self, rig: &Path, tree: &Path, lab: &str) -> Result<String, String> {
        let mut command = Command::new(rig);
        command.current_dir(tree).args(["list", "--lab", lab]);
        done(command)
    }

    /// What a run of a rig's catalogue writes, on a lab of `tree`: of all its cases, or of those that `only` names.
    pub(super) fn results(
        &self,
        (rig, tree): (&Path, &Path),
        lab: &str,
        only: Option<&str>,
        seed: u64,
    ) -> Result<String, String> {
        let out = self.place.join("out");
        let _none = fs::remove_dir_all(&out);
        let mut command = Command::new(rig);
        command.current_dir(tree).args(["run", "--lab", lab, "--evidence", "none", "--seed"]);
        command.arg(seed.to_string()).arg("--out").arg(&out);
        command.args(only.into_iter().flat_map(|only| ["--only", only]));
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
        discard(&self.root, &self.place);
    }
}

/// Removes a place, and the tree in it.
fn discard(root: &Path, place: &Path) {
    let tree = place.join("tree");
    let mut git = Command::new("git");
    git.current_dir(root).args(["worktree", "remove", "--force"]).arg(&tree);
    let _gone = done(git);
    let _gone = fs::remove_dir_all(place);
}

/// Places of runs that were broken off: the process that each is named after is there no longer.
fn left_over(temporary: &Path) -> Vec<PathBuf> {
    let is_over = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let process = name.strip_prefix(NAME).and_then(|id| id.parse::<u32>().ok());
        process.is_some_and(|id| !Path::new(&format!("/proc/{id}")).exists())
    };
    let entries = fs::read_dir(temporary).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).filter(is_over).collect()
}

/// Runs it to its end; what it printed.
fn done(mut command: Command) -> Result<String, String> {
    let said = command.output().map_err(|why| format!("{:?}: {why}", command.get_program()))?;
    if said.status.success() {
        return Ok(String::from_utf8_lossy(&said.stdout).into_owned());
    }
    let told = String::from_utf8_lossy(&said.stderr).trim_end().to_owned();
    Err(format!("{:?}: {}: {told}", command.get_program(), said.status))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_left_over_when_its_process_is_gone() {
        let temporary = std::env::temp_dir().join(format!("left-over-{}", std::process::id()));
        let place = |process: u32| temporary.join(format!("{NAME}{process}"));
        let gone = place(u32::MAX);
        for place in [&gone, &place(std::process::id()), &temporary.join("same-results-of-mine")] {
            fs::create_dir_all(place).expect("a folder");
        }
        assert_eq!(left_over(&temporary), [gone]);
        fs::remove_dir_all(&temporary).expect("it was made here");
    }
}
