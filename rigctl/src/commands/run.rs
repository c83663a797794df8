//! `rigctl run`: cases side by side, one stream of events to every report.

use super::hold::hold;
use super::input::{Bad, Input};
use super::restore;
use crate::cli::{EffortLevel, Format, Keep, RunArgs};
use crate::executor::Benches;
use crate::executor::guest::{FlowNics, GuestHost, GuestNics, ServerNics};
use crate::executor::wire::{Bridged, ControlPath, Serve, Start};
use crate::fence::{self, Gap};
use crate::folder::{self, NoTrouble, Refused, Trouble};
use crate::interrupt::Requests;
use crate::mutation;
use crate::outdir::OutDir;
use crate::report_files::{EVENTS, Files};
use crate::rights::{self, Work};
use crate::runner::case::{self, Rig};
use crate::runner::estimate;
use crate::runner::pausing::Tried;
use crate::runner::pool::{News, default_jobs, in_order};
use crate::runner::room::Room;
use crate::runner::{budget, consoles, evidence, floor, in_effect, preflight, readings};
use crate::state;
use crate::stop::Stop;
use crate::to_disk::Folder;
use crate::wall::{self, Stopwatch};
use crate::{stderr, stdout};
use rig_dut::Journal;
use rig_guests::GuestRole;
use rig_lab::{Kind, Lab, Transport};
use rig_reports::terminal::{Progress, Style};
use rig_reports::{
    Colour, Exit, Finished, JsonLines, Run, RunEvent, Shown, Started, Terminal, Wall,
};
use rig_units::Dur;
use std::io::Write;
use std::os::fd::AsFd as _;
use std::sync::Arc;

/// Runs and reports; the exit code.
///
/// # Errors
/// Input that cannot be used; nothing has run then.
pub fn run(args: &RunArgs) -> Result<Exit, Bad> {
    let (stop, trouble) = (Arc::default(), Arc::new(NoTrouble));
    run_in(&World { stop, trouble, alone: true, benches: None }, args)
}

/// What a run meets outside itself.
pub struct World {
    /// Who may ask it to stop.
    pub stop: Arc<Stop>,
    /// What its disk refuses.
    pub trouble: Arc<dyn Trouble>,
    /// Whether the process is the run's alone: signals to it are for the run, and rights that the run does not need are given up.
    pub alone: bool,
    /// Where real ports come from, if not from the lab.
    pub benches: Option<Arc<Benches>>,
}

