//! What this process keeps of root's rights. Each kind of work has its capabilities, with the reason, in one table; all others are given
//! up for good as it begins, and those that only opening a port takes are in effect only while one is opened.
//!
//! Capabilities are a thread's, and a new thread has those of its maker: what is kept for good is settled before there is a
//! second one.

use crate::cli::{BenchCommand, Command, DutCommand, GuestCommand};
use crate::stderr;
use core::fmt::{self, Write as _};
use core::marker::PhantomData;
use rustix::io::{self, Errno};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, clear_ambient_capability_set,
    remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
};
use std::sync::Once;

/// A kind of work, as far as it takes rights of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    /// Nothing but waiting.
    Waiting,
    /// Reading what is named, and writing to standard output.
    Reading,
    /// Writing into a folder, too: a run in virtual time.
    Writing,
    /// Setting a NIC by hand, and putting back what killed runs have left changed.
    Restoring,
    /// A run that does not know its lab yet: one of the next three.
    Undecided,
    /// Having ports of the kernel, which are opened, closed and opened again, and making the namespaces and devices around them.
    Ports,
    /// Having ports of DPDK, which has threads and rights of its own making.
    Dpdk,
    /// Opening ports once.
    Opening,
    /// Sending, receiving and writing down.
    Trial,
    /// Being a device whose ports are open.
    Served,
    /// The same, with a socket in the file system that is to be taken away at the end.
    ServedAtFile,
}

/// A capability: its name, who keeps it, and what for.
struct Row(&'static str, CapabilitySet, &'static [Work], &'static str);

use Work::{
    Dpdk, Opening, Ports, Reading, Restoring, Served, ServedAtFile, Trial, Undecided, Waiting,
    Writing,
};

/// All that this program may ever need.
const TABLE: [Row; 13] = [
    Row(
        "CAP_DAC_READ_SEARCH",
        CapabilitySet::DAC_READ_SEARCH,
        &[Reading],
        "reads the files of the user who called sudo",
    ),
    Row(
        "CAP_DAC_OVERRIDE",
        CapabilitySet::DAC_OVERRIDE,
        &[Writing, Restoring, Undecided, Ports, Dpdk, Opening, Trial, ServedAtFile],
        "reads their files, writes into their folders, and takes a socket there away",
    ),
    Row(
        "CAP_CHOWN",
        CapabilitySet::CHOWN,
        &[Writing, Undecided, Ports, Dpdk, Opening, Trial],
        "gives them what it has written there",
    ),
    Row(
        "CAP_FOWNER",
        CapabilitySet::FOWNER,
        &[Writing, Undecided, Ports, Dpdk, Opening, Trial],
        "renames what it has given them, in a folder where only owners may (the sticky bit)",
    ),
    Row(
        "CAP_NET_ADMIN",
        CapabilitySet::NET_ADMIN,
        &[Restoring, Undecided, Ports, Dpdk, Opening],
        "attaches XDP programs, takes what is for others, sets links up and down and DCB of a NIC, makes virtual interfaces",
    ),
    Row(
        "CAP_NET_RAW",
        CapabilitySet::NET_RAW,
        &[Undecided, Ports, Dpdk, Opening],
        "makes sockets of AF_XDP and AF_PACKET",
    ),
    Row(
        "CAP_BPF",
        CapabilitySet::BPF,
        &[Undecided, Ports, Dpdk, Opening],
        "loads the XDP program that hands frames over",
    ),
    Row(
        "CAP_SYS_ADMIN",
        CapabilitySet::SYS_ADMIN,
        &[Undecided, Ports, Dpdk, Opening],
        "makes and enters network namespaces; loads programs where CAP_BPF is not given",
    ),
    Row(
        "CAP_IPC_LOCK",
        CapabilitySet::IPC_LOCK,
        &[Undecided, Ports, Dpdk, Opening],
        "has more memory for frames than `ulimit -l` allows",
    ),
    Row(
        "CAP_SYS_NICE",
        CapabilitySet::SYS_NICE,
        &[Undecided, Ports, Dpdk, Opening, Trial, Served, ServedAtFile],
        "runs before other threads while frames are on their way",
    ),
    Row(
        "CAP_SYS_RAWIO",
        CapabilitySet::SYS_RAWIO,
        &[Undecided, Dpdk],
        "reaches the registers of a NIC from user space",
    ),
    Row(
        "CAP_SYS_RESOURCE",
        CapabilitySet::SYS_RESOURCE,
        &[Undecided, Dpdk],
        "raises the limits of memory, as libraries of DPDK do",
    ),
    Row(
        "CAP_SETPCAP",
        CapabilitySet::SETPCAP,
        &[Undecided, Opening],
        "gives up the rest once it knows what that is",
    ),
];

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Waiting => "waiting",
            Reading => "reading",
            Writing => "writing",
            Restoring => "restoring",
            Undecided => "undecided",
            Ports => "ports",
            Dpdk => "dpdk",
            Opening => "opening",
            Trial => "trial",
            Served => "served",
            ServedAtFile => "served at a file",
        })
    }
}

