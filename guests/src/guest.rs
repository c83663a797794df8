//! A guest that runs: booted, asked for what its programs say, and ended.

use crate::answer::{AsksToEnd, Unanswered, answer};
use crate::with_rig::with_rig;
use crate::{GuestFault, Image};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::time::Duration;
use rig_frames::MacAddr;
use rig_generator::netlab::Namespace;
use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};

/// The interface of the rig's namespace at which the guest's first NIC hangs. QEMU makes it, and it goes with QEMU.
pub const TAP: &str = "guest0";
/// The driver of its RoCE NIC.
pub const DRIVER: &str = "rxe";
/// Address of the rig on it.
pub const RIG: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 1);
/// Address of the guest.
pub const GUEST: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 2);
/// Address of a second guest, with the rig between the two.
pub const OTHER: Ipv4Addr = Ipv4Addr::new(10, 77, 0, 3);
/// Address of the guest on a line of its own to the second one, at which the rig does not listen.
const GUEST_BESIDE: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 2);
/// Address of the second guest on that line.
pub(crate) const OTHER_BESIDE: Ipv4Addr = Ipv4Addr::new(10, 78, 0, 3);
/// Length of the prefix that all share.
pub const PREFIX: u8 = 24;
/// Address of the rig where flows go over IPv6 (RFC 4193).
pub const RIG_V6: Ipv6Addr = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 1);
/// That of the guest.
pub const GUEST_V6: Ipv6Addr = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 2);
/// That of a second guest.
pub const OTHER_V6: Ipv6Addr = Ipv6Addr::new(0xfd77, 0, 0, 0, 0, 0, 0, 3);
/// Length of the prefix that all share.
pub const PREFIX_V6: u8 = 64;

/// What a guest is to the rig.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GuestRole {
    /// One RoCE NIC, with an address.
    Nic,
    /// The RoCE NIC at the other end, in a guest of its own.
    OtherNic,
    /// A bridge of so many ports, with none.
    Switch(u16),
}

impl GuestRole {
    const fn ports(self) -> u16 {
        match self {
            GuestRole::Nic | GuestRole::OtherNic => 1,
            GuestRole::Switch(ports) => ports,
        }
    }

    /// The interfaces of the rig's namespace at which its ports hang, the first first.
    pub fn taps(self) -> Vec<String> {
        (0..self.ports()).map(tap).collect()
    }

    /// What its first process is told of it, and of its end of a line beside the rig.
    fn told(self, beside: bool) -> String {
        let line = match self {
            GuestRole::Nic => format!(" rig.beside={GUEST_BESIDE}/{PREFIX}"),
            GuestRole::OtherNic => format!(" rig.beside={OTHER_BESIDE}/{PREFIX}"),
            // Nobody in it talks to anybody.
            GuestRole::Switch(_) => String::new(),
        };
        let own = match self {
            GuestRole::Nic => format!("rig.ip={GUEST}/{PREFIX}"),
            GuestRole::OtherNic => format!("rig.ip={OTHER}/{PREFIX}"),
            GuestRole::Switch(_) => "rig.bridge=br0".to_owned(),
        };
        if beside { own + &line } else { own }
    }
}

fn tap(port: u16) -> String {
    format!("guest{port}")
}

/// Of a guest's port: locally administered, and of no two guests the same.
const fn mac(role: GuestRole, port: u16) -> MacAddr {
    let [hi, lo] = port.to_be_bytes();
    let guest = match role {
        GuestRole::Nic | GuestRole::Switch(_) => 1,
        GuestRole::OtherNic => 2,
    };
    MacAddr([0x52, 0x54, 0, guest, hi, lo])
}

/// How long a guest may be silent while it boots. Without KVM, on a machine that does much else, it is slow.
const BOOTS: Duration = Duration::from_secs(300);
/// Lines of the console that a fault quotes.
const QUOTED: usize = 12;
/// How often a line is said to the guest that lost a part of it: seen once, on a busy machine, of a line of which the guest ran the rest.
const SAID: u32 = 3;
/// What the guest answers to such a line, in place of a status.
const TORN: &str = "torn";

