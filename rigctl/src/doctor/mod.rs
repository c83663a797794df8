//! What this machine and a lab can do, what is missing and how to get it: facts that are gathered in one room and judged,
//! as plain data, in another.

pub mod check;
pub mod facts;
pub mod gather;
pub mod judge;
pub mod report;

pub use facts::Facts;
pub use judge::{Needs, judge};
pub use report::Report;
