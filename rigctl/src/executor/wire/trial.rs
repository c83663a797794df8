//! One trial under way: the steps of its script, each at its time.

use super::super::virtual_lab::association;
use super::bench::Bench;
use super::broken::Broken;
use super::lab::{WireLab, frame, index};
use super::tape::{self, Tape};
use super::under_way::{ENDS, GIVES_UP, LOOKS, Rest, UnderWay};
use rig_capture::ConfigOutcome;
use rig_dut::control::{FlowOrder, Order};
use rig_generator::{Job, Program, Rhythm, Template, Watcher as _, Who};
use rig_lab::Setting;
use rig_testcases::{Action, FlowSpec, PfcFrames, Script};
use rig_units::{Bytes, Dur, PortSpeed, Quanta, Time};
use std::{slice, thread};

/// Whether a step is done by the device itself, so that nobody else sees when; `cuts`: it cuts links, too.
const fn reaches_the_device(action: &Action, cuts: bool) -> bool {
    match action {
        Action::LinkDown(_) | Action::LinkUp(_) => cuts,
        Action::Configure(_) | Action::Device(_) | Action::StartFlow(_) | Action::StopFlow(_) => {
            true
        }
        Action::StartStream(_)
        | Action::StopStream(_)
        | Action::StartStorm(_)
        | Action::StopStorm(_)
        | Action::Pfc(_) => false,
    }
}

/// The setting of which nobody predicts when it takes effect, as long as nothing is sent meanwhile: a switch takes as long as it takes.
const SETTLES: &str = "shut_port";
/// Those of a watchdog, of which nobody sees when they take effect where it has no PFC to act on; the big red switch acts without.
const OF_WATCHDOGS: [&str; 4] =
    ["pfcwd.detection_time", "pfcwd.restoration_time", "pfcwd.poll_interval", "pfcwd.action"];
/// Those of queues, of which nobody sees it where they are empty.
const OF_QUEUES: &str = "wred.";
/// How long the rig sends and receives before it looks whether a change is made.
const MEANWHILE: Dur = Dur::us(200);

/// What goes on as a step is done.
#[derive(Debug, Clone, Copy, Default)]
struct Quiet {
    /// The rig sends nothing.
    idle: bool,
    /// Nor did it for so long that queues are empty.
    rests: bool,
    /// The script has no PFC.
    calm: bool,
    /// The step was over by the time of the next one.
    in_time: bool,
    /// It was by that of the next one that is no change of a setting.
    changed_in_time: bool,
}

/// Whether a step that the device does itself is late where it was done after it was due: not where it only had to be over by then, and nobody
/// could see meanwhile whether it was.
fn is_timed(action: &Action, quiet: Quiet) -> bool {
    let Action::Configure(Setting { path, .. }) = action else { return true };
    let settles = quiet.idle && quiet.in_time && path == SETTLES;
    let of_watchdogs = quiet.calm && OF_WATCHDOGS.contains(&path.as_str());
    let of_queues = quiet.rests && path.starts_with(OF_QUEUES);
    !(settles || quiet.changed_in_time && (of_watchdogs || of_queues))
}

/// By when each step has to be over that only has to be over by then: the next step; and the next that changes no setting.
fn deadlines(script: &Script) -> Vec<[Dur; 2]> {
    let mut ends = vec![[script.length; 2]; script.steps.len()];
    for (at, next) in script.steps.iter().enumerate().skip(1).rev() {
        let changes = matches!(next.action, Action::Configure(_));
        ends[at - 1] = [next.at, if changes { ends[at][1] } else { next.at }];
    }
    ends
}

/// Whether no PFC is sent towards the device: by the rig, or by a NIC behind it.
fn is_calm(script: &Script) -> bool {
    let pauses = |action: &Action| matches!(action, Action::Pfc(_));
    script.storms.is_empty()
        && script.flows.is_empty()
        && !script.steps.iter().any(|step| pauses(&step.action))
}

