//! What a lab whose device is the NIC of a server needs there.

use super::super::check::{Check, State, check};
use super::super::facts::{ServerAnswers, ServerFacts};

/// The version of perftest that was seen.
const SEEN: &str = "6.06";

/// The server of a lab.
pub(super) fn server(facts: &ServerFacts) -> Vec<Check> {
    let ServerFacts { nic: device, asked, .. } = facts;
    let ServerAnswers { gid: (gid, address), meant, lacks, perftest } = match asked {
        Ok(asked) => asked,
        Err(why) => return vec![check("NIC", State::Need, why.clone())],
    };
    let says = format!("{device}, GID {gid} is {address}");
    let mut all = vec![match meant.filter(|meant| meant != address) {
        None => check("NIC", State::Ok, says),
        Some(meant) => check("NIC", State::Need, format!("{says}, and the lab says {meant}")),
    }];
    if !lacks.is_empty() {
        let says = format!("{}: cases that ask for it are inconclusive", lacks.join(", "));
        all.push(check("programs", State::Lack, says).mend("install perftest there"));
    }
    let Some(perftest) = perftest else { return all };
    all.push(match perftest {
        Err(why) => check("perftest", State::Need, why.clone()),
        Ok(said) if said.address != *address => {
            let says =
                format!("its queue pairs are at {}, and GID {gid} is {address}", said.address);
            check("perftest", State::Need, says)
        }
        Ok(said) => {
            let says = format!("{} answers, packets of {} B", said.version, said.mtu);
            match said.version == SEEN {
                true => check("perftest", State::Ok, says),
                false => check("perftest", State::Note, format!("{says}: {SEEN} alone was seen")),
            }
        }
    });
    all
}
