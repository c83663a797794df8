//! Tests of the exact bounds of judging, on cases that are run: at what is predicted a measure passes, and one unit past it fails.

mod backpressure;
mod behind;
mod blame;
mod config;
mod ecn;
mod given;
mod headroom;
mod latency;
mod loss;
mod macsec;
mod np;
mod pause;
mod pfc;
mod ranges;
mod rc;
mod rdma_router;
mod rp;
mod search;
mod shares;
mod storm;
mod tags;
mod throughput;
mod timestamps;
mod turns;
mod watchdog;
mod watermarks;
