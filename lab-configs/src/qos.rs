//! From code point to traffic class, queue and priority group.

use crate::Color;
use crate::field::Holds::{Count, List, Whole};
use crate::field::{Field, needed, optional};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Classification. A traffic class uses the queue and the priority group of its own number unless a map says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Qos {
    /// DSCP to traffic class (`DSCP_TO_TC_MAP`); what is not listed goes to `default_tc`.
    pub dscp_to_tc: BTreeMap<u8, u8>,
    /// Traffic class of every DSCP that is not listed.
    pub default_tc: u8,
    /// Classes with PFC on every port (`PORT_QOS_MAP pfc_enable`): the lossless ones.
    pub pfc_enable: Vec<u8>,
    /// Classes that the watchdog guards on every port (`PORT_QOS_MAP pfcwd_sw_enable`).
    pub pfcwd_sw_enable: Vec<u8>,
    /// Colour of frames by DSCP, for WRED; what is not listed is green. Absent: all are green.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dscp_to_color: Option<BTreeMap<u8, Color>>,
}

impl Qos {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        needed("dscp_to_tc", Whole, r#"{"3":3,"4":4,"5":2,"8":0,"46":5,"48":6,"11":3,"12":3}"#),
        needed("default_tc", Count, "1"),
        needed("pfc_enable", List, "[3,4]"),
        needed("pfcwd_sw_enable", List, "[3,4]"),
        optional("dscp_to_color", Whole),
    ];

    /// Whether `class` is lossless.
    pub fn lossless(&self, class: u8) -> bool {
        self.pfc_enable.contains(&class)
    }

    /// Colour of frames with this DSCP.
    pub fn color(&self, dscp: u8) -> Color {
        let listed = self.dscp_to_color.as_ref().and_then(|colors| colors.get(&dscp));
        listed.copied().unwrap_or(Color::Green)
    }

    /// Class of frames with this DSCP.
    pub fn class(&self, dscp: u8) -> u8 {
        self.dscp_to_tc.get(&dscp).copied().unwrap_or(self.default_tc)
    }

    /// The lowest DSCP of `class` and `color`, if any: one that the map lists before one that it does not.
    pub fn dscp_of(&self, class: u8, color: Color) -> Option<u8> {
        let fits = |dscp: &u8| self.class(*dscp) == class && self.color(*dscp) == color;
        let listed = self.dscp_to_tc.keys().copied().find(fits);
        listed.or_else(|| (0..64).find(fits))
    }
}