/// The same in a world that is given.
///
/// # Errors
/// As [`run`].
pub fn run_in(world: &World, args: &RunArgs) -> Result<Exit, Bad> {
    let watch = Stopwatch::start();
    let mut input = Input::read(&args.selection)?;
    let mut bad = Bad::default();
    bad.all(mutation::apply(&mut input.lab, &args.mutate).err().unwrap_or_default());
    bad.all(unmutable(&input.lab, &args.mutate));
    bad.all(uncapturable(&input.lab, args).into_iter().collect());
    let cases = input.cases();
    input.tell_unmatched();
    for case in &cases {
        bad.faults(&preflight::faults(&input.lab, input.only_dut.as_deref(), case));
    }
    let seed = args.seed.unwrap_or_else(wall::fresh_seed);
    if let Some(path) = &args.junit
        && let Err(why) = folder::is_replaceable(path)
            .and_then(|()| folder::is_beside_runs(path, args.out.as_deref()))
    {
        let place = path.display();
        bad.note(format!("`--junit {place}`: {why}\n   = want: a new file, or an earlier report, outside of folders of runs"));
    }
    let in_effect::Split { felt, idle, refused } =
        in_effect::split(&input.lab, input.only_dut.as_deref(), &cases, &args.mutate);
    bad.all(refused);
    bad.or(())?;
    if !cases.is_empty() {
        idle.iter().for_each(|why| stderr::note(why));
    }
    // From here on there is something to report.
    let requests = world.alone.then(Requests::hear);
    let mut held = match hold(&input.lab) {
        Ok(held) => held,
        Err(why) => {
            stderr::line(&format!("error: {why}"));
            return Ok(Exit::Broken);
        }
    };
    let (out, to_disk) = match folders(args, seed, cases.is_empty()) {
        Ok(folders) => folders,
        Err(Refused::Input(why)) => return Err(Bad::of(why)),
        Err(Refused::Busy(why)) => {
            stderr::line(&format!("error: {why}"));
            return Ok(Exit::Broken);
        }
    };
    if let (Some(held), Some(out)) = (&mut held, &out) {
        held.writes_to(out.path());
    }
    let out = out.map(|out| out.under(Arc::clone(&world.trouble)));
    if world.alone {
        confine(&input.lab, args, out.as_ref());
    }
    let journal = Arc::new(Journal::at(&state::journals()));
    let benches = world.benches.clone().or_else(|| benches(&input.lab, &journal, &world.stop));
    let side_by_side = benches.as_ref().map_or_else(default_jobs, |benches| benches.most());
    let jobs = match input.lab.transport {
        // There is one set of interfaces, one guest or two, and one NIC of a server or of each of two.
        Transport::Interfaces(_) | Transport::Guests(_) | Transport::Server(_) => 1,
        Transport::Virtual(_) | Transport::Veth(_) => args.jobs.map_or(side_by_side, usize::from),
    };
    // Without a handler a signal ends the process as it always would. Before anything waits for a device, which may hang.
    if let Some(Ok(requests)) = requests {
        let journal = Arc::clone(&journal);
        let _unheard = requests.listen(Arc::clone(&world.stop), Work::Restoring, move || {
            let _raised = rights::raise(Work::Restoring);
            for why in journal.close() {
                stderr::line(&format!("error: {why}; `rigctl restore` tries again"));
            }
        });
    }
    let mended = match &input.lab.transport {
        Transport::Interfaces(wire) => restore::mend(wire, &ControlPath::of(&input.lab)),
        Transport::Server(wire) => restore::mend_server(wire),
        Transport::Virtual(_) | Transport::Veth(_) | Transport::Guests(_) => Ok(()),
    };
    let tried = mended.and_then(|()| {
        let Some(benches) = &benches else { return Ok(None) };
        Tried::before(&input.lab, input.only_dut.as_deref(), &cases, benches)
    });
    let planned = benches.as_ref().and_then(|benches| {
        let only = input.only_dut.as_deref();
        estimate::planned(&input.lab, only, &cases, (args.effort.plans(), benches.whole()))
    });
    let (effort, planned) = planned
        .map_or((args.effort.plans().usual(), None), |(effort, budget)| (effort, Some(budget)));
    if let (Some(benches), Some(planned)) = (&benches, &planned) {
        // On each bench the lab's budget once more: a machine that stalls makes the run longer by as much at most.
        let benches_of_it = u64::try_from(benches.most()).unwrap_or(1);
        benches.patience().grant(Dur(planned.budget) * benches_of_it);
    }
    // What somebody else has made need not go by this machine's clock.
    let own = benches.as_ref().filter(|_| world.benches.is_none());
    let floor = own.and_then(|_| floor::measure()).map(Box::new);
    let started = Started {
        seed,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        lab: input.lab.name.clone(),
        executor: if benches.is_some() { "wire" } else { "virtual" },
        mutations: felt,
        cases: cases.iter().map(|case| case.id.clone()).collect(),
        wall: Wall {
            started: wall::now_rfc3339(),
            command: wall::command(),
            out: out.as_ref().map(|out| out.path().display().to_string()).unwrap_or_default(),
            host: wall::host(),
            jobs,
            pausing: tried
                .as_ref()
                .ok()
                .and_then(Option::as_ref)
                .map(|tried| Box::new(tried.report().clone())),
            budget: planned,
            floor,
        },
    };
    let stop = &*world.stop;
    let flags = flags(args);
    let rig = Rig {
        lab: &input.lab,
        only: input.only_dut.as_deref(),
        seed,
        stop,
        alpha: budget::each(&cases),
        effort,
        path: &input.typed,
        flags: &flags,
        benches: benches.as_ref(),
        pausing: tried.as_ref().ok().and_then(Option::as_ref),
        to_disk: to_disk.as_ref(),
        all: out.as_ref().filter(|_| args.evidence == Keep::All),
    };
    let mut reporters = Reporters::new(args, out.as_ref(), started, stop);
    if let Err(why) = &tried {
        reporters.broke(why.clone());
    }
    let work = |index: usize| {
        let mut ran = case::run(&rig, cases[index]);
        let kept = out.as_ref().map_or(Ok(()), |out| {
            // Nobody waits for the captures of every trial.
            let keep = match args.evidence {
                Keep::All if stop.hurried() => Keep::First,
                keep => keep,
            };
            let kept = evidence::keep(keep, out, &mut ran);
            let tables = readings::keep(out, &ran.report.id, &ran.tables);
            kept.and(tables.map(|tables| ran.report.tables = tables))
        });
        (ran.report, kept)
    };
    let mut room = Room::new(args.evidence_budget);
    let mut ended = vec![false; cases.len()];
    in_order(cases.len(), jobs, stop, work, |index, news| match news {
        News::Began => reporters.on(RunEvent::CaseStarted(cases[index].id.clone())),
        News::Done((mut report, kept)) => {
            ended[index] = true;
            if let Some(out) = &out {
                room.settle(out, &mut report);
            }
            if let Err(error) = kept {
                reporters.broke(format!("evidence of {} could not be kept: {error}", report.id));
            }
            reporters.on(RunEvent::CaseFinished(Box::new(report)));
            reporters.notes(to_disk.as_ref());
        }
    });
    let kept = out.as_ref().filter(|_| args.evidence != Keep::None);
    if let Err(error) = consoles::keep(&input.lab, kept) {
        reporters.broke(format!("the console of a guest could not be kept: {error}"));
    }
    if stop.hurried() {
        reporters.broke("interrupted".to_owned());
    }
    let not_run =
        cases.iter().zip(&ended).filter(|(_, ended)| !**ended).map(|(case, _)| case.id.clone());
    reporters.on(RunEvent::Finished(Finished {
        partial: reporters.partial(),
        not_run: not_run.collect(),
        wall: watch.elapsed(),
    }));
    reporters.notes(to_disk.as_ref());
    if let Some(folder) = &to_disk {
        reporters.say(&Shown::text(&format!("{:>12} {}\n", "Captured", folder.total())));
    }
    Ok(reporters.finish(args, out.as_ref()))
}

