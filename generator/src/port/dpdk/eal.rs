//! DPDK itself, which starts once in a process. That is the one thing here that is not the caller's: it is the
//! process's.

use super::api::Api;
use super::device;
use super::{Dpdk, DpdkFault};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// DPDK as this process has it.
#[derive(Debug)]
enum State {
    Stopped,
    /// It would not start, and cannot be asked a second time.
    Failed(DpdkFault),
    Running {
        dpdk: Dpdk,
        api: &'static Api,
        /// Every port that was opened, whether it is still open or not.
        opened: Vec<String>,
        /// The last lines of its log when it had started.
        said: String,
    },
}

static STATE: Mutex<State> = Mutex::new(State::Stopped);

/// The number of port `name`, which from now on is the caller's; DPDK is started if it does not run.
pub(super) fn take(dpdk: &Dpdk, name: &str) -> Result<(&'static Api, u16), DpdkFault> {
    let mut state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    if matches!(*state, State::Stopped) {
        // Without a shim nothing has been started: another one may be tried.
        let api: &'static Api = Box::leak(Box::new(Api::load(dpdk)?));
        *state = match start(api, &dpdk.eal) {
            Ok(()) => State::Running {
                dpdk: dpdk.clone(),
                api,
                opened: Vec::new(),
                said: device::said(api),
            },
            Err(fault) => State::Failed(fault),
        };
    }
    match &mut *state {
        State::Stopped => unreachable!("it was started just now"),
        State::Failed(fault) => Err(fault.clone()),
        State::Running { dpdk: running, .. } if running.eal != dpdk.eal => {
            let (running, asked) = (running.eal.clone(), dpdk.eal.clone());
            Err(DpdkFault::StartedOtherwise { running, asked })
        }
        State::Running { opened, .. } if opened.iter().any(|other| other == name) => {
            Err(DpdkFault::Again)
        }
        State::Running { api, opened, said, .. } => {
            let api: &'static Api = api;
            let known = || DpdkFault::NoPort { known: device::names(api), said: said.clone() };
            let port = device::find(api, name).ok_or_else(known)?;
            opened.push(name.to_owned());
            Ok((api, port))
        }
    }
}

/// Starts DPDK on a thread of its own: it pins the one that starts it to a processor.
fn start(api: &'static Api, eal: &[String]) -> Result<(), DpdkFault> {
    let start = || device::start(api, eal);
    let answer = thread::scope(|scope| scope.spawn(start).join());
    let answer = answer.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    answer.map_err(|why| DpdkFault::NotStarted { eal: eal.to_vec(), why, said: device::said(api) })
}
