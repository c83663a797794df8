//! How a NIC obeys priority flow control: in which priorities, and how soon; and when it sends some itself.

use crate::field::Holds::{List, Quanta as PauseTime, Range, Size, Time};
use crate::field::{Field, needed, optional};
use rig_units::{Bytes, Dur, PortSpeed, Quanta, Within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a NIC obeys priority flow control, and when it sends some itself, in the same priorities. Where nothing is declared of `xoff` nothing is known
/// of what it sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NicPfc {
    /// Priorities with PFC enabled (IEEE 802.1Q DCBX `pfcEnable`; `dcb pfc`, `mlnx_qos --pfc`): an XOFF for another holds nothing.
    pub priorities: Vec<u8>,
    /// Time from the last bit of a PFC frame to the last start of a packet of that priority (IEEE 802.3 31B.3.7 gives the most), of each
    /// frame anew.
    pub response: Within,
    /// Time from the end of a pause (its quanta are over, or the last bit of the XON) to the first start of a packet that waits, of each anew. No
    /// standard gives a latest instant. Unset: nothing is known of it, and nothing is too late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resumption: Option<Within>,
    /// XOFF is sent once more than this of a priority waits for the host. Unset: nothing is known of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xoff: Option<Bytes>,
    /// XON is sent once no more than this waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub xon: Option<Bytes>,
    /// In steps of how many bytes the NIC keeps `xoff` and `xon`: 128 KiB in steps of 1000 B are 131 of them, or 132, as it rounds. Unset: to the byte.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threshold_step: Option<Bytes>,
    /// What XOFF asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quanta: Option<Quanta>,
    /// From one XOFF to the next, until it is XON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refresh: Option<Dur>,
    /// From what calls for XOFF or XON to that frame, at an idle port; of each anew. Unset: no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub emission: Option<Within>,
    /// How long it asks for a pause without XON before it stops asking (`ethtool --set-tunable pfc-prevention-tout`), each time anew: from its
    /// first XOFF. It asks again once the priority has been down to `xon`. Unset: it asks for as long as its buffer is full.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub watchdog: Option<Within>,
}

impl NicPfc {
    /// Its fields, a row each.
    pub const FIELDS: &[Field] = &[
        needed("priorities", List, "[3,4]").by_case().live(),
        needed("response", Range, "1us").varies(),
        optional("resumption", Range).varies().tried(&["+1us"]),
        optional("xoff", Size).tried(&["x0.9", "x1.1"]),
        optional("xon", Size).tried(&["x0.9", "x1.1"]),
        optional("threshold_step", Size).tried(&["50000B"]),
        optional("quanta", PauseTime).tried(&["x0.5"]),
        optional("refresh", Time).tried(&["x0.5", "x1.1"]),
        optional("emission", Range).varies().tried(&["+1us"]),
        optional("watchdog", Range).by_case().varies().tried(&["x2", "never"]),
    ];

    /// Of what it sends every value that lies outside its range, as [`Nic::out_of_range`](crate::Nic::out_of_range) tells it.
    pub(crate) fn sending_out_of_range(&self) -> Vec<(&'static str, String, String)> {
        let NicPfc { xoff, xon, quanta, refresh, emission, .. } = self;
        let rest = [xon.is_some(), quanta.is_some(), refresh.is_some()];
        let whole = xoff.is_some() && rest.into_iter().all(|is| is);
        let some = xoff.is_some() || rest.into_iter().any(|is| is) || emission.is_some();
        let mut all = Vec::new();
        let mut wrong = |is: bool, path, found: &str, want: &str| {
            if is {
                all.push((path, found.to_owned(), want.to_owned()));
            }
        };
        let parts = "all of xoff, xon, quanta and refresh, or none of them";
        wrong(some && !whole, "pfc.xoff", "a part of how it sends PFC", parts);
        let above = xon.zip(*xoff).is_some_and(|(xon, xoff)| xon > xoff);
        wrong(above, "pfc.xon", "more than pfc.xoff", "no more than pfc.xoff");
        let none = self.threshold_step == Some(Bytes(0));
        wrong(none, "pfc.threshold_step", "steps of 0B", "more than 0B");
        wrong(*quanta == Some(Quanta(0)), "pfc.quanta", "0q", "at least 1q");
        wrong(*refresh == Some(Dur::ZERO), "pfc.refresh", "no time", "more than 0s");
        all
    }

    /// Where it would ask for the next pause only after the one before has run out at a port of that speed, as [`Nic::out_of_range`](crate::Nic::out_of_range) tells it.
    pub(crate) fn refreshed_too_late(
        &self,
        speed: PortSpeed,
    ) -> Option<(&'static str, String, String)> {
        let (quanta, refresh) = self.quanta.zip(self.refresh)?;
        let pause = speed.pause(quanta);
        (quanta > Quanta(0) && refresh > pause).then(|| {
            let found = format!(
                "XOFF is refreshed every {refresh}, the pause of {quanta} runs out after {pause} at {speed}"
            );
            ("pfc.refresh", found, format!("pfc.refresh of at most {pause}"))
        })
    }

    /// Whether an XOFF for `class` holds what it sends in that class.
    pub fn obeys(&self, class: u8) -> bool {
        self.priorities.contains(&class)
    }

    /// The same of all of them: bit `c` is class `c`.
    pub fn enabled(&self) -> u8 {
        let bits = self.priorities.iter().filter_map(|class| 1_u8.checked_shl((*class).into()));
        bits.fold(0, |all, bit| all | bit)
    }
}
