//! Chunks that wait for the next capture: making one costs the kernel more than filling it.

use super::chunk::Chunk;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Memory that captures use one after the other. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Pool(Arc<Mutex<Vec<Chunk>>>);

impl Pool {
    /// So many chunks: those that wait, and new ones.
    pub(super) fn take(&self, chunks: usize) -> Vec<Chunk> {
        let mut idle = self.idle();
        let left = idle.len().saturating_sub(chunks);
        let mut taken = idle.split_off(left);
        drop(idle);
        taken.resize_with(chunks, Chunk::new);
        taken
    }

    pub(super) fn give_back(&self, chunks: impl Iterator<Item = Chunk>) {
        self.idle().extend(chunks);
    }

    /// How many chunks nobody uses.
    pub fn waiting(&self) -> usize {
        self.idle().len()
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Chunk>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
