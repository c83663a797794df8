//! What a case may ask for: each measure with what it expects and what judges it; the one list of them.

use crate::trials::context::Context;
use crate::trials::points::Group;
use crate::trials::seed::Seed;
use rig_lab::{Lab, Profile};
use rig_testcases::vocabulary::Entry;
use rig_testcases::{Case, Measure, Vocabulary};

mod action;
mod ahead;
mod backpressure;
mod blame;
mod blue_rdma;
mod buffer_ledger;
mod checks;
mod config;
mod copied;
mod counted_late;
mod counters;
mod crossed;
mod crossed_again;
mod dead_link;
mod drains;
mod ecn;
mod headroom;
mod in_time;
mod judge_context;
mod judged;
mod latency;
mod legs;
mod limits;
mod loss;
mod macsec;
mod measurement;
mod needed;
mod nic;
mod pause;
mod pfc;
mod rdma_router;
mod reboot;
mod search;
mod served;
mod setting_answer;
mod shallow;
mod share_width;
mod sized;
mod small_part;
mod stamps;
mod storm;
mod tags;
mod through;
mod throughput;
mod told;
mod unfilled;
mod void;
pub(crate) mod watchdog;
mod watermark_tables;
mod watermarks;
mod withheld;
mod withheld_width;
mod word;

pub use config::shown;
pub use ecn::class;
pub use in_time::reads_counters;
pub use judge_context::JudgeContext;
pub use judged::{Judged, Settled};
pub use limits::Limit;
pub use measurement::{
    Batches, Expected, Expects, FromStart, Known, LateLimits, Needs, Placement, Red, Tells,
};
pub use needed::{held_stamps, stamps};
pub use search::happened;
pub use setting_answer::SettingAnswer;
pub use stamps::Stamps;
pub use unfilled::unfilled;
pub use void::{as_planned, void};
pub use watchdog::see::{Counting, see};
pub use watchdog::subject::{Places, Subject};
pub use watchdog::watch::Fires;
pub use watchdog::{before, in_focus, longest_turn, marks, placer, rests, start, too_rare, turn};