/// A running guest. It ends when this is dropped, and when the process ends, however it does.
#[derive(Debug)]
pub struct Guest {
    namespace: Arc<Namespace>,
    ask: ChildStdin,
    said: Receiver<String>,
    console: PathBuf,
    release: String,
    end: Option<Sender<()>>,
    keeper: Option<JoinHandle<()>>,
    process: u32,
    role: GuestRole,
    /// Whether it has a line to the other guest beside the rig.
    beside: bool,
    /// Index of its GID of IPv6, once it has one.
    gid_v6: Option<u32>,
    /// Who may ask for the end while it is waited for.
    until: Arc<dyn AsksToEnd>,
}

/// What a command in a guest came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShellOutput {
    /// Its exit status.
    pub status: u8,
    /// What it wrote to standard output and standard error, in lines.
    pub lines: Vec<String>,
}

/// What a guest's RoCE NIC had counted at two instants, by the names in `hw_counters`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct HwCounters {
    /// At the first.
    pub before: BTreeMap<String, u64>,
    /// At the second.
    pub after: BTreeMap<String, u64>,
}

impl HwCounters {
    /// By how much each grew that was there at both.
    pub fn grown(&self) -> BTreeMap<String, u64> {
        let grew = |(name, after): (&String, &u64)| {
            Some((name.clone(), after.wrapping_sub(*self.before.get(name)?)))
        };
        self.after.iter().filter_map(grew).collect()
    }
}

impl Guest {
    /// Boots `image` with its ports on taps in a namespace of its own, and waits until it is ready. `console` is the file in
    /// which stays what its kernel says. Nothing of it is waited for much longer than `until` somebody asks for the end.
    ///
    /// # Errors
    /// The process may make no namespace; QEMU does not start; the guest does not become ready.
    pub fn boot(
        image: &Image,
        role: GuestRole,
        console: &Path,
        until: Arc<dyn AsksToEnd>,
    ) -> Result<Guest, GuestFault> {
        Guest::booted(image, (role, None), console, until)
    }

    /// The same with a second interface, to the other guest of a pair: not by way of the rig, but by a socket at this path. The
    /// [first](GuestRole::Nic) of the two waits there for the other, and so is booted first.
    ///
    /// # Errors
    /// As [`boot`](Self::boot).
    pub fn boot_beside(
        image: &Image,
        role: GuestRole,
        (console, line): (&Path, &Path),
        until: Arc<dyn AsksToEnd>,
    ) -> Result<Guest, GuestFault> {
        Guest::booted(image, (role, Some(line)), console, until)
    }

    fn booted(
        image: &Image,
        (role, beside): (GuestRole, Option<&Path>),
        console: &Path,
        until: Arc<dyn AsksToEnd>,
    ) -> Result<Guest, GuestFault> {
        let lab = |error| GuestFault::failed("make a network for the guest", error);
        let namespace = Arc::new(Namespace::new().map_err(lab)?);
        let (end, ended) = mpsc::channel::<()>();
        let (told, started) = mpsc::channel();
        let (inside, mut qemu) = (Arc::clone(&namespace), qemu(image, (role, beside), console));
        // QEMU gets a signal when the thread that started it ends: this one ends with the process, or after QEMU.
        let keeper = thread::spawn(move || {
            let child = inside
                .enter()
                .map_err(|error| error.to_string())
                .and_then(|()| qemu.spawn().map_err(|error| error.to_string()));
            match child {
                Ok(mut child) => {
                    let (ask, said) = (child.stdin.take(), child.stdout.take());
                    let _whoever_boots_waits = told.send(Ok((ask, said, child.id())));
                    let _dropped = ended.recv();
                    finish(&mut child);
                }
                Err(why) => drop(told.send(Err(why))),
            }
        });
        let started = started.recv().unwrap_or_else(|gone| Err(gone.to_string()));
        let (ask, said, process) = match started {
            Ok((Some(ask), Some(said), process)) => (ask, said, process),
            Ok(_) => {
                return Err(GuestFault::failed(
                    "start QEMU",
                    "it has no standard input and output",
                ));
            }
            Err(why) => return Err(GuestFault::failed("start QEMU", why)),
        };
        let (line, lines) = mpsc::channel();
        thread::spawn(move || {
            let read = BufReader::new(said).lines().map_while(Result::ok);
            read.take_while(|text| line.send(text.trim_end_matches('\r').to_owned()).is_ok())
                .for_each(drop);
        });
        let mut guest = Guest {
            namespace,
            ask,
            said: lines,
            console: console.to_owned(),
            release: String::new(),
            end: Some(end),
            keeper: Some(keeper),
            process,
            role,
            beside: beside.is_some(),
            gid_v6: None,
            until,
        };
        guest.wake(role)?;
        Ok(guest)
    }

