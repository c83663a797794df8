//! A plain Python loop as a yardstick, as a child of this process: a raw socket that sends and sleeps, which is how the
//! scripts in use today make their storms (`pfc_gen.py` of sonic-mgmt).

use super::super::child::{Running, pass};
use super::super::ends::Ends;
use rig_generator::Fine;
use rig_units::Dur;
use std::fmt::Write as _;
use std::process::{Command, Stdio};

const PROGRAM: &str = "python3";
/// What it runs: the standard library and nothing else.
const LOOP: &str = include_str!("storm.py");
/// How long it may take to start and to end, beside what it is to send for.
const PATIENCE: Dur = Dur::s(15);

/// The program, found.
#[derive(Debug)]
pub(super) struct Python {
    pub(super) version: String,
}

impl Python {
    /// Looks for it.
    pub(super) fn find() -> Result<Python, String> {
        let output = Command::new(PROGRAM).arg("--version").stdin(Stdio::null()).output();
        let output = output.map_err(|error| {
            format!("`--against-python`: cannot start {PROGRAM}: {error}: `apt-get install python3` has it")
        })?;
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
        if !output.status.success() {
            let (status, why) = (output.status, said(&output.stderr));
            return Err(format!(
                "`--against-python`: `{PROGRAM} --version` ended with {status}: {why}"
            ));
        }
        Ok(Python { version: said(&output.stdout) })
    }

    /// Sends `frame` from the near end every `every`, or as nearly as it does, for `length`; on processor `cpu`, and as any
    /// usual program runs: so do these scripts. The calling thread hands its own priority down, and must have none.
    pub(super) fn hold(
        &self,
        ends: &Ends,
        frame: &[u8],
        (every, length): (Dur, Dur),
        clock: &Fine,
        cpu: Option<usize>,
    ) -> Result<(), String> {
        let mut command = Command::new(PROGRAM);
        command.args(["-I", "-c", LOOP]);
        command.args(arguments(ends.near_name(), frame, every, length, cpu));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let child = ends.near(|| command.spawn())?;
        let mut child = Running(child.map_err(|error| format!("cannot start {PROGRAM}: {error}"))?);
        // While it sends, nobody asks it how it is.
        pass(clock, length)?;
        match child.ended(clock, PATIENCE)? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(format!(
                "the storm of {} ended with {status}: {}",
                self.version,
                child.last_words()
            )),
            None => Err(format!(
                "the storm of {} does not end within {PATIENCE} after its time",
                self.version
            )),
        }
    }
}

/// What the loop is told: interface, frame, seconds from one to the next, seconds in all, and a processor to stay on.
fn arguments(
    interface: &str,
    frame: &[u8],
    every: Dur,
    length: Dur,
    cpu: Option<usize>,
) -> Vec<String> {
    let hex = frame.iter().fold(String::new(), |mut hex, byte| {
        let _infallible = write!(hex, "{byte:02x}");
        hex
    });
    let told = [interface.to_owned(), hex, seconds(every), seconds(length)];
    told.into_iter().chain(cpu.map(|cpu| cpu.to_string())).collect()
}

/// In seconds, to the picosecond.
fn seconds(time: Dur) -> String {
    let second = Dur::s(1).0;
    format!("{}.{:012}", time.0 / second, time.0 % second)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_units::{PortSpeed, Quanta};

    #[test]
    fn the_loop_is_told_what_to_send_where_how_often_and_on_which_processor() {
        let every = PortSpeed::G400.pause(Quanta::MAX) / 2;
        let told = arguments("p1", &[0x01, 0x80, 0xc2, 0xff], every, Dur::ms(600), Some(1));
        assert_eq!(told, ["p1", "0180c2ff", "0.000041942400", "0.600000000000", "1"]);
        let anywhere = arguments("p1", &[0], Dur::s(2), Dur::s(61), None);
        assert_eq!(anywhere, ["p1", "00", "2.000000000000", "61.000000000000"]);
    }

    #[test]
    fn python_itself_reads_the_loop() {
        let python = match Python::find() {
            Ok(python) => python,
            Err(why) => {
                let required = std::env::var_os("RIG_REQUIRE_ALL").is_some_and(|all| all == "1");
                assert!(!required, "{why} (RIG_REQUIRE_ALL=1)");
                eprintln!("skipped: {why}");
                return;
            }
        };
        assert!(python.version.starts_with("Python 3"), "{}", python.version);
        // An interface that is not there: all that is before it was understood.
        let mut command = Command::new(PROGRAM);
        command.args(["-I", "-c", LOOP]);
        command.args(arguments("no-such-port", &[0; 60], Dur::ms(1), Dur::ms(1), Some(0)));
        let output = command.output().expect("it was found");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success());
        assert!(said.contains("No such device") || said.contains("not permitted"), "{said}");
    }
}