/// Those that may stand under `measure:`, in the order in which people are shown them.
static ALL: &[&Known] = &[
    &watchdog::DETECTION,
    &watchdog::RESTORATION,
    &watchdog::FIRED,
    &action::ACTION,
    &told::TOLD,
    &loss::LOSS,
    &throughput::THROUGHPUT,
    &latency::LATENCY,
    &tags::TAGS,
    &withheld::WITHHELD,
    &reboot::OUTAGE,
    &reboot::CAUSE,
    &counters::COUNTERS,
    &copied::COPIED,
    &dead_link::DROPS,
    &storm::COVERAGE,
    &pfc::SENT,
    &pfc::FORMAT,
    &backpressure::BACKPRESSURE,
    &search::XOFF,
    &search::DROP,
    &search::XON,
    &watermarks::WATERMARKS,
    &watermark_tables::COPIES,
    &sized::SIZED,
    &headroom::XOFF_LATENCY,
    &pause::RESPONSE,
    &pause::PAUSE,
    &pause::DUTY,
    &pfc::COUNTERS,
    &headroom::HEADROOM_LOSS,
    &ecn::curve::CURVE,
    &ecn::MARKS,
    &ecn::counters::COUNTERS,
    &ecn::order::ORDER,
    &macsec::COUNTERS,
    &macsec::FRAMES,
    &macsec::PFC,
    &nic::rc::RECEIVER,
    &nic::carried::COMPLETION,
    &nic::completions::COMPLETIONS,
    &nic::carried::GOODPUT,
    &nic::shares::SHARES,
    &nic::turns::TURNS,
    &nic::fixed_point::FIXED_POINT,
    &nic::np::ANSWERS,
    &nic::np::LATENCY,
    &nic::np::INTERVAL,
    &nic::np::FORMAT,
    &nic::counters::COUNTERS,
    &nic::rp::FOLLOWS,
    &nic::rp::CUT,
    &nic::rp::REACTION,
    &nic::rates::LEAST,
    &nic::rates::FINAL,
    &nic::rates::BURSTS,
    &nic::rc::SENDER,
    &nic::recovery::RECOVERY,
    &nic::class::CLASS,
    &nic::tags::TAGS,
    &nic::gid::GID,
    &nic::headers::MIG_REQ,
    &nic::headers::SOURCE_PORT,
    &nic::message::IMMEDIATE,
    &nic::message::ATOMIC,
    &nic::fence::FENCE,
    &nic::incast::OUTSTANDING,
    &nic::neighbours::BESIDE,
    &nic::tail::TAIL,
    &nic::app::PROTOCOL,
    &nic::app::keys::KEYS,
    &nic::app::checksums::CHECKSUM,
    &nic::app::stream::STREAM,
    &nic::receives::RECEIVES,
    &nic::unreliable::SENDER,
    &nic::unreliable::RECEIVER,
    &nic::unreliable::DELIVERED,
    &nic::datagrams::SENDER,
    &nic::datagrams::RECEIVER,
    &nic::datagrams::DELIVERED,
    &nic::pause::STOPS,
    &nic::pause::GOES_ON,
    &nic::pause::SENDS_ON,
    &nic::pauses::PAUSES,
    &nic::ets::SHARES,
    &nic::ets::flows::MAX_MIN,
    &rdma_router::RATE,
    &rdma_router::HANDOVER,
    &rdma_router::shares::SHARES,
    &rdma_router::registration::REGISTRATION,
    &rdma_router::stall::STALL,
    &rdma_router::admission::ADMISSION,
    &rdma_router::migration::MIGRATION,
    &blue_rdma::headers::HEADERS,
    &blue_rdma::bitmaps::BITMAPS,
    &blue_rdma::acks::ACKS,
    &blue_rdma::resent::RESENT,
    &blue_rdma::recovery::RECOVERY,
    &blue_rdma::gives_up::GIVES_UP,
    &blue_rdma::cnps::CNPS,
    &blue_rdma::rocev2::ROCEV2,
    &blue_rdma::descriptors::DESCRIPTORS,
    &blue_rdma::completions::COMPLETIONS,
    &blue_rdma::windows::WINDOWS,
];

/// A measure says which parts of a device it is about, or does not compile.
const _: () = {
    let mut at = 0;
    while at < ALL.len() {
        assert!(ALL[at].entry.parts.is_some(), "a measure says which `parts` it is about");
        at += 1;
    }
};

/// All measures, as who reads test cases takes them.
#[derive(Debug, Clone, Copy)]
pub struct Registry;

impl Vocabulary for Registry {
    fn entries(&self) -> Vec<&'static Entry> {
        ALL.iter().map(|known| &known.entry).collect()
    }

    fn settings(&self) -> &'static Entry {
        &config::TRIED.entry
    }
}

/// What judges a measure.
///
/// # Panics
/// It was read with another vocabulary.
pub fn of(measure: &Measure) -> &'static Known {
    let mut all = ALL.iter().copied().chain([&config::TRIED]);
    let known = all.find(|known| known.entry.name == measure.name());
    known.expect("cases are read with this registry")
}

/// What a case is run and judged by on a device in one configuration.
pub fn context<'a>(
    lab: &Lab,
    profile: &'a Profile,
    case: &'a Case,
    group: Group,
    seed: Seed,
) -> Context<'a> {
    let subjects = case.measure.iter().filter_map(|one| (of(one).subject)(one)).collect();
    Context::of(lab, profile, case, group, (seed, subjects))
}

/// Judges every measure of the case: each of them owes an answer at each point.
pub fn judge(done: &JudgeContext<'_>) -> Settled {
    let mut judged = Judged::default();
    for (index, measure) in done.context.case.measure.iter().enumerate() {
        judged.ask((index, measure.name()), done.points.iter().map(|point| done.place(point)));
        (of(measure).judge)(measure, done, &mut judged);
    }
    judged.settle()
}
