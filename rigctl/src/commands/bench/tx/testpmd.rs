//! DPDK's own sender as a yardstick: `dpdk-testpmd --forward-mode=txonly` over net_af_xdp, as a child of this process.

use super::super::child::{Running, pass};
use super::super::ends::Ends;
use rig_generator::port::RealTime;
use rig_generator::{Clock, Fine};
use rig_units::{Bytes, Dur, FCS};
use std::process::{Command, Stdio};

const PROGRAM: &str = "dpdk-testpmd";
/// How long it may take to start to send, and to end.
const PATIENCE: Dur = Dur::s(15);
const STEP: Dur = Dur::ms(20);
/// From its first frames on, what is not measured.
const WARM: Dur = Dur::ms(200);

/// The program, found.
#[derive(Debug)]
pub(super) struct Testpmd {
    pub(super) version: String,
}

impl Testpmd {
    /// Looks for it.
    pub(super) fn find() -> Result<Testpmd, String> {
        // It knows no flag that prints this and nothing else; without a port it ends at once.
        let mut command = Command::new(PROGRAM);
        command.args(["-v", "--no-huge", "-m", "64", "--no-pci", "--no-telemetry", "--no-shconf"]);
        let output = command.stdin(Stdio::null()).output();
        let output = output.map_err(|error| {
            format!("`--against-testpmd`: cannot start {PROGRAM}: {error}: `apt-get install dpdk-dev` has it")
        })?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said).into_owned();
        let version = said.lines().find_map(|line| line.split_once("RTE Version: "));
        let version = version.map_or("of an unknown version", |(_, version)| version);
        Ok(Testpmd { version: version.trim_matches(['\'', ' ']).to_owned() })
    }

    /// Frames of `size` a second that it sends from the near end, on processor `cpu`.
    pub(super) fn rate(
        &self,
        ends: &Ends,
        size: Bytes,
        clock: &Fine,
        cpu: Option<usize>,
    ) -> Result<u64, String> {
        let worker = cpu.unwrap_or(0);
        // Its first thread only waits.
        let main = usize::from(worker == 0);
        let mut command = Command::new(PROGRAM);
        command.args(["-l", &format!("{main},{worker}"), "--main-lcore", &main.to_string()]);
        command.args(["--no-huge", "-m", "512", "--no-pci", "--no-telemetry"]);
        command.args(["--file-prefix", &format!("rigctl-{}", std::process::id())]);
        command.args(["--vdev", &format!("net_af_xdp0,iface={}", ends.near_name())]);
        command.args(["--", "--forward-mode=txonly", "--auto-start"]);
        command.arg(format!("--txpkts={}", (size - FCS).0));
        command.arg("--total-num-mbufs=16384");
        // It ends when its standard input does.
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        // It runs before all usual threads, as this program does when it sends; but this thread does not compete with
        // it for the processor.
        let real_time = RealTime::enter().ok();
        let child = ends.near(|| command.spawn())?;
        drop(real_time);
        let mut child = Running(child.map_err(|error| format!("cannot start {PROGRAM}: {error}"))?);
        let idle = ends.sent()?;
        let end = clock.now() + PATIENCE;
        while ends.sent()? < idle + 1_000 {
            if clock.now() > end || child.has_ended() {
                return Err(format!("{PROGRAM} does not send: {}", child.last_words()));
            }
            pass(clock, STEP)?;
        }
        pass(clock, WARM)?;
        let (start, before) = (clock.now(), ends.sent()?);
        pass(clock, super::LENGTH)?;
        let (end, after) = (clock.now(), ends.sent()?);
        drop(child.0.stdin.take());
        child.ended(clock, PATIENCE)?;
        Ok(super::super::rounds::rate(after - before, end.since(start).unwrap_or_default()))
    }
}
