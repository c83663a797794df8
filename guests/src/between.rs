//! One unmodified perftest in one guest, its server in another, and the rig between the two.

use crate::guest::{Guest, HwCounters, OTHER, OTHER_BESIDE};
use crate::peer::{GuestCrossing, Knows, Learner, Middle};
use crate::perftest::Overheard;
use crate::session::{Came, GID_V4, PORT, rxe};
use crate::{FlowsOver, GuestFault, PATIENCE, Perftest};
use core::time::Duration;

/// Where the server's output, its number and its exit status are in its guest.
const SERVED: &str = "/tmp/served";
/// How long a shell's own work may take in a guest.
const SHELL: Duration = Duration::from_secs(120);

impl Perftest {
    /// Runs it between two guests: the client in the first, the server in the other, with nothing but the rig between them. The rig answers
    /// nobody, so how it would behave as an end ([`conduct`](Perftest::conduct)) is not asked; what came of it are the client's exit
    /// status, and the counters of both NICs.
    ///
    /// # Errors
    /// A guest that is lost; a port of the rig that breaks; a server that does not come to listen.
    pub fn run_between(
        &self,
        [client, server]: [&mut Guest; 2],
        crossing: Box<dyn GuestCrossing>,
    ) -> Result<Came, GuestFault> {
        let before = [client.counters()?, server.counters()?];
        let [asks, answers] = match self.over {
            FlowsOver::V4 => [GID_V4, GID_V4],
            FlowsOver::V6 => [client.gid_of_v6()?, server.gid_of_v6()?],
        };
        let (there, here) = (client.namespace(), server.namespace());
        self.served(server, answers)?;
        // What passes is timed from here on, when the server's own start is over.
        let (knows, finds) = match client.has_line_beside() {
            true => (Knows::Frames(Learner::default()), OTHER_BESIDE),
            false => (Knows::Talk(Overheard::new(PORT)), OTHER),
        };
        let middle = match Middle::start([&there, &here], knows, crossing) {
            Ok(middle) => middle,
            Err(fault) => {
                finished(server, false)?;
                return Err(fault);
            }
        };
        let ran = client.run(&format!("{} {finds}", self.command(&rxe(asks), PORT)), PATIENCE * 2);
        // A server whose client went wrong waits for it in vain.
        let by_itself = ran.as_ref().is_ok_and(|ran| ran.status == 0);
        let unfinished = finished(server, by_itself);
        let passed = middle.finish();
        let (ran, unfinished, passed) = (ran?, unfinished?, passed?);
        let [own, others] = before;
        let counters = HwCounters { before: own, after: client.counters()? };
        let other = Some(HwCounters { before: others, after: server.counters()? });
        Ok(Came { ran, passed, counters, other, unfinished })
    }

    /// Starts the server, and waits until it listens.
    fn served(&self, server: &mut Guest, gid: u32) -> Result<(), GuestFault> {
        let command = format!(
            "rm -f {SERVED}*; ({} >{SERVED} 2>&1 & echo $! >{SERVED}.number; wait $!; echo $? >{SERVED}.status) >/dev/null 2>&1 & \
             n=0; until grep -q ':{PORT:04X} 0*:0000 0A' /proc/net/tcp || [ -s {SERVED}.status ] || [ $n -ge 600 ]; \
             do sleep 0.05; n=$((n+1)); done; \
             [ ! -s {SERVED}.status ] && [ $n -lt 600 ] || {{ cat {SERVED}; exit 1; }}",
            self.command(&rxe(gid), PORT)
        );
        let ran = server.run(&command, SHELL)?;
        match ran.status {
            0 => Ok(()),
            _ => Err(GuestFault::failed("have a server of perftest listen", ran.lines.join("; "))),
        }
    }
}

/// Waits for the server's end; one of a client that failed is ended. Why it did not end well by itself, if it did not.
fn finished(server: &mut Guest, by_itself: bool) -> Result<Option<String>, GuestFault> {
    let waits = if by_itself { 40 } else { 0 };
    let command = format!(
        "n=0; until [ -s {SERVED}.status ] || [ $n -ge {waits} ]; do sleep 0.05; n=$((n+1)); done; \
         [ -s {SERVED}.status ] || kill -9 $(cat {SERVED}.number); \
         until [ -s {SERVED}.status ]; do sleep 0.05; done; cat {SERVED}; exit $(cat {SERVED}.status)"
    );
    let ran = server.run(&command, SHELL)?;
    let told = || format!("its server: exit status {}; {}", ran.status, ran.lines.join("; "));
    Ok((ran.status != 0).then(told))
}
