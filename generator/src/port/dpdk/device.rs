//! What is asked of DPDK apart from frames: its start, its ports, how one of them is.
#![expect(unsafe_code, reason = "the shim is C")]

use super::DpdkFault;
use super::api::{Api, Found, Losses, NAME, Plan};
use core::ffi::{CStr, c_char, c_int};
use core::ptr;
use nix::errno::Errno;
use std::ffi::CString;

/// What the shim keeps of DPDK's log.
const LOG: usize = 2_048;
/// Lines of it that explain a failure.
const LINES: usize = 3;

/// Starts DPDK; its word for what is in the way.
pub(super) fn start(api: &Api, eal: &[String]) -> Result<(), String> {
    let program = core::iter::once("rigctl").chain(eal.iter().map(String::as_str));
    let args: Result<Vec<CString>, _> = program.map(CString::new).collect();
    let args = args.map_err(|_| "an argument with a zero in it".to_owned())?;
    let count = c_int::try_from(args.len()).map_err(|_| "too many arguments".to_owned())?;
    // DPDK keeps what it is given, changes its order, and runs to the end of the process.
    let mut strings: Vec<*mut c_char> = args.into_iter().map(CString::into_raw).collect();
    strings.push(ptr::null_mut());
    let strings = Box::leak(strings.into_boxed_slice());
    // SAFETY: `count` strings that live as long as the process, and a null pointer behind them.
    let answer = unsafe { (api.start)(count, strings.as_mut_ptr()) };
    // SAFETY: DPDK's own text, which stays until this thread asks for another.
    let words = || unsafe { CStr::from_ptr((api.words)(answer)) };
    if answer == 0 { Ok(()) } else { Err(words().to_string_lossy().into_owned()) }
}

/// DPDK's version, in its words.
pub(super) fn version(api: &Api) -> String {
    // SAFETY: DPDK's own text, which stays.
    unsafe { CStr::from_ptr((api.version)()) }.to_string_lossy().into_owned()
}

/// The end of what DPDK has said since it was last asked for.
pub(super) fn said(api: &Api) -> String {
    let mut text = vec![0_u8; LOG];
    // SAFETY: `text` is writable for as many bytes, and the shim ends it with a zero.
    unsafe { (api.said)(text.as_mut_ptr().cast(), text.len()) };
    let text = CStr::from_bytes_until_nul(&text).unwrap_or_default().to_string_lossy();
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(LINES)..].join("; ")
}

/// The number of the port of that name.
pub(super) fn find(api: &Api, name: &str) -> Option<u16> {
    let name = CString::new(name).ok()?;
    // SAFETY: a string of C that outlives the call.
    u16::try_from(unsafe { (api.find)(name.as_ptr()) }).ok()
}

/// The names of all ports.
pub(super) fn names(api: &Api) -> Vec<String> {
    let mut names = Vec::new();
    let mut from = 0;
    loop {
        let mut name: [c_char; NAME] = [0; NAME];
        // SAFETY: room for a name, as the shim wants it.
        let Ok(port) = u16::try_from(unsafe { (api.list)(from, name.as_mut_ptr()) }) else {
            return names;
        };
        names.push(text(&name));
        from = port + 1;
    }
}

fn text(name: &[c_char; NAME]) -> String {
    let bytes: Vec<u8> = name.iter().map(|&c| c.to_ne_bytes()[0]).collect();
    CStr::from_bytes_until_nul(&bytes).unwrap_or_default().to_string_lossy().into_owned()
}

fn errno(answer: c_int) -> Errno {
    Errno::from_raw(answer.saturating_abs())
}

fn done(answer: c_int) -> Result<(), Errno> {
    if answer == 0 { Ok(()) } else { Err(errno(answer)) }
}

