//! `rigctl guest`: Linux in a virtual machine, and the rig as the peer of its applications.

use super::input::Bad;
use crate::cli::{Format, GuestArgs, GuestCommand, PerftestArgs, PerftestEnd};
use crate::{state, stderr, stdout};
use rig_capture::Dir;
use rig_capture::connection::{Connection, Finder};
use rig_capture::pcapng::FrameFile;
use rig_frames::packet::{self, Packet};
use rig_guests::peer::{Conduct, FrameTap};
use rig_guests::{Came, FlowsOver, Guest, GuestFault, Image, PATIENCE, Perftest};
use rig_reports::Exit;
use rig_units::{PortSpeed, Time};
use serde::Serialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::sync::{Arc, Mutex, PoisonError};

const FORMAT: &str = "rig-guest/1";
/// A tap has no speed; a capture file wants one.
const SPEED: PortSpeed = PortSpeed::G10;

/// Builds or runs one.
///
/// # Errors
/// Flags that perftest cannot be given.
pub fn guest(command: &GuestCommand) -> Result<Exit, Bad> {
    let done = match command {
        GuestCommand::Build(args) => image(args).map(|image| {
            told(args.format, &image, &text_of(&image));
            Exit::Passed
        }),
        GuestCommand::Perftest(args) => {
            refused(args).map_err(Bad::of)?;
            perftest(args)
        }
    };
    Ok(done.unwrap_or_else(|fault| {
        stderr::line(&format!("error: {fault}"));
        Exit::Broken
    }))
}

/// What a guest need not be booted for.
fn refused(args: &PerftestArgs) -> Result<(), String> {
    let program = &args.program;
    if let Some(odd) = Perftest::odd(&args.flags) {
        return Err(format!(
            "`{odd}` is no flag for {program}\n   = want: letters, digits, `-`, `_`, `.` and `=`"
        ));
    }
    if let Some(own) = rig_guests::perftest::reserved(&args.flags) {
        return Err(format!(
            "`{own}` is no flag for {program}\n   = want: no device, port or GID, which the rig gives it"
        ));
    }
    if let Some(host) = rig_guests::perftest::no_flag(&args.flags) {
        return Err(format!(
            "`{host}` is no flag for {program}\n   = want: flags and their values, as the host is the rig's to give"
        ));
    }
    let as_client = args.rig == PerftestEnd::Client;
    let session = session(args);
    session.peered().map_err(|why| format!("{program}: {why}"))?;
    if as_client || session.has_to_know() {
        session.messages().map_err(|why| format!("{program}: {why}"))?;
    }
    Ok(())
}

fn session(args: &PerftestArgs) -> Perftest {
    Perftest {
        program: args.program.clone(),
        flags: args.flags.clone(),
        conduct: Conduct { rules: args.rule.clone(), ack_every: None },
        over: if args.ipv6 { FlowsOver::V6 } else { FlowsOver::V4 },
        patience: PATIENCE,
    }
}

fn image(args: &GuestArgs) -> Result<Image, GuestFault> {
    Image::build(&args.image.clone().unwrap_or_else(state::guest))
}

fn text_of(image: &Image) -> String {
    let kept = if image.kept { "kept, as what it is made of is the same" } else { "made" };
    format!(
        "kernel      {} ({})\nfile system {}\n            {kept}",
        image.kernel.display(),
        image.package,
        image.initrd.display()
    )
}

fn told(format: Format, image: &Image, text: &str) {
    match format {
        Format::Human => stdout::text(text),
        Format::Json => stdout::json(
            &json!({
                "format": FORMAT, "kernel": image.kernel, "initrd": image.initrd, "package": image.package, "kept": image.kept,
            })
            .to_string(),
        ),
    }
}

/// What the frames come to, and where they go.
struct FrameSink {
    finder: Finder,
    file: FrameFile<File>,
    failed: Option<String>,
}

impl FrameSink {
    fn take(&mut self, at: Time, sent: bool, bytes: &[u8]) {
        if let Ok(Packet::Roce { frame, icrc_ok }) = packet::parse(bytes) {
            self.finder.take(0, at, &frame, icrc_ok);
        }
        let dir = if sent { Dir::Tx } else { Dir::Rx };
        if let Err(error) = self.file.frame(at, dir, bytes) {
            self.failed.get_or_insert(error.to_string());
        }
    }
}

