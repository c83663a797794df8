//! One port of the rig: what it sends, in which slots of its ring, and what it makes of frames that arrive.

use super::{BATCH, Watcher};
use crate::clock::Clock;
use crate::gate::Obeys;
use crate::peer::Peer;
use crate::port::{Frame, PortError, Receive, StampedBy, Transmit};
use crate::sender::{Departure, Sender, Who};
use crate::template::Template;
use rig_frames::ethernet::{self, ethertype};
use rig_frames::{pause, pfc};
use rig_testcases::{MacsecMode, Secured};
use rig_units::{Dur, Time};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// So long before its instant a frame's way out is gone through once for nothing.
const WARM: Dur = Dur::ns(300);

/// Who may want to see what a port is about to send.
pub(super) struct Reader<'a> {
    pub(super) port: u16,
    pub(super) reads: bool,
    pub(super) watcher: &'a mut dyn Watcher,
}

/// A frame in a slot.
#[derive(Debug)]
struct Ready {
    frame: Frame,
    departure: Departure,
    /// How it is protected in there.
    secured: Option<Secured>,
    len: usize,
}

/// One port of the rig with what it sends.
#[derive(Debug)]
pub struct Lane {
    /// The sending half.
    pub tx: Box<dyn Transmit>,
    /// The receiving half.
    pub rx: Box<dyn Receive>,
    /// What it sends when.
    pub sender: Sender,
    /// The frames of each of its senders, and the tag of slots that hold one of them.
    templates: BTreeMap<Who, (u64, Template)>,
    /// The last tag given out. None is used twice: slots outlive the senders of a trial.
    tag: u64,
    /// When a frame is handed over: as its first bit is due, to a port that serialises it; as its last bit is due, to one
    /// over which frames pass in no time (a pair of virtual interfaces).
    pub instant: bool,
    /// How the port speaks MACsec, if it does.
    pub peer: Option<Peer>,
    /// The frame that is to be protected next, in clear.
    clear: Vec<u8>,
    /// A slot that holds the frame that leaves next, if nothing comes in between.
    ready: Option<Ready>,
    /// Frames in the ring that nobody has been told of yet.
    pub(super) staged: Vec<Departure>,
    /// Since when the kernel has had no room for what was handed over.
    owes: Option<Time>,
    /// The rig itself has set the interface down: it is not asked for frames.
    unplugged: bool,
}

impl Lane {
    /// A port that sends nothing yet.
    pub fn new(tx: Box<dyn Transmit>, rx: Box<dyn Receive>, sender: Sender, instant: bool) -> Lane {
        Lane {
            tx,
            rx,
            sender,
            templates: BTreeMap::new(),
            tag: 0,
            instant,
            peer: None,
            clear: Vec::new(),
            ready: None,
            staged: Vec::with_capacity(BATCH),
            owes: None,
            unplugged: false,
        }
    }

    /// The rig is about to set the interface down at `now`: nothing is sent by it or asked of it.
    pub fn unplug(&mut self, now: Time) {
        self.unplugged = true;
        self.sender.set_up(now, false);
    }

    /// The rig has set the interface up again.
    pub fn plug(&mut self, now: Time) {
        self.unplugged = false;
        self.sender.set_up(now, true);
    }

    /// Whether the rig has set the interface down.
    pub const fn is_unplugged(&self) -> bool {
        self.unplugged
    }

    /// Since when the kernel has had no room for what was handed over: it has not left, whatever was told of it.
    pub const fn owes(&self) -> Option<Time> {
        self.owes
    }

    /// Gives a sender its frames.
    pub fn assign(&mut self, who: Who, template: Template) {
        self.tag += 1;
        self.templates.insert(who, (self.tag, template));
    }

    /// Stops every sender and forgets its frames; from now on the port obeys pauses as `obeys` says. Pauses go on.
    pub fn forget(&mut self, obeys: Obeys) {
        self.sender.stop_all();
        self.sender.obey(obeys);
        self.templates.clear();
    }

    /// The next departure and the instant at which it is handed over.
    pub(super) fn next(&self) -> Option<(Time, Departure)> {
        let next = self.sender.next()?;
        Some((if self.instant { next.end } else { next.start }, next))
    }

    /// Writes the frame of `departure` into a slot, or, if one holds it already, only its time; `false` when no slot is
    /// free. A packet number is given for good only when the frame goes into the ring: until then another may come first.
    pub(super) fn prepare(&mut self, departure: &Departure, stamp_ns: u64) -> bool {
        let Lane { ready, templates, tx, peer, clear, .. } = self;
        let (tag, template) = templates.get(&departure.who).expect("every sender has its frames");
        let secured = peer
            .as_ref()
            .and_then(|peer| peer.next(template.macsec_mode(), departure.who.is_pfc()));
        if let Some(held) = ready
            && (held.departure, held.secured) == (*departure, secured)
            && (secured.is_none() || !template.is_stamped())
        {
            template.stamp(tx.bytes(&mut held.frame), stamp_ns);
            return true;
        }
        let slot = ready.take().map(|held| held.frame).or_else(|| tx.alloc());
        let Some(mut frame) = slot else { return false };
        let len = if let (Some(secured), Some(peer)) = (&secured, peer) {
            clear.resize(template.len(), 0);
            template.write(clear, false, departure.number, stamp_ns);
            let sealed = peer.seal(secured, clear);
            // What is in the slot now is of no template.
            frame.tag = 0;
            tx.bytes(&mut frame)[..sealed.len()].copy_from_slice(&sealed);
            sealed.len()
        } else {
            // Tag 0 is a slot that holds no frame of a template.
            let primed = frame.tag == *tag;
            frame.tag = *tag;
            template.write(tx.bytes(&mut frame), primed, departure.number, stamp_ns);
            template.len()
        };
        *ready = Some(Ready { frame, departure: *departure, secured, len });
        true
    }

