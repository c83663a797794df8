//! The control of a bench's device. What it leaves changed at a device that outlives the rig is noted in the journal before it
//! is made, and taken back at the end of a session.

use super::broken::Broken;
use core::ops::{Deref, DerefMut};
use rig_dut::Journal;
use rig_dut::control::{Ability, Control, ControlError, if_offered};
use rig_dut::journal::Number;
use rig_generator::port::Mono;
use rig_lab::{ConfigPath, Declared, Setting};
use std::sync::Arc;

/// A control, and what has been changed through it.
#[derive(Debug)]
pub struct Steered {
    control: Box<dyn Control>,
    /// Where lasting changes are noted; none where the device goes with the bench.
    journal: Option<Arc<Journal>>,
    /// Zero of the clock of a device that is not booted for a session: it runs on from one to the next, as the device does.
    opened: Mono,
    /// Whether what is set is taken back although it goes with the bench: the bench lives on.
    takes_back: bool,
    /// How the device was before the first change that is taken back, and what has been set since.
    before: Option<(Declared, Vec<Setting>)>,
    noted: Vec<Number>,
}

impl Steered {
    /// A device that goes with its bench: nothing of it lasts.
    pub fn new(control: Box<dyn Control>) -> Steered {
        let (journal, before, noted) = (None, None, Vec::new());
        Steered { control, journal, opened: Mono(0), takes_back: false, before, noted }
    }

    /// A device that ends with the run and no sooner: nothing of it is noted, and what is set is taken back at the end of each session all
    /// the same. `opened` is when its bench was.
    pub(super) fn until_the_end(control: Box<dyn Control>, opened: Mono) -> Steered {
        Steered { opened, takes_back: true, ..Steered::new(control) }
    }

    /// A device that goes with its bench and is not booted for a session: it runs on from one to the next, as that which was `opened`
    /// then. What is set is taken back at the end of each.
    pub(super) fn running(control: Box<dyn Control>, opened: Mono) -> Steered {
        Steered { opened, ..Steered::new(control) }
    }

    /// A device that was there before, and stays; `opened` is when its bench was.
    pub(super) fn lasting(
        control: Box<dyn Control>,
        journal: Arc<Journal>,
        opened: Mono,
    ) -> Steered {
        Steered { journal: Some(journal), opened, ..Steered::new(control) }
    }

    /// Whether the device is booted afresh for each session.
    pub fn boots(&self) -> bool {
        self.control.capabilities().offers(Ability::Boot)
    }

    /// A device in this configuration, and zero of the session's clock. One that cannot be booted goes on as it is, and what it
    /// does not state yet is set.
    ///
    /// # Errors
    /// It refuses a setting, or cannot be reached.
    pub fn boot(&mut self, settings: &[Setting], seed: u64) -> Result<Mono, Broken> {
        if let Some(epoch) = if_offered(self.control.boot(settings, seed))? {
            return Ok(epoch);
        }
        let stated = self.control.snapshot()?;
        let lacks = settings.iter().filter(|setting| stated.satisfies(setting) != Ok(true));
        let lacks: Vec<Setting> = lacks.cloned().collect();
        if !lacks.is_empty() {
            self.set(&lacks)?;
        }
        Ok(self.opened)
    }

    /// Changes settings, all or none.
    ///
    /// # Errors
    /// The device refuses them, or cannot be reached; or what is to be undone cannot be noted, so that nothing was changed.
    pub fn set(&mut self, settings: &[Setting]) -> Result<(), Broken> {
        self.change(settings, |control| control.set(settings))
    }

    /// The same by one of the device's own front doors.
    ///
    /// # Errors
    /// As [`Steered::set`].
    pub fn propose(&mut self, way: ConfigPath, settings: &[Setting]) -> Result<(), Broken> {
        self.change(settings, |control| control.propose(way, settings))
    }