fn perftest(args: &PerftestArgs) -> Result<Exit, GuestFault> {
    let image = image(&args.guest)?;
    let path = args.out.join("perftest.pcapng");
    let failed =
        |error: std::io::Error| GuestFault::failed(format!("write {}", path.display()), error);
    fs::create_dir_all(&args.out).map_err(failed)?;
    let file = File::create(&path).map_err(failed)?;
    let about = "an unmodified perftest in a guest, and the rig as its other end; what a rule lost is not here";
    let file = FrameFile::begin(file, about, rig_guests::guest::TAP, SPEED).map_err(failed)?;
    let mut guest = Guest::boot(
        &image,
        rig_guests::GuestRole::Nic,
        &args.out.join("console"),
        Arc::new(rig_guests::NeverAsked),
    )?;
    let seen = Arc::new(Mutex::new(FrameSink { finder: Finder::default(), file, failed: None }));
    let into = Arc::clone(&seen);
    let record: FrameTap = Box::new(move |at, sent, bytes| {
        into.lock().unwrap_or_else(PoisonError::into_inner).take(at, sent, bytes);
    });
    let session = session(args);
    let came = match args.rig {
        PerftestEnd::Server => session.run(&mut guest, record),
        PerftestEnd::Client => session.run_as_client(&mut guest, record),
    }?;
    let release = guest.release().to_owned();
    drop(guest);
    let seen = Arc::into_inner(seen).and_then(|seen| seen.into_inner().ok());
    let seen = seen.ok_or_else(|| GuestFault::failed("read what was seen", "a thread holds it"))?;
    let connections = seen.finder.connections();
    if let Some(why) = seen.failed {
        return Err(GuestFault::failed(format!("write {}", path.display()), why));
    }
    seen.file.finish().map_err(failed)?;
    let report = Report::new(args, release, &came, connections);
    match args.guest.format {
        Format::Human => stdout::text(&report.text(&came, &path.display().to_string())),
        Format::Json => stdout::json(&serde_json::to_string_pretty(&report).unwrap_or_default()),
    }
    Ok(report.exit())
}

/// A counter of the guest's NIC beside what the frames come to.
#[derive(Debug, Serialize)]
struct Row {
    counter: &'static str,
    grew_by: Option<u64>,
    frames: u64,
    /// Frames that it need not have counted.
    uncertain: u64,
    what: &'static str,
}

impl Row {
    fn agrees(&self) -> bool {
        let least = self.frames.saturating_sub(self.uncertain);
        self.grew_by.is_some_and(|grew| (least..=self.frames).contains(&grew))
    }
}

#[derive(Debug, Serialize)]
struct Report {
    format: &'static str,
    program: String,
    flags: Vec<String>,
    rules: Vec<String>,
    kernel: String,
    /// Exit status of the program.
    status: u8,
    /// Which end of the program the rig was.
    rig: &'static str,
    output: Vec<String>,
    unfinished: Option<String>,
    /// Frames that the rig's port lost.
    lost: u64,
    /// Requests that rules lost, over all connections.
    dropped: u64,
    /// Answers that they lost.
    withheld: u64,
    /// Messages that the rig took.
    messages: u64,
    bytes: u64,
    counters: BTreeMap<String, u64>,
    compared: Vec<Row>,
    connections: Vec<Connection>,
}

