//! From cases and a lab to a stream of run events.

pub mod along;
pub mod baseline;
pub mod budget;
pub mod case;
pub mod choose;
pub mod effort;
pub mod evidence;
pub mod fill;
pub mod floor;
pub mod hunt;
pub mod measure;
pub mod mutants;
pub mod pausing;
pub mod plan;
pub mod points;
pub mod pool;
pub mod preflight;
pub mod reach;
pub mod see;
pub mod seed;
pub mod sent;
pub mod session;
pub mod stimulus;
pub mod subject;
pub mod trial;
pub mod values;
