//! The command line, as scripts hold on to it.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;

/// Exit codes, printed below every help text.
const EXIT_CODES: &str = "\
Exit codes (where several apply: 2, 4, 1, 3, 0):
  0  all passed; mutants: all killed or proven equivalent; compare: nothing got worse
  1  a case failed; mutants: a survivor; compare: a new failure, or a shift under one seed
  2  the input is wrong: a test case, the lab, a flag
  3  a case was inconclusive and none failed
  4  the rig or the lab broke, or it was interrupted; the report is marked partial
  5  nothing ran";

/// Measures the micro-behaviours of RDMA switches and NICs and judges them against a reference oracle.
#[derive(Debug, Parser)]
#[command(name = "rigctl", version, after_help = EXIT_CODES, max_term_width = 110)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// One command.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run test cases and judge what they measure.
    #[command(after_help = EXIT_CODES)]
    Run(RunArgs),
    /// Read and resolve test cases and the lab, run nothing.
    #[command(after_help = EXIT_CODES)]
    Check(Selection),
    /// List cases, one a line.
    List(Selection),
    /// Tell what a case does: stimulus, formula, source.
    Explain(ExplainArgs),
    /// Run every mutant of the device against the catalogue: which case kills it.
    #[command(after_help = EXIT_CODES)]
    Mutants(MutantsArgs),
    /// Run the analysers on a capture from anywhere, pcap or pcapng.
    Analyze(AnalyzeArgs),
    /// Compare two results.json: new failures, measurements shifted beyond their uncertainty.
    #[command(after_help = EXIT_CODES)]
    Compare(CompareArgs),
    /// Print the JSON Schema of a kind of file, for editors.
    Schema(SchemaArgs),
    /// The emulated device on real ports, as a process of its own.
    #[command(subcommand)]
    Dut(DutCommand),
    /// Measure this machine: `oracle` (packet-hops per CPU second and memory), `frames` (building and ICRC).
    Bench(BenchArgs),
}

/// Which cases, on which devices.
#[derive(Debug, Clone, Args)]
pub struct Selection {
    /// Test-case files or folders of them; without any, the bundled catalogue.
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
    /// Cases that run side by side; without it one per core. Changes no result.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub jobs: Option<u16>,
    /// Make the emulated device depart from what it declares: PATH=VALUE (`223ms`, `x1.1`, `+10ms`) or
    /// deviation=NAME, where it takes one deviation=NAME:VALUE. May be given several times; `rigctl mutants --list` prints all.
    #[arg(long, value_name = "PATH=VALUE")]
    pub mutate: Vec<String>,
    /// Where reports and evidence go; without it `rig-runs/<UTC time>-<seed>`, and `rig-runs/latest` points at it.
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Also write the JUnit report here.
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
    /// Which trials keep their capture: the first of each case and every one with a finding, all, or none.
    #[arg(long, value_enum, default_value_t = Keep::First)]
    pub evidence: Keep,
    /// Print measured and predicted values of passed cases too.
    #[arg(long, short)]
    pub verbose: bool,
}

/// What stdout gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text for people; not an interface.
    Human,
    /// Versioned, for scripts; of a run it is `results.json`.
    Json,
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
    /// Test-case files or folders of them; without any, the bundled catalogue.
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
    /// Print every mutant and every deviation, run nothing.
    #[arg(long)]
    pub list: bool,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// `analyze`
#[derive(Debug, Clone, Args)]
pub struct AnalyzeArgs {
    /// The capture.
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

/// `compare`
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {
    /// The earlier results.json.
    pub old: PathBuf,
    /// The later results.json.
    pub new: PathBuf,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
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
}

/// `dut`
#[derive(Debug, Clone, Subcommand)]
pub enum DutCommand {
    /// Serve an emulated device on network interfaces, in real time, until it is asked to end.
    Serve(ServeArgs),
}

/// `dut serve`
#[derive(Debug, Clone, Args)]
pub struct ServeArgs {
    /// The profile of the device.
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// A bundled device, by name, instead of a profile.
    #[arg(long, value_name = "NAME", conflicts_with = "profile")]
    pub dut: Option<String>,
    /// An interface for each of its ports: the first one is port 0.
    #[arg(long, value_name = "IF", required = true, num_args = 1..)]
    pub port: Vec<String>,
    /// Where it is steered: the path of a socket, @NAME for one without a file, or - for standard input and output.
    #[arg(long, value_name = "SOCKET")]
    pub control: String,
    /// Run every port at this rate instead of the declared one: slow ports make long pauses, which survive a machine that
    /// looks away.
    #[arg(long, value_name = "RATE")]
    pub speed: Option<rig_units::PortSpeed>,
    /// Make the device depart from what it declares: PATH=VALUE (`223ms`, `x1.1`, `+10ms`) or
    /// deviation=NAME, with `:VALUE` behind it where it takes one.
    #[arg(long, value_name = "PATH=VALUE")]
    pub mutate: Vec<String>,
    /// Everything random in it follows from this number, until it is booted with another.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// End when whoever booted it hangs up. With `--control -` that is always so.
    #[arg(long)]
    pub until_hangup: bool,
}

/// `bench`
#[derive(Debug, Clone, Args)]
pub struct BenchArgs {
    /// What to measure.
    #[arg(value_enum)]
    pub what: BenchKind,
    /// What stdout gets.
    #[arg(long, value_enum, default_value_t = Format::Human)]
    pub format: Format,
}

/// What can be measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum BenchKind {
    /// The simulation engine.
    Oracle,
    /// Building frames and their ICRC.
    Frames,
}
