//! The engine as a whole: exact instants, conservation of frames, a watchdog's means, and independence of its own
//! scheduling.

mod conservation;
mod exact;
mod losses;
mod nics;
mod overrides;
mod rig;
mod shortcuts;