    fn change(
        &mut self,
        settings: &[Setting],
        mut make: impl FnMut(&mut dyn Control) -> Result<(), ControlError>,
    ) -> Result<(), Broken> {
        let mut changes = self.control.changes(settings);
        if changes.is_empty() && !self.takes_back {
            return Ok(make(&mut *self.control)?);
        }
        if self.before.is_none() {
            self.before = Some((self.control.snapshot()?, Vec::new()));
            // By what the device is now: another hand may have been there since it was looked at.
            changes = self.control.changes(settings);
        }
        let set = match self.journal.clone() {
            None => make(&mut *self.control),
            Some(journal) => {
                let noted = journal.note(changes).map_err(Broken::Device)?;
                let set = journal.make(|| make(&mut *self.control));
                if let Err(ControlError::Refused(_) | ControlError::NotOffered(_)) = set {
                    journal.strike(&noted);
                } else {
                    // Of a device that was lost meanwhile nobody knows.
                    self.noted.extend(noted);
                }
                set
            }
        };
        if let Err(ControlError::Refused(_) | ControlError::NotOffered(_)) = set {
            return Ok(set?);
        }
        if let Some((_, touched)) = &mut self.before {
            touched.extend_from_slice(settings);
        }
        Ok(set?)
    }

    /// Takes back what was changed for good. What cannot be taken back stays noted.
    ///
    /// # Errors
    /// The device refuses, or cannot be reached.
    pub(super) fn restore(&mut self) -> Result<(), Broken> {
        let changed = self.before.as_ref().filter(|(_, touched)| !touched.is_empty());
        let Some((before, touched)) = changed else { return Ok(()) };
        self.control.restore(before, touched)?;
        // Not sooner: what failed may be tried again.
        self.before = None;
        if let Some(journal) = &self.journal {
            journal.strike(&core::mem::take(&mut self.noted));
        }
        Ok(())
    }
}

impl Deref for Steered {
    type Target = dyn Control;
    fn deref(&self) -> &(dyn Control + 'static) {
        &*self.control
    }
}

impl DerefMut for Steered {
    fn deref_mut(&mut self) -> &mut (dyn Control + 'static) {
        &mut *self.control
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rig_dut::control::{Capabilities, Lost, Refused};
    use rig_dut::journal::{self, Change, Fate};
    use rig_units::Dur;
    use std::path::{Path, PathBuf};
    use std::sync::Mutex;

    /// A device that outlives the rig: what is set stays. It looks into the journal before it does anything.
    #[derive(Debug)]
    struct Lasting {
        declared: Declared,
        folder: PathBuf,
        /// For each call of `set`: the value, and how many changes were noted by then.
        sets: Sets,
        /// Whether it ends with the rig: there is nothing to note.
        ends: bool,
        /// What comes of it, if it does not take it.
        fails: Option<ControlError>,
    }

    impl Control for Lasting {
        fn name(&self) -> &'static str {
            "lasting"
        }

        fn capabilities(&self) -> Capabilities {
            Capabilities {
                offered: &[Ability::Snapshot, Ability::Configure],
                verbs: &[],
                clock_bound: Dur::ZERO,
            }
        }

        fn snapshot(&mut self) -> Result<Declared, ControlError> {
            Ok(self.declared.clone())
        }

        fn changes(&self, _: &[Setting]) -> Vec<Change> {
            let change = Change::Link { interface: "rig-no-such-if".to_owned(), up: true };
            if self.ends { Vec::new() } else { vec![change] }
        }

        fn set(&mut self, settings: &[Setting]) -> Result<(), ControlError> {
            let noted = noted(&self.folder);
            let value = settings[0].value.as_str().unwrap_or_default().to_owned();
            self.sets.lock().expect("no panic").push((value, noted));
            if let Some(why) = &self.fails {
                return Err(why.clone());
            }
            self.declared = self.declared.with(&settings[0]).expect("a setting");
            Ok(())
        }
    }

    /// How many changes of this process, which lives, stand in the journal.
    fn noted(folder: &Path) -> usize {
        let told = journal::restore(folder, true, |_| true).expect("a folder of ours");
        assert!(told.iter().all(|told| told.fate == Fate::Living), "{told:?}");
        told.len()
    }