impl Work {
    /// What a command may need before more is known of it.
    pub const fn of(command: &Command) -> Work {
        match command {
            Command::Run(_) => Undecided,
            Command::Check(_)
            | Command::List(_)
            | Command::Mutants(_)
            | Command::Explain(_)
            | Command::Analyze(_)
            | Command::Compare(_)
            | Command::Lint(_)
            | Command::Profile(_)
            | Command::Size(_)
            | Command::Schema(_)
            | Command::Dut(DutCommand::Say(_) | DutCommand::Nic(_))
            | Command::Bench(BenchCommand::Oracle(_) | BenchCommand::Frames(_)) => Reading,
            Command::Report(_) | Command::Guest(GuestCommand::Build(_)) => Writing,
            Command::Restore(_) | Command::Dut(DutCommand::Set(_)) => Restoring,
            Command::Dut(DutCommand::Serve(_)) => Opening,
            Command::Gen(args) if args.port.is_none() => Writing,
            Command::Gen(_) => Opening,
            Command::Bench(BenchCommand::Tx(args)) if args.against_testpmd => Dpdk,
            Command::Doctor(_) | Command::Bench(_) | Command::Guest(GuestCommand::Perftest(_)) => {
                Ports
            }
        }
    }

    /// Its capabilities, as the kernel counts them: bit `n` is that of number `n`.
    pub fn capabilities(self) -> u64 {
        self.set().bits()
    }

    fn set(self) -> CapabilitySet {
        let kept = TABLE.iter().filter(|Row(_, _, works, _)| works.contains(&self));
        kept.fold(CapabilitySet::empty(), |all, Row(_, one, _, _)| all | *one)
    }
}

/// The table for people, in Markdown.
pub fn table() -> String {
    let mut text = String::from("| capability | kept for | what it does |\n| --- | --- | --- |\n");
    for Row(name, _, works, why) in &TABLE {
        let works: Vec<String> = works.iter().map(ToString::to_string).collect();
        let _infallible = writeln!(text, "| `{name}` | {} | {why} |", works.join(", "));
    }
    text
}

/// Gives up for good what `work` does not need, in this thread and in what it starts; what is left is in effect. Whoever has no
/// rights of root's notices nothing. Where the kernel refuses, as a filter of a container may, that is told once, and the work goes
/// on: nothing that it does depends on having fewer rights.
pub fn keep(work: Work) {
    static TOLD: Once = Once::new();
    if let Err(errno) = give_up_all_but(work.set()) {
        TOLD.call_once(|| {
            stderr::note(&format!(
                "this process could not give up the rights that it does not need, and goes on with them: {errno}"
            ));
        });
    }
}

fn give_up_all_but(kept: CapabilitySet) -> io::Result<()> {
    // What is executed gets no more than this thread has, whatever its file says.
    set_no_new_privs(true)?;
    let own = capabilities(None)?;
    if own.permitted.is_empty() && own.inheritable.is_empty() {
        return Ok(());
    }
    if own.permitted.contains(CapabilitySet::SETPCAP) {
        set_capabilities(None, CapabilitySets { effective: own.permitted, ..own })?;
        give_up_for_children(kept)?;
    }
    let left = own.permitted & kept;
    let inheritable = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: left, permitted: left, inheritable })
}