/// What a port turned out to be.
#[derive(Debug)]
pub(super) struct Opened {
    /// Entries of the transmit ring.
    pub(super) entries: u32,
    /// What the driver says of its MTU, if it has a notion of one.
    pub(super) mtu: Option<usize>,
    /// Why it does not take a greater one.
    pub(super) mtu_refused: Option<Errno>,
    /// The kernel's number of the interface below.
    pub(super) interface: Option<u32>,
    /// Whether the NIC timestamps received frames; an error when it offers to, and cannot be used.
    pub(super) timestamps: Result<bool, Errno>,
    /// The name of the driver.
    pub(super) driver: String,
}

impl From<Found> for Opened {
    fn from(found: Found) -> Opened {
        Opened {
            entries: found.entries,
            mtu: (found.mtu > 0).then_some(found.mtu as usize),
            mtu_refused: (found.mtu_refused != 0).then(|| errno(found.mtu_refused)),
            interface: (found.interface > 0).then_some(found.interface),
            timestamps: if found.timestamps < 0 {
                Err(errno(found.timestamps))
            } else {
                Ok(found.timestamps > 0)
            },
            driver: text(&found.driver),
        }
    }
}

/// One port, started; closed for good when dropped.
#[derive(Debug)]
pub(super) struct Device {
    pub(super) api: &'static Api,
    pub(super) port: u16,
}

impl Device {
    /// Opens port `port`, which nobody else uses.
    pub(super) fn open(
        api: &'static Api,
        port: u16,
        plan: &Plan,
    ) -> Result<(Device, Opened), DpdkFault> {
        let mut found = Found {
            entries: 0,
            mtu: 0,
            mtu_refused: 0,
            interface: 0,
            timestamps: 0,
            driver: [0; NAME],
        };
        let mut step = c"open the port".as_ptr();
        // From here on it is closed when this fails.
        let device = Device { api, port };
        // SAFETY: each pointer is to a value of the type that the shim knows, and outlives the call.
        let answer = unsafe { (api.open)(port, plan, &raw mut found, &raw mut step) };
        if let Err(errno) = done(answer) {
            // SAFETY: a literal of the shim, or the one above.
            let tried = unsafe { CStr::from_ptr(step) }.to_string_lossy().into_owned();
            // Before closing it adds to what is said.
            return Err(DpdkFault::Refused { tried, errno, said: said(api) });
        }
        Ok((device, found.into()))
    }

    /// Whether the link is up; a driver that cannot tell says that it is.
    pub(super) fn has_link(&self) -> bool {
        // SAFETY: no pointer.
        unsafe { (self.api.link)(self.port) != 0 }
    }

    /// Whether the device was taken away.
    pub(super) fn is_gone(&self) -> bool {
        // SAFETY: no pointer.
        unsafe { (self.api.gone)(self.port) != 0 }
    }

    /// What the port lost since it was opened.
    pub(super) fn losses(&self) -> Result<Losses, Errno> {
        let mut losses = Losses::default();
        // SAFETY: a value of the type that the shim knows.
        done(unsafe { (self.api.losses)(self.port, &raw mut losses) }).map(|()| losses)
    }

    /// Has the NIC hold the port to so many Mb/s.
    pub(super) fn limit(&self, mbps: u32) -> Result<(), Errno> {
        // SAFETY: no pointer.
        done(unsafe { (self.api.limit)(self.port, mbps) })
    }

    /// The clock that received frames are stamped by.
    pub(super) fn ticks(&self) -> Result<u64, Errno> {
        let mut ticks = 0;
        // SAFETY: an integer that outlives the call.
        done(unsafe { (self.api.clock)(self.port, &raw mut ticks) }).map(|()| ticks)
    }

    /// Has the driver let go of what it has sent, where it can be asked to.
    pub(super) fn settle(&self) {
        // SAFETY: no pointer.
        unsafe { (self.api.settle)(self.port) };
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: no pointer. Both halves of the port are gone; the memory of their frames stays.
        let _ = unsafe { (self.api.close)(self.port) };
    }
}
