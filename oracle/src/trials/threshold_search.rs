//! The trials of a case that searches for numbers of frames: measure by measure, stage by stage, each trial told by what the
//! ones before it showed.

use crate::judge::{Found, Search};
use std::collections::BTreeMap;

/// How many frames each searched stream sends; one that is missing sends none.
pub type Counts = BTreeMap<String, u64>;

/// More frames are not tried: far above what any buffer holds.
const MOST: u64 = 1 << 18;
/// A guess of what is found, to tell beforehand how long it takes and whether it can be sent.
pub const LIKE: u64 = 1 << 11;

/// What is waited for while numbers of frames grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// The device sends XOFF for the group.
    Xoff,
    /// A frame of the stream is lost.
    Drop,
    /// The device sends XON for the group while the rest of it is held.
    Xon,
}

/// One number that is searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    /// The streams whose number it is.
    pub streams: Vec<String>,
    /// What is searched for.
    pub event: Event,
    /// A stream that gives up as many frames as are sent by the others: a group's total stays as it was found.
    pub from: Option<String>,
    /// What is kept of it for the stages behind: so many frames less than were found.
    pub less: u64,
}

/// Where in the search a trial stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    /// Index of the measure in the case.
    pub measure: usize,
    /// Index of its stage.
    pub stage: usize,
    /// The number that was tried.
    pub tried: u64,
}

/// All searches of one configuration of one device.
#[derive(Debug)]
pub struct ThresholdSearch {
    measures: Vec<(usize, Vec<Stage>)>,
    /// Which of them is under way, and which of its stages.
    at: (usize, usize),
    /// What the stages before left.
    held: Counts,
    search: Search,
    done: u32,
}

impl ThresholdSearch {
    /// The searches of a case's measures, none of those that search nothing; `None` where none does.
    pub fn of(measures: impl Iterator<Item = Vec<Stage>>) -> Option<ThresholdSearch> {
        let searches = measures.enumerate().filter(|(_, stages)| !stages.is_empty());
        let measures: Vec<_> = searches.collect();
        (!measures.is_empty()).then(|| ThresholdSearch {
            measures,
            at: (0, 0),
            held: Counts::new(),
            search: Search::up_to(MOST),
            done: 0,
        })
    }

    /// How many trials it takes when none is void, as far as can be told.
    pub fn planned(&self) -> u32 {
        if self.stage().is_none() {
            return self.done;
        }
        let stages = self.measures.iter().map(|(_, stages)| stages.len()).sum::<usize>();
        let stages = u32::try_from(stages).unwrap_or(u32::MAX);
        stages.saturating_mul(Search::expected(LIKE)).max(self.done + 1)
    }

    /// The next trial: how many frames each stream sends, and what it is for. `None` when everything has been found. Asks
    /// the same again until told what came of it.
    pub fn ask(&mut self) -> Option<(Counts, Mark)> {
        loop {
            let (measure, stages) = self.measures.get(self.at.0)?;
            let Some(tried) = self.search.ask() else {
                self.advance();
                continue;
            };
            let counts = self.sent(&stages[self.at.1], tried);
            return Some((counts, Mark { measure: *measure, stage: self.at.1, tried }));
        }
    }

    /// Tries of the number that is next no greater ones than fit, as `fits` says of how many frames each stream sends; those of which a few trials
    /// are done stay as they are. Where not even one frame fits, it is not their number that is in the way.
    pub fn keep_to(&mut self, fits: impl Fn(&Counts) -> bool) {
        while self.stage().is_some() && self.search.ask().is_none() {
            self.advance();
        }
        let Some(stage) = self.stage().filter(|_| self.search.is_untried()) else { return };
        let fits = |tried: u64| fits(&self.sent(stage, tried));
        let most = self.search.most();
        if !fits(1) || fits(most) {
            return;
        }
        let (mut does, mut not) = (1, most);
        while not > does + 1 {
            let between = u64::midpoint(does, not);
            *(if fits(between) { &mut does } else { &mut not }) = between;
        }
        self.search = Search::up_to(does);
    }

    /// How many frames each stream sends where so many are tried of those of a stage.
    fn sent(&self, stage: &Stage, tried: u64) -> Counts {
        let mut counts = self.held.clone();
        for name in &stage.streams {
            counts.insert(name.clone(), tried);
        }
        if let Some(left) = stage.from.as_ref().and_then(|from| counts.get_mut(from)) {
            *left -= tried;
        }
        counts
    }

    /// What a trial showed.
    pub fn seen(&mut self, mark: &Mark, happened: bool) {
        self.done += 1;
        self.search.seen(mark.tried, happened);
    }

    /// What it waits for cannot be told: nothing more is tried.
    pub fn give_up(&mut self) {
        self.at = (self.measures.len(), 0);
    }

    fn stage(&self) -> Option<&Stage> {
        self.measures.get(self.at.0)?.1.get(self.at.1)
    }

