//! `rigctl analyze`: what the analysers read off a capture, whoever took it. No verdict: nobody said what was wanted.

mod blue_rdma;
mod connection;
mod look;
mod seen;
mod text;

use super::input::{Bad, Input};
use crate::cli::{AnalyzeArgs, Format, Selection};
use crate::stdout;
use rig_capture::pcapng::{self, Assume};
use rig_lab::file::{self, STDIN, STDIN_SAID};
use rig_lab::{Kind, Lab, Profile};
use rig_reports::Exit;
use rig_units::limits::CAPTURE_BYTES;
use rig_units::{Length, PortSpeed};
use seen::Analysis;
use std::io;
use std::path::Path;

/// Reads a capture and prints what it shows.
///
/// # Errors
/// A file that is no capture or is broken, with the byte; a device that is not there.
pub fn analyze(args: &AnalyzeArgs) -> Result<Exit, Bad> {
    let selection =
        Selection { paths: Vec::new(), lab: args.lab.clone(), dut: args.dut.clone(), only: None };
    let Input { lab, only_dut, .. } = Input::read(&selection)?;
    let (name, bytes) = bytes(&args.file)?;
    let shown = shown(&name, &bytes, &lab, only_dut.as_deref(), args.format)?;
    match args.format {
        Format::Human => stdout::text(&shown),
        Format::Json => stdout::json(&shown),
    }
    Ok(Exit::Passed)
}

/// What the bytes of a capture called `name` show of a device of `lab`: the one that is named, else the first that fits.
///
/// # Errors
/// No capture, or a broken one, with the byte; a lab without a device.
pub fn shown(
    name: &str,
    bytes: &[u8],
    lab: &Lab,
    only_dut: Option<&str>,
    format: Format,
) -> Result<String, Bad> {
    let named = lab.duts.iter().find(|dut| only_dut.is_none_or(|only| dut.name == *only));
    let device = named.ok_or_else(|| Bad::of(format!("lab {} has no device", lab.name)))?;
    let read = |device: &Profile| {
        let class = |dscp| class_of(device, dscp);
        let capture = pcapng::parse(name, bytes, assume(lab, device, &class));
        capture.map_err(|fault| Bad::of(fault.to_string()))
    };
    let mut capture = read(device)?;
    let mut device = device;
    let mut guessed = if only_dut.is_none() { "the lab's first" } else { "" };
    let nic = lab.duts.iter().find(|dut| dut.kind == Kind::Nic);
    if let Some(nic) = nic.filter(|_| only_dut.is_none() && capture.of_nic) {
        (device, guessed) = (nic, "the lab's first NIC, as the file tells of one");
        capture = read(device)?;
    }
    let analysis = Analysis::of(&capture, device);
    Ok(match format {
        Format::Human => text::text(name, &analysis, device, guessed),
        Format::Json => serde_json::to_string_pretty(&analysis).unwrap_or_default(),
    })
}

/// A capture as it stands in a file or comes by standard input, and how it is called.
fn bytes(file: &Path) -> Result<(String, Vec<u8>), Bad> {
    if file.is_dir() {
        let file = file.display();
        return Err(Bad::of(format!(
            "{file}: this is a folder: want one capture file, such as {file}/0001.pcapng.gz"
        )));
    }
    let bytes = if file == Path::new(STDIN) {
        let read = file::bounded(io::stdin().lock(), CAPTURE_BYTES);
        let name = STDIN_SAID.to_owned();
        read.map_err(|unread| pcapng::Fault::unread(name.clone(), &unread))
            .map(|bytes| (name, bytes))
    } else {
        pcapng::bytes(file).map(|bytes| (file.display().to_string(), bytes))
    };
    bytes.map_err(|fault| {
        let pipe = if fault.what.contains("it is a pipe") {
            ", or `-` for what comes by standard input"
        } else {
            ""
        };
        Bad::of(format!("{fault}{pipe}"))
    })
}

/// What a capture does not say, as the device declares it.
fn assume<'a>(lab: &Lab, device: &Profile, class_of: &'a dyn Fn(u8) -> u8) -> Assume<'a> {
    let speed = device.declared.port_speed(0).unwrap_or(PortSpeed::G100);
    Assume { class_of, speed, cable: Length(lab.cable_cm).travel() }
}

fn class_of(device: &Profile, dscp: u8) -> u8 {
    device.declared.qos().class(dscp)
}
