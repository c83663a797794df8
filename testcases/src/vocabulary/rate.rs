//! The rate of a flow, and what flows that share a path get of it.

use super::field::{FLOW, WINDOW, optional, required};
use super::{Arguments, Entry, Given, Kind, free};
use crate::{Measure, NicMeasure, Window};
use rig_units::{Dur, Ppm};

pub(super) const GOODPUT: Entry = Entry {
    name: "rate.goodput",
    about: "what of a flow is acknowledged on average from some instant on, payload alone; of a READ what is brought",
    source: "what the case wants",
    fields: &[
        FLOW,
        optional("from", Kind::Duration, "from when on; absent: from the trial's start"),
        optional("at_least", Kind::Rate, "the least that the case wants"),
        optional("at_most", Kind::Rate, "the greatest that the case wants"),
    ],
    make: |of| {
        let wanted = (of.rate("at_least").unwrap_or(0), of.rate("at_most").unwrap_or(u64::MAX));
        let from = of.dur("from").unwrap_or(Dur::ZERO);
        Some(Measure::Nic(NicMeasure::Goodput { flow: of.name("flow")?, wanted, from }))
    },
    check: |given| {
        let wanted = given.says("at_least") || given.says("at_most");
        if !wanted {
            let want = "`at_least: 40Gbps-L2`, `at_most:` or both";
            given.at.fault("nothing is wanted of it", want);
        }
        wanted
    },
};

pub(super) const SHARES: Entry = Entry {
    name: "rate.shares",
    about: "flows through one bottleneck get the same, in the long run",
    source: "what the case wants",
    fields: &[
        WINDOW[0],
        WINDOW[1],
        WINDOW[2],
        required(
            "within",
            Kind::Share,
            "how far a share may be off an equal one, such as 10%",
            "how far a share may be off an equal one, as a part of that",
        ),
    ],
    make: |of| {
        let (window, within) = (window(of)?, of.share("within")?);
        Some(Measure::Nic(NicMeasure::Shares { window, within }))
    },
    check: |given| {
        if let Some(within) = given.of.share("within")
            && (within == Ppm(0) || within >= Ppm::ONE)
        {
            let found = format!("within {within} of an equal share");
            given.fault("within", found, "more than 0% and less than 100%");
        }
        ordered(given)
    },
};

pub(super) const FIXED_POINT: Entry = Entry {
    name: "rate.fixed_point",
    about: "more flows through one bottleneck are marked more, and get more CNPs; beside it the fluid model",
    source: "DCQCN 5",
    fields: &[required(
        "windows",
        Kind::Windows,
        MORE,
        "the flows, and when: each of more than the one before",
    )],
    make: |of| Some(Measure::Nic(NicMeasure::FixedPoint { windows: of.windows("windows")? })),
    check: each_of_more,
};

pub(super) const FOLLOWS: Entry = Entry {
    name: "rate.follows",
    about: "each packet of a flow leaves as early as its rate allows and no earlier, by the CNPs that it got",
    source: "DCQCN 3.1",
    fields: &[FLOW],
    make: |of| Some(Measure::Nic(NicMeasure::Follows { flow: of.name("flow")? })),
    check: free,
};

pub(super) const CUT: Entry = Entry {
    name: "rate.cut",
    about: "the factor by which the first CNP of a trial cuts the rate",
    source: "DCQCN 3.1",
    fields: &[FLOW],
    make: |of| Some(Measure::Nic(NicMeasure::Cut { flow: of.name("flow")? })),
    check: free,
};

pub(super) const REACTION: Entry = Entry {
    name: "rate.reaction",
    about: "from the last bit of the first CNP of a trial to the first packet that the new rate holds back",
    source: "the declared latency",
    fields: &[FLOW],
    make: |of| Some(Measure::Nic(NicMeasure::Reaction { flow: of.name("flow")? })),
    check: free,
};

pub(super) const LEAST: Entry = Entry {
    name: "rate.least",
    about: "the least rate between two packets of a flow",
    source: "DCQCN 3.1",
    fields: &[FLOW],
    make: |of| Some(Measure::Nic(NicMeasure::Least { flow: of.name("flow")? })),
    check: free,
};

pub(super) const FINAL: Entry = Entry {
    name: "rate.final",
    about: "the rate at the trial's end",
    source: "DCQCN 3.1",
    fields: &[FLOW],
    make: |of| Some(Measure::Nic(NicMeasure::Final { flow: of.name("flow")? })),
    check: free,
};

pub(super) const BURSTS: Entry = Entry {
    name: "rate.bursts",
    about: "how many packets leave back to back while the flow is held back",
    source: "the declared burst",
    fields: &[FLOW],
    make: |of| Some(Measure::Nic(NicMeasure::Bursts { flow: of.name("flow")? })),
    check: free,
};

const MORE: &str =
    "two windows or more, such as {flows: [a, b], from: 30ms, until: 50ms}, each of more flows";

/// Notes a window that ends before it begins.
pub(crate) fn ordered(given: &Given<'_>) -> bool {
    if let (Some(from), Some(until)) = (given.of.dur("from"), given.of.dur("until"))
        && until <= from
    {
        given.fault("until", format!("from {from} until {until}"), "an end after the beginning");
    }
    true
}

/// The window of arguments for [`WINDOW`].
pub(crate) fn window(of: &Arguments) -> Option<Window> {
    Some(Window { flows: of.names("flows")?, from: of.dur("from")?, until: of.dur("until")? })
}

fn each_of_more(given: &Given<'_>) -> bool {
    let Some(windows) = given.of.windows("windows") else { return true };
    let few = windows.windows(2).any(|two| two[0].flows.len() >= two[1].flows.len());
    if few || windows.len() < 2 {
        let flows: Vec<String> =
            windows.iter().map(|window| window.flows.len().to_string()).collect();
        let found = match flows.is_empty() {
            true => "no window".to_owned(),
            false => format!("windows of {} flows", flows.join(", ")),
        };
        given.fault("windows", found, MORE);
        return false;
    }
    true
}