    /// Puts the prepared frame into the ring.
    pub(super) fn stage(&mut self, reader: &mut Reader<'_>) {
        let Some(Ready { mut frame, departure, secured, len }) = self.ready.take() else { return };
        if let (Some(_), Some(peer)) = (secured, &mut self.peer) {
            let template = self.templates.get(&departure.who);
            peer.left(template.map_or(MacsecMode::Usual, |(_, template)| template.macsec_mode()));
        }
        if reader.reads {
            reader.watcher.wrote(reader.port, &self.tx.bytes(&mut frame)[..len]);
        }
        self.tx.stage(frame, len);
        self.staged.push(Departure { secured, ..departure });
    }

    /// Puts into the ring what else was due by `now`, as far as it goes. The frame in front of it counts as sent.
    pub(super) fn gather(
        &mut self,
        now: Time,
        until: Time,
        stamp_ns: u64,
        reader: &mut Reader<'_>,
    ) {
        while self.staged.len() < BATCH {
            self.sender.sent(now);
            let next = self.next().filter(|(due, next)| *due <= now && next.start < until);
            let Some((_, departure)) = next else { return };
            if !self.prepare(&departure, stamp_ns) {
                return;
            }
            self.stage(reader);
        }
        self.sender.sent(now);
    }

    /// Hands over a frame that came by another port, at once; from when until when, or nothing where no slot is free.
    pub(super) fn pass_on<C: Clock>(
        &mut self,
        frame: &[u8],
        clock: &C,
    ) -> Result<Option<(Time, Time)>, PortError> {
        let Some(mut slot) = self.tx.alloc() else { return Ok(None) };
        // What is in the slot now is of no template.
        slot.tag = 0;
        self.tx.bytes(&mut slot)[..frame.len()].copy_from_slice(frame);
        self.tx.stage(slot, frame.len());
        let at = clock.now();
        self.tx.publish();
        if self.tx.kick()?.refused {
            self.owes.get_or_insert(at);
        }
        Ok(Some((at, clock.now())))
    }

    /// Asks the kernel once more to take what it had no room for; since when it had none, once it has taken all of it.
    pub(super) fn retry(&mut self) -> Result<Option<Time>, PortError> {
        if self.owes.is_none() || self.unplugged || self.tx.kick()?.refused {
            return Ok(None);
        }
        Ok(self.owes.take())
    }

    /// Hands the staged frames over at `due`, or at once when that is over; from when until when. What the kernel has no room for
    /// is owed from then on.
    pub(super) fn send<C: Clock>(
        &mut self,
        clock: &C,
        due: Time,
    ) -> Result<(Time, Time), PortError> {
        let mut at = clock.now();
        // Twice the same way where there is ample time: the call into the kernel for the frame before has driven this code out
        // of the caches, and the first turn brings it back.
        let turns = [due.saturating_sub(WARM), due];
        for until in &turns[usize::from(at + WARM > turns[0])..] {
            clock.spin(*until);
            at = clock.now();
        }
        self.tx.publish();
        if self.tx.kick()?.refused {
            self.owes.get_or_insert(at);
        }
        Ok((at, clock.now()))
    }

    /// Takes in what has arrived; whether anything had.
    pub(super) fn receive<C: Clock>(
        &mut self,
        port: u16,
        clock: &C,
        watcher: &mut dyn Watcher,
    ) -> Result<bool, PortError> {
        let Lane { rx, sender, unplugged: false, instant, peer, .. } = self else {
            return Ok(false);
        };
        let taken = rx.poll(&mut |frame, stamp| {
            let at = clock.at(stamp.at);
            // Elsewhere a frame is handed over as it begins: what has not been is not under way, but late.
            if *instant {
                sender.begin(at);
            }
            obey(sender, peer.as_mut(), frame, at, clock);
            watcher.received(port, frame, at, stamp.by);
        })?;
        Ok(taken > 0)
    }

    /// One frame that arrived: it is obeyed, then handed on.
    pub(super) fn take_in<C: Clock>(
        &mut self,
        port: u16,
        frame: &[u8],
        (at, by): (Time, StampedBy),
        clock: &C,
        watcher: &mut dyn Watcher,
    ) {
        obey(&mut self.sender, self.peer.as_mut(), frame, at, clock);
        watcher.received(port, frame, at, by);
    }
}

/// Lets a sender obey what a frame asks for, if it is one of MAC Control. Where the port speaks MACsec it may lie behind a
/// tag, or not be obeyed without one.
fn obey<C: Clock>(sender: &mut Sender, peer: Option<&mut Peer>, frame: &[u8], at: Time, clock: &C) {
    let heeded = match peer {
        Some(peer) => peer.heeds(frame),
        None => Some(Cow::Borrowed(frame)),
    };
    let Some(frame) = heeded else { return };
    let kind = ethertype::MAC_CONTROL.to_be_bytes();
    if frame.get(12..14) != Some(&kind) {
        return;
    }
    let control = &frame[ethernet::LEN..];
    if let Ok(pfc) = pfc::Repr::parse(control) {
        sender.on_pfc(at, clock.now(), &pfc);
    } else if let Ok(pause) = pause::Repr::parse(control) {
        sender.on_pause(at, clock.now(), pause.quanta);
    }
}
