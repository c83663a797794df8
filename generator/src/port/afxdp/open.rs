//! Opening an AF_XDP port: what is asked of the kernel, in which order, and what is done without.

use super::Shared;
use super::bpf::{Attachment, Program, SocketMap};
use super::mapping::Regions;
use super::program::assemble;
use super::promiscuous::Promiscuous;
use super::ring::{Consumer, Producer};
use super::rx::{Buffers, Receiver};
use super::socket::{Binding, CHUNK, Sizes, Socket};
use super::tx::{Sender, chunks};
use crate::port::interface::{Card, Interface};
use crate::port::pool::Pool;
use crate::port::{
    Attach, Attached, Backend, Caps, Config, Fault, Feature, Mono, Port, PortError, Refusal,
    StampedBy, wait,
};
use nix::errno::Errno;
use rig_units::Dur;
use std::sync::Arc;

/// How long a queue that was just closed may stay busy: the kernel lets go of it in its own time.
const RELEASE: Dur = Dur::s(2);
/// How often it is asked for meanwhile.
const STEP: Dur = Dur::ms(10);
/// Room that the kernel keeps in front of a received frame.
const HEADROOM: usize = 256;

/// Opens the port that `config` names.
pub(crate) fn open(config: &Config) -> Result<Port, PortError> {
    let interface = Interface::named(&config.interface)?;
    let (tx, rx, caps) = halves(config, &interface).map_err(|fault| fault.at(&config.interface))?;
    Ok(Port { tx: Box::new(tx), rx: Box::new(rx), caps })
}

/// Both halves of a port on `interface`, and what they can do.
pub(super) fn halves(
    config: &Config,
    interface: &Interface,
) -> Result<(Sender, Receiver, Caps), Fault> {
    interface.carries(config.longest)?;
    if let Some((program, attached)) = interface.program {
        return Err(Fault::Occupied { program, attached });
    }
    let mut refused = Vec::new();
    let sizes = sizes(config)?;
    let socket = Socket::new()?;
    let sockets = SocketMap::new(config.queue)?;
    let program = Program::load(&assemble(sockets.raw()))?;
    let attachment = attach(&program, config, interface.index, &mut refused)?;
    let slots = config.slots as usize * chunks(config.longest) * CHUNK;
    let memory = Regions::map(sizes.rx as usize * CHUNK, slots);
    let memory = memory.map_err(|errno| Fault::of("get memory for frames", errno))?;
    let rings = socket.equip(&memory, sizes)?;
    // Some drivers want buffers to be there when the queue is bound.
    let buffers = Buffers::lend(memory.rx, Producer::new(rings.fill), sizes.rx);
    let multi_buffer = bind(&socket, config, interface, &mut refused)?;
    sockets.put(config.queue, socket.fd())?;
    let promiscuous = Promiscuous::on(interface.index)?;
    let attached = settle(config, &program)?;
    let zero_copy = socket.is_zero_copy();
    let zero_copy = zero_copy.map_err(|errno| Fault::of("ask for the socket's mode", errno))?;
    let shared = Arc::new(Shared {
        attachment,
        program,
        sockets,
        promiscuous,
        socket,
        zero_copy,
        card: Card::new(&config.interface, interface.index)?,
        tx_lost: 0.into(),
        rx_unstamped: 0.into(),
        strays: 0.into(),
    });
    let (ring, completion) = (Producer::new(rings.tx), Consumer::new(rings.completion));
    let slots = Pool::new(config.slots);
    let tx = Sender::new(Arc::clone(&shared), memory.tx, slots, ring, completion, config.longest);
    let rx = Receiver::new(shared, buffers, Consumer::new(rings.rx));
    let caps = Caps {
        backend: Backend::AfXdp,
        attached: Some(attached),
        zero_copy,
        multi_buffer,
        vlan_tags: true,
        longest: interface.longest(),
        stamped_by: StampedBy::XdpProgram,
        refused,
    };
    Ok((tx, rx, caps))
}