    fn detection_time(value: &str) -> Setting {
        Setting { path: "pfcwd.detection_time".to_owned(), value: value.into() }
    }

    type Sets = Arc<Mutex<Vec<(String, usize)>>>;

    /// One whose device is as the first profile of the bundled lab declares, with a journal in `folder`.
    fn steered(folder: &Path, fails: Option<ControlError>) -> (Steered, Sets) {
        let declared = rig_lab::read::lab(None).expect("the bundled lab").duts.remove(0).declared;
        let sets = Sets::default();
        let (folder, heard) = (folder.to_owned(), Arc::clone(&sets));
        let journal = Arc::new(Journal::at(&folder));
        let control = Lasting { declared, folder, sets, ends: false, fails };
        (Steered::lasting(Box::new(control), journal, Mono(7)), heard)
    }

    #[test]
    fn what_ends_with_the_run_is_set_back_between_its_sessions_and_nothing_of_it_is_noted() {
        let desk = tempfile::tempdir().expect("a folder");
        let folder = desk.path().join("journal");
        let declared = rig_lab::read::lab(None).expect("the bundled lab").duts.remove(0).declared;
        let sets = Sets::default();
        let heard = Arc::clone(&sets);
        let control = Lasting { declared, folder: folder.clone(), sets, ends: true, fails: None };
        let mut steered = Steered::until_the_end(Box::new(control), Mono(7));
        assert_eq!(steered.boot(&[detection_time("300ms")], 1), Ok(Mono(7)));
        assert_eq!(steered.restore(), Ok(()));
        assert_eq!(steered.restore(), Ok(()), "it is as it was");
        assert!(!folder.exists());
        let heard = heard.lock().expect("no panic");
        let values: Vec<&str> = heard.iter().map(|(value, _)| value.as_str()).collect();
        assert_eq!(values, ["300ms", "200ms"]);
    }

    #[test]
    fn what_lasts_is_noted_before_it_is_set_and_struck_out_once_it_is_as_before() {
        let desk = tempfile::tempdir().expect("a folder");
        let folder = desk.path().join("journal");
        let (mut steered, sets) = steered(&folder, None);
        assert_eq!(steered.boot(&[detection_time("200ms")], 1), Ok(Mono(7)), "it is that already");
        assert!(!folder.exists(), "nothing was changed");
        assert_eq!(steered.boot(&[detection_time("300ms")], 1), Ok(Mono(7)));
        steered.set(&[detection_time("400ms")]).expect("it takes it");
        assert_eq!(noted(&folder), 2, "the run may be killed now");
        steered.restore().expect("it takes it back");
        assert_eq!(noted(&folder), 0);
        let sets = sets.lock().expect("no panic").clone();
        let values: Vec<(&str, usize)> =
            sets.iter().map(|(value, noted)| (value.as_str(), *noted)).collect();
        assert_eq!(values, [("300ms", 1), ("400ms", 2), ("200ms", 2)]);
    }

    #[test]
    fn what_was_refused_changed_nothing_and_what_was_lost_may_have() {
        let desk = tempfile::tempdir().expect("a folder");
        let refused = Refused { why: "no".to_owned() };
        let (mut refusing, _) = steered(desk.path(), Some(refused.clone().into()));
        let set = refusing.set(&[detection_time("300ms")]);
        assert_eq!((set, noted(desk.path())), (Err(Broken::Refused(refused)), 0));
        assert_eq!(refusing.restore(), Ok(()));
        let lost = Lost { tried: "set".to_owned(), why: "gone".to_owned() };
        let (mut losing, _) = steered(desk.path(), Some(lost.into()));
        assert!(losing.set(&[detection_time("300ms")]).is_err());
        assert!(losing.restore().is_err());
        assert!(losing.restore().is_err(), "how it was is not forgotten");
        assert_eq!(noted(desk.path()), 1);
    }
}
