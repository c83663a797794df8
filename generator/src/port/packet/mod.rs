//! AF_PACKET through pnet: for interfaces that carry no XDP program.
//!
//! One call a frame, timestamps by the process, and the kernel has taken the VLAN tag off a frame before the port sees it.

mod rx;
mod tx;

use super::interface::{Card, Interface};
use super::sockopt::{self, PacketCounts};
use super::wait::Checkup;
use super::{Backend, Caps, Config, Fault, Port, PortError, StampedBy, Stats};
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;
use core::time::Duration;
use nix::errno::Errno;
use nix::sys::socket::sockopt::RcvBufForce;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, setsockopt, socket};
use pnet_datalink::{Channel, NetworkInterface, linux};
use rx::Receiver;
use std::io;
use std::os::fd::{AsFd, IntoRawFd, OwnedFd};
use std::sync::Arc;
use tx::Sender;

/// Longer than any frame: pnet cuts off what does not fit and does not say so.
const LARGEST: usize = 1 << 16;
/// What a frame costs of the socket's buffer, about, beside its bytes.
const OVERHEAD: usize = 768;
/// `PACKET_IGNORE_OUTGOING`, which libc does not know: frames that others send here are not received.
const IGNORE_OUTGOING: i32 = 23;

/// What both halves need. The socket itself is pnet's; this is a second descriptor of it.
#[derive(Debug)]
struct Shared {
    socket: OwnedFd,
    card: Card,
    rx_dropped: AtomicU64,
    tx_lost: AtomicU64,
}

/// Opens the port that `config` names.
pub(super) fn open(config: &Config) -> Result<Port, PortError> {
    let interface = Interface::named(&config.interface)?;
    build(config, &interface).map_err(|fault| fault.at(&config.interface))
}

fn build(config: &Config, interface: &Interface) -> Result<Port, Fault> {
    interface.carries(config.longest)?;
    Interface::linked(&config.interface, config.settle)?;
    let os = |tried| move |errno| Fault::of(tried, errno);
    // Of protocol 0 until it is bound: it receives nothing before it is set up.
    let socket = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, None)
        .map_err(os("make an AF_PACKET socket"))?;
    let buffer = config.ring as usize * (config.longest + OVERHEAD);
    setsockopt(&socket, RcvBufForce, &buffer).map_err(os("get memory for frames"))?;
    sockopt::set(socket.as_fd(), libc::SOL_PACKET, IGNORE_OUTGOING, &1_i32)
        .map_err(os("leave out frames that others send"))?;
    let second = socket.try_clone().map_err(|error| fault("share the socket", &error))?;
    let Channel::Ethernet(sender, receiver) = channel(config, interface, socket)? else {
        return Err(Fault::Os { tried: "bind to the interface", errno: Errno::EPROTONOSUPPORT });
    };
    let shared = Arc::new(Shared {
        socket: second,
        card: Card::new(&config.interface, interface.index)?,
        rx_dropped: 0.into(),
        tx_lost: 0.into(),
    });
    let tx = Sender::new(Arc::clone(&shared), sender, config.slots, config.longest);
    let rx = Receiver { shared, receiver, checkup: Checkup::new() };
    let caps = Caps {
        backend: Backend::AfPacket,
        attached: None,
        zero_copy: false,
        multi_buffer: true,
        vlan_tags: false,
        longest: interface.longest(),
        stamped_by: StampedBy::Process,
        refused: Vec::new(),
    };
    Ok(Port { tx: Box::new(tx), rx: Box::new(rx), caps })
}

/// Has pnet bind the socket, which is its own from here on.
fn channel(config: &Config, interface: &Interface, socket: OwnedFd) -> Result<Channel, Fault> {
    let card = NetworkInterface {
        name: config.interface.clone(),
        description: String::new(),
        index: interface.index,
        mac: None,
        ips: Vec::new(),
        flags: 0,
    };
    let pnet = linux::Config {
        read_buffer_size: LARGEST,
        read_timeout: Some(Duration::ZERO),
        write_timeout: Some(Duration::ZERO),
        promiscuous: true,
        socket_fd: Some(socket.into_raw_fd()),
        ..linux::Config::default()
    };
    linux::channel(&card, pnet).map_err(|error| fault("bind to the interface", &error))
}

fn fault(tried: &'static str, error: &io::Error) -> Fault {
    Fault::of(tried, errno(error).unwrap_or(Errno::EIO))
}

fn errno(error: &io::Error) -> Option<Errno> {
    error.raw_os_error().map(Errno::from_raw)
}

impl Shared {
    fn stats(&self) -> Result<Stats, PortError> {
        let counts: Result<PacketCounts, Errno> =
            sockopt::get(self.socket.as_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS);
        let counts = counts.map_err(|errno| self.card.error("read the counters", errno))?;
        let drops = u64::from(counts.drops);
        Ok(Stats {
            rx_dropped: self.rx_dropped.fetch_add(drops, Relaxed) + drops,
            tx_lost: self.tx_lost.load(Relaxed),
            ..Stats::default()
        })
    }

    /// What the socket has to tell, which it tells once.
    fn trouble(&self) -> Option<Errno> {
        let code: i32 = sockopt::get(self.socket.as_fd(), libc::SOL_SOCKET, libc::SO_ERROR).ok()?;
        (code != 0).then(|| Errno::from_raw(code))
    }
}
