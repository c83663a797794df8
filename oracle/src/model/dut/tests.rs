mod actions;
mod bench;
mod configuring;
mod deviations;
mod families;
