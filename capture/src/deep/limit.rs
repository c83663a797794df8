//! How many bytes may still be written, by any number of captures together.

use core::sync::atomic::{AtomicU64, Ordering};
use rig_units::Bytes;
use std::sync::Arc;

/// A number of bytes that captures share. Clones take from the same ones.
#[derive(Debug, Clone, Default)]
pub struct Limit(Option<Arc<AtomicU64>>);

impl Limit {
    /// No limit but the disk.
    pub const NONE: Limit = Limit(None);

    /// So many bytes.
    pub fn of(Bytes(most): Bytes) -> Limit {
        Limit(Some(Arc::new(AtomicU64::new(most))))
    }

    /// Takes so many, all or none; whether there were as many.
    pub fn take(&self, bytes: u64) -> bool {
        let Limit(Some(left)) = self else { return true };
        let less = |left: u64| left.checked_sub(bytes);
        left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    /// Whether nothing is left of it.
    pub fn is_reached(&self) -> bool {
        self.0.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) == 0)
    }

    /// Nothing more is to be written: what is left is too little for what is next.
    pub(super) fn exhaust(&self) {
        if let Limit(Some(left)) = self {
            left.store(0, Ordering::Relaxed);
        }
    }
}