/// One trial under way.
pub(super) struct Trial<'a> {
    pub(super) lab: &'a mut WireLab,
    pub(super) script: &'a Script,
    pub(super) program: &'a Program,
    pub(super) tape: Tape<'a>,
    pub(super) config: Vec<ConfigOutcome>,
    /// The speed of the slowest port.
    pub(super) slowest: PortSpeed,
}

impl Trial<'_> {
    /// Does every step when it is due.
    pub(super) fn run(&mut self, origin: Time) -> Result<(), Broken> {
        let calm = is_calm(self.script);
        let mut rests = false;
        for (step, ends) in self.script.steps.iter().zip(deadlines(self.script)) {
            let at = origin + step.at;
            let early = at.saturating_sub(self.empties());
            if self.lab.now() < early {
                self.lab.bench.pacer.run_until(early, &mut self.tape)?;
                rests = self.is_idle() && early + self.empties() <= at;
            }
            self.lab.bench.pacer.run_until(at, &mut self.tape)?;
            self.tape.goes_on()?;
            self.tape.ledger.event(step.at);
            let idle = self.is_idle();
            self.act((at, origin + ends[0]), &step.action)?;
            // What it has sent since may be over already.
            rests &= idle && self.is_idle();
            let cuts = self.lab.bench.cabling.is_cut_by_the_device();
            let now = self.lab.now();
            let [in_time, changed_in_time] = ends.map(|end| now <= origin + end);
            let quiet = Quiet { idle, rests, calm, in_time, changed_in_time };
            let is_timed = is_timed(&step.action, quiet);
            if reaches_the_device(&step.action, cuts) && is_timed {
                self.tape.acted(at, now);
            }
        }
        let end = origin + self.script.length;
        self.lab.bench.pacer.run_until(end, &mut self.tape)?;
        // The machine may have looked away right before the end: what arrived meanwhile waits in the rings.
        self.lab.bench.pacer.run_until(end, &mut self.tape)?;
        let now = self.lab.now();
        for (lane, port) in (0..).zip(&self.lab.bench.pacer.lanes) {
            port.owes().into_iter().for_each(|since| self.tape.held(lane, since, now));
        }
        self.tape.goes_on()
    }

    /// Records what of it is still under way in a guest, until nothing is: why what is missing then says nothing of the device, where it does not come to an end.
    pub(super) fn settle(&mut self, under_way: &UnderWay) -> Result<Option<String>, Broken> {
        let begun = self.lab.now();
        let (mut last, mut moved) = (None, begun);
        loop {
            let Bench { control, pacer, .. } = &mut *self.lab.bench;
            pacer.run_until(self.lab.clock.now() + LOOKS, &mut self.tape)?;
            self.tape.goes_on()?;
            let exchanged = self.tape.exchanged;
            let look = (under_way.rest(&mut **control, exchanged)?, exchanged.came);
            let (now, rest) = (self.lab.now(), look.0);
            if last != Some(look) {
                (last, moved) = (Some(look), now);
            } else if rest.is_none() {
                // Between two of its counters a frame is in none of them: what is over is so at two looks in a row.
                return Ok(None);
            }
            if now > moved + GIVES_UP || now > begun + ENDS {
                return Ok(rest.and_then(Rest::told));
            }
        }
    }

    /// How long after the last frame no queue holds any: the longest pause is over, and the slowest port has sent all that was sent so far.
    fn empties(&self) -> Dur {
        let sent = (0..)
            .zip(&self.script.streams)
            .map(|(index, spec)| self.slowest.slot(spec.on_wire()) * self.tape.ledger.sent(index));
        self.slowest.pause(Quanta(u16::MAX)) + sent.sum::<Dur>()
    }

    /// Whether nothing is sent: nothing of the rig's, and nothing that it has others send.
    fn is_idle(&self) -> bool {
        let lanes = &self.lab.bench.pacer.lanes;
        self.script.flows.is_empty() && lanes.iter().all(|lane| lane.sender.is_idle())
    }

    /// What still runs stops, and links that were cut are mended; frames under way belong to no trial.
    pub(super) fn stop(&mut self) -> Result<(), Broken> {
        let now = self.lab.now();
        let Bench { cabling, pacer, .. } = &mut *self.lab.bench;
        pacer.lanes.iter_mut().for_each(|lane| lane.sender.stop_all());
        cabling.mend_all(&mut pacer.lanes, now)?;
        (0..self.script.flows.len()).try_for_each(|flow| self.stop_flow(index(flow)))
    }

    fn stop_flow(&mut self, flow: u16) -> Result<(), Broken> {
        let (port, connection) = (self.behind(self.flow(flow).nic), self.script.connection(flow));
        Ok(self.lab.bench.control.order(Order::StopFlow { port, connection })?)
    }

    fn flow(&self, flow: u16) -> &FlowSpec {
        &self.script.flows[usize::from(flow)]
    }

    /// The device's port behind one of the rig's.
    fn behind(&self, port: u16) -> u16 {
        self.script.dut_ports[usize::from(port)]
    }

    /// Does a step that is due `at`, before the `next`.
    fn act(&mut self, (at, next): (Time, Time), action: &Action) -> Result<(), Broken> {
        match action {
            Action::StartStream(stream) => self.start_stream(at, *stream),
            Action::StopStream(stream) => {
                let from = self.script.streams[usize::from(*stream)].from;
                self.lane(from).sender.stop(Who::Stream(*stream));
            }
            Action::StartFlow(flow) => {
                let spec = self.flow(*flow);
                let before = spec.container.takes_over.map(|of| self.script.connection(of));
                let (port, to) = (self.behind(spec.nic), self.behind(spec.to));
                let to = (spec.nic != spec.to).then_some(to);
                let order = FlowOrder::of(self.script.connection(*flow), spec, (to, before));
                self.lab.bench.control.order(Order::StartFlow { port, flow: order })?;
            }
            Action::StopFlow(flow) => self.stop_flow(*flow)?,
            Action::StartStorm(storm) => {
                let spec = &self.script.storms[usize::from(*storm)];
                let (from, size) = (spec.from, spec.on_wire());
                let job = Job { size, ..Job::pfc(Who::Storm(*storm), spec.every, None) };
                self.lane(from).sender.start(at, job);
            }
            Action::StopStorm(storm) => {
                let from = self.script.storms[usize::from(*storm)].from;
                self.lane(from).sender.stop(Who::Storm(*storm));
            }
            Action::Pfc(PfcFrames { from, enable, quanta, count, every, macsec, odd }) => {
                let what = tape::odd(tape::pfc(*enable, *quanta), *odd);
                let who = Who::ByHand(self.tape.by_hand(what));
                let template = Template::new(frame(*from, &what)).with_macsec(*macsec);
                let lane = self.lane(*from);
                lane.assign(who, template);
                let secured = lane.peer.as_ref().and_then(|peer| peer.next(*macsec, true));
                let overhead = Bytes(secured.map_or(0, |secured| secured.overhead()).into());
                let job = Job::pfc(who, *every, Some((*count).into()));
                lane.sender.start(at, Job { size: job.size + overhead, ..job });
            }
            Action::LinkDown(port) => self.link(at, *port, false)?,
            Action::LinkUp(port) => self.link(at, *port, true)?,
            Action::Configure(setting) => {
                let refused = match self.set(setting, next)? {
                    Err(Broken::Refused(refused)) => Some(refused.to_string()),
                    set => set.map(|()| None)?,
                };
                let taken = refused.is_none();
                self.config.push(ConfigOutcome { setting: setting.clone(), refused });
                if !taken {
                    return Ok(());
                }
                if let Some(an) = association(setting) {
                    self.rekey(an);
                } else if setting.path == "macsec.next_pn" {
                    setting.value.as_u64().into_iter().for_each(|first| self.renumber(first));
                }
            }
            Action::Device(verb) => {
                self.lab.bench.control.order(Order::from(*verb))?;
                let took = self.lab.now().since(at).unwrap_or_default();
                self.tape.took = self.tape.took.max(took);
            }
        }
        Ok(())
    }

    /// Changes a setting. A switch takes as long for it as hundreds of frames do: those leave and arrive meanwhile, until the next step is due, which may
    /// stop them.
    fn set(&mut self, setting: &Setting, next: Time) -> Result<Result<(), Broken>, Broken> {
        let idle = self.is_idle();
        let (Bench { control, pacer, .. }, tape) = (&mut *self.lab.bench, &mut self.tape);
        let settings = slice::from_ref(setting);
        if idle || !control.takes_a_while() {
            return Ok(control.set(settings));
        }
        thread::scope(|scope| {
            let sets = scope.spawn(|| control.set(settings));
            while !sets.is_finished() && !tape.is_over() && pacer.clock.now() < next {
                pacer.run_until(next.min(pacer.clock.now() + MEANWHILE), tape)?;
            }
            Ok(sets.join().unwrap_or_else(|panics| std::panic::resume_unwind(panics)))
        })
    }

    fn start_stream(&mut self, at: Time, stream: u16) {
        let spec = &self.script.streams[usize::from(stream)];
        let paced = self.program.ports[usize::from(spec.from)].streams.iter();
        let paced = paced.copied().find(|paced| paced.index == stream);
        let pace = paced.expect("a program has every stream of its script").pace;
        let job = Job {
            who: Who::Stream(stream),
            class: Some(spec.class),
            size: spec.on_wire(),
            rhythm: Rhythm::Even(pace),
            first: self.tape.next_number(stream),
            count: spec.count,
        };
        self.tape.ledger.starts(stream);
        let from = spec.from;
        self.lane(from).sender.start(at, job);
    }

    fn link(&mut self, at: Time, port: u16, up: bool) -> Result<(), Broken> {
        let index = self.script.dut_ports[usize::from(port)];
        let Bench { control, cabling, pacer, .. } = &mut *self.lab.bench;
        cabling.link(&mut **control, &mut pacer.lanes[usize::from(index)], (index, up), at)
    }

    fn lane(&mut self, port: u16) -> &mut rig_generator::Lane {
        let lane = usize::from(self.script.dut_ports[usize::from(port)]);
        &mut self.lab.bench.pacer.lanes[lane]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_to_be_over_by_the_next_step_is_late_where_it_is_not_or_frames_were_due() {
        let set = |path: &str| {
            Action::Configure(Setting { path: path.to_owned(), value: serde_json::Value::Null })
        };
        let none = Quiet { in_time: true, changed_in_time: true, ..Quiet::default() };
        let idle = Quiet { idle: true, ..none };
        let late = |quiet: Quiet| Quiet { in_time: false, changed_in_time: false, ..quiet };
        let shut = set("shut_port");
        assert!(!is_timed(&shut, idle));
        assert!(is_timed(&shut, none) && is_timed(&shut, Quiet { in_time: false, ..idle }));
        let (detection, calm) = (set("pfcwd.detection_time"), Quiet { calm: true, ..none });
        assert!(is_timed(&detection, idle), "polls begin with it");
        assert!(!is_timed(&detection, calm), "which nobody sees");
        assert!(!is_timed(&detection, Quiet { in_time: false, ..calm }), "the next is another");
        assert!(is_timed(&detection, late(calm)) && is_timed(&detection, none));
        assert!(is_timed(&set("pfcwd.big_red_switch"), calm), "which drops without any PFC");
        let (kmin, rests) = (set("wred.kmin"), Quiet { rests: true, ..idle });
        assert!(!is_timed(&kmin, rests));
        assert!(is_timed(&kmin, Quiet { calm: true, ..idle }), "a queue may not be empty yet");
        assert!(is_timed(&kmin, late(rests)));
        let all = Quiet { calm: true, ..rests };
        assert!(is_timed(&Action::LinkDown(0), all) && is_timed(&set("buffer.xoff"), all));
    }
}
