//! The command line, as scripts hold on to it.

mod arguments;
mod bench;
mod capture;
mod compare;
mod dut;
mod effort;
mod format;
mod guest;
mod host;
mod lint;
mod profile;
mod size;
mod stream;

pub use arguments::arguments;
pub use bench::OracleArgs;
pub use capture::{CaptureFlags, CaptureKind};
pub use compare::{AllowFlags, CompareArgs};
pub use dut::{DutCommand, SayArgs, ServeArgs, ServedAs};
pub use effort::{CheckArgs, EffortLevel};
pub use format::Format;
pub use guest::{GuestArgs, GuestCommand, PerftestArgs, PerftestEnd};
pub use host::{NicArgs, SetArgs};
pub use lint::LintArgs;
pub use profile::{FromDutArgs, ProfileCommand};
pub use size::SizeArgs;
pub use stream::StreamFlags;

use clap::{Args, Parser, Subcommand, ValueEnum};
use rig_units::Bytes;
use std::path::PathBuf;

/// Exit codes, printed below every help text.
const EXIT_CODES: &str = "\
Exit codes (where several apply: 2, 4, 1, 3, 0):
  0  all passed; mutants: all killed or proven equivalent; compare: nothing got worse
  1  a case failed; mutants: a survivor; compare: something got worse
  2  the input is wrong: a test case, the lab, a flag
  3  a case was inconclusive and none failed
  4  the rig or the lab broke, or it was interrupted: the report is marked partial; or standard output cannot be
     written, as on a full disk
  5  nothing ran";

/// Exit codes of `doctor`.
const DOCTOR_CODES: &str = "\
Exit codes:
  0  everything that the lab needs is there
  2  the input is wrong: the lab, a flag
  4  something that the lab needs is missing (NEED), or the cable does not pass what it must; or standard output
     cannot be written";

/// Printed below the help of `restore`.
const RESTORE_HELP: &str = "\
Before a run changes anything outside itself, such as setting a link down, it writes that to a journal, and strikes it out once it
is undone. Journals are in /var/lib/rigctl of root, in $XDG_STATE_HOME/rigctl or ~/.local/state/rigctl of others; RIGCTL_STATE
names another folder. What living runs and other network namespaces have changed is named and left alone. The next run on an
interface puts back by itself what was left changed there.

Exit codes:
  0  nothing is left
  4  something could not be restored; with --dry-run: something is to be restored";

/// Measures the micro-behaviours of RDMA switches and NICs and judges them against a reference oracle.
#[derive(Debug, Parser)]
#[command(name = "rigctl", version, after_help = EXIT_CODES, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run test cases and judge what they measure.
    #[command(after_help = EXIT_CODES)]
    Run(RunArgs),
    /// Read and resolve test cases and the lab, run nothing.
    #[command(after_help = EXIT_CODES)]
    Check(CheckArgs),
    /// List cases, one a line: the device that each would run on, what cannot be had of it in the lab, or why it is skipped.
    List(Selection),
    /// Tell what a case does: stimulus, formula, source.
    Explain(ExplainArgs),
    /// Run every mutant of the device against the catalogue: which case kills it.
    #[command(after_help = EXIT_CODES)]
    Mutants(MutantsArgs),
    /// Run the analysers on a capture from anywhere, pcap or pcapng.
    Analyze(AnalyzeArgs),
    /// Make the reports of a run again from the events in its folder; of a run that was killed they say so.
    #[command(after_help = EXIT_CODES)]
    Report(ReportArgs),
    /// Compare two results.json: new failures, what is no longer shown, measurements shifted beyond their uncertainty.
    #[command(after_help = compare::CODES)]
    Compare(CompareArgs),
    /// How large buffers and thresholds must be for a speed, a cable and a load: each figure with its formula, its numbers and its source.
    #[command(after_help = size::HELP)]
    Size(SizeArgs),
    /// Name what is mis-sized in a profile or a lab, each with its place, its formula and its numbers; run nothing.
    #[command(after_help = lint::HELP)]
    Lint(LintArgs),
    /// Make the profile of a device from what it says of itself.
    #[command(subcommand)]
    Profile(ProfileCommand),
    /// Print the JSON Schema of a kind of file, for editors.
    Schema(SchemaArgs),
    /// What this machine and a lab can do, what is missing, and how to get it.
    #[command(after_help = DOCTOR_CODES)]
    Doctor(DoctorArgs),
    /// Put back what runs that were killed have left changed, such as a link that is down.
    #[command(after_help = RESTORE_HELP)]
    Restore(RestoreArgs),
    /// The emulated device on real ports, as a process of its own.
    #[command(subcommand)]
    Dut(DutCommand),
    /// Linux in a virtual machine as a device that nobody here wrote.
    #[command(subcommand)]
    Guest(GuestCommand),
    /// Send any stream by hand, to a port or to a file.
    #[command(after_help = GEN_HELP)]
    Gen(Box<GenArgs>),
    /// Measure this machine.
    #[command(subcommand)]
    Bench(BenchCommand),
}

