//! The built binary as scripts and people meet it: exit codes, messages, files.

mod analyze;
mod blue_rdma;
mod capture;
mod check;
mod compare;
mod doctor;
mod files;
mod folder;
mod foreign;
mod generate;
mod help;
mod input;
mod interrupted;
mod limits;
mod lint;
mod list;
mod memory;
mod repeat;
mod run;
mod size;
mod sonic;
mod stdout;
mod storms;
mod support;
