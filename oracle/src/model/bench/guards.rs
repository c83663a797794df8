//! A PFC watchdog on every queue of the benchmark that carries lossless traffic.

use super::{CLASSES, EventQueue, Network, PortId, Scenario};
use crate::model::counters::QueueView;
use crate::model::pfcwd::{Counters, Event, Watchdog};
use rig_lab::{Action, Backlog, Charge, ConfigPath, DropBy, Pfcwd, PfcwdFaults, RuleFamily};
use rig_units::Dur;

/// The watchdogs, and the queue that each guards.
pub(super) struct Guards(Vec<(PortId, u8, Watchdog)>);

impl Guards {
    pub(super) fn new(scenario: Scenario, poll_interval: Dur) -> Guards {
        let config = Pfcwd {
            detection_time: Dur::ms(200),
            restoration_time: Some(Dur::ms(200)),
            poll_interval,
            action: Action::Drop,
            big_red_switch: false,
            charge: Charge::Elapsed,
            min_samples: 1,
            jitter: None,
            skipped_polls: None,
            action_latency: None,
            timer_lag: None,
            backlog: Backlog::Discarded,
            drop_by: DropBy::ZeroBuffer,
            config_path: ConfigPath::Redis,
        };
        let watchdog = Watchdog::new(RuleFamily::Mellanox, &config, PfcwdFaults::NONE);
        let queues = scenario.ports().flat_map(|at| CLASSES.map(|class| (at, class)));
        Guards(queues.map(|(at, class)| (at, class, watchdog.clone())).collect())
    }

    /// Polls every queue; how many storms were found.
    pub(super) fn poll<Q: EventQueue>(&mut self, network: &Network<Q>) -> u64 {
        let mut storms = 0;
        for (at, class, watchdog) in &mut self.0 {
            let view: QueueView = network.queue_view(*at, *class);
            let published = watchdog.poll(&Counters {
                at: network.now(),
                pfc_rx_pkts: view.pfc_rx_pkts,
                xon_rx_pkts: view.xon_rx_pkts,
                on2off_rx_pkts: view.on2off_rx_pkts,
                rx_pause_duration_us: view.rx_pause_duration_us,
                queue_packets: view.packets,
                queue_occupancy_bytes: view.occupancy,
                paused: view.paused,
                port_counter_timestamp_ns: None,
                debug_storm: false,
            });
            storms += u64::from(published.is_some_and(|published| published.event == Event::Storm));
        }
        storms
    }
}
