//! One unmodified perftest in a guest, with the rig at its other end.

use crate::GuestFault;
use crate::guest::{GUEST, Guest, HwCounters, OTHER, OTHER_BESIDE, RIG, RIG_V6, ShellOutput, TAP};
use crate::peer::{
    Asks, Conduct, Converses, Exchanged, FrameTap, Midway, OpenWay, QpPair, Station, in_six,
};
use crate::perftest::{Destination, Messages, Of, Opening, messages, peered, serve};
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use core::time::Duration;
use rig_frames::psn::Psn;
use rig_frames::roce::Qpn;
use rig_generator::netlab::Namespace;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use tokio::sync::oneshot;

/// Where perftest's servers listen, unless they are told otherwise.
pub(crate) const PORT: u16 = 18_515;
/// How long a program may take. Without KVM, on a machine that does much else, a guest is slow.
pub const PATIENCE: Duration = Duration::from_secs(300);
/// How `timeout` says that it has ended a program: that its time was over, or that it was told to.
pub const ENDS: [u8; 2] = [124, 143];
/// Programs whose client asks and whose server answers; and, of those of latency, two in which both ask in turn: one of SENDs, and one of WRITEs, in which the server begins.
pub const PROGRAMS: [&str; 8] =
    [SENDS, WRITES, MANY_READS, MANY_ATOMICS, SENDS_IN_TURN, WRITES_IN_TURN, READS, ATOMICS];
const SENDS: &str = "ib_send_bw";
const WRITES: &str = "ib_write_bw";
const MANY_READS: &str = "ib_read_bw";
const MANY_ATOMICS: &str = "ib_atomic_bw";
const SENDS_IN_TURN: &str = "ib_send_lat";
const WRITES_IN_TURN: &str = "ib_write_lat";
const READS: &str = "ib_read_lat";
const ATOMICS: &str = "ib_atomic_lat";
/// Queue pair of the first connection of a session: above those that are for management.
pub(crate) const FIRST_QP: u32 = 0x100;
/// Number of the first packet that the rig would send by the first.
const FIRST_PSN: u32 = 0x0a_5a5a;
/// What those of one and the next are apart, so that it is seen which of them an answer is for: of 16 the last is as far from the first.
const PSN_APART: u32 = 1 << 20;
/// What a peer is told of memory: nothing is protected.
const RKEY: u32 = 0x1_0001;
const MEMORY: u64 = 0x7f00_0000_0000;

/// What the flows of a session go over. Its two programs find each other over IPv4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FlowsOver {
    /// RoCEv2 over IPv4.
    #[default]
    V4,
    /// RoCEv2 over IPv6.
    V6,
}

/// Where a client of perftest runs: a NIC that is not the rig's, and a shell beside it.
pub trait PerftestHost {
    /// By what the NIC and the rig reach each other.
    ///
    /// # Errors
    /// It is lost, or has no such address.
    fn way(&mut self, over: FlowsOver) -> Result<RigEnd, GuestFault>;

    /// What its NIC has counted so far, by the names that it has for it.
    ///
    /// # Errors
    /// It is lost; there is nothing, or something that is no number.
    fn counters(&mut self) -> Result<BTreeMap<String, u64>, GuestFault>;

    /// Runs one line of shell there, and waits for its end, but not longer than `patience`.
    ///
    /// # Errors
    /// It is lost.
    fn run(&mut self, line: &str, patience: Duration) -> Result<ShellOutput, GuestFault>;

    /// The address of its NIC, at which its programs are found.
    ///
    /// # Errors
    /// It is lost, or its NIC has none.
    fn address(&mut self) -> Result<Ipv4Addr, GuestFault>;

    /// Where its programs find those of a NIC that the rig is not, but stands in front of.
    fn across(&self) -> WayAcross;

    /// Whether all its lines are run by one shell, with which what was started there is to end: a guest ends as a whole.
    fn has_one_shell(&self) -> bool {
        false
    }

