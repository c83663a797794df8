//! A pair of interfaces in two namespaces, and frames to send over it.

use rig_generator::netlab::{End, Namespace, pair_with_queues};
use rig_generator::port::{Config, Mono, Port, PortError, Receive, Stamp, Transmit};
use rig_units::Dur;

/// Interface `v1` in one namespace and `v2` in another, the two ends of one wire.
#[derive(Debug)]
pub(crate) struct Lab {
    pub(crate) one: Namespace,
    pub(crate) other: Namespace,
}

impl Lab {
    /// A new one, or `None` with a word on stderr where the process may not make one.
    pub(crate) fn new(mtu: u32) -> Option<Lab> {
        Lab::with_queues(mtu, 1)
    }

    /// A new one whose interfaces have this many queues.
    pub(crate) fn with_queues(mtu: u32, queues: u32) -> Option<Lab> {
        let namespaces = Namespace::new().and_then(|one| Ok((one, Namespace::new()?)));
        let (one, other) = match namespaces {
            Ok(both) => both,
            Err(error)
                if error.is_permission()
                    && std::env::var_os("RIG_REQUIRE_ALL").is_none_or(|all| all != "1") =>
            {
                #[expect(clippy::print_stderr, reason = "a skipped test says why")]
                {
                    eprintln!("skipped: {error}");
                }
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let ends = [("v1", &one), ("v2", &other)].map(|(name, within)| End { within, name });
        pair_with_queues(ends[0], ends[1], mtu, queues).expect("a pair");
        Some(Lab { one, other })
    }

    /// Opens a port at either end, each configured by `set`.
    pub(crate) fn ports(&self, set: impl Fn(&mut Config) + Sync) -> [Port; 2] {
        [(&self.one, "v1"), (&self.other, "v2")].map(|(within, name)| {
            open(within, name, &set).unwrap_or_else(|error| panic!("{error}"))
        })
    }
}

/// Opens a port in `within`, configured by `set`.
pub(crate) fn open(
    within: &Namespace,
    name: &str,
    set: impl Fn(&mut Config) + Sync,
) -> Result<Port, PortError> {
    let mut config = Config::new(name);
    config.ring = 1024;
    config.slots = 64;
    set(&mut config);
    within.run(|| Port::open(&config)).expect("a namespace to enter")
}

/// A PFC frame that pauses class 3 for as long as possible.
pub(crate) fn pfc() -> Vec<u8> {
    let mut frame = vec![0x01, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0x88, 0x08, 1, 1, 0, 8];
    frame.extend((0..8_u8).flat_map(|class| if class == 3 { [0xff; 2] } else { [0; 2] }));
    frame.resize(60, 0);
    frame
}

/// A frame of `len` bytes, no two pieces of it alike, with `seq` behind the Ethernet header.
pub(crate) fn numbered(len: usize, seq: u64) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x88, 0xb5];
    frame.extend(seq.to_be_bytes());
    let pattern = (frame.len()..).map(|at| (at * 7 + at / 251).to_le_bytes()[0]);
    frame.extend(pattern.take(len.saturating_sub(22)));
    frame
}

/// Sends `frames` and stays until the kernel has taken them all; how many it threw away.
pub(crate) fn send<'a>(tx: &mut dyn Transmit, frames: impl IntoIterator<Item = &'a [u8]>) -> u64 {
    let mut lost = 0;
    let mut flush = |tx: &mut dyn Transmit| {
        tx.publish();
        for _ in 0..1_000_000 {
            let kick = tx.kick().unwrap_or_else(|error| panic!("{error}"));
            lost += kick.lost;
            if kick.waiting == 0 {
                return;
            }
        }
        panic!("the kernel does not take what was published");
    };
    for bytes in frames {
        let mut frame = tx.alloc().unwrap_or_else(|| {
            flush(tx);
            tx.alloc().expect("a slot is back when its frame has left")
        });
        tx.bytes(&mut frame)[..bytes.len()].copy_from_slice(bytes);
        tx.stage(frame, bytes.len());
    }
    flush(tx);
    lost
}

/// Receives until `want` frames are there or nothing has come for a second.
pub(crate) fn receive(rx: &mut dyn Receive, want: usize) -> Vec<(Vec<u8>, Stamp)> {
    let mut got = Vec::new();
    while got.len() < want {
        let one = rx.poll(&mut |bytes, stamp| got.push((bytes.to_vec(), stamp)));
        if one.unwrap_or_else(|error| panic!("{error}")) == 0 {
            let more = rx.wait(Dur::s(1)).unwrap_or_else(|error| panic!("{error}"));
            if !more {
                break;
            }
        }
    }
    got
}

/// Stamps that increase, and lie between two readings of their clock.
pub(crate) fn in_order(got: &[(Vec<u8>, Stamp)], before: Mono, after: Mono) {
    let mut last = before;
    for (_, stamp) in got {
        assert!(last <= stamp.at, "{stamp:?} before {last:?}");
        last = stamp.at;
    }
    assert!(last <= after, "{last:?} is yet to come at {after:?}");
}