/// Which cases, on which devices.
#[derive(Debug, Clone, Args)]
pub struct Selection {
    /// Test-case files, folders of them, or `-` for standard input; without any, the bundled catalogue.
    pub paths: Vec<PathBuf>,
    /// The lab; without it the bundled emulated one.
    #[arg(long, value_name = "FILE")]
    pub lab: Option<PathBuf>,
    /// Only this device of the lab, by name, or a profile file.
    #[arg(long, value_name = "PROFILE")]
    pub dut: Option<String>,
    /// Only cases whose id matches, such as `pfcwd::detection-*`.
    #[arg(long, value_name = "GLOB")]
    pub only: Option<String>,
}

/// `run`
#[derive(Debug, Clone, Args)]
pub struct RunArgs {
    /// Which cases, on which devices.
    #[command(flatten)]
    pub selection: Selection,
    /// Everything random follows from this number (decimal, 64 bits); without it one is drawn and printed.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// How much the run takes upon itself: trials where a case does not say how many.
    #[arg(long, value_enum, default_value_t = EffortLevel::Standard)]
    pub effort: EffortLevel,
    /// Cases that run side by side; without it one per core. Changes no result.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// Make the emulated device depart from what it declares: PATH=VALUE (`223ms`, `x1.1`, `+10ms`) or
    /// deviation=NAME, where it takes one deviation=NAME:VALUE; of one device of a system with its name and `/` before either.
    /// May be given several times; `rigctl mutants --list` prints all.
    #[arg(long, value_name = "PATH=VALUE")]
    pub mutate: Vec<String>,
    /// Where reports and evidence go; without it `rig-runs/<UTC time>-<seed>`, and `rig-runs/latest` points at it.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Where the folder of --out or --capture holds an earlier run, move that away: `night` becomes `night~1`. Without this it is
    /// not touched, and nothing runs.
    #[arg(long)]
    pub overwrite: bool,
    /// Also write the JUnit report here.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Which trials keep their capture: the first of each case and every one with a finding, all, or none.
    #[arg(long, value_enum, default_value_t = Keep::First)]
    pub evidence: Keep,
    /// Most that the captures of the run take, such as 20MB, given away in the order of the cases; of it, captures that no
    /// finding cites get three quarters. What is left out is told.
    #[arg(long, value_name = "SIZE")]
    pub evidence_budget: Option<Bytes>,
    /// Print measured and predicted values of passed cases too.
    #[arg(long, short)]
    pub verbose: bool,
    /// Also write every frame that passes the rig's ports into DIR/SUITE/CASE/TRIAL.pcapng, trial by trial: real time only.
    /// No verdict rests on it: what it leaves out is told and changes none.
    #[arg(long, value_name = "DIR", help_heading = "Capture")]
    pub capture: Option<PathBuf>,
    /// What of it is kept.
    #[command(flatten)]
    pub keeps: CaptureFlags,
}

/// Which trials keep their capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Keep {
    /// The first trial of each case and every trial with a finding.
    First,
    /// Every trial.
    All,
    /// None.
    None,
}

