//! Analysers: pure functions of an observation.

pub mod timeline;
