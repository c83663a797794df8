//! What a case asked for, and what came of it: a question for each measure at each point of each configuration, of which none
//! may stay without an answer.

use crate::verdict::{Answer, Doubt, Judgement, NotApplicable};

/// The word for a question that nobody answered, or of which nothing could have been otherwise.
pub const NOT_MEASURED: &str = "not-measured";

/// Every question of a case with its answers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Answers(Vec<Question>);

/// One measure at one point, and everything that was said of it: one answer for each thing that it is taken on.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Question {
    measure: &'static str,
    point: String,
    answers: Vec<Answer>,
}

impl Answers {
    /// Asks what `measure` shows at `point`; the number of the question, for its answers.
    pub fn ask(&mut self, measure: &'static str, point: String) -> usize {
        self.0.push(Question { measure, point, answers: Vec::new() });
        self.0.len() - 1
    }

    /// One more answer to a question.
    pub fn file(&mut self, question: usize, answer: Answer) {
        self.0[question].answers.push(answer);
    }

    /// Takes in the questions of another configuration.
    pub fn extend(&mut self, more: Answers) {
        self.0.extend(more.0);
    }

    /// Whether anything at all was measured.
    pub fn measured(&self) -> bool {
        let mut answers = self.0.iter().flat_map(|question| &question.answers);
        answers.any(|answer| matches!(answer, Answer::Measured(looked) if looked.count > 0))
    }

    /// Why the evidence does not decide: the doubts that were filed, in their order, and one for each question without an answer.
    pub fn doubts(&self) -> Vec<Doubt> {
        self.0.iter().flat_map(Question::doubts).collect()
    }

    /// The questions without a clear answer: of each the first doubt, and how many more there are.
    pub fn undecided(&self) -> Vec<(Doubt, usize)> {
        let first = |question: &Question| {
            let mut doubts = question.doubts().into_iter();
            Some((doubts.next()?, doubts.count()))
        };
        self.0.iter().filter_map(first).collect()
    }

    /// What does not apply, and why.
    pub fn not_applicable(&self) -> Vec<NotApplicable> {
        let of = |answer: &Answer| match answer {
            Answer::NotApplicable(what) => Some(what.clone()),
            Answer::Measured(_) | Answer::Doubt(_) => None,
        };
        self.0.iter().flat_map(|question| &question.answers).filter_map(of).collect()
    }
}

impl Question {
    fn doubts(&self) -> Vec<Doubt> {
        let (measure, point) = (self.measure, at(&self.point));
        if self.answers.is_empty() {
            let detail = format!("{measure}{point}: nothing was read");
            return vec![Doubt { reason: NOT_MEASURED, detail }];
        }
        // Of several measures one has to know which.
        let named = |doubt: &Doubt| match doubt.detail.contains(measure) {
            true => doubt.clone(),
            false => Doubt {
                reason: doubt.reason,
                detail: format!("{measure}{point}: {}", doubt.detail),
            },
        };
        let of = |answer: &Answer| match answer {
            Answer::Doubt(doubt) => Some(named(doubt)),
            Answer::Measured(looked) if looked.count == 0 => Some(Doubt {
                reason: NOT_MEASURED,
                detail: format!("{measure}{point}: no {} to look at", looked.of),
            }),
            Answer::Measured(_) | Answer::NotApplicable(_) => None,
        };
        self.answers.iter().filter_map(of).collect()
    }
}

/// What a judgement answers. One that looked at nothing and found nothing is no measurement.
pub fn answer(judgement: &Judgement) -> Answer {
    let Judgement { measure, subject, point, looked, findings, .. } = judgement;
    if looked.count == 0 && findings.is_empty() {
        let detail = format!("{measure} of {subject}{}: no {} to look at", at(point), looked.of);
        return Answer::Doubt(Doubt { reason: NOT_MEASURED, detail });
    }
    Answer::Measured(*looked)
}

/// Where in the sweep, in words.
fn at(point: &str) -> String {
    if point.is_empty() { String::new() } else { format!(" at {point}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::Looked;

    #[test]
    fn a_doubt_says_which_measure_it_is_about_and_where() {
        let mut answers = Answers::default();
        let question = answers.ask("cnp.latency", "interval=1us".to_owned());
        let doubt = |detail: &str| Doubt { reason: "not-observable", detail: detail.to_owned() };
        answers.file(question, Answer::Doubt(doubt("trial 1: no mark was answered")));
        answers.file(question, Answer::Doubt(doubt("trial 2: cnp.latency of p1: no marks")));
        assert_eq!(
            details(&answers),
            [
                "cnp.latency at interval=1us: trial 1: no mark was answered",
                "trial 2: cnp.latency of p1: no marks"
            ]
        );
        let [(first, more)] = &answers.undecided()[..] else { panic!("one question") };
        assert!(first.detail.contains("trial 1") && *more == 1, "{first:?}");
    }

    fn details(answers: &Answers) -> Vec<String> {
        answers.doubts().into_iter().map(|doubt| doubt.detail).collect()
    }

    #[test]
    fn what_nobody_answers_is_a_doubt_with_its_measure_and_point() {
        let mut answers = Answers::default();
        let first = answers.ask("loss", "speed=1Gbps".to_owned());
        answers.ask("loss", "speed=2Gbps".to_owned());
        answers.file(first, Answer::Measured(Looked { count: 3, of: "frames" }));
        assert!(answers.measured());
        assert_eq!(details(&answers), ["loss at speed=2Gbps: nothing was read"]);
        assert_eq!(answers.doubts()[0].reason, NOT_MEASURED);
    }

    #[test]
    fn nothing_to_look_at_is_no_measurement_and_what_does_not_apply_is_none_either() {
        let mut answers = Answers::default();
        let loss = answers.ask("loss", String::new());
        let none = Looked { count: 0, of: "frames" };
        answers.file(loss, Answer::Measured(none));
        assert_eq!(details(&answers), ["loss: no frames to look at"]);
        let mut answers = Answers::default();
        let latency = answers.ask("pfc.latency", String::new());
        let what = NotApplicable {
            measure: "pfc.latency",
            subject: "load, XON".to_owned(),
            point: String::new(),
            why: "none is due".to_owned(),
        };
        answers.file(latency, Answer::NotApplicable(what.clone()));
        assert!(!answers.measured() && answers.doubts().is_empty());
        assert_eq!(answers.not_applicable(), [what]);
    }
}
