//! What is in the way of a DPDK port, and what mends it.

use core::fmt;
use nix::errno::Errno;
use std::path::PathBuf;

/// What is in the way of a DPDK port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DpdkFault {
    /// No shim could be opened.
    NoShim {
        /// The files that were tried, and what the system said.
        tried: Vec<(PathBuf, String)>,
    },
    /// The shim belongs to another version of this program.
    OtherShim {
        /// Its file.
        shim: PathBuf,
        /// Its number.
        found: u32,
        /// The number that this program is made for.
        wanted: u32,
    },
    /// DPDK does not start with these arguments.
    NotStarted {
        /// The arguments.
        eal: Vec<String>,
        /// DPDK's word for the reason.
        why: String,
        /// The last lines of its log.
        said: String,
    },
    /// DPDK runs already, with other arguments.
    StartedOtherwise {
        /// Those that it runs with.
        running: Vec<String>,
        /// Those asked for now.
        asked: Vec<String>,
    },
    /// DPDK has no port of that name.
    NoPort {
        /// Those that it has.
        known: Vec<String>,
        /// The last lines of its log when it started.
        said: String,
    },
    /// This process has opened the port before.
    Again,
    /// A port has one queue.
    OneQueue {
        /// The one asked for.
        queue: u32,
    },
    /// The driver does not pass frames of that length.
    TooLong {
        /// The longest that it passes, from behind the Ethernet header on.
        mtu: usize,
        /// The longest frame asked for.
        longest: usize,
        /// Why it refuses more.
        errno: Errno,
    },
    /// The driver refuses.
    Refused {
        /// What was tried.
        tried: String,
        /// Its answer.
        errno: Errno,
        /// The last lines of DPDK's log.
        said: String,
    },
}

/// What installs DPDK where it is a package.
const INSTALL: &str = "`apt-get install libdpdk-dev gcc pkg-config`";

impl fmt::Display for DpdkFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DpdkFault::NoShim { tried } => {
                f.write_str("no DPDK shim can be opened: ")?;
                if tried.is_empty() {
                    f.write_str("nobody says where it is")?;
                }
                for (index, (file, why)) in tried.iter().enumerate() {
                    // What the loader says mostly begins with the file.
                    let why = why.strip_prefix(&format!("{}: ", file.display())).unwrap_or(why);
                    let comma = if index == 0 { "" } else { "; " };
                    write!(f, "{comma}{}: {why}", file.display())?;
                }
                write!(
                    f,
                    ". `cargo xtask dpdk-shim` builds it, and needs DPDK 22.11 or later: {INSTALL}"
                )
            }
            DpdkFault::OtherShim { shim, found, wanted } => write!(
                f,
                "the DPDK shim {} is number {found} and this rigctl is made for number {wanted}: build it anew with \
                 `cargo xtask dpdk-shim`",
                shim.display()
            ),
            DpdkFault::NotStarted { eal, why, said } => write!(
                f,
                "DPDK does not start with `eal: [{}]`: {why}{}. Without huge pages it needs `--no-huge` and `-m` with \
                 a number of MiB; docs/dpdk.md has more",
                eal.join(", "),
                Said(said)
            ),
            DpdkFault::StartedOtherwise { running, asked } => write!(
                f,
                "DPDK starts once in a process and runs with `eal: [{}]`, not with `eal: [{}]`: use the same arguments, \
                 with the devices of all ports, or another process",
                running.join(", "),
                asked.join(", ")
            ),
            DpdkFault::NoPort { known, said } if known.is_empty() => write!(
                f,
                "DPDK has no port at all{}: bind a NIC to a driver of DPDK (`dpdk-devbind.py --status`), or name a \
                 device in `eal:`, such as `--vdev=net_pcap0,iface=eth1`",
                Said(said)
            ),
            DpdkFault::NoPort { known, said } => write!(
                f,
                "DPDK has no such port, but {}{}: name one of these, or its device in `eal:`",
                known.join(", "),
                Said(said)
            ),
            DpdkFault::Again => f.write_str(
                "this process has opened it before, and DPDK opens a port once in a process: keep it open, or start \
                 another process",
            ),
            DpdkFault::OneQueue { queue } => {
                write!(f, "there is no queue {queue}: a DPDK port of the rig has queue 0 alone")
            }
            DpdkFault::TooLong { mtu, longest, errno } => write!(
                f,
                "its driver stays with an MTU of {mtu}, too small for frames of {longest} B ({errno}): use another \
                 driver or shorter frames"
            ),
            DpdkFault::Refused { tried, errno: Errno::ENOMEM, said } => write!(
                f,
                "no memory to {tried}{}: give DPDK more (`-m` with a number of MiB in `eal:`), or the device shorter \
                 pieces",
                Said(said)
            ),
            DpdkFault::Refused { tried, errno, said } => {
                write!(f, "its driver cannot {tried}: {errno}{}", Said(said))
            }
        }
    }
}

/// What DPDK has said, if it has.
struct Said<'a>(&'a str);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " ({})", self.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_says_what_mends_it() {
        let words = |all: &[&str]| all.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        let refused = |errno, said: &str| DpdkFault::Refused {
            tried: "set up the receive queue".to_owned(),
            errno,
            said: said.to_owned(),
        };
        let missing = "cannot open shared object file: No such file or directory";
        let all = [
            DpdkFault::NoShim { tried: Vec::new() },
            DpdkFault::NoShim {
                tried: vec![
                    ("/opt/librig_dpdk.so".into(), format!("/opt/librig_dpdk.so: {missing}")),
                    ("librig_dpdk.so".into(), format!("librte_eal.so.23: {missing}")),
                ],
            },
            DpdkFault::OtherShim { shim: "librig_dpdk.so".into(), found: 7, wanted: 1 },
            DpdkFault::NotStarted {
                eal: words(&["-l", "0"]),
                why: "Permission denied".to_owned(),
                said: "EAL: Cannot get hugepage information.".to_owned(),
            },
            DpdkFault::StartedOtherwise {
                running: words(&["--no-huge", "--vdev=net_ring0"]),
                asked: words(&["--vdev=net_ring1"]),
            },
            DpdkFault::NoPort {
                known: Vec::new(),
                said: "vdev_probe(): failed to initialize net_pcap0 device".to_owned(),
            },
            DpdkFault::NoPort { known: words(&["net_ring0", "0000:41:00.0"]), said: String::new() },
            DpdkFault::Again,
            DpdkFault::OneQueue { queue: 3 },
            DpdkFault::TooLong { mtu: 1_500, longest: 4_174, errno: Errno::EINVAL },
            refused(Errno::ENOMEM, "af_packet: 9184 bytes will not fit in mbuf (2048 bytes)"),
            refused(Errno::EBUSY, ""),
        ];
        let said: String = all.into_iter().map(|fault| format!("{fault}\n")).collect();
        insta::assert_snapshot!(said);
    }
}