/// Rings with an entry for every chunk, so that none is ever full.
fn sizes(config: &Config) -> Result<Sizes, Fault> {
    let sizes = || {
        let pieces = u32::try_from(chunks(config.longest)).ok()?.checked_mul(config.slots)?;
        let rx = config.ring.max(1).checked_next_power_of_two()?;
        Some(Sizes { rx, tx: pieces.max(1).checked_next_power_of_two()? })
    };
    sizes().ok_or(Fault::Os { tried: "count the port's buffers", errno: Errno::EOVERFLOW })
}

/// Attaches the program where the configuration wants it.
fn attach(
    program: &Program,
    config: &Config,
    interface: u32,
    refused: &mut Vec<Refusal>,
) -> Result<Attachment, Fault> {
    let first = match config.attach {
        Attach::Best | Attach::Native => Attached::Native,
        Attach::Generic => Attached::Generic,
    };
    let mut answer = program.attach(interface, first);
    if let Err(errno) = answer
        && config.attach == Attach::Best
        && !matches!(errno, Errno::EPERM | Errno::EBUSY | Errno::EEXIST | Errno::ENODEV)
    {
        refused.push(Refusal { feature: Feature::NativeXdp, why: errno.to_string() });
        answer = program.attach(interface, Attached::Generic);
    }
    answer.map_err(|errno| match Interface::named(&config.interface) {
        // Someone was faster.
        Ok(Interface { program: Some((program, attached)), .. }) => {
            Fault::Occupied { program, attached }
        }
        _ => Fault::of("attach an XDP program", errno),
    })
}

/// Binds the socket in the best way that the kernel grants; whether frames may span several chunks.
fn bind(
    socket: &Socket,
    config: &Config,
    interface: &Interface,
    refused: &mut Vec<Refusal>,
) -> Result<bool, Fault> {
    let long = interface.longest().max(config.longest) > CHUNK - HEADROOM;
    let ways = [(true, true), (true, false), (false, true), (false, false)];
    let ways = ways.map(|(zero_copy, multi_buffer)| Binding { zero_copy, multi_buffer });
    // Where long frames arrive, taking them whole is worth more than sparing the copy.
    let worth = |way: &Binding| {
        let zero_copy = !way.zero_copy || config.zero_copy && (way.multi_buffer || !long);
        zero_copy && (way.multi_buffer || config.longest <= CHUNK)
    };
    let mut last = Errno::EINVAL;
    for way in ways.into_iter().filter(worth) {
        last = match bind_within(socket, interface.index, config.queue, way) {
            Ok(()) => return Ok(way.multi_buffer),
            Err(Errno::EBUSY) => {
                return Err(Fault::Busy { queue: config.queue, waited: RELEASE });
            }
            Err(errno) => errno,
        };
        let feature = if way.zero_copy { Feature::ZeroCopy } else { Feature::MultiBuffer };
        if refused.iter().all(|refusal| refusal.feature != feature) {
            refused.push(Refusal { feature, why: last.to_string() });
        }
    }
    match last {
        Errno::EINVAL if config.queue > 0 => Err(Fault::NoQueue { queue: config.queue }),
        errno => Err(Fault::of("bind to the queue", errno)),
    }
}

/// Binds; asks again while the queue is busy, for as long as a queue that was just closed may be.
fn bind_within(socket: &Socket, interface: u32, queue: u32, way: Binding) -> Result<(), Errno> {
    let start = Mono::now();
    loop {
        match socket.bind(interface, queue, way) {
            Err(Errno::EBUSY) if Mono::now().since(start) < Some(RELEASE) => wait::pause(STEP),
            answer => return answer,
        }
    }
}

/// Where the program sits, once the link is up: many NICs drop it while a program is attached.
fn settle(config: &Config, program: &Program) -> Result<Attached, Fault> {
    let own = program.id().map_err(|errno| Fault::of("ask for the program's number", errno))?;
    match Interface::linked(&config.interface, config.settle)?.program {
        Some((program, attached)) if program == own => Ok(attached),
        Some((program, attached)) => Err(Fault::Occupied { program, attached }),
        None => Err(Fault::Os { tried: "find the port's program", errno: Errno::ENOENT }),
    }
}