/// Gives up what a run in this lab does not need, now that its folder is there.
fn confine(lab: &Lab, args: &RunArgs, out: Option<&OutDir>) {
    match &lab.transport {
        Transport::Virtual(_) => {
            rights::keep(Work::Writing);
            let out = out.map(|out| Gap::Below(out.as_fd()));
            let junit = args.junit.as_deref().map(Gap::Beside);
            fence::close(&out.into_iter().chain(junit).collect::<Vec<_>>());
        }
        Transport::Interfaces(wire) if wire.dpdk.is_some() => rights::keep(Work::Dpdk),
        Transport::Veth(_)
        | Transport::Interfaces(_)
        | Transport::Guests(_)
        | Transport::Server(_) => {
            rights::keep(Work::Ports);
            rights::lower(Work::Trial);
        }
    }
}

/// Where reports and captures go; a run of nothing leaves nothing behind.
fn folders(
    args: &RunArgs,
    seed: u64,
    nothing: bool,
) -> Result<(Option<OutDir>, Option<Folder>), Refused> {
    if nothing {
        return Ok((None, None));
    }
    let to_disk = args.capture.as_ref();
    let to_disk = to_disk.map(|path| Folder::create(path, args.overwrite, &args.keeps));
    let (to_disk, captures) = to_disk.transpose()?.unzip();
    let out = OutDir::create(args.out.as_deref(), args.overwrite, (&wall::now_compact(), seed));
    let (out, run) = match out {
        Ok(made) => made,
        Err(refused) => {
            to_disk.into_iter().for_each(Folder::abandon);
            return Err(refused);
        }
    };
    for moved in captures.flatten().into_iter().chain(run) {
        stderr::line(&format!("note: the run that was there is now {moved}"));
    }
    Ok((Some(out), to_disk))
}