    /// Starts programs that go on beside what else is run there: the numbers by which they are ended.
    ///
    /// # Errors
    /// It is lost.
    fn start(&mut self, commands: &[String]) -> Result<Vec<u32>, GuestFault> {
        let each = commands.iter().map(|command| {
            format!("{command} >/dev/null 2>&1 & rig_beside=\"$rig_beside $!\"; echo $!; ")
        });
        let last =
            if self.has_one_shell() { "trap 'kill $rig_beside 2>/dev/null' EXIT" } else { "true" };
        let ran =
            self.run(&format!("rig_beside=; {}{last}", each.collect::<String>()), PATIENCE)?;
        let numbers = ran.lines.iter().map(|line| line.trim().parse().ok());
        let numbers = numbers.collect::<Option<Vec<u32>>>();
        numbers
            .filter(|all| all.len() == commands.len())
            .ok_or_else(|| GuestFault::failed("start programs there", ran.lines.join("; ")))
    }

    /// Whether a program that was started so has ended, by its number.
    ///
    /// # Errors
    /// It is lost.
    fn has_ended(&mut self, number: u32) -> Result<bool, GuestFault> {
        // One that its shell has not waited for yet has its number still, and the state of a dead one (proc(5)).
        let state = format!("grep -q '^State:.[^XZ]' /proc/{number}/status 2>/dev/null");
        let ran =
            self.run(&format!("if {state}; then echo runs; else echo ended; fi"), PATIENCE)?;
        Ok(ran.lines.iter().any(|line| line.trim() == "ended"))
    }

    /// Ends programs that were started so. One that has ended by itself is no fault.
    ///
    /// # Errors
    /// It is lost.
    fn end(&mut self, started: &[u32]) -> Result<(), GuestFault> {
        let numbers = started.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let last = if self.has_one_shell() { "trap - EXIT" } else { "true" };
        let all = format!("kill {numbers} 2>/dev/null; wait {numbers} 2>/dev/null; {last}");
        self.run(&all, PATIENCE).map(drop)
    }
}

/// The rig's end of the way to a NIC.
#[derive(Debug, Clone)]
pub struct RigEnd {
    /// The network that its interface is in.
    pub namespace: Arc<Namespace>,
    /// Its interface there.
    pub interface: String,
    /// Its address, by which the two programs find each other.
    pub meets: Ipv4Addr,
    /// Its address to which flows go.
    pub own: IpAddr,
    /// Flags of perftest for the device, its port and its GID.
    pub nic: String,
}