/// The same for what is executed, from which root's rights would otherwise come back.
fn give_up_for_children(kept: CapabilitySet) -> io::Result<()> {
    clear_ambient_capability_set()?;
    for number in 0..u64::BITS {
        let one = CapabilitySet::from_bits_retain(1 << number);
        if kept.contains(one) {
            continue;
        }
        match remove_capability_from_bounding_set(one) {
            // There are no more.
            Err(Errno::INVAL) => break,
            done => done?,
        }
    }
    Ok(())
}

/// From here on only what `work` needs is in effect in this thread, of what it has kept.
pub fn lower(work: Work) {
    let _refused = effect(|own| own.permitted & work.set());
}

/// What `work` needs is in effect in this thread, too, as far as it was kept, until the value is dropped.
#[must_use]
pub fn raise(work: Work) -> Raised {
    let before = effect(|own| own.effective | own.permitted & work.set());
    Raised { before: before.ok(), of_this_thread: PhantomData }
}

/// More rights in effect.
#[derive(Debug)]
pub struct Raised {
    before: Option<CapabilitySet>,
    of_this_thread: PhantomData<*const ()>,
}

impl Drop for Raised {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            let _refused = effect(|own| own.permitted & before);
        }
    }
}

/// Puts other capabilities into effect; those that were.
fn effect(wanted: impl FnOnce(&CapabilitySets) -> CapabilitySet) -> io::Result<CapabilitySet> {
    let own = capabilities(None)?;
    let effective = wanted(&own);
    if effective != own.effective {
        set_capabilities(None, CapabilitySets { effective, ..own })?;
    }
    Ok(own.effective)
}

#[cfg(test)]
mod tests {
    use super::*;
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
    use std::thread;

    fn own() -> CapabilitySets {
        capabilities(None).expect("every thread may ask")
    }

    /// What only the right to raw sockets opens.
    fn opens() -> bool {
        socket(AddressFamily::Packet, SockType::Raw, SockFlag::empty(), None).is_ok()
    }

    #[test]
    fn what_is_given_up_is_gone_and_what_is_lowered_comes_back() {
        if !own().effective.contains(Ports.set() | CapabilitySet::SETPCAP) {
            let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
            assert!(!required, "rights are given up by root alone (RIG_REQUIRE_ALL=1)");
            eprintln!("skipped: rights are given up by root alone; run with sudo");
            return;
        }
        let inside = || {
            keep(Ports);
            assert_eq!((own().permitted, own().effective), (Ports.set(), Ports.set()));
            assert!(opens());
            lower(Trial);
            assert_eq!((own().permitted, own().effective), (Ports.set(), Trial.set()));
            assert!(!opens());
            {
                let _raised = raise(Ports);
                {
                    let _once_more = raise(Restoring);
                }
                assert!(opens(), "what is raised within stays so");
                assert!(thread::scope(|scope| scope.spawn(opens).join()).expect("it ends"));
            }
            assert!(!opens());
            keep(Writing);
            let _nothing = raise(Ports);
            assert_eq!((own().permitted, own().effective), (Writing.set(), Writing.set()));
            assert!(!opens());
        };
        thread::scope(|scope| scope.spawn(inside).join()).expect("as the table says");
        assert!(opens(), "only of that thread");
    }

    #[test]
    fn a_run_that_knows_its_lab_has_kept_no_less_than_it_needs() {
        for work in [Writing, Ports, Dpdk, Trial] {
            assert!(Undecided.set().contains(work.set()), "{work}");
        }
        assert!(Ports.set().contains(Trial.set() | Restoring.set()));
        assert!(Opening.set().contains(Served.set() | ServedAtFile.set() | Trial.set()));
        // A device gets no more than the run that starts it has.
        assert!(Ports.set().contains(Opening.set() - CapabilitySet::SETPCAP));
    }
}
