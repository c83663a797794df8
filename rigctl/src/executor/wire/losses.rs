//! What the rig's ports lost of a trial: frames that came and that nobody read in time, frames that were handed over and
//! never left.

use super::broken::Broken;
use rig_generator::Lane;

/// What one port has lost since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Lost {
    /// Frames that reached it and not this program.
    received: u64,
    /// Frames that the kernel took and threw away.
    sent: u64,
}

/// What each port has lost since it was opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Losses(Vec<Lost>);

impl Losses {
    /// The losses of every port until now.
    pub(super) fn of(lanes: &[Lane]) -> Result<Losses, Broken> {
        let of = |lane: &Lane| -> Result<Lost, Broken> {
            Ok(Lost { received: lane.rx.stats()?.rx_lost(), sent: lane.tx.stats()?.tx_lost })
        };
        lanes.iter().map(of).collect::<Result<_, _>>().map(Losses)
    }

    /// What came to these since `earlier`.
    pub(super) fn since(self, earlier: &Losses) -> Losses {
        let both = self.0.into_iter().zip(&earlier.0);
        let less = |(now, then): (Lost, &Lost)| Lost {
            received: now.received.saturating_sub(then.received),
            sent: now.sent.saturating_sub(then.sent),
        };
        Losses(both.map(less).collect())
    }

    /// How many frames.
    pub(super) fn frames(&self) -> u64 {
        self.0.iter().map(|lost| lost.received + lost.sent).sum()
    }

    /// How many of those that came to each port.
    pub(super) fn received(&self) -> impl Iterator<Item = (u16, u64)> {
        (0..).zip(self.0.iter().map(|lost| lost.received))
    }

    /// Where and why, for people; `None` when nothing was lost. `name` names the port of a lane.
    pub(super) fn told(&self, name: impl Fn(usize) -> String) -> Option<String> {
        let of = |(lane, lost): (usize, &Lost)| {
            let received = (lost.received > 0).then(|| {
                let frames = frames(lost.received);
                format!(
                    "{} had no room for {frames} that came: the rig did not read in time",
                    name(lane)
                )
            });
            let sent = (lost.sent > 0).then(|| {
                let frames = frames(lost.sent);
                format!(
                    "{} threw {frames} away: its link was down, or the MTU is too small",
                    name(lane)
                )
            });
            received.into_iter().chain(sent)
        };
        let told: Vec<String> = self.0.iter().enumerate().flat_map(of).collect();
        (!told.is_empty()).then(|| told.join(", "))
    }
}

fn frames(count: u64) -> String {
    format!("{count} frame{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(all: &[(u64, u64)]) -> Losses {
        Losses(all.iter().map(|&(received, sent)| Lost { received, sent }).collect())
    }

    #[test]
    fn what_was_lost_before_is_no_loss_of_this_trial() {
        let since = losses(&[(7, 2), (5, 0)]).since(&losses(&[(7, 1), (2, 0)]));
        assert_eq!(since, losses(&[(0, 1), (3, 0)]));
        assert_eq!(since.frames(), 4);
    }

    #[test]
    fn every_port_that_lost_something_is_named_with_what_it_was() {
        let name = |lane| format!("p{}", lane + 1);
        assert_eq!(losses(&[(0, 0), (0, 0)]).told(name), None);
        let told = losses(&[(0, 1), (0, 0), (2_431, 0)]).told(name);
        assert_eq!(
            told.as_deref(),
            Some(
                "p1 threw 1 frame away: its link was down, or the MTU is too small, p3 had no room for 2431 frames that came: \
                 the rig did not read in time"
            )
        );
    }
}
