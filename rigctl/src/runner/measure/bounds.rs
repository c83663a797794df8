//! Tests of the exact bounds of judging: at what is predicted a measure passes, and one unit past it fails.

mod ecn;
mod headroom;
mod loss;
mod macsec;
mod np;
mod pause;
mod pfc;
mod rc;
mod rp;
mod search;
mod storm;
mod throughput;
mod watermarks;