/// How the programs of two NICs find each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WayAcross {
    /// The address at which the other one's is found.
    pub finds: Ipv4Addr,
    /// Whether they talk beside the rig, and not through it.
    pub beside: bool,
}

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Perftest {
    /// A name of [`PROGRAMS`].
    pub program: String,
    /// Flags of perftest's own, beside those for device, GID and port.
    pub flags: Vec<String>,
    /// How the rig behaves as the other end of each of its connections.
    pub conduct: Conduct,
    /// By which of its addresses the guest's NIC is used.
    pub over: FlowsOver,
    /// How long it may take until it is ended.
    pub patience: Duration,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Came {
    /// How the program ended, and what it said.
    pub ran: ShellOutput,
    /// What passed at the rig.
    pub passed: Exchanged,
    /// What the NIC had counted before, and after it.
    pub counters: HwCounters,
    /// The same of a second NIC, where there was one.
    pub other: Option<HwCounters>,
    /// Why the rig's side of the exchange ended early; `None` where both sides were done.
    pub unfinished: Option<String>,
}

impl Perftest {
    /// The first of these flags that is none for a shell's eyes: flags of perftest are letters, digits, `-`, `_`, `.` and `=`.
    pub fn odd(flags: &[String]) -> Option<&String> {
        let plain = |word: &String| {
            word.chars().all(|letter| letter.is_ascii_alphanumeric() || "-_.=".contains(letter))
        };
        flags.iter().find(|word| !plain(word))
    }

    /// Runs it at `host`, whose program is the client, and asks.
    ///
    /// # Errors
    /// A host that is lost; a port of the rig that breaks.
    pub fn run(&self, host: &mut dyn PerftestHost, record: FrameTap) -> Result<Came, GuestFault> {
        self.run_through(host, (record, Box::new(OpenWay)))
    }

    /// The same, with something done to frames on the way.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_through(
        &self,
        host: &mut dyn PerftestHost,
        between: (FrameTap, Box<dyn Midway>),
    ) -> Result<Came, GuestFault> {
        let before = host.counters()?;
        let RigEnd { namespace, interface, meets, own, nic } = host.way(self.over)?;
        let station = Station::start(&namespace, &interface, own, between)?;
        let (bound, listens) = mpsc::channel();
        let (over, ended) = oneshot::channel();
        let (ran, unfinished) = thread::scope(|scope| {
            let server = scope.spawn(|| {
                let at = (0, own, meets);
                let served = namespace.run(|| self.serve(&station, at, &bound, ended));
                served.map_err(|error| error.to_string()).and_then(|served| served)
            });
            let command = format!("{} {meets}", self.command(&nic, PORT));
            // Where it does not listen the server has ended, and says why.
            let ran = match listens.recv() {
                Ok(()) => Some(host.run(&command, PATIENCE * 2)),
                Err(_) => None,
            };
            drop(over);
            let served = server.join().unwrap_or_else(|_| Err("it panicked".to_owned()));
            (ran, served.err())
        });
        let passed = station.finish();
        let Some(ran) = ran else {
            let why = unfinished.unwrap_or_default();
            return Err(GuestFault::failed("listen for perftest", why));
        };
        let (ran, passed) = (ran?, passed?);
        let counters = HwCounters { before, after: host.counters()? };
        let unfinished = unfinished.or_else(|| passed.refused());
        Ok(Came { ran, passed, counters, other: None, unfinished })
    }

    /// The program with its flags, as a guest's shell is told: a server, and a client with its address behind it.
    pub(crate) fn command(&self, nic: &str, port: u16) -> String {
        format!(
            "timeout -k 1 {} {} {nic} -F --port {port} {}",
            self.patience.as_secs().max(1),
            self.program,
            self.flags.join(" ")
        )
    }

    /// Whether the rig is a peer of it at all.
    ///
    /// # Errors
    /// A flag that says otherwise, with what would be taken.
    pub fn peered(&self) -> Result<(), String> {
        peered(&self.flags)
    }

    /// What its messages are, where the rig has to know that.
    ///
    /// # Errors
    /// Its flags say something else than one number of messages of one size, by the flag's name.
    pub fn messages(&self) -> Result<Messages, String> {
        let program = self.program.as_str();
        let bandwidth = match program {
            WRITES => Some(5_000),
            SENDS | MANY_READS | MANY_ATOMICS => Some(1_000),
            _ => None,
        };
        let words = matches!(program, ATOMICS | MANY_ATOMICS);
        messages(&self.flags, Of { words, bandwidth })
    }

    /// Whether its server sees nothing of what comes at it: it is told when all has come, and how fast.
    pub(crate) fn is_told(&self) -> bool {
        matches!(self.program.as_str(), WRITES | MANY_READS | MANY_ATOMICS)
    }

    /// Whether the rig as its server has to know them: it writes as much as it is written to, and first.
    pub fn has_to_know(&self) -> bool {
        self.program == WRITES_IN_TURN
    }

    /// What the rig as the server sends by itself to a queue pair of the program.
    fn converses(&self, theirs: &Destination) -> io::Result<Option<Converses>> {
        if self.program == SENDS_IN_TURN {
            let (asks, begins) = (Asks::Send, false);
            return Ok(Some(Converses { asks, begins, size: None, count: None, at_once: None }));
        }
        if !self.has_to_know() {
            return Ok(None);
        }
        self.says(theirs, true).map(Some).map_err(io::Error::other)
    }

    /// What the rig says to a queue pair of a program as its client; and as its server, where that asks, too.
    pub(crate) fn says(&self, theirs: &Destination, as_server: bool) -> Result<Converses, String> {
        let Messages { size, count, at_once, .. } = self.messages()?;
        let (at, key) = (theirs.virtual_address, theirs.rkey);
        // What has to be answered, and not acknowledged alone, has room there for so many.
        let answered = at_once.min(theirs.out_reads.max(1).into());
        let (asks, begins, at_once) = match self.program.as_str() {
            // Of WRITEs in turn the server has the first.
            WRITES_IN_TURN => (Asks::Write(at, key), as_server, None),
            SENDS_IN_TURN => (Asks::Send, !as_server, None),
            SENDS => (Asks::Send, true, Some(at_once)),
            WRITES => (Asks::Write(at, key), true, Some(at_once)),
            READS | MANY_READS => (Asks::Read(at, key), true, Some(answered)),
            ATOMICS | MANY_ATOMICS => (Asks::FetchAdd(at, key), true, Some(answered)),
            other => return Err(format!("{other} is no program of perftest")),
        };
        Ok(Converses { asks, begins, size: Some(size), count: Some(count), at_once })
    }

    /// Whether it says nothing when it is done, but goes away.
    pub(crate) fn hangs_up(&self) -> bool {
        self.program == WRITES_IN_TURN
    }

    /// The rig's side of the exchange with one of several programs, by its place, until both are done or the program has ended.
    pub(crate) fn serve(
        &self,
        station: &Station,
        (place, address, meets): (u16, IpAddr, Ipv4Addr),
        bound: &mpsc::Sender<()>,
        ended: oneshot::Receiver<()>,
    ) -> Result<(), String> {
        let runtime = Builder::new_current_thread().enable_io().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let talk = async {
            let listener = TcpListener::bind((meets, PORT + place)).await?;
            let _whoever_asks_waits = bound.send(());
            let (mut line, _) = listener.accept().await?;
            line.set_nodelay(true)?;
            let mut next = FIRST_QP + u32::from(place);
            let meet = |opening: &Opening, theirs: &Destination| {
                let own =
                    Qpn::new(next).ok_or_else(|| io::Error::other("no queue pair is left"))?;
                next += 1;
                let ends = ends((own, address), opening, theirs);
                let met = station.meet(ends, self.conduct.clone(), self.converses(theirs)?);
                met.map_err(io::Error::other)?;
                Ok(rig_end((ends.own, ends.own_psn), ends.own_ip, theirs.out_reads))
            };
            let begins = |ours: &Destination| station.ready(ours.qpn).map_err(io::Error::other);
            serve(&mut line, meet, (begins, self.hangs_up())).await
        };
        runtime.block_on(async {
            tokio::select! {
                // A program that is done has said so before it ended.
                biased;
                served = talk => served.map(drop).map_err(|error| error.to_string()),
                _ = ended => Err("the program ended before the exchange did".to_owned()),
            }
        })
    }
}