    /// Waits until it is ready, and gives the rig its address where the guest has one.
    fn wake(&mut self, role: GuestRole) -> Result<(), GuestFault> {
        let (_, answer) = self.answer("boot", BOOTS)?;
        let release = answer.strip_prefix("ready ");
        let release = release
            .ok_or_else(|| GuestFault::failed("use the guest", format!("it has {answer}")))?;
        self.release = release.to_owned();
        let lab = |error| GuestFault::failed("make a network for the guest", error);
        for tap in role.taps() {
            self.namespace.set_up(&tap, true).map_err(lab)?;
        }
        match role {
            GuestRole::Nic => self.namespace.set_address(TAP, IpAddr::V4(RIG), PREFIX).map_err(lab),
            // What talks to the other NIC is a NIC; the rig only passes it on.
            GuestRole::OtherNic | GuestRole::Switch(_) => Ok(()),
        }
    }

    /// Whether its programs reach the other guest's beside the rig.
    pub(crate) const fn has_line_beside(&self) -> bool {
        self.beside
    }

    /// The release of its kernel.
    pub fn release(&self) -> &str {
        &self.release
    }

    /// The process that it is: QEMU's.
    pub const fn process(&self) -> u32 {
        self.process
    }

    /// The network that its tap is in.
    pub fn namespace(&self) -> Arc<Namespace> {
        Arc::clone(&self.namespace)
    }

    /// Runs one line of shell in it, and waits for its end, but not longer than `patience`.
    ///
    /// # Errors
    /// The guest ended, is silent, or does not hear the line whole.
    pub fn run(&mut self, command: &str, patience: Duration) -> Result<ShellOutput, GuestFault> {
        let line = command.replace('\n', "; ");
        let line = line.trim();
        for _ in 0..SAID {
            let asked = writeln!(self.ask, "{} {line}", line.len());
            asked.and_then(|()| self.ask.flush()).map_err(|error| {
                GuestFault::failed(format!("run `{command}` in the guest"), error)
            })?;
            let (lines, status) = self.answer(command, patience)?;
            if status == TORN {
                continue;
            }
            let status = status.parse().map_err(|error| {
                GuestFault::failed(format!("read how `{command}` ended"), error)
            })?;
            return Ok(ShellOutput { status, lines });
        }
        let why = format!("it lost a part of the line {SAID} times");
        Err(GuestFault::failed(format!("run `{command}` in the guest"), why))
    }

    /// The index of its RoCE NIC's GID of IPv6. The first time both ends get their addresses.
    ///
    /// # Errors
    /// As [`run`](Self::run); no address, or no GID of it within some seconds.
    pub fn gid_of_v6(&mut self) -> Result<u32, GuestFault> {
        if let Some(index) = self.gid_v6 {
            return Ok(index);
        }
        let lab = |error| GuestFault::failed("make a network of IPv6 for the guest", error);
        let own = match self.role {
            GuestRole::Nic | GuestRole::Switch(_) => {
                self.namespace.set_address(TAP, IpAddr::V6(RIG_V6), PREFIX_V6).map_err(lab)?;
                GUEST_V6
            }
            GuestRole::OtherNic => OTHER_V6,
        };
        // The table of GIDs follows the addresses a little later, each in eight groups of four digits.
        let groups = own.segments().map(|group| format!("{group:04x}")).join(":");
        let find = format!(
            "/usr/bin/ip -6 addr add {own}/{PREFIX_V6} dev eth0 nodad && cd /sys/class/infiniband/rxe0/ports/1/gids && \
             for n in 1 2 3 4 5 6 7 8 9 10; do grep -l {groups} * 2>/dev/null && break; sleep 1; done"
        );
        let ran = self.run(&find, BOOTS)?;
        let index = ran.lines.first().and_then(|line| line.trim().parse().ok());
        let index = index.filter(|_| ran.status == 0).ok_or_else(|| {
            let why = format!("exit status {}: {}", ran.status, ran.lines.join("; "));
            GuestFault::failed("find the guest's GID of IPv6", why)
        })?;
        if self.role == GuestRole::Nic {
            // The first neighbour of IPv6 is found late, by up to some seconds: not in a trial.
            let ran = self.run(&format!("busybox ping -6 -c 1 -w 30 {RIG_V6}"), BOOTS)?;
            if ran.status != 0 {
                let why = ran.lines.join("; ");
                return Err(GuestFault::failed("reach the rig over IPv6 from the guest", why));
            }
        }
        self.gid_v6 = Some(index);
        Ok(index)
    }

