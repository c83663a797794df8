//! How frames are protected where the device speaks MACsec, and what that adds to them.

use super::Resolving;
use crate::{MacsecMode, Tamper};
use rig_lab::Macsec;
use rig_units::Bytes;

impl Resolving<'_> {
    /// What MACsec adds to each frame that is sent so.
    pub(super) fn overhead(&self, macsec_mode: MacsecMode) -> Bytes {
        match (self.macsec(), macsec_mode) {
            (None, _) | (Some(_), MacsecMode::Clear) => Bytes(0),
            (Some(_), MacsecMode::Tampered(Tamper::WrongSci)) => {
                Bytes(rig_lab::macsec::overhead(true).into())
            }
            (
                Some(macsec),
                MacsecMode::Usual
                | MacsecMode::Sound
                | MacsecMode::Late(_)
                | MacsecMode::Of(_)
                | MacsecMode::Tampered(_),
            ) => Bytes(macsec.overhead().into()),
        }
    }

    /// How the device's ports protect frames, if they do.
    pub(super) fn macsec(&self) -> Option<&Macsec> {
        self.declared.switch().map(|switch| &switch.macsec).filter(|macsec| macsec.enable)
    }
}
