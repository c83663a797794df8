//! Opening an AF_XDP port: what is asked of the kernel, in which order, and what is done without.

use super::Shared;
use super::bpf::{Attachment, Program, SocketMap};
use super::mapping::Regions;
use super::program::assemble;
use super::promiscuous::Promiscuous;
use super::ring::{Consumer, Producer};
use super::rx::{self, Buffers, Receiver};
use super::socket::{Binding, CHUNK, Rings, Sizes, Socket};
use super::sockets::Sockets;
use super::tx::{self, Sender, chunks};
use crate::port::interface::{Card, Interface};
use crate::port::pool::Pool;
use crate::port::{
    Attach, Attached, Backend, Caps, Config, Ethtool, Fault, Feature, Mono, Port, PortError,
    Refusal, StampedBy, wait,
};
use core::ops::Range;
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
    let (queues, sending) = queues(config);
    let sizes = sizes(config, queues.len())?;
    let sockets: Vec<Socket> = queues.clone().map(|_| Socket::new()).collect::<Result<_, _>>()?;
    let map = SocketMap::new(queues.end - 1)?;
    let program = Program::load(&assemble(map.raw()))?;
    let attachment = attach(&program, config, interface.index, &mut refused)?;
    let slots = config.slots as usize * chunks(config.longest) * CHUNK;
    let memory = Regions::map((sizes.rx as usize * CHUNK, queues.len()), slots);
    let mut memory = memory.map_err(|errno| Fault::of("get memory for frames", errno))?;
    let mut ways = (Vec::new(), Vec::new());
    let mut multi_buffer = false;
    let each = queues.zip(core::mem::take(&mut memory.rx)).zip(&sockets);
    for (place, ((queue, region), socket)) in each.enumerate() {
        let Rings { rx, fill, tx, completion } = match place {
            0 => socket.equip(&memory, sizes)?,
            _ => socket.rings(sizes)?,
        };
        // Some drivers want buffers to be there when the queue is bound.
        let buffers = Buffers::lend(region, Producer::new(fill), sizes.rx);
        match place {
            0 => multi_buffer = bind(socket, config, (interface, queue), &mut refused)?,
            _ => beside(socket, interface.index, queue, &sockets[0])?,
        }
        map.put(queue, socket.fd())?;
        if place < sending {
            let completion = Consumer::new(completion);
            ways.0.push(tx::Queue { ring: Producer::new(tx), completion });
        }
        ways.1.push(rx::Queue::new(buffers, Consumer::new(rx)));
    }
    let promiscuous = Promiscuous::on(interface.index)?;
    let attached = settle(config, &program)?;
    let zero_copy = sockets[0].is_zero_copy();
    let zero_copy = zero_copy.map_err(|errno| Fault::of("ask for the socket's mode", errno))?;
    let shared = Arc::new(Shared {
        attachment,
        program,
        map,
        promiscuous,
        sockets: Sockets(sockets),
        zero_copy,
        card: Card::new(&config.interface, interface.index)?,
        tx_lost: 0.into(),
        rx_unstamped: 0.into(),
        strays: 0.into(),
    });
    let slots = Pool::new(config.slots);
    let tx = Sender::new(Arc::clone(&shared), memory.tx, slots, ways.0, config.longest);
    let rx = Receiver::new(shared, ways.1);
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

/// The queues of a port, and by how many of them it sends: the one that it is to have, or every one that the interface receives by. Where
/// its driver does not say there is one.
fn queues(config: &Config) -> (Range<u32>, usize) {
    if let Some(queue) = config.queue {
        return (queue..queue + 1, 1);
    }
    let channels = Ethtool::open(&config.interface).and_then(|ethtool| ethtool.channels());
    let [receive, transmit] = channels.ok().flatten().unwrap_or([1, 1]).map(|count| count.max(1));
    // Lossless: the rig runs on 64-bit machines.
    (0..receive, receive.min(transmit) as usize)
}

/// Rings with an entry for every chunk, so that none is ever full.
fn sizes(config: &Config, queues: usize) -> Result<Sizes, Fault> {
    let sizes = || {
        let pieces = u32::try_from(chunks(config.longest)).ok()?.checked_mul(config.slots)?;
        let each = config.ring.div_ceil(u32::try_from(queues).ok()?);
        let rx = each.max(1).checked_next_power_of_two()?;
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
    (interface, queue): (&Interface, u32),
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
        last = match within(|| socket.bind(interface.index, queue, way)) {
            Ok(()) => return Ok(way.multi_buffer),
            Err(Errno::EBUSY) => return Err(Fault::Busy { queue, waited: RELEASE }),
            Err(errno) => errno,
        };
        let feature = if way.zero_copy { Feature::ZeroCopy } else { Feature::MultiBuffer };
        if refused.iter().all(|refusal| refusal.feature != feature) {
            refused.push(Refusal { feature, why: last.to_string() });
        }
    }
    Err(unbound(queue, last))
}

/// Binds the socket of a further queue, with the memory of the first.
fn beside(socket: &Socket, interface: u32, queue: u32, first: &Socket) -> Result<(), Fault> {
    match within(|| socket.bind_beside(interface, queue, first.fd())) {
        Ok(()) => Ok(()),
        Err(Errno::EBUSY) => Err(Fault::Busy { queue, waited: RELEASE }),
        Err(errno) => Err(unbound(queue, errno)),
    }
}

fn unbound(queue: u32, errno: Errno) -> Fault {
    match errno {
        Errno::EINVAL if queue > 0 => Fault::NoQueue { queue },
        errno => Fault::of("bind to the queue", errno),
    }
}

/// Binds; asks again while the queue is busy, for as long as a queue that was just closed may be.
fn within(mut bind: impl FnMut() -> Result<(), Errno>) -> Result<(), Errno> {
    let start = Mono::now();
    loop {
        match bind() {
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
