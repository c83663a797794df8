//! The functions of the shim (`generator/dpdk/shim.h`), from a shared object or linked in.
#![expect(unsafe_code, reason = "functions of C are found by name and taken at their word")]

use super::{Dpdk, DpdkFault};
use core::error::Error;
use core::ffi::{c_char, c_int, c_void};
use core::fmt;
use libloading::Library;
use std::path::Path;

/// The shim that this program is made for: `RIG_DPDK_ABI`.
const ABI: u32 = 1;

/// Room for a name: `RIG_DPDK_NAME`.
pub(super) const NAME: usize = 64;

/// How a port is to be opened.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    pub(super) longest: u32,
    pub(super) slots: u32,
    pub(super) buffers: u32,
}

/// What a port turned out to be.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Found {
    pub(super) entries: u32,
    pub(super) mtu: u32,
    pub(super) mtu_refused: i32,
    pub(super) interface: u32,
    pub(super) timestamps: i32,
    pub(super) driver: [c_char; NAME],
}

/// A piece of a received frame.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) bytes: *const u8,
    pub(super) len: u32,
    pub(super) stamped: u32,
    pub(super) ticks: u64,
    pub(super) next: *mut c_void,
}

/// What a port lost since it was opened.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Losses {
    pub(super) missed: u64,
    pub(super) unbuffered: u64,
    pub(super) broken: u64,
    pub(super) unsent: u64,
}

/// Declares every function once, for both ways to come by it.
macro_rules! functions {
    ($($short:ident = $name:ident($($arg:ty),*) $(-> $answer:ty)?;)*) => {
        /// The shim's functions.
        pub(super) struct Api {
            $(pub(super) $short: unsafe extern "C" fn($($arg),*) $(-> $answer)?,)*
        }

        impl Api {
            /// Finds every function in `library`, which is never closed again.
            ///
            /// # Safety
            /// The library is a shim of this program's version.
            unsafe fn find(library: &'static Library) -> Result<Api, libloading::Error> {
                // SAFETY: a shim of this version has these functions with these types.
                unsafe {
                    Ok(Api { $($short: *library.get(concat!(stringify!($name), "\0").as_bytes())?,)* })
                }
            }

            #[cfg(feature = "dpdk")]
            fn linked() -> Api {
                Api { $($short: linked::$name,)* }
            }
        }

        #[cfg(feature = "dpdk")]
        mod linked {
            use super::*;
            unsafe extern "C" {
                $(pub(super) fn $name($(_: $arg),*) $(-> $answer)?;)*
            }
        }
    };
}

functions! {
    version = rig_dpdk_version() -> *const c_char;
    words = rig_dpdk_words(c_int) -> *const c_char;
    said = rig_dpdk_said(*mut c_char, usize);
    start = rig_dpdk_start(c_int, *mut *mut c_char) -> c_int;
    find = rig_dpdk_find(*const c_char) -> c_int;
    list = rig_dpdk_list(u16, *mut c_char) -> c_int;
    open = rig_dpdk_open(u16, *const Plan, *mut Found, *mut *const c_char) -> c_int;
    close = rig_dpdk_close(u16) -> c_int;
    link = rig_dpdk_link(u16) -> c_int;
    gone = rig_dpdk_gone(u16) -> c_int;
    losses = rig_dpdk_losses(u16, *mut Losses) -> c_int;
    limit = rig_dpdk_limit(u16, u32) -> c_int;
    clock = rig_dpdk_clock(u16, *mut u64) -> c_int;
    frames = rig_dpdk_frames(u16, u32, *mut *mut c_void, *mut *mut u8) -> c_int;
    lend = rig_dpdk_lend(*mut c_void, u16);
    send = rig_dpdk_send(u16, *mut *mut c_void, u16) -> u16;
    is_back = rig_dpdk_is_back(*const c_void) -> c_int;
    settle = rig_dpdk_settle(u16);
    receive = rig_dpdk_receive(u16, *mut *mut c_void, u16) -> u16;
    look = rig_dpdk_look(*const c_void, *mut Piece);
    free = rig_dpdk_free(*mut c_void);
}

impl Api {
    /// The shim that `dpdk` asks for.
    pub(super) fn load(dpdk: &Dpdk) -> Result<Api, DpdkFault> {
        let places = match &dpdk.shim {
            Some(shim) => core::slice::from_ref(shim),
            #[cfg(feature = "dpdk")]
            None => return Ok(Api::linked()),
            #[cfg(not(feature = "dpdk"))]
            None => &dpdk.places,
        };
        let mut tried = Vec::new();
        for place in places {
            match open(place) {
                Ok(library) => return of(library, place),
                Err(error) => tried.push((place.clone(), reason(&error))),
            }
        }
        Err(DpdkFault::NoShim { tried })
    }
}

/// What the system's loader says, which the error itself keeps to itself.
fn reason(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

fn open(place: &Path) -> Result<Library, libloading::Error> {
    // SAFETY: what a shim and the libraries that it needs do when they are opened is set themselves up; a file that the
    // user names in its place may do anything, as may any program that he starts.
    unsafe { Library::new(place) }
}

/// The functions of a shim, if it is of this program's version.
fn of(library: Library, place: &Path) -> Result<Api, DpdkFault> {
    let unusable = |error: libloading::Error| DpdkFault::NoShim {
        tried: vec![(place.to_owned(), reason(&error))],
    };
    // DPDK has threads and exit handlers of its own: its code stays.
    let library: &'static Library = Box::leak(Box::new(library));
    // SAFETY: this one function has had this type from the first version on.
    let found = unsafe {
        let abi = library.get::<unsafe extern "C" fn() -> u32>(b"rig_dpdk_abi\0");
        abi.map_err(unusable)?()
    };
    if found != ABI {
        return Err(DpdkFault::OtherShim { shim: place.to_owned(), found, wanted: ABI });
    }
    // SAFETY: it says that it is of this version.
    unsafe { Api::find(library) }.map_err(unusable)
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Api")
    }
}
