//! Small machines, every state: the closed forms and the model are asked the same at each point of a discrete world, and a
//! departure that is planted in the model is found at its smallest point.
//!
//! A world has a clock of its own, fine enough to have every edge of the rule on a tick, and loops run over all that can differ in
//! it: the first point that is told is the smallest, because loops begin with the smallest.

mod cnp;
mod hysteresis;
mod late_polls;
mod lossless;
mod pause;
mod pfcwd;
mod timer;
mod world;
