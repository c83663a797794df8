//! Tests of the exact bounds of judging, on cases that are run: at what is predicted a measure passes, and one unit past it fails.

mod blame;
mod ecn;
mod given;
mod headroom;
mod latency;
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