/// `explain`
#[derive(Debug, Clone, Args)]
pub struct ExplainArgs {
    /// The case: `suite::case`.
    pub case: String,
    /// Test-case files, folders of them, or `-` for standard input; without any, the bundled catalogue.
    pub paths: Vec<PathBuf>,
    /// The lab; without it the bundled emulated one.
    #[arg(long, value_name = "FILE")]
    pub lab: Option<PathBuf>,
    /// Only this device of the lab, by name, or a profile file.
    #[arg(long, value_name = "PROFILE")]
    pub dut: Option<String>,
}

/// `mutants`
#[derive(Debug, Clone, Args)]
pub struct MutantsArgs {
    /// Which cases, on which devices.
    #[command(flatten)]
    pub selection: Selection,
    /// Everything random follows from this number.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Mutants tried side by side; without it one per core.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// Print every mutant, and what each deviation is; run nothing.
    #[arg(long)]
    pub list: bool,
    /// The other way round: for each case the first mutant that turns it red by itself; exit 1 when one shows nothing.
    #[arg(long, conflicts_with = "list")]
    pub per_case: bool,
    /// With --per-case: try every mutant on every case.
    #[arg(long, requires = "per_case")]
    pub full: bool,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `analyze`
#[derive(Debug, Clone, Args)]
pub struct AnalyzeArgs {
    /// The capture; - for what comes by standard input.
    pub file: PathBuf,
    /// The lab that it was taken in; without it the bundled emulated one.
    #[arg(long, value_name = "FILE")]
    pub lab: Option<PathBuf>,
    /// The device that it was taken at, by its name in the lab, or a profile file: what it declares says how to read the
    /// capture. Without it the first one of the lab.
    #[arg(long, value_name = "PROFILE")]
    pub dut: Option<String>,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `report`
#[derive(Debug, Clone, Args)]
pub struct ReportArgs {
    /// The folder of the run.
    pub folder: PathBuf,
    /// Also write each plot of what was measured, and each curve, as an SVG of its own below the folder: `figures/SUITE/CASE-N-MEASURE.svg`.
    #[arg(long)]
    pub figures: bool,
}

/// `schema`
#[derive(Debug, Clone, Args)]
pub struct SchemaArgs {
    /// Which kind of file.
    #[arg(value_enum)]
    pub kind: SchemaKind,
}

/// Kinds of file that have a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SchemaKind {
    /// Test cases.
    Testcase,
    /// Labs.
    Lab,
    /// DUT profiles.
    Dut,
    /// What `rigctl run` leaves in results.json.
    Results,
}

/// `doctor`
#[derive(Debug, Clone, Args)]
pub struct DoctorArgs {
    /// The lab; without it the bundled emulated one, which needs nothing. Only interfaces that it names are touched: each is
    /// opened as a run would open it, and let go again.
    #[arg(long, value_name = "FILE")]
    pub lab: Option<PathBuf>,
    /// Also send PFC, 802.3x and ordinary frames between two interfaces that are cabled to each other, both ways: many
    /// NICs keep MAC Control to themselves. By name, or as the lab's ports: p1 p2.
    #[arg(long, value_names = ["IF", "IF"], num_args = 2)]
    pub cabled: Vec<String>,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `restore`
#[derive(Debug, Clone, Args)]
pub struct RestoreArgs {
    /// Only list what would be restored.
    #[arg(long)]
    pub dry_run: bool,
}

/// Printed below the help of `gen`.
const GEN_HELP: &str = "\
Several streams are merged to one timeline: --stream 'kind=udp,size=256B,every=10us,count=500' may be given several
times, with the names of the flags above as keys. A list takes turns from frame to frame: --dscp 3+4, --qpn 5..20.

Examples:
  rigctl gen --port p1 --kind roce-write --size 1024B --rate 10Gbps-L1 --dscp 3 --qpn 5 --for 2s
  rigctl gen --port p1 --pfc 3:65535q --every 20us --for 500ms
  rigctl gen --to out.pcapng --stream 'kind=roce-send,every=1us,count=9' --stream 'cnp=on,every=5us,count=2'

Exit codes:
  0  sent, or written; a stream without an end was ended by Ctrl-C
  2  the input is wrong; nothing was sent
  4  the port or the file broke, streams with an end were interrupted, or standard output cannot be written";

/// `gen`
#[derive(Debug, Clone, Args)]
#[command(group = clap::ArgGroup::new("where").required(true).args(["port", "to"]))]
pub struct GenArgs {
    /// Send by this interface.
    #[arg(long, value_name = "IF")]
    pub port: Option<String>,
    /// Write the frames into this capture file instead, each at the time of its last bit.
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
    /// What to send.
    #[command(flatten)]
    pub streams: StreamFlags,
    /// The speed of the port, if it does not say it itself; of a file 100Gbps.
    #[arg(long, value_name = "SPEED")]
    pub speed: Option<String>,
    /// Do not stop for PFC. Without this a paused class stands still, and its stream still ends when it should.
    #[arg(long)]
    pub ignore_pfc: bool,
    /// Stop every class for PAUSE frames of 802.3x too.
    #[arg(long)]
    pub link_pause: bool,
    /// After the machine stood still send all that was due, one right after the other; without this what was due more
    /// than 1 ms ago is left out and counted.
    #[arg(long)]
    pub catch_up: bool,
    /// What carries the frames.
    #[arg(long, value_enum, default_value_t = Carrier::AfXdp)]
    pub carrier: Carrier,
    /// The one queue of the interface that is sent and received by; without it all.
    #[arg(long, value_name = "N")]
    pub queue: Option<u32>,
    /// The processor that sends; without it the last one.
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Also write every frame that passes the port, sent or received, into this pcapng file.
    #[arg(long, value_name = "FILE", conflicts_with = "to", help_heading = "Capture")]
    pub capture: Option<PathBuf>,
    /// What of it is kept.
    #[command(flatten)]
    pub keeps: CaptureFlags,
}

/// What carries frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Carrier {
    /// An AF_XDP socket.
    AfXdp,
    /// An AF_PACKET socket, for interfaces without XDP.
    AfPacket,
}

/// `bench`
#[derive(Debug, Clone, Subcommand)]
pub enum BenchCommand {
    /// The simulation engine: packet-hops per CPU second, and memory; on request beside any other program.
    #[command(after_help = bench::ORACLE_HELP)]
    Oracle(OracleArgs),
    /// Building frames and their ICRC, in CPU time.
    Frames(FormatArgs),
    /// How exactly frames are paced, beside what the machine itself allows, and how well storms are held.
    Pacing(PacingArgs),
    /// How many frames a second a port takes, on request beside DPDK's testpmd.
    Tx(TxArgs),
}

/// What stdout gets.
#[derive(Debug, Clone, Args)]
pub struct FormatArgs {
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `bench pacing`
#[derive(Debug, Clone, Args)]
pub struct PacingArgs {
    /// Send from this interface; without it over a pair of virtual ones made for this.
    #[arg(long, value_name = "IF")]
    pub port: Option<String>,
    /// Where the frames arrive, to count and stamp them there.
    #[arg(long, value_name = "IF", requires = "port")]
    pub peer: Option<String>,
    /// Pairs of floor and sending, taking turns, and rounds of every storm.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub pairs: u16,
    /// Storms take turns with a plain Python loop that sends the same frames as test scripts do: it sends and sleeps.
    #[arg(long)]
    pub against_python: bool,
    /// The processor that sends; without it the last one.
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `bench tx`
#[derive(Debug, Clone, Args)]
pub struct TxArgs {
    /// Send from this interface; without it over a pair of virtual ones made for this.
    #[arg(long, value_name = "IF")]
    pub port: Option<String>,
    /// Where the frames arrive, to read some back there.
    #[arg(long, value_name = "IF", requires = "port")]
    pub peer: Option<String>,
    /// Rounds of each size.
    #[arg(long, value_name = "N", default_value_t = 9, value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub rounds: u16,
    /// Take turns with `dpdk-testpmd --forward-mode=txonly` over net_af_xdp, at 64 B and 1024 B.
    #[arg(long)]
    pub against_testpmd: bool,
    /// Send sixteen flows by every queue of the interface, and take turns with one queue alone; a pair made for this has four.
    #[arg(long, conflicts_with = "against_testpmd")]
    pub against_one_queue: bool,
    /// The processor that sends; without it the last one.
    #[arg(long, value_name = "N")]
    pub cpu: Option<usize>,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}
