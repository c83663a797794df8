//! A switch that goes on with a frame as soon as its first bit is in.

use super::config::Config;
use crate::model::buffer::Place;
use rig_units::{Bytes, Dur, PortSpeed};

/// How fast its ports are.
#[derive(Debug, Clone)]
pub(super) struct Ports {
    speeds: Vec<PortSpeed>,
}

impl Ports {
    /// Those of a switch that cuts through; `None` of one that stores and forwards.
    pub(super) fn of(config: &Config) -> Option<Ports> {
        let speeds = || config.ports.iter().map(|&(_, speed)| speed).collect();
        config.cut_through.then(|| Ports { speeds: speeds() })
    }

    /// How long after its first bit came a frame has to wait before it may leave by a faster port: its last bit would be out before it is in.
    pub(super) fn outrun(&self, place: Place) -> Dur {
        let [comes, goes] = [place.from, place.to]
            .map(|port| self.speeds[port].serialise(Bytes(place.size.into())));
        comes.saturating_sub(goes)
    }
}