    /// Goes on to the next number; where one was not found, what builds on it is not tried.
    fn advance(&mut self) {
        let (_, stages) = &self.measures[self.at.0];
        let stage = &stages[self.at.1];
        let found = match self.search.found() {
            Found::At(span) => Some(span.hi),
            Found::Never { .. } => None,
        };
        let next = self.at.1 + 1;
        match found {
            Some(found) if next < stages.len() => {
                for name in &stage.streams {
                    self.held.insert(name.clone(), found - stage.less);
                }
                self.at.1 = next;
                let whole = stages[next].from.as_ref().and_then(|from| self.held.get(from));
                self.search = Search::up_to(whole.copied().unwrap_or(MOST));
            }
            _ => {
                self.at = (self.at.0 + 1, 0);
                self.held.clear();
                self.search = Search::up_to(MOST);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hunt(stages: &[Stage], happens: impl Fn(&Counts, &Mark) -> bool) -> Vec<(Counts, Mark)> {
        let mut hunt =
            ThresholdSearch::of([stages.to_vec()].into_iter()).expect("something to search");
        let mut trials = Vec::new();
        while let Some((counts, mark)) = hunt.ask() {
            hunt.seen(&mark, happens(&counts, &mark));
            trials.push((counts, mark));
        }
        assert_eq!(hunt.planned() as usize, trials.len());
        trials
    }

    fn stage(stream: &str, event: Event, less: u64) -> Stage {
        Stage { streams: vec![stream.to_owned()], event, from: None, less }
    }

    fn in_turn(event: Event, less: u64) -> [Stage; 2] {
        [stage("a", event, less), stage("b", event, less)]
    }

    #[test]
    fn an_earlier_group_is_held_at_what_was_found_for_it() {
        let trials = hunt(&in_turn(Event::Xoff, 0), |counts, mark| match mark.stage {
            0 => counts["a"] >= 20,
            _ => counts["a"] == 20 && counts["b"] >= 10,
        });
        assert!(trials.iter().all(|(counts, mark)| match mark.stage {
            0 => !counts.contains_key("b"),
            _ => counts["a"] == 20,
        }));
        assert_eq!(
            trials.last().map(|(counts, _)| counts["b"]),
            Some(9),
            "the number below it, again"
        );
    }

    #[test]
    fn a_group_of_which_frames_leave_keeps_its_total() {
        let leave = Stage { from: Some("a".to_owned()), ..stage("b", Event::Xon, 0) };
        let trials = hunt(&[stage("a", Event::Xoff, 0), leave], |counts, mark| match mark.stage {
            0 => counts["a"] >= 20,
            _ => counts["b"] >= 4,
        });
        let last = trials.iter().filter(|(_, mark)| mark.stage == 1);
        assert!(last.clone().count() > 0);
        assert!(
            last.clone()
                .all(|(counts, mark)| counts["a"] + counts["b"] == 20 && counts["b"] == mark.tried)
        );
    }

    #[test]
    fn a_lossless_group_is_held_short_of_its_first_loss() {
        let trials = hunt(&in_turn(Event::Drop, 1), |counts, mark| match mark.stage {
            0 => counts["a"] >= 20,
            _ => counts["b"] >= 3,
        });
        assert!(
            trials.iter().filter(|(_, mark)| mark.stage == 1).all(|(counts, _)| counts["a"] == 19)
        );
    }

    #[test]
    fn what_builds_on_a_number_that_is_not_found_is_not_tried() {
        let trials = hunt(&in_turn(Event::Xoff, 0), |_, _| false);
        assert!(trials.iter().all(|(_, mark)| mark.stage == 0));
    }

    #[test]
    fn no_more_are_tried_than_fit_beside_what_is_held() {
        let mut hunt = ThresholdSearch::of([in_turn(Event::Drop, 1).to_vec()].into_iter())
            .expect("something to search");
        let fits = |counts: &Counts| counts.values().sum::<u64>() <= 100;
        let mut most = [0, 0];
        hunt.keep_to(fits);
        while let Some((counts, mark)) = hunt.ask() {
            most[mark.stage] = mark.tried.max(most[mark.stage]);
            hunt.seen(&mark, mark.stage == 0 && counts["a"] >= 90);
            hunt.keep_to(fits);
        }
        // 89 are held of the first.
        assert_eq!(most, [100, 11]);
        // Of a number that never fits nothing is narrowed.
        let mut hunt =
            ThresholdSearch::of([in_turn(Event::Drop, 1).to_vec()].into_iter()).expect("a search");
        hunt.keep_to(|_| false);
        assert_eq!(hunt.search.most(), MOST);
    }

    #[test]
    fn a_trial_that_was_void_is_asked_for_again() {
        let stages = vec![stage("a", Event::Drop, 1)];
        let mut hunt = ThresholdSearch::of([stages].into_iter()).expect("something to search");
        let first = hunt.ask();
        assert!(first.is_some() && first == hunt.ask());
    }
}
