//! Traces recorded from SONiC's own watchdog scripts, against what was written here.
//!
//! Every `*.json` in the folder that the environment variable `RIG_TRACES` names, else in `tests/data/pfcwd-traces`.
//! Nothing here knows a trace by its id or a set by its size, so that a second recording can be put in its place.

mod load;
mod through_model;
mod through_spec;
