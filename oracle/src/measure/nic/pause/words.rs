//! Pauses, and frames that hold nothing, in words.

use super::Told;
use crate::judge::nic::pause::{ClassPause, Word};
use crate::spec::pause::pause_time;
use rig_capture::PfcFault;
use rig_units::{Dur, Quanta};

/// When a pause is over, in words.
pub(super) fn over(pause: &ClassPause, word: Dur, of: &Told) -> String {
    let of_others = match of.turn {
        Dur::ZERO => String::new(),
        turn => format!(" and {turn} of other packets"),
    };
    let more = match of.pfc.resumption {
        Some(resumption) => format!("and the resumption of {resumption}{of_others}"),
        None => "or later: nothing is declared of its resumption".to_owned(),
    };
    match (pause.quanta, word) {
        (Quanta(0), _) => format!("XON {word} after the XOFF, {more}"),
        (quanta, Dur::ZERO) => format!("{quanta} are {}, {more}", pause_time(quanta, of.speed)),
        (quanta, _) => {
            let lasts = pause_time(quanta, of.speed);
            format!("{quanta}, {lasts}, from {word} after the first XOFF on, {more}")
        }
    }
}

/// A frame that holds nothing, in words.
pub(super) fn called(word: &Word, of: &Told) -> String {
    let quanta = word.at_worst();
    if of.odd.get(&word.record) == Some(&PfcFault::Destination) {
        return format!("an XOFF of {quanta} to all stations, where PFC goes to 01:80:c2:00:00:01");
    }
    match (word.enable, word.asks(of.class)) {
        (0, _) => "a PFC frame that enables no priority".to_owned(),
        (_, Some(Quanta(0))) => "a PFC frame of no quanta for its priority".to_owned(),
        (_, Some(_)) => format!("an XOFF of {quanta} for its priority, which has no PFC"),
        (enable, None) => {
            let others = (0..8).filter(|class| enable >> class & 1 == 1);
            let others: Vec<String> = others.map(|class: u8| class.to_string()).collect();
            format!("an XOFF of {quanta} for priority {}", others.join(" and "))
        }
    }
}
