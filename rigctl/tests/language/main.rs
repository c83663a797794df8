//! The test-case language with every measure in it: what is read, what is refused in which words, and what becomes of a case.

mod apps;
mod between;
mod ipv6;
mod read;
mod resolve;
mod schema;
mod unreliable;
mod vocabulary;
mod windows;
