//! A program that ends with the rig, however the rig ends.

use std::process::Command;

/// A niceness counts among the threads of one session where the kernel groups them so (sched(7), autogroup): that session, which is the program's own,
/// has one, too. Not where it may not. Then the kernel is asked to kill it when its parent ends.
const FIRST: &str = "echo -15 2>/dev/null >/proc/$$/autogroup; exec setpriv --pdeathsig KILL sh -c \"$0\" sh \"$@\"";
/// A rig that was gone before the kernel was asked is told of by nobody: the parent is another by now, and there is nothing to run for.
const THEN: &str = "[ \"$PPID\" = \"$1\" ] || exit 1; shift; exec nice -n -15 \"$@\"";

/// `program` as a child of the process `rig`, in a session of its own and before what else the machine does: a guest that waits for a processor is a
/// slow device.
pub(crate) fn with_rig(rig: u32, program: &str) -> Command {
    let mut command = Command::new("setsid");
    command.args(["sh", "-c", FIRST, THEN]).arg(rig.to_string()).arg(program);
    command
}

#[cfg(test)]
mod tests;