impl PerftestHost for Guest {
    fn way(&mut self, over: FlowsOver) -> Result<RigEnd, GuestFault> {
        let (own, gid) = match over {
            FlowsOver::V4 => (IpAddr::V4(RIG), GID_V4),
            FlowsOver::V6 => (IpAddr::V6(RIG_V6), self.gid_of_v6()?),
        };
        let (interface, nic) = (TAP.to_owned(), rxe(gid));
        Ok(RigEnd { namespace: self.namespace(), interface, meets: RIG, own, nic })
    }

    fn counters(&mut self) -> Result<BTreeMap<String, u64>, GuestFault> {
        Guest::counters(self)
    }

    fn run(&mut self, line: &str, patience: Duration) -> Result<ShellOutput, GuestFault> {
        Guest::run(self, line, patience)
    }

    fn address(&mut self) -> Result<Ipv4Addr, GuestFault> {
        Ok(GUEST)
    }

    fn across(&self) -> WayAcross {
        match self.has_line_beside() {
            true => WayAcross { finds: OTHER_BESIDE, beside: true },
            false => WayAcross { finds: OTHER, beside: false },
        }
    }
}

/// Index of the GID of a guest's address of IPv4: the first is that of the link-local one.
pub(crate) const GID_V4: u32 = 1;

/// Flags of perftest for a guest's NIC.
pub(crate) fn rxe(gid: u32) -> String {
    format!("-d rxe0 -x {gid}")
}

pub(crate) fn ends(
    (own, own_ip): (Qpn, IpAddr),
    opening: &Opening,
    theirs: &Destination,
) -> QpPair {
    QpPair {
        own,
        peer: theirs.qpn,
        peer_psn: theirs.psn,
        own_psn: first_psn(own),
        own_ip,
        // A GID of IPv4 is its address in one of IPv6 (RFC 4291, 2.5.5.2).
        peer_ip: Ipv6Addr::from(theirs.gid).to_canonical(),
        mtu: opening.mtu_bytes(),
    }
}

/// Number of the first packet that one of the rig's queue pairs sends.
pub(crate) fn first_psn(own: Qpn) -> Psn {
    Psn::new(FIRST_PSN).advance(own.get().wrapping_sub(FIRST_QP).wrapping_mul(PSN_APART))
}

/// What the peer is told of an end of the rig's, which takes so many READs at once.
pub(crate) fn rig_end((qpn, psn): (Qpn, Psn), address: IpAddr, out_reads: u16) -> Destination {
    Destination {
        lid: 0,
        out_reads,
        qpn,
        psn,
        rkey: RKEY,
        virtual_address: MEMORY,
        gid: in_six(address).octets(),
        srqn: 0,
    }
}
