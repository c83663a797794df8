//! How well a NIC's own clock can be told on this machine's: the kernel reads the one between two readings of the other, some times over, and of
//! the closest pair half is the bound (Documentation/driver-api/ptp.rst; `PTP_SYS_OFFSET_EXTENDED`). A stamp by the hardware is never better than that.
//!
//! Left out on purpose: the stamps themselves. No port here takes any by the hardware yet.
#![expect(unsafe_code, reason = "nothing safe has this ioctl")]

use nix::errno::Errno;
use rig_units::Dur;
use std::fs::File;
use std::os::fd::AsRawFd as _;

/// `PTP_MAX_SAMPLES`
const SAMPLES: usize = 25;
/// As many are asked for.
const ASKED: u32 = 25;
/// `struct ptp_clock_time`: seconds (signed), nanoseconds, reserved.
const INSTANT: usize = 16;
/// The number of samples and three words that are reserved.
const HEAD: usize = 16;
/// `struct ptp_sys_offset_extended`
const LEN: usize = HEAD + SAMPLES * 3 * INSTANT;
/// `_IOWR('=', 9, struct ptp_sys_offset_extended)`: both ways in the two highest bits, the length from bit 16 on.
const COMPARE: u32 = 0xc4c0_3d09;
const NS_PER_S: i128 = 1_000_000_000;

/// How far off a reading of the PTP clock of that number is, at best.
///
/// # Errors
/// Why it is not read, in words: there is none, this process may not, or its driver does not compare.
pub fn clock_read_within(number: u32) -> Result<Dur, String> {
    let path = format!("/dev/ptp{number}");
    let clock = File::open(&path).map_err(|why| format!("{path}: {why}"))?;
    let mut reply = [0; LEN];
    reply[..4].copy_from_slice(&ASKED.to_ne_bytes());
    // SAFETY: `reply` is writable, as long as the struct that this command is numbered by, and outlives the call.
    let done = unsafe { libc::ioctl(clock.as_raw_fd(), COMPARE.into(), reply.as_mut_ptr()) };
    Errno::result(done).map_err(|errno| format!("{path}: {errno}"))?;
    bound(&reply)
        .ok_or_else(|| format!("{path}: no reading of it lies between two of the system's"))
}

/// Half of the shortest time between two readings of the system's clock that have one of the NIC's between them.
fn bound(reply: &[u8; LEN]) -> Option<Dur> {
    let instant = |at: usize| {
        let bytes = &reply[at..at + INSTANT];
        let seconds = i64::from_ne_bytes(bytes[..8].try_into().ok()?);
        let ns = u32::from_ne_bytes(bytes[8..12].try_into().ok()?);
        Some(i128::from(seconds) * NS_PER_S + i128::from(ns))
    };
    let said = u32::from_ne_bytes(reply[..4].try_into().ok()?);
    let samples = usize::try_from(said).unwrap_or(SAMPLES).min(SAMPLES);
    let apart = (0..samples).filter_map(|sample| {
        let at = HEAD + sample * 3 * INSTANT;
        let (before, after) = (instant(at)?, instant(at + 2 * INSTANT)?);
        // A clock that was set back meanwhile, or one that was not read.
        u64::try_from(after - before).ok().filter(|_| before > 0)
    });
    // To the next nanosecond: a bound is never too short.
    apart.min().map(|apart| Dur::ns(apart.div_ceil(2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reply with these samples: system, NIC, system, in nanoseconds.
    fn reply(samples: &[[u64; 3]]) -> [u8; LEN] {
        let mut reply = [0; LEN];
        reply[..4].copy_from_slice(&u32::try_from(samples.len()).expect("few").to_ne_bytes());
        for (place, ns) in samples.iter().flatten().enumerate() {
            let at = HEAD + place * INSTANT;
            reply[at..at + 8].copy_from_slice(&(ns / 1_000_000_000).to_ne_bytes());
            let part = u32::try_from(ns % 1_000_000_000).expect("less than a second");
            reply[at + 8..at + 12].copy_from_slice(&part.to_ne_bytes());
        }
        reply
    }

    #[test]
    fn the_question_is_that_of_the_kernels_header() {
        // What a C compiler makes of linux/ptp_clock.h.
        assert_eq!((LEN, HEAD), (1_216, 16));
        let len = u32::try_from(LEN).expect("short");
        assert_eq!(COMPARE, 3 << 30 | len << 16 | u32::from(b'=') << 8 | 9);
        assert_eq!(usize::try_from(ASKED), Ok(SAMPLES));
    }

    #[test]
    fn the_closest_pair_of_readings_is_the_bound() {
        let second = 1_000_000_000;
        // The last one is across a second, and the closest, whatever the NIC's clock says.
        let samples = [
            [5 * second, 77, 5 * second + 900],
            [6 * second, 0, 6 * second + 2_000],
            [7 * second - 100, 9 * second, 7 * second + 301],
        ];
        assert_eq!(bound(&reply(&samples)), Some(Dur::ns(201)));
        // One that was set back says nothing, nor does one that was not read.
        assert_eq!(bound(&reply(&[[9 * second, 0, 8 * second], [0, 0, 0]])), None);
        assert_eq!(bound(&reply(&[])), None);
        // More than were asked for are not there.
        let mut many = reply(&samples[..1]);
        many[..4].copy_from_slice(&u32::MAX.to_ne_bytes());
        assert_eq!(bound(&many), Some(Dur::ns(450)));
    }

    #[test]
    fn a_clock_that_is_not_there_is_named() {
        let why = clock_read_within(4_000_000_000).expect_err("no machine has so many");
        assert!(why.starts_with("/dev/ptp4000000000: "), "{why}");
    }
}
