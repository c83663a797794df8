//! What each measure of a NIC is expected to show, before anything runs.

use super::page::Page;
use crate::runner::session::Session;
use rig_oracle::spec::nic::{fluid, forms, np};
use rig_testcases::NicMeasure;
use rig_units::Dur;

const RP: &str = "DCQCN: Zhu et al., SIGCOMM'15, section 3";
const RC: &str = "IBTA volume 1, chapter 9";

/// Writes one measure.
pub(super) fn measure(page: &mut Page, session: &Session<'_>, measure: &NicMeasure) {
    let declared = &session.group.declared;
    let nic = &declared.nic;
    let mut tell = |predicted: &str, formula: &str, source: &str| {
        page.detail("predicted", predicted);
        if !formula.is_empty() {
            page.detail("formula", formula);
        }
        page.detail("source", source);
    };
    match measure {
        NicMeasure::Answers { .. } if !nic.np.enable => {
            tell("no CNP: the notification point is off", "", np::SOURCE);
        }
        NicMeasure::Answers { .. } if nic.np.interval == Dur::ZERO => {
            tell("a CNP for each mark", "", np::SOURCE);
        }
        NicMeasure::Answers { .. } => {
            let text = format!(
                "a CNP for each mark that has none answered within {} before it, per {}",
                nic.np.interval,
                nic.np.scope.words()
            );
            tell(&text, "marks every g: CNPs every ceil(I / g) g", np::SOURCE);
        }
        NicMeasure::Latency { .. } => {
            let text = format!("{}, and behind what the port is sending", nic.np.latency);
            tell(&text, "", "the declared latency");
        }
        NicMeasure::Interval { .. } => {
            let text = format!("{}, rounded up to the distance of marks", nic.np.interval);
            tell(&text, "ceil(I / g) g", np::SOURCE);
        }
        NicMeasure::Format { .. } => {
            let text = format!("well formed, with DSCP {} and {}", nic.np.dscp, nic.np.ecn.words());
            tell(&text, "", "RoCEv2, IBTA volume 1 A17.9.3; the declared DSCP and ECN field");
        }
        NicMeasure::Counters { .. } => {
            tell("each counter grown by what the wire shows", "", "NVIDIA's counters of RoCE");
        }
        NicMeasure::Follows { .. } => tell(
            "each packet as early as the rate allows and no earlier, by the CNPs that came",
            "the next leaves s 8 / C after the one before; cuts, alpha, timers, bytes and stages make C",
            RP,
        ),
        NicMeasure::Cut { .. } => {
            let line = declared.port_speed(0).unwrap_or(rig_units::PortSpeed::G100);
            let text = format!("to {} of {line}", forms::first_cut(&nic.rp, line));
            tell(&text, "C (1 - alpha / 2)", RP);
        }
        NicMeasure::Reaction { .. } => {
            let text = format!("{} after the last bit of the CNP", nic.rp.latency);
            tell(&text, "", "the declared latency");
        }
        NicMeasure::Least { .. } => {
            let text = format!("as the CNPs ask for, and no less than {}", nic.rp.min_rate);
            tell(&text, "", RP);
        }
        NicMeasure::Final { .. } => tell("what cuts and increases come to", "", RP),
        NicMeasure::Bursts { .. } => {
            let text = format!(
                "per {}: one packet, or {} at least",
                nic.rp.limiting.words(),
                nic.rp.burst
            );
            tell(&text, "ceil(burst / packet)", RP);
        }
        NicMeasure::Goodput { wanted: (least, most), .. } => {
            let show = |bps| rig_capture::Unit::Bps.show(bps);
            let text = match (*least, *most) {
                (0, most) => format!("at most {}", show(most)),
                (least, u64::MAX) => format!("at least {}", show(least)),
                (least, most) => format!("{} to {}", show(least), show(most)),
            };
            tell(&text, "payload acknowledged over the time that it took", "the case");
        }
        NicMeasure::Completion { by, unfinished, .. } => {
            let all = match *unfinished {
                0 => "every message acknowledged".to_owned(),
                some => format!("every message but {some} acknowledged"),
            };
            let by = by.map_or("by the end of the trial".to_owned(), |by| format!("by {by}"));
            tell(&format!("{all}, {by}"), "", RC);
        }
        NicMeasure::Shares { window, within } => {
            let text = format!(
                "each of {} flows gets what the others get, within {within}, from {} to {}",
                window.flows.len(),
                window.from,
                window.until
            );
            tell(&text, "", fluid::SOURCE);
        }
        NicMeasure::FixedPoint { windows } => {
            let senders: Vec<String> =
                windows.iter().map(|window| window.flows.len().to_string()).collect();
            let text = format!(
                "more marks and more CNPs with each of {} senders; how many, the fluid model says, and only for people",
                senders.join(", ")
            );
            tell(&text, "a^2 alpha = tau^2 R_AI R (b + d)(c + e)", fluid::SOURCE);
        }
        NicMeasure::Sender { .. } => {
            tell("numbers in order; after a NAK from the one that it names", "go-back-N", RC);
        }
        NicMeasure::Receiver { .. } => {
            tell("an acknowledgement as often as declared, one NAK for each hole", "go-back-N", RC);
        }
    }
}