    /// Counters of its RoCE NIC by their names in `hw_counters`.
    ///
    /// # Errors
    /// As [`run`](Self::run); there are none, or one is no number.
    pub fn counters(&mut self) -> Result<BTreeMap<String, u64>, GuestFault> {
        let read = "cd /sys/class/infiniband/rxe0/ports/1/hw_counters && grep . *";
        let ran = self.run(read, BOOTS)?;
        let one = |line: &String| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_owned(), value.parse().ok()?))
        };
        let all: Option<BTreeMap<String, u64>> = ran.lines.iter().map(one).collect();
        // One that is not there is not one of zero.
        let all = all.filter(|all| ran.status == 0 && !all.is_empty());
        all.ok_or_else(|| {
            let why = format!("exit status {}: {}", ran.status, ran.lines.join("; "));
            GuestFault::failed("read the counters of the guest's NIC", why)
        })
    }

    /// Lines behind `|`, and what stands behind the `=` that ends them.
    fn answer(
        &self,
        during: &str,
        patience: Duration,
    ) -> Result<(Vec<String>, String), GuestFault> {
        answer(&self.said, patience, &*self.until).map_err(|why| match why {
            Unanswered::Silent => {
                GuestFault::Lost { during: during.to_owned(), console: last(&self.console) }
            }
            Unanswered::Ended => GuestFault::failed(
                format!("wait for `{during}` in the guest"),
                "the end of the run was asked for, and it did not answer",
            ),
        })
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(keeper) = self.keeper.take() {
            let _it_only_waits = keeper.join();
        }
    }
}

/// Ends QEMU, and waits until it is gone.
fn finish(child: &mut Child) {
    let _ended_already = child.kill();
    let _gone = child.wait();
}

/// QEMU by software emulation, with a console in a file and the line for commands on its standard input and output. A kernel
/// that panics ends it.
fn qemu(image: &Image, (role, beside): (GuestRole, Option<&Path>), console: &Path) -> Command {
    let mut command = with_rig(std::process::id(), "qemu-system-x86_64");
    command.args(["-accel", "tcg", "-cpu", "max", "-m", "384", "-smp", "1", "-no-reboot"]);
    command.args(["-display", "none", "-monitor", "none", "-nic", "none"]);
    command.arg("-kernel").arg(&image.kernel).arg("-initrd").arg(&image.initrd);
    // While it boots a kernel sees whether its timer ticks, and panics where none came: on a machine that does much else one is late.
    let line =
        format!("console=ttyS0 quiet panic=-1 no_timer_check {}", role.told(beside.is_some()));
    command.arg("-append").arg(line);
    command.arg("-serial").arg(format!("file:{}", console.display()));
    command.args(["-serial", "stdio"]);
    for port in 0..role.ports() {
        let (name, mac) = (tap(port), mac(role, port));
        let tap = format!("tap,id=n{port},ifname={name},script=no,downscript=no,vnet_hdr=off");
        let nic = format!("virtio-net-pci,netdev=n{port},mac={mac},romfile=");
        command.args(["-netdev", &tap, "-device", &nic]);
    }
    if let Some(at) = beside {
        // Whoever waits removes what a run before left there.
        let waits = if role == GuestRole::Nic { "on" } else { "off" };
        let (at, mac) = (at.display(), mac(role, role.ports()));
        let line = format!("stream,id=beside,server={waits},addr.type=unix,addr.path={at}");
        let nic = format!("virtio-net-pci,netdev=beside,mac={mac},romfile=");
        command.args(["-netdev", &line, "-device", &nic]);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    // What QEMU itself has to say stands beside the console.
    let beside = fs::File::create(console.with_extension("qemu"));
    command.stderr(beside.map_or_else(|_| Stdio::null(), Stdio::from));
    command
}

/// The last lines of a console, and what QEMU said.
fn last(console: &Path) -> String {
    let read =
        |path: &Path| fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let text = read(&console.with_extension("qemu")).unwrap_or_default()
        + &read(console).unwrap_or_default();
    let lines: Vec<&str> =
        text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(QUOTED)..].join("\n")
}
