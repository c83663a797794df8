//! What a driver says of its interface through SIOCETHTOOL: its name, its speed, its clocks and its own counters.
#![expect(unsafe_code, reason = "nothing safe has this ioctl")]

use super::{Fault, PortError};
use nix::errno::Errno;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::os::fd::{AsRawFd, OwnedFd};

/// ethtool.h
const GDRVINFO: u32 = 0x03;
const GSTRINGS: u32 = 0x1b;
const GSTATS: u32 = 0x1d;
const GSSET_INFO: u32 = 0x37;
const GCHANNELS: u32 = 0x3c;
const GET_TS_INFO: u32 = 0x41;
const GLINKSETTINGS: u32 = 0x4c;
/// `ETH_SS_STATS`: the names of a driver's own counters.
const STATS: u32 = 1;
/// `ETH_GSTRING_LEN`
const NAME: usize = 32;
/// `SOF_TIMESTAMPING_TX_HARDWARE`
const TX_HARDWARE: u32 = 1 << 0;
/// `SOF_TIMESTAMPING_RX_HARDWARE`
const RX_HARDWARE: u32 = 1 << 2;
/// More counters than any driver has: a reply that claims more is not one.
const MOST: usize = 65_536;

/// An interface whose driver is asked, in the network namespace of the thread that opened it.
#[derive(Debug)]
pub struct Ethtool {
    socket: OwnedFd,
    name: String,
}

/// What the driver says of its clocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timestamping {
    /// It can stamp frames as they leave.
    pub tx_hardware: bool,
    /// It can stamp frames as they arrive.
    pub rx_hardware: bool,
    /// The number of its PTP clock, if it has one.
    pub ptp: Option<u32>,
}

impl Ethtool {
    /// Asks about the interface of that name.
    ///
    /// # Errors
    /// The process may not have a socket.
    pub fn open(name: &str) -> Result<Ethtool, PortError> {
        let socket = socket(AddressFamily::Inet, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None);
        let socket = socket.map_err(|errno| Fault::of("make a socket", errno).at(name))?;
        Ok(Ethtool { socket, name: name.to_owned() })
    }

    /// The name of the driver.
    ///
    /// # Errors
    /// There is no such interface, or its driver does not say.
    pub fn driver(&self) -> Result<String, PortError> {
        // struct ethtool_drvinfo: cmd, driver[32], version[32], ...; 196 bytes.
        let mut reply = [0; 196];
        self.ask("ask for the driver", GDRVINFO, &mut reply)?;
        Ok(text(&reply[4..36]))
    }

    /// The speed in Mb/s; `None` where there is none, or no link.
    ///
    /// # Errors
    /// There is no such interface.
    pub fn speed(&self) -> Result<Option<u32>, PortError> {
        // struct ethtool_link_settings: cmd, speed, ..., link_mode_masks_nwords (a signed byte at 15), ...; 48 bytes and
        // three masks of up to 127 words each. A first question is answered with the number of words, negated.
        let mut reply = vec![0; 48];
        let tried = "ask for the speed";
        match self.ask(tried, GLINKSETTINGS, &mut reply) {
            Err(error) if matches!(error.fault, Fault::Os { errno: Errno::EOPNOTSUPP, .. }) => {
                return Ok(None);
            }
            answer => answer?,
        }
        let words = reply[15].wrapping_neg();
        if !(1..=127).contains(&words) {
            return Ok(None);
        }
        let mut reply = vec![0; 48 + usize::from(words) * 3 * 4];
        reply[15] = words;
        self.ask(tried, GLINKSETTINGS, &mut reply)?;
        let speed = word(&reply, 4);
        Ok((speed != 0 && speed != u32::MAX).then_some(speed))
    }

    /// Over how many queues it spreads what it receives; `None` where its driver does not say.
    ///
    /// # Errors
    /// There is no such interface.
    pub fn receive_queues(&self) -> Result<Option<u32>, PortError> {
        Ok(self.channels()?.map(|[receive, _]| receive))
    }

    /// How many queues it receives by, and how many it sends by; `None` where its driver does not say.
    ///
    /// # Errors
    /// There is no such interface.
    pub(super) fn channels(&self) -> Result<Option<[u32; 2]>, PortError> {
        // struct ethtool_channels: cmd, four maxima, then rx, tx, other and combined; 36 bytes.
        let mut reply = [0; 36];
        match self.ask("ask for the queues", GCHANNELS, &mut reply) {
            Err(error) if matches!(error.fault, Fault::Os { errno: Errno::EOPNOTSUPP, .. }) => {
                Ok(None)
            }
            answer => answer.map(|()| {
                let both = word(&reply, 32);
                Some([20, 24].map(|own| word(&reply, own).saturating_add(both)))
            }),
        }
    }

    /// What timestamps it can make.
    ///
    /// # Errors
    /// There is no such interface, or its driver does not say.
    pub fn timestamping(&self) -> Result<Timestamping, PortError> {
        // struct ethtool_ts_info: cmd, so_timestamping, phc_index (signed), ...; 44 bytes.
        let mut reply = [0; 44];
        self.ask("ask for the clocks", GET_TS_INFO, &mut reply)?;
        let modes = word(&reply, 4);
        Ok(Timestamping {
            tx_hardware: modes & TX_HARDWARE != 0,
            rx_hardware: modes & RX_HARDWARE != 0,
            ptp: Some(word(&reply, 8)).filter(|&index| i32::try_from(index).is_ok()),
        })
    }

