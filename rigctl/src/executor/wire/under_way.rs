//! What of a trial is still under way in a guest once its script is over. Of a guest that is behind, the emulated AES of which takes its time, what is missing at
//! the end has not got lost: it stands at its tap, in its queues, or on its way out. The guest's own counters say so, whatever it is a wrong or a right switch:
//! its ports count what came before anything is dropped, and what left after that. So the rig goes on recording until nothing is under way any more. Where
//! it comes to no end, what is missing says nothing of the device.

use super::broken::Broken;
use super::exchanged::Exchanged;
use rig_capture::DutCounter;
use rig_dut::control::{Control, Readings, if_offered};
use rig_lab::Declared;
use rig_units::Dur;

/// How long the rig listens before each reading.
pub(super) const LOOKS: Dur = Dur::ms(20);
/// How long nothing may move until the rig waits no more: a guest that has a processor takes in a frame each few milliseconds.
pub(super) const GIVES_UP: Dur = Dur::s(3);
/// How long it waits at the most: who goes on sending for ever is never done.
pub(super) const ENDS: Dur = Dur::s(60);

/// What passed all ports of a guest, by its own count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Counts {
    taken: u64,
    sent: u64,
    /// Bytes that stand in its queues now.
    held: u64,
}

/// What has not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rest {
    /// Frames that the guest has not taken in, of so many.
    outside: (u64, u64),
    /// Bytes in its queues.
    held: u64,
    /// Frames that it has sent and that have not come, of so many.
    back: (u64, u64),
}

/// The counters of a guest, and where they stood before a trial.
#[derive(Debug)]
pub(super) struct UnderWay {
    names: Vec<String>,
    before: Counts,
}

impl UnderWay {
    /// As it is before a trial; `None` where the device does not count what passes its ports.
    ///
    /// # Errors
    /// The device is lost.
    pub(super) fn before(
        control: &mut dyn Control,
        declared: &Declared,
    ) -> Result<Option<UnderWay>, Broken> {
        let ports = (0..).take_while(|&port| declared.port_speed(port).is_some());
        let of_port = |port: u16| {
            let name = declared.name_of(port);
            let own = [DutCounter::PortReceived, DutCounter::PortSent].map(|one| one.of(&name, 0));
            let held = (0..8).map(move |class| DutCounter::QueueHeld.of(&name, class));
            own.into_iter().chain(held).collect::<Vec<_>>()
        };
        let names = ports.flat_map(of_port).collect();
        let mut own = UnderWay { names, before: Counts::default() };
        let before = own.now(control)?;
        Ok(before.map(|before| {
            own.before = before;
            own
        }))
    }

    fn now(&self, control: &mut dyn Control) -> Result<Option<Counts>, Broken> {
        let Some(Readings { values, .. }) = if_offered(control.counters(&self.names))? else {
            return Ok(None);
        };
        let all = |counter: DutCounter| {
            let own = |name: &&String| name.ends_with(counter.name());
            let own = self.names.iter().filter(own).filter_map(|name| values.get(name));
            let own: Vec<u64> = own.copied().collect();
            (!own.is_empty()).then(|| own.iter().sum::<u64>())
        };
        let passed = all(DutCounter::PortReceived).zip(all(DutCounter::PortSent));
        Ok(passed.map(|(taken, sent)| {
            let held = all(DutCounter::QueueHeld).unwrap_or_default();
            Counts { taken, sent, held }
        }))
    }

    /// What is under way of what the rig has `exchanged` with it; `None` where nothing is.
    ///
    /// # Errors
    /// The device is lost.
    pub(super) fn rest(
        &self,
        control: &mut dyn Control,
        exchanged: Exchanged,
    ) -> Result<Option<Rest>, Broken> {
        let now = self.now(control)?;
        Ok(now.and_then(|now| Rest::of(self.before, now, exchanged)))
    }
}

impl Rest {
    /// A Linux sends a frame of its own now and then, and so may the machine that it runs on: it counts more, and never less.
    fn of(before: Counts, now: Counts, exchanged: Exchanged) -> Option<Rest> {
        let taken = now.taken.saturating_sub(before.taken);
        let sent = now.sent.saturating_sub(before.sent);
        let rest = Rest {
            outside: (exchanged.sent.saturating_sub(taken), exchanged.sent),
            held: now.held,
            back: (sent.saturating_sub(exchanged.came), sent),
        };
        (rest.outside.0 > 0 || rest.held > 0 || rest.back.0 > 0).then_some(rest)
    }

    /// Why what is missing says nothing of the device, where nothing moves any more. What it keeps in its queues for ever is its own doing.
    pub(super) fn told(self) -> Option<String> {
        let (outside, of) = self.outside;
        let (back, sent) = self.back;
        let outside = (outside > 0)
            .then(|| format!("{outside} of {of} frames that the rig sent never reached the guest"));
        let back = (back > 0)
            .then(|| format!("{back} of {sent} frames that the guest sent never reached the rig"));
        let told: Vec<String> = outside.into_iter().chain(back).collect();
        (!told.is_empty()).then(|| told.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rest(now: (u64, u64, u64), exchanged: (u64, u64)) -> Option<Rest> {
        let before = Counts { taken: 100, sent: 50, held: 0 };
        let (taken, sent, held) = now;
        let exchanged = Exchanged { sent: exchanged.0, came: exchanged.1 };
        Rest::of(before, Counts { taken, sent, held }, exchanged)
    }

    #[test]
    fn a_guest_that_has_passed_on_360_of_800_frames_has_440_to_go_and_one_that_has_dropped_them_none()
     {
        let behind = rest((460, 410, 0), (800, 360)).expect("it is behind");
        assert_eq!(behind.outside, (440, 800));
        let told = behind.told().expect("it comes to no end");
        insta::assert_snapshot!(told, @"440 of 800 frames that the rig sent never reached the guest");
        // It has another key than the lab says, and has dropped all that it took in.
        assert_eq!(rest((900, 50, 0), (800, 0)), None);
        // Frames of its own, and of the machine's.
        assert_eq!(rest((903, 851, 0), (800, 801)), None);
    }

    #[test]
    fn what_stands_in_its_queues_is_waited_for_and_is_its_own_doing_where_it_never_leaves() {
        let holds = rest((900, 850, 1_044), (800, 800)).expect("it holds one");
        assert_eq!((holds.held, holds.told()), (1_044, None));
    }

    #[test]
    fn what_it_has_sent_and_nobody_received_is_told() {
        let lost = rest((900, 850, 0), (800, 797)).and_then(Rest::told).expect("three");
        insta::assert_snapshot!(lost, @"3 of 800 frames that the guest sent never reached the rig");
    }
}