/// Where the lab's real ports come from; none in virtual time.
fn benches(lab: &Lab, journal: &Arc<Journal>, stop: &Arc<Stop>) -> Option<Arc<Benches>> {
    match &lab.transport {
        Transport::Virtual(_) => None,
        Transport::Veth(wire) => {
            let serve = Serve::of(lab, wire.bound, Arc::clone(stop));
            Some(Benches::new(Start::Served(serve), wire.benches.into()))
        }
        Transport::Interfaces(wire) => {
            // There is one device at one set of interfaces.
            let reach = ControlPath::of(lab);
            Some(Benches::new(Start::Cabled(wire.clone(), reach, Arc::clone(journal)), 1))
        }
        Transport::Guests(wire) => {
            // There is one device, in one guest or in two.
            let bridge = lab.duts.iter().find(|dut| dut.kind == Kind::Switch);
            let start = bridge.map_or_else(
                || Start::Flows(FlowNics::Guests(GuestNics::new(&state::guest(), wire, stop))),
                |dut| {
                    let role = GuestRole::Switch(dut.declared.port_count());
                    let host =
                        Arc::new(GuestHost::new(state::guest(), wire, role, Arc::clone(stop)));
                    Start::Bridged(Bridged { host, bound: wire.bound })
                },
            );
            Some(Benches::new(start, 1))
        }
        Transport::Server(wire) => {
            let nics = ServerNics::new(wire, journal);
            Some(Benches::new(Start::Flows(FlowNics::Servers(nics)), 1))
        }
    }
}

/// Mutations where there is no emulated device to mutate.
fn unmutable(lab: &Lab, mutate: &[String]) -> Vec<String> {
    let (Transport::Interfaces(_) | Transport::Guests(_) | Transport::Server(_)) = lab.transport
    else {
        return Vec::new();
    };
    let refused = |mutation: &String| {
        format!(
            "`--mutate {mutation}`: lab {} reaches its device by the wire alone, and cannot make it depart from what it \
             declares\n   = want: no --mutate, or an emulated lab; `rigctl dut serve --mutate {mutation}` serves such a device",
            lab.name
        )
    };
    mutate.iter().map(refused).collect()
}

/// A capture to disk where every frame is known anyway.
fn uncapturable(lab: &Lab, args: &RunArgs) -> Option<String> {
    let path = args.capture.as_ref()?;
    let how = match &lab.transport {
        Transport::Virtual(_) => "runs in virtual time",
        Transport::Guests(_) => "runs in a guest, with the rig at its tap",
        Transport::Server(_) => "has its flows made by perftest on a server",
        Transport::Veth(_) | Transport::Interfaces(_) => return None,
    };
    Some(format!(
        "`--capture {}`: lab {} {how}, where each trial's frames are its evidence\n   = want: `--evidence \
         all`, or a lab with ports in real time, such as lab-configs/veth.yaml",
        path.display(),
        lab.name
    ))
}

/// The flags that change what a case does, as they are typed again to repeat it.
fn flags(args: &RunArgs) -> String {
    let lab = args.selection.lab.iter().map(|lab| format!(" --lab {}", lab.display()));
    let dut = args.selection.dut.iter().map(|dut| format!(" --dut {dut}"));
    let mutate = args.mutate.iter().map(|mutation| format!(" --mutate {mutation}"));
    let effort = match args.effort {
        EffortLevel::Quick => " --effort quick",
        EffortLevel::Standard => "",
        EffortLevel::Thorough => " --effort thorough",
    };
    let effort = core::iter::once(effort.to_owned());
    lab.chain(dut).chain(mutate).chain(effort).collect()
}

/// Everything that hears of the run.
struct Reporters<'a> {
    terminal: Terminal,
    format: Format,
    progress: Option<Progress>,
    lines: Option<JsonLines<Box<dyn Write>>>,
    run: Run,
    broken: Vec<String>,
    stop: &'a Stop,
}