    /// The driver's own counters by name, in its order; none where it has none.
    ///
    /// # Errors
    /// There is no such interface.
    pub fn counters(&self) -> Result<Vec<(String, u64)>, PortError> {
        let tried = "read the driver's counters";
        // struct ethtool_sset_info: cmd, reserved, sset_mask (u64), then a word for each set asked for.
        let mut count = [0; 20];
        count[8..16].copy_from_slice(&(1_u64 << STATS).to_ne_bytes());
        self.ask(tried, GSSET_INFO, &mut count)?;
        let known = u64::from_ne_bytes(count[8..16].try_into().unwrap_or_default());
        let count = usize::try_from(word(&count, 16)).unwrap_or(0);
        if known == 0 || count == 0 || count > MOST {
            return Ok(Vec::new());
        }
        let len = u32::try_from(count).unwrap_or(0).to_ne_bytes();
        // struct ethtool_gstrings: cmd, string_set, len, then the names. struct ethtool_stats: cmd, n_stats, then a u64
        // for each. The kernel asks the driver how many there are and writes that many, whatever is said here: more
        // than were counted a moment ago would not fit. The room is doubled for what a driver adds meanwhile.
        let mut names = vec![0; 12 + count * 2 * NAME];
        names[4..8].copy_from_slice(&STATS.to_ne_bytes());
        names[8..12].copy_from_slice(&len);
        self.ask(tried, GSTRINGS, &mut names)?;
        let mut values = vec![0; 8 + count * 2 * 8];
        values[4..8].copy_from_slice(&len);
        self.ask(tried, GSTATS, &mut values)?;
        let names = names[12..].chunks_exact(NAME).map(text);
        let values = values[8..].chunks_exact(8);
        let values = values.map(|bytes| u64::from_ne_bytes(bytes.try_into().unwrap_or_default()));
        Ok(names.zip(values).take(count).collect())
    }

    /// Has the kernel fill `reply`, whose first word becomes the command.
    fn ask(&self, tried: &'static str, command: u32, reply: &mut [u8]) -> Result<(), PortError> {
        reply[..4].copy_from_slice(&command.to_ne_bytes());
        let fault = |errno| match errno {
            Errno::ENODEV => Fault::NoInterface.at(&self.name),
            errno => Fault::of(tried, errno).at(&self.name),
        };
        // SAFETY: all bits zero is a value of ifreq.
        let mut request: libc::ifreq = unsafe { core::mem::zeroed() };
        let name = self.name.as_bytes();
        if name.len() >= request.ifr_name.len() {
            return Err(fault(Errno::ENODEV));
        }
        for (to, from) in request.ifr_name.iter_mut().zip(name) {
            *to = from.cast_signed();
        }
        request.ifr_ifru.ifru_data = reply.as_mut_ptr().cast();
        // SAFETY: the request is whole and outlives the call. `reply` is writable and as long as what the kernel writes
        // for this command: the structs are of fixed size, and whoever asks for more has counted it first.
        let done =
            unsafe { libc::ioctl(self.socket.as_raw_fd(), libc::SIOCETHTOOL, &raw mut request) };
        Errno::result(done).map(drop).map_err(fault)
    }
}

fn word(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    u32::from_ne_bytes(four.unwrap_or_default())
}

/// A name that ends in zeros.
fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|&byte| byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netlab::tests::{namespace, pair_in};

    #[test]
    fn a_virtual_interface_says_what_it_is() {
        let Some(own) = namespace() else { return };
        pair_in(&own, 1_500);
        own.run(|| {
            let ethtool = Ethtool::open("v1").expect("a socket");
            assert_eq!(ethtool.driver(), Ok("veth".to_owned()));
            assert_eq!(ethtool.speed(), Ok(Some(10_000)));
            assert_eq!(ethtool.receive_queues(), Ok(Some(1)));
            let clocks = ethtool.timestamping().expect("software ones");
            assert!(!clocks.tx_hardware && !clocks.rx_hardware && clocks.ptp.is_none());
            let counters = ethtool.counters().expect("some");
            assert!(counters.iter().any(|(name, _)| name == "peer_ifindex"), "{counters:?}");
        })
        .expect("inside");
    }

    #[test]
    fn what_is_not_there_says_nothing() {
        let Some(own) = namespace() else { return };
        let said = own.run(|| {
            let ethtool = Ethtool::open("v9").expect("a socket");
            [ethtool.driver().map(drop), ethtool.counters().map(drop)]
        });
        for answer in said.expect("inside") {
            assert_eq!(answer.expect_err("nothing there").fault, Fault::NoInterface);
        }
        let long = Ethtool::open("a-name-of-sixteen").expect("a socket").driver();
        assert_eq!(long.expect_err("too long").fault, Fault::NoInterface);
    }
}
