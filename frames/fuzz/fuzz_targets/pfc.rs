//! Any bytes as the body of a MAC Control frame: no panic, and a second reading agrees with the first.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rig_frames::mac_control::{self, Control};
use rig_frames::{MacAddr, pause, pfc};

fuzz_target!(|bytes: &[u8]| {
    if let Ok(repr) = pfc::Repr::parse(bytes) {
        assert_eq!(pfc::Repr::parse(&repr.emit()), Ok(repr));
    }
    if let Ok(repr) = pause::Repr::parse(bytes) {
        assert_eq!(pause::Repr::parse(&repr.emit()), Ok(repr));
    }
    let src = MacAddr::default();
    let again = match mac_control::parse(MacAddr::MAC_CONTROL, bytes) {
        Ok(Some(Control::Pfc(repr))) => mac_control::frame_pfc(src, &repr),
        Ok(Some(Control::Pause(repr))) => mac_control::frame_pause(src, &repr),
        Ok(None) | Err(_) => return,
    };
    assert_eq!(
        mac_control::parse(MacAddr::MAC_CONTROL, &again[14..]),
        mac_control::parse(MacAddr::MAC_CONTROL, bytes)
    );
});
