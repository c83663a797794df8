//! Opens protected frames of the ports of one script, in the order in which they passed.

use crate::Dir;
use rig_testcases::wire::macsec::{Cable, End, Heard};
use rig_testcases::{Script, Secured};
use std::collections::BTreeMap;

/// The cables of a script, and the packet numbers heard on them.
#[derive(Debug, Clone)]
pub(super) struct Opener {
    cables: Vec<Cable>,
    /// Packet number that the device begins with.
    first: u64,
    heard: BTreeMap<(u16, Dir), Heard>,
}

impl Opener {
    /// `None` where nothing is protected, or nobody has the keys.
    pub(super) fn of(script: &Script) -> Option<Opener> {
        let first = script.macsec.as_ref()?.next_pn;
        let cables = Cable::all(script).ok()?;
        Some(Opener { cables, first, heard: BTreeMap::new() })
    }

    /// An association is begun anew at both ends.
    pub(super) fn rekey(&mut self, an: u8) {
        for ((_, dir), heard) in &mut self.heard {
            heard.begin(an, first(self.first, *dir));
        }
    }

    /// The device goes on with the packet number `first`, in whichever association it has.
    pub(super) fn renumber(&mut self, first: u64) {
        self.first = first;
        let received = self.heard.iter_mut().filter(|((_, dir), _)| *dir == Dir::Rx);
        received.for_each(|(_, heard)| heard.may_begin(first));
    }

    /// A protected frame in clear, and how it was protected; `None` at a port that the script does not have.
    pub(super) fn open(&mut self, port: u16, dir: Dir, frame: &[u8]) -> Option<(Vec<u8>, Secured)> {
        let cable = self.cables.get(usize::from(port))?;
        let end = match dir {
            Dir::Tx => End::Rig,
            Dir::Rx => End::Dut,
        };
        let first = first(self.first, dir);
        let heard = self.heard.entry((port, dir)).or_insert(Heard::from(first));
        let (clear, secured) = cable.open(end, heard, frame)?;
        heard.saw(&secured);
        Some((clear, secured))
    }
}

/// The packet number that an association begins with: the device's own, or 1.
const fn first(device: u64, dir: Dir) -> u64 {
    match dir {
        Dir::Tx => 1,
        Dir::Rx => device,
    }
}