impl Report {
    fn new(
        args: &PerftestArgs,
        kernel: String,
        came: &Came,
        connections: Vec<Connection>,
    ) -> Report {
        let moved = &came.passed.connections;
        let sum = |of: fn(&rig_guests::peer::PeerCounts) -> u64| moved.iter().map(of).sum::<u64>();
        // Where both ask in turn, each connection is two: what the rig asks arrives, and what the NIC answers is sent.
        let asks = |of: &&Connection| moved.iter().all(|moved| moved.ends.own_ip != of.requester);
        let (nic, rig): (Vec<_>, Vec<_>) = connections.iter().partition(asks);
        let seen = |of: fn(&Connection) -> u64, asked: &[&Connection]| {
            asked.iter().map(|one| of(one)).sum::<u64>()
        };
        let packets: fn(&Connection) -> u64 = |of| of.requests.packets;
        let dropped = sum(|moved| moved.dropped);
        let answers: fn(&Connection) -> u64 = |of| {
            let a = &of.answers;
            a.acks
                + a.sequence_naks
                + a.rnr_naks
                + a.fatal_naks
                + a.read_responses
                + a.atomic_responses
        };
        let counters = came.counters.grown();
        let row = |counter, frames, what| Row {
            counter,
            grew_by: counters.get(counter).copied(),
            frames,
            uncertain: 0,
            what,
        };
        // What the rig sent before there was anybody to take it.
        let unheard = sum(|moved| moved.asked.unheard);
        let compared = vec![
            row(
                "sent_pkts",
                seen(packets, &nic) + dropped + seen(answers, &rig),
                "requests, those that a rule lost counted, and answers to the rig's",
            ),
            Row {
                uncertain: unheard,
                ..row(
                    "rcvd_pkts",
                    seen(answers, &nic) + seen(packets, &rig),
                    "answers, and the rig's requests",
                )
            },
            row(
                "rcvd_seq_err",
                seen(|of| of.answers.naks_that_advance, &nic),
                "NAKs of a sequence error that acknowledge something new",
            ),
        ];
        Report {
            format: FORMAT,
            program: args.program.clone(),
            flags: args.flags.clone(),
            rules: args.rule.iter().map(ToString::to_string).collect(),
            kernel,
            status: came.ran.status,
            rig: match args.rig {
                PerftestEnd::Server => "server",
                PerftestEnd::Client => "client",
            },
            output: came.ran.lines.clone(),
            unfinished: came.unfinished.clone(),
            lost: came.passed.lost,
            dropped,
            withheld: sum(|moved| moved.withheld),
            messages: sum(|moved| moved.taken.messages),
            bytes: sum(|moved| moved.taken.bytes),
            counters,
            compared,
            connections,
        }
    }

    fn exit(&self) -> Exit {
        if self.lost > 0 {
            Exit::Inconclusive
        } else if self.status == 0
            && self.unfinished.is_none()
            && self.compared.iter().all(Row::agrees)
        {
            Exit::Passed
        } else {
            Exit::Failed
        }
    }

    fn text(&self, came: &Came, path: &str) -> String {
        let mut text =
            format!("{} {} in Linux {}\n", self.program, self.flags.join(" "), self.kernel);
        if self.status != 0 || self.unfinished.is_some() {
            text += &format!(
                "exit status {}; {}\n",
                self.status,
                self.unfinished.as_deref().unwrap_or("both sides were done")
            );
            text += &came.ran.lines.join("\n");
            text.push('\n');
        }
        for moved in &came.passed.connections {
            let asked = moved.asked;
            if asked.messages > 0 {
                text += &format!(
                    "the rig asks  {} messages of queue pair {:#x} in {} packets; {} answered, {} packets again\n",
                    asked.messages,
                    moved.ends.peer.get(),
                    asked.packets,
                    asked.answered,
                    asked.again
                );
            }
            let own = Some(moved.ends.own.get());
            let Some(of) = self.connections.iter().find(|of| of.responder_qp == own) else {
                continue;
            };
            let (requests, answers) = (&of.requests, &of.answers);
            text += &format!(
                "queue pair {:#x}  {} messages of {} B in {} packets; {} lost by rules, {} again, {} ACKs, {} NAKs, \
                 {} times back after a NAK, {} without\n",
                of.responder_qp.unwrap_or_default(),
                moved.taken.messages,
                moved.taken.bytes,
                requests.packets,
                moved.dropped + moved.withheld,
                requests.repeated,
                answers.acks,
                answers.sequence_naks,
                requests.back_after_nak,
                requests.back_unasked
            );
        }
        for row in &self.compared {
            let grew = row.grew_by.map_or_else(|| "unavailable".to_owned(), |by| by.to_string());
            let word = if row.agrees() { "is" } else { "IS NOT" };
            let frames = match row.uncertain {
                0 => row.frames.to_string(),
                some => format!("{} to {}", row.frames.saturating_sub(some), row.frames),
            };
            text += &format!("{:<14}{grew} {word} {frames} {}\n", row.counter, row.what);
        }
        if self.lost > 0 {
            text += &format!(
                "{} frames were lost at the rig's port: the counts say nothing\n",
                self.lost
            );
        }
        text + "capture       " + path
    }
}