impl<'a> Reporters<'a> {
    fn new(
        args: &RunArgs,
        out: Option<&OutDir>,
        started: Started,
        stop: &'a Stop,
    ) -> Reporters<'a> {
        // Data goes to stdout; when that is JSON, the text for people goes to stderr.
        let tty = match args.format {
            Format::Human => stdout::is_terminal(),
            Format::Json => stderr::is_terminal(),
        };
        let plain = std::env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty());
        let style = Style {
            colour: if tty && !plain { Colour::Always } else { Colour::Never },
            width: if tty { wall::terminal_width() } else { None },
            detail: args.verbose,
        };
        let mut reporters = Reporters {
            terminal: Terminal::new(style),
            format: args.format,
            progress: stderr::is_terminal().then(Progress::on_stderr),
            lines: None,
            run: Run::new(started.clone()),
            broken: Vec::new(),
            stop,
        };
        match out.map(|out| out.file(EVENTS)).transpose() {
            Ok(file) => reporters.lines = file.map(|file| JsonLines::new(Box::new(file) as _)),
            Err(error) => reporters.broke(error.to_string()),
        }
        if let Some(path) = args.junit.as_ref().filter(|_| out.is_some()) {
            // A report of an earlier run would be taken for that of this one, were it killed.
            let begun = Run { finished: Some(Run::died(&reporters.run)), ..reporters.run.clone() };
            let xml = Files::of(&begun).junit;
            let put = xml.and_then(|xml| {
                folder::put(path, xml.as_bytes()).map_err(|error| error.to_string())
            });
            put.unwrap_or_else(|why| reporters.broke(why));
        }
        reporters.on(RunEvent::Started(Box::new(started)));
        reporters
    }

    /// The rig broke: no new case is started, what was measured is reported, the report is marked partial.
    fn broke(&mut self, why: String) {
        self.stop.request();
        if !self.broken.contains(&why) {
            self.broken.push(why);
        }
    }

    /// Tells what captures to disk left out, for people: no verdict rests on them.
    fn notes(&self, folder: Option<&Folder>) {
        let notes = folder.map(Folder::notes).unwrap_or_default();
        for note in &notes {
            self.aside(|| stderr::note(note));
        }
    }

    /// The text for people; what cannot be written is told at the end, and costs no file.
    fn say(&self, text: &Shown) {
        self.aside(|| match self.format {
            Format::Human => stdout::show(text),
            Format::Json => stderr::show(text),
        });
    }

    fn aside(&self, write: impl FnOnce()) {
        match &self.progress {
            Some(progress) => progress.aside(write),
            None => write(),
        }
    }

    fn partial(&self) -> Option<String> {
        (!self.broken.is_empty()).then(|| self.broken.join("; "))
    }

    fn on(&mut self, event: RunEvent) {
        // What is shown has been kept: whoever is killed now lies about nothing.
        if let Some(Err(error)) = self.lines.as_mut().map(|lines| lines.on(&event)) {
            self.lines = None;
            self.broke(format!("events.jsonl: {error}"));
        }
        if let Some(progress) = &mut self.progress {
            progress.on(&event);
        }
        let text = self.terminal.on(&event);
        self.say(&text);
        self.run.take(event);
    }

    /// Writes the files that are made from the whole run; the exit code.
    fn finish(mut self, args: &RunArgs, out: Option<&OutDir>) -> Exit {
        let files = Files::of(&self.run);
        let mut unwritten = out.map(|out| files.write(out)).unwrap_or_default();
        if let (Some(path), Ok(xml)) = (&args.junit, &files.junit) {
            let written = folder::put(path, xml.as_bytes());
            unwritten.extend(written.err().map(|error| error.to_string()));
        }
        if args.format == Format::Json {
            stdout::json(&files.results);
        }
        for why in &unwritten {
            stderr::line(&format!("error: {why}"));
        }
        self.broken.extend(unwritten);
        if self.broken.is_empty() { self.run.exit() } else { Exit::Broken }
    }
}
